"""What runs in the container of a job of GitHub or Azure: the steps of the job, not the image's own command.

GitHub starts the container with a command that waits, and runs every step in it (actions/runner
src/Runner.Worker/ContainerOperationProvider.cs at 28a6301051ee), and so does Azure (microsoft/azure-pipelines-agent
src/Agent.Worker/ContainerOperationProvider.cs).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from shmlint.formats.ci.variables import handed_values
from shmlint.formats.expressions import UNKNOWN
from shmlint.formats.steps import as_step, running, starts_containers, unread
from shmlint.model.launch import Bind, Launch, Unknown, Value
from shmlint.model.source import Source, Span
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode, text_at

WORKSPACE = "/github/workspace"
"""Where the repository is checked out, as it is called here."""

_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.S)

_NO_PROGRAM = re.compile(
    r"(?:actions|docker|github)/|(?:Archive|Cache|Copy|Delete|Download|Extract|Publish|Use)\w*@|[^/]+/(?:[\w-]*-)?"
    r"(?:setup|login|cache|upload|download|checkout|auth|configure|cleanup|commit|push|pull-request|release|comment|codecov)\b"
)
"""Actions that fetch, install, store or publish something and end."""


def with_steps(launch: Launch, job: MappingNode, root: Node, source: Source, top: str) -> Launch:
    """The container of a job as it runs the job's steps. ``top`` is the directory of the repository."""
    steps = _steps(job)
    listed = job.get("steps")
    if not isinstance(listed, SequenceNode) or not listed.items:
        return launch
    span = _place(job, listed, steps, source)
    shells = [text_at(holder, "defaults", "run", "shell") for holder in (job, root)]
    shell = next((shell for shell in shells if shell), "sh")
    own = {name for step in steps for name, _ in _set_by(step, source)}
    script = (f"{_script(step, shell, job)}{_handed_on(step, own)}" for step in steps)
    launch = launch._replace(environment={**launch.environment, **_environment(root, job, steps, source)})
    return running(launch, "bash", script, (span, "the steps of the job", WORKSPACE), _checkouts(steps, top, span))


def _place(job: MappingNode, listed: Node, steps: list[MappingNode], source: Source) -> Span:
    """The only command, where it is on one line; else the key of the steps."""
    runs = [value for step in steps for key in _COMMANDS if (value := step.get(key)) is not None]
    if len(runs) == 1 and isinstance(runs[0], Scalar) and "\n" not in source.text[runs[0].start : runs[0].end]:
        return Span(source, runs[0].start, runs[0].end)
    key = next(key for key, value in job.pairs if value is listed)
    return Span(source, key.start, key.end)


def _steps(job: MappingNode) -> list[MappingNode]:
    listed = job.get("steps")
    items = listed.items if isinstance(listed, SequenceNode) else ()
    found = [item.resolved for item in items if isinstance(item.resolved, MappingNode)]
    return [step for step in found if switched_off(step) is None]


_OFF = {"if": ("false", "${{ false }}", "${{false}}"), "condition": ("false",), "enabled": ("false",)}
"""Keys of a job or a step, and their values with which it never runs: those of GitHub and of Azure."""
_RUNS = ("run", "uses", "steps", "script", "bash", "task")


def switched_off(node: MappingNode) -> Scalar | None:
    """The value for which a job or a step never runs."""
    values = ((node.get(key), texts) for key, texts in _OFF.items())
    off = next((value for value, texts in values if isinstance(value, Scalar) and value.value in texts), None)
    return off if off is not None and any(node.get(key) is not None for key in _RUNS) else None


_COMMANDS = ("run", "script", "bash")
"""The key of a step's commands, GitHub's and Azure's."""


def jobs_in(root: Node, container: str) -> Iterator[MappingNode]:
    """The jobs of an Azure pipeline that run in a container of its resources."""
    pending = [root]
    for node in pending:  # grows while it is walked
        if isinstance(node, MappingNode):
            if node.get("steps") is not None and text_at(node, "container") == container:
                yield node
            pending += (value for _, value in node.pairs)
        elif isinstance(node, SequenceNode):
            pending += node.items


def _script(step: MappingNode, shell: str, job: MappingNode) -> str:
    """A step as a command in a shell of its own, under a condition where it has one."""
    text = _run(step, text_at(step, "shell") or shell)
    folder = text_at(step, "working-directory") or text_at(job, "defaults", "run", "working-directory")
    folder = folder or text_at(step, "workingDirectory")
    if folder and _written(step):
        text = f'cd "{_known(folder)}"\n{text}'
    return as_step(text, decided=_is_decided(step))


def _is_decided(step: MappingNode) -> bool:
    """Whether a condition decides about a step."""
    condition = text_at(step, "if") or text_at(step, "condition")
    return condition not in ("", "always()", "${{ always() }}", "succeeded()")


def _handed_on(step: MappingNode, own: Collection[str]) -> str:
    """Commands that give the steps after one what it hands to them; some steps have values of their ``own``."""
    lines = []
    for name, value in handed_values(_written(step)).items():
        known = value is not None and name not in own and not _is_decided(step)
        lines.append(f"export {name}={value if known else _UNKNOWN}\n" if name else _ANY_VARIABLE)
    return "".join(lines)


_UNKNOWN = '"$_handed_on_"'
"""A value that is not known: that of a variable which nothing sets."""
_ANY_VARIABLE = '. "$RUNNER_TEMP/set.env"\n'
"""A file that is not known, which may set any variable."""


def _run(step: MappingNode, shell: str) -> str:
    """The commands of a step; what is no program for another language and for actions of which nothing is known."""
    written = _written(step)
    if starts_containers(written):
        return unread("that starts containers")
    if written:
        language = re.split(r"\W", shell, maxsplit=1)[0]
        return _known(written) if language in ("sh", "bash") else unread(f"in {language or 'another language'}")
    if text_at(step, "pwsh") or text_at(step, "powershell"):
        return unread("in powershell")
    action = text_at(step, "uses") or text_at(step, "task")
    return "" if not action or _NO_PROGRAM.match(action) else f"'{action}'".replace("\n", " ")


def _written(step: MappingNode) -> str:
    return next((text for key in _COMMANDS if (text := text_at(step, key))), "")


def _known(text: str) -> str:
    """A text with variables that nothing sets in place of expressions."""
    return _EXPRESSION.sub(lambda match: "$" + re.sub(r"\W+", "_", match[0][3:-2].strip()), text)


def _environment(root: Node, job: MappingNode, steps: list[MappingNode], source: Source) -> dict[str, Value[str]]:
    """The variables of the steps. What two steps set differently is not known."""
    found = {name: value for holder in (root, job) for name, value in _set_by(holder, source)}
    of_steps: dict[str, Value[str]] = {}
    for step in steps:
        for name, value in _set_by(step, source):
            known = of_steps.setdefault(name, value)
            if known.value != value.value:
                of_steps[name] = value._replace(value=Unknown("variable", "the steps set it differently", name))
    return {**found, **of_steps}


def _set_by(holder: Node, source: Source) -> Iterator[tuple[str, Value[str]]]:
    values = holder.get("env") if isinstance(holder, MappingNode) else None
    for name, value in values.pairs if isinstance(values, MappingNode) else ():
        if isinstance(name, Scalar) and isinstance(value, Scalar):
            text = value.value
            unknown = Unknown("variable", UNKNOWN.sentence, name.value) if "${{" in text else text
            yield name.value, Value(unknown, Span(source, value.start, value.end), text)


def _checkouts(steps: list[MappingNode], top: str, span: Span) -> Iterator[Bind]:
    """Where the container has the repository; Azure checks it out by itself."""
    of_azure = any(step.get(key) is not None for step in steps for key in ("script", "bash", "task", "checkout"))
    if of_azure and not any(text_at(step, "checkout") == "none" for step in steps):
        yield Bind(top or ".", WORKSPACE, span, resolved=True)
    for step in steps:
        if text_at(step, "uses").startswith("actions/checkout@") and not text_at(step, "with", "repository"):
            folder = text_at(step, "with", "path").strip("./")
            yield Bind(top or ".", f"{WORKSPACE}/{folder}".rstrip("/"), span, resolved=True)

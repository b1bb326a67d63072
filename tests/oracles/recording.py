"""Runs scripts with recording stand-ins in the place of docker, podman and nerdctl.

Nothing else can be found on the path but a few harmless programs, and the working directory is a
temporary one. A stand-in writes the words that it gets to a file and starts nothing.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from tests.oracles.programs import files
from tests.oracles.systemd import calls, environment_of

_STAND_IN = """#!/bin/sh
{ printf '%s' "${0##*/}"; printf '\\037%s' "$@"; printf '\\036'; } >> "$RECORD"
"""
STAND_INS = ("docker", "podman", "nerdctl")
_TOOL = _STAND_IN.replace('"$@"', '"$@" "S=$S" "T=$T"')
"""Stands for any other program that gets what launches share, as its arguments or in its environment."""
_HARMLESS = ("bash", "sh", "cat", "env", "grep", "xargs", "sed", "true", "make", "timeout", "python3")


def sandbox(home: Path) -> Path:
    """A directory with the stand-ins and links to the harmless programs."""
    programs = home / "bin"
    programs.mkdir()
    for name in (*STAND_INS, "tool"):
        (programs / name).write_text(_TOOL if name == "tool" else _STAND_IN)
        (programs / name).chmod(0o755)
    for name in _HARMLESS:
        found = shutil.which(name)
        if found is not None:
            (programs / name).symlink_to(found)
    return programs


def recorded(
    kind: str, texts: Sequence[str], home: Path, programs: Path, beside: Mapping[str, str] | None = None,
    given: str = "1",
) -> list[list[list[str]]]:
    """For each text the words that its stand-ins got, call by call; all texts run in one process.

    ``given`` is the value of the variable that decides about ``${GIVEN:+$T}``.
    """
    lines = []
    for number, text in enumerate(texts):
        folder = home / f"t{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, content in (beside or {}).items():
            (folder / name).write_text(content)
        (folder / "record").write_text("")
        if kind == "makefile":
            (folder / "Makefile").write_text(text)
            run = "timeout 10 make -s -i all"
        else:
            (folder / "x.sh").write_text("\n".join(_RUN[kind](text)))
            run = "timeout 10 bash x.sh"
        lines.append(f"(cd '{folder}' && RECORD='{folder}/record' {run}) </dev/null >/dev/null 2>&1\n")
    batch = home / "batch.sh"
    batch.write_text("".join(lines))
    environment = {"PATH": str(programs), "HOME": str(home), "GITHUB_ENV": "/dev/null", "GIVEN": given}
    subprocess.run(["bash", str(batch)], env=environment, cwd=home, timeout=60 + len(texts), check=False)
    found = []
    for number in range(len(texts)):
        folder = home / f"t{number}"
        calls = (folder / "record").read_text().split("\036")[:-1]
        found.append([call.split("\037") for call in calls])
        shutil.rmtree(folder, ignore_errors=True)
    return found


# Other languages as scripts --------------------------------------------------


def _shell(text: str) -> Iterator[str]:
    yield text


def _document(text: str) -> Iterator[str]:
    """The blocks of a page, one after the other in one shell."""
    for pad, _, body in re.findall(r"^( *)(```|~~~)[a-z]*\n(.*?)^ *\2$", text, re.S | re.M):
        yield "\n".join(line.removeprefix(pad) for line in body.split("\n"))


def _loaded(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(text)


def _step(script: str, environment: Mapping[str, str], shell: str = "bash") -> str:
    """A command that runs a script in an environment; none where the sandbox has no such shell."""
    language = shell.partition(" ")[0]
    if language == "pwsh":
        return ""
    program = "python3 -c" if language == "python" else f"{language} -e -c"
    given = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in environment.items())
    return f"env {given} {program} {shlex.quote(script)}" if given else f"{program} {shlex.quote(script)}"


def _workflow(text: str) -> Iterator[str]:
    """The steps of a workflow or an action, and the command that the runner makes of a job's container.

    A job that calls the workflow itself runs all others once more, with the inputs that it gives; and so do the jobs
    of workflows in other files.
    """
    loaded, *callers = [_loaded(part) for part in files("", text).values()]
    jobs = {"": loaded["runs"]} if "runs" in loaded else loaded["jobs"]
    on = loaded["on"] if "on" in loaded else loaded.get(True)
    asked = on["workflow_call"]["inputs"] if isinstance(on, dict) else {}
    inputs = {name: body["default"] for name, body in asked.items() if "default" in body}
    calling = [job for job in jobs.values() if "uses" in job]
    calling += [job for caller in callers for job in caller["jobs"].values()]
    started = [given for job in calling for given in _given(job)]
    for given in started if callers else ({}, *started):
        for job in jobs.values():
            if "uses" not in job:
                yield from _job(job, loaded, {**inputs, **given})


def _given(job: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The inputs that a job gives to a workflow, once for each combination of its matrix."""
    for values in combinations((job.get("strategy") or {}).get("matrix")):
        known = {"matrix": values}
        yield {name: _expressions(str(value), known) for name, value in (job.get("with") or {}).items()}


def combinations(matrix: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The jobs of a matrix by the rules of GitHub (docs.github.com, "Running variations of jobs in a workflow").

    An entry of ``include`` is added to each combination in which it changes no value of the matrix itself; it is one
    of its own where there is none.
    """
    if not matrix:
        return [{}]
    axes = {name: values for name, values in matrix.items() if name not in ("include", "exclude")}
    first = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
    excluded = matrix.get("exclude") or ()
    first = [one for one in first if not any(entry.items() <= one.items() for entry in excluded)]
    found = [dict(one) for one in first]
    for entry in matrix.get("include") or ():
        fits = [
            at for at, one in enumerate(first) if all(one.get(name, value) == value for name, value in entry.items())
        ]
        for at in fits:
            found[at].update(entry)
        found += [] if fits else [dict(entry)]
    return found


def _job(job: Mapping[str, Any], loaded: Mapping[str, Any], inputs: Mapping[str, Any]) -> Iterator[str]:
    defaults = [((holder.get("defaults") or {}).get("run") or {}) for holder in (job, loaded)]
    shell = next((found["shell"] for found in defaults if "shell" in found), "bash")
    for values in combinations((job.get("strategy") or {}).get("matrix")):
        known = {"matrix": values, "inputs": inputs}
        own = job.get("container")
        for body in (own, *(job.get("services") or {}).values()):
            if isinstance(body, dict):
                options, image = (_expressions(str(body.get(key, "")), known) for key in ("options", "image"))
                if body is own:  # the runner adds an entrypoint of its own, and the last one counts
                    options = re.sub(r"--entrypoint[= ]\S+", "", options)
                yield " ".join(map(shlex.quote, ["docker", "create", *split_arguments(options), image]))
        for step in job["steps"]:
            written = {**(loaded.get("env") or {}), **(job.get("env") or {}), **(step.get("env") or {})}
            environment = {name: _expressions(str(value), known) for name, value in written.items()}
            script = _expressions(step["run"], {**known, "env": environment})
            yield _step(script, environment, step.get("shell", shell))


def _expressions(text: str, known: Mapping[str, Mapping[str, Any]]) -> str:
    def value(found: re.Match[str]) -> str:
        where, _, name = found[1].partition(".")
        return str(known.get(where, {}).get(name, ""))

    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", value, text)


def _pipeline(text: str) -> Iterator[str]:
    """The jobs of a GitLab pipeline: one shell each for before_script and script."""
    loaded = _loaded(text)
    for name, given in loaded.items():
        if name.startswith(".") or name in ("variables", "default"):
            continue
        base = loaded.get(given.get("extends"), {})
        job = {**loaded.get("default", {}), **base, **given}
        variables = {**loaded.get("variables", {}), **(base.get("variables") or {}), **(given.get("variables") or {})}
        lines = []
        for line in [*(job.get("before_script") or ()), *job["script"]]:
            lines += line if isinstance(line, list) else [line]
        yield _step("\n".join(lines), variables)
        yield _step("\n".join(job.get("after_script", ())), variables)


def split_arguments(text: str) -> list[str]:
    """Arguments as .NET splits them, with which the runner of GitHub starts docker: only ``"`` quotes."""
    found: list[str] = []
    word, inside, started = "", False, False
    for backslashes, char in re.findall(r"(\\*)(.|$)", text, re.S):
        if char == '"':
            word += "\\" * (len(backslashes) // 2)
            started = True
            if len(backslashes) % 2:
                word += '"'
            else:
                inside = not inside
            continue
        if backslashes:
            word, started = word + backslashes, True
        if char and (not char.isspace() or inside):
            word, started = word + char, True
        elif started:
            found.append(word)
            word, started = "", False
    return [*found, word] if started else found


def _unit(text: str) -> Iterator[str]:
    """The commands of a unit, as systemd's own library takes them apart."""
    environment = [word.decode() for word in environment_of(text)]
    for words in calls(text):
        yield " ".join(map(shlex.quote, ["env", *environment, *words]))


def _taskfile(text: str) -> Iterator[str]:
    """The commands of the task, their templates filled, each in a shell of its own."""
    loaded = _loaded(text)
    task = loaded["tasks"]["default"]
    variables = {**loaded["vars"], **(task.get("vars") or {})}
    for command in task["cmds"]:
        script = command["cmd"] if isinstance(command, dict) else command
        yield _step(re.sub(r"\{\{ *\.(\w+) *\}\}", lambda found: str(variables[found[1]]), script), loaded["env"])


_RUN = {
    "shell": _shell, "batch": _shell, "document": _document, "workflow": _workflow, "called": _workflow,
    "pipeline": _pipeline, "unit": _unit, "taskfile": _taskfile,
}  # fmt: skip

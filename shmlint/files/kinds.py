"""What a file's name and content say about its kind: the one list of names that are recognised."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from shmlint.model.launch import ENGINE_VARIABLES, ENGINES
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source

# Patterns are texts: `re` compiles and keeps them when they are first used, and a run over one
# file uses two or three of them.
_TOP_LEVEL_KEY = rb"""(?m)^(?:\xef\xbb\xbf)?["']?([A-Za-z_.][\w.-]*)["']?[ \t]*:(?=\s)"""
_SERVICES = rb"""(?mx)^(?:\xef\xbb\xbf)?["']?services["']?[ \t]*:
    (?!\s*+ (?:\#[^\n]*+\n\s*+)*+ -\s)     # a list is another tool's: GitLab, Travis, Render
"""
_SERVICE_KEY = rb"""(?m)(?:^[ \t]+|[{,][ \t]*)["']?(?:image|build|extends)["']?[ \t]*:(?=\s)"""
_HARDWARE_KEY = rb"""(?mx)(?:^[ \t]+(?:-[ \t]+)?|[{,][ \t]*)["']?
    (?:shm_size|gpus|capabilities|runtime["']?[ \t]*:[ \t]*["']?nvidia)\b
"""
_COMPOSE_KEYS = frozenset(
    (b"services", b"version", b"name", b"include", b"networks", b"volumes", b"configs", b"secrets", b"models")
)


def _is_compose(content: bytes) -> bool:
    """A mapping ``services:`` at the top, entries with image, build or extends, and nothing else.

    Or, in a file that is put on others (``-f compose.yaml -f gpu.yml``), with the GPUs or the shared memory of a
    service that has its image there.

    Compose refuses any other key at the top but ``x-…``, so a file that has one (``jobs:``,
    ``steps:``, ``replicaCount:``) belongs to another tool that also has ``services``.
    """
    return (
        b"services" in content
        and re.search(_SERVICES, content) is not None
        and (re.search(_SERVICE_KEY, content) or re.search(_HARDWARE_KEY, content)) is not None
        and all(key in _COMPOSE_KEYS or key.startswith(b"x-") for key in re.findall(_TOP_LEVEL_KEY, content))
    )


_STARTS_WITH = _COMPOSE_KEYS - {b"name", b"version"}


def _may_be_compose(content: bytes) -> bool:
    """Whether a file that is called like a compose file can be one: not if all it has are keys of another tool.

    Charts (``compose-values.yaml``), manifests and workflows are called so too.
    """
    others = False
    for found in re.finditer(_TOP_LEVEL_KEY, content):
        if found[1] in _STARTS_WITH or found[1].startswith(b"x-"):
            return True
        others = others or found[1] not in _COMPOSE_KEYS
    return not others


_TASKS = rb"""(?mx)^(?:\xef\xbb\xbf)?["']?tasks["']?:[ \t]*(?:\#[^\n]*)?
    (?:\{[ \t]*+|\r?\n(?:[ \t]*+(?:\#[^\n]*+)?\r?\n)*+[ \t]++)(?!-[ \t]|\#)[^\n]{1,200}?:
    (?:(?P<command>[ \t]+[^\s\#{]|[ \t]*\r?\n[ \t]+-[ \t])|(?=\s))
"""
"""A mapping of tasks, and whether the first is a command or a list of them; a list of tasks is another tool's."""


def _is_taskfile(content: bytes) -> bool:
    """Whether a text is a Taskfile of another name, which others include."""
    tasks = re.search(_TASKS, content) if b"tasks:" in content else None
    return (
        tasks is not None
        and (b"cmd" in content or tasks["command"] is not None)
        and re.search(rb"""(?m)^(?:\xef\xbb\xbf)?version:[ \t]*["']?[23]\b""", content) is not None
    )


_AZURE_KEYS = frozenset(
    (b"appendCommitMessageToRunName", b"container", b"extends", b"jobs", b"lockBehavior", b"name", b"parameters",
     b"pool", b"pr", b"resources", b"schedules", b"services", b"stages", b"steps", b"strategy", b"trigger",
     b"variables", b"workspace")
)  # fmt: skip
"""https://learn.microsoft.com/azure/devops/pipelines/yaml-schema/pipeline"""


def _is_azure(content: bytes) -> bool:
    """Whether a text is a pipeline of Azure, of any name: it has jobs in a list or a pool, and no key of others."""
    if re.search(rb"(?m)^[ \t-]*(?:pool|(?<=- )(?:deployment|job|stage))[ \t]*:", content) is None:
        return False
    keys = set(re.findall(_TOP_LEVEL_KEY, content))
    return not keys.isdisjoint((b"stages", b"jobs", b"steps")) and keys <= _AZURE_KEYS


_API_VERSION = rb"""(?m)^(?:\xef\xbb\xbf)?[ \t{]*["']?apiVersion["']?[ \t]*:[ \t]*["']?[a-z{]"""
_KIND = rb"""(?m)^[ \t{]*["']?kind["']?[ \t]*:[ \t]*["']?[A-Z{]|,[ \t]*"kind"[ \t]*:"""


def is_kubernetes(content: bytes) -> bool:
    """Whether a text holds an object of Kubernetes: ``apiVersion`` and ``kind``."""
    return (
        b"apiVersion" in content
        and b"kind" in content
        and re.search(_API_VERSION, content) is not None
        and re.search(_KIND, content) is not None
    )


def is_shell(content: bytes) -> bool:
    """Whether the first line of a text names a shell as its interpreter, or is for a batch system."""
    return re.match(rb"#![^\n]*\b(?:ba|da|k|z)?sh\b|#(?:SBATCH|PBS|BSUB|\$) +-", content) is not None


_RESOURCE = b"nvidia.com/gpu"
_REQUESTS_GPU = (
    rb"--gpus", rb"device_?request", rb"nvidia/gpu", rb"/dev/(?:nvidia|kfd)", rb"gpu(?<!\wgpu)s?[ \t]*=[ \t]*[\"']",
    rb"runtime\W{1,6}nvidia", rb"nvidia\.com/gpu", rb"cudarequirement", rb"nvidia_gpu[ \t]*=",
)  # fmt: skip
"""In lower case, and each with a word at its beginning: one by one they are found much sooner than all together."""
REQUESTS_GPU = f"(?i){b'|'.join(_REQUESTS_GPU).decode()}"
"""What a request for a GPU looks like in a language that is not read."""
_CONDOR = rb"(?mi)^[ \t]*(?:docker_image[ \t]*=|container_image[ \t]*=[ \t]*[\"']?docker://)"


def may_request_gpu(content: bytes) -> bool:
    """Whether a text in a language that is not read may start a container with a GPU."""
    return (b"docker" in content or b"podman" in content) and _requests_gpu(content)


def may_request_gpu_of_tool(content: bytes) -> bool:
    """Whether a workflow of another tool may start a container with a GPU."""
    named = b"ocker" in content or b"podman" in content or b"containerOptions" in content
    return named and _requests_gpu(content)


def _requests_gpu(content: bytes) -> bool:
    lowered = content.lower()
    return any(re.search(pattern, lowered) for pattern in _REQUESTS_GPU)


def program_requests_gpu(path: str, content: bytes) -> bool:
    """Whether a program (``is_program``), or the Terraform of pods, may start a container with a GPU."""
    return may_request_gpu(content) or (path.endswith((".tf", ".hcl")) and _RESOURCE in content)


_DOCKER = tuple(word.encode() for name in (*ENGINES, *ENGINE_VARIABLES) for word in (name, name.upper()))


class _Kind(NamedTuple):
    """How files of a kind are recognised.

    ``named`` is searched in the file's name and that of its directory, ``within`` in its path
    (absolute, with ``/``). Where no kind's does, ``tells`` judges the content of the files where
    ``maybe`` is found like ``named``. ``words``: see WORDS.
    """

    name: str
    named: str | None = None
    within: str | None = None
    maybe: str | None = None
    tells: Callable[[bytes], bool] | None = None
    words: tuple[bytes, ...] = ()


_OF_CI = (*_DOCKER, b"container", b"image")
_UNREAD = (*_DOCKER, _RESOURCE, b"containerOptions")
_TEMPLATE = (*_DOCKER, b"image", b"container")
_RUNS_CONTAINER = rb"\b(?:%s)\b[^\n]*\brun\b" % "|".join(ENGINES).encode()
_PROGRAMS = frozenset((
    "py", "go", "rs", "rb", "java", "kt", "cs", "php", "pl", "js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx",
    "tf", "hcl", "nomad",
))  # fmt: skip


def is_program(path: str) -> bool:
    """Whether a path is of a program; they are many, and but for a ``makefile.py`` of no other kind."""
    if path.rpartition(".")[2] not in _PROGRAMS:
        return False
    name = path.rpartition("/")[2].lower()
    return "makefile." not in name and "jenkinsfile" not in name


PAGE_ENDINGS = "md|mdx|markdown|rst|rmd|qmd"
"""How the names of pages end, as a pattern."""


def is_page(path: str) -> bool:
    """Whether a path is of a document that people read, in Markdown or reStructuredText."""
    return re.search(rf"(?i)\.(?:{PAGE_ENDINGS})\Z", path) is not None


def is_readme(path: str) -> bool:
    """Whether a path is of the page that a directory shows first."""
    return re.search(rf"(?i)(?:\A|/)readme\.(?:{PAGE_ENDINGS})\Z", path) is not None


def _path(*endings: str) -> str:
    return rf"/(?i:{'|'.join(endings)})\Z"


def _end(path: str) -> str:
    """The last two names of a path that begins with ``/``; a scan looks at many, and most kinds ask no more."""
    return path[max(0, path.rfind("/", 0, path.rfind("/"))) :]


_EXAMPLE = "[._-](?:example|sample|dist|default)"


# The first that matches is it: `Jenkinsfile.md` is a document, `Makefile.bat` a makefile. GitHub takes
# every file of its directory for a workflow, whatever it is called; below it, and beside other tools'
# pipelines, a compose file is usual and keeps its name's meaning.
_KINDS = (
    _Kind(
        "ci",
        named=_path(
            r"(?:[^/]*\.gitlab-ci|azure-pipelines[^/]*|bitbucket-pipelines|cloudbuild|action)\.ya?ml",
            r"\.(?:travis|drone|woodpecker|cirrus)\.ya?ml",
            r"\.?(?:appveyor|buildspec|codefresh)\.ya?ml",
        ),
        within=_path(
            r"\.(?:github|gitea|forgejo)/workflows/[^/]*\.ya?ml",
            r"(?:\.(?:(?:github|gitea|forgejo)/workflows|github/actions|gitlab|circleci|buildkite|woodpecker|semaphore"
            r"|azuredevops)|\.?azure-pipelines)/(?:[^/]*/)*(?!(?:docker-)?compose\.)[^/]*\.ya?ml",
        ),
        words=_OF_CI,
    ),
    _Kind(
        "taskfile", named=_path(r"(?:[^/]*[._-])?taskfile(?:[._-][^/]*)?\.ya?ml"), words=_DOCKER
    ),
    _Kind("devcontainer", named=_path(r"\.?devcontainer\.json")),
    _Kind(
        "compose",
        named=_path(r"(?:docker-)?compose(?:\.[^/]*)?\.ya?ml", r"docker-stack[^/]*\.ya?ml"),
        maybe=_path(r"[^/]*compose[^/]*\.ya?ml"),
        tells=_may_be_compose,
    ),
    _Kind("compose", maybe=_path(r"[^/]*\.ya?ml"), tells=_is_compose),
    _Kind(
        "compose",
        maybe=_path(r"(?:docker-)?compose(?:\.[^/]*)?\.json"),
        tells=lambda content: re.search(rb'"services"\s*+:\s*+\{', content) is not None,
    ),
    _Kind("taskfile", maybe=_path(r"[^/]*\.ya?ml"), tells=_is_taskfile, words=_DOCKER),
    _Kind("ci", maybe=_path(r"[^/]*\.ya?ml"), tells=_is_azure, words=_OF_CI),
    _Kind(
        "kubernetes",
        named=_path(r"kustomization\.ya?ml", "kustomization"),
        maybe=_path(r"[^/]*\.ya?ml"),
        tells=is_kubernetes,
        words=(b"image", b"container", b"resources", b"patches", b"bases", b"components"),
    ),
    _Kind(
        "template",
        maybe=_path(
            r"[^/]*\.(?:ya?ml[.-](?:in|j2|jinja2?|tmpl|tpl|gotmpl|template|erb|mustache|hbs|envsubst)|tftpl)",
            rf"[^/]*\.ya?ml{_EXAMPLE}",
        ),
        tells=lambda content: is_kubernetes(content) or re.search(_SERVICES, content) is not None,
        words=_TEMPLATE,
    ),
    _Kind(
        "template",
        maybe=_path(
            r"[^/]*\.(?:sh|bash|sbatch|slurm)[.-](?:in|j2|jinja2?|tmpl|tpl|template|erb|mustache)",
            rf"[^/]*\.(?:sh|bash|sbatch|slurm){_EXAMPLE}",
        ),
        tells=lambda content: re.search(_RUNS_CONTAINER, content) is not None,
        words=_TEMPLATE,
    ),
    _Kind(
        "template",
        maybe=_path(r"[^/.]+\.(?:in|j2|jinja2?|tmpl|tftpl|tpl|template|erb|mustache)"),
        tells=lambda content: is_shell(content) and re.search(_RUNS_CONTAINER, content) is not None,
        words=_TEMPLATE,
    ),
    _Kind(
        "markdown",
        named=_path(rf"[^/]*\.(?:{PAGE_ENDINGS})"),
        words=(*_DOCKER, b"services:", b"gpus:", b"--gpus", b"capabilities:", b"apiVersion:", b'"runArgs"',
               b'"hostRequirements"'),
    ),
    _Kind(
        "shell",
        named=_path(
            r"[^/]*\.(?:sh|bash|ksh|zsh|command|sbatch|slurm)",
            r"\.(?:bashrc|bash_aliases|bash_profile|zshrc|profile|envrc)",
        ),
        maybe=_path(r"[^/.]+", r"[^/]*\.(?:sub|job|pbs|lsf|qsub|sge)"),
        tells=is_shell,
        words=(*_DOCKER, _RESOURCE),
    ),
    _Kind(
        "makefile",
        named=_path(r"(?:[^/]*\.)?(?:GNU)?makefile(?:\.\w+)?", r"[^/]*\.ma?k", r"\.?justfile", r"[^/]*\.just"),
        words=_DOCKER,
    ),
    _Kind(
        "jenkinsfile",
        named=_path(r"(?:[^/]*[._-])?jenkinsfile(?:[._-][^/]*)?", r"[^/]*\.(?:groovy|jenkins)"),
        words=(*_DOCKER, b"withDockerContainer", b".com/gpu"),
    ),
    _Kind(
        "fish",
        named=_path(r"[^/]*\.fish"),
        maybe=_path(r"[^/.]+"),
        tells=lambda content: re.match(rb"#![^\n]*\bfish\b", content) is not None,
        words=_DOCKER,
    ),
    _Kind(
        "unread",
        named=_path(r"[^/]*\.(?:ps1|psm1|bat|cmd|adoc|asciidoc|org|ipynb)"),
        maybe=_path(
            r"(?:readme|install|usage)(?:\.txt)?|[^/]*\.tex",
            r"(?:package|project|composer)\.json|deno\.jsonc?|pyproject\.toml|pixi\.toml|\.?mise(?:\.\w+)?\.toml|tox\.ini",
            r"procfile|earthfile|vagrantfile|(?:[^/]*\.)?cron(?:tab)?|cron\.d/[^/]*",
            r"cmakelists\.txt|[^/]*\.cmake|[^/]*\.desktop",
            r"supervisord?[^/]*\.conf",
            r"\.vscode/tasks\.json",
        ),
        tells=lambda content: re.search(_RUNS_CONTAINER, content) is not None,
        words=_UNREAD,
    ),
    _Kind(
        "unread",
        maybe=_path(r"[^/]*\.(?:nf|smk|cwl)|nextflow[^/]*\.config|snakefile"),
        tells=may_request_gpu_of_tool,
        words=_UNREAD,
    ),
    _Kind(
        "unread",
        maybe=_path(r"rakefile|[^/]*\.rake"),
        tells=may_request_gpu,
        words=_UNREAD,
    ),
    _Kind(
        "unread",
        maybe=_path(r"[^/]*\.(?:sub|submit|condor|jdl)"),
        tells=lambda content: re.search(_CONDOR, content) is not None,
        words=_UNREAD,
    ),
    _Kind(
        "systemd",
        named=_path(r"[^/]*\.(?:service|container)(?:\.(?:in|j2|tmpl|template))?", r"[^/]*\.service\.d/[^/]*\.conf"),
        words=(*_DOCKER, b"[Container]"),
    ),
    _Kind(
        "unread",
        maybe=_path(r"[^/]*values[^/]*\.ya?ml"),
        tells=lambda content: _RESOURCE in content,
        words=_UNREAD,
    ),
    _Kind(
        "unread",
        maybe=_path(r"[^/]*\.ya?ml"),
        tells=may_request_gpu,
        words=_UNREAD,
    ),
)
WORDS = {kind.name: kind.words for kind in _KINDS}
"""By kind: a scan skips a file that holds none of these words; without words every file is read."""


def kind_of(source: Source, top: str = "") -> str | None:
    """The kind of a file whose text was read; its path counts from ``top``, or else from the working directory."""
    path = os.path.abspath(os.path.join(top, source.path)).replace(os.sep, "/")
    return classify(path, lambda: source.text.encode("utf-8", "replace"))


def classify(path: str, read: Callable[[], bytes]) -> str | None:
    """The kind of a file by its name, and where that does not decide, by its content.

    ``path`` has ``/`` and is best absolute: ``.github/workflows/`` in it counts. ``read`` gives
    the content; it is called at most once, and only where the name does not decide.
    None: of no known kind.

    >>> classify("deploy/docker-compose.gpu.yml", lambda: b"")
    'compose'
    """
    if is_program(path):
        return "unread" if program_requests_gpu(path, read()) else None
    path = "/" + path
    end = _end(path)
    for kind in _KINDS:
        if (kind.named and re.search(kind.named, end)) or (kind.within and re.search(kind.within, path)):
            return kind.name
    asked = [kind for kind in _KINDS if kind.maybe and re.search(kind.maybe, end)]
    content = read() if asked else b""
    return next((kind.name for kind in asked if kind.tells and kind.tells(content)), None)


def may_be_of(path: str, names: frozenset[str]) -> bool:
    """Whether a file may be of one of some kinds, as its path says: for some names its content decides.

    >>> may_be_of("scripts/train.sh", frozenset({"shell"})), may_be_of("scripts/train.py", frozenset({"shell"}))
    (True, False)
    """
    return not is_program(path) and re.search(_paths_of(names), "/" + path) is not None


@lru_cache(8)
def _paths_of(names: frozenset[str]) -> str:
    found = (pattern for kind in _KINDS if kind.name in names for pattern in (kind.named, kind.within, kind.maybe))
    return "|".join(dict.fromkeys(filter(None, found)))


def is_example(path: str) -> bool:
    """Whether a path is of an example that people copy to a file without its ending: ``compose.yaml.example``."""
    return re.search(rf"(?i){_EXAMPLE}\Z", path) is not None


def classify_named(path: str, read: Callable[[], bytes]) -> str | None:
    """The kind of a file that is named or piped in; of an example, whose name says nothing then, only the content."""
    return None if is_example(path) else classify(path, read)


def is_inspect(content: bytes) -> bool:
    """Whether a text is what ``docker inspect`` or ``podman inspect`` prints of containers.

    For files that are named or piped in only: a scan does not open every JSON file.
    """
    head = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] == b"[" and content.strip().removeprefix(b"\xef\xbb\xbf").strip(b"[] \t\r\n") == b"":
        return True  # of no container
    return head[:1] in (b"[", b"{") and b'"HostConfig"' in content


UNSUPPORTED = "unsupported"
"""The kind of a file that no format reads."""


def unnamed(path: str, content: bytes) -> str:
    """The kind of a file that is named or piped in, and whose name says nothing.

    A text with ``services``, and an empty one in YAML, is left to the reader of Compose files, which says what
    is wrong with it; one with a ``docker run`` is a script.
    """
    if is_kubernetes(content):
        return "kubernetes"
    if re.search(rb"(?m)^[\xef\xbb\xbf]*[{ ]*[\"']?services[\"']?[ \t]*:", content) is not None:
        return "compose"
    if re.search(_RUNS_CONTAINER, content) is not None:
        return "shell"
    name = path.lower().rpartition("/")[2]
    empty = name.endswith((".yaml", ".yml")) and not content.strip()
    return "compose" if empty or ("compose" in name and _may_be_compose(content)) else UNSUPPORTED


def hint(path: str) -> str:
    """Why a file is not read, and which one to name in its place."""
    name = path.rpartition("/")[2].lower()
    if "dockerfile" in name or name == "containerfile":
        return "a Dockerfile starts no container; name the file that starts it; this one is then read too"
    if name.endswith((".py", ".ipynb")):
        return "a program starts no container; name the file that starts it; the program is then read too"
    if name.endswith((".yaml", ".yml")):
        return "it is not a Compose file (no `services`) and not a manifest; CI files are recognised by their path"
    if name.endswith(".json"):
        return "only devcontainer.json and the output of `docker inspect` are read"
    return "it is not a Compose file, script, Makefile, unit, CI file, document, dev container or manifest"


def screen(kinds: Collection[str]) -> Callable[[str], bool]:
    """Tells of every path but those of programs if it can be of one of the kinds, so that few are looked at closely."""
    asked = [kind for kind in _KINDS if kind.name in kinds]
    names = _any(pattern for kind in asked for pattern in (kind.named, kind.maybe))
    places = _any(kind.within for kind in asked)
    return lambda path: names.search(_end(path)) is not None or places.search(path) is not None


def _any(patterns: Iterable[str | None]) -> re.Pattern[str]:
    return re.compile("|".join(dict.fromkeys(filter(None, patterns))) or r"(?!)")

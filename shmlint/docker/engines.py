"""Finds the container engine in a command line, after ``sudo``, ``env`` and the like.

Sources: ``docker --help`` of the 28.2 client; podman docs/source/markdown/podman.1.md;
nerdctl docs/command-reference.md (global flags).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from shmlint.docker.prefixes import after_prefix, is_assignment, prefix_of
from shmlint.model.launch import BINARIES, ENGINES, Binary
from shmlint.model.record import NamedTuple
from shmlint.syntax.word import Word, is_expansion, talks

Verb = Literal["run", "create"]


class DockerCommand(NamedTuple):
    """A command that starts (or creates) a container: which words say so.

    ``assignments`` are the ``NAME=value`` words in front, those of ``env`` and ``sudo`` too;
    ``binary`` is the index of the word that names the engine, ``start`` that of the first word
    after the verb.
    """

    engine: Binary
    verb: Verb
    assignments: tuple[Word, ...]
    binary: int
    start: int


_GLOBAL_WITH_VALUE: dict[str, set[str]] = {
    "docker": {
        "--config",
        "-c",
        "--context",
        "-H",
        "--host",
        "-l",
        "--log-level",
        "--tlscacert",
        "--tlscert",
        "--tlskey",
    },
    "podman": {
        "--cgroup-manager",
        "--config",
        "--conmon",
        "-c",
        "--connection",
        "--events-backend",
        "--hooks-dir",
        "--identity",
        "--imagestore",
        "--log-level",
        "--module",
        "--network-cmd-path",
        "--network-config-dir",
        "--out",
        "--root",
        "--runroot",
        "--runtime",
        "--runtime-flag",
        "--ssh",
        "--storage-driver",
        "--storage-opt",
        "--tls-ca",
        "--tls-cert",
        "--tls-key",
        "--tmpdir",
        "--url",
        "--volumepath",
    },
    "nerdctl": {
        "-a", "--address", "-H", "--host", "-n", "--namespace", "--snapshotter", "--storage-driver", "--cni-path",
        "--cni-netconfpath", "--data-root", "--cgroup-manager", "--hosts-dir", "--host-gateway-ip", "--bridge-ip",
        "--userns-remap", "--global-dns", "--global-dns-opts", "--global-dns-search", "--cdi-spec-dirs",
    },
}
_GLOBAL_STOPS = frozenset(("-v", "--version", "--help"))

_BINARY = re.compile(rf"(?:.*[/\\])?({'|'.join(BINARIES)})(?:(?<=podman)-remote)?(?:\.(?:exe|lima))?")
_BINARY_VARIABLE = (
    rf"(?i)[\W\d_]*(?:({'|'.join(ENGINES)})_?(?:cmd|bin|binary|exe|command|cli|path)?"
    r"|(?:oci|container)_?(?:cmd|bin|binary|exe|command|cli|path|engine|runtime|tool))[\W\d_]*"
)


OF_RUN = frozenset({"--gpus", "--ipc", "--shm-size"})
"""Options of ``run`` that take a value; before it Docker refuses them."""


def find_docker(words: Sequence[Word]) -> DockerCommand | None:
    """The container start in the words of one command, None where it is something else."""
    assignments: list[Word] = []
    at = skip_to_engine(words, assignments)
    engine = _engine(words[at]) if at is not None else None
    if at is None or engine is None:
        return None
    return _after_binary(words, at, engine, tuple(assignments))


def skip_to_engine(words: Sequence[Word], assignments: list[Word] | None = None) -> int | None:
    """The index of the word that names the engine; None where the command runs something else.

    ``NAME=value`` words in front are added to ``assignments``.
    """
    assignments = assignments if assignments is not None else []
    texts: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text
        if _engine(word) is not None:
            return at
        if is_assignment(text):
            assignments.append(word)
            at += 1
        elif not word.unknown and prefix_of(text) is not None:
            texts = texts or [each.text for each in words]
            behind = after_prefix(texts, at)
            if behind is None:
                return None
            assignments += [words[i] for i in behind.assignments]
            at = behind.at
        elif word.unknown and re.match(r"\W", text):
            # `$SUDO docker run`, `${DRY_RUN} docker run`: whatever it is, it ends at the binary.
            at += 1
        else:
            found = _behind_dashes(words, at + 1) or _wrapped(words, at)
            return None if found is None or talks(text) else found
    return None


def is_by_another(words: Sequence[Word]) -> bool:
    """Whether a program that is not known gets the words: what it does with them, and with its environment, is open."""
    first = next((word for word in words if not is_assignment(word.text)), None)
    return first is not None and not (
        first.unknown or _engine(first) is not None or prefix_of(first.text) is not None
    )


def is_wrapped(words: Sequence[Word]) -> bool:
    """Whether a program that is not known gets a container start, and nothing but its name says that it runs it."""
    at = skip_to_engine(words)
    return at is not None and is_by_another(words) and not _RUNS.intersection(word.text for word in words[:at])


def _wrapped(words: Sequence[Word], at: int) -> int | None:
    """The index of an engine behind a word that is not a known program, and its numbers and options.

    That is a function that runs its arguments: ``retry 3 docker run``.
    """
    behind = range(at + 1, len(words))
    engine = next((i for i in behind if re.fullmatch(_OF_WRAPPER, words[i].text) is None), len(words))
    runs = engine + 2 < len(words) and words[engine + 1].text == "run" and _engine(words[engine]) is not None
    return engine if runs and re.fullmatch(r"[A-Za-z_][\w.-]*", words[at].text) and not words[at].unknown else None


_OF_WRAPPER = r"-.*|\d[\d.]*[smhd]?"
"""What a command that runs another one is given itself: options, a number of attempts, a time."""


_RUNS = frozenset({"--", "-exec", "-execdir", "-ok"})
"""What is before a command: the end of the options of whatever runs it (``op run -- docker``), and find's."""


def _behind_dashes(words: Sequence[Word], at: int) -> int | None:
    """The index of an engine directly after a word that says that a command follows."""
    for i in range(at, len(words) - 1):
        if words[i].text in _RUNS:
            return i + 1 if _engine(words[i + 1]) is not None else None
    return None


def _engine(word: Word) -> Binary | None:
    match = _BINARY.fullmatch(word.text)
    if match is None and word.unknown:
        # Of `DOCKER=$1; $DOCKER run` the text is `$1`; what is written says what it is meant for.
        match = re.fullmatch(_BINARY_VARIABLE, word.text) or _named_so(word)
    if match is None:
        return _one_of(word)
    named = (match[1] or "").lower()
    return next((binary for binary in BINARIES if binary == named), "docker")


def _named_so(word: Word) -> re.Match[str] | None:
    """The name of a variable that another one or an argument is in, if it is called after an engine."""
    alone = not word.values and is_expansion(word.text)
    return re.fullmatch(_BINARY_VARIABLE, word.used.text) if alone and word.used is not None else None


def engines_of(word: Word) -> Sequence[Binary]:
    """The engines one of which a variable holds, or a command prints; none where it may be anything else."""
    found = [_engine_in(value) for value in filter(None, word.values)]
    known = [engine for engine in found if engine is not None]
    return tuple(dict.fromkeys(known)) if len(known) == len(found) else ()


def _one_of(word: Word) -> Binary | None:
    """The engine that such a word is read as: where there is ``nvidia-docker``, it gets GPUs."""
    known = engines_of(word)
    return next((engine for engine in ("nvidia-docker", "docker", *known) if engine in known), None)


def _engine_in(value: str) -> Binary | None:
    """The engine that a text is, perhaps behind ``sudo`` and the like."""
    words = [*map(Word, value.split())]
    at = skip_to_engine(words)
    return _engine(words[at]) if at is not None and at + 1 == len(words) else None


def _executed(words: Sequence[Word], at: int) -> tuple[int, Binary] | None:
    """The engine that ``docker exec NAME docker run …`` starts inside of a container, and its index."""
    at = next((i for i in range(at, len(words)) if words[i].text == "exec"), len(words))
    name = next((i for i in range(at + 1, len(words)) if not words[i].text.startswith("-")), len(words))
    for i in range(name + 1, len(words) - 1):
        engine = _engine(words[i])
        if engine is not None and words[i + 1].text in ("run", "create", "container"):
            return i, engine
        if talks(words[i].text):
            return None
    return None


def subcommand(words: Sequence[Word], binary: int) -> int | None:
    """The index of what an engine does, behind its own options; None where it is no engine or does nothing."""
    engine = _engine(words[binary])
    if engine is None:
        return None
    with_value = _GLOBAL_WITH_VALUE.get(engine, _GLOBAL_WITH_VALUE["docker"])
    at = binary + 1
    while at < len(words):
        text = words[at].text
        if text.startswith("-"):
            if text in _GLOBAL_STOPS:
                return None
            at += 2 if text in with_value or text in OF_RUN else 1
        elif words[at].unknown and not re.match(r"\w", text):
            at += 1
        else:
            return at
    return None  # an option whose value is not there is the last one, too


def _after_binary(
    words: Sequence[Word], binary: int, engine: Binary, assignments: tuple[Word, ...]
) -> DockerCommand | None:
    found = subcommand(words, binary)
    if found is None:
        return None
    at = found
    if words[at].text == "container":
        at += 1
    if at >= len(words):
        return None
    verb = words[at].text
    inner = _executed(words, at) if verb in ("exec", "compose") else None
    if inner is not None:
        return _after_binary(words, *inner, assignments)
    if verb == "run":
        return DockerCommand(engine, "run", assignments, binary, at + 1)
    if verb == "create":
        return DockerCommand(engine, "create", assignments, binary, at + 1)
    return None

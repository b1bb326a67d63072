"""What other files of the repository give to a script that they start: its arguments and its environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice

from shmlint.files.cache import Key
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats import scripts
from shmlint.formats.shell.direnv import given_by_direnv
from shmlint.model.source import Source
from shmlint.syntax.shell_sharing import sharing
from shmlint.syntax.shell_text import holds_one
from shmlint.syntax.shell_variables import ANY, Variables, given

_LEVELS = 5
"""Directories above a script, with its own, in which its callers are looked for."""
_MOST_FILES = 300
_MOST_FOLDERS = 40

_CALLER = (
    r"(?i)(?:.*\.(?:sh|bash|sbatch|slurm|sub|job|pbs|lsf|qsub|sge|mk|just|ya?ml|groovy|service)"
    r"|(?:gnu)?makefile|justfile|jenkinsfile)"
)
_USES = re.compile(r"\$\{?[1-9@*#]|\$\{\w+:?[-=]|(?<![\w-])[A-Za-z_]\w*\+=")
"""An argument, a variable that has a default, or one to which something is added."""
_BEFORE = (
    r"(?:^|[;&|({`\"'@+:-]"
    r"|(?<![\w-])(?:then|do|else|exec|nohup|sudo|time|srun|sbatch|qsub|bsub|env|bash|sh|zsh|source|\.)"
    r"|-\w+|=[^\s=]*)\s*\Z"
)
"""What is before a script's name where that is started, not copied or printed."""
_PRINTED = re.compile(r"\s*(?:[-@+]*|- )\s*(?:echo|printf|#|//)")
_BEFORE_PATH = r"[\s;&|()`\"'=:]"
_SET = re.compile(r"(?<![\w-])([A-Za-z_]\w*)=")
_BATCH_GIVES = (
    r"(?m)^#(?:SBATCH[ \t][^\n]*--export|(?:PBS|\$)[ \t][^\n]*-v|BSUB[ \t][^\n]*-env)[= \t]+[\"']?([^\n\"']*)"
)
"""What a batch system puts into the environment of a script, by the lines for it."""
_BATCH = "#SBATCH", "#PBS", "#$", "#BSUB"
_BATCH_NAME = re.compile(r"(?:^|,)\s*([A-Za-z_]\w*)")
_NAME = re.compile(r"[\w.-]+\.[\w-]+")
_LONGEST_NAME = 255
"""Characters of a file's name that file systems take."""


class _Callers:
    """Files that may start scripts, by the names of scripts in them.

    Each file is searched once for an ending, not once for each script of a directory.
    """

    __slots__ = ("_naming", "sources")

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = tuple(sources)
        self._naming: dict[str, dict[str, list[Source]]] = {}

    def naming(self, script: str) -> Iterable[Source]:
        """The files that may name a script, in their order."""
        if _NAME.fullmatch(script) is None:
            return [source for source in self.sources if script in source.text]
        ending = os.path.splitext(script)[1]
        if ending not in self._naming:
            self._naming[ending] = self._with(ending)
        return self._naming[ending].get(script, ())

    def _with(self, ending: str) -> dict[str, list[Source]]:
        found: dict[str, list[Source]] = {}
        pattern = re.compile(rf"{re.escape(ending)}(?![\w-])")
        for source in self.sources:
            ends = (match.end() for match in pattern.finditer(source.text))
            before = (source.text[max(end - _LONGEST_NAME - 1, 0) : end] for end in ends)
            for name in dict.fromkeys(map(_last_name, before)):
                found.setdefault(name, []).append(source)
        return found


def _last_name(text: str) -> str:
    """The characters at the end of a text that can be of a file's name."""
    return text[len(text.rstrip(_OF_NAMES)) :] if text.isascii() else re.split(r"[^\w.-]", text)[-1]


_OF_NAMES = "".join(char for char in map(chr, range(128)) if char.isalnum() or char in "_.-")


_READERS: Key[_Callers] = Key("files that may source scripts")
_READER = rf"{_CALLER}|[^.]+|\.\w+|.*\.(?:ksh|zsh|envrc|bats|mdx?|rst|txt)"
_MOST_READERS = 1_000


def _in_repository(root: str, below: str, workspace: Workspace) -> _Callers:
    """The scripts and pages of a repository; their paths count from the directory of one of its files."""
    from shmlint.files.under import names_under

    way = os.path.relpath(root, os.path.realpath(workspace.on_disk(below or ".")))
    names = (name for name in names_under(root) if re.fullmatch(_READER, os.path.basename(name)) is not None)
    return _Callers(_sources((os.path.join(below, way, name) for name in islice(names, _MOST_READERS)), workspace))


_CANDIDATES: Key[_Callers] = Key("files that may start scripts")
"""By the directory."""


def given_by_callers(source: Source, workspace: Workspace) -> Variables | None:
    """The arguments and variables of a script that other files may set; None where there are none.

    A line of another script, a makefile or a pipeline that starts it by its name counts, and so does its own for
    a batch system (``#SBATCH --export=…``), which another of the command line may replace. A start without
    arguments sets none: the script's own defaults hold for it. What direnv gives to the directory counts, too.
    """
    if _USES.search(source.text) is None:
        return None
    gives = re.findall(_BATCH_GIVES, source.text) if holds_one(source.text, _BATCH) else ()
    names = {name for line in gives for name in _BATCH_NAME.findall(line)}
    names |= given_by_direnv(os.path.dirname(source.path), workspace).keys()
    script = os.path.basename(source.path)
    for caller in _candidates(source, workspace):
        passed = _passed(caller.text, script)
        if passed is not None:
            names |= passed | _environment(caller, workspace, script, sourced=_reads(caller, script, _SOURCE))
    return given(dict.fromkeys(sorted(names))) if names else None


_SOURCE = r"(?:source|\.)"


def is_read_by_another(source: Source, workspace: Workspace, command: str = _SOURCE) -> bool:
    """Whether another file of the repository takes over what this one sets: by ``source``, or another command."""
    script = os.path.basename(source.path)
    if any(_reads(caller, script, command) for caller in _candidates(source, workspace)):
        return True
    own, root = normal(source.path), workspace.root(source.path)
    if root is None or command != _SOURCE:
        return False
    # Here a missed one does harm, so files of other directories and of any name count, too.
    below = os.path.dirname(own)
    others = workspace.once(_READERS, root, partial(_in_repository, root, below)).naming(script)
    return any(_reads(other, script, command) for other in others if other.path != own)


def _reads(caller: Source, script: str, command: str) -> bool:
    """Whether a line of a file names a script behind a command."""
    name = re.compile(rf"(?<![\w.-]){re.escape(script)}(?![\w.-])")
    before = re.compile(rf"(?<![\w.]){command}[ \t]")
    for part in re.split(r"[\n;&|]", caller.text):  # a single pattern would go on from each `.` to the line's end
        places = [match.start() for match in name.finditer(part)]
        if places and before.search(part, 0, places[-1]) is not None:
            return True
    return False


def _passed(text: str, script: str) -> set[str] | None:
    """The names of what the lines of a text that start a script give to it, ``1`` for its first argument.

    None where no line starts it.
    """
    found: set[str] | None = None
    pattern = rf"(?m)^(.*?)(?<![\w.-]){re.escape(script)}(?![\w./-])[\"']?([^\n;|&<>)`]*)"
    for line, behind in re.findall(pattern, text):
        folder = re.split(_BEFORE_PATH, line)[-1]
        before = line.removesuffix(folder) if folder.endswith("/") else line
        if _PRINTED.match(before.lstrip()) or not re.search(_BEFORE, before):
            continue
        found = found or set()
        arguments = [word for word in re.split(r"[\s\"']+", behind.partition(" #")[0]) if word not in ("", "\\")]
        if arguments:
            found |= {*map(str, range(1, len(arguments) + 1)), "@", "*", "#"}
        if any("@" in word or "*" in word for word in arguments):
            found |= set("123456789")
        found.update(_SET.findall(re.split(r"[;&|]", before)[-1]))
    return found


def _environment(caller: Source, workspace: Workspace, script: str, *, sourced: bool) -> set[str]:
    """The variables that a file sets for a script that it starts; ``ANY`` where what it sets is not known.

    One that is ``sourced`` sees all of them.
    """
    parts = scripts(caller, workspace, script)
    if parts is None:
        return {ANY}
    found: set[str] = set()
    for part in parts:
        shared = sharing(part.text)
        found |= shared.exported
        found.update(shared.assigned if sourced else ())
        found.update(part.given.of_environment() if part.given is not None else ())
    return found


def _candidates(source: Source, workspace: Workspace) -> Iterator[Source]:
    """The files of the directories around a script that name it."""
    own, script = normal(source.path), os.path.basename(source.path)
    for callers in _around(source, workspace):
        for caller in callers.naming(script):
            if caller.path != own and workspace.inside(caller.path, own):
                yield caller


def scripts_around(source: Source, workspace: Workspace) -> Iterator[Source]:
    """The scripts, makefiles and pipelines of the directories around a file."""
    for callers in _around(source, workspace):
        yield from (file for file in callers.sources if workspace.inside(file.path, source.path))


def _around(source: Source, workspace: Workspace) -> Iterator[_Callers]:
    """The files of the directories around one, from the innermost on."""
    for directory in workspace.upwards(source.path)[:_LEVELS]:
        yield workspace.once(_CANDIDATES, directory, partial(_in_directory, directory))


def _in_directory(directory: str, workspace: Workspace) -> _Callers:
    """The scripts, makefiles and pipelines of a directory and of those in it."""
    folders = [directory, os.path.join(directory, ".github", "workflows")]
    names = sorted(workspace.names_in(directory))
    folders += [os.path.join(directory, name) for name in names if "." not in name and name != "node_modules"]
    paths = (os.path.join(folder, name) for folder in folders[:_MOST_FOLDERS] for name in workspace.names_in(folder))
    named = sorted(normal(path) for path in paths if re.fullmatch(_CALLER, os.path.basename(path)))
    return _Callers(_sources(named[:_MOST_FILES], workspace))


def _sources(paths: Iterable[str], workspace: Workspace) -> Iterator[Source]:
    """The texts of files, as far as they can be read."""
    return (source for source in map(workspace.peek, map(normal, paths)) if source is not None)

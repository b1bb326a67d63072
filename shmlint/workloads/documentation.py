"""What the documentation of a repository runs in a container that gives a shell, and its own programs for training."""

from __future__ import annotations

import json
import os
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from shmlint.docker.commands import compose_command, exec_command, runs_engine, service_command
from shmlint.docker.engines import find_docker
from shmlint.files.cache import Key
from shmlint.files.kinds import PAGE_ENDINGS, is_page, is_readme
from shmlint.files.read import normal
from shmlint.model.launch import Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.shell_text import holds_one
from shmlint.workloads.commands import SHELLS, is_python, kind_of, names_training, runs_binary, unwrapped
from shmlint.workloads.launchers import LAUNCHERS, python_words
from shmlint.workloads.packages.installed import installed_command
from shmlint.workloads.program import Program, gives_notebook
from shmlint.workloads.repository import Repository
from shmlint.workloads.running.entered import follow_inside, in_service, inside, is_detached, typed
from shmlint.workloads.running.follow import Follower, assigned
from shmlint.workloads.running.resolve import passed_on
from shmlint.workloads.told import heading, headings, is_to_be_used

if TYPE_CHECKING:
    from shmlint.formats.markdown import ShellBlock
    from shmlint.syntax.shell import Command

_MOST_PAGES = 12
"""Pages that are read besides that of the launch."""
_LEVELS = 2
"""Directories above the launch's own whose pages may be about it."""


class _Page(NamedTuple):
    """A page, and the offset from which it is read."""

    path: str
    start: int
    here: bool
    """What it shows is meant for this launch's container."""
    anything: bool
    """Any program may be run in the container, not only what a script passes on."""
    begins: bool = False
    """Only what it shows after it starts the container counts."""
    waits: bool = False
    """The container waits for a launcher that another one of the page runs."""


def with_documentation(launch: Launch, program: Program) -> Program:
    """A program with what the documentation starts in a container that gives a shell, or adds to its command."""
    anything = program.kind == "interactive" or (program.default and launch.interactive)
    repository = program.files.repository
    follower = Follower(program.files, dict(program.environment), program.image, guessed=program.guessed)
    own = launch.span.path if is_page(launch.span.path) else None
    prepares = False  # what a script runs inside may only prepare the container
    if own is not None:
        # A container that waits for connections is a host of what another one of the page starts.
        waits = any(posixpath.basename(ran.words[0]) == "sshd" for ran in program.commands)
        start = 0 if waits else launch.span.end
        _read_page(_Page(own, start, not waits, anything, waits=waits), launch, program, follower)
    else:
        follow_inside([*inside(launch, repository), *in_service(launch, repository)], follower)
        shown = [one for one in typed(launch, repository) if _starts_program(one.words, program)] if anything else []
        follow_inside(shown, follower)
        prepares = anything and not shown
    mine = launch.kind == "devcontainer"
    if own is None and not _runs(follower):
        for path in _beside(launch, repository):
            _read_page(_Page(path, 0, False, anything, begins=True), launch, program, follower)
    if not _runs(follower) or ((prepares or launch.kind == "compose-service") and not _trains(follower)):
        for path in _readmes(repository, own):
            _read_page(_Page(path, 0, mine, anything), launch, program, follower)
            if _trains(follower) and is_of_example(path):
                break  # those further up tell of other parts
    if anything and not _trains(follower) and not (own is not None and is_of_example(own) and _shows(follower)):
        for path in _further(repository, own):
            _read_page(_Page(path, 0, mine and not follower.commands, True), launch, program, follower)
    if program.kind == "interactive" and not _runs(follower):
        _notebooks(program, follower)
    if anything and not _runs(follower):
        _own_programs(launch, program, follower)
    commands = tuple(ran for ran in follower.commands if ran.kind == "program")
    return program._replace(documented=tuple(follower.entries), documented_commands=commands)


def _runs(follower: Follower) -> bool:
    """Whether a program was found; a shell that a script opens in its container tells of none."""
    return any(ran.kind == "program" for ran in follower.commands)


def _trains(follower: Follower) -> bool:
    return any(ran.kind == "program" and names_training(ran.words) for ran in follower.commands)


def _shows(follower: Follower) -> bool:
    """Whether a page runs programs in the very container."""
    return any(ran.kind == "program" and ran.certain for ran in follower.commands)


def is_of_example(page: str) -> bool:
    """Whether a page is the README of one part of the repository: what other pages run is for another part."""
    folder, name = posixpath.split(normal(page))
    parts = folder.lower().split("/")
    return name.lower().startswith("readme") and bool(folder) and not _FOR_ALL.intersection(parts)


# Pages ----------------------------------------------------------------------------------------


def _readmes(repository: Repository, own: str | None) -> list[str]:
    """The README of the launch's directory and of the two above it; one further up tells of much else too."""
    paths = [
        normal(posixpath.join(folder, name))
        for folder in repository.above()[: _LEVELS + 1]
        for name in repository.names(folder) if is_readme(name)
    ]  # fmt: skip
    return [path for path in paths if own is None or path != normal(own)]


def fetches_inside(launch: Launch, repository: Repository) -> bool:
    """Whether a page fetches code or packages after it starts a container, so that it has more than its image."""
    own = launch.span.path if is_page(launch.span.path) else None
    script = posixpath.basename(launch.span.path)
    for path in _readmes(repository, None) if own is None else [own]:
        source = repository.peek(path)
        text = source.text if source is not None else ""
        begins = re.search(rf"{re.escape(script)}|{_STARTS}", text) if own is None else None
        start = launch.span.end if own is not None else begins.start() if begins is not None else len(text)
        if re.compile(_FETCHES).search(text, start) is not None:
            return True
    return False


_STARTS = r"\bcompose[ \t]+(?:up|run|exec)\b|\b(?:docker|podman)[ \t]+(?:exec|start|attach)\b"
_FETCHES = (
    r"\b(?:pip[0-9.]*|uv|poetry|pdm|conda|mamba|micromamba|pixi)[ \t]+(?:pip[ \t]+)?(?:install|add|sync|create)\b"
    r"|\bgit[ \t]+(?:clone|submodule)\b|\b(?:vcs|wstool|rosinstall|wget|curl)[ \t]"
)


def _beside(launch: Launch, repository: Repository) -> Iterator[str]:
    """The other pages in the directory of a launch's script that name it."""
    folder, script = posixpath.split(normal(launch.span.path))
    folder = folder or "."
    pages = [name for name in repository.names(folder) if is_page(name) and not is_readme(name)]
    for path in (normal(posixpath.join(folder, name)) for name in sorted(pages)[:_MOST_PAGES]):
        source = repository.peek(path)
        if source is not None and script in source.text:
            yield path


def _further(repository: Repository, own: str | None) -> Iterator[str]:
    """Pages that tell of training: by their names, or because their text names such a program."""
    if own is not None:
        yield from _readmes(repository, own)
        yield from _linked(repository, own)
    if len(repository.above()) > _LEVELS + 1:
        return
    looked = 0
    near = len(repository.above()) < _LEVELS + 1  # a project further down has guides of its own
    top = [os.path.join(repository.root, folder) for folder in (*(("",) if near else ()), *_DOCUMENTATION)]
    for directory in (*top, *(_guides(repository, own) if own is not None else ())):
        pages = [name for name in repository.names(directory) if is_page(name)]
        for name in sorted(pages, key=lambda name: "train" not in name.lower()):
            if looked >= _MOST_PAGES or not (directory in top[-len(_DOCUMENTATION) :] or re.search(_GUIDES, name)):
                continue
            looked += 1
            if _shows_training(os.path.join(directory, name), repository):
                yield os.path.join(directory, name)


def _linked(repository: Repository, own: str) -> Iterator[str]:
    """The guides that the page of a launch links to; the README of another part tells of that part."""
    source = repository.peek(own)
    targets = _LINK.findall(source.text) if source is not None else ()
    pages = (normal(posixpath.join(posixpath.dirname(own), target)) for target in targets)
    looked = 0
    for path in dict.fromkeys(pages):
        if path == normal(own) or is_of_example(path) or not repository.is_file(path):
            continue
        looked += 1
        if looked <= _MOST_PAGES and _shows_training(path, repository):
            yield path


_LINK = re.compile(rf"(?<!!)\[[^\]\n]{{0,300}}\]\((?![\w+.-]*:|/)([\w./-]{{1,200}}\.(?:{PAGE_ENDINGS}))(?:#[\w-]*)?\)")
"""A link of a page to another one of its repository."""
_TRAINS: Key[bool] = Key("pages that show how something is trained")


def _shows_training(path: str, repository: Repository) -> bool:
    """Whether a page names a program that trains; looked for once in a run, because many launches ask."""
    if repository.peek(path) is None or repository.workspace is None:
        return False
    pattern = r"(?i)train\w*\.(?:py|sh)|torchrun|accelerate launch"
    return repository.workspace.once(
        _TRAINS, path, lambda files: re.search(pattern, files.source(path).text) is not None
    )


def _guides(repository: Repository, own: str) -> Iterator[str]:
    """The directory of a page of the documentation, and those in it."""
    folder = posixpath.dirname(normal(own))
    parts = os.path.relpath(folder or ".", repository.root).split(os.sep)
    if parts[0] in _DOCUMENTATION:
        below = (os.path.join(folder, name) for name in repository.names(folder) if "." not in name)
        yield from (folder, *filter(repository.is_dir, below))


def _read_page(page: _Page, launch: Launch, program: Program, follower: Follower) -> None:
    """Follow the commands of a page that run in the container of a launch."""
    repository = program.files.repository
    source = repository.peek(page.path)
    here, directory, notebook, typed_in = page.here, "", gives_notebook(launch, program), page.anything
    inside = ""  # the directory to which it goes in the container
    named = list(_named_starts(source, launch, program)) if source is not None else []
    for command in _commands_behind(source, page.start, repository) if source is not None else ():
        words = [word.text for word in command.words]
        if named and page.start <= named[0] < command.span.start:
            here = here or not is_to_be_used(page.path, named[0], repository)
            named.clear()  # the first is enough
        if words[0] == "cd" or _is_outside(command, repository):
            if len(words) == 2 and words[0] == "cd":
                directory = words[1]
                inside = posixpath.normpath(posixpath.join(inside or program.files.workdir, directory))
            continue
        passed = _passed_to_script(words, launch, page.path, directory, program)
        if passed == () or _makes(words, launch, page.path, directory, repository):
            here, inside = here or not is_to_be_used(page.path, command.span.start, repository), ""
            continue
        if runs_engine(command.words):
            inside = ""  # what its directory is does not matter inside
        entered = _entered(command, launch)
        if entered is not None and entered.starts:
            # What follows is for this container again where it is started anew, unless it has shown what it is for.
            again = page.here and launch.image is not None and launch.image.text in words
            shown = again and any(ran.kind == "program" and ran.certain for ran in follower.commands)
            here = entered.own or (again and not shown)
        if entered is not None and not (entered.own and entered.words):
            continue
        if entered is not None and passed is None:
            passed = entered.words
        if passed is not None:
            here, typed_in = True, typed_in or (len(passed) == 1 and passed[0].rpartition("/")[2] in SHELLS)
        starts = passed is None and typed_in and (here or not page.begins) and unwrapped(words)
        runs = starts and (_starts_program(starts, program) or (is_of_example(page.path) and runs_binary(starts)))
        if passed or (runs and not _is_elsewhere(command, launch, follower)):
            sure = bool(passed) or (here and not notebook) or (page.waits and _on_several_hosts(words))
            given, place = assigned(command, command.span), inside if re.search(r"[$~<]", inside) is None else ""
            place = place or (program.files.typed_in(passed or words, page.path) if here else "")
            follower.run_given(given, passed or words, _line_of(command), certain=sure, directory=place)


def _line_of(command: Command) -> Span:
    """Where a command stands: one of a block with placeholders has the place of the whole block."""
    span, start = command.span, " ".join(word.text for word in command.words[:2])
    at = span.source.text.find(start, span.start, span.end)
    if at <= span.start or "\n" not in span.source.text[span.start : at]:
        return span
    end = span.source.text.find("\n", at, span.end)
    return Span(span.source, at, end if end >= 0 else span.end)


class _Entered(NamedTuple):
    """What a command of a page runs in a container."""

    words: tuple[str, ...]
    own: bool
    """It may be the container of the launch."""
    starts: bool
    """The container is a new one."""


def _entered(command: Command, launch: Launch) -> _Entered | None:
    """What a command runs in a container, which for ``exec`` is that of the launch unless it is another service's."""
    compose = compose_command(command.words)
    found = service_command(compose) if compose is not None else exec_command(command.words)
    if found is None or (compose is not None and compose.wrapped):
        return _Entered((), False, True) if find_docker(command.words) is not None else None
    other = compose is not None and found.name != launch.name and (found.starts or launch.kind == "compose-service")
    return _Entered(found.words, not other, found.starts)


def _named_starts(page: Source, launch: Launch, program: Program) -> Iterator[int]:
    """Where the text of a page calls the script of a launch: "run the container with `./start.sh`"."""
    script = posixpath.basename(launch.span.path)
    if not script.endswith((".sh", ".bash")) or script not in page.text:
        return
    for match in re.finditer(r"(?<!`)`([^`\n]{1,200})`(?!`)", page.text):
        words = match[1].split()
        called = words and (words[0].startswith("./") or words[0] in SHELLS)
        if called and _passed_to_script(words, launch, page.path, "", program) == ():
            yield match.start()


def _is_elsewhere(command: Command, launch: Launch, follower: Follower) -> bool:
    """Whether the page of a launch has shown what it is used for, and is under another heading by now."""
    path, repository = launch.span.path, follower.files.repository
    if command.span.path != path or not is_to_be_used(path, launch.span.start, repository):
        return False
    section = heading(path, launch.span.start, repository)
    shown = (ran.span for ran in follower.commands if ran.kind == "program" and ran.span is not None)
    used = any(span.path == path and heading(path, span.start, repository) == section for span in shown)
    return used and heading(path, command.span.start, repository) != section


def _on_several_hosts(words: Sequence[str]) -> bool:
    """Whether a launcher is given hosts on each of which it starts several ranks: ``-H one:4,two:4``."""
    each = r"[\w.-]+:(?:[2-9]|[1-9]\d+)"
    return any(re.fullmatch(f"{each}(?:,{each})+", word) for word in words)


def _is_outside(command: Command, repository: Repository) -> bool:
    """Whether a heading or the comment above a command says that it is not for the container."""
    source, start = command.span.source, command.span.start
    if _may_be_without(source):
        told = headings(source.path, start, repository)
        if any(re.search(_WITHOUT, found.text.lower()) is not None for found in told):
            return True
    before = source.text[max(0, start - _COMMENT) : start]
    if "#" not in before or not holds_one(before.lower(), ("outside", "host")):
        return False  # that is most, and the pattern is slow
    above = re.search(r"(?:^[ \t]*#.*\n)+[ \t]*(?:[$>][ \t])?\Z", before, re.M)
    return above is not None and re.search(r"(?i)\boutside\b|\bon (?:the|your) host\b", above[0]) is not None


@lru_cache(64)  # each command of a page is asked for, and several pages for each launch
def _may_be_without(page: Source) -> bool:
    lowered = page.text.lower()
    return any(re.search(f"{word} {_CONTAINER}", lowered) is not None for word in ("without", "outside(?: of)?"))


_CONTAINER = r"(?:an? |the )?(?:docker|containers?)\b(?!.?(?:compose|hub|desk))"
_WITHOUT = rf"\b(?:without|outside(?: of)?) {_CONTAINER}"
_COMMENT = 500
"""Characters before a command in which a comment on it is looked for."""


def _commands_behind(source: Source, start: int, repository: Repository) -> Iterator[Command]:
    """The commands in the code of a document from an offset on."""
    from shmlint.formats.markdown import shell_blocks

    known = repository.shared.pages
    if source.path not in known:
        assert repository.workspace is not None
        known[source.path] = tuple(shell_blocks(source, repository.workspace))
    for block in known[source.path]:
        if block.end > start and not _is_batch_job(source, block):
            for command in block.commands:
                if max(block.start, command.span.start) >= start:
                    yield command


def _is_batch_job(source: Source, block: ShellBlock) -> bool:
    """Whether a block of code is a script for Slurm: it runs on the nodes, not in a container that a page starts."""
    first = source.text.find("#SBATCH", block.start, block.end)
    return first >= 0 and bool(block.commands) and first < block.commands[0].span.start


def _passed_to_script(
    words: Sequence[str], launch: Launch, page: str, directory: str, program: Program
) -> Sequence[str] | None:
    """The words that a page passes to the program of a launch's script: ``./docker_run.sh python train.py``.

    None where the command does not run that script, which a page does in the last directory that it changed to.
    """
    left = words[1:] if words[0] in SHELLS or words[0] in ("source", ".") else words
    if not left or posixpath.basename(left[0]) != posixpath.basename(launch.span.path):
        return None
    script = posixpath.relpath(normal(launch.span.path), posixpath.dirname(normal(page)) or ".")
    named = posixpath.normpath(posixpath.join(directory, left[0]))
    same = posixpath.normpath(left[0]) == script or f"/{named}".endswith(f"/{script}")
    if not same and not ("/" in named and f"/{script}".endswith(f"/{named}")):
        return None
    return _behind_own(left[1:], program) if passed_on(launch) is not None else ()


def _makes(words: Sequence[str], launch: Launch, page: str, directory: str, repository: Repository) -> bool:
    """Whether a command of a page makes the target whose recipe starts a container: ``make -C docker shell``.

    What comes after one that is detached may be for the host.
    """
    if posixpath.basename(launch.span.path).lower() not in _MAKEFILES.get(words[0], ()) or not launch.interactive:
        return False
    if is_detached(launch):
        return False
    folder = posixpath.dirname(normal(page))
    inside = normal(posixpath.join(folder, directory))
    folder = inside if directory and repository.is_dir(inside) else folder
    before = [at for at, word in enumerate(words) if word in ("-C", "--directory") and at + 1 < len(words)]
    folder = posixpath.join(folder, words[before[0] + 1]) if before else folder
    same = normal(folder or ".") == normal(posixpath.dirname(normal(launch.span.path)) or ".")
    return same and not _targets_at(launch.span.source, launch.span.start).isdisjoint(words[1:])


def _targets_at(source: Source, start: int) -> frozenset[str]:
    """The names of the recipe in which a place of a Makefile or a justfile is."""
    for line in reversed(source.text[:start].split("\n")[:-1]):
        if line[:1] not in ("", " ", "\t", "#"):
            names, colon, after = line.partition(":")
            header = re.match(_TARGETS, names) if colon and not after.startswith("=") else None
            return frozenset(header[1].split()) if header is not None else frozenset()
    return frozenset()


_TARGETS = r"@?([\w./-]+(?:[ \t]+[\w./-]+)*)"
_MAKEFILES = {"make": ("makefile", "gnumakefile"), "just": ("justfile", ".justfile")}


def _behind_own(words: Sequence[str], program: Program) -> Sequence[str]:
    """The words that a script passes on, without those before a program: it keeps a GPU or a name for itself."""
    starts = (at for at in range(min(len(words), _MOST_OWN)) if _starts_program(words[at:], program))
    first = next(starts, None)
    if first is None and words and re.match(r"[\d,-]+$", words[0]) is not None:
        return ()  # numbers of GPUs or of ranks alone
    return tuple(words[first or 0 :])


_MOST_OWN = 4
"""Words in which a program is looked for among those that a script is given."""


def _starts_program(words: Sequence[str], program: Program) -> bool:
    name = posixpath.basename(words[0])
    if is_python(name):
        return kind_of(words) == "program"
    if name == "make":
        return names_training(words)
    if words[0].endswith((".sh", ".py")):
        if "/" in words[0]:
            return True
        # Alone it is the name of a file in a list of them; such a list may tell of each file, too.
        said = len(words) > _PROSE_WORDS and all(re.fullmatch(_PROSE, word) for word in words[1 : _PROSE_WORDS + 1])
        return len(words) > 1 and not said
    if words[0] in ("source", ".") and words[-1].endswith(".sh"):
        return True
    if name in LAUNCHERS or name in _STARTED:
        return True
    plain = re.fullmatch(r"[A-Za-z][\w-]*", words[0]) is not None and kind_of(words) == "program"
    return plain and installed_command(words[0], program.files) is not None


_PROSE = r"[-–—:=>|]+|[A-Za-z][a-z'’-]*[.,;:]?"
"""A word of a sentence: ``train_two.py is what we use``, ``tune.py - changes the rate``."""
_PROSE_WORDS = 2
_DOCUMENTATION = ("docs", "doc", "documentation")
_FOR_ALL = frozenset({*_DOCUMENTATION, "docker", "dockerfiles", ".devcontainer", "install", "env", "environment"})
"""Directories whose pages tell how to get a container for everything."""
_GUIDES = r"(?i)train|start|usage|guide|tutorial|(?:^|[-_])run(?:ning)?(?![a-z])"
"""Pages at the top of the repository that tell how to use it."""
_STARTED = frozenset(
    {
        "vllm", "bash", "sh", "yolo", "trl", "axolotl", "llamafactory-cli", "ns-train", "sglang", "tritonserver",
        "fastdeployserver", "torchserve",
    }
)  # fmt: skip


def _notebooks(program: Program, follower: Follower) -> None:
    """Follow what the notebooks that the container sees start in several processes: ``!torchrun train.py``."""
    repository = program.files.repository
    folders = list(program.files.folders())
    notebooks: list[str] = []
    for folder in folders:  # grows while it is walked
        for name in repository.names(folder):
            path = normal(os.path.join(folder, name))
            if name.endswith(".ipynb"):
                notebooks.append(path)
            elif "." not in name and len(folders) < _MOST_FOLDERS and repository.is_dir(path):
                folders.append(path)
    for source in filter(None, map(repository.peek, notebooks[:_MOST_NOTEBOOKS])):
        for words, span in _cell_commands(source):
            follower.run(words, span, program.files.workdir, certain=False, guessed=False, depth=1)


def _cell_commands(notebook: Source) -> Iterator[tuple[tuple[str, ...], Span]]:
    """The launchers of several processes that cells of a notebook run as commands, each with its first line."""
    from shmlint.workloads.python.own_python import cells_of

    at = 0
    for cell in cells_of(notebook.text) or ():
        for match in re.finditer(_CELL_COMMAND, cell):
            words = _split(match[1].replace("\\\n", " "))
            written = (json.dumps(match[1].split("\n")[0], ensure_ascii=ascii)[1:-1] for ascii in (False, True))
            found = next(((start, len(text)) for text in written if (start := notebook.text.find(text, at)) >= 0), None)
            at, length = found if found is not None else (at, 0)
            if words and python_words(unwrapped(words)):
                yield words, Span(notebook, at, at + length)


def _split(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


_CELL_COMMAND = r"(?m)^[ \t]*![ \t]*((?:[^\n\\]|\\\n|\\.)+)"
"""A line of a cell that IPython gives to a shell, with those that continue it."""
_MOST_NOTEBOOKS = 40
_MOST_FOLDERS = 60
"""Notebooks that are read for one launch, and directories in which they are looked for."""


# Programs of the repository ---------------------------------------------------------------------


def _own_programs(launch: Launch, program: Program, follower: Follower) -> None:
    """The repository's own programs for training, by their names: nothing says that they are run here."""
    files = program.files
    seen = [folder for folder in (*files.folders(), files.repository.root) if folder]
    for folder in dict.fromkeys(normal(folder) for folder in seen):
        for below in ("", "tools", "scripts", "src"):
            name = files.repository.first(normal(os.path.join(folder, below)), _TRAINERS)
            if name is not None:
                words = ("python", posixpath.join(below, name) if below else name)
                follower.run(words, launch.span, files.workdir, certain=False, guessed=False, depth=1)
                return


_TRAINERS = ("train.py", "training.py", "run_train.py", "main_train.py", "train_net.py", "finetune.py")

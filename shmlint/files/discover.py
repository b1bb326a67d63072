"""From the paths of the command line to the files worth reading, and what kind each is.

A file that is named is always read. A directory is scanned: git is asked what it holds, so that
``.gitignore`` counts, and without git (or outside a work tree) it is walked. The name decides
where it can; only where it cannot is a file opened.

What a scan passes over: ``.git``, ``node_modules``, ``__pycache__``, virtual environments, links
to directories, files above SCAN_LIMIT, and repositories inside a repository (submodules too),
which are to be named to be scanned, as git itself treats them.

The tree may be a stranger's pull request. Of git only ``ls-files`` and ``check-ignore`` are run,
with everything switched off by which a repository could make them start a program or use the
network; nothing but regular files is opened; a link out of the repository is not followed.
"""
# Paths are strings here: a scan looks at a hundred thousand names, most of them once.

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from shmlint.files.read import read_regular, reason

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SCAN_LIMIT = 5_000_000
"""Bytes; a larger file is read only when it is named."""

MANY = 30_000
"""Names below a directory from which on several processes look at them."""

PORTION = 100_000
"""Bytes of names that one of them takes at a time."""

GIT_TIMEOUT = 10.0
"""Seconds; when git takes longer (it waits for ever where a ``.gitignore`` is a FIFO; a hundred
thousand files take it 0.2) the directory is walked instead."""


class Found(NamedTuple):
    """A file to read.

    ``path`` opens the file and is what is printed: relative to the working directory where it
    lies below that, with ``/``. ``explicit`` files were named on the command line; their kind
    may be one that was not asked for.
    """

    path: str
    kind: str
    explicit: bool


class Problem(NamedTuple):
    """A path that cannot be read, and why: a short text that follows the path."""

    path: str
    message: str


# Kinds -----------------------------------------------------------------------------------------

# Patterns are texts: `re` compiles and keeps them when they are first used, and a run over one
# file uses two or three of them.
_TOP_LEVEL_KEY = rb"""(?m)^(?:\xef\xbb\xbf)?["']?([A-Za-z_.][\w.-]*)["']?[ \t]*:(?=\s)"""
_SERVICES = rb"""(?mx)^(?:\xef\xbb\xbf)?["']?services["']?[ \t]*:
    (?!\s*+ (?:\#[^\n]*+\n\s*+)*+ -\s)     # a list is another tool's: GitLab, Travis, Render
"""
_SERVICE_KEY = rb"""(?m)(?:^[ \t]+|[{,][ \t]*)["']?(?:image|build|extends)["']?[ \t]*:(?=\s)"""
_COMPOSE_KEYS = frozenset(
    (b"services", b"version", b"name", b"include", b"networks", b"volumes", b"configs", b"secrets", b"models")
)


def _tells_compose(content: bytes) -> bool:
    """A mapping ``services:`` at the top, entries with image, build or extends, and nothing else.

    Compose refuses any other key at the top but ``x-…``, so a file that has one (``jobs:``,
    ``steps:``, ``replicaCount:``) belongs to another tool that also says ``services``.
    """
    return (
        b"services" in content
        and re.search(_SERVICES, content) is not None
        and re.search(_SERVICE_KEY, content) is not None
        and all(key in _COMPOSE_KEYS or key.startswith(b"x-") for key in re.findall(_TOP_LEVEL_KEY, content))
    )


def tells_shell(content: bytes) -> bool:
    """Whether a text says by its first line that a shell is to read it."""
    return re.match(rb"#![^\n]*\b(?:ba|da|k|z)?sh\b", content) is not None


_DOCKER = (b"docker", b"DOCKER", b"podman", b"PODMAN")


class _Kind(NamedTuple):
    """How files of a kind are recognised.

    ``named`` is searched in the path (absolute, with ``/``). Where no kind's does, ``tells``
    judges the content of the files whose path ``maybe`` is found in. ``words``: a scan passes over a
    file of this kind that holds none of them; without words every such file is read.
    """

    name: str
    named: str
    maybe: str | None = None
    tells: Callable[[bytes], bool] | None = None
    words: tuple[bytes, ...] = ()


def _path(*endings: str) -> str:
    return rf"/(?i:{'|'.join(endings)})\Z"


# The first that matches is it. GitHub takes every file of its directory for a workflow, whatever
# it is called; beside other tools' pipelines a compose file is usual and keeps its name's meaning.
_KINDS = (
    _Kind(
        "ci",
        named=_path(
            r"\.github/workflows/(?:[^/]*/)*[^/]*\.ya?ml",
            r"(?:\.(?:github/actions|gitlab|circleci|buildkite|woodpecker|semaphore)|\.?azure-pipelines)/(?:[^/]*/)*"
            r"(?!(?:docker-)?compose\.)[^/]*\.ya?ml",
            r"(?:[^/]*\.gitlab-ci|azure-pipelines[^/]*|bitbucket-pipelines|cloudbuild|action)\.ya?ml",
            r"\.(?:travis|drone|woodpecker|cirrus)\.ya?ml",
            r"\.?(?:appveyor|buildspec|codefresh)\.ya?ml",
        ),
        words=(*_DOCKER, b"container", b"image"),
    ),
    _Kind("devcontainer", named=_path(r"\.?devcontainer\.json")),
    _Kind(
        "compose",
        named=_path(r"[^/]*compose[^/]*\.ya?ml", r"docker-stack[^/]*\.ya?ml"),
        maybe=_path(r"[^/]*\.ya?ml"),
        tells=_tells_compose,
    ),
    _Kind("markdown", named=_path(r"[^/]*\.(?:md|mdx|markdown|rst)"), words=(*_DOCKER, b"services:")),
    _Kind(
        "shell",
        named=_path(r"[^/]*\.(?:sh|bash|ksh|zsh)"),
        maybe=_path(r"[^/.]+"),
        tells=tells_shell,
        words=_DOCKER,
    ),
    _Kind(
        "makefile",
        named=_path(r"(?:[^/]*\.)?(?:GNU)?makefile(?:\.\w+)?", r"[^/]*\.mk", r"\.?justfile", r"[^/]*\.just"),
        words=_DOCKER,
    ),
)
_WORDS = {kind.name: kind.words for kind in _KINDS}


def classify(path: str, read: Callable[[], bytes]) -> str | None:
    """The kind of a file by its name, and where that does not tell, by its content.

    ``path`` has ``/`` and is best absolute: ``.github/workflows/`` in it counts. ``read`` gives
    the content; it is called at most once, and only where the name does not decide.
    None: of no kind that is known.

    >>> classify("deploy/docker-compose.gpu.yml", lambda: b"")
    'compose'
    """
    path = "/" + path
    for kind in _KINDS:
        if re.search(kind.named, path):
            return kind.name
    asked = [kind for kind in _KINDS if kind.maybe and re.search(kind.maybe, path)]
    content = read() if asked else b""
    return next((kind.name for kind in asked if kind.tells and kind.tells(content)), None)


def tells_inspect(content: bytes) -> bool:
    """Whether a text is what ``docker inspect`` or ``podman inspect`` prints of containers.

    Only what was named or piped in is asked: a scan does not open every JSON file.
    """
    head = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] == b"[" and content.strip().removeprefix(b"\xef\xbb\xbf").strip(b"[] \t\r\n") == b"":
        return True  # of no container
    return head[:1] in (b"[", b"{") and b'"HostConfig"' in content


def _screen(kinds: Collection[str]) -> re.Pattern[str]:
    """Matches every path that can be of one of the kinds, so that few are looked at closely."""
    patterns = [
        pattern
        for kind in _KINDS
        if kind.name in kinds
        for pattern in (kind.named, kind.maybe)
        if pattern is not None
    ]
    return re.compile("|".join(patterns) if patterns else r"(?!)")


# What was named --------------------------------------------------------------------------------


def discover(
    paths: Sequence[str], *, exclude: Sequence[str] = (), kinds: Collection[str], jobs: int = 1
) -> Iterator[Found | Problem]:
    """The files to read for ``paths``, sorted by path, each file once.

    Where there is much to look at, up to ``jobs`` processes do it.

    Files that are named come always, whatever their kind (``compose`` where neither name nor
    content tells) and whatever ``exclude`` says. Directories give their files of ``kinds``.
    ``exclude`` holds patterns as in a ``.gitignore`` in the working directory; below a directory
    outside of that they count from the directory that was named.

    A path that cannot be read is a Problem, never an exception.
    Raises ValueError for a pattern that is not one.
    """
    if exclude:
        exclusion(exclude)  # raises
    best: dict[str, tuple[tuple[int, int, str], Found]] = {}
    problems: set[Problem] = set()

    def take(identity: str, rank: tuple[int, int, str], found: Found) -> None:
        if identity not in best or rank < best[identity][0]:
            best[identity] = (rank, found)

    for order, path in enumerate(paths):
        shown = _shown(path)
        named = _named(path, shown)
        if isinstance(named, Problem):
            problems.add(named)
        elif named is not None:
            take(os.path.realpath(path), (0, order, ""), named)
        else:
            for result in _scan(path, shown, exclude, kinds, jobs):
                if isinstance(result, Problem):
                    problems.add(result)
                else:
                    found, identity, is_link = result
                    # Of a file and the links to it the file is read.
                    take(identity, (1, is_link, found.path), found)

    everything: list[Found | Problem] = [found for _, found in best.values()]
    everything.extend(problems)
    return iter(sorted(everything, key=lambda item: item.path))


def _named(path: str, shown: str) -> Found | Problem | None:
    """What a path of the command line is; None for a directory."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return None
        content = cache(lambda: read_regular(path, SCAN_LIMIT))
        kind = classify(_absolute(path), content)
        if kind is None:
            # What was named is meant: the reader of the most common format says what is wrong.
            kind = "inspect" if tells_inspect(content()) else "compose"
        read_regular(path, 1)
    except (OSError, ValueError) as error:
        return Problem(shown, reason(error))
    return Found(shown, kind, explicit=True)


def _shown(path: str) -> str:
    """A path as it is printed. ``..`` stays: behind a link it is not what it seems."""
    if os.path.isabs(path):
        here = os.path.join(os.getcwd(), "")
        path = path[len(here) :] or "." if os.path.join(path, "").startswith(here) else path
    path = path.replace(os.sep, "/")
    root = "/" if path.startswith("/") else ""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return root + "/".join(parts) or ("." if path else "")


def _absolute(path: str) -> str:
    return os.path.abspath(path).replace(os.sep, "/")


# What a directory holds ------------------------------------------------------------------------


class _Tree(NamedTuple):
    """A directory that is scanned, and what of it is wanted."""

    real: str
    boundary: str
    """Where a link may not lead out of."""
    absolute: str
    prefix: str
    """What is put before a name to open and to print it."""
    exclude: tuple[str, ...]
    outside: bool
    """Outside of the working directory, which has no say there: its patterns count from this directory."""
    kinds: frozenset[str]


_Result = Problem | tuple[Found, str, bool]
"""A file, what identifies it, and whether it is a link."""


def _scan(
    root: str, shown: str, exclude: Sequence[str], kinds: Collection[str], jobs: int
) -> Iterator[_Result]:
    """Files below a directory."""
    from shmlint.files.parallel import share

    real = os.path.realpath(root)
    top = _work_tree(real)
    tree = _Tree(
        real=real,
        boundary=os.path.join(top or real, ""),
        absolute=real.replace(os.sep, "/").rstrip("/") + "/",
        prefix="" if shown == "." else shown.rstrip("/") + "/",
        exclude=tuple(exclude),
        outside=os.path.isabs(shown) or ".." in shown.split("/"),
        kinds=frozenset(kinds),
    )
    listed = _ask_git(real, top) if top else None
    if listed is None:
        names = []
        for name in _walk(real, top):
            if isinstance(name, Problem):
                yield Problem(tree.prefix + name.path if name.path else shown, name.message)
            else:
                names.append(os.fsencode(name))
        listed = b"\0".join(names)
    portions = [listed]
    if jobs > 1 and listed.count(b"\0") >= MANY:
        portions = list(_portions(listed))
    for results in share(partial(_look, tree), portions, jobs):
        yield from results


def _portions(names: bytes) -> Iterator[bytes]:
    """Names that are each ended by a NUL, in several such texts."""
    start = 0
    while start < len(names):
        end = names.find(b"\0", start + PORTION)
        end = len(names) if end < 0 else end
        yield names[start:end]
        start = end + 1


def _look(tree: _Tree, names: bytes) -> list[_Result]:
    """Those of some files below a directory that are to be read."""
    screen = _screen(tree.kinds)
    excluded = exclusion(tree.exclude) if tree.exclude else None
    found: list[_Result] = []
    for name in _within(tree.real, names):
        path, absolute = tree.prefix + name, tree.absolute + name
        if screen.search(absolute) is None or (excluded and excluded(name if tree.outside else path)):
            continue
        result = _examine(path, absolute, tree.kinds)
        if result is None:
            continue
        if not isinstance(result, Found):
            found.append(result)
        elif os.path.islink(path):
            target = os.path.realpath(path)
            if target.startswith(tree.boundary):
                found.append((result, target, True))
            else:
                found.append(Problem(result.path, "is a link to a file outside; name it to have it read"))
        else:
            found.append((result, os.path.join(tree.real, name.replace("/", os.sep)), False))
    return found


def _examine(path: str, absolute: str, kinds: Collection[str]) -> Found | Problem | None:
    """The file itself; None where it is not worth reading."""
    content = cache(lambda: read_regular(path, SCAN_LIMIT))
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > SCAN_LIMIT:
            return None
        kind = classify(absolute, content)
        if kind is None or kind not in kinds:
            return None
        words = _WORDS[kind]
        if words and not any(word in content() for word in words):
            return None
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        # Deleted but still in git's index, or a link to nothing: there is no file.
        gone = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return None if gone else Problem(path, reason(error))
    return Found(path, kind, explicit=False)


_SKIPPED = frozenset((".git", "node_modules", "__pycache__"))


def _skipped(parent: str, name: str) -> bool:
    """Whether nobody keeps files of their own in this directory."""
    return name in _SKIPPED or (
        name in (".venv", "venv") and os.path.exists(os.path.join(parent, name, "pyvenv.cfg"))
    )


# Asking git ------------------------------------------------------------------------------------

_GIT_OPTIONS = (
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "safe.bareRepository=explicit",
    "-c", "protocol.allow=never",
)  # fmt: skip

# A git hook sets these for its own repository; they would answer for the wrong one.
_GIT_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE")


def _work_tree(folder: str) -> str | None:
    """The nearest directory upwards that holds a ``.git``, the folder itself included."""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _ask_git(real: str, top: str) -> bytes | None:
    """What git knows below a directory, as NUL-terminated names; None where it does not say.

    It does not where it is not installed, refuses (another owner, no work tree), takes too long,
    or ignores the whole directory, which somebody named all the same.
    """
    program = _git_program()
    if program is None:
        return None
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name not in _GIT_PLACES}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}

    def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [program, *_GIT_OPTIONS, *arguments],
            cwd=real,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT,
        )

    try:
        # --no-index: a directory is ignored also where a file in it was added by force.
        if real != top and git("check-ignore", "--quiet", "--no-index", ".").returncode == 0:
            return None
        listing = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except (OSError, subprocess.SubprocessError):
        return None
    return listing.stdout if listing.returncode == 0 else None


def _git_program() -> str | None:
    """git from an absolute entry of PATH, so never one that lies in the repository."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.get_exec_path():
        program = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return None


def _within(real: str, listing: bytes) -> Iterator[str]:
    """The names of git's answer, without those in directories that are passed over."""
    skipped = re.compile(rb"(?:^|/)(?:\.git|node_modules|__pycache__|\.?venv)/")
    for raw in listing.split(b"\0"):
        if not raw:
            continue
        name = os.fsdecode(raw)
        if skipped.search(raw) and _below_skipped(real, name):
            continue
        yield name


def _below_skipped(real: str, name: str) -> bool:
    folders = name.split("/")[:-1]
    return any(_skipped(os.path.join(real, *folders[:depth]), folder) for depth, folder in enumerate(folders))


# Walking without git ---------------------------------------------------------------------------

# The patterns of one .gitignore, and how much of a name lies above it.
_Rules = tuple[tuple[int, "GitIgnoreSpec"], ...]

_STARS = re.compile(r"\*+")
_MOST_STARS = 3
"""pathspec matches by regular expressions, and each star of a pattern costs another power of the
name's length. A stranger's pattern with more is left out, so that more files are read, not fewer."""


def _walk(real: str, top: str | None) -> Iterator[str | Problem]:
    """Files below a directory, ``.gitignore`` honoured, also those above it in its work tree.

    Not honoured, as git would: ``.git/info/exclude`` and the user's own list of patterns.
    """
    base = top or real
    start = os.path.relpath(real, base).replace(os.sep, "/") + "/" if real != base else ""
    pending: list[tuple[str, _Rules]] = [(start, _rules_above(base, start))]
    while pending:
        folder, rules = pending.pop()
        here = os.path.join(base, folder)
        rules += _rules_in(here, len(folder))
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    name = folder + entry.name
                    if not entry.is_dir(follow_symlinks=False):
                        if not _ignored(name, rules):
                            yield name[len(start) :]
                    elif not (
                        _skipped(here, entry.name)
                        or (top and os.path.exists(os.path.join(entry.path, ".git")))
                        or _ignored(name + "/", rules)
                    ):
                        pending.append((name + "/", rules))
        except OSError as error:
            yield Problem(folder[len(start) :].rstrip("/"), reason(error))


def _rules_above(base: str, start: str) -> _Rules:
    """What the work tree says about a directory in it; nothing where it ignores the directory."""
    rules: _Rules = ()
    folder = ""
    for part in start.split("/")[:-1]:
        rules += _rules_in(os.path.join(base, folder), len(folder))
        folder += part + "/"
        if _ignored(folder, rules):
            return ()
    return rules


def _rules_in(folder: str, above: int) -> _Rules:
    """The ``.gitignore`` of a directory, if it has one that can be read."""
    try:
        content = read_regular(os.path.join(folder, ".gitignore"), 256 * 1024)
    except OSError:
        return ()
    patterns = [
        line
        for line in map(os.fsdecode, content.replace(b"\r\n", b"\n").split(b"\n"))
        if line and len(_STARS.findall(line)) <= _MOST_STARS and _compiles(line)
    ]
    return ((above, _compile(patterns)),) if patterns else ()


def _ignored(name: str, rules: _Rules) -> bool:
    """Whether the deepest ``.gitignore`` that says anything about a name ignores it."""
    for above, spec in reversed(rules):
        verdict = spec.check_file(name[above:]).include
        if verdict is not None:
            return verdict
    return False


def _compile(patterns: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


def _compiles(pattern: str) -> bool:
    try:
        _compile([pattern])
    except (ValueError, re.error):
        return False
    return True


def exclusion(patterns: Sequence[str]) -> Callable[[str], bool]:
    """What tells whether patterns as in a ``.gitignore`` fit a path. Raises ValueError for one that is none."""
    for pattern in patterns:
        if not _compiles(pattern):
            raise ValueError(f"`{pattern}` is not a pattern as in a .gitignore")
    return _compile(patterns).match_file

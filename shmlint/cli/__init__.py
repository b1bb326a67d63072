"""The command line. A module per command; only the one that is used is imported."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from shmlint.cli.names import COMMANDS
from shmlint.cli.output import FORMATS, Failed, error, prepare_streams
from shmlint.version import __version__

if TYPE_CHECKING:
    from shmlint.cli.checking import Options


COLLECTION = 500_000, 20, 100
"""When garbage is collected. What is read is needed to the end, and by default this takes a fifth of a large run."""


def main() -> NoReturn:
    """The program. Never ends with a traceback: an internal error is one line and status 2.

    It ends without freeing its memory and taking down its modules, which takes 10 ms of a run over many files.
    """
    gc.set_threshold(*COLLECTION)
    prepare_streams()
    try:
        status = _status(sys.argv[1:])
    except OSError:  # what went wrong cannot be told either
        if os.environ.get("SHMLINT_DEBUG"):
            raise
        status = 2
    os._exit(status)


def _status(arguments: list[str]) -> int:
    """Run the command that arguments mean, and write all that is printed; the exit status."""
    try:
        status = _run(arguments)
        sys.stdout.flush()  # what cannot be written is told while it can be
        return status
    except Failed as wrong:
        error(str(wrong))
        return 2
    except KeyboardInterrupt:
        print(file=sys.stderr)  # after the ^C of the terminal
        error("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        return 1
    except Exception as failure:
        if os.environ.get("SHMLINT_DEBUG"):
            raise
        if isinstance(failure, OSError) and failure.errno in _NOT_WRITTEN:
            error(f"the output cannot be written: {failure.strerror}")
            return 2
        message = " ".join(str(failure).split())[:300]
        error(
            f"internal error: {type(failure).__name__}: {message} "
            "(SHMLINT_DEBUG=1 shows where; please report it)"
        )
        return 2
    finally:
        sys.stderr.flush()


_NOT_WRITTEN = frozenset({errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC})
"""A device is full or fails."""
_INTERRUPTED = 130
"""As shells report a program that SIGINT ended: 128 + 2."""


def _run(arguments: list[str]) -> int:
    """Run the command that arguments mean; the exit status."""
    if arguments in (["--version"], ["-V"]):
        print(f"shmlint, version {__version__}")
        return 0
    options = _without_click(arguments)
    if options is not None:
        from shmlint.cli.checking import check

        return check(options)
    from shmlint.cli.program import program

    try:
        status = program.main(arguments, standalone_mode=False)
    except SystemExit as ended:  # of completion
        status = ended.code
    assert isinstance(status, int)
    return status


FLAGS = {
    "--diff": "diff", "--exit-zero": "exit_zero", "--fix": "fix", "--force-exclude": "force_exclude",
    "--quiet": "quiet", "--statistics": "statistics", "--unsafe-fixes": "unsafe_fixes", "--verbose": "verbose",
    "-q": "quiet", "-v": "verbose",
}  # fmt: skip
"""Options of ``shmlint check`` that have no value, and the fields of ``Options`` that they set."""


def _without_click(arguments: list[str]) -> Options | None:
    """The options of a run whose arguments are paths, flags and a format, as hooks and CI have them.

    A run without click takes a fifth less: it and the options of the command take 20 ms of CPU time, the rest
    of a run over one compose file 75 ms. None where there is anything else, which click reads or refuses.
    """
    if "_SHMLINT_COMPLETE" in os.environ or os.name == "nt":  # on Windows click expands patterns of paths
        return None
    given: dict[str, Any] = {}
    paths: list[str] = []
    rest = iter(arguments[1:] if arguments[:1] == ["check"] else arguments)
    for word in rest:
        if word == "--":
            paths += rest
        elif word == "--format":
            given["format"] = next(rest, "")
        elif word in FLAGS:
            given[FLAGS[word]] = True
        elif word.startswith("-"):
            return None
        else:
            paths.append(word)
    commanded = arguments[:1] == ["check"] or COMMANDS.keys().isdisjoint(paths)
    if not commanded or given.get("format", FORMATS[0]) not in FORMATS:
        return None
    from shmlint.cli.checking import Options

    return Options(tuple(paths), **given)

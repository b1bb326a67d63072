"""The command line. A module per command; only the one that is used is imported."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from shmlint.cli.names import COMMANDS
from shmlint.cli.output import Failed, error, prepare_streams
from shmlint.version import __version__


def main() -> NoReturn:
    """The program. Never ends with a traceback: an internal error is one line and status 2."""
    # What is read is needed to the end: collecting garbage as often as by default takes a fifth of a large run.
    gc.set_threshold(50_000, 20, 100)
    prepare_streams()
    try:
        sys.exit(_run(sys.argv[1:]))
    except Failed as wrong:
        error(str(wrong))
        sys.exit(2)
    except KeyboardInterrupt:
        print(file=sys.stderr)  # after the ^C of the terminal
        error("interrupted")
        sys.exit(1)
    except BrokenPipeError:
        os._exit(1)
    except Exception as failure:
        if os.environ.get("SHMLINT_DEBUG"):
            raise
        message = " ".join(str(failure).split())[:300]
        error(
            f"internal error: {type(failure).__name__}: {message} "
            "(SHMLINT_DEBUG=1 shows where; please report it)"
        )
        sys.exit(2)


def _run(arguments: list[str]) -> int:
    """Run the command that arguments mean; the exit status."""
    if arguments in (["--version"], ["-V"]):
        print(f"shmlint, version {__version__}")
        return 0
    if _only_paths(arguments):
        from shmlint.cli.checking import Options, check

        return check(Options(tuple(arguments)))
    from shmlint.cli.program import program

    status = program.main(arguments, standalone_mode=False)
    assert isinstance(status, int)
    return status


def _only_paths(arguments: list[str]) -> bool:
    """Whether arguments are nothing but paths to check.

    There is nothing to parse then, and a run without click takes a third less: it and the options
    of the command take 30 ms of CPU time, the rest of a run over one compose file 60 ms.
    """
    is_completed = "_SHMLINT_COMPLETE" in os.environ
    expands = os.name == "nt"  # where click expands patterns of paths, as no shell does it there
    named = bool(arguments) and arguments[0] in COMMANDS
    return not (is_completed or expands or named or any(argument.startswith("-") for argument in arguments))

"""The command line. A module per command; only the one that is used is imported."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from shmlint.cli.names import COMMANDS
from shmlint.cli.output import FORMATS, Failed, error, prepare_streams
from shmlint.version import __version__

if TYPE_CHECKING:
    from shmlint.cli.checking import Options


COLLECTION = 500_000, 20, 100
"""When garbage is collected. What is read is needed to the end, and by default this takes a fifth of a large run."""


def main() -> NoReturn:
    """The program. Never ends with a traceback: an internal error is one line and status 2."""
    gc.set_threshold(*COLLECTION)
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
    finally:
        gc.freeze()  # at its end Python would look through all of it twice more


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

    status = program.main(arguments, standalone_mode=False)
    assert isinstance(status, int)
    return status


HOOKS = {
    ("check", "--force-exclude", "--"): False,
    ("check", "--force-exclude", "--fix", "--"): True,
}
"""What the hooks of .pre-commit-hooks.yaml put before the paths, and whether that fixes."""


def _without_click(arguments: list[str]) -> Options | None:
    """The options of a run whose arguments are only paths, after a format or what a hook puts before them.

    There is nothing to parse then, and a run without click takes a fifth less: it and the options
    of the command take 20 ms of CPU time, the rest of a run over one compose file 75 ms.
    """
    if "_SHMLINT_COMPLETE" in os.environ or os.name == "nt":  # on Windows click expands patterns of paths
        return None
    from shmlint.cli.checking import Options

    for start, fixes in HOOKS.items():
        if tuple(arguments[: len(start)]) == start:
            return Options(tuple(arguments[len(start) :]), fix=fixes, force_exclude=True)
    report = None
    if arguments[:1] == ["--format"] and arguments[1:2] and arguments[1] in FORMATS:
        report, arguments = arguments[1], arguments[2:]
    if (arguments and arguments[0] in COMMANDS) or any(argument.startswith("-") for argument in arguments):
        return None
    return Options(tuple(arguments), format=report)

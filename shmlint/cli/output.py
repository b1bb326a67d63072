"""What is printed: streams and their encoding, files, colours, errors, progress."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, NoReturn, TextIO, cast

from shmlint.model.number import whole_number
from shmlint.model.record import NamedTuple

if TYPE_CHECKING:
    from threading import Timer


STDIN = "-"
"""The path that means standard input."""

FORMATS = ("text", "concise", "json", "github", "sarif", "gitlab", "rdjson", "junit", "checkstyle")
"""How findings can be written."""


class Failed(Exception):
    """The command cannot be run as it was given. The program ends with the message as one line, and status 2."""


class Output(NamedTuple):
    """Where a report goes, and whether it has colours: ``auto``, ``always`` or ``never``."""

    path: str | None = None
    color: str = "auto"
    to_stderr: bool = False

    @property
    def colour(self) -> bool:
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return self.path is None
        return self.path is None and self.stream.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def stream(self) -> TextIO:
        """The stream it goes to where it does not go to a file."""
        return sys.stderr if self.to_stderr else sys.stdout

    @property
    def width(self) -> int:
        """Columns: those of COLUMNS, else the terminal's, else 80."""
        from shmlint.reports.terminal import WIDTH

        return self._columns or WIDTH

    @property
    def table_width(self) -> int:
        """Columns for a table. In a file or a pipe nothing of it is cut."""
        return self._columns or sys.maxsize

    @property
    def _columns(self) -> int:
        """Columns of COLUMNS or the terminal; 0 where there is neither."""
        given = whole_number(os.environ.get("COLUMNS", ""))
        if given or self.path is not None:
            return given or 0
        try:
            return os.get_terminal_size(self.stream.fileno()).columns
        except (OSError, ValueError):  # no terminal
            return 0


def prepare_streams() -> None:
    """Let no character stop the program that a terminal has no sign for, nor a stream that was closed before it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(io.FileIO(os.devnull, "w"))))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def open_output(path: str | None, color: str = "auto") -> Output:
    """An output that can be written. Nothing may be changed when its report cannot be stored."""
    if path is not None:
        _open(path, "ab").close()
    return Output(path, color)


def _open(path: str, mode: str) -> IO[bytes]:
    try:
        return cast("IO[bytes]", open(path, mode))
    except OSError as wrong:
        fail(f"{path}: {wrong.strerror}")


def write(out: Output, text: str, *, machine: bool = False) -> None:
    """Write a text as it is: a diff has the line endings of its file, and programs expect UTF-8."""
    data = text.encode("utf-8", "backslashreplace")
    if out.path is not None:
        with _open(out.path, "wb") as file:
            file.write(data)
        return
    stream = out.stream
    if machine or (stream.encoding or "utf-8").lower().replace("-", "") == "utf8":
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    else:
        stream.write(text)


def write_lines(out: Output, lines: Iterable[str]) -> None:
    write(out, "".join(f"{line}\n" for line in lines))


def write_bytes(data: bytes) -> None:
    """Write to standard output whatever its encoding is."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def line(text: str, *, err: bool = False) -> None:
    """Print a line whose control characters cannot reach the terminal."""
    from shmlint.reports import escape

    print(escape(text), file=sys.stderr if err else sys.stdout, flush=True)


def error(message: str) -> None:
    """Print what is wrong as one line."""
    line(f"shmlint: {' '.join(message.split(chr(10)))}", err=True)


def fail(message: str) -> NoReturn:
    """End with one line and status 2."""
    raise Failed(message)


def nearest(word: str, words: Sequence[str]) -> str:
    """The word that was probably meant, as the end of an error message."""
    from difflib import get_close_matches

    close = get_close_matches(word, words, 1)
    return f"; did you mean `{close[0]}`?" if close else ""


class Progress:
    """What a run is doing, on a terminal, once it takes more than a second. It is erased at the end.

    ``files`` is how many there are.
    """

    def __init__(self, doing: str, files: int) -> None:
        self.doing = doing
        self.files = files
        self.shown = ""
        self.drawn_at = 0.0
        self.timer: Timer | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from threading import Timer

            self.timer = Timer(1, self._write, [f"{self.doing} {self.files} file{'' if self.files == 1 else 's'} ..."])
            self.timer.daemon = True
            self.timer.start()
        return self

    def done(self, count: int) -> None:
        """So many files are done."""
        if self.shown:
            from time import monotonic

            if monotonic() - self.drawn_at > _PAUSE:
                self.drawn_at = monotonic()
                self._write(f"{self.doing} {count} of {self.files} files ...")

    def _write(self, text: str) -> None:
        text = text[: Output(to_stderr=True).width - 1]
        sys.stderr.write(f"\r{text}{' ' * (len(self.shown) - len(text))}")
        sys.stderr.flush()
        self.shown = text

    def __exit__(self, *_: object) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer.join()
        if self.shown:
            sys.stderr.write("\r" + " " * len(self.shown) + "\r")
            sys.stderr.flush()


_PAUSE = 0.2
"""Seconds between two counts that are shown."""

"""Asks systemd what the words of command lines are: its own library takes them apart.

``config_parse_exec`` (src/core/load-fragment.c) reads words with ``extract_first_word``, and a start puts
variables in with ``replace_env_argv``. Both are functions of libsystemd-shared. Specifiers are left out.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

_LIBRARIES = ("/usr/lib", "/lib", "/usr/lib64")
_UNQUOTE_AND_UNESCAPE = 1 << 5 | 1 << 1
"""``EXTRACT_UNQUOTE | EXTRACT_CUNESCAPE`` (src/basic/extract-word.h)."""
_WHITESPACE = b" \t\n\r"


@cache
def library() -> ctypes.CDLL | None:
    """The library, in a version whose functions take the arguments that are given here."""
    for top in _LIBRARIES:
        for found in sorted(Path(top).glob("**/systemd/libsystemd-shared-*.so")):
            version = re.match(r"libsystemd-shared-(\d+)", found.name)
            if version is not None and 240 <= int(version[1]) < 254:
                return ctypes.CDLL(str(found))
    return None


def calls(text: str) -> Iterator[list[str]]:
    """The arguments of the commands that a unit starts, in its order."""
    environment = environment_of(text)
    for key, value in _settings(text):
        if key.startswith("ExecStart"):
            for command in _commands(value):
                yield [word.decode() for word in _with_variables(command, environment)]


def environment_of(text: str) -> list[bytes]:
    """The variables that a unit sets, each as ``NAME=value``."""
    return [word for key, value in _settings(text) if key == "Environment" for word in _words(value)]


def _settings(text: str) -> Iterator[tuple[str, bytes]]:
    """The settings of a unit; a backslash joins the next line with a space."""
    lines = "\n".join(line for line in text.split("\n") if not line.startswith(("#", ";")))
    for line in lines.replace("\\\n", " ").split("\n"):
        key, equals, value = line.partition("=")
        if equals:
            yield key.strip(), value.strip().encode()


def _word(text: ctypes.c_char_p) -> bytes | None:
    """The next word of a text, which is moved to the end of it."""
    found = ctypes.c_char_p()
    shared = library()
    assert shared is not None
    state = shared.extract_first_word(ctypes.byref(text), ctypes.byref(found), None, _UNQUOTE_AND_UNESCAPE)
    assert state >= 0, "systemd refuses the command line"
    return found.value if state > 0 else None


def _words(value: bytes) -> Iterator[bytes]:
    text = ctypes.c_char_p(value)
    while (word := _word(text)) is not None:
        yield word


def _commands(value: bytes) -> Iterator[list[bytes]]:
    """The commands of one line, which a lone ``;`` separates."""
    text = ctypes.c_char_p(value)
    found: list[bytes] = []
    while text.value:
        rest = text.value.lstrip(_WHITESPACE)
        mark = re.match(rb"\\?;(?=\s|$)", rest)
        if mark is not None and mark[0] == b";":
            yield found
            found = []
            text = ctypes.c_char_p(rest[1:])
        elif mark is not None:
            found.append(b";")
            text = ctypes.c_char_p(rest[2:])
        elif (word := _word(text)) is not None:
            found.append(word)
    if found:
        yield found


def _with_variables(words: Sequence[bytes], environment: Sequence[bytes]) -> list[bytes]:
    """The words with variables put in; the program's own name has none."""
    strings = ctypes.POINTER(ctypes.c_char_p)
    shared = library()
    assert shared is not None
    shared.replace_env_argv.restype = strings
    given = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    known = (ctypes.c_char_p * (len(environment) + 1))(*environment, None)
    found = shared.replace_env_argv(given, known)
    result: list[bytes] = []
    while found[len(result)] is not None:
        result.append(found[len(result)])
    return result

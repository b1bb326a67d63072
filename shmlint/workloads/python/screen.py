"""A cheap look at the text of a Python file: whether anything in it can matter, before it is parsed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache

from shmlint.workloads.packages.libraries import (
    COLLECTIVE,
    COUNTS,
    IMAGE_SIZE_CALLS,
    IMAGE_SIZE_OPTIONS,
    KNOWN_ITEMS,
    METHODS,
    NOT_FOLLOWED,
    ROWS,
    VOLUME_SIZE_CALLS,
    WATCHED,
    harmless,
    is_generated,
)
from shmlint.workloads.packages.parts import PARTLY
from shmlint.workloads.python.declarations import SETTINGS_CLASSES, SETTINGS_OBJECTS

_ROW_PACKAGES = frozenset(name.partition(".")[0] for name in (*WATCHED, *COLLECTIVE))


def is_known(package: str) -> bool:
    """Whether what a package does is known, by its import name."""
    known = package in harmless() or package in sys.stdlib_module_names or package in _ROW_PACKAGES
    return known or is_generated(package)


_COMMON = frozenset({"train", "test", "val", "tune", "run", "main", "call", "launch", "Pool", "create", "get_context"})
"""The last words of calls that matter, and of many others."""
_WITH_COMMON = frozenset(
    {"multiprocessing", "distributed", "hydra", "detectron2", "ray", "pytest", "code", "SharedArray"}
)
"""What a file names that has one of these calls."""
_TELLING = frozenset(
    {
        *(row.call.rpartition(".")[2] for row in ROWS if row not in METHODS),
        *(name.rpartition(".")[2] for name in (*COLLECTIVE, *NOT_FOLLOWED)), *COUNTS,
        "YOLO",
        *IMAGE_SIZE_CALLS, *VOLUME_SIZE_CALLS, *KNOWN_ITEMS,
        "add_argument", "add_option", "option", "Option", "environ", "putenv", "subprocess", "popen", "system",
        "import_module", "__import__", "__defaults__", "__kwdefaults__", "__code__", "chdir",
        "merge_from_file", "merge_from_list", "merge_from_other_cfg", "OmegaConf", "safe_load",
    }
    - _COMMON
)  # fmt: skip
"""Words of calls that matter, of options and configuration files, and of what starts other programs."""
_MADE_EMPTY = frozenset(SETTINGS_CLASSES) - {"dict"}
_PERHAPS = (
    *((frozenset({row.call}), rf"\b{row.imported}\b") for row in METHODS),
    (
        frozenset({"include", "setup", "get_wsgi_application", "get_asgi_application", "execute_from_command_line",
                   "call_command"}),
        r"\bdjango\b",
    ),
    (frozenset({"Celery", "autodiscover_tasks"}), r"\bcelery\b"),
    (frozenset({"uvicorn", "add_job"}), r"\buvicorn\.run\(|\badd_job\("),
    (
        frozenset({"import_string", "locate", "get_method", "get_class", "get_object"}),
        r"\b(?:django|hydra|pydoc|werkzeug)\b",
    ),
    (frozenset({"Page"}), r"\bstreamlit\b"),
    (frozenset({"exec", "eval"}), r"(?<![\w.])(?:exec|eval)\("),
    (frozenset({"train"}), r"\.train\(\s*[^)\s]"),
    (frozenset({"test"}), r"\.\s*test\b"),
    (frozenset({"backward"}), r"\.backward\("),
    (
        _WITH_COMMON,
        r"torch(?:\.| import )(?:multiprocessing|distributed)|hydra|detectron2|\bray\b|\bimport SharedArray\b"
        r"|\bfrom SharedArray\b"
        r"|\bpytest(?:\.| import[^\n]*\b)main\b|\bimport code\b",
    ),
    (frozenset(SETTINGS_CLASSES), rf"\b(?:{'|'.join(SETTINGS_CLASSES)})\(\s*\w+\s*="),
    (_MADE_EMPTY, rf"\b(?:{'|'.join(sorted(_MADE_EMPTY))})\(\s*\)"),
    (SETTINGS_OBJECTS, r"(?<!\w)(?:" + "|".join(sorted(SETTINGS_OBJECTS)) + r")\.[\w.]+\s*=[^=]"),
    (frozenset(IMAGE_SIZE_OPTIONS), rf"\b(?:{'|'.join(IMAGE_SIZE_OPTIONS)})\s*=\s*\d"),
    (frozenset({"Pool", "ProcessPoolExecutor"}), r"\b(?:import|from)[ \t]+torch"),
    (frozenset({"yaml", "json", "toml", "tomllib"}), r"\b(?:yaml|json|toml|tomllib)\.(?:full_|unsafe_)?load\("),
    (frozenset({"fromfile"}), r"\bConfig\.fromfile\("),
    (frozenset({"YAML"}), r"\bYAML\("),
    (frozenset({"modules"}), r"\bmodules\[\s*[\"'][^\n]*\]\s*=[^=]"),
    (
        frozenset({"setattr", "getattr", "methodcaller", "attrgetter"}),
        r"methodcaller|attrgetter|\bsetattr\(|\bgetattr\((?:[^(),]|\([^()]*\)){1,200}+,\s*+(?:[^\"'\s]|[\"']test[\"'])",
    ),
    (frozenset({"class"}), r"\n[ \t]++\w++[ \t]*+:[^=\n]++=(?!=)[^\n]*[^,\n]\n"),
)
"""Words of many meanings, and what has to be there so that they matter; the last are fields of a class."""
_LOOKED_FOR = frozenset(word.encode() for word in _TELLING.union({"import"}, *(few for few, _ in _PERHAPS)))
_WORDS = bytes(c if (chr(c).isalnum() and c < 128) or c == ord("_") else ord(" ") for c in range(256))
"""Translates a text to its words."""
_IMPORT = r"[ \t]*(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b|import[ \t]+([A-Za-z_][\w., \t]*?)[ \t]*(?:#.*)?$)"


_OF_VERSIONEER = re.compile(
    r"(?:#[^\n]*\n|\s)*# This file helps to compute a version number in source trees obtained from\b"
)
"""The module that versioneer writes into a package: it asks git for the version, by a name out of a list.

https://github.com/python-versioneer/python-versioneer
"""


def only_known(text: str) -> frozenset[str] | None:
    """The packages that a file imports, where it says nothing that matters and nothing else has to be followed.

    In doubt the answer is None, and the file is parsed.
    """
    if "\0" in text or len(text) > 200_000 or "DEFINE_" in text or "/dev/shm" in text or "workers" in text.lower():
        return None
    if _OF_VERSIONEER.match(text):
        return frozenset()
    found = _LOOKED_FOR.intersection(text.encode("utf-8", "replace").translate(_WORDS).split())
    words = {word.decode() for word in found}
    if not words.isdisjoint(_TELLING):
        return None
    if any(not words.isdisjoint(few) and re.search(pattern, text) for few, pattern in _PERHAPS):
        return None
    packages: set[str] = set()
    for line in _lines_with(text, "import") if "import" in words else ():
        match = re.match(_IMPORT, line)
        if match is not None:
            named = match[1] or match[2]
            packages.update(part.split()[0].partition(".")[0] for part in named.split(",") if part.strip())
        elif re.search(r"\bimport\b", line):
            return None
    if "import *" in text and not packages.isdisjoint(_ROW_PACKAGES):
        return None  # it may hand on what is not named in it
    if not all(map(is_known, packages)) or not packages.isdisjoint(PARTLY):
        return None
    return frozenset(packages)


def _lines_with(text: str, word: str) -> Iterator[str]:
    at = text.find(word)
    while at >= 0:
        end = text.find("\n", at)
        line = text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]
        yield from line.splitlines()
        at = text.find(word, end) if end >= 0 else -1


# What programs ask of the texts that they load, which is the same for all of them ------------


@lru_cache(2048)
def stored(text: str) -> frozenset[str]:
    """The attributes that a text gives values, of other objects than its own."""
    return frozenset(re.findall(r"\.(?<!self\.)([A-Za-z_]\w*+)\s*+(?:[-+*/|&]|//)?=(?!=)", text))


@lru_cache(2048)
def put_first(text: str) -> tuple[str, ...]:
    """What a program puts in front of the directories in which Python looks for modules, as it is written."""
    return tuple(one or other for one, other in re.findall(_PUTS_FIRST, text)) if "path" in text else ()


_PUTS_FIRST = (
    r"(?m)^[ \t]*(?:sys\.)?path\.insert\([ \t]*0[ \t]*,([^\n]{1,200})"
    r"|^[ \t]*sys\.path(?:\[[^\]\n]{0,20}\])?[ \t]*=(?!=)([^\n]{1,200})"
)

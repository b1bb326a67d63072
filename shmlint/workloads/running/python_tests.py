"""The tests that ``pytest`` runs: all that the files which it collects define."""

from __future__ import annotations

import ast
import os
import posixpath
import re
from collections.abc import Iterator, Sequence

from shmlint.files.read import normal
from shmlint.model.need import Step
from shmlint.syntax.python import Module, dotted, parse
from shmlint.workloads.filesystem import Files
from shmlint.workloads.program import Entry, RunContext
from shmlint.workloads.repository import Repository

_MOST_FILES = 100
"""Files of tests of one command."""
_MOST_FOLDERS = 200
_TEST = r"test_.*\.py|.*_test\.py"
_LEFT_OUT = r"\..*|_darcs|CVS|build|dist|node_modules|venv|.*\.egg|\{arch\}"
"""Directories that pytest does not look into (``norecursedirs``, its default)."""
_TAKES = frozenset(
    {"-k", "-m", "-c", "-o", "-p", "-n", "-W", "-r", "--rootdir", "--confcutdir", "--basetemp", "--ignore",
     "--deselect", "--maxfail", "--durations", "--junitxml", "--junit-xml", "--cov", "--timeout", "--tb", "--log-level",
     "--reruns"}
)  # fmt: skip
"""Options of pytest and of its usual plugins that take the next word."""
_OTHER_CODE = r"--(?:doctest|nbval|nbmake|pyargs|pylint|mypy)|-p\b|-p[a-z]|--import"
"""Options with which it runs what is in no file of tests."""


def by_tests(words: Sequence[str], files: Files, context: RunContext) -> Iterator[Entry | Step]:
    """The tests of the files and directories that a command of pytest names, as one program."""
    named = tuple(word.partition("::")[0] for word in _named(words))
    found: list[str] = []
    for name in named or (".",):
        collected = list(_collected(name, files, context))
        paths = [path for path in collected if path is not None]
        if len(paths) < len(collected):
            yield Step("it has too many tests", context.span)
        found += paths
        if not any(re.fullmatch(_TEST, posixpath.basename(path)) or name.endswith(".py") for path in paths):
            yield Step(f"the tests in `{name}` are not in the repository", context.span)
    if not found:
        return
    sources = [source for path in found[:_MOST_FILES] if (source := files.repository.source(path)) is not None]
    if any("pytest_plugins" in source.text for source in sources):
        yield Step("which plugins its tests load is not followed", context.span)
    for name in sorted(_of_plugins([module for source in sources if (module := parse(source.text)) is not None])):
        yield Step(f"what the fixture `{name}` of its tests does is unknown", context.span)
    if len(found) > _MOST_FILES:
        yield Step("it has too many tests", context.span)
    settings = (files.repository.source(path) for path in _above(posixpath.dirname(found[-1]), _SETTINGS, files))
    told = any(source is not None and re.search(_OTHER_SETTINGS, source.text) for source in settings)
    if told or any(re.match(_OTHER_CODE, word) for word in words) or not named:
        yield Step("what else `pytest` runs is not followed", context.span)
    first, *more = dict.fromkeys(found[:_MOST_FILES])
    yield Entry(first, (), context.span, context.certain, True, more=(first, *more))


def _named(words: Sequence[str]) -> Iterator[str]:
    """The files and directories among the words of pytest."""
    before = ""
    for word in words:
        if not word.startswith("-") and before not in _TAKES:
            yield word
        before = word


def _collected(name: str, files: Files, context: RunContext) -> Iterator[str | None]:
    """The files of tests below a directory, or one file, and what they all share; None where there are more."""
    place = files.find(name, context.directory)
    if place is not None:
        yield from _above(posixpath.dirname(place.path), _SHARED, files)
        yield place.path
        return
    folder = files.find(name, context.directory, folder=True)
    if folder is not None:
        yield from _above(folder.path, _SHARED, files)
        yield from _below(folder.path, files.repository)


def _below(start: str, repository: Repository) -> Iterator[str | None]:
    """The files of tests in the first directories below one; None for the rest."""
    pending = [normal(start)]
    for number, folder in enumerate(pending):  # grows while it is walked
        for name in sorted(repository.names(folder)):
            path = normal(os.path.join(folder, name))
            if re.fullmatch(_TEST, name) or name == "conftest.py":
                yield path
            elif "." not in name and not re.fullmatch(_LEFT_OUT, name) and repository.is_dir(path):
                pending.append(path)
        if number > _MOST_FOLDERS:
            yield None
            return


def _of_plugins(modules: Sequence[Module]) -> set[str]:
    """The fixtures that tests ask for and that no file of theirs has: those of plugins."""
    functions = [node for module in modules for node in module.nodes if isinstance(node, _FUNCTION)]
    known = {*_FIXTURES, *(function.name for function in functions)}
    known.update(name for module in modules for name in module.imports)
    asked: set[str] = set()
    for function in functions:
        decorators = {dotted(d.func if isinstance(d, ast.Call) else d) for d in function.decorator_list}
        fixture = any(name.rpartition(".")[2] == "fixture" for name in decorators)
        given = any("patch" in name or name.rpartition(".")[2] == "given" for name in decorators)
        if given or not (fixture or function.name.startswith("test")):
            continue
        texts = _texts(function.decorator_list)
        known.update(texts if fixture else ())  # the name that a fixture has for tests
        asked.update(name for name in _without_default(function.args) if name not in texts)
    named = (call for module in modules for call in module.nodes if isinstance(call, ast.Call))
    used = (call for call in named if dotted(call.func).rpartition(".")[2] in ("usefixtures", "getfixturevalue"))
    asked.update(text for call in used for text in _texts(call.args))
    return asked - known


def _without_default(arguments: ast.arguments) -> Iterator[str]:
    """The parameters that a caller has to give; pytest leaves the others their defaults."""
    given = [*arguments.posonlyargs, *arguments.args]
    yield from (one.arg for one in given[: len(given) - len(arguments.defaults)])
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    yield from (one.arg for one, default in pairs if default is None)


def _texts(nodes: Sequence[ast.AST]) -> set[str]:
    """The words in the texts that are written in some nodes: ``"a, b"``."""
    parts = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Constant))
    return {word for part in parts if isinstance(part.value, str) for word in re.findall(r"\w+", part.value)}


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_FIXTURES = frozenset(
    {"self", "cls", "request", "tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory", "monkeypatch", "capsys",
     "capsysbinary", "capfd", "capfdbinary", "caplog", "recwarn", "pytestconfig", "cache", "doctest_namespace",
     "record_property", "record_testsuite_property", "subtests", "mocker", "benchmark", "event_loop", "requests_mock"}
)  # fmt: skip
"""The fixtures of pytest itself, and of plugins that start nothing."""


def _above(folder: str, names: Sequence[str], files: Files) -> Iterator[str]:
    """The files of some names in a directory and in those above it."""
    while folder := normal(folder):
        paths = (normal(os.path.join(folder, name)) for name in names)
        yield from filter(files.repository.is_file, paths)
        above = os.path.dirname(folder)
        if folder in (files.repository.root, above, "."):
            return
        folder = above or "."


_SHARED = ("conftest.py",)
"""What pytest reads of the directories above."""
_SETTINGS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_OTHER_SETTINGS = (
    r"\bpython_(?:files|functions|classes)\b|--(?:doctest|nbval|nbmake)"
    r"|\baddopts\b[^\n]{0,999}[\s\"']-p\b"
)
"""Settings with which pytest runs what is in no file of tests, or takes others for tests."""

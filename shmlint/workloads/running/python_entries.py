"""Which Python files of the repository a command starts: ``python FILE``, ``-m``, a server, an installed command."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice

from shmlint.files.read import normal
from shmlint.model.need import Step
from shmlint.model.source import Source
from shmlint.workloads.commands import MISSING, NO_NAME, TESTERS, is_query, names_other_mode, options
from shmlint.workloads.filesystem import Files, Place
from shmlint.workloads.program import Entry, RunContext

MOST_ALTERNATIVES = 12
"""Programs that one path may mean of which a part is not known."""


def by_python(words: Sequence[str], files: Files, context: RunContext) -> Iterator[Entry | Step]:
    """``python`` with these words: a file, ``-m module`` or ``-c`` text; a step says where that stops."""
    left = list(words)
    while left and left[0].startswith("-") and left[0] not in ("-m", "-c", "-"):
        left = left[2:] if left[0] in ("-W", "-X") else left[1:]
    if len(left) > 1 and left[0] == "-m":
        yield from _by_module(left[1], tuple(left[2:]), files, context)
    elif left and left[0] == "-c":
        code = " ".join(left[1:2])
        own = tuple(own_modules(words, files, context.directory)) if is_query(code) else ()
        yield from (_entry(place, (), context)._replace(imported=True) for place in own)
        if not own:
            yield _inline(code, tuple(left[2:]), files, context) or Step(_INLINE, context.span)
    elif left and left[0] == "-":
        yield Step("the code that `python -` reads is not followed", context.span)
    elif left:
        yield from _by_path(left[0], tuple(left[1:]), files, context)


_INLINE = "the code after `python -c` is not followed"


def _inline(code: str, arguments: tuple[str, ...], files: Files, context: RunContext) -> Entry | None:
    """The program whose code is in the command itself; None where it is put together, or where it runs is not known.

    Its modules are those of the working directory. Its places are those in the file of the command.
    """
    span, folder = context.span, files.find(".", context.directory, folder=True)
    at = span.source.text.find(code, span.start) if span is not None and code.strip() and "$" not in code else -1
    if span is None or folder is None or at < 0:
        return None
    before = span.source.text[:at]
    line, column = before.count("\n"), at - before.rfind("\n")
    named = posixpath.relpath(span.source.path, folder.path).replace("/", ":")
    path = normal(posixpath.join(folder.path, f"{named}:{line + 1}:{column}"))
    files.repository.add(path, Source(span.source.path, "\n" * line + code))
    return _entry(Place(path, folder.guessed), arguments, context)


def with_pages(found: Iterable[Entry | Step], files: Files) -> Iterator[Entry | Step]:
    """Programs of Streamlit with the pages beside them, which it runs when somebody opens them.

    https://docs.streamlit.io/develop/concepts/multipage-apps/pages-directory
    """
    for one in found:
        if isinstance(one, Entry):
            folder = normal(posixpath.join(posixpath.dirname(one.path), "pages"))
            pages = (posixpath.join(folder, name) for name in files.repository.names(folder) if name.endswith(".py"))
            one = one._replace(more=(*one.more, *sorted(pages)))
        yield one


def own_modules(words: Sequence[str], files: Files, directory: str) -> Iterator[Place]:
    """The modules of the repository that ``python -c "import …"`` loads."""
    at = next((at for at, word in enumerate(words) if not word.startswith("-") or word == "-c"), len(words))
    code = words[at + 1] if at + 1 < len(words) and words[at] == "-c" else ""
    for named in re.findall(_IMPORTS, code):
        for name in re.split(r"\s*,\s*", named.strip()):
            module = name.split(" ")[0]
            known = module.partition(".")[0] in sys.stdlib_module_names
            place = _first(module.replace(".", "/"), "__init__.py", files, directory) if module and not known else None
            if place is not None:
                yield place


def _by_path(path: str, arguments: tuple[str, ...], files: Files, context: RunContext) -> Iterator[Entry | Step]:
    place = files.find(path, context.directory)
    if place is None:
        some = list(_some_of(path, arguments, files, context))
        if some:
            yield from some
            return
        folder = files.find(posixpath.join(path, "__main__.py"), context.directory)
        place = folder if not path.endswith(".py") else None
    if place is not None:
        yield _entry(place, arguments, context)
    else:
        yield Step(NO_NAME if path.startswith(MISSING) else f"`{path}` is not in the repository", context.span)


def _some_of(path: str, arguments: tuple[str, ...], files: Files, context: RunContext) -> Iterator[Entry | Step]:
    """The files that a path may mean which is known in parts: ``-m models.$NAME``, ``train_$1.py``, ``$KIND/$ONE.py``.

    A name of which nothing is known says enough below a directory only.
    """
    parts = re.sub(_PART, "*", path).split("/")
    at = next((at for at, part in enumerate(parts) if "*" in part), None)
    unnamed = parts[-1].removesuffix(".py") in ("*", "*_*", "*-*")
    if at is None or (unnamed and not any(part.strip("*.") for part in parts[:-1])):
        return
    place = files.find("/".join(parts[:at]) or ".", context.directory, folder=True)
    found = [place.path] if place is not None else []
    for number, part in enumerate(parts[at:], at + 1):
        is_one = files.repository.is_file if number == len(parts) else files.repository.is_dir
        below = ((one, name) for one in found for name in files.repository.names(one))
        fit = (normal(posixpath.join(one, name)) for one, name in below if fnmatchcase(name, part))
        found = list(islice(filter(is_one, fit), MOST_ALTERNATIVES))
    if found:
        yield Step(f"which program `{path}` is, is computed at run time", context.span)
    if names_other_mode(arguments):
        return  # the loaders of one of them say little of that
    for one in (one for one in found if not one.endswith("/__init__.py")):
        yield Entry(one, arguments, context.span, certain=False, guessed=True)


def _by_module(name: str, arguments: tuple[str, ...], files: Files, context: RunContext) -> Iterator[Entry | Step]:
    path = name.replace(".", "/")
    if name in SERVERS:
        yield from by_server((name, *arguments), files, context)
        return
    if name in TESTERS:
        from shmlint.workloads.running.python_tests import by_tests  # it parses, which few runs need

        yield from by_tests(arguments, files, context)
        return
    place = _first(path, "__main__.py", files, context.directory)
    if place is not None:
        yield _entry(place, arguments, context)._replace(imported=True)
        return
    some = list(_some_of(f"{path}.py", arguments, files, context))
    if some:
        yield from (one._replace(imported=True) if isinstance(one, Entry) else one for one in some)
    elif name.partition(".")[0] not in sys.stdlib_module_names:
        yield Step(f"module `{name}` is not in the repository", context.span)
    elif name in ("unittest", "doctest"):
        yield Step(f"the tests that `python -m {name}` runs are not followed", context.span)


def by_server(command: Sequence[str], files: Files, context: RunContext) -> Iterator[Entry | Step]:
    """``uvicorn app.main:app``, ``celery -A tasks worker``: the module that it serves."""
    given = dict(options(command, _SERVED))
    target = given.get("-A") or given.get("--app") or next((w for w in command[1:] if re.fullmatch(_APP, w)), "")
    if not target and posixpath.basename(command[0]) == "flask":
        target = _of_flask(files, context.directory)
    below = given.get("--app-dir") or given.get("--chdir") or ""
    directory = posixpath.normpath(posixpath.join(context.directory, below)) if below else context.directory
    if not target and posixpath.basename(command[0]) == "uwsgi":
        target = _of_uwsgi(command, files, context.directory)
    if not target and posixpath.basename(command[0]) == "gunicorn" and re.fullmatch(_MODULE, command[-1]):
        known = _first(command[-1].replace(".", "/"), "__init__.py", files, directory)
        target = command[-1] if known is not None else ""  # else it may be the value of an option
    module, _, named = target.partition(":")
    module = module.removesuffix(".py")  # Flask takes the path of a file, too
    place = _first(module.replace(".", "/"), "__init__.py", files, directory) if module else None
    if place is not None:
        called = _factory(command, named, place, files) or SERVED
        more = _configuration_of_gunicorn(command, given, files, context.directory)
        yield _entry(place, (), context)._replace(imported=True, function=called, more=more)
    elif module:
        yield Step(f"module `{module}` is not in the repository", context.span)
    else:
        yield Step(f"what `{posixpath.basename(command[0])}` serves is unknown", context.span)


def _configuration_of_gunicorn(
    command: Sequence[str], given: Mapping[str, str], files: Files, directory: str
) -> tuple[str, ...]:
    """The file of Python that Gunicorn runs before it serves, and of which it calls functions.

    https://docs.gunicorn.org/en/stable/settings.html#config
    """
    if posixpath.basename(command[0]) != "gunicorn":
        return ()
    named = (given.get("-c") or given.get("--config") or "gunicorn.conf.py").removeprefix("file:")
    place = files.find(named, directory) if named.endswith(".py") else None
    return (place.path,) if place is not None else ()


def _factory(command: Sequence[str], named: str, place: Place, files: Files) -> str:
    """The function of a module that makes what is served; empty where the module has that itself.

    Uvicorn calls a function that it is given, also without ``--factory``. Flask looks for one of two names.
    https://flask.palletsprojects.com/en/stable/cli/#application-discovery
    """
    name, called, _ = named.partition("(")
    source = files.repository.source(place.path)
    text = source.text if source is not None else ""
    functions = frozenset(re.findall(r"(?m)^(?:async )?def (\w+)", text))
    if not name and posixpath.basename(command[0]) == "flask" and re.search(_APP_OF_FLASK, text) is None:
        return next((one for one in ("create_app", "make_app") if one in functions), "")
    return name if called or name in functions or not _CALLED.isdisjoint(command) else ""


_APP_OF_FLASK = (
    r"(?m)^(?:app|application)\b[^=\n]*=(?!=)|^\w+[ \t]*=[ \t]*(?:flask\.)?Flask\("
    r"|^from[ \t][^\n#]*\bimport\b[^\n#]*\b(?:app|application)\b"
)
"""An application that a module has itself, by one of the names that Flask looks for, or of its class."""
_CALLED = frozenset({"--factory", "--call"})
"""Options of Uvicorn, Granian and Waitress by which they call what they are given."""


def _of_uwsgi(command: Sequence[str], files: Files, directory: str) -> str:
    """The module that a configuration file of uWSGI names: ``module = app:make()``, ``wsgi-file = app.py``."""
    for word in command[1:]:
        place = files.find(word.partition("=")[2] or word, directory) if word.endswith(".ini") else None
        source = files.repository.source(place.path) if place is not None else None
        named = re.search(_OF_UWSGI, source.text) if source is not None else None
        if source is not None and named is not None and re.search(_MORE_OF_UWSGI, source.text) is None:
            return named[1].removesuffix(".py").replace("/", ".").lstrip(".")
    return ""


def _of_flask(files: Files, directory: str) -> str:
    """The module that ``flask run`` serves where it names none: FLASK_APP, else ``wsgi`` or ``app``."""
    given = files.environment.get("FLASK_APP")
    if given is not None:
        return (given.known or "").removesuffix(".py").replace("/", ".")
    return next((name for name in ("wsgi", "app") if _first(name, "__init__.py", files, directory) is not None), "")


def by_installed_name(command: Sequence[str], files: Files, context: RunContext) -> Entry | None:
    """A command that a package of the repository installs."""
    from shmlint.workloads.packages.installed import installed_command

    found = installed_command(command[0], files)
    if found is None:
        return None
    path, function = found
    return Entry(path, tuple(command[1:]), context.span, context.certain, context.guessed, function, imported=True)


def _first(path: str, package: str, files: Files, directory: str) -> Place | None:
    """The file of a module, or that file of a package; in ``src`` too."""
    for candidate in (f"{path}.py", f"{path}/{package}", f"src/{path}.py", f"src/{path}/{package}"):
        place = files.find(candidate, directory)
        if place is not None:
            return place
    return None


def _entry(place: Place, arguments: tuple[str, ...], context: RunContext) -> Entry:
    return Entry(place.path, arguments, context.span, context.certain, context.guessed or place.guessed)


_OF_UWSGI = r"(?m)^[ \t]*(?:module|wsgi-file|wsgi)[ \t]*=[ \t]*([\w./:()]+)"
_MORE_OF_UWSGI = (
    r"(?m)^[ \t]*(?:attach-\w*daemon\w*|smart-attach|mules?|spooler|(?:shared-|py)?import|exec-|hook-|ini|include)\b"
)
"""Settings with which uWSGI runs more than its module."""
_IMPORTS = r"(?:^|[;\n])\s*(?:import|from)\s+([\w., ]+?)(?=\s+import\b|\s*(?:[;\n]|$))"
"""The modules that code imports."""
_PART = r"\$\{[^{}]*\}|\$\w+"
SERVERS = frozenset(
    {"uvicorn", "gunicorn", "hypercorn", "daphne", "granian", "waitress-serve", "celery", "uwsgi", "flask"}
)  # fmt: skip
SERVED = "*"
"""Stands for a function of what is imported, and not started: its name is not `__main__`."""
_SERVED = frozenset({"-A", "--app", "--app-dir", "--chdir", "-c", "--config"})
_MODULE = r"[A-Za-z_][\w.]*"
"""A module as Gunicorn serves it: its ``application``."""
_APP = r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(?:\(.*\))?"

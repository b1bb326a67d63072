"""The modules of the repository that a Python program imports: where they lie, and what of them has to be parsed."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from shmlint.files.read import normal
from shmlint.model.source import Source, Span
from shmlint.syntax.python import EMPTY, is_refused, parse
from shmlint.workloads.filesystem import Files
from shmlint.workloads.packages.libraries import COLLECTIVE, OWNERS, WATCHED
from shmlint.workloads.packages.parts import is_loud
from shmlint.workloads.python.bound import bound_calls
from shmlint.workloads.python.declarations import Declaration, declarations
from shmlint.workloads.python.loaded import Loaded
from shmlint.workloads.python.screen import is_known, only_known, put_first
from shmlint.workloads.python.values import Scope
from shmlint.workloads.repository import Shared

_PACKAGED = frozenset({"setup.py", "pyproject.toml", "setup.cfg"})
_MOST_FOLDERS = 100
"""Directories in which packages of the repository are looked for."""
_ADDS = r"(?m)^\s*sys\.path\.(?:append|insert)\(([^\n]{1,200})"
_MOST_ADDED = 5
_MOST_PARTS = 50
"""Parts of a module's name, in which a file is looked for that ends it."""
UNPARSED = f"cannot be parsed as Python {sys.version_info[0]}.{sys.version_info[1]}, which shmlint runs on"
"""What stops at a file that is broken, or written for a later Python."""

_MOST_HELD = 4 * 1024 * 1024
"""Characters of Python whose trees are held at once; a tree takes many times its text."""


def unparsed(path: str, source: Source | None) -> str:
    """What stops at a file of which there is no tree."""
    refused = source is not None and is_refused(source.text)
    return f"{path} is too long, or nested too deeply, to be read" if refused else f"{path} {UNPARSED}"


def _parsed(path: str, source: Source, shared: Shared) -> Loaded | None:
    """A Python file, parsed once for the programs that load it; the length of those that are held is bounded."""
    known = shared.modules
    held = known.get(path)
    if held is not None and held.source is source:
        return held
    module = parse(source.text)
    if module is None:
        return None
    if shared.held > _MOST_HELD:
        known.clear()
        shared.held = 0
        shared.assignments = None
    shared.held += len(source.text)
    scope = Scope(path, source, module, None, None)
    packages = frozenset(target.partition(".")[0] for target in module.imports.values())
    bound = bound_calls(module, scope) if "partial" in source.text else {}
    found = known[path] = Loaded(path, source, module, tuple(declarations(scope)), packages, {}, bound)
    return found


_LED_TO = WATCHED | OWNERS | COLLECTIVE
MOST_PASSED_ON = 6
"""So many modules that import a name from one another are looked into."""


def _imports(package: str, loaded: Loaded | None) -> bool:
    if loaded is None:
        return False
    return package in loaded.packages or any(star.partition(".")[0] == package for star in loaded.module.stars)


class Modules:
    """Finds and loads the modules of one program that starts in ``start``.

    ``stop`` is told why a file cannot be read, ``declare`` the options that a file declares. The files ``parsed`` are
    also where they say nothing that matters.
    """

    def __init__(
        self,
        start: str,
        files: Files,
        stop: Callable[[str, Span | None], None],
        declare: Callable[[tuple[Declaration, ...]], None],
        parsed: Collection[str] = (),
    ) -> None:
        self._start = normal(start)
        self._files = files
        self._repository = files.repository
        self._stop = stop
        self._declare = declare
        self._to_parse = parsed
        self._first: list[str] = []
        """The directories that the program looks into before its own."""
        self._unsure = False
        """Whether it does so with directories that are not written there."""
        self._folders = files.folders()
        self._roots_of: dict[str, tuple[str, ...]] = {}
        self._own: dict[tuple[frozenset[str], str], bool] = {}
        self._files_of: dict[tuple[str, str], str | None] = {}
        """The files of modules, by their names and the directories of those that import them."""
        self._imported_files: dict[tuple[str, str], str | None] = {}
        """The same, by the files that import them."""
        self._stars: dict[str, tuple[Loaded | str, ...]] = {}
        self._holders: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self._found_inside: dict[str, str | None] = {}
        """The files of modules, as the container sees them."""
        self._outside: dict[tuple[str, str], str] = {}
        self.loaded: dict[str, Loaded | None] = {}

    def load(self, path: str) -> Loaded | None:
        """The file at a path; one that says nothing that matters is not parsed, and is empty."""
        if path not in self.loaded:
            path = normal(path)
        if path not in self.loaded:
            self.loaded[path] = self._first_load(path)
        return self.loaded[path]

    def _first_load(self, path: str) -> Loaded | None:
        source = self._repository.source(path)
        if source is None:
            return None
        here = os.path.dirname(path)
        found = self._read(path, source, here)
        if found is None:
            self._stop(unparsed(path, source), None)
        elif found.options:
            self._declare(found.options)
        given = put_first(source.text)
        if given:
            self._put_first(given, here)
        return found

    def _put_first(self, given: Sequence[str], here: str) -> None:
        """Note the directories that a file of the program puts before its own."""
        for text in given[:_MOST_ADDED]:
            parts = re.findall(r"""["']([\w.][\w./-]*)["']""", text)
            folder = normal(os.path.join(here, *parts))
            if parts and self._repository.is_dir(folder):
                self._first.insert(0, folder)
            else:
                self._unsure = True
        self._roots_of.clear()
        self._files_of.clear()
        self._imported_files.clear()
        self._own.clear()

    def others(self, name: str, importer: str) -> bool:
        """Whether the program may import another module by a name: code decides where Python looks for it first."""
        if not self._unsure or name.startswith("."):
            return False
        here, start = os.path.dirname(importer), os.path.dirname(self._start) or "."
        folders = (*self._roots(here), *map(normal, self._repository.folders_in(start)))
        return len(self._holding(name.partition(".")[0], tuple(dict.fromkeys(folders)))) > 1

    def _read(self, path: str, source: Source, here: str) -> Loaded | None:
        shared = self._repository.shared
        plain = shared.plain.get(path)
        if path not in shared.plain or (plain is not None and plain.source is not source):
            packages = only_known(source.text)
            plain = Loaded(path, source, EMPTY, (), packages, {}) if packages is not None else None
            shared.plain[path] = plain
        if plain is None or path == self._start or path in self._to_parse or self._has_own(plain.packages, here):
            return _parsed(path, source, shared)
        return plain

    def _has_own(self, packages: frozenset[str], here: str) -> bool:
        """Whether the repository may have one of some packages, for a file of a directory."""
        key = packages, here
        if key not in self._own:
            roots = self._roots(here)
            self._own[key] = any(self._holding(package, roots) for package in packages)
        return self._own[key]

    def is_package(self, name: str, importer: str) -> bool:
        """Whether a name leads to a module of the repository, or into a directory that has modules."""
        top = name.partition(".")[0]
        if self.file_of(top, importer) is not None:
            return True
        here = os.path.dirname(importer)
        paths = dict.fromkeys((top, name.replace(".", "/")))
        roots = (*self._roots(here), here, *self._above_own(name, here))
        folders = [os.path.join(f, path) for f in self._holding(top, roots) for path in paths]
        inside = (posixpath.join(folder, path) for folder in self._files.python_path() for path in paths)
        folders += filter(None, (self._files.shown(path, folder=True) for path in inside))
        return any(file.endswith(".py") for folder in folders for file in self._names(folder))

    def _above_own(self, name: str, here: str) -> tuple[str, ...]:
        """The directories that hold the package of a dotted name, where the file that imports it lies in that package.

        With no ``__init__.py`` nothing else shows where a package begins; its code finds itself only from above.
        """
        parts, top = here.split("/"), name.partition(".")[0]
        ends = (at for at, part in enumerate(parts) if top and part == top)
        open_ends = (at for at in ends if "__init__.py" not in self._names("/".join(parts[: at + 1])))
        return tuple("/".join(parts[:at]) or "." for at in open_ends)

    def is_extension(self, top: str, importer: str) -> bool:
        """Whether a module is compiled from C++ or CUDA, by the file that imports it or by a ``setup.py``."""
        source = self._repository.peek(importer)
        named = rf"\(\s*(?:name\s*=\s*)?[\"']{re.escape(top)}[\"'.]"
        text = source.text if source is not None else ""
        if "cpp_extension" in text and re.search(rf"\bload(?:_inline)?{named}", text) is not None:
            return True
        folders = dict.fromkeys((self._repository.root, *self._distributions()))
        builders = (self._repository.peek(os.path.join(folder, "setup.py")) for folder in folders)
        return any(file is not None and re.search(f"Extension{named}", file.text) for file in builders)

    def file_of(self, name: str, importer: str) -> str | None:
        """The repository's file of a dotted name as one file imports it."""
        asked = name, importer
        if asked not in self._imported_files:
            self._imported_files[asked] = self._found_from(name, os.path.dirname(importer))
        return self._imported_files[asked]

    def _found_from(self, name: str, here: str) -> str | None:
        asked = name, here
        if asked not in self._files_of:
            self._files_of[asked] = self._file_of(name, here)
        return self._files_of[asked]

    def packages_of(self, name: str, importer: str) -> Iterator[str]:
        """The ``__init__.py`` of the packages that a dotted name leads through, which Python runs before its module."""
        level = name[: len(name) - len(name.lstrip("."))]
        parts = name[len(level) :].split(".")
        for end in range(1, len(parts)):
            path = self.file_of(level + ".".join(parts[:end]), importer)
            if path is None:
                return
            yield path

    def packages_around(self, path: str) -> Iterator[str]:
        """The ``__init__.py`` of the packages in which a file lies."""
        folder = os.path.dirname(path)
        while self._repository.is_file(package := normal(os.path.join(folder, "__init__.py"))):
            yield package
            if folder in ("", ".", "/"):
                return
            folder = os.path.dirname(folder)

    def _file_of(self, name: str, here: str) -> str | None:
        above = name.rpartition(".")[0]
        if above.strip(".") and above.count(".") < _MOST_PARTS:
            package = self._found_from(above, here)
            if package is not None and not package.endswith("__init__.py"):
                return None  # a file has no modules inside
        key = (name, here) if name.startswith(".") else (name, self._roots(here))
        known = self._repository.shared.found
        if key not in known:
            known[key] = self._search(name, here)
        found = known[key]
        if found is not None or name.startswith(".") or is_known(name.partition(".")[0]):
            return found
        places = here, *self._above_own(name, here)  # which many put on `sys.path`
        return self._inside(name) or next(filter(None, (self._module_in(place, name) for place in places)), None)

    def _inside(self, name: str) -> str | None:
        """The file of a module in the directories in which the container's Python looks for it."""
        if name not in self._found_inside:
            path = name.replace(".", "/")
            folders = self._files.python_path()
            paths = (posixpath.join(folder, path + end) for folder in folders for end in (".py", "/__init__.py"))
            self._found_inside[name] = next(filter(None, map(self._files.shown, paths)), None)
        return self._found_inside[name]

    def matching(self, pattern: str, importer: str) -> tuple[str, ...]:
        """The files of the modules whose names match a pattern, ``models.*`` or ``.net_*``."""
        level = len(pattern) - len(pattern.lstrip("."))
        parts = pattern[level:].split(".")
        fixed = next((at for at, part in enumerate(parts) if "*" in part), len(parts))
        if fixed == len(parts):
            found = self.file_of(pattern, importer)
            return (found,) if found is not None else ()
        here = os.path.dirname(importer)
        if level:
            starts = [normal(os.path.join(here, *[".."] * (level - 1), *parts[:fixed]))]
        else:
            starts = [normal(os.path.join(folder, *parts[:fixed])) for folder in (*self._roots(here), here)]
        for start in starts:
            files = tuple(self._below(start, parts[fixed:]))[: _MOST_FOLDERS + 1]
            if files:
                return files if len(files) <= _MOST_FOLDERS else ()
        return ()

    def _below(self, folder: str, parts: list[str]) -> Iterator[str]:
        for name in sorted(self._names(folder)):
            module = name.removesuffix(".py")
            inner = normal(os.path.join(folder, name))
            if not fnmatchcase(module, parts[0]) or module == "__init__":
                continue
            if parts[1:]:
                yield from self._below(inner, parts[1:]) if self._repository.is_dir(inner) else ()
            else:
                file = inner if name.endswith(".py") else normal(os.path.join(inner, "__init__.py"))
                yield from (file,) if self._repository.is_file(file) else ()

    def _search(self, name: str, here: str) -> str | None:
        if name.startswith("."):
            folder = here
            for _ in range(len(name) - len(name.lstrip(".")) - 1):
                folder = os.path.dirname(folder)
            return self._module_in(folder, name.lstrip("."))
        top = name.partition(".")[0]
        for folder in self._holding(top, self._roots(here)):
            found = self._module_in(folder, name)
            if found is not None:
                return found
        if is_known(top):
            return None
        return next(filter(None, (self._module_in(folder, name) for folder in self._distributions())), None)

    def _holding(self, top: str, roots: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some directories that have a module or a package of that name."""
        key = top, roots
        if key not in self._holders:
            file = f"{top}.py"
            self._holders[key] = tuple(f for f in roots if top in (names := self._names(f)) or file in names)
        return self._holders[key]

    def _distributions(self) -> tuple[str, ...]:
        """The directories of packages that the repository has besides its own: ``model-tools/setup.py``."""
        known = self._repository.shared.distributions
        root = self._repository.root
        if root not in known:
            known[root] = tuple(self._found_distributions(root))
        return known[root]

    def _found_distributions(self, root: str) -> Iterator[str]:
        pending = [(root, 0)]
        for folder, depth in pending:  # grows while it is walked
            names = self._names(folder)
            if depth and not names.isdisjoint(_PACKAGED):
                yield from (folder, normal(os.path.join(folder, "src")))
            if depth < 2:
                inner = (normal(os.path.join(folder, name)) for name in sorted(names) if name[:1] not in "._")
                pending += [(path, depth + 1) for path in inner if self._repository.is_dir(path)][:_MOST_FOLDERS]
            if len(pending) > _MOST_FOLDERS:
                return

    def _roots(self, here: str) -> tuple[str, ...]:
        """The directories in which a file of a directory finds modules."""
        if here not in self._roots_of:
            self._roots_of[here] = self._search_path(here)
        return self._roots_of[here]

    def _search_path(self, here: str) -> tuple[str, ...]:
        start = os.path.dirname(self._start)
        found = [*self._first, start, *self._folders]
        folder = here
        while self._repository.is_file(os.path.join(folder, "__init__.py")) and folder not in ("", ".", "/"):
            folder = os.path.dirname(folder)
        found.append(folder)
        above = start
        while above not in ("", ".", "/", self._repository.root) and len(found) < 12:
            above = os.path.dirname(above)
            found += [above, os.path.join(above, "src")]
        found += self._added(start)
        return tuple(dict.fromkeys(normal(f or ".") for f in (*found, self._repository.root)))

    def _added(self, start: str) -> list[str]:
        """The directories beside the program that it adds to ``sys.path`` itself."""
        source = self._repository.peek(self._start)
        calls = re.findall(_ADDS, source.text) if source is not None and "sys.path" in source.text else []
        texts = (re.findall(r"""["']([\w.][\w./-]*)["']""", call) for call in calls[:_MOST_ADDED])
        folders = (normal(os.path.join(start, *parts)) for parts in texts if parts)
        return [folder for folder in folders if self._repository.is_dir(folder)]

    def _names(self, folder: str) -> frozenset[str]:
        """What a directory holds, listed once in a run."""
        known = self._repository.shared.listed
        key = self._repository.root, folder
        if key not in known:
            known[key] = frozenset(self._repository.names(folder))
        return known[key]

    def _module_in(self, folder: str, name: str) -> str | None:
        """The file of a module in a directory, looked for once in a run."""
        known, key = self._repository.shared.found, (name, folder)
        if self._repository.texts:  # which only this launch has
            return self._looked_for(folder, name)
        if key not in known:
            known[key] = self._looked_for(folder, name)
        return known[key]

    def _looked_for(self, folder: str, name: str) -> str | None:
        head = name.partition(".")[0]
        if head:
            names = self._names(folder or ".")
            if head not in names:  # then it is no package
                file = normal(os.path.join(folder, f"{head}.py"))
                return file if name == head and f"{head}.py" in names and self._repository.is_file(file) else None
        path = os.path.join(folder or ".", *name.split(".")) if name else folder
        for candidate in (os.path.join(path, "__init__.py"), *((f"{path}.py",) if name else ())):
            if self._repository.is_file(candidate):
                return normal(candidate)
        return None

    def is_loud(self, name: str, importer: str) -> bool:
        """Whether a dotted name stands for what may start workers in a package that the program imports.

        It may be a name of the program's own: a variable ``ray``, a package ``baselines`` of the repository.
        """
        package = name.partition(".")[0]
        if not is_loud(name) or not any(_imports(package, one) for one in self.loaded.values()):
            return False
        return self.resolve(name, importer) is None

    def stars(self, loaded: Loaded) -> tuple[Loaded | str, ...]:
        """The modules of which a module imports everything, also through others; the names of those from outside.

        Each is there once: modules may import everything of each other.
        """
        known = self._stars.get(loaded.path)
        if known is None:
            found: dict[str, Loaded | str] = {}
            pending = [loaded]
            for importer in pending:  # grows while it is walked
                for star in importer.module.stars:
                    inner = self.resolve(star, importer.path)
                    if inner is None:
                        found.setdefault(star, star)
                    elif inner[0].path not in found:
                        found[inner[0].path] = inner[0]
                        pending.append(inner[0])
            known = self._stars[loaded.path] = tuple(found.values())
        return known

    def starred(self, loaded: Loaded) -> Iterator[Loaded]:
        """Those of them that lie in the repository and were parsed."""
        stars = (self.loaded[star.path] for star in self.stars(loaded) if not isinstance(star, str))
        return (star for star in stars if star is not None and star.module is not EMPTY)

    def outside(self, name: str, loaded: Loaded) -> str:
        """The dotted name outside of the repository that a name in a module leads to, also by ``import *``.

        What leads to none is only written in full.
        """
        key = loaded.path, name
        if key not in self._outside:
            self._outside[key] = self._led_to(name, loaded)
        return self._outside[key]

    def _led_to(self, name: str, loaded: Loaded) -> str:
        head, dot, rest = name.partition(".")
        target = loaded.module.imports.get(head)
        written = name if target is None else f"{target}{dot}{rest}"
        for _ in range(MOST_PASSED_ON):
            further = self._imported(name, loaded)
            if further is None or further[0] in _LED_TO or is_loud(further[0]):
                return further[0] if further is not None else written
            found = self.resolve(*further)
            if found is None:
                break
            loaded, name = found
        return written

    def _imported(self, name: str, loaded: Loaded) -> tuple[str, str] | None:
        """The name in full under which a module imports what it calls so, and the file that has the import."""
        head, dot, rest = name.partition(".")
        for module in (loaded, *self.stars(loaded)):
            if isinstance(module, str):
                if f"{module}.{name}" in _LED_TO or is_loud(f"{module}.{name}"):
                    return f"{module}.{name}", loaded.path
            elif head in module.module.imports:
                return f"{module.module.imports[head]}{dot}{rest}", module.path
            elif head in module.module.definitions or head in module.module.constants:
                return None
        return None

    def whole(self, name: str, importer: str) -> tuple[Loaded, str] | None:
        """Like ``resolve``, for what a module says that was not parsed when it was loaded."""
        found = self.resolve(name, importer)
        if found is not None and found[0].module is EMPTY:
            loaded = _parsed(found[0].path, found[0].source, self._repository.shared)
            return (loaded, found[1]) if loaded is not None else None
        return found

    def load_whole(self, path: str) -> Loaded | None:
        """The file at a path, also parsed where it says nothing that matters."""
        found = self.load(path)
        if found is not None and found.module is EMPTY:
            found = self.loaded[found.path] = _parsed(found.path, found.source, self._repository.shared)
        return found

    def parse(self, name: str, importer: str) -> Loaded | None:
        """The module that a dotted name leads into, parsed from now on; None where it already was."""
        found = self.resolve(name, importer)
        whole = self.whole(name, importer) if found is not None and found[0].module is EMPTY else None
        if whole is not None:
            self.loaded[whole[0].path] = whole[0]
        return whole[0] if whole is not None else None

    def unparsed(self) -> Iterator[Loaded]:
        """The modules that were loaded, and not parsed."""
        return (one for one in self.loaded.values() if one is not None and one.module is EMPTY)

    def resolve(self, name: str, importer: str) -> tuple[Loaded, str] | None:
        """The module of the repository that a dotted name leads into, and what is left of the name."""
        level = name[: len(name) - len(name.lstrip("."))]
        parts = name.lstrip(".").split(".") if name.lstrip(".") else []
        for end in range(len(parts), -1 if level else 0, -1):
            path = self.file_of(level + ".".join(parts[:end]), importer)
            if path is not None:
                loaded = self.load(path)
                rest = parts[end:] or self._hidden(level, parts, path, importer)
                return (loaded, ".".join(rest)) if loaded is not None else None
        return None

    def _hidden(self, level: str, parts: list[str], path: str, importer: str) -> list[str]:
        """The name in a module that the package around it puts in its place: ``from .launch import launch``.

        Who imports ``launch`` from the package then gets the function, and not the module of that name.
        """
        above = level + ".".join(parts[:-1])
        around = self.file_of(above, importer) if above and parts else None
        package = self.load(around) if around is not None and around.endswith("__init__.py") else None
        target = package.module.imports.get(parts[-1], "") if package is not None else ""
        module, _, inner = target.rpartition(".")
        same = bool(module.strip(".")) and package is not None and self.file_of(module, package.path) == path
        return [inner] if same else []

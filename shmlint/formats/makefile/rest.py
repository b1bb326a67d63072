"""Whether an edit of a makefile or justfile leaves alone all but the containers that it is for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from shmlint.files.workspace import Workspace
from shmlint.formats.included import used_by_others
from shmlint.formats.makefile.exported import EXPORTS_ALL, JUST_EXPORTS_ALL, names_exported
from shmlint.formats.makefile.just import just_variables
from shmlint.formats.makefile.make import (
    ASSIGNMENT,
    DEFINE,
    called_variables,
    followed_definitions,
    lines_of,
    sure_variables,
)
from shmlint.formats.makefile.read import parts
from shmlint.formats.makefile.written import closing, is_justfile
from shmlint.formats.shell.callers import is_read_by_another
from shmlint.formats.shell.rest import same
from shmlint.model.source import Source
from shmlint.syntax.shell_text import mentions_engine
from shmlint.syntax.shell_variables import ANY


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether what recipes do besides starting containers has stayed the same."""
    old, new = before.source(path), after.source(path)
    alike = _just_alike(old, new, before) if is_justfile(path) else _make_alike(old, new, before)
    return alike and same(list(parts(old, before)), list(parts(new, after)), sizes_only=sizes_only)


_REFERENCE = re.compile(r"\$[({]\s*(?:(?:call|value|origin|flavor)\s+)?([\w.-]+)|\$(\w)")
_EXPORT = re.compile(r"[ ]*(?:override[ ]+)?export\b")
_PRINTED = re.compile(r"\s*\$\((?:info|warning|error)\s")


def _make_alike(old: Source, new: Source, workspace: Workspace) -> bool:
    """Whether the variables that are others now are used only where recipes get their values.

    What a function makes of one, what a condition makes of it, and what a program finds in its environment
    is not known here.
    """
    before, after = (_Makefile(one, followed_definitions(old, workspace)) for one in (old, new))
    if before.rest != after.rest or used_by_others(_changed(before.defined, after.defined), old, workspace):
        return False
    changed = _changed(before.assigned, after.assigned)
    if not changed:
        return True
    while True:
        more = {name for name, raw in before.assigned.items() if not changed.isdisjoint(_references(raw))}
        if more <= changed:
            break
        changed |= more
    if re.search(_COMPUTED, old.text) or not changed.isdisjoint(_evaluated(old.text)):
        return False
    if is_read_by_another(old, workspace, "include") or used_by_others(changed, old, workspace):
        return False
    if before.exports_all or not before.exported.isdisjoint({ANY, *changed}):
        return False
    if not changed <= sure_variables(old, workspace):
        return False
    expressions = (expression for text in before.recipes for expression in _expressions(text))
    called = called_variables(old, workspace)
    made = (_arguments(expression, called) for expression in expressions if not _PLAIN.fullmatch(expression))
    return all(changed.isdisjoint(_references(text)) for text in (*made, *before.rest))


_PLAIN = re.compile(r"\$[({][\w.-]+[)}]")
_CALL = re.compile(r"\$[({]call[ \t]+([\w.-]+)")


_COMPUTED = r"\$[({][ \t]*(?:(?:value|call|origin)[ \t]+)?[\w.-]*\$"
"""A reference to a variable whose name is computed: ``$($(NAME))``."""


def _evaluated(text: str) -> Iterator[str]:
    """The variables in what is read again as lines of the makefile: ``$$(NAME)`` where something is evaluated."""
    return iter(re.findall(r"\$\$+[({]([\w.-]+)", text) if "$(eval" in text or "${eval" in text else ())


def _arguments(expression: str, called: Collection[str]) -> str:
    """An expression; only the arguments of a call that is read where it stands."""
    call = _CALL.match(expression)
    return expression[call.end() :] if call is not None and call[1] in called else expression


def _expressions(text: str) -> Iterator[str]:
    """The expressions of make in a text, those inside of others with these."""
    at = 0
    while (found := _START.search(text, at)) is not None:
        at = closing(text, found.end() - 1, len(text)) + 1
        yield text[found.start() : at]


_START = re.compile(r"(?<!\$)(?:\$\$)*\$[({]")


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _references(text: str) -> Iterator[str]:
    return (name or letter for name, letter in _REFERENCE.findall(text))


class _Makefile:
    """The lines of a makefile by what they are for."""

    def __init__(self, source: Source, followed: Collection[str]) -> None:
        self.followed = followed
        """Variables with a container start in a ``define`` that is read where they are used."""
        self.assigned: dict[str, str] = {}
        """What is written of each variable."""
        self.defined: dict[str, str] = {}
        """The commands between ``define`` and ``endef``, by the variable."""
        self.exported = names_exported(source.text)
        self.exports_all = re.search(EXPORTS_ALL, source.text) is not None
        self.recipes: list[str] = []
        self.rest: list[str] = []
        defined: str | None = None
        body: list[str] = []
        for line in lines_of(source):
            text = source.text[line.start : line.end]
            if defined is not None:
                if text.strip().startswith("endef"):
                    self._define(defined, body)
                    defined, body = None, []
                else:
                    body.append(text)
            elif line.is_recipe(source):
                self.recipes.append(text)
            elif (define := DEFINE.match(text)) is not None:
                defined = define[1] or ""
            else:
                self._line(text)

    def _define(self, name: str, body: list[str]) -> None:
        """The lines of commands are read as they are, or where they are used; other text is a value."""
        commands = any(map(mentions_engine, body))
        if commands:
            self.recipes += body
            self.defined[name] = "\n".join(body)
        if not commands or name in self.followed:
            self.assigned[name] = "\n".join([self.assigned.get(name, ""), *body])

    def _line(self, text: str) -> None:
        match = ASSIGNMENT.match(text.lstrip())
        if match is not None:
            self.assigned[match[1]] = f"{self.assigned.get(match[1], '')}\n{text}"
        elif _EXPORT.match(text) is None and not text.lstrip().startswith("#") and not _PRINTED.match(text):
            rule, _, recipe = text.partition(";")
            self.rest += [rule] if rule.strip() else []
            self.recipes.append(recipe)


def _just_alike(old: Source, new: Source, workspace: Workspace) -> bool:
    """Whether the variables that are others now are used only as they are, or where others are made of them."""
    before, after = (dict(_just_values(one)) for one in (old, new))
    changed = _changed(before, after)
    if changed and (re.search(JUST_EXPORTS_ALL, old.text) or is_read_by_another(old, workspace, r"import\??")):
        return False
    made = [(name, line, joined) for name, line, joined in just_variables(old) if joined is not None]
    parts = {name: {old.text[one.start : one.end] for one in joined} for name, _, joined in made}
    size = -1
    while size < len(changed):
        size = len(changed)
        changed |= {name for name, inner in parts.items() if not changed.isdisjoint(inner)}
    text = old.text
    for _, line, _ in reversed(made):
        text = text[: line.start] + text[line.end :]
    if used_by_others(changed, old, workspace):
        return False
    used = {name.strip() for name in re.findall(r"\{\{([^{}]*)\}\}", text)}.union(*parts.values())
    if not changed <= used:
        return False  # an importing justfile may use it
    for name in changed:
        text = re.sub(rf"\{{\{{\s*{re.escape(name)}\s*\}}\}}", "", text)
    uses = re.findall(_JUST_USE, text, re.M)
    words = {word for use in uses for part in use for word in re.findall(r"[A-Za-z_][\w-]*", part)}
    return changed.isdisjoint(words)


_JUST_USE = r"\{\{(.*?)\}\}|^(?:export\s+)?[A-Za-z_][\w-]*\s*:=(.*)|^[^\s#][\w-]*(.*:.*)"
"""An expression in a recipe, the value of a variable, and of a recipe its defaults and what it depends on."""


def _just_values(source: Source) -> Iterator[tuple[str, str]]:
    """The variables whose values are known, as they are written."""
    for name, line, joined in just_variables(source):
        if joined:
            yield name, source.text[joined[0].start : line.end]

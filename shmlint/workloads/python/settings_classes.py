"""Fields of pydantic's ``BaseSettings``, which the environment of the container gives their values.

https://docs.pydantic.dev/latest/concepts/pydantic_settings/#environment-variable-names
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from shmlint.syntax.python import dotted
from shmlint.workloads.python.declarations import of_variable
from shmlint.workloads.python.lineage import Lineage, Owned
from shmlint.workloads.python.values import Scope

_PLAIN = frozenset(
    {"arbitrary_types_allowed", "case_sensitive", "env_ignore_empty", "env_prefix", "extra", "frozen",
     "protected_namespaces", "str_strip_whitespace", "title", "use_enum_values", "validate_assignment",
     "validate_default"}
)  # fmt: skip
"""Settings of a class that name no other place for the values of its fields."""
_OF_FIELD = frozenset(
    {"default", "description", "examples", "frozen", "ge", "gt", "le", "lt", "multiple_of", "repr", "title"}
)
"""Keywords of a field that neither name its variable nor make its value."""
_TRUE = ("1", "true", "t", "yes", "y", "on")
_OPEN = ast.Starred(ast.Constant(None), ast.Load())
"""Stands for what is not known."""


class SettingsClasses:
    """Knows what the fields of the classes that extend ``BaseSettings`` are."""

    def __init__(self, lineage: Lineage, environment: Mapping[str, object]) -> None:
        self._lineage = lineage
        self._environment = environment
        self._known: dict[tuple[ast.ClassDef, str], ast.expr | None] = {}

    def field(self, name: str, owner: ast.ClassDef, scope: Scope) -> ast.expr | None:
        """What a field is worth, written as a look into the environment; None for a field of any other class."""
        key = owner, name
        if key not in self._known:
            self._known[key] = self._field(name, owner, scope)
        return self._known[key]

    def _field(self, name: str, owner: ast.ClassDef, scope: Scope) -> ast.expr | None:
        above = self._lineage.above(scope._replace(owner=owner))
        if not any(where.full_name(base).rpartition(".")[2] == "BaseSettings" for one, where in above
                   for base in one.bases):  # fmt: skip
            return None
        fields = (item for one, _ in above for item in one.body if isinstance(item, ast.AnnAssign))
        field = next((one for one in fields if isinstance(one.target, ast.Name) and one.target.id == name), None)
        if field is None:
            return None
        default = _default(field)
        settings = _settings_of(above)
        variable = self._variable(name, settings) if settings is not None and _is_plain(field) else None
        if variable is None or any(_is_validated(name, one) for one, _ in above):
            return _placed(ast.IfExp(_OPEN, default or _OPEN, _OPEN), field)
        return _placed(_looked_up(variable, default, field.annotation), field)

    def _variable(self, name: str, settings: Mapping[str, object]) -> str | None:
        """The variable that a field is, by its name in any case; None where it may be one of several."""
        wanted = f"{settings.get('env_prefix', '')}{name}"
        if settings.get("case_sensitive") is True:
            return wanted
        found = [one for one in self._environment if one.lower() == wanted.lower()]
        return None if len(found) > 1 else found[0] if found else wanted.upper()


def _settings_of(above: list[Owned]) -> dict[str, object] | None:
    """The settings of a class and of those that it extends; None where one of them is not understood."""
    found: dict[str, object] = {}
    for owner, _ in above:
        for name, value in _written(owner):
            plain = isinstance(value, ast.Constant) and (name in _PLAIN or value.value is None)
            if not plain or not isinstance(value, ast.Constant):
                return None
            found.setdefault(name, value.value)
        methods = (item.name for item in owner.body if isinstance(item, ast.FunctionDef))
        if any(name.endswith("customise_sources") or name in ("__init__", "__new__") for name in methods):
            return None
    return found


def _written(owner: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """What the body of a class sets of itself: ``model_config = SettingsConfigDict(…)``, ``class Config``, keywords."""
    yield from ((keyword.arg or "?", keyword.value) for keyword in owner.keywords)
    for item in owner.body:
        if isinstance(item, ast.ClassDef) and item.name == "Config":
            for inner in item.body:
                if isinstance(inner, ast.Assign):
                    yield from ((dotted(target), inner.value) for target in inner.targets)
                elif not isinstance(inner, ast.Pass | ast.Expr):
                    yield "?", _OPEN
        target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
        value = item.value if isinstance(item, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == "model_config":
            if isinstance(value, ast.Call) and not value.args:
                yield from ((keyword.arg or "?", keyword.value) for keyword in value.keywords)
            elif isinstance(value, ast.Dict):
                pairs = zip(value.keys, value.values, strict=True)
                yield from ((str(getattr(key, "value", "?")), inner) for key, inner in pairs)
            else:
                yield "?", _OPEN


def _default(field: ast.AnnAssign) -> ast.expr | None:
    """The default of a field; None for one that has none."""
    value = field.value
    if not isinstance(value, ast.Call) or dotted(value.func).rpartition(".")[2] != "Field":
        return value
    named = next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
    return named or next(iter(value.args), None)


def _is_plain(field: ast.AnnAssign) -> bool:
    """Whether a field has the variable of its own name: no alias, and nothing that makes its value."""
    calls = [part for part in ast.walk(field) if isinstance(part, ast.Call)]
    fields = [call for call in calls if dotted(call.func).rpartition(".")[2].endswith("Field")]
    return all(keyword.arg in _OF_FIELD for call in fields for keyword in call.keywords)


def _is_validated(name: str, owner: ast.ClassDef) -> bool:
    """Whether a method of a class may give a field another value than it is read with."""
    for method in (item for item in owner.body if isinstance(item, ast.FunctionDef)):
        for decorator in method.decorator_list:
            given = decorator.args if isinstance(decorator, ast.Call) else []
            called = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]
            texts = {part.value for part in given if isinstance(part, ast.Constant)}
            of_all = called in ("model_validator", "root_validator") or not texts.isdisjoint((name, "*"))
            if called.endswith("validator") and of_all:
                return True
        if method.name == "model_post_init":
            return True
    return False


def _looked_up(variable: str, default: ast.expr | None, annotation: ast.expr) -> ast.expr:
    """``int(os.environ.get("WORKERS", 8))``: a text of the environment is read as the type says."""
    types = {dotted(part) for part in ast.walk(annotation) if isinstance(part, ast.Name)}
    if "bool" in types:
        known = isinstance(default, ast.Constant)
        default = ast.Constant(str(default.value).lower()) if isinstance(default, ast.Constant) else default
        found = of_variable(ast.Constant(variable), default or _OPEN)
        lowered = ast.Call(ast.Attribute(found, "lower", ast.Load()), [], [])
        true = ast.Tuple([ast.Constant(one) for one in _TRUE], ast.Load())
        return ast.Compare(lowered, [ast.In()], [true]) if known else _OPEN
    text = of_variable(ast.Constant(variable), default)
    return text if types == {"str"} else ast.Call(ast.Name("int", ast.Load()), [text], [])


def _placed(node: ast.expr, field: ast.AnnAssign) -> ast.expr:
    """A node at the place of a field, but for what is written there."""
    return ast.fix_missing_locations(ast.copy_location(node, field))

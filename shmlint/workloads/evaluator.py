"""What Python expressions are worth: literals, constants, parameters and options, looked up where they are written."""

from __future__ import annotations

import ast

from shmlint.model.source import Span
from shmlint.syntax.python import dotted
from shmlint.workloads.options import Options
from shmlint.workloads.values import (
    NOTHING,
    POSITIVE,
    UNKNOWN,
    Found,
    Scope,
    arithmetic,
    compared,
    extreme,
    literal,
    logic,
    one_of,
)

_DEPTH = 25
_MOST_STEPS = 200_000
"""Expressions that are worked out for one program."""
_MACHINE = frozenset(
    {"os.cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count", "psutil.cpu_count", "mp.cpu_count",
     "cpu_count", "os.process_cpu_count", "joblib.cpu_count", "os.sched_getaffinity"}
)  # fmt: skip


class Evaluator:
    """Works out expressions. Nothing is run: what is not written down is unknown."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.calls: dict[str, list[tuple[ast.Call, Scope]]] = {}
        self._locals: dict[int, dict[str, list[ast.expr]]] = {}
        self._attributes: dict[int, dict[str, list[tuple[ast.expr, ast.FunctionDef]]]] = {}
        self._without_parameters: dict[tuple[int, int], Found] = {}
        self._left = _MOST_STEPS

    def note_call(self, name: str, node: ast.Call, scope: Scope) -> None:
        """Remember a call, for the parameters of the function it calls."""
        found = self.calls.setdefault(name.rpartition(".")[2], [])
        if len(found) < 20:
            found.append((node, scope))

    def argument(self, node: ast.Call, name: str, position: int, default: object, scope: Scope) -> Found:
        """The value of an argument of a call."""
        given = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
        if given is None and 0 <= position < len(node.args):
            given = node.args[position]
        place = (scope.span(given if given is not None else node),)
        if given is not None:
            found = self.value(given, scope)
            return found._replace(spans=tuple(dict.fromkeys((*place, *found.spans))))
        starred = next((keyword.value for keyword in node.keywords if keyword.arg is None), None)
        if starred is not None:
            return self._in_mapping(starred, name, scope, place, default)
        if default == "many":
            return Found(POSITIVE, True, place)
        return Found(UNKNOWN if default is None else default, True, place)

    def _in_mapping(
        self, starred: ast.expr, name: str, scope: Scope, place: tuple[Span, ...], default: object
    ) -> Found:
        """A keyword out of ``**kwargs``."""
        literal = self._literal_mapping(starred, scope)
        if literal is not None:
            for key, value in zip(literal.keys, literal.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    return self.value(value, scope)
            return Found(UNKNOWN if default is None else default, True, place)
        found = self.options.get(name, self.value, 0)
        return found if found.value is not UNKNOWN else Found(UNKNOWN, False, place)

    def template(self, node: ast.expr, scope: Scope, depth: int = 0) -> str:
        """A text of which parts are not known: these are left as ``$UNKNOWN``."""
        if depth > _DEPTH:
            return ""
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else "$UNKNOWN" for part in node.values
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return self.template(node.left, scope, depth + 1)
        if isinstance(node, ast.BinOp):
            parts = (self.template(part, scope, depth + 1) for part in (node.left, node.right))
            return "".join(part or "$UNKNOWN" for part in parts)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self.template(node.func.value, scope, depth + 1)
        if isinstance(node, ast.Name):
            values = self._all_assigned(node.id, scope)
            return max((self.template(value, scope, depth + 1) for value in values), key=len, default="")
        return ""

    def _literal_mapping(self, node: ast.expr, scope: Scope) -> ast.Dict | None:
        if isinstance(node, ast.Dict):
            return node
        if isinstance(node, ast.Name):
            value = self._assigned(node.id, scope)
            return value if isinstance(value, ast.Dict) else None
        return None

    def value(self, node: ast.expr, scope: Scope, depth: int = 0, *, parameters: bool = True) -> Found:
        """What an expression is; ``parameters`` lets the calls that were seen decide parameters."""
        if isinstance(node, ast.Constant):
            return Found(node.value, True, ())
        if depth > _DEPTH or self._left <= 0:
            return NOTHING
        self._left -= 1
        if parameters:
            return self._worked_out(node, scope, depth, True)
        key = id(node), id(scope.function)
        if key not in self._without_parameters:
            self._without_parameters[key] = NOTHING  # while it is being worked out
            self._without_parameters[key] = self._worked_out(node, scope, depth, False)
        return self._without_parameters[key]

    def _worked_out(self, node: ast.expr, scope: Scope, depth: int, parameters: bool) -> Found:
        if isinstance(node, ast.Tuple | ast.List):
            items = [self.value(item, scope, depth + 1, parameters=parameters) for item in node.elts[:20]]
            known = all(item.value is not UNKNOWN for item in items)
            return Found(tuple(item.value for item in items), all(i.certain for i in items), ()) if known else NOTHING
        if isinstance(node, ast.Name):
            return self._name(node.id, scope, depth, parameters)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, depth, parameters)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if dotted(node.value).endswith("environ") and isinstance(key, str):
                return self._variable(key)
            return self.options.get(key, self.value, depth) if isinstance(key, str) else NOTHING
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth, parameters)
        return self._operation(node, scope, depth, parameters)

    def _operation(self, node: ast.expr, scope: Scope, depth: int, parameters: bool) -> Found:
        def inner(part: ast.expr) -> Found:
            return self.value(part, scope, depth + 1, parameters=parameters)

        if isinstance(node, ast.BinOp):
            return arithmetic(node.op, inner(node.left), inner(node.right))
        if isinstance(node, ast.UnaryOp):
            found = inner(node.operand)
            if isinstance(node.op, ast.Not) and found.value not in (UNKNOWN, POSITIVE):
                return found._replace(value=not found.value)
            if isinstance(node.op, ast.USub) and found.number is not None:
                return found._replace(value=-found.number)
            return NOTHING
        if isinstance(node, ast.BoolOp):
            return logic(isinstance(node.op, ast.And), [inner(part) for part in node.values[:10]])
        if isinstance(node, ast.IfExp):
            test, yes, no = inner(node.test), inner(node.body), inner(node.orelse)
            if test.value not in (UNKNOWN, POSITIVE) and test.certain:
                return yes if test.value else no
            if yes.value == no.value:
                return yes
            return (yes if yes.value is not UNKNOWN and yes.value else no)._replace(certain=False)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return compared(node.ops[0], inner(node.left), inner(node.comparators[0]))
        return NOTHING

    def _name(self, name: str, scope: Scope, depth: int, parameters: bool) -> Found:
        value = self._assigned(name, scope)
        if value is not None:
            found = self.value(value, scope, depth + 1, parameters=parameters)
            if found.value is not UNKNOWN:
                return found._replace(spans=found.spans or (scope.span(value),))
        function = scope.function
        if function is not None and name in _parameters(function):
            return self._parameter(name, function, scope, depth, parameters)
        if name in scope.module.constants:
            constant = scope.module.constants[name]
            found = self.value(constant, scope._replace(function=None), depth + 1, parameters=parameters)
            return found._replace(spans=(*found.spans, scope.span(constant)))
        return self.options.get(name, self.value, depth) if parameters and len(name) > 3 else NOTHING

    def _all_assigned(self, name: str, scope: Scope) -> list[ast.expr]:
        return self._locals_of(scope.function).get(name, []) if scope.function is not None else []

    def _locals_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[ast.expr]]:
        """The values that a function gives its local names."""
        known = self._locals.get(id(function))
        if known is None:
            known = self._locals[id(function)] = {}
            for node in ast.walk(function):
                for target in node.targets if isinstance(node, ast.Assign) else ():
                    if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                        known.setdefault(target.id, []).append(node.value)
        return known

    def _assigned(self, name: str, scope: Scope) -> ast.expr | None:
        """The value that a function gives a local name, where it does that once."""
        values = self._all_assigned(name, scope)
        return values[0] if len(values) == 1 else None

    def _assigned_to_self(self, name: str, owner: ast.ClassDef) -> list[tuple[ast.expr, ast.FunctionDef]]:
        """The values that the methods of a class give an attribute."""
        known = self._attributes.get(id(owner))
        if known is None:
            known = self._attributes[id(owner)] = {}
            for method in owner.body:
                if isinstance(method, ast.FunctionDef):
                    for part in ast.walk(method):
                        for target in part.targets if isinstance(part, ast.Assign) else ():
                            if isinstance(target, ast.Attribute) and isinstance(part, ast.Assign):
                                known.setdefault(dotted(target), []).append((part.value, method))
        return known.get(f"self.{name}", [])

    def _parameter(
        self, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, depth: int, parameters: bool
    ) -> Found:
        """A parameter: what the calls pass, else its default, else the option of that name."""
        default = _parameters(function)[name]
        called = scope.owner.name if function.name == "__init__" and scope.owner is not None else function.name
        names = list(_parameters(function))
        offset = 1 if names[:1] in (["self"], ["cls"]) else 0
        values: list[Found] = []
        for node, where in self.calls.get(called, ()) if parameters and depth < 12 else ():
            given = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
            position = names.index(name) - offset
            if given is None and 0 <= position < len(node.args):
                given = node.args[position]
            if given is not None and not isinstance(given, ast.Starred):
                values.append(self.value(given, where, depth + 1))
            elif default is not None:
                values.append(self.value(default, scope._replace(function=None), depth + 1))
        known = [value for value in values if value.value is not UNKNOWN]
        if known:
            return one_of(known)._replace(certain=len(known) == len(values) and one_of(known).certain)
        if default is not None and not values:
            found = self.value(default, scope._replace(function=None), depth + 1)
            return found._replace(certain=False, spans=(scope.span(default),))
        return self.options.get(name, self.value, depth)._replace(certain=False) if parameters else NOTHING

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int, parameters: bool) -> Found:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and scope.owner is not None:
            for value, method in self._assigned_to_self(node.attr, scope.owner):
                found = self.value(value, scope._replace(function=method), depth + 1, parameters=parameters)
                if found.value is not UNKNOWN:
                    return found
        target = scope.full_name(node)
        if target in _MACHINE:
            return Found(POSITIVE, True, (scope.span(node),))
        return self.options.get(node.attr, self.value, depth)

    def _variable(self, name: str) -> Found:
        """A variable of the container's environment."""
        value = self.options.files.environment.get(name)
        if value is None or value.known is None or value.private:
            return NOTHING
        return literal(value.known, (value.span,))

    def _call(self, node: ast.Call, scope: Scope, depth: int, parameters: bool) -> Found:
        name = scope.full_name(node.func)
        last = name.rpartition(".")[2]
        arguments = [self.value(a, scope, depth + 1, parameters=parameters) for a in node.args[:10]]
        if name in _MACHINE or last == "cpu_count":
            return Found(POSITIVE, True, (scope.span(node),))
        if last in ("int", "float", "str", "round") and arguments:
            number = arguments[0].number
            return arguments[0] if last == "str" or number is None else arguments[0]._replace(value=number)
        if last in ("min", "max") and arguments:
            return extreme(last, arguments)
        if last == "len" and arguments and arguments[0].value is POSITIVE:
            return arguments[0]
        if last in ("get", "getenv", "getattr", "pop") and arguments:
            at = 1 if last == "getattr" else 0
            key = arguments[at].value if len(arguments) > at else UNKNOWN
            if not isinstance(key, str):
                return NOTHING
            from_environment = last == "getenv" or name.startswith("os.environ")
            found = self._variable(key) if from_environment else self.options.get(key, self.value, depth)
            if found.value is UNKNOWN and len(arguments) > at + 1:
                default = arguments[at + 1]
                certain = default.certain and from_environment and key not in self.options.files.environment
                return default._replace(certain=certain, spans=(scope.span(node),))
            return found
        return NOTHING


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr | None]:
    """The parameters of a function with their defaults, in their order."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(function.args.defaults))
    defaults += function.args.defaults
    found = {argument.arg: default for argument, default in zip(positional, defaults, strict=True)}
    found |= {a.arg: d for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)}
    return found

"""Where Python goes on after a statement, as far as its syntax shows."""

from __future__ import annotations

import ast
from enum import Enum

from shmlint.syntax.python import dotted
from shmlint.workloads.python.values import Scope


class After(Enum):
    """What follows a statement."""

    NEXT = "next"
    """The next statement runs."""
    PERHAPS = "perhaps"
    """The next statement runs, or the function has returned."""
    TURN = "turn"
    """The next turn of the loop, or what follows the loop."""
    FAILED = "failed"
    """Nothing: the program found a fault."""
    LEFT = "left"
    """Nothing: the function has returned, or the program has ended."""

    @property
    def ends(self) -> bool:
        """Whether the next statement surely does not run."""
        return self not in (After.NEXT, After.PERHAPS)


def after(statement: ast.stmt, scope: Scope) -> After:
    """What follows a statement that holds no others."""
    if isinstance(statement, ast.Return):
        return After.LEFT
    if isinstance(statement, ast.Continue | ast.Break):
        return After.TURN
    if isinstance(statement, ast.Raise):
        return _exit(statement.exc, scope) or After.FAILED
    if isinstance(statement, ast.Assert):
        return After.FAILED if isinstance(statement.test, ast.Constant) and not statement.test.value else After.NEXT
    call = statement.value if isinstance(statement, ast.Expr) else None
    return (_exit(call, scope) if isinstance(call, ast.Call) else None) or After.NEXT


def _exit(node: ast.expr | None, scope: Scope) -> After | None:
    """How a call ends the program; None where it does not."""
    called = node.func if isinstance(node, ast.Call) else node
    if called is None or scope.full_name(called) not in _EXITS or _is_own(dotted(called).partition(".")[0], scope):
        return None
    if scope.module.stars and dotted(called) in ("exit", "quit"):
        return After.PERHAPS  # they may be of another module
    given = node.args[0] if isinstance(node, ast.Call) and node.args else ast.Constant(None)
    return After.FAILED if isinstance(given, ast.Constant) and given.value else After.LEFT


def _is_own(name: str, scope: Scope) -> bool:
    """Whether a name is the module's own, and not that of Python."""
    function = scope.function
    inside = ast.walk(function) if function is not None and name in ("exit", "quit") else ()
    local = any((isinstance(n, ast.arg) and n.arg == name) or _is_set(n, name) for n in inside)
    return local or any(name in known for known in (scope.module.definitions, scope.module.constants))


def _is_set(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "SystemExit"})


def in_turn(first: After, then: After) -> After:
    """What follows two statements of which the second runs unless the first has ended."""
    return After.PERHAPS if first is After.PERHAPS and then is After.NEXT else then


def one_of(branches: list[After]) -> After:
    """What follows a statement of which one branch runs, nobody knows which.

    A program that does its work has not failed: where other branches go on, one that fails says nothing.
    """
    both = After.TURN in branches and After.LEFT in branches  # what follows the loop may not run
    if all(branch.ends for branch in branches) and not both:
        return next((kind for kind in (After.TURN, After.LEFT) if kind in branches), After.FAILED)
    returns = any(branch in (After.LEFT, After.PERHAPS) for branch in branches)
    return After.PERHAPS if returns else After.NEXT


def after_loop(statement: ast.For | ast.AsyncFor | ast.While, body: After) -> After:
    """What follows a loop whose body ends like this."""
    endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and statement.test.value
    if endless and not is_broken(statement):
        return After.LEFT
    return After.PERHAPS if body in (After.LEFT, After.PERHAPS) and not endless else After.NEXT


def after_with(body: After) -> After:
    """What follows a ``with`` whose body ends like this: it may hold back what is raised, as ``suppress`` does."""
    if body is After.TURN:
        return After.NEXT
    return After.PERHAPS if body.ends else body


def is_broken(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a loop has a ``break``: it goes on behind the loop, past its ``else``."""
    pending: list[ast.AST] = [*loop.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        inner = ast.iter_child_nodes(node)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            pending += node.orelse
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            pending += (n for n in inner if isinstance(n, ast.stmt | ast.ExceptHandler | ast.match_case))
    return False

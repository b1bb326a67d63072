"""The commands that a Python program starts: lists of words and texts, put together as far as they are written down."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Sequence

from shmlint.syntax.python import dotted
from shmlint.workloads.commands import MISSING
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.named_modules import loops
from shmlint.workloads.python.values import Scope, text_of

_MOST = 6
"""Commands that one call may stand for: more are left out."""
_DEPTH = 12
_STARTS = frozenset(
    {
        "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen",
        "subprocess.getoutput", "subprocess.getstatusoutput", "os.system", "os.popen",
        "asyncio.create_subprocess_shell", "pty.spawn",
    }
)  # fmt: skip
"""Calls whose first argument is a command: a text or a list of words."""
_WITH_WORDS = {
    "asyncio.create_subprocess_exec": 0, "os.execl": 1, "os.execlp": 1, "os.spawnl": 2, "os.spawnlp": 2,
    "os.execle": 1, "os.execlpe": 1, "os.spawnle": 2, "os.spawnlpe": 2,
}  # fmt: skip
"""Calls whose arguments are the words of a command, and where they begin."""
_WITH_LIST = {
    "os.execv": 1, "os.execvp": 1, "os.execve": 1, "os.execvpe": 1, "os.posix_spawn": 1, "os.posix_spawnp": 1,
    "os.spawnv": 2, "os.spawnvp": 2, "os.spawnve": 2, "os.spawnvpe": 2,
}  # fmt: skip
"""Calls of which one argument is the list of the words, and which."""
_PERCENT = r"%(?:\([^()]*\))?[-+ #0-9.]*[a-z]"
_BRACES = r"\{[^{}]*\}"

Words = tuple[str, ...]
_Given = Sequence[tuple[ast.expr, Scope]]


def starts(name: str) -> bool:
    """Whether a call of that name starts a program."""
    return name in _STARTS or name in _WITH_WORDS or name in _WITH_LIST


def commands_of(name: str, call: ast.Call, scope: Scope, evaluator: Evaluator) -> tuple[list[Words], bool]:
    """The commands that a call may start, none where nothing is known of its program; and whether these are all."""
    reader = _TextReader(evaluator)
    if name in _WITH_WORDS:
        found = reader.concatenated(call.args[_WITH_WORDS[name] :], scope, 0)
    else:
        given = next((keyword.value for keyword in call.keywords if keyword.arg == "args"), None)
        at = _WITH_LIST.get(name, 0)
        argument = call.args[at] if len(call.args) > at else given
        if argument is None:
            return [], False
        found = reader.words(argument, scope, 0) or [_of_text(text) for text in reader.texts(argument, scope, 0)]
    commands = [_with_python(words) for words in found if words]
    folder = next((keyword.value for keyword in call.keywords if keyword.arg == "cwd"), None)
    place = evaluator.value(folder, scope).value if folder is not None else None
    if isinstance(place, str):
        commands = [_in_folder(place, words) for words in commands]
    return list(dict.fromkeys(commands))[:_MOST], not reader.altered


def _in_folder(folder: str, words: Words) -> Words:
    """A command in another directory."""
    quoted = (word if MISSING in word else shlex.quote(word) for word in words)
    return ("bash", "-c", f"cd {shlex.quote(folder)} && {' '.join(quoted)}")


def _of_text(text: str) -> Words:
    """The words of a command; several commands are for a shell."""
    return ("bash", "-c", text) if re.search(r"[;&|\n]", text.strip()) else _split(text)


def _split(text: str) -> Words:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


def _with_python(words: Words) -> Words:
    """A command whose unknown program is given a file of Python is Python's."""
    if words[0] in (MISSING, "%s") and (any(word.endswith(".py") for word in words[1:3]) or words[1:2] == ("-m",)):
        return ("python", *words[1:])
    return words


def _is_itself(value: ast.expr, node: ast.expr, where: Scope, scope: Scope) -> bool:
    """Whether a value is the very name that asks for it: ``run(command)`` inside of ``def run(command)``."""
    return where.function is scope.function and dotted(value) == dotted(node) and isinstance(value, ast.Name)


def _only_converts(node: ast.ListComp) -> bool:
    """Whether the items of a list are those of another one, made texts: ``[str(word) for word in words]``."""
    loop = node.generators[0]
    item = node.elt
    if isinstance(item, ast.Call) and dotted(item.func) in _CONVERTS and len(item.args) == 1:
        item = item.args[0]
    return (
        len(node.generators) == 1 and not loop.ifs
        and isinstance(item, ast.Name) and isinstance(loop.target, ast.Name) and item.id == loop.target.id
    )  # fmt: skip


_CONVERTS = frozenset({"str", "shlex.quote", "quote", "os.fspath"})
"""Functions that make a word of a value."""


class _TextReader:
    """Puts words and texts together; several where a name is given several."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._left = 400
        self.altered = False
        """Whether a list was used that is changed in ways that are not followed."""

    def concatenated(self, items: Iterable[ast.expr], scope: Scope, depth: int) -> list[Words]:
        """The words that several expressions give one after the other."""
        found: list[Words] = [()]
        for item in items:
            if isinstance(item, ast.Starred):
                parts = self.words(item.value, scope, depth + 1) or [()]
            else:
                parts = [(text or MISSING,) for text in self.texts(item, scope, depth + 1) or [MISSING]]
            found = [(*before, *part) for before in found for part in parts][:_MOST]
        return found

    def words(self, node: ast.expr, scope: Scope, depth: int) -> list[Words]:
        """The lists of words that an expression may be; none where it is no list, or not known to be one."""
        self._left -= 1
        if depth > _DEPTH or self._left <= 0:
            return []
        if isinstance(node, ast.Await):
            return self.words(node.value, scope, depth + 1)
        if isinstance(node, ast.ListComp) and _only_converts(node):
            return self.words(node.generators[0].iter, scope, depth + 1)
        if isinstance(node, ast.List | ast.Tuple):
            return self.concatenated(node.elts[:100], scope, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.words(node.left, scope, depth + 1), self.words(node.right, scope, depth + 1)
            if left or right:
                return [(*a, *b) for a in left or [()] for b in right or [()]][:_MOST]
            return []
        if isinstance(node, ast.IfExp):
            return self._one_of([(node.body, scope), (node.orelse, scope)], depth)
        if isinstance(node, ast.Call):
            return self._made_words(node, scope, depth) or self._returned_words(node, scope, depth)
        if isinstance(node, ast.Name | ast.Attribute):
            found = self._one_of(self._given(node, scope), depth)
            more = self._evaluator.additions(node, scope)
            added = self.concatenated(more, scope, depth + 1) if found and more else [()]
            self.altered = self.altered or (bool(found) and self._evaluator.is_altered(node, scope))
            return [(*words, *rest) for words in found for rest in added][:_MOST]
        return []

    def _one_of(self, values: Iterable[tuple[ast.expr, Scope]], depth: int) -> list[Words]:
        """The lists of words that one of several expressions gives.

        One that is not known to be a list is a command that nobody knows, where another one is a list.
        """
        given = [(value, where) for value, where in values if not (isinstance(value, ast.Constant) and not value.value)]
        each = [self.words(value, where, depth + 1) for value, where in given[:_MOST]]
        if len(given) > _MOST:
            each.append([])
        return [words for some in each for words in some or [(MISSING,)]][:_MOST] if any(each) else []

    def _made_words(self, node: ast.Call, scope: Scope, depth: int) -> list[Words]:
        """``list(words)``, ``words.copy()``, ``"a b".split()``, ``shlex.split("a b")``."""
        name = dotted(node.func)
        inner = node.args[0] if node.args else None
        if isinstance(node.func, ast.Attribute) and not node.args:
            inner = node.func.value
        last = name.rpartition(".")[2]
        if last == "map" and len(node.args) == 2 and dotted(node.args[0]) in _CONVERTS:
            inner, last = node.args[1], "list"
        if inner is None or last not in ("split", "list", "tuple", "copy"):
            return []
        if last == "split":
            return [_split(text) for text in self.texts(inner, scope, depth + 1)]
        return self.words(inner, scope, depth + 1)

    def _returned_words(self, node: ast.Call, scope: Scope, depth: int) -> list[Words]:
        """The list of words that a function of the repository returns."""
        return self._one_of(self._evaluator.returned(node, scope), depth)

    def texts(self, node: ast.expr, scope: Scope, depth: int) -> list[str]:
        """The texts that an expression may be, ``$UNKNOWN`` for the parts that are not written down."""
        self._left -= 1
        if depth > _DEPTH or self._left <= 0:
            return []
        if isinstance(node, ast.Constant):
            return [text_of(node.value)] if isinstance(node.value, str | int) else []
        if dotted(node) == "sys.executable":
            return ["python"]
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values, "", scope, depth)
        if isinstance(node, ast.FormattedValue | ast.Await):
            return self.texts(node.value, scope, depth + 1)
        if isinstance(node, ast.IfExp):
            return self._any_text([(node.body, scope), (node.orelse, scope)], depth)
        if isinstance(node, ast.BinOp):
            return self._operation(node, scope, depth)
        if isinstance(node, ast.Call):
            return self._made_text(node, scope, depth)
        if isinstance(node, ast.Name | ast.Attribute):
            values = self._given(node, scope)
            given = self._any_text([(v, where) for v, where in values if not _is_itself(v, node, where, scope)], depth)
            if given:
                more = [part for part in self._evaluator.additions(node, scope) if not isinstance(part, ast.Starred)]
                added = "".join((self.texts(part, scope, depth + 1) or [MISSING])[0] for part in more)
                return list(dict.fromkeys(text + added for text in given))[:_MOST]
        return self._known(node, scope)

    def _any_text(self, values: Iterable[tuple[ast.expr, Scope]], depth: int) -> list[str]:
        """The texts of one of several expressions; where one is not known, nobody knows which it is."""
        given = [(value, where) for value, where in values if not (isinstance(value, ast.Constant) and not value.value)]
        each = [self.texts(value, where, depth + 1) for value, where in given]
        return [text for some in each for text in some or [MISSING]][:_MOST] if any(each) else []

    def _known(self, node: ast.expr, scope: Scope) -> list[str]:
        value = self._evaluator.value(node, scope).value
        return [text_of(value)] if isinstance(value, str | int) and not isinstance(value, bool) else []

    def _operation(self, node: ast.BinOp, scope: Scope, depth: int) -> list[str]:
        if isinstance(node.op, ast.Mod):
            return [re.sub(_PERCENT, MISSING, text) for text in self.texts(node.left, scope, depth + 1)]
        if isinstance(node.op, ast.Add):
            return self._joined([node.left, node.right], "", scope, depth)
        if isinstance(node.op, ast.Div):
            return self._joined([node.left, node.right], "/", scope, depth)
        return self._known(node, scope)

    def _joined(self, parts: Sequence[ast.expr], between: str, scope: Scope, depth: int) -> list[str]:
        found: list[str] = []
        for at, part in enumerate(parts):
            texts = self.texts(part, scope, depth + 1) or [MISSING]
            found = [a + between + b for a in found for b in texts][:_MOST] if at else texts
        return found if any(text.replace(MISSING, "").strip(between) for text in found) else []

    def _made_text(self, node: ast.Call, scope: Scope, depth: int) -> list[str]:
        """``str(text)``, ``os.path.join(a, b)``, ``" ".join(words)``, ``"text {}".format(value)``."""
        name = scope.full_name(node.func)
        last = name.rpartition(".")[2]
        if last == "join" and name.endswith("path.join"):
            return self._joined(node.args[:20], "/", scope, depth)
        if last == "join" and isinstance(node.func, ast.Attribute) and node.args:
            between = self.texts(node.func.value, scope, depth + 1) or [" "]
            return [between[0].join(words) for words in self.words(node.args[0], scope, depth + 1)]
        if last in ("str", "Path", "fspath", "abspath", "realpath", "quote", "expanduser", "which") and node.args:
            return self.texts(node.args[0], scope, depth + 1)
        if last in ("format", "resolve", "absolute", "as_posix", "strip") and isinstance(node.func, ast.Attribute):
            found = self.texts(node.func.value, scope, depth + 1)
            return [re.sub(_BRACES, MISSING, text) for text in found] if last == "format" else found
        return self._any_text(self._evaluator.returned(node, scope), depth) or self._known(node, scope)

    def _given(self, node: ast.Name | ast.Attribute, scope: Scope) -> _Given:
        given: _Given = self._evaluator.given_to(node, scope)
        if not given and isinstance(node, ast.Name):
            given = self._evaluator.rest_passed(node.id, scope) or self._looped(node.id, scope)
        return given[:_MOST]

    def _looped(self, name: str, scope: Scope) -> _Given:
        """The items of the lists that are written down and that loops go through by a name; none where there are more.
        """
        items: list[tuple[ast.expr, Scope]] = []
        for _, values in (loop for loop in loops(scope.function or scope.module.tree) if loop[0] == name):
            lists: _Given = [(values, scope)]
            more: Sequence[ast.expr] = ()
            if isinstance(values, ast.Name | ast.Attribute):
                lists, more = self._evaluator.given_to(values, scope), self._evaluator.additions(values, scope)
                self.altered = self.altered or self._evaluator.is_altered(values, scope)
            if not lists or not all(isinstance(one, ast.List | ast.Tuple) for one, _ in lists):
                return ()
            items += ((item, where) for one, where in lists if isinstance(one, ast.List | ast.Tuple)
                      for item in one.elts)  # fmt: skip
            items += ((item, scope) for item in more)
        starred = any(isinstance(item, ast.Starred) for item, _ in items)
        return items if len(items) <= _MOST and not starred else ()

"""The commands of a shell text: their words, with variables that the text itself sets followed.

tree-sitter-bash reads the syntax. A variable that is assigned once is followed; what depends on a
branch, on an argument or on another program stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Literal, TypeVar

from shmlint.model.launch import ENGINES
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.syntax.shell_assignments import AssignmentReader
from shmlint.syntax.shell_calls import OtherCalls
from shmlint.syntax.shell_conditions import Conditions, Dead, When, dead, goes_on_beside, leaves, only_waits, when
from shmlint.syntax.shell_grammar import walk
from shmlint.syntax.shell_output import (
    PAGE,
    PRINTERS,
    RUNNERS,
    SCRIPT,
    TAKERS,
    goes_to,
    is_run,
    names_in,
    plainly_printed,
    read_by_calls,
    taken_by,
)
from shmlint.syntax.shell_repair import commands_behind_documents, one_heredoc, repaired
from shmlint.syntax.shell_text import (
    BARE_START,
    CLOSE_BRACE,
    MAY_START,
    OPEN,
    OPEN_BRACE,
    STARTS,
    ShellText,
    holds_one,
    mentions_engine,
    place,
)
from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.shell_variables import CALLS_IN_CALLS, END, MOST_CALLS, Assignment, Buffer, Call, Range, Variables
from shmlint.syntax.shell_words import QUOTED_MARK, WordReader, some_words
from shmlint.syntax.word import TALKERS, Cause, Word, also_runs, talks

if TYPE_CHECKING:
    from tree_sitter import Node

T = TypeVar("T")

_NESTING = 4
"""Commands inside quoted commands are followed this deep."""

_READERS = frozenset({"eval", "ssh", "bash", "sh", "zsh", "dash", "ksh"})
"""Commands that read a variable's text as a command line."""

_RUN_TEXTS = RUNNERS | TAKERS | _READERS | frozenset(ENGINES) | frozenset({
    "adb", "ansible", "aws", "az", "bsub", "cmd", "colima", "command", "doctl", "entr", "env", "exec", "expect",
    "flock", "gcloud", "gnome-terminal", "konsole", "kubectl", "limactl", "lxc", "machinectl", "multipass", "nice",
    "nodemon", "nohup", "oc", "parallel", "powershell", "qsub", "runuser", "sbatch", "screen", "script", "setsid",
    "sshpass", "start-stop-daemon", "systemd-run", "time", "timeout", "tmux", "trap", "vagrant", "watch", "wsl",
    "xargs", "xterm",
})  # fmt: skip
"""Programs that run a text they are given, here or elsewhere."""

_JOINING = frozenset({"eval", "ssh", "watch", "parallel"})
"""Commands that join their arguments to a text, which a shell reads again."""

_ARGUMENTS = re.compile(r'"?\$(?:[@*]|\{[@*](?::[ \t]*(?P<first>[1-9]\d{0,2}))?\})"?')
"""All arguments, or those from one on."""

_ARGUMENT = re.compile(r"\$\{?[@*]")
"""What each of these holds."""

_TAKES_COMMAND = re.compile(r"-*(?:[\w-]+-)?(?:command|cmd|exec|wrap|script|run)=")
_NAMED = re.compile(r"(?<!\\)\$\{?(\w+)")
_STOOD_FOR_VARIABLE = re.compile(rf"\${OPEN_BRACE}(\w+){CLOSE_BRACE}")
_SETS = re.compile(r"(?:^|[\s;&|(])([A-Za-z_]\w*)\+?=")
_GIVEN = re.compile(r"(?<!\S)([A-Za-z_]\w*)=([\w./:@+-]*)(?=\s)")
"""A variable with a plain value in front of a command."""
_HIDDEN = re.compile(r"\\\$\{?(\w+)")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_INPUTS = frozenset({"heredoc_redirect", "herestring_redirect", "file_redirect"})


class Command(NamedTuple):
    """One simple command: its words, assignments in front included. ``span`` is all of it."""

    words: tuple[Word, ...]
    span: Span
    nested: bool = False
    when: When = "always"
    leaves: bool = False
    """The text's own shell ends with it: ``exec`` and ``exit``, where they are in no other shell."""
    function: str = ""
    """The function that it is in."""
    unread: str = ""
    """Why a container start in its text is not read."""
    given: Word | None = None
    """What it reads on its standard input, where the text holds that: a here-document or a here-string."""
    written: str = ""
    """The file into which ``cat`` writes that, where its name is known."""
    reads: str = ""
    """The file that is its standard input, where its name is known: ``< FILE``, ``cat FILE |``."""
    endless: bool = False
    """It is a ``sleep`` in a loop that waits for ever."""
    beside: Literal["", "once", "in a loop"] = ""
    """Whether it goes on beside the commands behind it, and whether a loop starts it so several times."""
    handed: bool = False
    """It is a text that a program gets of which nothing says that it runs it."""
    dead: Dead = ""
    """Why it never runs, of those that have to do with an engine."""


class _Passed(NamedTuple):
    """How a function runs its arguments."""

    before: Sequence[Word]
    """The words in front of them: ``sudo``."""
    moved: int | None
    """How many of the first arguments it keeps for itself; None where that is not known."""

    def given(self, arguments: Sequence[Word]) -> list[Word] | None:
        """What it runs of these arguments; None where that is not known."""
        behind = some_words(arguments, self.moved, None) if self.moved is not None else None
        return [*self.before, *behind] if behind is not None else None


def commands(text: ShellText, given: Variables | None = None) -> Iterator[Command]:
    """Every simple command of a shell text, those in substitutions and quoted commands too.

    ``given`` are variables that something around the text sets (a Makefile's).
    """
    return (command for command in _CommandReader(_tree(text), given or Variables()).read() if not command.unread)


def engine_commands(text: ShellText, given: Variables | None = None) -> Iterator[Command]:
    """Those of ``commands`` that may have to do with a container engine, and container starts that are not read.

    Of most texts they are few, and the words of the others are not read. Whether they run is not looked at.
    """
    yield from _EngineReader(_tree(text), given or Variables()).read()


def here_documents(text: ShellText) -> Iterator[tuple[int, int, bool]]:
    """Where the texts of here-documents start and end in the file, and whether nothing in them is expanded.

    Those are left out of which the shell takes tabs away (``<<-``).
    """
    tree = _tree(text)
    for body in tree.nodes:
        redirect = tree.parents[body.id] if body.type == "heredoc_body" else None
        if redirect is None or tree.raw(redirect).startswith("<<-"):
            continue
        mark = next((tree.raw(child) for child in redirect.children if child.type == "heredoc_start"), "")
        start, end = tree.extent(body)
        if start < end:
            yield text.offset(start), text.offset(end - 1) + 1, QUOTED_MARK.search(mark) is not None


def _tree(text: ShellText) -> Tree:
    for mended in (_with_whole_words, _without_escapes, _without_comments, _with_backslashes):
        text = mended(text)
    return Tree(repaired(commands_behind_documents(one_heredoc(text)))[0])


_QUOTES = frozenset("'\"\\")
_PRINTING = TALKERS - {"alias", "trap"}
_QUOTING = str.maketrans("", "", "'\"\\\n\r")
_NAMES_ENGINE = (*ENGINES, "container", "oci", "--gpus", OPEN, OPEN_BRACE)
"""An engine's name, what stands for one (``$CONTAINER_CMD``), what may become one, or an option for one."""


def _names_engine(raw: str) -> bool:
    """Whether the text of a command names an engine, or what may become one."""
    return holds_one(raw.translate(_QUOTING).lower(), _NAMES_ENGINE)


_FILE_TOOLS = frozenset(
    {
        "basename", "cd", "chmod", "chown", "cp", "curl", "date", "df", "dirname", "du", "head", "kill", "ls", "ln",
        "mkdir", "mktemp", "mv", "popd", "pushd", "readlink", "realpath", "rm", "rmdir", "sleep", "tail", "touch",
        "tr", "uname", "wc", "wget",
    }
)  # fmt: skip
"""Programs that run nothing of what they are given, and print nothing that is a command."""

_STARTS_NOTHING = frozenset(
    {
        "cp", "events", "images", "info", "inspect", "kill", "load", "login", "logout", "logs", "network", "port", "ps",
        "pull", "push", "rename", "rm", "rmi", "save", "start", "stats", "stop", "top", "version", "volume", "wait",
    }
)  # fmt: skip
"""Commands of an engine that neither start a container nor build or name an image."""


def _only_asks(raw: str) -> bool:
    """Whether the text of a command is one of an engine that starts and builds nothing, and holds none that does."""
    words = raw.split(None, 3)
    at = 1 if words[0] == "sudo" else 0
    verb = words[at + 1] if len(words) > at + 1 and words[at] in ENGINES else ""
    return verb in _STARTS_NOTHING and "run" not in raw and "create" not in raw



def exports(text: ShellText, before: Variables | None = None) -> Iterator[tuple[str, Word, bool]]:
    """What a text exports to the programs it starts, and whether no condition decides about that.

    What is assigned apart from its ``export`` counts where it is assigned once, and nothing that is unset later.
    """
    if re.search(_MAY_EXPORT, text.text) is None:
        return
    tree = Tree(_with_backslashes(_without_comments(text)))
    words = WordReader(tree, (before or Variables()).inside(text.unset))
    exported = tree.exported()
    assigned: dict[str, list[Node]] = {}
    for node in tree.nodes:
        if node.type == "unset_command":
            for part in node.named_children:
                assigned.pop(tree.raw(part), None)
        name = node.child_by_field_name("name") if node.type == "variable_assignment" else None
        if name is not None and tree.raw(name) in exported and not tree.is_for_command(node):
            assigned.setdefault(tree.raw(name), []).append(node)
    for name_, nodes in assigned.items():
        for node in nodes:
            value = node.child_by_field_name("value")
            if value is not None and (len(nodes) == 1 or tree.exports(tree.parents[node.id])):
                found = words.read(value)
                word = found[0]._replace(span=tree.span(node)) if found else Word("")
                yield name_, word, tree.branch_of(node) is None


_MAY_EXPORT = r"\b(?:export|declare|typeset|set)\s"
"""What exports variables, or all of them (``set -a``)."""


def values(text: ShellText) -> dict[str, list[str]]:
    """The texts that variables are given anywhere in a shell text, as they are written there."""
    found: dict[str, list[str]] = {}
    tree = Tree(_with_backslashes(_without_comments(text)))
    for node in tree.nodes:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type == "variable_assignment" and name is not None and value is not None:
            raw = tree.raw(value)
            written = raw[1:-1] if value.type in ("string", "raw_string", "array") else raw
            found.setdefault(tree.raw(name), []).append(written)
    return found


_CUT = re.compile(r"\\\n(?<=[\"']\\\n)(?=[\"'])")
"""It begins with what is looked for, because a search for that is fast."""


def _with_whole_words(text: ShellText) -> ShellText:
    """A text without the line ends inside of words, ``"a"\\⏎"b"``, at which the grammar ends them."""
    return _without(text, [found.span() for found in _CUT.finditer(text.text)] if "\\\n" in text.text else [])


def _without(text: ShellText, cuts: Sequence[tuple[int, int]]) -> ShellText:
    """A text without some of its characters."""
    if not cuts:
        return text
    kept = [range(a, b) for (_, a), (b, _) in pairwise([(0, 0), *cuts, (len(text.text), 0)])]
    used_at = [text.used_at[i] for part in kept for i in part] if text.used_at else ()
    return text._replace(
        text="".join(text.text[part.start : part.stop] for part in kept),
        offsets=[text.offsets[i] for part in kept for i in part], used_at=used_at,
    )  # fmt: skip


_OLD_SUBSTITUTION = re.compile(r"(?s)`(?:[^`\\]|\\.)*+`")
_ESCAPED = re.compile(r"\\[\"\\$`]")


def _without_escapes(text: ShellText) -> ShellText:
    """A text without the backslashes that the shell takes away inside of `` "`…`" ``: there ``\\"`` is ``"``."""
    if "`" not in text.text or '\\"' not in text.text:
        return text
    found = _OLD_SUBSTITUTION.finditer(text.text)
    inside = [place for place in found if _in_string(text.text, place.start())]
    cuts = [escaped.start() for place in inside for escaped in _ESCAPED.finditer(text.text, *place.span())]
    return _without(text, [(cut, cut + 1) for cut in cuts])


def _in_string(text: str, at: int) -> bool:
    """Whether a character stands between double quotation marks, as far as its line tells."""
    before = text[text.rfind("\n", 0, at) + 1 : at].replace('\\"', "")
    return before.count('"') % 2 == 1 and before.count("'") % 2 == 0


_CONTINUED = re.compile(r"[^`\n]*\S[ \t]+`\r?")
_MAY_CONTINUE = re.compile(r"(?m)`(?<=[ \t]`)\r?$")
"""Such an end of a line. It begins with what is looked for, because a search for that is fast."""


def _without_comments(text: ShellText) -> ShellText:
    """Blanks instead of `` `# comments` ``, whose last backtick the grammar reads as part of the comment."""
    if "`" not in text.text or "#" not in text.text:
        return text
    return text._replace(text=re.sub(r"`[ \t]*#[^`\n]*`", lambda found: " " * len(found[0]), text.text))


def _with_backslashes(text: ShellText) -> ShellText:
    """PowerShell's continuations, a backtick at the end of a line, as the shell's; and those of ``cmd``, a ``^``."""
    if text.shell == "cmd":
        return text._replace(text=re.sub(r"\^(?=\r?\n)", r"\\", text.text))
    if "`" not in text.text or _MAY_CONTINUE.search(text.text) is None:
        return text
    lines = text.text.split("\n")
    inside = continued = False
    for i, line in enumerate(lines):
        if not inside and _CONTINUED.fullmatch(line) and (continued or mentions_engine(line)):
            at = line.index("`")
            lines[i] = f"{line[:at]}\\{line[at + 1 :]}"
            continued = True
            continue
        continued = False
        inside ^= line.count("`") % 2 == 1
    return text._replace(text="\n".join(lines))


class _CommandReader:
    """Reads the commands of a tree; what it sets stays with it."""

    def __init__(self, tree: Tree, variables: Variables, depth: int = 0, *, joined: bool = False) -> None:
        self.tree = tree
        self.depth = depth
        self.joined = joined
        """Whether the text is of words that have been read before."""
        self.variables = variables.inside(tree.text.unset)
        self.variables.for_options |= tree.text.for_options
        self.variables.engine_functions |= tree.text.functions
        if tree.text.splitting != "blanks":
            self.variables.splitting = tree.text.splitting
        for name, value in tree.text.perhaps:
            self.variables.note_perhaps(name, value, settled=name in tree.text.settled)
        self.words = WordReader(tree, self.variables)
        self.conditions = Conditions(self.words)
        self._exports: dict[str, int] | None = None
        self.bodies: dict[Range, Node] = {}
        """The functions that the text defines, by their places."""
        self.defined: set[str] = set()
        """Their names."""
        self.others: OtherCalls | None = None
        """What commands may call that they do not name."""
        self._passing: dict[str, bool] = {}

    def read(self) -> Iterator[Command]:
        nodes = self.tree.nodes
        for node in nodes:
            if node.type == "function_definition":
                name = node.child_by_field_name("name")
                if name is not None:
                    self._defined(self.tree.raw(name), node)
        assignments = AssignmentReader(self.words, self._branches())
        self.others = assignments.others
        for node in nodes:
            assignments.note(node)
        assignments.finish()
        for node in nodes:
            if node.type == "command":
                if self._is_read(node):
                    yield from self._by_call(node)
            elif node.type == "heredoc_body":
                yield from self._heredoc(node)
            elif node.type == "herestring_redirect":
                yield from self._herestring(node)
        self.variables.forget_all()  # frees the tree at once, and not when garbage is collected

    def _defined(self, name: str, node: Node) -> None:
        """A function of the text."""
        place = self.tree.range_of(node)
        self.variables.define(name, place)
        self.bodies[place] = node
        self.defined.add(name)
        outer = self.tree.parents.get(node.id)
        around = self.tree.function_of(outer) if outer is not None else None
        if self.tree.branch_of(node) is not None or around is not None:
            self.variables.perhaps_defined.add(place)
        if self.tree.branch_of(node) is None and around is not None:
            self.variables.defined_in[place] = around

    def _is_read(self, node: Node) -> bool:
        """Whether a command is one of those that are asked for."""
        return True

    def _when(self, node: Node) -> When:
        return when(node, self.conditions)

    def _branches(self) -> Conditions | None:
        """What decides about the branches that set variables."""
        return Conditions(self.words)

    def _by_call(self, node: Node) -> Iterator[Command]:
        """The commands of a node; those that start a container in a function are others at each call of it."""
        function = self.tree.function_of(node)
        if function is not None and self._passed_on(node) is not None:  # read where the function is called
            yield from self._seen_from(node, {function: Call(-1, "")})
            return
        found = list(self._command(node))
        if function is not None and any(_depends_on_call(command) for command in found):
            ways = self._ways(function)
            several = [self._seen_from(node, calls) for calls in ways] if len(ways) > 1 else []
            different = {tuple(_read_as(word) for command in one for word in command.words): one for one in several}
            if different:
                yield from (command for one in different.values() for command in one)
                return
        yield from found

    def _ways(self, function: Range) -> list[dict[Range, Call]]:
        """The ways in which a function may be reached, each as the calls that lead to it; none where they are many.

        A function that is also called in a way that is not read (``trap f EXIT``) is reached from anywhere.
        """
        found: list[dict[Range, Call]] = []
        waiting: list[tuple[dict[Range, Call], Range]] = [({}, function)]
        while waiting:
            way, here = waiting.pop(0)
            calls = self.variables.calls_of(here)
            if here in way or len(way) >= CALLS_IN_CALLS or len(found) + len(waiting) + len(calls) > MOST_CALLS:
                return []
            if not calls and way:
                found.append(way)
            for call in calls:
                if call.function is None:
                    found.append({**way, here: call})
                else:
                    waiting.append(({**way, here: call}, call.function))
            if calls and not self.variables.is_read(here):
                found.append(way)
        return found

    def _seen_from(self, node: Node, calls: dict[Range, Call]) -> list[Command]:
        """The commands of a node where its function is reached by these calls."""
        conditions = self.conditions
        self.conditions = Conditions(self.words)
        try:
            return self._with_calls(calls, lambda: list(self._command(node)))
        finally:
            self.conditions = conditions

    def _command(self, node: Node) -> Iterator[Command]:
        words: list[Word] = []
        parts: list[Node] = []
        for child in node.children:
            if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect", "comment"):
                continue
            if child.type == "variable_assignment":
                if not self.tree.is_separate(child, node):
                    words.append(self.words.assignment(child))
            elif child.type == "command_name":
                parts += child.named_children
            elif child.is_named or child.type in ("=", "==", "=~", "!="):
                parts.append(child)
        behind = self.tree.behind(node)
        parts += behind
        words += self.words.arguments(parts)
        if not words:
            return
        words += () if behind else self._last_dash(node)
        first = next(c for c in node.children if c.type != "variable_assignment" or not self.tree.is_separate(c, node))
        span = self.tree.span(first, behind[-1] if behind else node) or self.tree.text.home
        if not self.joined and self.depth < _NESTING and _is_read_again(words):
            yield from self._again(node, words, span)
            return
        leaving = words[0].text in ("exec", "exit") and leaves(node, self.tree)
        inside = self._name_of(self.tree.function_of(node))
        runs = self._called(words, node)
        if runs:  # not of a function that runs its arguments and gets none
            given = self._given(node)
            written = self._written(node) if given is not None and [word.text for word in runs] == ["cat"] else ""
            endless = runs[0].text == "sleep" and only_waits(node, self.tree)
            yield Command(
                runs, span, self.depth > 0, self._when(node), leaving, inside, given=given, written=written,
                reads=self._reads(node), endless=endless, beside=goes_on_beside(node, self.tree),
            )  # fmt: skip
        yield from self._quoted(node, words)

    def _last_dash(self, node: Node) -> tuple[Word, ...]:
        """The word ``-`` before a here-document, which the grammar leaves out: ``docker build -t x - <<EOF``."""
        around = self.tree.parents.get(node.id)
        children = around.children if around is not None else ()
        if len(children) < 2 or children[0].id != node.id or children[1].type not in _INPUTS:
            return ()
        start = self.tree.char(node.end_byte)
        between = self.tree.text.text[start : self.tree.char(children[1].start_byte)]
        if between.strip() != "-":
            return ()
        at = start + between.index("-")
        return (Word("-", self.tree.text.span(at, at + 1), offsets=self.tree.offsets(at, at + 1)),)

    def _given(self, node: Node) -> Word | None:
        """What the here-document or here-string behind a command holds; None where it has none, or other input."""
        redirects = [one for one in self._redirects(node) if one.type != "file_redirect" or self._is_input(one)]
        if len(redirects) != 1:
            return None
        if redirects[0].type == "herestring_redirect":
            words = self.words.read(*redirects[0].named_children[-1:])
            return words[0] if len(words) == 1 else None
        return self.words.document(redirects[0]) if redirects[0].type == "heredoc_redirect" else None

    def _written(self, node: Node) -> str:
        """The file that the output of a command goes to; empty where that is not known."""
        outputs = [one for one in self._redirects(node) if one.type == "file_redirect" and not self._is_input(one)]
        if len(outputs) != 1 or self.tree.raw(outputs[0]).startswith(">>"):
            return ""  # it may have had another text before
        words = self.words.read(*_file_of(outputs[0]))
        return words[0].text if len(words) == 1 and not words[0].unknown else ""

    def _reads(self, node: Node) -> str:
        """The file that is the input of a command; empty where that is not known."""
        inputs = [one for one in self._redirects(node) if one.type != "file_redirect" or self._is_input(one)]
        if not inputs:
            before = self._before_in_pipe(node)
            parts = before.named_children if before is not None else ()
            named = parts[1:] if len(parts) == 2 and self.tree.raw(parts[0]) == "cat" else ()
        else:
            one = inputs[0] if len(inputs) == 1 and inputs[0].type == "file_redirect" else None
            named = _file_of(one) if one is not None else ()
        words = self.words.read(*named) if named else ()
        return words[0].text if len(words) == 1 and not words[0].maybe_many else ""

    def _before_in_pipe(self, node: Node) -> Node | None:
        """The command whose output is the input of another; None where that is no simple command."""
        around = self.tree.parents.get(node.id)
        if around is None or around.type != "pipeline":
            return None
        at = next(i for i, child in enumerate(around.named_children) if child.id == node.id)
        before = around.named_children[at - 1] if at else None
        return before if before is not None and before.type == "command" else None

    def _is_input(self, redirect: Node) -> bool:
        return self.tree.raw(redirect).startswith("<")

    def _redirects(self, node: Node) -> list[Node]:
        """The redirections of a command."""
        around = self.tree.parents.get(node.id)
        behind = around.children if around is not None and around.type == "redirected_statement" else ()
        beside = [inner for one in behind if one.type == "heredoc_redirect" for inner in one.children]
        return [child for child in (*node.children, *behind, *beside) if child.type in _INPUTS]

    def _name_of(self, function: Range | None) -> str:
        """The name of a function of the text, or of the one around it."""
        return max(self.variables.names.get(function, ()), default="") if function is not None else ""

    def _called(self, words: Sequence[Word], node: Node) -> tuple[Word, ...]:
        """The words of a command; where it calls a function that runs its arguments, those of what that runs.

        The name of a function that does something else with them is marked, because it is not a program's name.
        """
        at = next((i for i, word in enumerate(words) if not _ASSIGNED.match(word.text)), len(words))
        name = words[at].text if at < len(words) and not words[at].unknown else ""
        if name not in self.variables.functions:
            other = name in self.variables.engine_functions and self.others is not None and self.others.is_sourced(node)
            return _with_more(words, at) if other else tuple(words)
        tree = self.tree
        function = tree.function_of(node)
        reached = self.variables.called(Call(tree.at(node), name, function=function))
        body = next((self.bodies[place] for place in reversed(reached) if place in self.bodies), None)
        if body is None or (function is None and tree.at(node) < tree.at(body)) or function == tree.range_of(body):
            return tuple(words)
        call = self.variables.call_at(name, tree.at(node)) or Call(tree.at(node), name, function=function)
        if name in ENGINES:
            return self._by_engine_function(words, at, body, call)
        passed = self._passed_for(body, call)
        if passed:
            given = passed[0].given(words[at + 1 :])
            # Else as those of a function that is not known: `retry -n 3 docker run`.
            return (*words[:at], *given) if given is not None else tuple(words)
        return _as_function(words, at)

    def _by_engine_function(self, words: Sequence[Word], at: int, body: Node, call: Call) -> tuple[Word, ...]:
        """What an engine gets by a function of its name.

        Where that is not the same whatever the function decides about, it may get other options.
        """
        passed = self._passed_for(body, call)
        ways = [one.given(words[at + 1 :]) for one in passed]
        if self.tree.range_of(body) in self.variables.perhaps_defined:
            ways.append(list(words[at:]))
        known = [way for way in ways if way is not None]
        same = len({tuple(map(_read_as, _from_engine(way))) for way in known}) == 1
        plain = self._uses_of_arguments(body) == len(passed)
        if known and same and plain and len(known) == len(ways):
            return (*words[:at], *known[0])
        return _with_more(words, at) if passed or self._starts_engine(body) else _as_function(words, at)

    def _uses_of_arguments(self, body: Node) -> int:
        """How many commands of a function do something with its arguments, but for those that print or move them."""
        uses = 0
        for node in walk(body):
            raw = self.tree.raw(node) if node.type in ("command", "variable_assignment") else ""
            uses += _ARGUMENT.search(raw) is not None and not raw.startswith("shift") and not _prints(raw)
        return uses

    def _starts_engine(self, body: Node) -> bool:
        """Whether a function has a command that runs an engine, rather than to print its name."""
        commands = (self.tree.raw(node) for node in walk(body) if node.type == "command")
        return any(mentions_engine(raw) and not _prints(raw) for raw in commands)

    def _passed_for(self, body: Node, call: Call) -> list[_Passed]:
        """How a function runs its arguments for a call."""
        return self._with_calls({self.tree.range_of(body): call}, partial(self._passed_in, body))

    def _with_calls(self, calls: Mapping[Range, Call], read: Callable[[], T]) -> T:
        """What is read where functions are reached by these calls alone."""
        before = dict(self.variables.only)
        self.variables.only.update(calls)
        try:
            return read()
        finally:
            self.variables.only.clear()
            self.variables.only.update(before)

    def _passed_in(self, body: Node) -> list[_Passed]:
        """How a function runs its arguments; nothing where it does something else with them."""
        commands = walk(body) if _ARGUMENT.search(self.tree.raw(body)) else ()
        return [passed for passed in map(self._passed_on, commands) if passed is not None]

    def _passed_on(self, command: Node) -> _Passed | None:
        """How a command runs what its function is given; None where it does not."""
        if command.type != "command" or _ARGUMENT.search(self.tree.raw(command)) is None:
            return None
        parts = [c for c in command.named_children if c.type != "variable_assignment"]
        every = ((i, _ARGUMENTS.fullmatch(self.tree.raw(part))) for i, part in enumerate(parts))
        place, found = next(((i, found) for i, found in every if found is not None), (0, None))
        if found is None:
            return None
        parts_before = [
            child for part in parts[:place]
            for child in (part.named_children if part.type == "command_name" else (part,))
        ]  # fmt: skip
        function = self.tree.function_of(command)
        calls = {function: Call(-1, "")} if function is not None else {}
        named = {word.text for word in self._with_calls(calls, partial(self.words.arguments, parts_before))}
        if not named.isdisjoint({"run", "create"} | TALKERS - {"eval"}):  # whatever the call gives
            return None
        before = self.words.arguments(parts_before)
        moved = self.variables.moved_at(self.tree.at(command), function) if function is not None else 0
        return _Passed(before, None if moved is None else moved + int(found["first"] or 1) - 1)

    def _again(self, node: Node, words: Sequence[Word], span: Span) -> Iterator[Command]:
        """The commands of words that are joined and read once more."""
        yield from (command._replace(span=span) for command in self._joined(node, words, span).read())

    def _joined(self, node: Node, words: Sequence[Word], span: Span) -> _CommandReader:
        """Reads the text that words are when they are joined."""
        offsets: list[int] = []
        for word in words:
            offsets += [*(word.offsets if len(word.offsets) == len(word.text) else [-1] * len(word.text)), -1]
        joined = " ".join(word.text for word in words)
        text = ShellText(self.tree.text.source, joined, offsets[:-1], span, unset=self.tree.text.unset)
        tree = Tree(text, (span.start, self.tree.function_of(node)))
        return type(self)(tree, self.variables, self.depth + 1, joined=True)

    def _quoted(self, node: Node, words: Sequence[Word]) -> Iterator[Command]:
        """Commands in the quoted arguments of a command that runs them: ``bash -c``, ssh, tmux, …"""
        name = next((w.text.rpartition("/")[2] for w in words if "=" not in w.text), "")
        if self.depth >= _NESTING:
            return
        if name in PRINTERS:
            yield from self._printed(node, words)
            return
        if (name in TALKERS and name != "trap") or (name.startswith(("log", "print")) and not also_runs(name)):
            return
        children = [*node.named_children, *self.tree.behind(node)]
        if name not in _READERS and not any(mentions_engine(self.tree.raw(child)) for child in children):
            return
        starts = MAY_START if name in _RUN_TEXTS else STARTS
        for child in map(self._value, children):
            if name in _READERS and child.type in ("string", "simple_expansion", "expansion"):
                yield from self._held(child)
            if child.type == "concatenation" and starts.search(self.tree.raw(child)[1:]):
                yield self._unread(child, f"it is in an argument of `{name}` that is put together from several texts")
            if child.type not in ("string", "raw_string"):
                continue
            inside = self.tree.raw(child)[1:-1]
            if not mentions_engine(inside) or " " not in inside:
                continue
            start = self.tree.char(child.start_byte) + 1
            escapes = '$`"\\' if child.type == "string" else ""
            # A trap runs later, with the values that variables have then.
            at = END if name == "trap" and not escapes else None
            if name != "trap" and talks(name):
                if STARTS.search(inside):
                    yield self._unread(child, f"it is in an argument of `{name}`, which may only print it")
                continue
            found = list(self._nested(child, start, start + len(inside), escapes=escapes, at=at))
            known = name in _RUN_TEXTS or name in self.defined
            yield from found if known else (command._replace(handed=True) for command in found)
            if starts.search(inside) and not any(map(_starts, found)):
                yield self._unread(child, f"it is in an argument of `{name}`, which is not followed")

    def _value(self, node: Node) -> Node:
        """The quoted value of an option that takes a command (``--command="…"``); any other node itself."""
        parts = node.named_children if node.type == "concatenation" else ()
        return parts[1] if len(parts) == 2 and _TAKES_COMMAND.fullmatch(self.tree.raw(parts[0])) else node

    def _unread(self, node: Node, because: str) -> Command:
        """The first line of a node that has a container start which is not read."""
        start = self.tree.char(node.start_byte)
        raw = self.tree.raw(node)
        found = STARTS.search(raw) or MAY_START.search(raw)
        span = self.tree.text.span(start + found.start(), start + found.end()) if found is not None else None
        return Command((Word(""),), span or self.tree.span(node) or self.tree.text.home, unread=because)

    def _printed(self, node: Node, words: Sequence[Word]) -> Iterator[Command]:
        """The commands of a text that is printed, where a shell gets it: ``echo "docker run …" | sh``."""
        printed = " ".join(word.text for word in words)
        if MAY_START.search(printed) is None:
            return
        reader, file = goes_to(self.tree, node)
        text = plainly_printed(words)
        if reader in RUNNERS - {"tee"} and text:
            span = self.tree.span(node) or self.tree.text.home
            other = self._joined(node, text, span)
            other.variables.for_another_shell(self._exported_at(node))
            other.variables.doubtful |= {name for word in text if word.unknown for name in _NAMED.findall(word.text)}
            yield from (command._replace(span=span) for command in other.read())
        elif reader == "tee":
            yield self._unread(node, "it is written to a file by `tee`")
        elif reader in RUNNERS:
            yield self._unread(node, f"the text that `{words[0].text}` gives to `{reader}` is not known")
        elif reader in TAKERS:
            yield self._unread(node, f"its text goes to `{reader}`, which is not followed")
        elif file and STARTS.search(printed) and not PAGE.search(file):  # `docker run $IMAGE failed` goes to a log
            yield self._unread(node, f"it is written to `{file}`")
        elif not file and (reader := read_by_calls(self.tree, node)):
            yield self._unread(node, f"its text goes to `{reader}`, which is not followed")

    def _held(self, node: Node) -> Iterator[Command]:
        """The commands in the text of variables, in an argument that a shell reads: ``eval "cd x && $CMD"``."""
        if node.type == "string":
            if mentions_engine(written := self.tree.raw(node)) and " " in written:
                return  # its commands are read where they are
        elif node.parent is None or (self.tree.raw(node.parent).startswith("eval") and self.words.splits(quoted=False)):
            return  # eval's unquoted words are its own
        buffer = Buffer()
        self.words.add(buffer, node, quoted=True)
        text = "".join(buffer.chars)
        if " " not in text or not mentions_engine(text):
            return
        home = place(self.tree.text.source, buffer.offsets) or self.tree.span(node) or self.tree.text.home
        held = ShellText(self.tree.text.source, text, buffer.offsets, home, unset=self.tree.text.unset)
        tree = Tree(held, (self.tree.at(node), self.tree.function_of(node)))
        yield from type(self)(tree, self.variables, self.depth + 1).read()

    def _exported_at(self, node: Node) -> set[str]:
        """The variables that a program gets which a node starts, where the text may export them."""
        if self._exports is None:
            self._exports = self._where_exported()
        at = END if self.tree.function_of(node) is not None else self.tree.at(node)
        return {name for name, since in self._exports.items() if since < at}

    def _where_exported(self) -> dict[str, int]:
        """The variables that the text may export, and from where on; what a function does may be done anywhere."""
        found = dict.fromkeys(self.variables.of_environment(), -1)
        for name, at in self.tree.exported().items():
            found[name] = min(at, found.get(name, END))
        for name, made in self.variables.made.items():
            places = [one.at for one in made if self.tree.exports_all(one.at)]
            if places:
                found[name] = min(*places, found.get(name, END))
        return found

    def _is_own(self, command: Node | None) -> bool:
        """Whether the text's own shell runs what is written in a command."""
        name = self.tree.raw(command.named_children[0]) if command is not None and command.named_children else ""
        return name in ("eval", "trap") or name in self.defined

    def _nested(
        self, node: Node, start: int, end: int, *, escapes: str = "", at: int | None = None, given: str = ""
    ) -> Iterator[Command]:
        """Commands in a part of the text, in which a backslash hides the characters ``escapes``.

        ``at`` is the place at which they run, where that is another. ``given`` are the words of the program that reads
        them, where these are not around them; variables may be among them.
        """
        whole = self.tree.text
        text, offsets, used_at = whole.text[start:end], whole.offsets[start:end], whole.used_at[start:end]
        expanded = self._expanded(node, text) if escapes else None
        if expanded is not None:
            text, offsets, used_at, escapes = "".join(expanded.chars), expanded.offsets, (), ""
        elif escapes and "\\" in text:
            kept = list(_unescaped(text, escapes))
            text, offsets = "".join(text[i] for i in kept), [offsets[i] for i in kept]
            used_at = [used_at[i] for i in kept] if used_at else ()
        if not escapes:  # between single quotes: a shell reads now what stood for a variable
            text = _STOOD_FOR_VARIABLE.sub(r"${\1}", text)
        home = whole.span(start, end) or whole.home
        nested = ShellText(whole.source, text, offsets, home, used_at, whole.unset)
        tree = Tree(nested, self.tree.place if at is None else (at, None), self.tree.function_of(node))
        reader = type(self)(tree, self.variables, self.depth + 1)
        around = node.parent.parent if node.parent is not None and node.parent.type == "concatenation" else node.parent
        command = around if around is not None and around.type == "command" else None
        own = self._is_own(command)
        inside = reader.variables
        inside.own_arguments |= not escapes  # a text between single quotation marks has its own
        if escapes:  # the shell around has put in values before the one inside sets any
            written = whole.text[start:end]
            set_inside = set(_SETS.findall(text))
            named = set(_NAMED.findall(written))
            inside.doubtful |= (named & set_inside) | {name for name in named if self._holds_quotes(name, node)}
            inside.doubtful |= set() if own else set(_HIDDEN.findall(written)) - set_inside - self._exported_at(node)
        elif not own:
            inside.for_another_shell(self._exported_at(node))
        for name, value in self.tree.set_for(command) if command is not None and not escapes else ():
            inside.note(name, Assignment(self.tree.at(node), partial(self.words.assigned, value)))
        given += self.tree.raw(command)[: max(node.start_byte - command.start_byte, 0)] if command is not None else ""
        inside.given |= set(_SETS.findall(given)) - {name for name, _ in self.tree.set_for(command or node)}
        if not escapes and '"' not in given and "'" not in given:
            self._note_given(inside, given, self.tree.at(node))
        yield from reader.read()

    def _note_given(self, inside: Variables, given: str, at: int) -> None:
        """The variables that a program gets which reads a text: ``sudo NAME=value bash -s``."""
        for name, value in _GIVEN.findall(given):
            inside.given.discard(name)
            inside.note_value(name, value, at)

    def _expanded(self, node: Node, text: str) -> Buffer | None:
        """What the shell makes of a text between double quotation marks, where a value in it has quotation marks too.

        A shell that reads the text takes these away. None where no value has any, or one of the values is not known.
        """
        if node.type != "string" or not any(self._holds_quotes(name, node) for name in set(_NAMED.findall(text))):
            return None
        buffer = Buffer()
        self.words.add(buffer, node, quoted=True)
        return None if buffer.unknown else buffer

    def _holds_quotes(self, name: str, node: Node) -> bool:
        """Whether the value of a variable has quotation marks: a shell that reads it in its text takes them away."""
        held = self.variables.value(name, self.tree.at(node), self.tree.function_of(node))
        return isinstance(held, Buffer) and not _QUOTES.isdisjoint(held.chars)

    def _heredoc(self, node: Node) -> Iterator[Command]:
        """A here-document that a shell is given is a script of its own."""
        inside = self.tree.raw(node)
        if self.depth >= _NESTING or not mentions_engine(inside):
            return
        redirect = node.parent
        statement = redirect.parent if redirect is not None else None
        if redirect is None or statement is None:
            return
        # `cat <<EOF | bash`: the pipe stands inside the redirection
        readers = [c for c in statement.children if c.type == "command"]
        for pipe in (c for c in redirect.children if c.type == "pipeline"):
            readers += [c for c in pipe.children if c.type == "command"]
        names = {name for command in readers for name in names_in(self.tree, command)}
        if not is_run(names):
            file = next((c for c in (*statement.children, *redirect.children) if c.type == "file_redirect"), None)
            taker = self._taker(readers, names)
            script = SCRIPT.search(self.tree.raw(file)) is not None if file is not None else False
            if not script and STARTS.search(inside) and (taker or file is not None):
                because = f"its text goes to `{taker}`, which is not followed" if taker else "it is written to a file"
                yield self._unread(node, because)
            if not script:
                return
        opening = next((self.tree.raw(c) for c in redirect.children if c.type == "heredoc_start"), "")
        escapes = "" if QUOTED_MARK.search(opening) else "$`\\"
        given = " ".join(map(self.tree.raw, readers))
        start, end = self.tree.char(node.start_byte), self.tree.char(node.end_byte)
        yield from self._nested(node, start, end, escapes=escapes, given=given)

    def _taker(self, readers: Sequence[Node], names: Iterable[str]) -> str:
        """The program that does what is not followed with the text that some commands are given."""
        taker = next(iter(sorted(TAKERS.intersection(names))), "") or taken_by(self.tree, readers)
        return taker or next(filter(None, (read_by_calls(self.tree, reader) for reader in readers)), "")

    def _herestring(self, node: Node) -> Iterator[Command]:
        """A text that a shell is given by ``<<<`` is a script of its own."""
        given, command = node.named_children[-1:], self.tree.parents.get(node.id)
        if self.depth >= _NESTING or not given or command is None or not mentions_engine(self.tree.raw(node)):
            return
        names = set(names_in(self.tree, command))
        runs = is_run(names)
        if not runs and STARTS.search(self.tree.raw(given[0])):
            reader, file = goes_to(self.tree, command) if "cat" in names else ("", "")
            taker = reader or self._taker([command], names)
            if taker:
                yield self._unread(given[0], f"its text goes to `{taker}`, which is not followed")
            elif file:
                yield self._unread(given[0], f"it is written to `{file}`")
        elif runs and given[0].type in ("string", "raw_string"):
            start, end = self.tree.char(given[0].start_byte) + 1, self.tree.char(given[0].end_byte) - 1
            escapes = '$`"\\' if given[0].type == "string" else ""
            before = self.tree.raw(command)[: max(node.start_byte - command.start_byte, 0)]
            yield from self._nested(given[0], start, end, escapes=escapes, given=before)


_TEXT = r"\$\([ \t]*cat[ \t]*<<-?[ \t]*\\?[\"']?\w+[\"']?[ \t]*\n\s*"
"""Where the text begins that a variable gets of ``$(cat <<EOF``."""
_BEFORE_START = rf"(?:{_TEXT})?(?:(?:sudo|exec|time|\w+=\S*|\$\{{?\w+\}}?)\s+)*"
_GETS = r"(\w+)(?:\[[^]\n]*\])?\+?=\(?\s*[\"']?"
_HELD_START = rf"{_GETS}{_BEFORE_START}{MAY_START.pattern}"
_HELD_BARE = rf"{_GETS}{_BEFORE_START}{BARE_START}\s*[\"']?\s*\)?\Z"
"""A container start without options, which others may add."""
_ELEMENT_START = rf"(?:\[[^]\n]*\]\+?=)?[\"']{_BEFORE_START}{MAY_START.pattern}"
"""An element of an array that is a container start as a whole."""
_VARIABLE = re.compile(r"\"?\$(?:\{[^}]*\}|\([^)]*\)|\w+|[@*])\"?")
_ELEMENT_KEY = re.compile(r"^(?:\w+(?:\[[^]\n]*\])?|\[[^]\n]*\])\+?=")


_STARTING_LINE = re.compile(
    rf"(?m)^(?:[^#\n\"']*[;&|({{][ \t]*|[ \t]*)(?:(?:then|do|else)[ \t]+)?(?:sudo[ \t]+)?({MAY_START.pattern})"
)
"""A line with a container start, which no comment or text is before."""


class _EngineReader(_CommandReader):
    """Reads the commands that may have to do with an engine."""

    def read(self) -> Iterator[Command]:
        """The commands, and container starts in variables that none of them is known to run.

        ``set -- docker run …`` is read as one where no command is known to run the arguments.
        """
        held = [*self._held_starts(), *self._held_documents()] if self.depth == 0 else []
        lost = list(self._in_broken()) if self.depth == 0 else []
        places: set[int] = set()
        run: set[str] = set()
        kept: list[Command] = []
        for command in super().read():
            if command.words[0].text == "set":
                kept.append(command)
                continue
            alone = (word for word in command.words if word.offsets and " " not in word.text)
            places.update(word.offsets[0] for word in alone if mentions_engine(word.text))
            run.update(_run_in_some_way(command.words))
            if command.words[0].text in ENGINES:
                held_words = [word.text for word in takewhile(_has_no_place, command.words)]
                run.update({" ".join(held_words), " ".join(word.text for word in command.words)} if held_words else ())
            yield command
        for node in held:
            start, end = self.tree.range_of(node)
            if not any(start <= place < end for place in places) and not self._is_among(node, run):
                yield self._unread(node, "no command is known to run what the variable holds")
        yield from (c for c in lost if not any(c.span.start <= place < c.span.end for place in places))
        yield from (c for c in kept if not any(c.span.start <= place < c.span.end for place in places))

    def _in_broken(self) -> Iterator[Command]:
        """The lines with a container start in what the grammar does not understand, as not read."""
        text = self.tree.text
        after = 0
        for start, end in sorted(self.tree.broken):
            for found in _STARTING_LINE.finditer(text.text, max(start, after)):
                if found.start() >= end:
                    break
                after = found.end()
                span = text.span(found.start(1), found.end(1)) or text.home
                yield Command((Word(""),), span, unread="it stands in what cannot be read: a quotation mark, a bracket "
                              "or a here-document before it may not be closed, or the text is too complex")

    def _by_call(self, node: Node) -> Iterator[Command]:
        return self._marked(node, super()._by_call(node))

    def _heredoc(self, body: Node) -> Iterator[Command]:
        return self._marked(body, super()._heredoc(body))

    def _herestring(self, redirect: Node) -> Iterator[Command]:
        return self._marked(redirect, super()._herestring(redirect))

    def _marked(self, node: Node, found: Iterator[Command]) -> Iterator[Command]:
        """The commands of a node, with why none of them runs."""
        for command in found:
            yield command._replace(dead=command.dead or dead(node, self.conditions))

    def _is_among(self, held: Node, run: Iterable[str]) -> bool:
        """Whether a container start that is held is one of the texts that are run, whatever its variables hold."""
        fixed = _VARIABLE.split(_ELEMENT_KEY.sub("", self.tree.raw(held)).strip("'\"()"))
        return any(_is_made_of(text, fixed) for text in run)

    def _held_starts(self) -> Iterator[Node]:
        """What holds a container start as a text: the value of a variable, or elements of an array."""
        for node in self.tree.nodes:
            raw = self.tree.raw(node) if node.type == "variable_assignment" else ""
            if not raw or not mentions_engine(raw):
                continue
            value = node.child_by_field_name("value")
            items = value.named_children if value is not None and value.type == "array" else ()
            texts = [item for item in items if re.match(_ELEMENT_START, self.tree.raw(item))]
            yield from texts or ([node] if re.match(_HELD_START, raw) or self._is_for_others(raw) else ())

    def _is_for_others(self, raw: str) -> bool:
        """Whether an assignment gives a variable a container start that only others use: those that source the text."""
        bare = re.match(_HELD_BARE, raw)
        return bare is not None and re.search(rf"\$\{{?[#!]?{bare[1]}\b", self.tree.text.text) is None

    def _held_documents(self) -> Iterator[Node]:
        """The here-documents with a container start that variables get, where a shell reads these."""
        for body in self.tree.nodes:
            if body.type != "heredoc_body" or STARTS.search(self.tree.raw(body)) is None:
                continue
            redirect = self.tree.parents[body.id]
            statement = self.tree.parents.get(redirect.id)
            first = statement.named_children[0] if statement is not None and statement.named_children else None
            if first is None:
                continue
            if first.type == "while_statement":
                if any(self._runs_variable(node, "") for node in walk(first)):
                    yield body
            elif first.type == "command" and (name := self._set_by_reading(first)):
                loops = (node for node in self.tree.nodes if node.type == "for_statement")
                inside = (node for loop in loops if name in self.tree.raw(loop) for node in walk(loop))
                direct = any(self._runs_variable(node, name) for node in self.tree.nodes)
                if direct or any(self._runs_variable(node, "") for node in inside):
                    yield body

    def _set_by_reading(self, command: Node) -> str:
        """The variable that a command sets to what it reads; empty where it sets none."""
        words = [self.tree.raw(part) for part in command.named_children if part.type != "variable_assignment"]
        return words[-1] if words[0] in ("read", "mapfile", "readarray") and words[-1].isidentifier() else ""

    def _runs_variable(self, node: Node, name: str) -> bool:
        """Whether a shell reads the text of a variable, or of any."""
        raw = self.tree.raw(node) if node.type == "command" else ""
        first = raw.partition(" ")[0].strip("\"'{}")
        named = set(_NAMED.findall(raw))
        runs = first in _READERS or (first.startswith("$") and first.strip("${}") in named)
        return runs and (name in named if name else bool(named))

    def _is_read(self, node: Node) -> bool:
        raw = " ".join(map(self.tree.raw, (node, *self.tree.behind(node))))
        name = next(iter(raw.split(None, 1)), "")
        if name in _PRINTING and name not in self.defined and not holds_one(raw, _JOINING):
            prints_start = name in PRINTERS and ("$" in raw or STARTS.search(raw) is not None)
            if not prints_start or goes_to(self.tree, node) != ("", ""):
                return prints_start
            return STARTS.search(raw) is not None and bool(read_by_calls(self.tree, node))
        if _names_engine(raw):
            return not _only_asks(raw)
        if name in self.defined:
            return "run" in raw or "create" in raw or self._passes_on(name)
        if "$" in raw or "`" in raw:
            return name not in _FILE_TOOLS or name in self.variables.functions
        return bool(self.defined) and not self.defined.isdisjoint(re.split(r"[\s<>]+", raw.translate(_QUOTING)))

    def _passes_on(self, name: str) -> bool:
        """Whether a function of the text runs what it is given."""
        known = self._passing.get(name)
        if known is None:
            places = self.variables.functions.get(name, ())
            bodies = [self.bodies[place] for place in places if place in self.bodies]
            known = self._passing[name] = any(self._passed_in(body) for body in bodies)
        return known

    def _when(self, node: Node) -> When:
        return "always"

    def _branches(self) -> None:
        """A launch is judged by all branches: its reader may run the script otherwise."""


def _read_as(word: Word) -> tuple[object, ...]:
    """What a word says, wherever it is; what one that decides nothing may be does not matter."""
    unknown = word.unknown._replace(values=()) if word.unknown is not None and word.harmless else word.unknown
    return word.text, unknown, word.maybe_many, word.harmless, word.options


def _file_of(redirect: Node) -> list[Node]:
    """The file of a redirection; words of the command may be behind it."""
    return redirect.children_by_field_name("destination")[:1]


def _from_engine(words: Sequence[Word]) -> Sequence[Word]:
    """The words of a command from the name of its engine on."""
    at = next((i for i, word in enumerate(words) if word.text.rpartition("/")[2] in ENGINES), 0)
    return words[at:]


def _prints(raw: str) -> bool:
    """Whether a command prints its words, by its name."""
    name = raw.partition(" ")[0]
    return talks(name) and name not in ENGINES


def _as_function(words: Sequence[Word], at: int) -> tuple[Word, ...]:
    """The words of a command whose name is that of a function, which is marked."""
    return (*words[:at], words[at]._replace(text=f"{words[at].text}()"), *words[at + 1 :])


def _with_more(words: Sequence[Word], at: int) -> tuple[Word, ...]:
    """The words of a container start by a function of the engine's name, which may add options."""
    verb = next((i for i, word in enumerate(words[: at + 3]) if i > at and word.text in ("run", "create")), None)
    if verb is None:
        return tuple(words)
    name = words[at].text
    more = Word(f"{name}()", None, Cause("function", name), True, options=True, used=words[at].span)
    return (*words[: verb + 1], more, *words[verb + 1 :])


def _starts(command: Command) -> bool:
    return any(word.text.rpartition("/")[2] in ENGINES for word in command.words)


def _is_made_of(text: str, fixed: Sequence[str]) -> bool:
    """Whether a text consists of fixed parts with anything between them."""
    if len(fixed) == 1 or not text.startswith(fixed[0]):
        return text == fixed[0]
    at = len(fixed[0])
    for part in fixed[1:-1]:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return text.endswith(fixed[-1]) and at + len(fixed[-1]) <= len(text)


def _has_no_place(word: Word) -> bool:
    """Whether a word stands nowhere as it is: it is computed, or some of an array."""
    return all(at < 0 for at in word.offsets)


def _run_in_some_way(words: Sequence[Word]) -> Iterator[str]:
    """The texts that a command begins with, one in each branch, where all of them name an engine."""
    for word in words:
        values = word.values if word.maybe_many else ()
        if any(values):
            yield from values if all(map(mentions_engine, filter(None, values))) else ()
            return


def _depends_on_call(command: Command) -> bool:
    """Whether a command that starts a container may be another at another call of its function."""
    words = command.words
    return any(word.unknown for word in words) and any(
        mentions_engine(word.text) or word.text in ("run", "create") for word in words
    )


def _is_read_again(words: Sequence[Word]) -> bool:
    """Whether a shell reads the words once more, and finds quotation marks in them."""
    names = {word.text.rpartition("/")[2] for word in words}
    if words[0].text == "eval" and any(word.text.split(" ")[0] in ENGINES and " " in word.text for word in words[1:-1]):
        return True  # `eval "docker run" IMAGE`
    return (
        not _JOINING.isdisjoint(names)
        and not names.isdisjoint(ENGINES)
        and any(mark in word.text for word in words for mark in "'\"\\")
        and not any(word.unknown for word in words if "'" in word.text or '"' in word.text)
    )


def _unescaped(text: str, escapes: str) -> Iterator[int]:
    """The characters of a double-quoted text that the inner shell gets."""
    i = 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text) and text[i + 1] in escapes:
            i += 1
        yield i
        i += 1

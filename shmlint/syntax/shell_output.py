"""Where what a command of a shell text prints goes: to a shell that runs it, to another program, to a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.word import TALKERS, Word

if TYPE_CHECKING:
    from tree_sitter import Node

Arguments = Callable[[Sequence["Node"]], list[Word]]
"""How the words of a command are read."""

RUNNERS = frozenset({
    "bash", "sh", "zsh", "dash", "ksh", "ssh", "su", "sudo", "newgrp", "sg", "tee", "srun", "pdsh", "at", "batch",
})  # fmt: skip
"""Commands that run the here-document they are given, or write it where it is run."""

TAKERS = frozenset({"crontab", "xargs", "parallel", "python", "python3", "perl", "docker", "podman"})
"""Commands that do with a text what is not followed."""



def is_run(names: Collection[str]) -> bool:
    """Whether a program among the first words of a command runs the text that it is given; ``sudo`` only starts one."""
    runners = RUNNERS.intersection(names)
    return bool(runners) and not (runners == {"sudo"} and not TAKERS.isdisjoint(names))


PRINTERS = frozenset({"echo", "printf"})

SCRIPT = re.compile(r"\.(?:sh|bash|command)['\"]?\Z")
"""The name of a script, at the end of a redirection."""

PAGE = re.compile(r"\.(?:md|rst|log|html)['\"]?\Z")
"""The name of a file that people read."""

_TO_FILE = re.compile(r"1?>(?!&)")


def goes_to(tree: Tree, node: Node) -> tuple[str, str]:
    """The program that gets what a command prints, or the file that it is written to; empty where there is none."""
    for inner, here in pairwise([node, *tree.around(node)]):
        if here.type == "redirected_statement":
            for redirect in here.children:
                target = redirect.child_by_field_name("destination") if redirect.type == "file_redirect" else None
                if target is not None and _TO_FILE.match(tree.raw(redirect)) and "/dev/" not in tree.raw(target):
                    return "", tree.raw(target)
        elif here.type == "pipeline":
            after = next((child for child in here.named_children if child.start_byte >= inner.end_byte), None)
            if after is not None:
                return _reader(tree, after.named_children[0] if after.type == "redirected_statement" else after), ""
        elif here.type == "process_substitution":  # `bash <(echo …)`
            command = tree.parents.get(here.id)
            return _reader(tree, command), ""
        elif here.type not in ("subshell", "compound_statement", "list"):
            break
    return "", ""


def read_by_calls(tree: Tree, node: Node) -> str:
    """The program that gets what the function prints that a node is in, where one of its calls hands that on.

    ``f | ssh host bash``, ``eval "$(f)"``; a copy by ``tee`` is for people.
    """
    function = next((around for around in tree.around(node) if around.type == "function_definition"), None)
    name = function.child_by_field_name("name") if function is not None else None
    for call in tree.commands_of(tree.raw(name)) if name is not None else ():
        reader, _ = goes_to(tree, call)
        inside = next((around for around in tree.around(call) if around.type == "command_substitution"), None)
        if not reader and inside is not None and len(inside.named_children) == 1:
            around = next((around for around in tree.around(inside) if around.type == "command"), None)
            names = names_in(tree, around) if around is not None else []
            reader = next((name for name in names if name == "eval" or name in RUNNERS - {"sudo"}), "")
        if reader not in ("", "tee"):
            return reader
    return ""


def _reader(tree: Tree, command: Node | None) -> str:
    """The program that a command starts, if it reads texts."""
    names = names_in(tree, command) if command is not None else []
    return next((name for name in names if name in RUNNERS | TAKERS and name != "sudo"), "")


def names_in(tree: Tree, command: Node) -> list[str]:
    """The first words of a command, among which the program is that it starts: ``sudo -u me bash``.

    A variable that is called after ssh is that: ``$SSH host``.
    """
    parts = [tree.raw(part) for part in command.named_children[:_MOST_BEFORE]]
    names = [part.rpartition("/")[2] for part in parts]
    several = names[:1] and (names[0] in _BEFORE or _VARIABLE.match(parts[0]) is not None)
    return ["ssh" if _VARIABLE.match(name) else name for name in names[: len(names) if several else 3]]


_MOST_BEFORE = 8
_BEFORE = frozenset({"command", "doas", "env", "exec", "nice", "nohup", "setsid", "sshpass", "sudo", "time", "timeout"})
"""Programs that start another one, which comes after their own options."""
_VARIABLE = re.compile(r"\"?\$\{?(?:\w*_)?ssh(?:_\w*)?\}?\"?$", re.IGNORECASE)


def taken_by(tree: Tree, readers: Sequence[Node]) -> str:
    """The program that gets a text as its input, where that is neither printed nor kept by the shell itself."""
    names = [name for command in readers for name in names_in(tree, command)[:1]]
    strange = [name for name in names if name not in TALKERS | _KEEPS and name.isidentifier()]
    return strange[0] if len(strange) == len(names) == 1 else ""


_KEEPS = frozenset(
    {"mapfile", "readarray", "head", "tail", "less", "more", "mail", "gh", "jq", "tr", "sort", "wall", "curl"}
)
"""Programs that print a text, or send it to a person."""


def printed(tree: Tree, statement: Node, arguments: Arguments) -> tuple[str, ...]:
    """What a statement may print, each text by itself, where ``echo`` prints all of it; empty where that is not known.

    ``[ -t 0 ] && echo -it``, ``if has_gpu; then echo "--gpus all"; fi``: what they ask prints nothing.
    """
    if statement.type == "redirected_statement" and _ERRORS.search(tree.raw(statement)) is not None:
        return printed(tree, statement.named_children[0], arguments)
    if statement.type == "command":
        return _by_command(tree, statement, arguments)
    if statement.type == "list" and len(statement.named_children) == 2:
        first, second = statement.named_children
        then = printed(tree, second, arguments)
        if not then:
            return ()
        either = any(child.type == "||" for child in statement.children)
        before = printed(tree, first, arguments) if either else ()
        if before:
            return tuple(dict.fromkeys((*filter(None, before), *then)))  # the first printed, or the second does
        return ("", *then) if _is_silent(tree, first) else ()
    if statement.type == "if_statement":
        return _by_branches(tree, statement, arguments)
    return ()


_ERRORS = re.compile(r"[^<>]*[ \t]2>>?[ \t]*(?:/dev/null|&1)[ \t]*\Z")
_FINDS = re.compile(r"(?:command[ \t]+-v|type[ \t]+-[pP]|which)[ \t]+([\w.-]+)[ \t]*")
"""What prints the path of a program: its name does for that."""
_NOTHING = re.compile(r"true|:")


def _by_command(tree: Tree, command: Node, arguments: Arguments) -> tuple[str, ...]:
    raw = tree.raw(command)
    path = _FINDS.fullmatch(raw)
    if path is not None:
        return (path[1],)
    if _NOTHING.fullmatch(raw) is not None:
        return ("",)
    if tree.raw(command.named_children[0]) not in PRINTERS:
        return ()
    words = arguments(command.named_children)
    if any(word.unknown for word in words[1:]):
        return ()
    texts = [word.text for word in plainly_printed(words)]
    return (" ".join(texts),) if texts else ()


def _by_branches(tree: Tree, statement: Node, arguments: Arguments) -> tuple[str, ...]:
    """What the branches of an ``if`` print; without ``else`` it may be nothing."""
    found: list[str] = []
    branches = [child for child in statement.named_children if child.type in ("elif_clause", "else_clause")]
    own = [child for child in statement.named_children if child not in branches]
    groups = [own, *(branch.named_children for branch in branches)]
    for branch, parts in zip((statement, *branches), groups, strict=True):
        asked = 0 if branch.type == "else_clause" else 1
        if len(parts) != asked + 1 or not all(_is_silent(tree, part) for part in parts[:asked]):
            return ()
        texts = printed(tree, parts[asked], arguments)
        if not texts:
            return ()
        found += texts
    return tuple(dict.fromkeys(found if branches and branches[-1].type == "else_clause" else ["", *found]))


def _is_silent(tree: Tree, node: Node) -> bool:
    """Whether a command that is asked prints nothing: a test, one whose output is thrown away, one called so."""
    if node.type in ("test_command", "negated_command") or _THROWN_AWAY.search(tree.raw(node)) is not None:
        return True
    if node.type == "list":
        return all(_is_silent(tree, child) for child in node.named_children)
    if node.type == "pipeline":
        return _is_silent(tree, node.named_children[-1])
    return node.type == "command" and _ASKS.match(tree.raw(node)) is not None


_THROWN_AWAY = re.compile(r"(?:&>>?|(?<![2-9])>>?&?)[ \t]*/dev/null")
_ASKS = re.compile(
    r"(?:\[|test\b|tty -s|grep -\w*q|(?:\w+_)?(?:has|have|is|exists?|check|need|use)(?:_\w+)?(?=[ \t]|$))"
)
"""Tests, and programs or functions that are called as if they were some."""


def plainly_printed(words: Sequence[Word]) -> Sequence[Word]:
    """What ``echo`` and ``printf`` print, as words; nothing where they change the text or put others into it."""
    rest = list(words[1:])
    if words[0].text == "printf":
        if len(rest) == 2 and rest[0].text in ("%s", "%s\\n"):
            rest = rest[1:]
        elif len(rest) == 1 and "%" not in rest[0].text:
            kept = rest[0].text.removesuffix("\\n")
            rest = [rest[0]._replace(text=kept, offsets=rest[0].offsets[: len(kept)])]
        else:
            return ()
    while rest and words[0].text == "echo" and re.fullmatch("-[neE]+", rest[0].text):
        rest = rest[1:]
    return () if any("\\" in word.text for word in rest) else rest

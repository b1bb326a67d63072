"""The variables that a CI file sets for its scripts, as far as nothing else sets them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.formats.expressions import options_among
from shmlint.syntax.shell_variables import ANY, Environment, may_set, set_to_options
from shmlint.syntax.yaml import Alias, MappingNode, Node, Scalar, SequenceNode

_KEYS = ("env", "variables", "environment")
_BEFORE = frozenset({"before_script", "before_install", "install"})
"""Keys of scripts that run before others in the same shell."""
_TOLD = ("GITHUB_ENV", "BASH_ENV", "task.setvariable", "dotenv", "buildkite-agent env set")
"""By these a step hands variables to those after it."""
_ECHO = re.compile(r"[^\w\n#]*(?:run:\s*)?echo\s+[\"']?([A-Za-z_]\w*)=[^\\\n]*")
_FILE = r"\s*[\"']?\$(?:GITHUB_ENV|\{GITHUB_ENV\})[\"']?\s*"
_TO_FILE = re.compile(_FILE)
_LITERAL = re.compile(rf"\s*echo\s+([\"']?)([A-Za-z_]\w*)=([\w./:@+,-]*)\1\s*>>{_FILE}")
_DECIDES = r"\b(?:if|for|while|until|case|select|function|exit|return|exec)\b|\|\||&&|[(){}]|<<|\\\n"
"""What may be around a line that is so not certain to run."""


def around(unsure: frozenset[str]) -> Environment:
    """What is set for all scripts of a file."""
    return {ANY: None} if ANY in unsure else dict.fromkeys(unsure)


def within(environment: Environment, node: MappingNode, unsure: frozenset[str]) -> Environment:
    """What is set for the scripts in a mapping: ``env`` of GitHub, ``variables`` of GitLab, and the like."""
    pairs = () if ANY in unsure else tuple(given(node))
    if not pairs:  # most mappings; a copy for each would make many of a large one
        return environment
    inner = dict(environment)
    for name, value in pairs:
        inner[name] = None if value is None or "$" in value or name in unsure else value
    return inner


def given(node: MappingNode) -> Iterator[tuple[str, str | None]]:
    """The variables that a mapping sets, and their values."""
    for key in _KEYS:
        values = node.get(key)
        for name, value in values.pairs if isinstance(values, MappingNode) else ():
            inner = value.get("value") if isinstance(value, MappingNode) else value
            if isinstance(name, Scalar):
                yield name.value, inner.value if isinstance(inner, Scalar) else None


def names_for_options(root: Node, text: str) -> frozenset[str]:
    """The variables that anything in a file sets to options, whatever else they may be: a matrix and inputs too."""
    found: set[str] = set()
    values: list[tuple[str, str]] = []
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, key = stack.pop()
        if isinstance(node, MappingNode):
            values += [(name, value) for name, value in given(node) if value is not None]
            for inner_key, inner in node.pairs:
                name = inner_key.value if isinstance(inner_key, Scalar) else ""
                stack.append((inner, key if name == "default" else name))
        elif isinstance(node, SequenceNode):
            stack += [(item, key) for item in node.items]
        elif isinstance(node, Scalar):
            found |= set_to_options(node.value) if key in _BEFORE else set()
            found |= {key} if node.value.lstrip().startswith("-") else set()
    expressions = set(options_among(text, found))
    for name, value in values:
        first = value.lstrip().partition("}}")[0]
        found |= {name} if first.startswith("${{") and any(options_among(f"{first}}}}}", found)) else set()
    return frozenset(found | expressions)


def handed_on(text: str, told: Sequence[str] = _TOLD) -> set[str]:
    """The variables that steps hand to those after them; ``ANY`` unless all are written out: ``echo NAME=…``."""
    found: set[str] = set()
    if any(word in text for word in told):
        for line in text.splitlines():
            if any(word in line for word in told):
                echo, _, file = line.rpartition(">>")
                named = _ECHO.fullmatch(echo)
                found.add(named[1] if named is not None and _TO_FILE.fullmatch(file) is not None else ANY)
    return found


def handed_values(text: str) -> dict[str, str | None]:
    """The variables that a step hands to those after it, ``ANY`` for others; None where a value is not known."""
    found: dict[str, str | None] = {}
    decided = re.search(_DECIDES, text) is not None
    for line in text.splitlines():
        literal = _LITERAL.fullmatch(line) if not decided else None
        found |= {literal[2]: literal[3]} if literal is not None else dict.fromkeys(handed_on(line))
    return found


def unsure_names(root: Node, text: str) -> frozenset[str]:
    """The variables that a script may find with another value than the mappings around it give them.

    What runs before it in the same shell may set them, a matrix or a rule too; and a script that is in a
    template or under an anchor runs with the variables of each job that uses it.
    """
    found = handed_on(text)
    if ANY in found:
        return frozenset((ANY,))
    values: dict[str, set[str | None]] = {}
    reused = "!reference" in text
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, key = stack.pop()
        if isinstance(node, Alias):
            reused = True
        elif isinstance(node, MappingNode):
            reused = reused or node.get("extends") is not None
            for name, value in given(node):
                values.setdefault(name, set()).add(value)
                if key == "rules":
                    found.add(name)
            for inner_key, inner in node.pairs:
                name = inner_key.value if isinstance(inner_key, Scalar) else ""
                if key == "matrix":
                    found.add(name)
                kept = key in _BEFORE or (key == "matrix" and name not in _KEYS)
                stack.append((inner, key if kept else name))
        elif isinstance(node, SequenceNode):
            stack += [(item, key) for item in node.items]
        elif isinstance(node, Scalar) and key in _BEFORE:
            found |= may_set(node.value)
    return frozenset(found | {name for name, some in values.items() if reused and len(some) > 1})

"""Scripts with the expressions of a CI system in them, such as ``${{ matrix.gpu }}``."""

from __future__ import annotations

import re
from collections.abc import Callable

from shmlint.model.launch import Launch
from shmlint.model.source import Source
from shmlint.syntax.shell_text import ShellText, not_set
from shmlint.syntax.yaml import Scalar
from shmlint.syntax.yaml_text import scalar_text

_EXPRESSION = re.compile(
    r"\$\{\{.*?\}\}|\{\{.*?\}\}|<<[ \t]*(?:parameters|pipeline|matrix)\.[\w.-]+[ \t]*>>", re.S
)
"""The last one is CircleCI's."""
_PLACEHOLDER = re.compile(r"(?<!\$)\{\{.*?\}\}")


def shell_text(node: Scalar, source: Source) -> ShellText:
    """The text of a YAML scalar as a shell gets it, its expressions as variables that nothing sets."""
    return with_variables(scalar_text(node, source))


def with_variables(text: ShellText) -> ShellText:
    """A text with its expressions as variables of the same length, which no script sets."""
    return text._replace(text=_replaced(_EXPRESSION, _as_variable, text.text), unset=_unset)


def without_placeholders(line: str) -> str:
    """A line with its ``{{ }}`` overwritten, which YAML would read as mappings."""
    return _replaced(_PLACEHOLDER, lambda found: "_" * len(found[0]), line)


def why_unknown(text: str) -> str:
    """Why a value is not known; empty where it holds no expression."""
    return "it depends on an expression" if "${{" in text else ""


def _replaced(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """A text with its expressions replaced. After the last ``}}`` none is closed: nothing is looked for there."""
    end = max(text.rfind("}}"), text.rfind(">>")) + 2
    return pattern.sub(replace, text[:end]) + text[end:] if end > 1 else text


def _as_variable(match: re.Match[str]) -> str:
    """``${{ matrix.gpu }}`` as a variable."""
    written = match[0]
    name = re.sub(r"\W", "_", written[3:-1])
    return f"${{_{name}}}" if name else "_" * len(written)


def _unset(name: str) -> str:
    """Why a variable is not known: those that begin and end in `_` stand for expressions."""
    return "it depends on an expression" if re.fullmatch(r"_\w*_", name) else not_set(name)


def as_written(launch: Launch) -> Launch:
    """A launch that speaks of the expressions that are there, not of the variables they were read as."""
    image, said = launch.image, launch.words
    if image is not None and image.because and _EXPRESSION.search(image.span.text):
        text = image.span.text
        said = said._replace(launch=said.launch.replace(image.text, text))
        image = image._replace(value=text, text=text, because="it depends on an expression")
    return launch._replace(image=image, words=said)

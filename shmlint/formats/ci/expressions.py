"""Scripts with the expressions of a CI system in them, such as ``${{ matrix.gpu }}``."""

from __future__ import annotations

import re
from collections.abc import Callable

from shmlint.model.launch import Launch
from shmlint.model.source import Source
from shmlint.syntax.shell_text import ShellText, not_set
from shmlint.syntax.yaml import Scalar
from shmlint.syntax.yaml_text import scalar_text


def why_unknown(text: str) -> str:
    return "it depends on an expression" if "${{" in text else ""


EXPRESSION = re.compile(r"\$\{\{.*?\}\}|\{\{.*?\}\}", re.S)
PLACEHOLDER = re.compile(r"(?<!\$)\{\{.*?\}\}")


def replaced_in(pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str], text: str) -> str:
    """A text with its ``{{ }}`` replaced. Behind the last ``}}`` none is closed: nothing is looked for there."""
    end = text.rfind("}}") + 2
    return pattern.sub(replaced, text[:end]) + text[end:] if end > 1 else text


def shell_text(node: Scalar, source: Source) -> ShellText:
    """The text of a YAML scalar as a shell gets it, its expressions as variables that nothing sets."""
    text = scalar_text(node, source)
    return text._replace(text=replaced_in(EXPRESSION, as_variable, text.text), unset=why_unset)


def as_variable(match: re.Match[str]) -> str:
    """``${{ matrix.gpu }}`` as a variable of the same length, which no script sets."""
    written = match[0]
    name = re.sub(r"\W", "_", written[3:-1])
    return f"${{_{name}}}" if name else "_" * len(written)


def why_unset(name: str) -> str:
    """Why a variable is not known: those that begin and end in `_` stand for expressions."""
    return "it depends on an expression" if re.fullmatch(r"_\w*_", name) else not_set(name)


def as_written(launch: Launch) -> Launch:
    """A launch that speaks of the expressions that stand there, not of the variables they were read as."""
    image, said = launch.image, launch.words
    if image is not None and image.because and EXPRESSION.search(image.span.text):
        text = image.span.text
        said = said._replace(launch=said.launch.replace(image.text, text))
        image = image._replace(value=text, text=text, because="it depends on an expression")
    return launch._replace(image=image, words=said)

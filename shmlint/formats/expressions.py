"""Scripts with expressions in them that something else replaces first: ``${{ matrix.gpu }}``, ``{{ shm_size }}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeVar

from shmlint.formats.shell.run import with_texts
from shmlint.model.launch import Launch, Unknown, Value
from shmlint.model.source import Source
from shmlint.syntax.shell_text import CLOSE_BRACE, OPEN_BRACE, ShellText, not_set, restore
from shmlint.syntax.template import EXPRESSION
from shmlint.syntax.word import Cause
from shmlint.syntax.yaml import Scalar
from shmlint.syntax.yaml_text import scalar_text

T = TypeVar("T")

_EXPRESSION = re.compile(EXPRESSION)
OF_CI = re.compile(r"\$\{\{[^\n]*?\}\}")
"""An expression of GitHub's or Azure's workflows in a command that was copied out of one: no shell understands it."""
_PLACEHOLDER = re.compile(r"(?<!\$)\{\{.*?\}\}")


def shell_text(node: Scalar, source: Source) -> ShellText:
    """The text of a YAML scalar as a shell gets it, its expressions as variables that nothing sets."""
    return with_variables(scalar_text(node, source))


def with_variables(text: ShellText, pattern: re.Pattern[str] = _EXPRESSION) -> ShellText:
    """A text with its expressions as variables of the same length, which no script sets."""
    return text._replace(text=_replaced(pattern, as_variable, text.text), unset=unset)


def without_placeholders(line: str) -> str:
    """A line with its ``{{ }}`` overwritten, which YAML would read as mappings."""
    return _replaced(_PLACEHOLDER, lambda found: "_" * len(found[0]), line)


UNKNOWN = Cause("expression")


def why_unknown(text: str) -> Cause | None:
    """Why a value is not known; None where it holds no expression."""
    return UNKNOWN if "${{" in text else None


def _replaced(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """A text with its expressions replaced."""
    end = _closed(text)
    return pattern.sub(replace, text[:end]) + text[end:] if end else text


def _closed(text: str) -> int:
    """The end of the last expression that is closed: nothing is looked for after it."""
    end = max(map(text.rfind, ("}}", ">>", "]]")))
    return end + 2 if end >= 0 else 0


def as_variable(match: re.Match[str]) -> str:
    """``${{ matrix.gpu }}`` as a variable; between single quotes the shell would take one for text."""
    written = match[0]
    name = re.sub(r"\W", "_", written[3:-1])
    quoted = match.string.count("'", match.string.rfind("\n", 0, match.start()) + 1, match.start()) % 2 == 1
    before, after = (OPEN_BRACE, CLOSE_BRACE) if quoted else ("{", "}")
    return f"${before}_{name}{after}" if name else "_" * len(written)


def of_environment(environment: Mapping[str, str | None]) -> dict[str, str | None]:
    """The variables as which ``${{ env.NAME }}`` is read, for those of an environment."""
    expressions = {f"${{{{{blank}env.{name}{blank}}}}}": name for name in environment for blank in (" ", "")}
    matches = ((_EXPRESSION.match(text), name) for text, name in expressions.items())
    return {as_variable(match).strip("${}"): environment[name] for match, name in matches if match is not None}


def options_among(text: str, names: Collection[str]) -> Iterator[str]:
    """The variables for expressions that are nothing but one of the ``names``: ``${{ matrix.gpu }}``."""
    for found in _EXPRESSION.finditer(text, 0, _closed(text)):
        if found[0].strip("${}<> \t").rpartition(".")[2] in names:
            yield restore(as_variable(found)).strip("${}")


def unset(name: str) -> Cause:
    """Why a variable is not known: those that begin and end in `_` stand for expressions."""
    return UNKNOWN if re.fullmatch(r"_\w*_", name) else not_set(name)


def written_in(source: Source) -> Callable[[str], str]:
    """Puts the expressions of a file in the place of the variables that they were read as, and of their names."""
    found = _EXPRESSION.finditer(source.text, 0, _closed(source.text))
    names = {restore(as_variable(match)).strip("${}"): match[0] for match in found}

    def written(text: str) -> str:
        return re.sub(_NAME, lambda found: names.get(found[1], found[0]), text) if names and "_" in text else text

    return written


_NAME = re.compile(r"(?<!\w)(?:\$\{)?(_\w*_)(?!\w)\}?")
"""The variable that stands for an expression, or only its name."""


def with_expressions(launch: Launch, written: Callable[[str], str]) -> Launch:
    """A launch with the expressions that are there, not with the variables they were read as."""
    launch, image = with_texts(launch, written), launch.image
    shm, ipc, undecided = launch.shm, launch.ipc, launch.undecided
    launch = launch._replace(
        shm=_with_reason(shm, written) if shm is not None else None,
        ipc=_with_reason(ipc, written) if ipc is not None else None,
        undecided=undecided and undecided._replace(because=written(undecided.because)),
    )
    if image is None or not image.because or not _EXPRESSION.search(image.span.text) or launch.image is None:
        return launch
    text = launch.image.text if _EXPRESSION.search(launch.image.text) else image.span.text
    return launch._replace(
        image=launch.image._replace(value=text, text=text, because=UNKNOWN.sentence),
        words=launch.words._replace(image=text),
    )


def _with_reason(value: Value[T], written: Callable[[str], str]) -> Value[T]:
    """A value that says why it is not known as the file has it."""
    because = value._replace(because=written(value.because))
    if isinstance(value.value, Unknown):
        return because._replace(value=value.value._replace(because=written(value.value.because)))
    return because

"""What the templates of Jinja, cookiecutter and the like hold, in files whose names do not say that they are some."""

from __future__ import annotations

import re
from collections.abc import Iterator

PLACEHOLDER = re.compile(
    r"\{\{(?<![$\\].{2})-?[ \t]*(?!(?:end|else|range|with|if|json|len|print\w*|index|slice|join)\b)"
    r"[A-Za-z_][^{}\n]*\}\}"
)
"""What is replaced by a value: ``{{ shm_size | default("8g") }}``. Go's templates name what they are given with a dot,
and are mostly for the program that gets them: ``--format "{{.State}}"``. ``${{ x }}`` is of CI systems."""

EXPRESSION = (
    r"\$\{\{(?s:.*?)\}\}|\{\{(?s:.*?)\}\}|<<[ \t]*(?:parameters|pipeline|matrix)\.[\w.-]+[ \t]*>>"
    r"|\$\[\[[ \t]*inputs\.[^\]\n]*\]\]"
)
"""What a CI system or a template engine replaces, as a pattern. The last ones are those of CircleCI and GitLab."""

_STATEMENT = re.compile(
    r"^[ \t]*(?:(?:#|//)[ \t]*)?\{%[-+]?[ \t]*(?:if|for|set|raw|block|macro|include|import|from|extends|with)\b", re.M
)


_OF_DEV_CONTAINERS = "${templateOption:"
"""An option of a template of dev containers, in any of its files:
https://github.com/devcontainers/spec/blob/ecc54b9d805e4a2b195fe234e505d18f8033c1e3/docs/specs/devcontainer-templates.md
"""


def has_placeholder(text: str) -> bool:
    """Whether a template engine puts values into a text before anything else reads it."""
    return ("{{" in text and PLACEHOLDER.search(text) is not None) or _OF_DEV_CONTAINERS in text


def statements(text: str) -> Iterator[int]:
    """The offsets of statements at the start of lines, which may leave out lines or repeat them."""
    return (found.start() for found in _STATEMENT.finditer(text)) if "{%" in text else iter(())

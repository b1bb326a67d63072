"""The rule pages and the knowledge base, wherever the package was installed from.

A wheel carries them inside the package, a checkout has them at its top.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from shmlint.finding import Severity

_HERE = os.path.dirname(os.path.abspath(__file__))


class Rule(NamedTuple):
    """What a rule is called and how severe it is where nothing better is known."""

    id: str
    name: str
    severity: Severity
    default: bool = True
    """Whether it runs unless asked for."""

    @property
    def help(self) -> str:
        """Where the rule's page can be read."""
        return f"https://github.com/shmlint/shmlint/blob/main/rules/{self.id}-{self.name}.md"


def directory() -> str:
    """The directory with the rule pages. Raises FileNotFoundError for a broken installation."""
    for place in (os.path.join(_HERE, "rules"), os.path.join(os.path.dirname(_HERE), "rules")):
        if os.path.exists(os.path.join(place, "workloads.json")):
            return place
    raise FileNotFoundError("the rule pages are missing from this installation of shmlint")


def page(rule: Rule) -> str:
    """The text of a rule's page. Raises OSError where it is missing."""
    with open(os.path.join(directory(), f"{rule.id}-{rule.name}.md"), encoding="utf-8") as file:
        return file.read()


def front_matter(text: str) -> dict[str, str]:
    """The ``key: value`` lines at the top of a page."""
    _, _, rest = text.partition("---\n")
    head, _, _ = rest.partition("\n---")
    found = {}
    for line in head.splitlines():
        key, _, value = line.partition(":")
        found[key.strip()] = value.strip()
    return found

"""The rule pages and the knowledge base, wherever the package was installed from.

A wheel carries them inside the package, a checkout has them at its top.
"""

from __future__ import annotations

import os

from shmlint.model.rule import Rule

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def directory() -> str:
    """The directory with the rule pages. Raises FileNotFoundError for a broken installation."""
    for place in (os.path.join(_PACKAGE, "pages"), os.path.join(os.path.dirname(_PACKAGE), "rules")):
        if os.path.exists(os.path.join(place, "workloads.json")):
            return place
    raise FileNotFoundError("the rule pages are missing from this installation of shmlint")


def page(rule: Rule) -> str:
    """The text of a rule's page. Raises OSError where it is missing."""
    with open(os.path.join(directory(), f"{rule.id}-{rule.name}.md"), encoding="utf-8") as file:
        return file.read()


def rule_names() -> list[tuple[str, str]]:
    """The id and the name of every rule, from the names of the pages. Raises OSError."""
    pages = (name.removesuffix(".md").partition("-") for name in sorted(os.listdir(directory())))
    return [(rule_id, name) for rule_id, dash, name in pages if dash]


def workload_ids() -> list[str]:
    """The ids of the workloads in the knowledge base. Raises OSError."""
    import json

    with open(os.path.join(directory(), "workloads.json"), encoding="utf-8") as file:
        return [entry["id"] for entry in json.load(file)["workloads"]]


def front_matter(text: str) -> dict[str, str]:
    """The ``key: value`` lines at the top of a page."""
    _, _, rest = text.partition("---\n")
    head, _, _ = rest.partition("\n---")
    found = {}
    for line in head.splitlines():
        key, _, value = line.partition(":")
        found[key.strip()] = value.strip()
    return found

"""Rules as settings and comments name them."""

from __future__ import annotations

from shmlint.files.installed import rule_names


def unknown_rule(pattern: str) -> str:
    """An error message for a pattern that is not a rule's name or the start of a rule's id, else ``""``."""
    upper, known = pattern.upper(), rule_names()
    if upper == "ALL" or any(name == pattern or rule_id.startswith(upper) for rule_id, name in known):
        return ""
    close = nearest_rule(pattern)
    return f"unknown rule `{pattern}`" + (f"; did you mean `{close}`?" if close else "; see `shmlint rules`")


_FAMILY = 4
"""Characters of an id that name the family of its rule, as in SHM1."""


def nearest_rule(pattern: str) -> str:
    """The id or the name that was probably meant, an id only of the same family; empty where there is none."""
    from difflib import get_close_matches

    alike = str.maketrans("OIL", "011")  # letters that look like digits
    digits = pattern.upper().translate(alike)
    ids = {rule_id.translate(alike): rule_id for rule_id, _ in rule_names() if len(pattern) >= _FAMILY}
    family = [written for written in ids if written[:_FAMILY] == digits[:_FAMILY]]
    if close := get_close_matches(digits, family, 1):
        return ids[close[0]]
    return "".join(get_close_matches(pattern, [name for _, name in rule_names()], 1))

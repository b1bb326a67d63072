"""Keys that Compose does not know, and values of another type than it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from shmlint.formats.compose.keys import SERVICE, TOP, Takes
from shmlint.formats.compose.places import means_size, placed_mappings, requests_among_devices, stray_requests
from shmlint.formats.compose.tree import Branch, Entry, Leaf, Listing, Removed, Tree
from shmlint.formats.compose.values import SWITCHES, is_true
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Span


class _Place(NamedTuple):
    """Where a value is."""

    path: str
    key: Span
    """What is marked of a value that has no text of its own."""
    complete: bool
    """Whether no other file may give what is missing."""
    reported: frozenset[int]
    """Keys and values that have rules of their own: sizes and requests for devices in wrong places."""


def service_keys(name: str, service: Branch, *, complete: bool) -> Iterator[Problem]:
    """What Compose refuses in the keys of a service, after everything is merged.

    ``complete``: people start it from these files, so a key without a value does not get one from another.
    """
    reported = {id(entry.key) for entry, _ in stray_requests(service)}
    reported |= {id(item) for _, item in requests_among_devices(service)}
    for mapping, _ in placed_mappings(service):
        reported |= {id(entry.key) for key, entry in mapping.entries.items() if means_size(key)}
    place = _Place(f"services.{name}", service.span, complete, frozenset(reported))
    yield from _entries(service, _SERVICE, place)


_SERVICE = Takes("a mapping", frozenset({"mapping"}), keys=SERVICE)


def top_keys(root: Branch) -> Iterator[Problem]:
    """What Compose refuses in what a file has beside its services."""
    for key, entry in root.entries.items():
        takes = TOP.get(key)
        if takes is not None:
            yield from _faults(entry.tree, takes, _Place(key, entry.layer.span(entry.key), False, frozenset()))
    yield from _external(root.get("volumes"))


def _external(volumes: Tree | None) -> Iterator[Problem]:
    """Volumes that something else has made, for which something is set."""
    for name, entry in volumes.entries.items() if isinstance(volumes, Branch) else ():
        one = entry.tree
        if not isinstance(one, Branch) or not is_true(one.leaf("external")):
            continue
        for key, own in one.entries.items():
            if key not in ("external", "name") and not key.startswith("x-"):
                message = f'`volumes.{name}`: conflicting parameters "external" and "{key}"; Compose refuses the file'
                yield Problem(own.layer.span(own.key), message, facts=("external", name, key))


def _faults(tree: Tree, takes: Takes, place: _Place) -> Iterator[Problem]:
    """What Compose does not take in a value."""
    if not takes.kinds or isinstance(tree, Removed) or id(tree) in place.reported:
        return
    if isinstance(tree, Leaf):
        if not _fits(tree, takes) and (tree.kind != "null" or place.complete):
            yield _wrong(tree, takes, place)
    elif isinstance(tree, Listing) and tree.parts:
        for part in tree.parts:  # which merging has put together, each in the form it was written in
            yield from _faults(part, takes, place)
    elif isinstance(tree, Listing):
        if "list" not in takes.kinds:
            yield _wrong(tree, takes, place)
        if takes.unique:
            yield from _repeated(tree, place)
        for i, item in enumerate(tree.items if takes.items is not None else ()):
            at = place._replace(path=f"{place.path}[{i}]", complete=True)
            yield from _faults(item, takes.items or takes, at)
    elif "mapping" not in takes.kinds:
        yield _wrong(tree, takes, place)
    else:
        yield from _entries(tree, takes, place)


def _repeated(tree: Listing, place: _Place) -> Iterator[Problem]:
    """The first item of a list that is in it before."""
    known = [leaf for leaf in tree.items if isinstance(leaf, Leaf) and not leaf.interpolated.unset]
    seen: set[str] = set()
    for leaf in known:
        if leaf.text in seen:
            message = f"`{place.path}` has `{leaf.written}` twice; Compose refuses the file"
            yield Problem(leaf.span, message, facts=(place.path, "twice"))
            return
        seen.add(leaf.text)


def _entries(tree: Branch, takes: Takes, place: _Place) -> Iterator[Problem]:
    """What Compose does not take in a mapping."""
    keys = takes.keys
    for name, entry in tree.entries.items():
        if takes.named and not name.startswith("x-") and re.fullmatch(r"[A-Za-z0-9._-]+", name) is None:
            message = f"`{place.path}`: invalid name `{name[:60]}`; Compose takes letters, digits, `.`, `_` and `-`"
            yield Problem(entry.layer.span(entry.key), message, facts=("name", f"{place.path}.{name}"))
            continue
        value = takes.values if keys is None else keys.get(name)
        if value is not None:
            at = place._replace(path=f"{place.path}.{name}", key=entry.layer.span(entry.key))
            yield from _faults(entry.tree, value, at)
        elif keys is not None and not name.startswith("x-") and id(entry.key) not in place.reported:
            key = entry.layer.tree(entry.key)
            if isinstance(key, Leaf) and key.kind == "str":  # another one is refused as such, in `refused`
                yield _unknown(name, entry, place.path, keys)
    missing = [name for name in takes.needs if name not in tree.entries]
    if missing and place.complete:
        shown = " and ".join(f"`{name}`" for name in missing)
        message = f"`{place.path}` needs {shown}; Compose refuses the file"
        yield Problem(tree.span, message, facts=(place.path, *missing))


def _fits(leaf: Leaf, takes: Takes) -> bool:
    """Whether Compose takes a scalar; what a variable sets may be anything that its text can be."""
    if leaf.kind != "str":
        value = leaf.plain_value
        if takes.least is not None and isinstance(value, int | float) and value < takes.least:
            return False
        if takes.text == "port" and leaf.kind == "int":
            return _is_port(str(value))
        whole = leaf.kind == "float" and isinstance(value, float) and value.is_integer()
        return leaf.kind in takes.kinds or (whole and "int" in takes.kinds)
    if "str" not in takes.kinds or leaf.is_timestamp:
        return False
    if leaf.interpolated.used or leaf.interpolated.unset or leaf.refused:
        return True
    if takes.text and not _HOLDS[takes.text](leaf.text):
        return False
    if takes.least is not None and re.fullmatch("[+-]?[0-9]+", leaf.text) is not None:
        return int(leaf.text) >= takes.least
    return not takes.one_of or leaf.text in takes.one_of


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _is_port(text: str) -> bool:
    """Whether a text publishes ports: ``[[ADDRESS:][HOST]:]CONTAINER[/PROTOCOL]`` (go-connections nat.go)."""
    found = _PORT.fullmatch(text)
    if found is None:
        return False
    host, container = ([int(port) for port in (found[name] or "").split("-") if port] for name in ("host", "container"))
    sizes = [ports[-1] - ports[0] for ports in (host, container) if ports]
    fit = len(sizes) < 2 or sizes[1] == 0 or sizes[0] == sizes[1]
    return fit and min(sizes) >= 0 and max(*host, *container, 1) <= 65535 and container[0] > 0


_PORT = re.compile(
    r"(?:(?:[0-9]+\.[0-9.]+|\[[0-9a-f:.]+\]|):)?(?:(?P<host>[0-9]+(?:-[0-9]+)?|):)?(?P<container>[0-9]+(?:-[0-9]+)?)"
    r"(?:/(?:tcp|udp|sctp)?)?",
    re.IGNORECASE,
)
_HOLDS: Mapping[str, Callable[[str], bool]] = {
    "whole": _matches("[+-]?[0-9]+"),
    "number": _matches(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"),
    "switch": lambda text: text.lower() in SWITCHES,
    "duration": _matches(r"[+-]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d|w))+)"),
    "port": _is_port,
    "host": _matches("[^=:]+[=:].*"),
    "policy": lambda text: re.search(_POLICY, text) is not None,
    "container": lambda text: re.search("[a-zA-Z0-9][a-zA-Z0-9_.-]", text) is not None,
}
"""What a string must hold to be taken. Compose looks for some patterns anywhere in it."""
_POLICY = "always|never|build|if_not_present|missing|refresh|daily|weekly|every_([0-9]+[wdhms])+"


def _wrong(tree: Leaf | Listing | Branch, takes: Takes, place: _Place) -> Problem:
    """A value of another type than Compose takes."""
    shown = takes.shown
    if takes.one_of:
        shown = "one of " + ", ".join(f"`{text}`" for text in takes.one_of)
    message = f"`{place.path}` must be {shown}"
    if isinstance(tree, Leaf) and tree.kind == "str":
        message = f"`{place.path}: {' '.join(tree.written.split())[:60]}` must be {shown}"
        message += ", and YAML reads a time; put it in quotes" if tree.is_timestamp else ""
    elif isinstance(tree, Leaf) and tree.kind not in ("null", "str") and "str" in takes.kinds and not takes.text:
        message += "; put it in quotes"
    span = tree.span if tree.span.text.strip() else place.key
    return Problem(span, message, facts=(place.path, "type"))


def _unknown(name: str, entry: Entry, path: str, keys: Mapping[str, Takes]) -> Problem:
    """A key that Compose does not know, with what may be meant."""
    from difflib import get_close_matches

    message = f"`{name}` is not a key of `{path}`; Compose refuses the file"
    homes = [f"`{key}`" for key, takes in keys.items() if takes.keys is not None and name in takes.keys]
    close = get_close_matches(name, keys, 1)
    if homes:
        message += f"; it belongs under {' or '.join(homes)}"
    elif close:
        message += f"; did you mean `{close[0]}`?"
    return Problem(entry.layer.span(entry.key), message, facts=("unknown", f"{path}.{name}"))

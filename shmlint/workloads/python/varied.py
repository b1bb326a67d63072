"""What a sweep of Weights & Biases varies: its agent gives each run of the program other values of its configuration.

https://github.com/wandb/wandb/blob/v0.18.0/wandb/wandb_agent.py
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.reading import Call
from shmlint.workloads.python.values import UNKNOWN, Found, Scope, changed


def with_varied(
    calls: Sequence[Call], made: Mapping[int, Site], sites: Collection[Site], evaluator: Evaluator
) -> list[Call]:
    """Calls, with what a sweep varies of loaders left open; ``made`` are the places of calls by their positions."""
    if not any(site.name == "wandb.agent" for site in sites):
        return list(calls)
    names = _parameters(sites, evaluator)
    return [_opened(call, made[at], names, evaluator) if at in made else call for at, call in enumerate(calls)]


def _parameters(sites: Collection[Site], evaluator: Evaluator) -> frozenset[str] | None:
    """The names of what the sweeps vary that a program defines; None where that is not known."""
    found: set[str] = set()
    sweeps = [site for site in sites if site.name == "wandb.sweep"]
    for site in sweeps:
        given = (*site.node.args[:1], *(keyword.value for keyword in site.node.keywords if keyword.arg == "sweep"))
        parameters = evaluator.mapping(given[0], site.scope).entries.get("parameters") if given else None
        known = evaluator.mapping(*parameters) if parameters is not None else None
        if known is None or not known.complete:
            return None
        found.update(known.entries)
    return frozenset(found) if sweeps else None


def _opened(call: Call, site: Site, names: frozenset[str] | None, evaluator: Evaluator) -> Call:
    """A call of a loader whose batch is unknown where a sweep may vary it, or its workers."""
    row = call.row
    if row.use != "dataloader":
        return call
    batch = _varies(row.batch, row.batch_position, site, names, evaluator)
    workers = _varies(row.argument, row.position, site, names, evaluator)
    if batch or workers:
        call = call._replace(batch=Found(UNKNOWN, False, call.batch.spans))
    return call._replace(processes=changed(call.processes)) if workers else call


def _varies(name: str, position: int, site: Site, names: frozenset[str] | None, evaluator: Evaluator) -> bool:
    """Whether a sweep may vary an argument: it, or a name in what it is given, is called like one of its parameters."""
    given = next((keyword.value for keyword in site.node.keywords if keyword.arg == name), None)
    if given is None and 0 <= position < len(site.node.args):
        given = site.node.args[position]
    if given is None or isinstance(given, ast.Constant):
        return False
    return names is None or not names.isdisjoint((name, *_names_in(given, site.scope, evaluator)))


def _names_in(node: ast.expr, scope: Scope, evaluator: Evaluator) -> Iterator[str]:
    """The names in an expression, and in what its own name is given."""
    values = evaluator.given_to(node, scope) if isinstance(node, ast.Name | ast.Attribute) else []
    for value in (node, *(value for value, _ in values)):
        for part in ast.walk(value):
            name = getattr(part, "attr", None) or getattr(part, "id", None) or getattr(part, "value", None)
            if isinstance(name, str):
                yield name

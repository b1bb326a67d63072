"""``shmlint explain``: a rule's page, an error message, what is known about a workload, or the trail of one launch."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TypedDict, Unpack

import click

from shmlint.cli.command import Command, complete_topic
from shmlint.cli.explain import symptoms, workloads
from shmlint.cli.explain.pages import rule_lines, rule_page
from shmlint.cli.output import Failed, Output, fail, nearest
from shmlint.config.rules import nearest_rule, unknown_rule
from shmlint.rules import all_rules
from shmlint.workloads.knowledge import builtin

_EPILOG = """\b
Examples:
  shmlint explain SHM101
  shmlint explain "Bus error"
  shmlint explain vllm
  shmlint explain nvcr.io/nvidia/pytorch:24.01-py3
  shmlint explain compose.yaml:12    everything about the launch there
  shmlint explain workload:          lists the workloads
  docker logs trainer 2>&1 | shmlint explain -"""


class Options(TypedDict):
    """What the command line says."""

    topic: tuple[str, ...]


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("topic", nargs=-1, required=True, metavar="TOPIC...", shell_complete=complete_topic)
def command(**options: Unpack[Options]) -> int:
    """Explain a rule, an error message, a workload, an image or one launch.

    TOPIC is a rule's id or name, the text of an error message, a workload, an image, PATH:LINE of
    a launch or a finding, or `-` for a log on standard input.
    """
    topic = " ".join(options["topic"])
    if topic == "-":
        topic = sys.stdin.buffer.read().decode("utf-8", "replace")
    for text in explain(topic):
        click.echo(text)
    return 0


def explain(asked: str) -> Iterator[str]:
    """The lines that answer. Raises Failed if nothing is known, with a message that suggests similar topics."""
    asked = asked.strip()
    place = _PLACE.fullmatch(asked)
    if place is not None and os.path.isfile(place[1]):
        return _launch(place[1], int(place[2]))
    known = [rule for rule, _ in all_rules().values()]
    for rule in known:
        if asked.upper() == rule.id or asked == rule.name:
            return rule_page(rule)
    family = [rule.id for rule in known if rule.id.startswith(asked.upper())]
    if family and any(character.isdigit() for character in asked):
        return rule_lines(family)
    if asked.lower().startswith(workloads.PREFIX):
        return workloads.explain(asked[len(workloads.PREFIX) :].strip())
    if found := symptoms.find(asked, symptoms.symptoms()):
        return symptoms.about(found)
    one_word = len(asked) > 3 and len(asked.split()) == 1
    named = workloads.search(asked, builtin()) if one_word else workloads.called(asked, builtin())
    if named:
        return workloads.these(named, asked)
    if family and asked:
        return rule_lines(family)
    raise Failed(_nothing(asked))


_PLACE = re.compile(r"(.+?):([0-9]{1,9})(?::[0-9]*)?:?")


def _launch(path: str, line: int) -> Iterator[str]:
    """The trail of the launch at a place."""
    from shmlint.cli.configured import load_settings
    from shmlint.cli.inputs import find_inputs, started
    from shmlint.files.read import Unreadable, normal
    from shmlint.reports import trail

    inputs = find_inputs([path], load_settings(None, [path]))
    run = started(inputs, inputs.settings, None)
    try:
        lines = len(run.workspace.source(normal(path)).line_starts)
    except Unreadable as error:
        begin = error.problem.span.begin
        fail(f"{path}:{begin.line}:{begin.column}: {error.message}")
    found = trail.launch_at(run, normal(path), line) if line <= lines else None
    if found is None:
        starts = sorted({begin for begin, _ in trail.launches_in(run, normal(path))}, key=lambda at: abs(at - line))
        if not starts:
            fail(f"{path}: no launch was found in this file")
        wrong = f"no launch starts at or before line {line}" if line <= lines else f"there is no line {line}"
        near_by = ", ".join(map(str, sorted(starts[:5])))
        fail(f"{path}: {wrong}; {'launches start' if len(starts) > 1 else 'a launch starts'} in {near_by}")
    return trail.render(run, found, Output().width)


def _nothing(asked: str) -> str:
    """The error message for an unknown topic, with what was probably meant."""
    short = " ".join(asked.split())
    if not short:
        return "nothing to explain: give a rule (SHM101), an error message or a workload"
    place = _PLACE.fullmatch(short)
    path = short if place is None else place[1]
    if os.path.isfile(short):
        return f"{short} is a file; add the line of a launch, as in {short}:12"
    if os.path.isdir(path):
        return f"{path} is a directory; `shmlint inventory {path}` lists its launches with their lines"
    if (place is not None or "/" in path) and _FILE.search(path):
        return f"{path}: no such file"
    titles = [match.symptom.title for match in symptoms.similar(asked)]
    similar = f"; similar are: {'; '.join(titles)}" if titles else ""
    if " " in short:
        shown = short if len(short) <= 80 else f"{short[:79]}…"
        return f"no known error message looks like `{shown}`{similar}"
    if _RULE.fullmatch(short) and any(character.isdigit() for character in short):
        return unknown_rule(short)
    if workload := nearest(short.lower(), [w.id for w in builtin()]):
        return f"unknown workload `{short}`{workload}"
    if nearest_rule(short):
        return unknown_rule(short)
    if "/" in short or ":" in short:
        return f"no workload is known for the image `{short}`; `shmlint explain workload:` lists the known ones"
    return f"nothing is known about `{short}`{similar or '; see `shmlint rules` and `shmlint explain workload:`'}"


_RULE = re.compile(r"[A-Za-z]{2,5}[0-9OoIl]{1,4}")
_FILE = re.compile(
    r"^[~./]|\.(?:ya?ml|json|toml|sh|bash|fish|sbatch|slurm|mk|just|service|container|py|ipynb|md|rst|txt)$"
    r"|(?:[Mm]ake|[Jj]ust|Jenkins|Docker|Taskfile)(?:file)?$"
)
"""Paths of files, not names of images."""

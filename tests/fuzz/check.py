"""What holds for any content of any file, however broken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from shmlint.fixing import fix
from shmlint.fixing.write import write
from shmlint.formats import KINDS
from shmlint.model.settings import Settings
from shmlint.reports import inventory, text
from shmlint.run import Run, lint

NAMES = {
    "compose": "compose.yaml",
    "shell": "run.sh",
    "makefile": "Makefile",
    "systemd": "train.service",
    "taskfile": "Taskfile.yml",
    "fish": "run.fish",
    "unread": "run.ps1",
    "jenkinsfile": "Jenkinsfile",
    "markdown": "README.md",
    "ci": ".gitlab-ci.yml",
    "devcontainer": ".devcontainer.json",
    "inspect": "inspect.json",
    "kubernetes": "pod.yaml",
    "template": "pod.yaml.j2",
}
"""A name for a file of each kind."""

REPORTS = ("json", "github", "sarif", "gitlab", "rdjson", "junit", "checkstyle")

EVERYTHING = Settings(select=("all",))


def check(kind: str, content: bytes, directory: Path) -> Run:
    """Lint, report and repair a file with this content, in a directory that is the current one.

    Raises AssertionError, or whatever the program raises, where something does not hold.
    """
    assert kind in KINDS
    name = NAMES[kind]
    file = directory / name
    file.write_bytes(content)
    run = lint({kind: [name]}, EVERYTHING)
    for form in REPORTS:
        shown = import_module(f"shmlint.reports.{form}").render(run, run.findings)
        assert _printable(shown), form
    assert all(map(_printable, text.render(run, run.findings, text.Style(verbose=True))))
    assert all(map(_printable, inventory.table(run)))
    import_module("shmlint.reports.json").inventory(run)
    for launch in run.launches:
        assert 0 <= launch.span.start <= launch.span.end <= len(launch.span.source.text)
    for unsafe in (False, True):
        outcome = fix.fix(run, unsafe=unsafe)
        if not outcome.texts:
            continue
        assert list(outcome.texts) == [name]
        assert list(write(run, outcome.texts)) == [name]
        assert file.read_bytes() == outcome.texts[name].encode()
        assert [path.name for path in directory.iterdir()] == [name]
        assert list(_not_added(content, outcome.texts[name].encode())) == []
        again = fix.fix(lint({kind: [name]}, EVERYTHING), unsafe=unsafe)
        assert not again.texts, "what is repaired needs no repair"
        file.write_bytes(content)
    return run


def _printable(shown: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in shown)


def _not_added(before: bytes, after: bytes) -> Iterator[str]:
    """What a repair must not do to a file besides its purpose."""
    if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
        yield "the byte order mark"
    if b"\r" not in before and b"\r" in after:
        yield "carriage returns"
    if b"\n" not in before.replace(b"\r\n", b"") and b"\r\n" in before and b"\n" in after.replace(b"\r\n", b""):
        yield "line feeds without carriage returns"
    if after and before.endswith(b"\n") != after.endswith(b"\n"):  # nothing may be left but a comment of no use
        yield "the end of the file"


def enter(directory: Path) -> None:
    """Make a directory the current one: files that a content names are looked for in it."""
    directory.mkdir(parents=True, exist_ok=True)
    os.chdir(directory)

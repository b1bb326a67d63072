"""Small projects for tests: files written to a directory, linted, fixed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shmlint.files.discover import Found, discover
from shmlint.fixing import fix as fixing
from shmlint.formats import KINDS
from shmlint.model.finding import Finding
from shmlint.model.settings import Settings
from shmlint.run import Run, lint


def write(directory: Path, files: Mapping[str, str]) -> None:
    """Write files by their names, exactly as given."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))


def run(
    directory: Path, files: Mapping[str, str] | str, *, paths: Sequence[str] = (".",), **settings: Any
) -> Run:
    """Lint files as the program does when it is started in their directory, with ``paths`` named."""
    if isinstance(files, str):
        files = {"compose.yaml": files}
    write(directory, files)
    by_kind: dict[str, list[str]] = {}
    with contextlib.chdir(directory):
        for found in discover(list(paths), kinds=KINDS):
            assert isinstance(found, Found), found
            by_kind.setdefault(found.kind, []).append(found.path)
        return lint(by_kind, Settings(**settings))


def findings(directory: Path, files: Mapping[str, str] | str, **settings: Any) -> list[Finding]:
    return run(directory, files, **settings).findings


def fixed(directory: Path, files: Mapping[str, str] | str, *, unsafe: bool = False, **settings: Any) -> dict[str, str]:
    """The texts that fixing changes, by name."""
    started = run(directory, files, **settings)
    with contextlib.chdir(directory):
        return fixing.fix(started, unsafe=unsafe).texts


def uncovered() -> dict[str, str]:
    """The environment without what starts the measurement of coverage.

    That imports much, and its lock is never freed again where Ctrl+C comes while a thread holds it.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}

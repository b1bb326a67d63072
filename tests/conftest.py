"""Hypothesis profiles, a clean environment, and tests that are skipped because something is missing.

By default Hypothesis tries the same few examples on every run. ``HYPOTHESIS_PROFILE=search`` lets it look for new
ones, and more of them.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.needs import REQUIRED, lacking, need, needs

# No deadlines: a slow machine is not a failure.
settings.register_profile("fixed", deadline=None, derandomize=True, database=None, max_examples=30)
settings.register_profile("search", deadline=None, max_examples=int(os.environ.get("SHMLINT_EXAMPLES", "1000")))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# What is under test makes many small objects that live on. To look for cycles among them after every 700 new ones, as
# Python does, takes a fifth of the time of the tests.
gc.set_threshold(200_000, 50, 100)

# In a job of GitHub Actions the report has another format; tests of that format set these themselves.
for _name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(_name, None)

# A shell that runs the tests in the background has them ignore interruptions, and the programs that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory without files: those of this repository say nothing of what a test reads."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


def required() -> frozenset[str]:
    """The oracles whose tests may not be skipped: ``SHMLINT_JUDGES`` names them, ``required`` those of every CI."""
    named = frozenset(filter(None, os.environ.get("SHMLINT_JUDGES", "").split(",")))
    return (named - {"required"}).union(REQUIRED if "required" in named else ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first, so that no worker waits at the end for the one that has it."""
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("packaging", "slow"))))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose need is not met, before its fixtures are made."""
    for name in needs(item):
        need(name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """If the oracles are required, a skipped test of one has failed."""
    report = yield
    if report.skipped:
        marks = sorted(name for name in required() if item.get_closest_marker(name))
        if marks and not any(lacking(name) for name in needs(item) if name not in required()):
            report.outcome = "failed"
            report.longrepr = f"skipped, but SHMLINT_JUDGES requires {', '.join(marks)}: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file that is skipped as a whole hides the markers of its tests, so it fails too."""
    report = yield
    if required() and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} skipped, but SHMLINT_JUDGES requires its tests: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)

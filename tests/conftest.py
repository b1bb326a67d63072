"""What every test runs under: Hypothesis without deadlines, and judges that may be required."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

# A slow machine is no failure; on CI the same examples are tried every time.
settings.register_profile("shmlint", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("shmlint")

# A report looks another way in a job of GitHub Actions; tests that mean one say so.
for _name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(_name, None)

JUDGES = ("docker_client", "compose_judge", "engine", "packaging")
"""Markers of tests that need something which a developer's machine may lack, and CI must not."""


def required() -> bool:
    return os.environ.get("SHMLINT_JUDGES") == "required"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if required() and report.skipped and not hasattr(report, "wasxfail"):
        marks = [name for name in JUDGES if item.get_closest_marker(name)]
        if marks:
            report.outcome = "failed"
            report.longrepr = f"skipped, but SHMLINT_JUDGES=required ({', '.join(marks)}): {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file that skips as a whole hides which markers its tests have."""
    report = yield
    if required() and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} skipped, but SHMLINT_JUDGES=required: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)

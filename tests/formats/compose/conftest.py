"""Compose files are read away from this repository, whose scripts and pages would be searched for lists of them."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def away(elsewhere: None) -> None:
    """Each test starts in an empty directory."""

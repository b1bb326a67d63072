"""Every option and every settings key has a line in the README and a test that uses it."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from shmlint.cli import _command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


@cache
def written() -> str:
    here = Path(__file__).name
    found = [path for path in (ROOT / "tests").rglob("*.py") if path.name != here]
    return "\n".join(path.read_text("utf-8") for path in found)


def options() -> list[str]:
    return sorted(max(option.opts, key=len) for option in _command.params if option.opts[0].startswith("-"))


def keys() -> list[str]:
    schema = json.loads(files("shmlint").joinpath("settings.schema.json").read_text("utf-8"))
    return sorted(schema["properties"])


@pytest.mark.parametrize("option", options())
def test_option(option: str) -> None:
    whole = rf"{option}(?![\w-])"
    assert re.search(whole, README), "no line in the README"
    assert re.search(whole, written()), "no test"


@pytest.mark.parametrize("key", keys())
def test_settings_key(key: str) -> None:
    assert re.search(rf"^\|? ?`{key}`|^ *{key}:|\| `{key}` \|", README, re.M), "no line in the README"
    assert re.search(rf"\b{key}\b", written()), "no test"

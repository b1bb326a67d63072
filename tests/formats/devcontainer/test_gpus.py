"""Lists of devices in ``runArgs``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.devcontainer.containers import HERE, NGC
from tests.project import findings, fixed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["--gpus", "device=0,1"]', r'["--gpus", "\"device=0,1\""]'),
        ('["--gpus=device=0,1"]', r'["--gpus=\"device=0,1\""]'),
        (r"""["--gpus", "'\"device=0,1\"'"]""", r'["--gpus", "\"device=0,1\""]'),
        (r"""["--gpus='\"device=0,1\"'"]""", r'["--gpus=\"device=0,1\""]'),
        ("""["--gpus", "'device=0,1'"]""", r'["--gpus", "\"device=0,1\""]'),
        ("""["--gpus", "'all'"]""", '["--gpus", "all"]'),
        ("""["--gpus='device=2'"]""", '["--gpus=device=2"]'),
    ],
)
def test_a_list_of_devices_is_quoted_for_json(tmp_path: Path, before: str, after: str) -> None:
    def file(given: str) -> dict[str, str]:
        return {HERE: f'{{\r\n\t{NGC}, // c\r\n\t"runArgs": {given},\r\n}}\r\n'}

    assert [f.rule for f in findings(tmp_path, file(before), select=("GPU401",))] == ["GPU401"]
    assert fixed(tmp_path, file(before), select=("GPU401",)) == file(after)
    assert findings(tmp_path, file(after), select=("GPU401",)) == []


@pytest.mark.parametrize("given", [r'"\"device=0,1\""', r'"\"all\""', '"device=0"', '"all"', '"${localEnv:G}"'])
def test_what_docker_reads_is_left(tmp_path: Path, given: str) -> None:
    assert findings(tmp_path, {HERE: f'{{{NGC}, "runArgs": ["--gpus", {given}]}}'}, select=("GPU401",)) == []


def test_the_number_0_is_said_and_left(tmp_path: Path) -> None:
    files = {HERE: f'{{{NGC}, "runArgs": ["--gpus", "0"]}}'}
    (found,) = findings(tmp_path, files, select=("GPU401",))
    assert (found.severity, found.fix) == ("warning", None) and '"device=0"' in found.advice
    assert fixed(tmp_path, files, select=("GPU401",)) == {}


def test_several_counts_are_said_and_left(tmp_path: Path) -> None:
    files = {HERE: f'{{{NGC}, "runArgs": ["--gpus", "1,2"]}}'}
    (found,) = findings(tmp_path, files, select=("GPU401",))
    assert found.fix is None and r'"\"device=1,2\""' in found.advice
    assert fixed(tmp_path, files, select=("GPU401",)) == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["--gpus device=0,1"]', r'["--gpus=\"device=0,1\""]'),
        ("""["--gpus 'device=0,1'"]""", r'["--gpus=\"device=0,1\""]'),
        ('["--gpus device=0"]', '["--gpus=device=0"]'),
    ],
)
def test_a_list_in_one_word_with_its_option_is_an_unknown_flag(tmp_path: Path, before: str, after: str) -> None:
    files = {HERE: f'{{{NGC}, "runArgs": {before}}}'}
    (found,) = findings(tmp_path, files, select=("GPU401", "GPU402"))
    assert found.rule == "GPU402" and "a single word, which Docker refuses as an unknown flag" in found.message
    assert fixed(tmp_path, files, select=("GPU401", "GPU402")) == {HERE: f'{{{NGC}, "runArgs": {after}}}'}

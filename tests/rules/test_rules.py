"""What holds for every rule: settings, selection, private values, several readings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shmlint.reports.json import render
from shmlint.rules import all_rules
from tests.project import findings, fixed, run
from tests.rules.cases import GIB, compose, entry, levels, service
from tests.table import table

# Settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "expected"), [("note", ["note"]), ("warn", ["warning"]), ("error", ["error"]), ("ignore", [])]
)
def test_unknown_workload(tmp_path: Path, setting: str, expected: list[str]) -> None:
    found = findings(tmp_path, service(image="myorg/app"), unknown_workload=setting)
    assert [f.severity for f in found] == expected


def test_shm_size_is_what_fixes_write(tmp_path: Path) -> None:
    assert "shm_size: 24gb" in fixed(tmp_path, service(), shm_size=24 * GIB)["compose.yaml"]
    assert levels(findings(tmp_path, service("shm_size: 8gb"), shm_size=24 * GIB)) == [("SHM103", "note")]
    assert findings(tmp_path, service("shm_size: 4gb"), shm_size=2 * GIB) == []


@table("lines, left", [((), []), (("shm_size: 64m",), []), (("shm_size: 0.1",), [])])
def test_a_size_of_the_settings_below_the_need_is_not_written(
    tmp_path: Path, lines: tuple[str, ...], left: list[object]
) -> None:
    """A fix that leaves the finding would be refused by its proof."""
    text = service(*lines, "command: torchrun --nproc_per_node=8 train.py")
    (finding,) = findings(tmp_path, text, shm_size=256 << 20)
    assert finding.fix is not None and "from the settings" not in str(finding.why)
    after = fixed(tmp_path, text, shm_size=256 << 20)["compose.yaml"]
    assert "shm_size: 8gb" in after and findings(tmp_path, after, shm_size=256 << 20) == left


def test_the_daemons_own_default(tmp_path: Path) -> None:
    assert findings(tmp_path, service(), default_shm_size=8 * GIB) == []
    found = findings(tmp_path, service(), default_shm_size=128 * 1024**2)
    assert "128 MiB" in found[0].message


def test_a_workload_of_ones_own(tmp_path: Path) -> None:
    mine = ({"id": "ours", "needs": "yes", "images": ["registry.example/ours"], "recommended": "3gb"},)
    text = service(image="registry.example/ours:1")
    assert levels(findings(tmp_path, text, workloads=mine)) == [("SHM101", "error")]
    assert "shm_size: 3gb" in fixed(tmp_path, text, workloads=mine)["compose.yaml"]


@table(
    ("select", "ignore", "expected"),
    [
        ((), (), ["SHM102", "SHM204"]),
        (("SHM102",), (), ["SHM102"]),
        (("SHM1",), (), ["SHM102"]),
        (("shm2",), (), ["SHM204"]),
        (("ignored-with-ipc",), (), ["SHM204"]),
        (("ALL",), (), ["SHM102", "SHM204"]),
        ((), ("SHM1",), ["SHM204"]),
        ((), ("shm-size-too-small",), ["SHM204"]),
        (("SHM",), ("SHM2",), ["SHM102"]),
        (("SHM204",), ("SHM2",), ["SHM204"]),
        (("SHM2",), ("SHM204",), []),
        (("SHM102",), ("SHM102",), []),
        ((), ("ALL",), []),
    ],
)
def test_selecting(tmp_path: Path, select: tuple[str, ...], ignore: tuple[str, ...], expected: list[str]) -> None:
    found = findings(tmp_path, service("ipc: none", "shm_size: 8gb"), select=select, ignore=ignore)
    assert sorted(f.rule for f in found) == expected


@pytest.mark.parametrize("rule", ["SHM104", "SHM301"])
def test_off_unless_asked_for(tmp_path: Path, rule: str) -> None:
    text = compose(entry("shm_size: ${SHM}"), entry("ipc: host", name="y"))
    assert rule not in {f.rule for f in findings(tmp_path, text)}
    assert rule in {f.rule for f in findings(tmp_path, text, select=(rule,))}


# What is private stays private -----------------------------------------------------------------


@pytest.mark.parametrize("size", ["77m", "77", "77Gi", "1.77", "1077m"])
def test_what_an_env_file_says_is_not_printed(tmp_path: Path, size: str) -> None:
    text = service("shm_size: ${SHM}", "command: python t.py --key ${KEY} --num_workers 4")
    started = run(tmp_path, {"compose.yaml": text, ".env": f"SHM={size}\nKEY=secret-77\n"})
    assert started.findings
    from shmlint.reports.text import Style
    from shmlint.reports.text import render as lines

    shown = "\n".join(lines(started, started.findings, Style(verbose=True))) + render(started, started.findings)
    assert "77" not in shown and "secret" not in shown


def test_a_private_command_is_listed_as_it_is_written(tmp_path: Path) -> None:
    from shmlint.reports.json import inventory

    text = service("command: serve --key ${KEY}")
    shown: Any = json.loads(inventory(run(tmp_path, {"compose.yaml": text, ".env": "KEY=secret\n"})))
    assert shown["launches"][0]["command"] == ["serve", "--key", "${KEY}"]


# Several readings ------------------------------------------------------------------------------


def test_an_overlay_that_can_be_started_alone_is_a_step_less_severe(tmp_path: Path) -> None:
    files = {
        "compose.yaml": service("shm_size: 8gb", gpu=None),
        "compose.gpu.yaml": service(),
    }
    found = findings(tmp_path, files)
    assert levels(found) == [("SHM101", "warning")]
    assert found[0].message.endswith("(when compose.gpu.yaml is started alone)")


@pytest.mark.parametrize("rule", all_rules())
def test_the_tests_of_a_rule_are_in_the_file_of_its_id(rule: str) -> None:
    assert (Path(__file__).parent / f"test_{rule.lower()}.py").is_file()

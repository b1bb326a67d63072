"""Variables, ulimits and IPC modes of compose files rewritten, to the byte; Compose is asked what changed."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.model.launch import Change
from shmlint.model.settings import Settings
from shmlint.model.source import apply_edits
from shmlint.run import Run, lint
from tests.oracles.compose import compose_config
from tests.table import table

NAME = "NCCL_P2P_DISABLE"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(texts: Mapping[str, str], rule: str) -> Run:
    files = [path for path in texts if path.endswith((".yml", ".yaml"))]
    return lint({"compose": files}, Settings(select=(rule,)), Workspace(texts))


def fixed(texts: Mapping[str, str], rule: str) -> dict[str, str]:
    """The texts after fixing, which must leave nothing that can be fixed and nothing unproved."""
    outcome = fix.fix(read(texts, rule), unsafe=True)
    assert not outcome.unproved
    after = {**texts, **outcome.texts}
    assert not fix.fix(read(after, rule), unsafe=True).texts
    return after


def service(lines: str, *, head: str = "image: x\ngpus: all\n") -> str:
    return "services:\n  a:\n" + textwrap.indent(head + lines, "    ")


# Variables that go -----------------------------------------------------------------------------

DROPS: dict[str, tuple[str, str]] = {
    "the first of a list": (f"environment:\n  - {NAME}=1\n  - B=2\n", "environment:\n  - B=2\n"),
    "the last of a list, with its comment": (
        f"environment:\n  - A=1  # a\n  - {NAME}=1  # gone\n  # stays\nports: []\n",
        "environment:\n  - A=1  # a\n  # stays\nports: []\n",
    ),
    "a list at the margin of its key": (
        f"environment:\n- A=1\n- {NAME}=1\n- B=1\n", "environment:\n- A=1\n- B=1\n"
    ),
    "the only one of a list": (f"environment:\n  - {NAME}=1\nports: []\n", "ports: []\n"),
    "the only one, with comments": (
        f"environment:  # all\n  # why\n  - {NAME}=1\n\nports: []\n", "# why\n\nports: []\n"
    ),
    "the only one, at the end": (f"ports: []\nenvironment:\n  {NAME}: 1\n", "ports: []\n"),
    "quoted items": (f"environment:\n  - \"{NAME}=1\"\n  - 'B=2'\n", "environment:\n  - 'B=2'\n"),
    "a mapping": (f"environment:\n  A: x\n  {NAME}: '1'\n  B:\n", "environment:\n  A: x\n  B:\n"),
    "a quoted key": (f'environment:\n  A: x\n  "{NAME}": "1"\n', "environment:\n  A: x\n"),
    "a value of several lines": (f"environment:\n  {NAME}: >-\n    1\n\n  B: 2\n", "environment:\n\n  B: 2\n"),
    "a value on the next line": (f"environment:\n  {NAME}:\n    1\n  B: 2\n", "environment:\n  B: 2\n"),
    "a default": (f"environment:\n  - {NAME}=${{P2P:-1}}\n  - B=2\n", "environment:\n  - B=2\n"),
    "two of the same": (f"environment:\n  - {NAME}=0\n  - B=2\n  - {NAME}=1\n", "environment:\n  - B=2\n"),
    "flow mapping, first": (f"environment: {{{NAME}: 1, B: 2}}\n", "environment: {B: 2}\n"),
    "flow mapping, last": (f"environment: {{B: 2, {NAME}: 1}}\n", "environment: {B: 2}\n"),
    "flow mapping, between": (f"environment: {{ A: 1, {NAME}: 1, B: 2 }}\n", "environment: { A: 1, B: 2 }\n"),
    "flow list, packed": (f"environment: [A=1,{NAME}=1,B=2]\n", "environment: [A=1,B=2]\n"),
    "flow list, trailing comma": (f"environment: [A=1, {NAME}=1,]\n", "environment: [A=1, ]\n"),
    "flow list, the only one": (f"environment: [{NAME}=1]  # gone\nports: []\n", "ports: []\n"),
    "flow list of several lines": (
        f"environment: [\n  A=1,  # a\n  {NAME}=1  # gone\n]\n", "environment: [\n  A=1  # a\n]\n"
    ),
    "flow list of several lines, first": (
        f"environment: [\n  {NAME}=1,  # gone\n  A=1,\n]\n", "environment: [\n  A=1,\n]\n"
    ),
}  # fmt: skip


@table(("before", "after"), DROPS.values(), ids=DROPS)
@table("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_variable_goes(before: str, after: str, newline: str) -> None:
    before, after = service(before).replace("\n", newline), service(after).replace("\n", newline)
    assert fixed({"compose.yaml": before}, "NCCL501") == {"compose.yaml": after}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_the_last_line_has_no_end_before_or_after(newline: str) -> None:
    text = service(f"environment:\n  - A=1\n  - {NAME}=1").replace("\n", newline)
    after = service("environment:\n  - A=1").replace("\n", newline)
    assert fixed({"compose.yaml": "\ufeff" + text}, "NCCL501") == {"compose.yaml": "\ufeff" + after}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_the_last_line_goes_with_the_empty_ones_before_it(newline: str) -> None:
    text = service(f"environment:\n  - A=1\n\n\n  - {NAME}=1").replace("\n", newline)
    after = service("environment:\n  - A=1").replace("\n", newline)
    assert fixed({"compose.yaml": text}, "NCCL501") == {"compose.yaml": after}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_the_last_lines_go_together(newline: str) -> None:
    text = service(f"environment:\n  - {NAME}=1").replace("\n", newline)
    after = service("")[:-1].replace("\n", newline)
    assert fixed({"compose.yaml": text}, "NCCL501") == {"compose.yaml": after}


WHOLE: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a service in braces": (
        {"compose.yaml": f"services:\n  a: {{image: x, gpus: all, environment: {{{NAME}: 1}}, ports: []}}\n"},
        {"compose.yaml": "services:\n  a: {image: x, gpus: all, ports: []}\n"},
    ),
    "json": (
        {"compose.yaml": f'{{"services": {{"a": {{"image": "x", "environment": ["A=1", "{NAME}=1"]}}}}}}'},
        {"compose.yaml": '{"services": {"a": {"image": "x", "environment": ["A=1"]}}}'},
    ),
    "an anchor whose users all have it": (
        {"compose.yaml": f"x-e: &e\n  {NAME}: 1\n  X: 1\nservices:\n  a:\n    image: x\n    environment: *e\n"
                         "  b:\n    image: y\n    environment:\n      <<: *e\n      Y: 2\n"},
        {"compose.yaml": "x-e: &e\n  X: 1\nservices:\n  a:\n    image: x\n    environment: *e\n"
                         "  b:\n    image: y\n    environment:\n      <<: *e\n      Y: 2\n"},
    ),
    "an anchor in a service": (
        {"compose.yaml": service(f"environment: &e\n  - {NAME}=1\n") + "  b:\n    image: y\n    environment: *e\n"},
        {"compose.yaml": service("environment: &e []\n") + "  b:\n    image: y\n    environment: *e\n"},
    ),
    "an anchor of nothing else": (
        {"compose.yaml": f"x-e: &e\n  - {NAME}=1\nservices:\n  a:\n    image: x\n    environment: *e\n"},
        {"compose.yaml": "x-e: &e []\nservices:\n  a:\n    image: x\n    environment: *e\n"},
    ),
    "an anchor in braces of nothing else": (
        {"compose.yaml": f"x-e: &e {{{NAME}: 1}}\nservices:\n  a:\n    image: x\n    environment: *e\n"},
        {"compose.yaml": "x-e: &e {}\nservices:\n  a:\n    image: x\n    environment: *e\n"},
    ),
    "a base and its override": (
        {"compose.yaml": service(f"environment:\n  {NAME}: 0\n"),
         "compose.override.yaml": f"services:\n  a:\n    environment:\n      - {NAME}=1\n"},
        {"compose.yaml": service(""), "compose.override.yaml": "services:\n  a:\n    environment: []\n"},
    ),
    "an extended service": (
        {"compose.yaml": service(f"environment:\n  {NAME}: 1\n") + "  b:\n    extends: a\n    command: q\n"},
        {"compose.yaml": service("") + "  b:\n    extends: a\n    command: q\n"},
    ),
    "two services": (
        {"compose.yaml": service(f"environment:\n  - {NAME}=1\n")
                         + f"  b:\n    image: y\n    environment: [{NAME}=1]\n"},
        {"compose.yaml": service("") + "  b:\n    image: y\n"},
    ),
}  # fmt: skip


@table(("before", "after"), WHOLE.values(), ids=WHOLE)
def test_a_variable_goes_from_all_that_gives_it(before: dict[str, str], after: dict[str, str]) -> None:
    assert fixed(before, "NCCL501") == after


KEPT: dict[str, dict[str, str]] = {
    "a template of another file": {
        "compose.yaml": "services:\n  a:\n    extends: {file: base.yml, service: a}\n",
        "base.yml": service(f"environment:\n  {NAME}: 1\n"),
    },
    "the last text of a merged one": {
        "compose.yaml": f"x-e: &e\n  {NAME}: 2\nservices:\n  a:\n    image: x\n    environment:\n"
        f"      <<: *e\n      {NAME}: 1\n  b:\n    image: y\n    environment:\n      <<: *e\n      {NAME}: 0\n",
    },
    "an anchored item that others use": {
        "compose.yaml": service(f"environment:\n  - &v {NAME}=1\n  - B=1\n") + "  b:\n    image: *v\n",
    },
    "two keys on a line": {"compose.yaml": service(f"environment:\n  ? {NAME}\n  : 1\n  B: 2\n")},
}


@pytest.mark.parametrize("texts", KEPT.values(), ids=KEPT)
def test_what_cannot_be_proved_stays(texts: dict[str, str]) -> None:
    run = lint({"compose": ["compose.yaml"]}, Settings(select=("NCCL501",)), Workspace(texts))
    assert run.findings
    assert fix.fix(run, unsafe=True).texts == {}


def test_nothing_goes_without_being_asked() -> None:
    text = service(f"environment:\n  - {NAME}=1\n")
    outcome = fix.fix(read({"compose.yaml": text}, "NCCL501"))
    assert outcome.texts == {} and outcome.unproved == []


# Other names -----------------------------------------------------------------------------------

RENAMES: dict[str, tuple[str, str]] = {
    "item": ("environment:\n  - NCCL_BLOCKING_WAIT=1  # c\n", "environment:\n  - TORCH_NCCL_BLOCKING_WAIT=1  # c\n"),
    "quoted item": ("environment: ['NCCL_BLOCKING_WAIT=1']\n", "environment: ['TORCH_NCCL_BLOCKING_WAIT=1']\n"),
    "key": ("environment:\n  NCCL_BLOCKING_WAIT: 1\n", "environment:\n  TORCH_NCCL_BLOCKING_WAIT: 1\n"),
    "quoted key": ('environment: {"NCCL_BLOCKING_WAIT": 1}\n', 'environment: {"TORCH_NCCL_BLOCKING_WAIT": 1}\n'),
    "unknown value": ("environment:\n  NCCL_BLOCKING_WAIT: ${W}\n", "environment:\n  TORCH_NCCL_BLOCKING_WAIT: ${W}\n"),
    "twice": ("environment:\n- NCCL_BLOCKING_WAIT=1\n- NCCL_BLOCKING_WAIT=0\n",
              "environment:\n- TORCH_NCCL_BLOCKING_WAIT=1\n- TORCH_NCCL_BLOCKING_WAIT=0\n"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), RENAMES.values(), ids=RENAMES)
def test_a_variable_gets_another_name(before: str, after: str) -> None:
    assert fixed({"compose.yaml": service(before)}, "NCCL505") == {"compose.yaml": service(after)}


def rewriter(text: str) -> Any:
    (launch,) = read({"compose.yaml": text}, "NCCL").launches
    return launch.rewriter


@pytest.mark.parametrize(
    "environment", ["- NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT:", "- NCCL_BLOCKING_WAIT=1\n- NEW=1", "- OTHER=1"]
)
def test_no_other_name_for_what_the_host_gives_or_where_it_is_taken(environment: str) -> None:
    text = service("environment:\n" + textwrap.indent(environment, "  ") + "\n")
    assert rewriter(text).rename_variable("NCCL_BLOCKING_WAIT", "NEW") == []


# Ulimits ---------------------------------------------------------------------------------------

RDMA = "devices: [/dev/infiniband]\n"
LIMITS: dict[str, tuple[str, str]] = {
    "none": (RDMA, f"ulimits:\n  memlock: -1\n{RDMA}"),
    "others": (f"{RDMA}ulimits:\n  stack: 1  # s\n", f"{RDMA}ulimits:\n  stack: 1  # s\n  memlock: -1\n"),
    "others in braces": (f"{RDMA}ulimits: {{stack: 1}}\n", f"{RDMA}ulimits: {{stack: 1, memlock: -1}}\n"),
    "another value": (f"{RDMA}ulimits:\n  memlock: 65536  # m\n", f"{RDMA}ulimits:\n  memlock: -1  # m\n"),
    "soft and hard": (f"{RDMA}ulimits:\n  memlock:\n    soft: 1\n    hard: 2\n  stack: 1\n",
                      f"{RDMA}ulimits:\n  memlock:\n    soft: -1\n    hard: -1\n  stack: 1\n"),
    "soft and hard in braces": (f"{RDMA}ulimits: {{memlock: {{soft: 1, hard: 2}}}}\n",
                                f"{RDMA}ulimits: {{memlock: {{soft: -1, hard: -1}}}}\n"),
}  # fmt: skip


@table(("before", "after"), LIMITS.values(), ids=LIMITS)
@table("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_ulimit_is_set(before: str, after: str, newline: str) -> None:
    before, after = service(before).replace("\n", newline), service(after).replace("\n", newline)
    assert fixed({"compose.yaml": before}, "NCCL504") == {"compose.yaml": after}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("services:\n      a:\n            image: x\n            gpus: all\n            devices: [/dev/infiniband]",
         "services:\n      a:\n            image: x\n            gpus: all\n            ulimits:\n"
         "                  memlock: -1\n            devices: [/dev/infiniband]"),
        ("services:\n  a: {image: x, gpus: all, devices: [/dev/infiniband]}\n",
         "services:\n  a: {image: x, gpus: all, ulimits: {memlock: -1}, devices: [/dev/infiniband]}\n"),
        ('{"services": {"a": {"image": "x", "gpus": "all", "devices": ["/dev/infiniband"]}}}',
         '{"services": {"a": {"image": "x", "gpus": "all", "ulimits": {"memlock": -1}, '
         '"devices": ["/dev/infiniband"]}}}'),
    ],
    ids=["deep", "braces", "json"],
)  # fmt: skip
def test_a_ulimit_in_the_files_own_form(before: str, after: str) -> None:
    assert fixed({"compose.yaml": before}, "NCCL504") == {"compose.yaml": after}


def test_ulimits_that_another_service_has_too_stay() -> None:
    text = f"x-u: &u\n  stack: 1\n{service(RDMA + 'ulimits: *u' + chr(10))}  b:\n    image: y\n    ulimits: *u\n"
    outcome = fix.fix(read({"compose.yaml": text}, "NCCL504"))
    assert outcome.texts == {} and [f.rule for f in outcome.unproved] == ["NCCL504"]


# IPC modes -------------------------------------------------------------------------------------


def first(changes: list[Change], text: str) -> str | None:
    return apply_edits(text, changes[0].edits) if changes else None


@pytest.mark.parametrize(
    ("before", "mode", "after"),
    [
        ("ipc: host  # h\nports: []\n", "", "ports: []\n"),
        ("ipc: host  # h\nports: []\n", "shareable", "ipc: shareable  # h\nports: []\n"),
        ("ipc: 'private'\n", "shareable", "ipc: 'shareable'\n"),
        ("ports: []\n", "shareable", "ipc: shareable\nports: []\n"),
        ("ports: []\n", "", None),
        ("ipc: ${IPC:-host}\n", "", ""),
        ("ipc: ${IPC:-host}\n", "shareable", None),
    ],
)
def test_an_ipc_mode_is_set(before: str, mode: str, after: str | None) -> None:
    text = service(before)
    wanted = None if after is None else service(after)
    assert first(list(rewriter(text).set_ipc(mode)), text) == wanted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("services:\n  a: {image: x, ipc: host, ports: []}\n", "services:\n  a: {image: x, ports: []}\n"),
        ("x-b: &b\n  image: x\n  ipc: host\nservices:\n  a:\n    <<: *b\n",
         "x-b: &b\n  image: x\nservices:\n  a:\n    <<: *b\n"),
    ],
)  # fmt: skip
def test_an_ipc_mode_is_removed_from_where_it_is(before: str, after: str) -> None:
    assert first(list(rewriter(before).set_ipc("")), before) == after


# Any environment -------------------------------------------------------------------------------

KEYS = ("A", "B_1", "PATH", "NVIDIA_VISIBLE_DEVICES", "Z")
VALUES = st.sampled_from(["", "1", "0", "x y", "a=b", "a:b", "${HOME_}", "${X:-y}", "#no", "it's"])
COMMENTS = st.sampled_from(["", "  # c", " # it's, {not} [this]"])


@st.composite
def environments(draw: st.DrawFn) -> str:
    """The lines of an environment with the variable in it, in one of the styles people use."""
    names = draw(st.permutations([NAME, *draw(st.lists(st.sampled_from(KEYS), max_size=4, unique=True))]))
    flow, listed = draw(st.booleans()), draw(st.booleans())
    members = []
    for name in names:
        value = "1" if name == NAME else draw(VALUES)
        quote = draw(st.sampled_from("'\""))
        inside = value.replace("'", "''") if quote == "'" else value
        if listed:
            text = f"{name}={inside}"
            plain = not any(c in value for c in "#:'{") and not (flow and "," in value)
            members.append(text if plain and draw(st.booleans()) else f"{quote}{text}{quote}")
        else:
            key = draw(st.sampled_from([name, f'"{name}"']))
            members.append(f"{key}: {quote}{inside}{quote}")
    if not flow:
        dash = "- " if listed else ""
        indent = draw(st.sampled_from(["", "  ", "    "] if listed else ["  ", "    "]))
        lines = []
        for member in members:
            if draw(st.integers(0, 4)) == 0:
                lines.append(draw(st.sampled_from(["", f"{indent}# on its own", "# - NCCL_P2P_DISABLE=1"])))
            lines.append(f"{indent}{dash}{member}{draw(COMMENTS)}")
        return f"environment:{draw(COMMENTS)}\n" + "\n".join(lines) + "\n"
    start, end = "[]" if listed else "{}"
    if draw(st.booleans()):
        trailing = draw(st.sampled_from(["", ","]))
        inner = ",\n".join(f"  {member}" for member in members)
        return f"environment: {start}\n{inner}{trailing}\n{end}\n"
    return f"environment: {start}{draw(st.sampled_from([', ', ',' if listed else ', ', ' , '])).join(members)}{end}\n"


def drawn(environment: str, behind: str, newline: str) -> str:
    return (service(environment + behind) + "  b:\n    image: redis  # last\n").replace("\n", newline)


def variables(text: str) -> dict[str, object]:
    launch = read({"compose.yaml": text}, "NCCL501").launches[0]
    return {name: (v.known, v.text if v.known is None else "") for name, v in launch.environment.items()}


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(environments(), st.sampled_from(["", "ports: ['1:1']\n", "# end\n"]), st.sampled_from(["\n", "\r\n"]))
def test_any_environment_loses_one_variable_and_nothing_else(environment: str, behind: str, newline: str) -> None:
    text = drawn(environment, behind, newline)
    note(text)
    after = fixed({"compose.yaml": text}, "NCCL501")["compose.yaml"]
    note(after)
    before = variables(text)
    assert before.pop(NAME) == ("1", "")
    assert variables(after) == before
    gone = [line for line in text.splitlines(keepends=True) if line not in after.splitlines(keepends=True)]
    # What a line loses it held itself: the variable, its key, or the comma in front of it.
    assert all(NAME in line or "environment" in line or line.rstrip().endswith(",") or before == {} for line in gone)
    assert _others(text) == _others(after)


def _others(text: str) -> list[str]:
    """The lines outside of the environment."""
    starts = ("services", "a:", "image", "gpus", "ports", "# ", "b:")
    return [line for line in text.splitlines(keepends=True) if line.lstrip().startswith(starts)]


@pytest.mark.compose_judge
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(environments(), st.sampled_from(["", "ports: ['1:1']\n"]))
def test_compose_sees_one_variable_less(environment: str, behind: str) -> None:
    text = drawn(environment, behind, "\n")
    note(text)
    after = fixed({"compose.yaml": text}, "NCCL501")["compose.yaml"]
    configs = []
    for version in (text, after):
        Path("compose.yaml").write_text(version, newline="")
        config = compose_config(Path.cwd())
        assert config is not None
        configs.append(config)
    old, new = configs
    del old["services"]["a"]["environment"][NAME]
    for config in configs:
        if not config["services"]["a"].get("environment"):
            config["services"]["a"].pop("environment", None)
    assert old == new


@pytest.mark.compose_judge
@pytest.mark.parametrize("after", [after for _, after in LIMITS.values()], ids=list(LIMITS))
def test_compose_reads_the_ulimit(after: str) -> None:
    Path("compose.yaml").write_text(service(after), newline="")
    config = compose_config(Path.cwd())
    assert config is not None
    limit = config["services"]["a"]["ulimits"]["memlock"]
    assert limit in (-1, {"soft": -1, "hard": -1})

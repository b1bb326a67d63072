"""Plans: the edits of an intention, and what it makes of a launch."""

from __future__ import annotations

from shmlint.files.workspace import Workspace
from shmlint.fixing.plan import advice, alternatives, becomes, planned
from shmlint.model.finding import (
    DropSize,
    DropVariable,
    Finding,
    Fix,
    Intention,
    LeaveHostIpc,
    RenameVariable,
    SetIpc,
    SetSize,
    SetUlimit,
)
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.model.source import apply_edits
from shmlint.run import lint

TEXT = "docker run --gpus all --ipc=host -e NCCL_DEBUG=INFO --shm-size=2g nvcr.io/nvidia/pytorch:24.01-py3 t.py\n"
INTENTIONS: list[tuple[Intention, str, str]] = [
    (SetSize(8 << 30), "--shm-size=2g", "--shm-size=8g"),
    (DropSize(), " --shm-size=2g", ""),
    (SetIpc("private"), "--ipc=host", "--ipc=private"),
    (LeaveHostIpc(8 << 30), "--ipc=host -e NCCL_DEBUG=INFO --shm-size=2g", "-e NCCL_DEBUG=INFO --shm-size=8g"),
    (LeaveHostIpc(0), " --ipc=host", ""),
    (SetUlimit("memlock", "-1"), "--gpus all", "--gpus all --ulimit memlock=-1"),
    (DropVariable("NCCL_DEBUG"), " -e NCCL_DEBUG=INFO", ""),
    (RenameVariable("NCCL_DEBUG", "OTHER"), "NCCL_DEBUG=INFO", "OTHER=INFO"),
]


def launch_of(text: str) -> Launch:
    (launch,) = lint({"shell": ["run.sh"]}, Settings(), Workspace({"run.sh": text})).launches
    return launch


def said(launch: Launch) -> tuple[object, ...]:
    shm = launch.shm.known.bytes if launch.shm is not None and launch.shm.known is not None else None
    limits = {name: value.known for name, value in launch.ulimits.items()}
    return (
        shm, launch.ipc.known if launch.ipc else None, {k: v.known for k, v in launch.environment.items()}, limits,
        launch.effective_shm()[:2],
    )  # fmt: skip


def test_the_edits_make_of_a_launch_what_is_said_of_it() -> None:
    launch = launch_of(TEXT)
    for intention, old, new in INTENTIONS:
        finding = Finding("X", "error", launch.span, "", launch, fix=Fix(intention))
        plan = planned(finding)
        assert plan is not None and plan == alternatives(finding)[0], intention
        text = apply_edits(TEXT, plan.edits)
        assert text == TEXT.replace(old, new), intention
        after = becomes(launch, intention)
        assert said(after) == said(launch_of(text)) == said(becomes(after, intention)), intention


def test_nothing_is_planned_where_nothing_can_be_written() -> None:
    launch = launch_of(TEXT)
    finding = Finding("X", "error", launch.span, "", launch)
    assert planned(finding) is None
    assert planned(finding._replace(fix=Fix(DropVariable("ABSENT")))) is None
    assert planned(finding._replace(launch=None, fix=Fix(SetSize(1)))) is None


def test_what_no_edit_can_bring_about_is_advised() -> None:
    files = {"compose.yaml": TEXT, "compose.override.yaml": "services:\n  a:\n    shm_size: !reset null\n"}
    text = "services:\n  a:\n    image: nvcr.io/nvidia/pytorch:24.01-py3\n    gpus: all\n    shm_size: 8gb\n"
    run = lint({"compose": sorted(files, reverse=True)}, Settings(), Workspace({**files, "compose.yaml": text}))
    (finding,) = (f for f in run.findings if f.rule == "SHM101")
    assert planned(finding) is None
    assert advice(finding) == "set shm_size to 8gb by hand: there is no place for a safe edit"
    assert advice(finding._replace(advice="do this")) == "do this"
    assert advice(finding._replace(fix=None)) == ""

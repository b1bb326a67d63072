"""Any sequence of fixes on any compose file keeps what Compose makes of it, but for the size."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix, prove
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.model.source import OverlappingEdits, apply_edits
from shmlint.run import Run, lint
from tests.oracles.compose import compose_config

MIB = 1024**2
SIZES = [16 * MIB, 64 * MIB, 1000 * MIB, 1024 * MIB, 8 * 1024 * MIB, 954 * MIB]

LINES = [
    "image: nvcr.io/nvidia/pytorch:24.01-py3", "image: 'vllm/vllm-openai'  # served", "gpus: all", "gpus: [{count: 2}]",
    "deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 2}]}}}", "runtime: nvidia",
    "command: torchrun --nproc_per_node=8 train.py", "command: [\"python\", 'x.py']", "shm_size: 64m",
    'shm_size: "1gb"',
    "shm_size: ${SHM:-128m}", "shm_size: *size", "shm_size: 1e9", "environment: [NCCL_P2P_DISABLE=1, A=b]",
    "environment: {NCCL_DEBUG: INFO, B: 'c # d'}", "environment: *env", "ports: ['80:80']", "labels: {a: \"b\"}",
    "ulimits: {nofile: 10}", "devices: [/dev/infiniband]", "tmpfs: /run", "build: {context: ., shm_size: 2g}",
    "<<: *base", "volumes: ['./a:/b']", "mem_limit: 40g",
]  # fmt: skip
"""What a service may hold: a line each, the first word its key."""

HEAD = """\
# a project
x-size: &size 128m
x-env: &env
  NCCL_IB_DISABLE: "1"  # for now
  C: d
x-base: &base
  image: nvcr.io/nvidia/nemo:24.05
  gpus: all

services:
"""


@st.composite
def projects(draw: st.DrawFn) -> str:
    """A compose file of up to four services, in block and flow style."""
    parts = [HEAD]
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    indentation = draw(st.sampled_from(["  ", "    "]))
    for number in range(draw(st.integers(1, 4))):
        some = st.lists(st.sampled_from(LINES), min_size=1, max_size=7, unique_by=lambda line: line.split(":")[0])
        lines = draw(some)
        if not any(line.startswith(("image", "<<", "build")) for line in lines):
            lines.insert(0, "image: own:1")
        if draw(st.integers(0, 4)) == 0 and not any("#" in line or "$" in line for line in lines):
            parts.append(f"{indentation}s{number}: {{{', '.join(lines)}}}\n")
        else:
            parts.append(f"{indentation}s{number}:{draw(st.sampled_from(['', '  # why']))}\n")
            parts += [f"{indentation * 2}{line}\n" for line in lines]
        parts.append(draw(st.sampled_from(["", "\n", "  # between\n"])))
    text = "".join(parts).replace("\n", newline)
    return draw(st.sampled_from([text, text.rstrip("\r\n"), "\ufeff" + text]))


class Fixes(RuleBasedStateMachine):
    """A file that is repaired again and again, by sizes and by rules."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.back = Path.cwd()
        os.chdir(self.directory.name)
        self.first = self.text = ""
        self.touched = {"shm_size"}

    @initialize(text=projects())
    def begin(self, text: str) -> None:
        self.first = self.text = text
        self.launches = self.read().launches
        assert self.launches, "it can be read"

    def read(self) -> Run:
        return lint({"compose": ["compose.yaml"]}, Settings(select=("all",)), Workspace({"compose.yaml": self.text}))

    @rule(number=st.integers(0, 3), size=st.sampled_from(SIZES), choice=st.integers(0, 2))
    def set_a_size(self, number: int, size: int, choice: int) -> None:
        """What a rewriter offers, whether a rule asks for it or not."""
        launches = self.read().launches
        launch = launches[number % len(launches)]
        changes = launch.rewriter.set_shm_size(size)
        if not changes:
            return
        try:
            self.text = apply_edits(self.text, changes[min(choice, len(changes) - 1)].edits)
        except OverlappingEdits:
            raise AssertionError(changes) from None
        after = {found.name: found for found in self.read().launches}[launch.name]
        assert after.shm is not None and after.shm.known is not None and after.shm.known.bytes == size

    @rule()
    def repair(self) -> None:
        self.text = fix.fix(self.read()).texts.get("compose.yaml", self.text)

    @rule()
    def repair_what_may_alter_it(self) -> None:
        outcome = fix.fix(self.read(), unsafe=True)
        if "compose.yaml" in outcome.texts:
            self.text = outcome.texts["compose.yaml"]
            self.touched |= {"environment", "ulimits", "ipc"}

    @invariant()
    def nothing_else_is_read(self) -> None:
        now = self.read().launches
        assert [launch.name for launch in now] == [launch.name for launch in self.launches]
        for old, new in zip(self.launches, now, strict=True):
            assert self.rest(old) == self.rest(new)

    def rest(self, launch: Launch) -> object:
        """What a launch says besides what was meant to change: safe fixes may raise a ulimit."""
        bare = launch._replace(ulimits={}, environment={} if "ipc" in self.touched else launch.environment)
        return prove.parts(bare._replace(ipc=None if "ipc" in self.touched else launch.ipc, shm=None), 0)

    @invariant()
    def what_people_wrote_next_to_it_stays(self) -> None:
        assert self.text.startswith("\ufeff") == self.first.startswith("\ufeff")
        for words in ("# a project", "# why", "# between", "# served", "# for now"):
            if words != "# for now" or "environment" not in self.touched:
                assert self.text.count(words) == self.first.count(words)
        assert ("\r\n" in self.first) == ("\r\n" in self.text)
        assert self.text.count("\n") == self.text.count("\r\n") or "\r\n" not in self.first

    @precondition(lambda self: self.text != self.first)
    @rule()
    def ask_compose(self) -> None:
        if JUDGED:
            before, after = self.judged(self.first), self.judged(self.text)
            assert before is None or after is not None, self.text
            assert before is None or before == after

    def judged(self, text: str) -> object:
        Path("compose.yaml").write_bytes(text.encode())
        config = compose_config(Path.cwd())
        if config is None:
            return None

        def bare(service: dict[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in service.items() if name not in {*self.touched, "ulimits"}}

        return {name: bare(service) for name, service in config["services"].items()}

    def teardown(self) -> None:
        os.chdir(self.back)
        self.directory.cleanup()


JUDGED = False


@pytest.mark.slow
def test_any_sequence_of_fixes() -> None:
    run_state_machine_as_test(Fixes, settings=settings(stateful_step_count=8))


@pytest.mark.compose_judge
def test_any_sequence_of_fixes_to_compose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.formats.compose.test_state_machine.JUDGED", True)
    run_state_machine_as_test(Fixes, settings=settings(stateful_step_count=6))

"""Fixes: what is not proved is not written, and what is written is written whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix, groups, prove, repairs, rounds
from shmlint.fixing.plan import alternatives
from shmlint.formats.compose import rewrite
from shmlint.formats.compose.rewrite import ServiceRewriter
from shmlint.formats.shell.rewrite import RunRewriter
from shmlint.model.finding import Finding
from shmlint.model.launch import Change
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, OverlappingEdits, Problem, Source, Span, apply_edits
from shmlint.run import Run, Unchecked, lint
from tests.oracles.compose import compose_config
from tests.table import table

SETTINGS = Settings(shm_size=8 << 30)
SIZES = {8 << 30, 954 << 20, 64 << 20}
"""What the generated files are given: the setting, and what 1e9 and 64 were meant to be."""


LACKING = "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    ports: ['1:1']\n  b:\n    image: redis\n"
FIXED = LACKING.replace("gpus: all\n", "gpus: all\n    shm_size: 8gb\n")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(texts: Mapping[str, str] | None = None, *files: str) -> Run:
    return lint({"compose": list(files or texts or ())}, SETTINGS, Workspace(texts))


# The proof


def lie(monkeypatch: pytest.MonkeyPatch, *edits: tuple[str, str]) -> None:
    """Let the rewriter replace texts of ``LACKING`` instead of the intended change."""
    made = tuple(
        Edit("compose.yaml", LACKING.index(old), LACKING.index(old) + len(old), new) for old, new in edits
    )

    def set_shm_size(self: ServiceRewriter, size: int) -> Sequence[Change]:
        return [Change(made, "lie")]

    monkeypatch.setattr(ServiceRewriter, "set_shm_size", set_shm_size)


SIZE = ("gpus: all\n", "gpus: all\n    shm_size: 8gb\n")


@table(
    "edits",
    [
        [("gpus: all\n", "gpus: all\n    shm_size: 4gb\n")],
        [("gpus: all\n", "gpus: all\n    shm_size: 1b\n")],
        [("gpus: all\n", "gpus: all\n    shm_size: 16gb\n")],
        [("gpus: all\n", "gpus: all\n    ipc: host\n")],
        [("gpus: all\n", "")],
        [("gpus: all\n", "gpus: all\n  shm_size: 8gb\n")],
        [("gpus: all\n", "gpus: all\n    shm_size: [\n")],
        [("gpus: all\n", "gpus: all\n    # shm_size: 8gb\n")],
        [("gpus: all\n", "gpus: all # as before\n")],
        [SIZE, ("redis\n", "redis\n    shm_size: 8gb\n")],
        [SIZE, ("image: redis", "image: mysql")],
        [SIZE, ("ports: ['1:1']", "ports: ['2:2']")],
        [SIZE, ("ports: ['1:1']", 'ports: ["1:1"]')],
        [SIZE, ("    ports: ['1:1']\n", "")],
        [SIZE, ("  b:\n", "  c:\n")],
        [SIZE, ("redis\n", "redis\n  c:\n    image: redis\n")],
        [SIZE, ("services", "name: x\nservices")],
        [SIZE, ("gpus: all", "gpus: 1")],
    ],
)
def test_a_rewriter_that_does_something_else_is_found_out(
    edits: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lie(monkeypatch, *edits)
    outcome = fix.fix(read({"compose.yaml": LACKING}))
    assert outcome.texts == {}
    assert outcome.fixed == []
    assert [f.rule for f in outcome.unproved] == ["SHM101"]
    (left,) = fix.remaining(outcome)
    assert left.fix is None
    assert "could not be proved" in left.advice


def test_only_what_failed_its_proof_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two commands of one image say the same; what would change the first is a lie, and the second has no change."""

    def set_shm_size(self: RunRewriter, size: int) -> Sequence[Change]:
        first = self.span.start == 0
        return [Change((Edit("run.sh", 0, 6, "podman"),), "lie")] if first else []

    monkeypatch.setattr(RunRewriter, "set_shm_size", set_shm_size)
    text = "docker run --gpus all nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py\n" * 2
    run = lint({"shell": ["run.sh"]}, SETTINGS, Workspace({"run.sh": text}))
    assert len({f.message for f in run.findings}) == 1 and len(run.findings) == 2
    left = fix.remaining(fix.fix(run))
    assert ["could not be proved" in finding.advice for finding in left] == [True, False]


def test_an_honest_rewriter_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    lie(monkeypatch, SIZE)
    outcome = fix.fix(read({"compose.yaml": LACKING}))
    assert outcome.texts == {"compose.yaml": FIXED}
    assert [f.rule for f in outcome.fixed] == ["SHM101"]
    assert fix.remaining(outcome) == []


def test_the_next_change_is_taken_where_the_best_does_not_prove_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = ServiceRewriter.set_shm_size

    def set_shm_size(self: ServiceRewriter, size: int) -> Sequence[Change]:
        return [Change((Edit("compose.yaml", 0, 8, "servants"),), "lie"), *honest(self, size)]

    monkeypatch.setattr(ServiceRewriter, "set_shm_size", set_shm_size)
    assert fix.fix(read({"compose.yaml": LACKING})).texts == {"compose.yaml": FIXED}


def test_a_change_that_contradicts_itself_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    lie(monkeypatch, SIZE, ("gpus: all\n", ""))
    assert fix.fix(read({"compose.yaml": LACKING})).texts == {}


def test_what_was_not_found_is_still_said_after_fixing() -> None:
    problem = Problem(Span(Source("gone.yaml", ""), 0, 0), "no such file")
    before = Reading(problems=(problem,))
    run = lint({"compose": ["compose.yaml"]}, SETTINGS, Workspace({"compose.yaml": LACKING}), before)
    outcome = fix.fix(run)
    assert outcome.texts
    assert [(f.span.path, f.message) for f in fix.remaining(outcome)] == [("gone.yaml", "no such file")]


def test_a_fix_that_uncovers_another_is_followed() -> None:
    """1e8 becomes a whole number, and that is too small."""
    text = "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 1e8\n"
    outcome = fix.fix(read({"compose.yaml": text}))
    assert outcome.texts == {"compose.yaml": text.replace("1e8", "8gb")}
    assert outcome.unproved == []


def test_two_files_are_fixed_and_a_third_is_left() -> None:
    texts = {"a/compose.yaml": LACKING, "b/compose.yaml": FIXED, "c/compose.yaml": LACKING}
    assert fix.fix(read(texts)).texts == {"a/compose.yaml": FIXED, "c/compose.yaml": FIXED}


# How often the files are read again


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each reading."""
    readings: list[int] = []
    honest = prove.read

    def read_again(*arguments: Any) -> Unchecked:
        readings.append(1)
        return honest(*arguments)

    monkeypatch.setattr(prove, "read", read_again)
    return readings


def services(count: int) -> str:
    return "services:\n" + "".join(f"  s{n}:\n    image: pytorch/pytorch\n    gpus: all\n" for n in range(count))


def lie_about(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let the rewriter of some services do something else."""
    honest = ServiceRewriter.set_shm_size

    def set_shm_size(self: ServiceRewriter, size: int) -> Sequence[Change]:
        changes = honest(self, size)
        if names and self.service.name not in names:
            return changes
        return [Change(tuple(edit._replace(text="    ipc: host\n") for edit in changes[0].edits), "lie")]

    monkeypatch.setattr(ServiceRewriter, "set_shm_size", set_shm_size)


def test_a_few_bad_changes_among_many_are_found_with_few_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    lie_about(monkeypatch, "s7", "s30")
    readings = counted(monkeypatch)
    outcome = fix.fix(read({"compose.yaml": services(40)}))
    assert len(outcome.fixed) == 38
    assert {f.launch.name for f in outcome.unproved if f.launch} == {"s7", "s30"}
    assert len(readings) < 40


def many(part: str, head: str) -> str:
    return head + "".join(part.replace("@", str(n)) for n in range(40))


SHARED = {
    "a variable of make": (
        "makefile", "Makefile",
        many("r@:\n\t$(RUN) pytorch/pytorch torc\n", "RUN = docker run --gpus all\nq:\n\t$(RUN) redis\n"),
    ),
    "an array": (
        "shell", "run.sh",
        many('docker run "${A[@]}" pytorch/pytorch python train.py\n', 'A=(--gpus all)\ndocker run "${A[@]}" redis\n'),
    ),
    "an anchor": (
        "compose", "compose.yaml",
        many("  a@:\n    <<: *a\n  b@:\n    <<: *a\n    command: torchrun --nproc_per_node=8 train.py\n",
             "x: &a\n  image: pytorch/pytorch\n  gpus: all\n  shm_size: 64m\n  command: python train.py\nservices:\n"),
    ),
}  # fmt: skip


@pytest.mark.slow
@table("shared", SHARED)
def test_one_edit_for_all_that_share_a_text_is_read_once(shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, path, text = SHARED[shared]
    run = lint({kind: [path]}, Settings(), Workspace({path: text}))
    readings = counted(monkeypatch)
    fix.fix(run, unsafe=True)
    assert len(readings) < 5  # 20 proofs and more
    fix.suggestions(run)
    assert len(readings) < 12  # 100 proofs


def test_an_edit_that_many_share_is_refused_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the others it is no better: the next way, in front of each image, is tried at once."""
    recipes = many("r@:\n\t$(RUN) nvcr.io/nvidia/nemo a@\n", "RUN = docker run --gpus all\nq:\n\t$(RUN) redis\n")
    run = lint({"makefile": ["Makefile"]}, Settings(), Workspace({"Makefile": recipes}))
    proofs: list[int] = []
    honest = rounds.prove

    def prove_again(*arguments: Any) -> Any:
        proofs.append(1)
        return honest(*arguments)

    monkeypatch.setattr(rounds, "prove", prove_again)
    assert len(fix.fix(run).fixed) == 40
    assert len(proofs) < 8  # 23 where each is tried alone


def test_what_no_proof_reads_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch that becomes another refuses an edit; nobody asks for the findings then."""
    lie_about(monkeypatch)
    run = read({"compose.yaml": services(10)})
    readings = counted(monkeypatch)
    monkeypatch.setattr(prove, "check", None)
    assert fix.fix(run).texts == {}
    assert len(readings) > 3


@pytest.mark.slow
def test_good_changes_are_found_after_many_bad_ones() -> None:
    """A size for one of the first 25 services would be merged into another one that needs none."""
    service = "  s{0}: &a{0}\n    image: pytorch/pytorch\n    gpus: all\n"
    merged = "  o{0}:\n    <<: *a{0}\n    image: ollama/ollama\n"
    text = "services:\n" + "".join((service + merged * (n < 25)).format(n) for n in range(35))
    outcome = fix.fix(read({"compose.yaml": text}))
    assert len(outcome.fixed) == 10 and len(outcome.unproved) == 25


@pytest.mark.slow
def test_many_bad_changes_do_not_make_it_read_on_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    lie_about(monkeypatch)
    monkeypatch.setattr(fix, "MOST_READ_AGAIN", 0)
    readings = counted(monkeypatch)
    outcome = fix.fix(read({"compose.yaml": services(150)}))
    assert outcome.texts == {}
    assert len(outcome.unproved) == 150
    assert len(readings) < 100


def test_bad_changes_that_are_in_each_others_way_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with carriage returns alone is one line: all that is added would be at its end."""
    devices = "\r".join(["          - ca:"] * 60)
    head = "services:\r  a:\r    image: x\r    deploy:\r      resources:\r        reservations:\r          devices:\r"
    monkeypatch.setattr(fix, "READ_IN_VAIN", 0)
    readings = counted(monkeypatch)
    outcome = fix.fix(read({"compose.yaml": f"{head}{devices}"}))
    assert outcome.texts == {}
    assert len(outcome.unproved) == 60
    assert len(readings) < 30

    planned: list[Finding] = []
    monkeypatch.setattr(repairs, "alternatives", lambda finding: (planned.append(finding), alternatives(finding))[1])
    monkeypatch.setattr(fix, "IN_THE_WAY", 10)
    readings = counted(monkeypatch)
    assert len(fix.fix(read({"compose.yaml": f"{head}{devices}"})).unproved) == 60
    assert len(readings) < 12
    assert len(planned) <= 2 * 60, "what would do is asked again in each round"


def test_comments_that_suppress_nothing_are_removed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    comment = "# shmlint: ignore[SHM101] a # shmlint: ignore[SHM102] b"
    text = "services:\n" + "".join(f"  s{n}:\n    image: redis {comment}\n" for n in range(30))
    readings = counted(monkeypatch)
    outcome = fix.fix(read({"compose.yaml": text}))
    assert outcome.unproved == []
    assert "shmlint" not in outcome.texts["compose.yaml"]
    assert len(readings) < 10


# Files that hang together


def proved_in(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The files of each proof, as they come."""
    seen: list[set[str]] = []
    honest = prove.prove

    def noted(run: Run, repairs: Sequence[prove.Repair], intended: Any) -> object:
        seen.append(set(run.paths))
        return honest(run, repairs, intended)

    monkeypatch.setattr(rounds, "prove", noted)
    return seen


def test_directories_that_say_nothing_of_each_other_are_repaired_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = proved_in(monkeypatch)
    lie_about(monkeypatch, "liar")
    texts = {f"d{n}/compose.yaml": LACKING for n in range(5)}
    texts["d3/compose.yaml"] = LACKING.replace("  a:", "  liar:")
    outcome = fix.fix(read(texts))
    assert proofs == [set(texts), *({path} for path in texts)], "apart where the proof of all fails"
    assert outcome.texts == {path: FIXED for path in texts if path != "d3/compose.yaml"}
    assert [f.launch.name for f in outcome.unproved if f.launch] == ["liar"]
    assert [f.span.path for f in fix.remaining(outcome)] == ["d3/compose.yaml"]


BASE = LACKING.replace("image: pytorch/pytorch", "image: vllm/vllm-openai")


@pytest.mark.parametrize(
    "other",
    [
        "services:\n  b: {extends: {file: ../d0/compose.yaml, service: a}}\n",
        "include: [../d0/compose.yaml]\n",
        "include: [../d1/compose.yaml]\n",  # which includes it in its turn
    ],
)
def test_directories_that_ask_for_each_other_are_proved_together(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = proved_in(monkeypatch)
    lie_about(monkeypatch, "liar")
    texts = {"d0/compose.yaml": BASE, "d1/compose.yaml": "include: [../d0/compose.yaml]\n", "d2/compose.yaml": other,
             "d3/compose.yaml": LACKING, "d4/compose.yaml": LACKING.replace("  a:", "  liar:")}  # fmt: skip
    outcome = fix.fix(read(texts))
    assert [f.launch.name for f in outcome.unproved if f.launch] == ["liar"]
    assert set(outcome.texts) == {"d0/compose.yaml", "d3/compose.yaml"}
    assert proofs == [
        set(texts), {"d0/compose.yaml", "d1/compose.yaml", "d2/compose.yaml"}, {"d3/compose.yaml"}, {"d4/compose.yaml"},
    ]  # fmt: skip


def test_a_page_is_read_again_where_what_it_extends_has_changed() -> None:
    page = "```yaml\nservices:\n  p:\n    extends: {file: compose.yaml, service: a}\n```\n"
    files = {"markdown": ["README.md", "OTHER.md"]}
    before = lint(files, SETTINGS, Workspace({"compose.yaml": LACKING, "README.md": page, "OTHER.md": page[:8]}))
    after = lint(files, SETTINGS, before.workspace.over({"compose.yaml": FIXED}))
    assert [launch.effective_shm().bytes for run in (before, after) for launch in run.launches] == [64 << 20, 8 << 30]


def test_what_was_proved_apart_is_checked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the parts are taken for apart and are not, everything is proved together."""
    monkeypatch.setattr(groups, "_related", lambda run: iter([{"compose": [path]} for path in run.files["compose"]]))
    extends = "services:\n  b: {extends: {file: ../d0/compose.yaml, service: a}, command: nvidia-smi}\n"
    texts = {"d0/compose.yaml": LACKING, "d1/compose.yaml": extends, "d2/compose.yaml": LACKING}
    proofs = proved_in(monkeypatch)
    outcome = fix.fix(read(texts))
    assert {"d0/compose.yaml"} in proofs and set(texts) in proofs
    assert outcome.texts == {"d2/compose.yaml": FIXED}, "b, which needs none, would have it from d0"
    assert [f.span.path for f in outcome.unproved] == ["d0/compose.yaml"]


# Edits


def test_edits_are_spliced_in_any_order_and_once() -> None:
    edits = [Edit("x", 4, 4, "!"), Edit("x", 0, 1, "A"), Edit("x", 2, 3, ""), Edit("x", 0, 1, "A")]
    assert apply_edits("abcd", edits) == "Abd!"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit("x", 0, 2, ""), Edit("x", 1, 3, "")],
        [Edit("x", 0, 2, "a"), Edit("x", 0, 2, "b")],
        [Edit("x", 1, 1, "a"), Edit("x", 1, 1, "b")],
        [Edit("x", 0, 3, ""), Edit("x", 1, 1, "b")],
    ],
)
def test_edits_that_overlap_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(OverlappingEdits):
        apply_edits("abcd", edits)


def test_what_touches_an_edit_may_be_edited_too() -> None:
    assert apply_edits("abcd", [Edit("x", 1, 2, "B"), Edit("x", 2, 2, "-"), Edit("x", 2, 3, "C")]) == "aB-Cd"


# Generated files


def indented(text: str, by: int) -> str:
    return "".join(" " * by + line if line.strip() else line for line in text.splitlines(keepends=True))


GIVEN = ["64m", "'64m'", '"64m"', "64", "1e9", "${SHM:-64m}", '"${SHM-1}m"', "${A:-${B:-64}}", "16gb", "1073741824"]
IMAGES = ["pytorch/pytorch", "ollama/ollama", "redis", "'pytorch/pytorch'", '"vllm/vllm-openai"', "acme/private:1"]
BLOCKS = [
    "gpus: all",
    "runtime: nvidia",
    "gpus:\n- count: 2\n  driver: nvidia",
    "gpus: [{count: 1}]",
    "gpus:\n  - count: all",
    "deploy:\n  resources:\n    reservations:\n      devices:\n      - capabilities: [gpu]\n        count: 1",
]
EXTRAS = [
    "command: >-\n  torchrun --nproc_per_node=8\n  train.py\n\n",
    "command: |\n  train\n   deeper\n",
    "command: |+\n  keep\n\n",
    "labels:\n- a=b\n- 'c: d # no comment'",
    'environment:\n  A: "x\n\n    y"\n  B:',
    "environment: {A: 'it''s', B: '[] }'}",
    "restart: always",
    "container_name: a-box",
    "hostname: a\n  b",
    "x-note: {shm_size: 1g}",
    "x-text: |+\n  shm_size: 64m\n\n\n",
    'working_dir: "/a\\\n  b"',
    "volumes:\n- type: volume\n  target: /data",
    "ports: ['1:1', # one\n  '2:2']",
]
COMMENTS = ["", "", "", "# comment\n", "\n", "  # deeper\n", "# shm_size: 1g\n", "\n\n# a\n\n"]
FLOWS = ["gpus: all", "runtime: nvidia", "gpus: [{count: 1}]"]
NAMES = ["a", "b", "c", "d"]


@st.composite
def block_service(draw: st.DrawFn, name: str, anchor: str, merges: list[str]) -> str:
    """A service in lines. A size that is given carries the comment ``# given``."""
    step = draw(st.sampled_from([2, 3, 4]))
    keys = [f"image: {draw(st.sampled_from(IMAGES))}"]
    if draw(st.integers(0, 4)):
        keys.append(draw(st.sampled_from(BLOCKS)))
    keys += draw(st.lists(st.sampled_from(EXTRAS), max_size=3, unique_by=lambda text: text.split(":")[0]))
    if draw(st.booleans()):
        keys.append(f"shm_size: {draw(st.sampled_from(['', *GIVEN]))}   # given")
    if merges and draw(st.booleans()):
        keys.append(f"<<: *{draw(st.sampled_from(merges))}")
        if draw(st.booleans()):
            keys.pop(0)
        if draw(st.booleans()):
            keys = keys[-1:]
    keys = draw(st.permutations(keys))
    lines = []
    for key in keys:
        one_line = "\n" not in key and "#" not in key
        tail = draw(st.sampled_from(["", "", "  # c", " "])) if one_line else ""
        lines.append(key.rstrip("\n") + tail + "\n" + ("\n" * (len(key) - len(key.rstrip("\n")) - 1)))
        lines.append(draw(st.sampled_from(COMMENTS)))
    return f"{name}:{anchor and ' &' + anchor}\n" + indented("".join(lines), step)


@st.composite
def flow_service(draw: st.DrawFn, name: str, anchor: str, merges: list[str]) -> str:
    """A service in braces. A given size has two spaces after its colon."""
    pairs = [f"image: {draw(st.sampled_from(IMAGES))}"]
    if draw(st.integers(0, 4)):
        pairs.append(draw(st.sampled_from(FLOWS)))
    if draw(st.booleans()):
        pairs.append(f"shm_size:  {draw(st.sampled_from(GIVEN[:5]))}")
    if merges and draw(st.booleans()):
        pairs.append(f"<<: *{draw(st.sampled_from(merges))}")
    pairs = draw(st.permutations(pairs))
    between, start, end = draw(
        st.sampled_from([(", ", "", ""), (" , ", " ", " "), (",\n  ", "\n  ", "\n"), (", # c\n   ", "", ",")])
    )
    if draw(st.booleans()):
        pairs = [re.sub(r"^([\w<-]+):", r'"\1":', pair) for pair in pairs if "<<" not in pair]
    body = start + between.join(pairs) + end
    return f"{name}:{anchor and ' &' + anchor} {{{body}}}{draw(st.sampled_from(['', ' # c']))}\n"


@st.composite
def files(draw: st.DrawFn) -> str:
    step = draw(st.sampled_from([2, 4]))
    parts: list[str] = []
    anchors: list[str] = []
    for name in NAMES[: draw(st.integers(1, 4))]:
        if anchors and draw(st.integers(0, 3)) == 0:
            parts.append(f"{name}: *{draw(st.sampled_from(anchors))} # alias\n")
        else:
            anchor = f"at-{name}" if draw(st.booleans()) else ""
            kind = draw(st.sampled_from([block_service, block_service, flow_service]))
            parts.append(draw(kind(name, anchor, list(anchors))))
            if anchor:
                anchors.append(anchor)
        parts.append(draw(st.sampled_from(COMMENTS)))
    text = draw(st.sampled_from(["", "---\n", "# top\n", "x-a: |\n  shm_size: 64m\n"]))
    text += "services:\n" + indented("".join(parts), step) + draw(st.sampled_from(["", "volumes: {}\n", "...\n"]))
    if draw(st.booleans()):
        text = text.rstrip(" \n")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "", "\ufeff"])) + text


def without_what_was_written(before: str, after: str) -> tuple[str, str]:
    """Both texts without the sizes that were given, and without the lines and pairs that were added."""
    size = r'"?shm_size"?: "?(?:8gb|954mb|64mb)"?'

    def given_sizes(text: str) -> str:
        text = re.sub(r"shm_size: [^#\r\n]*# given", "shm_size: # given", text)
        return re.sub(r'("?shm_size"?):  [^,}\s]+', r"\1:  x", text)

    after = re.sub(rf"(?m)^ +{size},?\r?\n", "", given_sizes(after))
    after = re.sub(rf"(?:\r?\n +|, ){size}(?![^,}}\s])", "", after)
    after = re.sub(r"\r?\n +<<: (\*[\w-]+ # alias)", r" \1", after)
    return given_sizes(before), after


def examples(few: int) -> Any:
    return settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def readable(text: str) -> Run | None:
    run = read({"compose.yaml": text})
    return None if any(f.rule == "SHM001" for f in run.findings) else run


@pytest.mark.slow
@examples(100)
@given(files())
def test_nothing_but_sizes_is_changed(text: str) -> None:
    run = readable(text)
    if run is None:
        return
    outcome = fix.fix(run)
    after = outcome.texts.get("compose.yaml", text)
    note(after)
    but_for_sizes = [[prove.parts(x._replace(shm=None), 0) for x in r.launches] for r in (run, outcome.run)]
    assert but_for_sizes[0] == but_for_sizes[1]
    for old, new in zip(run.launches, outcome.run.launches, strict=True):
        if old.shm != new.shm and (old.shm is None or new.shm is None or old.shm.value != new.shm.value):
            assert new.shm is not None and new.shm.known is not None
            assert new.shm.known.bytes in SIZES
    again = fix.fix(read({"compose.yaml": after}))
    assert again.texts == {}
    old_text, new_text = without_what_was_written(text, after)
    assert new_text == old_text


@pytest.mark.compose_judge
@examples(40)
@given(text=files())
def test_compose_reads_nothing_but_sizes(text: str, tmp_path: Path) -> None:
    run = readable(text)
    if run is None:
        return
    after = fix.fix(run).texts.get("compose.yaml")
    if after is None:
        return
    path = tmp_path / "compose.yaml"
    path.write_bytes(text.encode())
    old = compose_config(tmp_path)
    if old is None:
        return
    path.write_bytes(after.encode())
    new = compose_config(tmp_path)
    assert new is not None
    for name, service in new["services"].items():
        before = old["services"][name]
        if service.get("shm_size") != before.get("shm_size"):
            assert int(service["shm_size"]) in SIZES
        service.pop("shm_size", None)
        before.pop("shm_size", None)
    assert new == old


def test_the_generated_files_are_worth_the_trouble() -> None:
    """Not a property: that the generator makes files that are read, and fixed in several places."""
    counts = {"read": 0, "fixed": 0, "many": 0}

    @settings(max_examples=60, suppress_health_check=list(HealthCheck))
    @given(files())
    def count(text: str) -> None:
        run = readable(text)
        if run is not None:
            counts["read"] += 1
            done = len(fix.fix(run).fixed)
            counts["fixed"] += done > 0
            counts["many"] += done > 1

    count()
    assert counts["read"] > 40
    assert counts["fixed"] > 20
    assert counts["many"] > 5


def test_nothing_is_imported_for_rewriting_that_a_start_does_not_need() -> None:
    """The rewriter comes with every start of the program."""
    assert "dataclasses" not in vars(rewrite)

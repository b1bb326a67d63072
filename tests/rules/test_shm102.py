"""SHM102 shm-size-too-small."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import NGC, OWN, SIZE_RULES, levels, levels_test, messages_test, service
from tests.table import table

TRAINS = "command: torchrun --nproc_per_node=8 train.py"
CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "too small": (service("shm_size: 64m"), [("SHM102", "error")]),
    "too small, by our choice": (service("shm_size: 256m"), [("SHM102", "warning")]),
    "just below": (service("shm_size: 1000m"), [("SHM103", "note")]),
    "too small, computed": (service("shm_size: 100m", image="blakeblackshear/frigate:stable"), [("SHM102", "error")]),
    "too small for a report": (service("shm_size: 256m", image="deepspeed/deepspeed"), [("SHM102", "warning")]),
    "what an older guide gives":
        (service("shm_size: 64mb", image="ghcr.io/blakeblackshear/frigate:0.14.1"), [("SHM102", "warning")]),
    "below an estimate": (service("shm_size: 512m", TRAINS, image=OWN), [("SHM102", "warning")]),
    "below Docker's default": (service("shm_size: 32m", TRAINS, image=OWN), [("SHM102", "error")]),
    "above an estimate": (service("shm_size: 1000m", TRAINS, image=OWN), [("SHM103", "note")]),
    "too small, unknown": (service("shm_size: 128m", image="pytorch/pytorch"), [("SHM102", "warning")]),
    "half a gigabyte, unknown": (service("shm_size: 512m", image="pytorch/pytorch"), []),
    "too small, needs nothing": (service("shm_size: 1m", image="ollama/ollama"), []),
    "small tmpfs": (service("tmpfs: ['/dev/shm:size=64m']"), [("SHM102", "error")]),
    "unlimited tmpfs": (service("tmpfs: ['/dev/shm:size=0']"), []),
    "no /dev/shm": (service("ipc: none"), [("SHM102", "error")]),
    "default in a variable": (service("shm_size: ${SHM:-64m}"), [("SHM102", "error")]),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


@table(
    ("options", "level"),
    [("--shm-size=64m", "error"), ("--shm-size=64m $EXTRA_ARGS", "warning"), ('"$@" --shm-size=64m', "warning")],
)
def test_no_error_where_unknown_options_may_hold_another_size(tmp_path: Path, options: str, level: str) -> None:
    text = f"docker run --gpus all {options} {OWN} torchrun --nproc_per_node=8 train.py\n"
    assert levels(findings(tmp_path, {"x.sh": text})) == [("SHM102", level)]


MESSAGES: dict[str, tuple[str, str]] = {
    "size": (service("shm_size: 256m"), "GPU service `x` gets 256 MiB of /dev/shm and needs more"),
    "unknown": (service("shm_size: 64m", image="foo"),
                "GPU service `x` gets 64 MiB of /dev/shm; what it runs is unknown"),
    "tmpfs": (service("tmpfs: ['/dev/shm:size=64m']"), "GPU service `x` mounts 64 MiB on /dev/shm and needs more"),
    "none": (service("ipc: none"), "GPU service `x` has no /dev/shm (`ipc: none`) and needs more"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


def test_a_donor_is_judged_at_the_one_that_joins(tmp_path: Path) -> None:
    text = service("ipc: service:db", "shm_size: 8gb")
    text += "  db:\n    image: foo\n    ipc: shareable\n    shm_size: 128m\n"
    found = findings(tmp_path, text)
    assert levels(found) == [("SHM102", "warning"), ("SHM204", "note")]
    assert "shares 128 MiB of /dev/shm" in found[0].message
    assert found[0].fix is None and "container whose IPC namespace" in found[0].advice


@table(
    "launch, basis, amount",
    [
        (service("shm_size: 256m"), "chosen", "512 MiB, below which DeepSpeed warns"),
        (service("shm_size: 256m", image="pytorch/pytorch"), "chosen", "512 MiB, below which DeepSpeed warns"),
        (service("shm_size: 100m", image="blakeblackshear/frigate:stable"), "computed", "128 MiB"),
        (service("shm_size: 256m", TRAINS, image=OWN), "estimated", "8 ranks, about 536.7 MiB"),
    ],
)
def test_the_least_size_has_a_basis_and_is_named_once(tmp_path: Path, launch: str, basis: str, amount: str) -> None:
    (found,) = findings(tmp_path, launch, select=("SHM102",))
    (reason,) = [reason for reason in found.why if amount in reason.text]
    assert reason.basis == basis
    assert amount not in " ".join(evidence.text for evidence in found.evidence)


@table(
    ("name", "text", "words"),
    [
        ("compose.yaml", f"services:\n  a: {{image: {NGC}, gpus: all, shm_size: 64m, command: torchrun "
         "--nproc_per_node=8 t.py}\n", "gets 64 MiB of /dev/shm and needs"),
    ],
)  # fmt: skip
def test_words_of_the_format(tmp_path: Path, name: str, text: str, words: str) -> None:
    (found,) = findings(tmp_path, {name: text}, select=("SHM102",))
    assert words in found.message


def test_a_size_from_an_env_file_is_not_named(tmp_path: Path) -> None:
    text = f"services:\n  a: {{image: {NGC}, gpus: all, shm_size: $S, command: torchrun --nproc_per_node=8 t.py}}\n"
    (found,) = findings(tmp_path, {"compose.yaml": text, ".env": "S=65m\n"}, select=("SHM102",))
    assert "gets too small a /dev/shm from an env file" in found.message
    assert "65" not in found.message

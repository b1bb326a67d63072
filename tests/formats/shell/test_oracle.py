"""Scripts run before and after `--fix` with recording stand-ins: only the launch that was meant has changed.

    pytest -m slow tests/formats/shell/test_oracle.py

The stand-ins start nothing. With ``docker_client`` the real client says what the words mean.
"""

from __future__ import annotations

import os
import random
from itertools import pairwise
from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing.fix import fix
from shmlint.model.settings import Settings
from shmlint.run import lint
from tests.oracles.docker_client import docker_create, has_docker
from tests.oracles.recording import recorded, sandbox

SHARE = 24
"""Scripts that run by default; the slow test runs 3,000."""

NEEDY = "vllm/vllm-openai"
_SIZES = ("8g", "8gb", "9g", "1g", "64m", "16g")


def script(chance: random.Random) -> str:
    """A script with several launches that share options in one of many ways."""
    pick = chance.choice
    gpus = pick(["--gpus all", "--gpus=all", "--gpus device=0,1", '--gpus "device=0,1"', '"--gpus=device=0,1"'])
    shared = pick(
        [
            f"O=({gpus} --rm)", f"O=(--rm)\nO+=({gpus})", f"O=(--rm {gpus} --name x)",
            f"f() {{ O=({gpus}); }}\nO=()\nf", f"O=({gpus})\nfor o in --rm; do O+=(\"$o\"); done",
            f"O=({gpus})\n. ./local.env", f"O=(--rm)\nO=({gpus} ${{O[@]}})",
        ]
    )  # fmt: skip
    uses = ['"${O[@]}"', "${O[@]}", '"${O[@]:0:2}"', '"${O[@]/--rm/--init}"', '${O[@]+"${O[@]}"}', '"${O[@]:1}"']
    text = pick(["--gpus all", "--gpus device=0,1", "--rm --gpus all"])
    lines = [shared, f"{pick(['S=64m', 'S=1g', 'S=8g'])}", f'T="{text}"', f"IMG={NEEDY}"]
    for _ in range(chance.randint(1, 4)):
        size = pick(["", "", f"--shm-size={pick(_SIZES)}", "--shm-size=$S", '--shm-size "$S"'])
        options = pick([pick(uses), pick(uses), "$T", gpus, "--rm", f"--memory 128m {pick(uses)}"])
        image = pick([f"{NEEDY} --tensor-parallel-size 2", '"$IMG"', "redis", "nvcr.io/nvidia/pytorch:24.01-py3 bash"])
        words = f"{pick(['docker', 'docker', 'podman'])} run {pick([f'{size} {options}', f'{options} {size}'])} {image}"
        words = words.replace("  ", " ")
        lines.append(
            pick(
                [
                    words, words, words.replace(" --", " \\\n  --", 1), f"( {words} )", f"g() {{\n{words}\n}}\ng",
                    f"if true; then\n  {words}\nfi", f"cat <<EOF | bash\ndocker run {size} $T {NEEDY}\nEOF",
                    f'C="docker run $T {size} {NEEDY}"\neval "$C"', f'bash -c "docker run {size} --gpus all {NEEDY}"',
                    f"for i in 1 2; do {words}; done",
                ]
            )
        )  # fmt: skip
    return "\n".join(lines) + "\n"


def makefile(chance: random.Random) -> str:
    """A Makefile whose recipes share a variable."""
    pick = chance.choice
    options = pick(["--gpus all", "--gpus device=0,1", "--rm --gpus all"])
    lines = [f"O = {options}", f"S := {pick(_SIZES)}", "all: a b", "a:"]
    for target in ("", "b:"):
        lines += [target] if target else []
        for _ in range(chance.randint(1, 2)):
            size = pick(["", "", "--shm-size=$(S)", f"--shm-size={pick(_SIZES)}"])
            lines.append(f"\tdocker run {size} $(O) {pick([NEEDY, 'redis'])}")
    return "\n".join(lines) + "\n"


def fixed(kind: str, path: str, text: str) -> str:
    outcome = fix(lint({kind: [path]}, Settings(), Workspace().over({path: text})))
    return outcome.run.workspace.source(path).text


def wanted(before: list[str], after: list[str]) -> bool:
    """Whether a call is what it was but for a size that was missing or too small, and quoted devices."""
    if before == after:
        return True
    grown = _shm(after) > _shm(before) and _shm(after) >= 1 << 30
    return _bare(before) == _bare(after) and (_shm(after) == _shm(before) or grown)


def _bare(words: list[str]) -> list[str]:
    """The words without the size, the devices without quotation marks."""
    text = [word.replace('"', "") for word in words]
    kept = []
    skip = False
    for word in text:
        if not skip and not word.startswith("--shm-size="):
            kept += [] if word == "--shm-size" else [word]
        skip = word == "--shm-size"
    return kept


def _shm(words: list[str]) -> int:
    sizes = [w.partition("=")[2] for w in words if w.startswith("--shm-size=")]
    sizes += [b for a, b in pairwise(words) if a == "--shm-size"]
    units = {"g": 30, "m": 20, "k": 10}
    size = sizes[-1].removesuffix("b") if sizes else "64m"
    return int(size[:-1]) << units[size[-1]]


def disagreements(count: int, home: Path, *, make: bool = False) -> tuple[int, int, list[str]]:
    """Texts that were tried and that `--fix` changed, and those of which another launch has changed."""
    chance = random.Random(count)
    path, kind = ("Makefile", "makefile") if make else ("x.sh", "shell")
    texts = [(makefile if make else script)(chance) for _ in range(count)]
    changed = [(text, new) for text in texts if (new := fixed(kind, path, text)) != text]
    programs = sandbox(home)
    runs = recorded([text for pair in changed for text in pair], home, programs, make=make)
    wrong = []
    for (text, new), before, after in zip(changed, runs[::2], runs[1::2], strict=True):
        right = len(before) == len(after) and all(map(wanted, before, after))
        if not right:
            wrong.append(f"{text}\n---\n{new}\n{before}\n{after}")
    return len(texts), len(changed), wrong


@pytest.mark.parametrize("make", [False, True])
def test_other_launches_stay(tmp_path: Path, make: bool) -> None:
    tried, changed, wrong = disagreements(SHARE // (4 if make else 1), tmp_path, make=make)
    assert changed and not wrong, f"{tried} tried, {changed} changed: " + "\n\n".join(wrong[:3])


@pytest.mark.slow
def test_other_launches_stay_in_many(tmp_path: Path) -> None:
    count = int(os.environ.get("SHMLINT_SCRIPTS", "3000"))
    tried, changed, wrong = disagreements(count, tmp_path)
    print(f"{tried} tried, {changed} changed, {len(wrong)} disagreements")
    assert not wrong, "\n\n".join(wrong[:3])


@pytest.mark.docker_client
def test_the_client_reads_the_size_and_the_devices(tmp_path: Path) -> None:
    if not has_docker():
        pytest.skip("no docker client")
    chance = random.Random(7)
    texts = [fixed("shell", "x.sh", script(chance)) for _ in range(20)]
    for calls in recorded(texts, tmp_path, sandbox(tmp_path)):
        for words in calls:
            if words[0] != "docker":
                continue
            _, body, error = docker_create(["create", *words[2:]])
            if body is not None:
                assert body["HostConfig"]["ShmSize"] in (0, _shm(words) if _shm(words) != 64 << 20 else 0, _shm(words))
            for value in (w for w in words if "device=" in w):
                meant = value.strip("-").removeprefix("gpus=")
                assert meant in ("device=0,1", '"device=0,1"'), error  # repaired, or left as it was
                if body is not None and meant.startswith('"'):
                    assert body["HostConfig"]["DeviceRequests"][0]["DeviceIDs"] == ["0", "1"]

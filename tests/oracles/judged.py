"""What a launch may become when its file is fixed, by the words that the engine got before and after."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracles.programs import NEEDY

GIB = 1 << 30


def wrong(before: Sequence[list[str]], after: Sequence[list[str]], *, gpu: bool = False) -> list[str]:
    """One line for each launch that is not what it may be; with ``gpu`` each may ask for one in another run."""
    if len(before) != len(after):
        return [f"{len(before)} commands ran, now {len(after)}"]
    return [f"{' '.join(a)} → {' '.join(b)}" for a, b in zip(before, after, strict=True) if not may_become(a, b, gpu)]


def may_become(before: list[str], after: list[str], gpu: bool = False) -> bool:
    """Whether a call is what it was, but for a size that it lacked and for quotation marks around devices."""
    if before == after:
        return True
    if before[:2] == ["docker", "exec"] and before[2:] != after[2:]:  # an engine inside of a container
        return after[:3] == before[:3] and may_become(before[3:], after[3:], gpu)
    if before[:2] == ["tool", "docker"]:  # a program that runs what it is given
        return after[:1] == before[:1] and may_become(before[1:], after[1:], gpu)
    if before[0] == "tool" or _bare(before) != _bare(after):
        return False
    if elsewhere(before):  # a size there says nothing to Docker, and Podman refuses it
        return before[0] != "podman" or sum(map(_sizing, after)) <= sum(map(_sizing, before))
    old, new = shm(before), shm(after)
    return old == new or (needy(before, gpu) and new > old and new >= GIB)


def needy(words: list[str], gpu: bool = False) -> bool:
    """Whether a launch asks for more than it has: a GPU, an image that needs memory, and less than 8 GiB."""
    text = " ".join(words)
    asking = ("--gpus", "--runtime=nvidia", "nvidia.com/gpu", "/dev/nvidia0", "/dev/nvidia1")
    gpu = gpu or any(word in text for word in asking)
    image = NEEDY in words or (
        "nvcr.io/nvidia/pytorch:24.01-py3" in words and ("torchrun" in words or words[1] == "create")
    )
    asked = "nvidia-smi" not in words
    return gpu and image and asked and not elsewhere(words) and shm(words) < 8 * GIB


def elsewhere(words: list[str]) -> bool:
    """Whether something else than a size decides what ``/dev/shm`` is."""
    return "--ipc=host" in words or "/dev/shm:/dev/shm" in words


def _sizing(word: str) -> bool:
    return word == "--shm-size" or word.startswith("--shm-size=")


def _bare(words: list[str]) -> list[str]:
    """The words without sizes, and lists of devices as they were meant."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and not _sizing(word):
            kept.append(_meant(word))
        skip = not skip and word == "--shm-size"
    return kept


def _meant(word: str) -> str:
    value = word.removeprefix("--gpus=")
    meant = MEANT.get(value, value)
    return word[: len(word) - len(value)] + meant


MEANT = {
    "device=0,1": '"device=0,1"',
    "device=GPU-1a,GPU-2b": '"device=GPU-1a,GPU-2b"',
    "device=0,1,capabilities=utility": '"device=0,1",capabilities=utility',
    "device=0,1,driver=nvidia": '"device=0,1",driver=nvidia',
}
"""Lists of devices that the client takes apart, and how it reads them as lists."""


def shm(words: list[str]) -> int:
    """Bytes of the last ``--shm-size``; 64 MiB without one."""
    value = "64m"
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--shm-size="):
            value = word.partition("=")[2]
        elif word == "--shm-size":
            value = following
    text = value.lower().removesuffix("b")
    units = {"g": 30, "m": 20, "k": 10}
    try:
        return int(text[:-1]) << units[text[-1]] if text[-1:] in units else int(text or 0)
    except ValueError:
        return -1

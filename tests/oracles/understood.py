"""What is read of a generated program's launches, compared with what the docker client makes of the words that it got.

Each launch has a number in its text. What is not known agrees with anything.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

from shmlint.files.workspace import Workspace
from shmlint.formats import read
from shmlint.model.launch import Launch
from shmlint.model.reading import Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from tests.oracles.docker_client import docker_create

_LAUNCH = re.compile(r"\b(docker|podman|nerdctl)( container)? (run|create)(?= )")
_DEFAULT = 64 << 20


class Started(NamedTuple):
    """What a container is started with; None where that is not known."""

    image: str | None
    shm: int | str | None
    """Bytes, or ``host`` or ``bind`` where /dev/shm is that of the host."""
    gpu: bool | None
    command: tuple[str, ...] | None
    entrypoint: tuple[str, ...] | None


def numbered(text: str) -> str:
    """A program whose launches have numbers: the variable ``Q`` of their containers."""
    numbers = count(1)
    return _LAUNCH.sub(lambda found: f"{found[0]} -e Q={next(numbers)}", text)


def differences(
    format_: str, path: str, texts: Mapping[str, str], calls: Sequence[Sequence[str]], counts: Counter[str]
) -> list[str]:
    """Where a text is read as something else than the calls it made; ``counts`` counts what is not known."""
    reading = read(format_, [path], Workspace(texts), Settings())
    theirs: dict[str, set[Started]] = defaultdict(set)
    refused: set[str] = set()
    for words in calls:
        number, started = _judged(tuple(words))
        refused |= {number} if started is None else set()
        if started is not None:
            theirs[number].add(started)
            counts["calls"] += 1
    ours: dict[str, set[Started]] = defaultdict(set)
    for launch in reading.launches:
        asked = launch.environment.get("Q")
        started = _understood(launch)
        ours[(asked.known if asked is not None else None) or ""].add(started)
        counts["launches"] += 1
        counts["size not known"] += started.shm is None
        counts["GPU not known"] += started.gpu is None
        counts["image not known"] += started.image is None
    found = []
    for number, started_ in theirs.items():
        if number not in ours:
            if not _is_listed(number, texts[path], reading):
                found.append(f"{number} is neither read nor listed: {started_}")
            continue
        # What is read as it was meant may be what the client refuses, or come after the script's end.
        if number not in refused and "set -eu" not in texts[path]:
            found += [f"{number} is read as {our}: {started_}" for our in ours[number] if not _agrees(our, started_)]
        found += [f"{number} is not read: {their}" for their in started_
                  if not any(_agrees(our, [their]) for our in ours[number])]  # fmt: skip
    return found


def _agrees(our: Started, theirs: Collection[Started]) -> bool:
    return any(all(a is None or a == b for a, b in zip(our, their, strict=True)) for their in theirs)


def _is_listed(number: str, text: str, reading: Reading) -> bool:
    """Whether a launch is among what was seen and not read: its number is behind that place, in the same command."""
    at = text.index(f"-e Q={number} ")
    return any(
        place.whole or (place.span.start <= at and "\n" not in text[place.span.start : at].replace("\\\n", ""))
        for place in reading.not_read
    )


_JUDGED: dict[tuple[str, ...], tuple[str, Started | None]] = {}


def _judged(words: tuple[str, ...]) -> tuple[str, Started | None]:
    """The number of a call, and what the client asks the engine for; None where it refuses the words."""
    if words not in _JUDGED:
        verb = next((at for at, word in enumerate(words[:3]) if word in ("run", "create")), None)
        body = docker_create(["create", *words[verb + 1 :]])[1] if verb is not None and words[0] != "tool" else None
        _JUDGED[words] = _asked_for(body) if body is not None else (_number(words), None)
    return _JUDGED[words]


def _asked_for(body: Mapping[str, object]) -> tuple[str, Started | None]:
    host = body["HostConfig"]
    assert isinstance(host, dict)
    number = next((text[2:] for text in _strings(body.get("Env")) if text.startswith("Q=")), None)
    if number is None:
        return "", None
    shm = host["ShmSize"] or _DEFAULT
    if any(bind.endswith(":/dev/shm") for bind in host["Binds"] or ()):
        shm = "bind"
    elif host["IpcMode"] == "host":
        shm = "host"
    nodes = any("nvidia" in device["PathOnHost"] for device in host["Devices"] or ())
    gpu = bool(host.get("DeviceRequests")) or host.get("Runtime") == "nvidia" or nodes
    command, entrypoint = tuple(_strings(body.get("Cmd"))), tuple(_strings(body.get("Entrypoint")))
    return number, Started(str(body["Image"]), shm, gpu, command, entrypoint)


def _number(words: Sequence[str]) -> str:
    return next((word[2:] for word in words if re.fullmatch(r"Q=\d+", word)), "")


def _strings(value: object) -> Iterator[str]:
    yield from value if isinstance(value, list) else ()


def _understood(launch: Launch) -> Started:
    image = launch.image.known if launch.image is not None and not launch.image.because else None
    effective = launch.effective_shm()
    shm = effective.bytes if effective.bytes is not None else {"host": "host", "bind": "bind"}.get(effective.decided_by)
    command: tuple[str, ...] | None = None if launch.undecided or image is None else ()
    if launch.command is not None:
        command = None if launch.command.because or image is None else launch.command.known
    entrypoint: tuple[str, ...] | None = None if launch.undecided else ()
    if launch.entrypoint is not None:
        entrypoint = launch.entrypoint.known
    gpu = None if launch.gpu.in_branches else launch.gpu.requested  # a test decides, which may not hold here
    return Started(image, None if launch.undecided else shm, gpu, command, entrypoint)

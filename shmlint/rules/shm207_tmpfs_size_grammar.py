"""SHM207: a tmpfs size that the kernel refuses."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import InvalidSize, parse_docker
from shmlint.model.finding import CorrectMountSize, Finding, Fix, Reason
from shmlint.model.launch import Launch, Mount
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.shm201_invalid_size import meant_size

RULE = Rule("SHM207", "tmpfs-size-grammar", "error", as_written=True)


_GRAMMAR = "the kernel accepts a whole number with k, m or g (`8g`), or a percentage (`50%`)"
_WHOLE = "write `--mount type=tmpfs,target=/dev/shm,tmpfs-size=8g`"
_DOCKERS = "Docker accepts a number with k, m or g (`8g`)"


def _is_command(launch: Launch, mount: Mount) -> bool:
    """Whether the kernel or `--mount` parses the size; Compose's own syntax errors are reported with the file."""
    return mount.kernel_grammar or launch.kind in ("docker-run", "ci-container")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    for mount in launch.mounts:
        if mount.type == "tmpfs" and mount.size_error and _is_command(launch, mount) and not launch.drops(mount):
            of_size = mount.kernel_grammar or mount.size_span is not None
            yield Finding(
                RULE.id,
                RULE.severity,
                mount.size_span or mount.span,
                f": the tmpfs on {mount.target} cannot be mounted: {mount.size_error}",
                launch,
                why=(Reason(_GRAMMAR if mount.kernel_grammar else _DOCKERS),) if of_size else (),
                fix=_respelled(mount),
                advice="write the size as a whole number with k, m or g" if of_size else _WHOLE,
                about=launch.words.launch,
                facts=(mount.target, mount.kernel_grammar),
            )


def _respelled(mount: Mount) -> Fix | None:
    place = mount.size_span
    if place is None:
        return None
    try:
        size: int | None = parse_docker(place.text)
    except InvalidSize:
        size = meant_size(place.text)
    if not size or size < 0:
        return None
    return Fix(CorrectMountSize(place, size))

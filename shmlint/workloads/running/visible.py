"""The GPUs that a launch's program sees: asked for, and narrowed by variables of its container and of its script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from shmlint.docker.accelerators import ACCELERATORS, OF_PROGRAMS
from shmlint.model.launch import Launch, Unknown, Value
from shmlint.model.source import Span

if TYPE_CHECKING:
    from shmlint.workloads.program import Ran
    from shmlint.workloads.python.reading import Reading

Count = int | Literal["all"] | None


def gpu_count(launch: Launch) -> Count:
    """The GPUs a launch's program sees: asked for, and narrowed by its environment."""
    count: Count = launch.gpu.number
    for name in _VISIBLE:
        value = launch.environment.get(name)
        if value is None:
            continue
        if value.known is None:
            count = count if count == 1 else None
            continue
        if value.known in (("all",) if name in OF_PROGRAMS else ("all", "void", "none", "")):
            continue  # to a program an empty list leaves none
        ids = [part.strip() for part in value.known.split(",") if part.strip()]
        if "-1" in ids:  # CUDA stops reading there
            ids = ids[: ids.index("-1")]
        if not isinstance(count, int) or len(ids) < count:
            count = len(ids)
    return count


def may_see_more(launch: Launch) -> bool:
    """Whether only the default of a variable takes GPUs away that a launch asks for: ``${GPUS:-0}``."""
    given = (launch.environment.get(name) for name in _VISIBLE)
    return launch.gpu.number != 1 and any(value is not None and "$" in value.text for value in given)


def devices_for(before: Sequence[str], span: Span | None) -> Value[str] | None:
    """What these words before a program leave it of the GPUs: ``CUDA_VISIBLE_DEVICES=0``, or ``env`` and that."""
    given = dict(word.partition("=")[::2] for word in before)
    name = next((name for name in OF_PROGRAMS if name in given), "")
    if not name or span is None:
        return None
    text = given[name]
    return Value(Unknown("variable", f"{name} is computed") if re.search(r"[$`]", text) else text, span, text)


def exported_devices(environment: Mapping[str, Value[str]]) -> Value[str] | None:
    """What the variables of a script or a container leave a program of the GPUs."""
    value = next((environment[name] for name in OF_PROGRAMS if name in environment), None)
    if value is None or not value.because:
        return value
    return value._replace(value=Unknown("variable", value.because))


def as_seen(launch: Launch, commands: Sequence[Ran]) -> Launch:
    """A launch with the GPUs that its commands see, where variables in its script leave each of them only some.

    What each sees of them counts: ranks may be started one by one.
    """
    left = [ran.devices for ran in commands if ran.kind in ("program", "interactive")]
    told = [value for value in left if value is not None]
    if not told or len(told) < len(left):
        return launch
    seen = next((value for value in told if value.known is None), told[0])
    if seen.known is not None:
        each = (part.strip() for value in told for part in (value.known or "").split(","))
        seen = seen._replace(value=",".join(dict.fromkeys(filter(None, each))))
    return launch._replace(environment={**launch.environment, OF_PROGRAMS[0]: seen})


def as_limited_by_code(launch: Launch, reading: Reading) -> Launch:
    """A launch whose program leaves itself only some of the GPUs; the launch itself where it does not."""
    if reading.devices is None:
        return launch
    left: Value[str] = Value(reading.devices, launch.span, reading.devices)
    return launch._replace(environment={**launch.environment, OF_PROGRAMS[0]: left})


def as_set_by_code(launch: Launch, reading: Reading) -> Launch:
    """A launch whose GPUs are not known to its program, where its code sets one of the variables that leave it some."""
    if gpu_count(launch) == 1 or reading.devices is not None or reading.variables.isdisjoint(OF_PROGRAMS):
        return launch
    left: Value[str] = Value(Unknown("variable", "its code sets it"), launch.span, "")
    return launch._replace(environment={**launch.environment, OF_PROGRAMS[0]: left})


_VISIBLE = (*(row.variable for row in ACCELERATORS if row.narrowed_by), *OF_PROGRAMS)

"""SHM212: a service with the default /dev/shm, of which another variant has a larger one."""

from __future__ import annotations

import os
from collections.abc import Iterator

from shmlint.docker.images import parse
from shmlint.docker.sizes import human
from shmlint.files.cache import Key
from shmlint.model.finding import Evidence, Finding, Fix, SetSize
from shmlint.model.launch import Launch
from shmlint.model.need import Need
from shmlint.model.rule import Rule
from shmlint.rules import Context, all_rules, selected
from shmlint.rules.advice import advised, lowered, of_settings
from shmlint.rules.wording import container, gpu_evidence, why

RULE = Rule("SHM212", "variant-lacks-shm", "warning")

_MOST = 16
"""The number of variants of a service that are compared; hand-written files have fewer."""


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    other = forgotten(launch, context)
    if other is None or _reported(launch, context):
        return
    default = context.settings.default_shm_size
    given = other.effective_shm(default)
    need = context.need(launch)
    size = advised(launch, need, context.settings)
    private = given.private
    shown = "a size from an env file"
    if given.decided_by in ("host", "bind"):
        shown = "the host's /dev/shm"
    elif given.bytes is not None and not private:
        size = of_settings(need, context.settings) or given.bytes
        shown = human(given.bytes)
    elsewhere = f" of {other.home.path}" if other.home.path != launch.home.path else ""
    yield Finding(
        RULE.id,
        lowered(launch, RULE.severity),
        launch.home,
        f" gets {human(default)} of /dev/shm; "
        f"its variant {other.words.launch}{elsewhere} has {shown}",
        launch,
        (*gpu_evidence(launch), *(Evidence("the variant", span) for span in (given.span,) if span), *need.evidence),
        why(need, context),
        Fix(SetSize(size)),
        about=container(launch),
        facts=(default, other.words.launch, other.home.path, given.decided_by, private or given.bytes),
    )


def forgotten(launch: Launch, context: Context) -> Launch | None:
    """The variant of a service that has a large enough /dev/shm; None if there is none."""
    if launch.kind != "compose-service" or not launch.gpu.requested or launch.swarm or len(context.launches) < 2:
        return None
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.decided_by != "default" or (launch.shm is not None and not launch.shm.known):
        return None
    need = context.need(launch)
    if need.verdict == "not-needed" or effective.bytes is None:
        return None
    least = max(need.floor, effective.bytes + 1)
    for other in context.once(_SIZED, _sized).get(_family(launch), ()):
        given = other.effective_shm(context.settings.default_shm_size)
        if (given.bytes is None or given.bytes >= least) and _variants(launch, other):
            return other
    return None


def replaces_shm101(launch: Launch, context: Context) -> bool:
    """Whether this rule reports a launch for which SHM101 could only guess that it needs more."""
    return (
        (context.need(launch).verdict == "likely" or _unknown(context.need(launch), context))
        and selected(RULE, context.settings)
        and forgotten(launch, context) is not None
    )


def _unknown(need: Need, context: Context) -> bool:
    """Whether the program is unknown, and the settings do not make that an error."""
    return need.verdict == "unknown" and context.settings.unknown_workload != "error"


def _reported(launch: Launch, context: Context) -> bool:
    """Whether SHM101 reports a launch: a known workload says more than a variant does."""
    need = context.need(launch)
    if not selected(all_rules()["SHM101"][0], context.settings):
        return False
    if need.verdict == "likely" or _unknown(need, context):
        return False
    if need.verdict == "unknown":
        return True
    default = launch.effective_shm(context.settings.default_shm_size).bytes or 0
    return need.verdict == "needed" and default < need.floor


Family = tuple[str, str]


def _family(launch: Launch) -> Family:
    """What variants have in common: the directory, and the name without the words that distinguish them."""
    return os.path.dirname(launch.span.path), _stem(launch.name or "")


_SIZED: Key[dict[Family, list[Launch]]] = Key(RULE.id)


def _sized(context: Context) -> dict[Family, list[Launch]]:
    """The GPU services that set the size of /dev/shm, by family."""
    found: dict[Family, list[Launch]] = {}
    for launch in context.launches:
        if launch.kind != "compose-service" or not launch.gpu.requested or launch.swarm:
            continue
        decided = launch.effective_shm(context.settings.default_shm_size)
        if decided.decided_by in ("host", "bind") or (
            decided.decided_by in ("shm_size", "tmpfs") and decided.bytes is not None
        ):
            family = found.setdefault(_family(launch), [])
            if len(family) < _MOST:
                family.append(launch)
    return found


def _variants(launch: Launch, other: Launch) -> bool:
    """Whether two services of one family are variants of each other."""
    mine, its = set(launch.files), set(other.files)
    if launch.name == other.name:
        # The same service with more override files is not a variant of itself.
        return not (mine <= its or its <= mine) and (bool(mine & its) or _same_image(launch, other))
    return _same_image(launch, other)


def _same_image(launch: Launch, other: Launch) -> bool:
    """Whether two services run builds of the same thing."""
    if launch.image is None or other.image is None:
        return launch.image is other.image and bool(launch.built_from) and launch.built_from == other.built_from
    if launch.image.text == other.image.text:
        return True
    if not launch.image.known or not other.image.known:
        return False
    return _stem(parse(launch.image.known).last) == _stem(parse(other.image.known).last)


_WORDS = frozenset(
    {
        "nvidia", "nv", "cuda", "tensorrt", "trt", "amd", "rocm", "radeon", "intel", "xpu", "ipex", "oneapi", "arc",
        "openvino", "vulkan", "hpu", "gaudi", "npu", "cpu", "gpu", "gpus", "multi", "single", "all",
    }
)  # fmt: skip
"""Words that distinguish variants, with or without a number after them."""


def _stem(name: str) -> str:
    """A name without the words that distinguish variants."""
    parts = name.lower().replace("_", "-").split("-")
    return "-".join(part for part in parts if part.rstrip("0123456789.") not in _WORDS)

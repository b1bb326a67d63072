"""What ``shmlint size`` answers, with the arithmetic and who says so."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human, spell_compose, spell_docker, spell_quantity
from shmlint.model.launch import DOCKER_DEFAULT_SHM
from shmlint.reports import VERSION, escape
from shmlint.reports.terminal import WIDTH, labelled, wrapped
from shmlint.workloads.sizing import Answer, advice

_MARGIN = 11
"""Columns of the labels, which are aligned to the right."""


def render(found: Answer, default: int = DOCKER_DEFAULT_SHM) -> Iterator[str]:
    """The lines for a terminal."""
    yield from wrapped(escape(_about(found)), WIDTH)
    if found.terms:
        yield ""
        width = max(len(term.label) for term in found.terms)
        for term, following in zip(found.terms, (*found.terms[1:], None), strict=True):
            first, *rest = labelled(escape(term.label), escape(term.formula), WIDTH - _MARGIN - 2, width + 2)
            yield f"{human(term.bytes):>{_MARGIN}}  {first}"
            yield from (f"{'':{_MARGIN}}  {line}" for line in rest)
            if following is None or (following.basis, following.source) != (term.basis, term.source):
                yield from right_labelled("", escape(f"{term.basis}: {term.source}"))
        if len(found.terms) > 1:
            yield f"{human(found.total):>{_MARGIN}}  together"
    yield from _advised(found)
    yield ""
    if found.bytes is None:
        yield from right_labelled("answer", found.why)
    elif not found.bytes:
        yield from right_labelled("answer", f"nothing to set. {escape(found.why)}")
    else:
        yield from right_labelled("answer", f"{human(found.bytes)} ({found.why})")
        yield f"{'docker run':>{_MARGIN}}  --shm-size={spell_docker(found.bytes)}"
        yield f"{'compose':>{_MARGIN}}  shm_size: {spell_compose(found.bytes)}"
        first, *rest = kubernetes(found.bytes)
        yield f"{'kubernetes':>{_MARGIN}}  {first}"
        yield from (f"{'':{_MARGIN}}  {line}" for line in rest)
    has = _has(found, default)
    if has:
        yield from right_labelled("has", escape(has))
    for note in found.notes:
        yield from right_labelled("note", escape(note))


def kubernetes(size: int) -> list[str]:
    """The volume of a pod and the mount of its container, to be pasted into a manifest."""
    return [
        "volumes:",
        "- {name: dshm, emptyDir: {medium: Memory, sizeLimit: " + spell_quantity(size) + "}}",
        "volumeMounts:  # in the container",
        "- {name: dshm, mountPath: /dev/shm}",
    ]


def right_labelled(label: str, text: str, margin: int = _MARGIN, width: int = WIDTH) -> Iterator[str]:
    """The lines of a text after a label that is aligned to the right in a margin of so many columns."""
    for line in wrapped(text, width - margin - 2):
        yield f"{label:>{margin}}  {line}".rstrip()
        label = ""


def _about(found: Answer) -> str:
    launch, workload = found.question.launch, found.workload
    name = workload.name if workload is not None else "unknown workload"
    parts = [name]
    if launch.image is not None and launch.image.text and (workload is None or launch.image.text != workload.id):
        parts.append(f"image {launch.image.text}")
    words = [word for part in (launch.entrypoint, launch.command) if part is not None for word in part.known or ()]
    if words:
        text = " ".join(words)
        parts.append(f"command {text if len(text) <= 80 else text[:79] + '…'}")
    if found.gpus is not None:
        parts.append("all GPUs" if found.gpus == "all" else f"{found.gpus} GPU{'' if found.gpus == 1 else 's'}")
    if found.ranks > 1 and found.ranks != found.gpus:
        parts.append(f"{found.ranks} ranks")
    return ", ".join(parts)


def _advised(found: Answer) -> Iterator[str]:
    who, least, size, why, source = advice(found)
    if found.question.cameras or not (who or why):
        return
    yield ""
    workload = found.workload
    if size or least:
        text = "advised" if size else "at least"
        if size and least and size != least:
            text += f", {human(least)} at least"
        elif size == least:
            text += ", and the least"
        if who:
            text += f", for {who}" if found.need.verdict == "needed" else f", if {who} needs more than the default here"
            text += f": {why}"
        elif why:
            text += f": {why}"
        yield from right_labelled(human(size or least or 0), escape(text))
    elif who:
        yield from right_labelled("known", escape(f"{who}: {why}; the size is unknown"))
    else:
        yield from right_labelled("known", escape(why))
    if workload is not None and source == workload.source:
        documented = str(workload.entry.get("documented", ""))
        if documented not in ("", "none"):
            yield from right_labelled("", f"its documentation: {escape(documented)}")
    if source:
        yield from right_labelled("", escape(source))


def _has(found: Answer, default: int) -> str:
    """What a `docker run` that was given already has; nothing for an image or a command alone."""
    launch = found.question.launch
    if launch.kind != "docker-run" or launch.words.launch == "":
        return ""
    effective = launch.effective_shm(default)
    if effective.bytes is None:
        return {"host": "the host's /dev/shm (--ipc=host)"}.get(effective.decided_by, "")
    words = {"default": "Docker's default", "shm_size": launch.words.shm_option, "donor": "another container's"}
    what = words.get(effective.decided_by, effective.decided_by)
    if not found.bytes:
        verdict = ""
    elif effective.bytes >= found.bytes:
        verdict = ": enough"
    elif effective.bytes >= max(found.total, found.need.floor):
        verdict = ": less than advised"
    else:
        verdict = ": too little" if found.need.verdict == "needed" else ": may be too little"
    return f"{human(effective.bytes)} ({what}){verdict}"


def render_json(found: Answer, default: int = DOCKER_DEFAULT_SHM) -> str:
    """The answer for programs: ``version`` 2, sizes in bytes."""
    from json import dumps

    launch, workload = found.question.launch, found.workload
    who, least, size, why, source = advice(found)
    words = [word for part in (launch.entrypoint, launch.command) if part is not None for word in part.known or ()]
    effective = launch.effective_shm(default)
    return dumps(
        {
            "version": VERSION,
            "image": launch.image.text if launch.image is not None and launch.image.text else None,
            "command": words,
            "gpus": found.gpus,
            "ranks": found.ranks,
            "workload": None if workload is None else {
                "id": workload.id, "name": workload.name, "verified": workload.verified,
                "documented": str(workload.entry.get("documented", "")),
            },
            "verdict": found.need.verdict,
            "terms": [
                {"label": term.label, "bytes": term.bytes, "formula": term.formula, "basis": term.basis,
                 "source": term.source}
                for term in found.terms
            ],
            "total_bytes": found.total,
            "advised": {"by": who, "minimum_bytes": least, "recommended_bytes": size, "because": why, "source": source},
            "effective_bytes": effective.bytes if launch.words.launch else None,
            "answer_bytes": found.bytes,
            "why": found.why,
            "docker": f"--shm-size={spell_docker(found.bytes)}" if found.bytes else None,
            "compose": f"shm_size: {spell_compose(found.bytes)}" if found.bytes else None,
            "kubernetes": "\n".join(kubernetes(found.bytes)) if found.bytes else None,
            "notes": list(found.notes),
        },
        indent=2,
    )  # fmt: skip

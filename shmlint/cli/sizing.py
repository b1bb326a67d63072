"""What ``shmlint size`` answers, with the arithmetic and who says so."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human, spell_compose, spell_docker, spell_quantity
from shmlint.model.launch import DOCKER_DEFAULT_SHM
from shmlint.reports import VERSION, escape
from shmlint.workloads.sizing import Answer, advice


def render(found: Answer, default: int = DOCKER_DEFAULT_SHM) -> Iterator[str]:
    """The lines for a terminal."""
    yield escape(_about(found))
    if found.terms:
        yield ""
        width = max(len(term.label) for term in found.terms)
        for term, following in zip(found.terms, (*found.terms[1:], None), strict=True):
            yield escape(f"{human(term.bytes):>11}  {term.label.ljust(width)}  {term.formula}")
            if following is None or (following.basis, following.source) != (term.basis, term.source):
                yield escape(f"{'':11}  {term.basis}: {term.source}")
        if len(found.terms) > 1:
            yield f"{human(found.total):>11}  together"
    yield from _advised(found)
    yield ""
    if found.bytes is None:
        yield f"{'answer':>11}  {found.why}"
    elif not found.bytes:
        yield f"{'answer':>11}  nothing to set. {escape(found.why)}"
    else:
        yield f"{'answer':>11}  {human(found.bytes)} ({found.why})"
        yield f"{'docker run':>11}  --shm-size={spell_docker(found.bytes)}"
        yield f"{'compose':>11}  shm_size: {spell_compose(found.bytes)}"
        first, *rest = kubernetes(found.bytes)
        yield f"{'kubernetes':>11}  {first}"
        yield from (f"{'':11}  {line}" for line in rest)
    has = _has(found, default)
    if has:
        yield f"{'has':>11}  {escape(has)}"
    for note in found.notes:
        yield from wrapped("note", escape(note))


def kubernetes(size: int) -> list[str]:
    """The volume of a pod and the mount of its container, to be pasted into a manifest."""
    return [
        "volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: " + spell_quantity(size) + "}}]",
        "volumeMounts: [{name: dshm, mountPath: /dev/shm}]  # in the container",
    ]


def wrapped(label: str, text: str, margin: int = 11, width: int = 110) -> Iterator[str]:
    """A text beside a label that stands right-aligned in a margin."""
    from textwrap import wrap

    lines = wrap(text, width - margin - 2, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"{label:>{margin}}  {lines[0]}".rstrip()
    for line in lines[1:]:
        yield f"{'':{margin}}  {line}"


def _about(found: Answer) -> str:
    launch, workload = found.question.launch, found.workload
    name = workload.name if workload is not None else "what it runs is unknown"
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
            text += f", for {who}" if found.need.verdict == "needed" else f", if {who} needs any here"
            text += f": {why}"
        elif why:
            text += f" {why}" if why.startswith("by ") else f": {why}"
        yield from wrapped(human(size or least or 0), escape(text))
    elif who:
        yield from wrapped("known", escape(f"{who}: {why}; the size is unknown"))
    else:
        yield from wrapped("known", escape(why))
    if workload is not None and source == workload.source:
        documented = str(workload.entry.get("documented", ""))
        if documented not in ("", "none"):
            yield from wrapped("", f"its documentation: {escape(documented)}")
        if not workload.verified:
            yield from wrapped("", "unverified: no source was checked")
    if source:
        yield from wrapped("", escape(source))


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

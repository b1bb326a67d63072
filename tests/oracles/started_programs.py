"""Generated batch scripts, units of systemd and Taskfiles whose launches share options."""

from __future__ import annotations

import os

from tests.oracles import programs as scripts
from tests.oracles.programs import (
    NEEDY,
    OTHERS,
    PLAIN_GPUS,
    PROTECTED,
    SIZES,
    Chooser,
    script,
)  # fmt: skip


def batch(c: Chooser) -> str:
    """A script of Slurm."""
    first, _, rest = script(c).partition("\n")
    return f"{first}\n#SBATCH --gres=gpu:2\n#SBATCH --job-name=x\n{rest}"


# Units -----------------------------------------------------------------------------------------

_UNIT_GPUS = (
    "--gpus all", "--gpus=all", "--gpus device=0,1", '--gpus "device=0,1"', "--gpus '\"device=0,1\"'",
    '"--gpus=\\"device=0,1\\""', "--runtime=nvidia", "$T", "$T", "--gpus=\\x61ll",
)  # fmt: skip
_UNIT_SIZES = (
    "", "", *(f"--shm-size={size}" for size in SIZES), "--shm-size=${S}", "--shm-size $S", '"--shm-size=${S}"',
)  # fmt: skip
_UNIT_IMAGES = (NEEDY, NEEDY, f"{NEEDY} --tensor-parallel-size 2", "redis", "$I", "${I}", '"$I"', f"'{NEEDY}'")


def unit(c: Chooser) -> str:
    """A unit of systemd with several command lines."""
    lines = ["[Unit]", "Description=x $T", "", "[Service]", "Type=oneshot"]
    lines.append(f"Environment=S={c.one(SIZES)}")
    options = " ".join((c.one(PLAIN_GPUS), *c.some((*OTHERS, *PROTECTED), 0, 1)))
    lines.append(c.one((f'Environment="T={options}"', f"Environment='T={options}'", f'Environment="T={options}" A=1')))
    lines.append(f"Environment=I={c.one((NEEDY, 'redis'))}")
    if c.maybe(0.2):
        lines.append(f"Environment=S={c.one(SIZES)}")
    lines += [f"{key}={_command(c)}" for key in ("ExecStartPre", "ExecStart", "ExecStart")]
    return "\n".join(lines) + "\n"


def _command(c: Chooser) -> str:
    words = _launch(c)
    return c.one(
        (
            words,
            words,
            words.replace(" --", " \\\n  --"),
            words.replace(" --", " \\\n# a comment\n  --", 1) if c.maybe(0.1) else words,
            f"{words} ; {_launch(c)}",
            f"tool $S ${{T}} ; {words}",
            f"/bin/sh -c 'docker run {c.one(PLAIN_GPUS)} --shm-size=$${{S}} {NEEDY}; docker run $$T redis'",
            f'/usr/bin/env A=1 "docker" run {words.partition(" run ")[2]}',
        )
    )


def _launch(c: Chooser) -> str:
    own = [c.one(_UNIT_GPUS), c.one(_UNIT_SIZES), c.one(("", c.one(OTHERS), c.one(PROTECTED), "-e 'A=b c;d'"))]
    c.random.shuffle(own)
    return " ".join(word for word in ("docker run", *own, c.one(_UNIT_IMAGES)) if word)


# Taskfiles -------------------------------------------------------------------------------------


def taskfile(c: Chooser) -> str:
    """A Taskfile of one task; its variables are those of templates and of the environment."""
    options = " ".join((c.one(PLAIN_GPUS), *c.some((*OTHERS, *PROTECTED), 0, 1)))
    text = f"version: '3'\nvars:\n  S: {c.one(SIZES)}\n  T: '{options}'\n  I: {c.one((NEEDY, 'redis'))}\n"
    text += f"env:\n  E: {c.one(SIZES)}\ntasks:\n  default:\n"
    if c.maybe(0.4):
        text += f"    vars: {{S: {c.one(SIZES)}}}\n"
    text += "    cmds:\n"
    for _ in range(c.random.randint(1, 3)):
        text += f"      - {c.one(('', 'cmd: '))}{_task(c)}\n"
    return text


def _task(c: Chooser) -> str:
    own = [
        c.one(("{{.T}}", "{{ .T }}", c.one(PLAIN_GPUS))),
        c.one(("", f"--shm-size={c.one(SIZES)}", "--shm-size={{.S}}", "--shm-size=$E", "--shm-size {{.S}}")),
        c.one(("", c.one(OTHERS), c.one(PROTECTED))),
    ]
    c.random.shuffle(own)
    image = c.one((NEEDY, NEEDY, "{{.I}}", "redis"))
    words = " ".join(word for word in ("docker run", *own, image) if word)
    return c.one(
        (
            words,
            f"'{words}'",
            f'"{words}"',
            f">-\n          {words}",
            f"|\n          {words}\n          docker run {{{{.T}}}} redis",
            f"tool {{{{.S}}}} && {words}",
            f"for s in 64m 64g; do docker run {c.one(PLAIN_GPUS)} --shm-size=$s {NEEDY}; done",
        )
    )


KINDS = {
    **scripts.KINDS, "batch": ("x.sbatch", batch), "unit": ("x.service", unit), "taskfile": ("Taskfile.yml", taskfile),
}  # fmt: skip
"""For each kind of text the path that it has and what makes one."""
READ_AS = {
    "workflow": "ci", "called": "ci", "pipeline": "ci", "document": "markdown", "batch": "shell", "unit": "systemd",
}  # fmt: skip
"""The formats that are not called as the kind of text."""
_PARTS = {
    "shell": 0.3, "makefile": 0.2, "workflow": 0.1, "called": 0.05, "pipeline": 0.1, "document": 0.1, "batch": 0.05,
    "unit": 0.1, "taskfile": 0.05,
}  # fmt: skip


def share(kind: str, programs: int) -> int:
    """How many of so many programs are of a kind."""
    return round(programs * _PARTS[kind])


def many(kind: str) -> tuple[int, str]:
    """How many programs of a kind the slow tests make, and their seed: ``SHMLINT_PROGRAMS``, ``SHMLINT_SEED``."""
    return share(kind, int(os.environ.get("SHMLINT_PROGRAMS", "3000"))), os.environ.get("SHMLINT_SEED", "many")

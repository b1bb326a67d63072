"""Generated Compose projects of the shapes that large repositories have.

Fragments under ``x-`` keys merged over several levels, chains of ``extends`` through directories, variables in every
form, profiles, requests for devices beside ``gpus``, env files with their options, tags on nested values, and mounts in
their long forms.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

_FORMS = (
    "$A", "${A}", "${A:-1g}", "${A-1g}", "${N:-2g}", "${N-2g}", "${A:+3g}", "${A+3g}", "${E:-4g}", "${E-4g}",
    "${E:+5g}",
    "${N:-${A}}", "${N:-${M:-6g}}", "${A:?unset}", "${A?unset}", "${E?unset}", "${N:-${E:-${A:-7g}}}", "${B}m",
    "${B:-1}g",
    "1g", "1.5g", "'2gb'", "64", "'${A}'", '"${A:-1g}"', "${U:-8g}", "1073741824", "512M", "1GiB", "$B$B",
)  # fmt: skip
"""How a size may be written with the variables of ``ENV``; N and M are not set, E is empty."""

_ENV = ("A=1g\nB=2\nE=\n", "A: 3g\nB='4'\nE=''\n", 'A="${B}g"\nB=5\nE= # nothing\n', "export A=6g\nB=7 # b\nE=\n",
        "B=8\nA=$B$B\nE=\nA='9g'\n")  # fmt: skip

_DEVICES = (
    "{driver: nvidia, count: 1, capabilities: [gpu]}", "{driver: nvidia, count: all, capabilities: [gpu, utility]}",
    "{driver: nvidia, device_ids: ['0', '1'], capabilities: [gpu]}",
    "{capabilities: [gpu], options: {virtualization: x}}",
    "{driver: cdi, device_ids: [nvidia.com/gpu=all], capabilities: [gpu]}", "{capabilities: [tpu]}",
    "{driver: nvidia, device_ids: ['${B}'], capabilities: [gpu]}",
    "{driver: nvidia, count: '${B}', capabilities: [gpu]}",
    "{driver: amd, count: 1, capabilities: [gpu]}", "{capabilities: [compute, utility], count: -1}",
)  # fmt: skip

_VALUES: dict[str, Sequence[str]] = {
    "shm_size": _FORMS,
    "mem_limit": ("1g", "${N:-1g}", "'${N:-1g}'"),
    "ipc": ("host", "shareable", "private", "${N:-host}", "none", "${E:-private}", "service:b", "service:a"),
    "gpus": ("all", "[{count: 1}]", "[{driver: nvidia, count: '${B}'}]", "[{device_ids: ['0', '1', '2']}]",
             "[{count: -1, capabilities: [utility]}]", "[{}]"),
    "runtime": ("nvidia", "${N:-nvidia}", "runc"),
    "tmpfs": ("/dev/shm", "'/dev/shm:size=${A}'", "[/run, '/dev/shm:size=64m,mode=1777']", "['/dev/shm:rw,size=50%']",
              "['/dev/shm/:noexec']"),
    "volumes": (
        "[{type: tmpfs, target: /dev/shm, tmpfs: {size: '${A}'}}]",
        "[{type: tmpfs, target: /dev/shm, tmpfs: {mode: 1777}}]",
        "[{type: tmpfs, target: /dev/shm/, tmpfs: {size: 1073741824}}]",
        "[{type: bind, source: /dev/shm, target: /dev/shm}]",
        "['/dev/shm:/dev/shm:rw']", "[{type: volume, source: shm, target: /dev/shm}]", "['shm:/dev/shm']",
        "[{type: bind, source: ./x, target: /x, bind: {create_host_path: true}}]", "['./d:/dev/shm', './e:/e']",
        "['${N:-/dev/shm}:/dev/shm']", "[{type: tmpfs, target: /dev}]",
    ),
    "devices": ("[/dev/nvidia0]", "['/dev/nvidia0:/dev/nvidia0:rwm', /dev/nvidiactl]", "[nvidia.com/gpu=all]",
                "[{source: /dev/nvidia1, target: /dev/nvidia0, permissions: rw}]", "[/dev/dri]"),
    "environment": ("{X: '${A}', Y: 1}", "[X=2, Z]", "['X=${N:-3}', Y]", "{Y: ~, Z: 'a $$b'}",
    "{X: yes, Y: 0x1F, Z: 1e3}"),
    "ulimits": ("{memlock: -1, stack: 67108864}", "{memlock: {soft: -1, hard: -1}}", "{stack: '${B}'}"),
    "cap_add": ("[SYS_PTRACE]", "[IPC_LOCK, SYS_NICE]"),
    "privileged": ("true", "false", "${N:-true}"),
    "command": ("python train.py --shm ${A}", "[python, -m, x, '$$HOME', '${B}']", "sh -c 'a $${B} \"c\"'", "", "[]",
                ">-\n{pad}  a\n{pad}  b ${B}", "|\n{pad}  a\n{pad}  b", "a\n{pad}  b"),
    "entrypoint": ("[/bin/sh, -c]", "/entry.sh ${B}", "''", "[]", "~"),
    "build": (".", "{context: ., shm_size: '${A}'}", "{context: .., dockerfile: D, args: {S: 1}}", "./ctx",
              "{dockerfile_inline: 'FROM x'}", "{context: ., target: '${N:-dev}', shm_size: 128m}"),
    "env_file": ("one.env", "[one.env, two.env]", "[{path: one.env, required: true}]",
                 "[{path: missing.env, required: false}, one.env]", "[{path: raw.env, format: raw}]",
                 "[one.env, {path: raw.env, format: raw, required: false}]", "./two.env"),
    "profiles": ("[gpu]", "['${N:-gpu}', debug]", "[]"),
    "image": ("img", "img:${B}", "${R:-reg.io}/img:${T:-1}", "'img@sha256:" + "0" * 64 + "'", "${A}-img"),
}  # fmt: skip

_TAGGED = ("shm_size", "ipc", "gpus", "tmpfs", "volumes", "devices", "environment", "ulimits", "cap_add", "command",
    "mem_limit")
"""Keys that are put under a tag in a later file."""

_PLACES = ("", "lib/", "lib/deep/", "app/")


def _deploy(rng: random.Random, tags: bool) -> str:
    devices = ", ".join(rng.sample(_DEVICES, rng.randint(1, 2)))
    tag = rng.choice(("", "", "!override ", "!reset ")) if tags else ""
    limits = rng.choice(("", "", "", ", limits: {cpus: '2', memory: '1g'}"))
    replicas = rng.choice(("", "", "replicas: 1, ", "mode: replicated, "))
    memory = rng.choice(("", "memory: 1g, "))
    return f"{{{replicas}resources: {{reservations: {{{memory}devices: {tag}[{devices}]}}{limits}}}}}"


def _entries(rng: random.Random, pad: str, *, least: int = 0, tags: bool = False,
    leave: Sequence[str] = ()) -> list[str]:
    names = rng.sample([name for name in (*_VALUES, "deploy") if name not in leave], rng.randint(least, 4))
    lines = []
    for name in names:
        if name == "deploy":
            value = _deploy(rng, tags)
        else:
            value = rng.choice(_VALUES[name]).replace("{pad}", pad)
            if tags and name in _TAGGED and "\n" not in value:
                value = rng.choice(("", "", "", "!override ", "!reset ")) + value
        if "\n" in value or rng.random() < 0.8 or value[:1] not in "[{":
            lines.append(f"{pad}{name}: {value}")
        else:
            lines.append(f"{pad}{name}:\n{pad}  {value}")
    return lines


def _fragments(rng: random.Random) -> tuple[str, list[str]]:
    """``x-`` fragments that merge each other, and the merge keys that use them."""
    text, uses = "", [""]
    names = ("base", "gpu", "more")
    for number, name in enumerate(names[: rng.randint(0, 3)]):
        lines = _entries(rng, "  ", least=1, leave=("build", "profiles"))
        if number:
            lines.insert(rng.randint(0, len(lines)), f"  <<: *{rng.choice(names[:number])}")
        text += f"x-{name}: &{name}\n" + "\n".join(lines) + "\n"
        uses += [f"<<: *{name}", f"<<: [*{name}]"]
        if number:
            uses += [f"<<: [*{name}, *{names[0]}]", f"<<: [*{names[0]}, *{name}]"]
    return text, uses


def _file(rng: random.Random, names: str, *, first: bool, bases: Sequence[str]) -> str:
    fragments, uses = _fragments(rng)
    text = fragments + "volumes: {shm: {}}\nservices:\n"
    for at, name in enumerate(names):
        lines = _entries(rng, "    ", tags=not first)
        use = rng.choice(uses)
        if use:
            lines.insert(rng.choice((0, len(lines))), f"    {use}")
        given = {line.split(":")[0].strip() for line in lines}
        if (first or name == "d") and not given & {"build", "image"}:
            lines.append("    image: own")
        if rng.random() < 0.5:
            local = [names[i] for i in range(at)] if first else []
            chosen = rng.choice([*bases, *local, ""])
            lines += [f"    extends: {chosen}"] if chosen else []
        text += f"  {name}:\n" + ("\n".join(lines) if lines else "    init: true") + "\n"
    return text


def project(rng: random.Random) -> tuple[dict[str, str], tuple[str, ...], set[str]]:
    """Files, those named with ``-f`` (none where Compose finds them itself), and those that only an include starts."""
    texts = {".env": rng.choice(_ENV)}
    for place in _PLACES:
        texts[f"{place}one.env"] = rng.choice(("ONE=1\nX=a\n", "ONE: ${B}\n# c\nexport X='a b'\n", 'ONE="${A:-z}"\n\n'))
        texts[f"{place}two.env"] = "TWO=${ONE:-2}\nX=\n"
        texts[f"{place}raw.env"] = "RAW=$A '${B}'\n"
        if place and rng.random() < 0.5:
            texts[f"{place}.env"] = rng.choice(_ENV)
    deeper = ("{file: deep/base.yaml, service: p}", "{file: deep/base.yaml, service: q}")
    texts["lib/deep/base.yaml"] = _file(rng, "pq", first=True, bases=("{file: ../../app/base.yaml, service: q}",))
    texts["app/base.yaml"] = _file(rng, "qr", first=True, bases=())
    texts["lib/base.yaml"] = _file(rng, "pq", first=True, bases=deeper)
    bases = [f"{{file: {place}base.yaml, service: q}}" for place in _PLACES[1:]]
    texts["compose.yaml"] = _file(rng, "abc"[: rng.randint(1, 3)], first=True, bases=bases)
    used = ["compose.yaml"]
    how = rng.choice(("default", "override", "flags", "variable"))
    if how != "default":
        later = {"override": "compose.override.yaml"}.get(how, "app/over.yaml")
        texts[later] = _file(rng, rng.choice(("a", "ab", "ad")), first=False, bases=bases)
        used.append(later)
    if how == "variable":
        texts[".env"] += f"COMPOSE_FILE={':'.join(used)}\n"
    included: set[str] = set()
    if rng.random() < 0.3:
        texts["lib/inc.yaml"] = _file(rng, "ij", first=True, bases=("{file: base.yaml, service: q}",))
        directory = rng.choice(("", ", project_directory: .", ", project_directory: lib", ", project_directory: app"))
        env = rng.choice(("", ", env_file: lib/one.env", ", env_file: [lib/one.env, lib/two.env]"))
        entry = f"{{path: lib/inc.yaml{directory}{env}}}" if directory or env else "lib/inc.yaml"
        texts["compose.yaml"] = f"include:\n  - {entry}\n" + texts["compose.yaml"]
        included.add("lib/inc.yaml")
    return texts, tuple(used) if how == "flags" else (), included

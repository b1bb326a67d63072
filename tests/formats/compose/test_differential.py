"""Small generated projects: whenever Compose accepts one, its services are what our launches say.

Left out is what nobody writes: ``!reset`` inside ``!override``, and tags in what merge keys bring; Compose has
faults of its own there.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.project import load_project
from shmlint.formats.compose.service import read_project
from tests.oracles.agreement import disagreements
from tests.oracles.compose import compose_config, need_compose

NAMES = ("a", "b", "c")
ENV = {"ONE": "1g", "EMPTY": "", "HOST": "host", "TWO": "${ONE}", "QUOTED": "'2g'", "DOLLAR": "'$ONE'"}

sizes = st.sampled_from(
    ["1g", "64", "'512m'", '"1.5gb"', "1e9", "'1e9'", "0", "017", "1_000", "8589934592.0", "${ONE}", "${NONE:-2g}",
     "${ONE:+3g}", "${NONE-${TWO}}", "${EMPTY:-1m}", "1${UNIT:-g}", "0x400000"]
)  # fmt: skip
words = st.sampled_from(
    ["x", "'a b'", "torchrun --nproc_per_node=8 train.py", "[python, '-c', \"a b\"]", "['${ONE}', '$$x', $DOLLAR]",
     "\"sh -c 'a && b'\"", "a && b", "[]", "''", "${NONE:-vllm serve} --port $$1", "|\n{pad}  a\n{pad}  b",
     ">-\n{pad}  a b\n{pad}  c"]
)  # fmt: skip
environments = st.sampled_from(
    ["{A: 1, B: yes, C: true, D: 1.50}", "[A=1, B, ONE]", "{A: , ONE: }", "['A=${ONE}', C=$$x]", "{A: '${NONE:-x}'}",
     "{A: 1e9, B: 0x10}", "[A=2, A=3]", "{}", "{NVIDIA_VISIBLE_DEVICES: all}"]
)  # fmt: skip
devices = st.sampled_from(
    ["{capabilities: [gpu]}", "{capabilities: [gpu], count: 2}", "{capabilities: [gpu], count: all}",
     "{capabilities: [gpu], device_ids: ['0', '3']}", "{driver: nvidia, capabilities: [compute, utility], count: 1}",
     "{capabilities: [tpu]}", "{capabilities: [gpu], count: '${COUNT:-3}'}", "{capabilities: [[gpu]]}"]
)  # fmt: skip
lists = {
    "tmpfs": ["/dev/shm", "'/dev/shm:size=1g'", "/run", "'/dev/shm/:size=2g,mode=1777'", "'/dev/shm:size=${ONE}'"],
    "volumes": ["/dev/shm:/dev/shm", "/dev:/dev", "/tmp:/dev/shm:ro",
                "{type: tmpfs, target: /dev/shm, tmpfs: {size: 2g}}",
                "{type: tmpfs, target: /dev/shm}", "./x:/x", "{type: bind, source: /dev/shm, target: /dev/shm}"],
    "devices": ["/dev/nvidia0", "/dev/nvidia1:/dev/nvidia0", "nvidia.com/gpu=all", "/dev/kfd", "/dev/dri:/dev/dri:rw"],
    "cap_add": ["SYS_NICE", "IPC_LOCK"],
}  # fmt: skip

VALUES = {
    "shm_size": sizes,
    "mem_limit": sizes,
    "ipc": st.sampled_from(["host", "private", "shareable", "$HOST", "none"]),
    "environment": environments,
    "gpus": st.sampled_from(["all", "[{count: 2}]", "[{}]", "[]", "[{device_ids: ['1']}]"]),
    "ulimits": st.sampled_from(
        ["{memlock: -1}", "{memlock: {soft: -1, hard: -1}, stack: 67108864}", "{stack: {soft: 1, hard: 2}}"]
    ),
}
"""What a key may have as its value, under a tag or without one."""

UNTAGGED = {
    "command": words,
    "entrypoint": words,
    "privileged": st.sampled_from(["true", "false", "'true'", "yes", "${NONE:-true}"]),
    "build": st.sampled_from([".", "{context: ., shm_size: 2g}", "{dockerfile: D, shm_size: '64m'}"]),
}


@st.composite
def entries(draw: st.DrawFn, pad: str, *, alone: bool, tags: bool = True) -> str:
    """The lines of a service's body."""

    def tagged(value: str) -> str:
        """A value, now and then under a tag that says how it is merged."""
        return draw(st.sampled_from(["", "", "", "", "", "!override ", "!reset "])) + value if tags else value

    lines: dict[str, str] = {}
    if alone or draw(st.booleans()):
        lines["image"] = draw(st.sampled_from(["x", "'x:1'", "x:${NONE:-2}", "$HOST", "x@sha256:" + "0" * 64]))
    names = st.sampled_from([*VALUES, *UNTAGGED, *lists, "deploy", "nothing"])
    for name in draw(st.lists(names, max_size=5, unique=True)):
        if name in VALUES:
            lines[name] = tagged(draw(VALUES[name]))
        elif name in UNTAGGED:
            lines[name] = draw(UNTAGGED[name]).replace("{pad}", pad)
        elif name == "deploy":
            requests = ", ".join(draw(st.lists(devices, max_size=2)))
            limits = draw(st.sampled_from(["", ", limits: {memory: 2g}"]))
            inner = f"{{devices: {tagged(f'[{requests}]')}}}"
            whole = f"{{resources: {{reservations: {inner}{limits}}}}}"
            lines[name] = whole if "!" in inner else tagged(whole)
        elif name == "nothing":
            lines[draw(st.sampled_from(["shm_size", "environment", "command", "tmpfs", "deploy", "gpus"]))] = ""
        else:
            items = draw(st.lists(st.sampled_from(lists[name]), max_size=2))
            lines[name] = tagged("[" + ", ".join(items) + "]")
            if name == "tmpfs" and len(items) == 1:
                lines[name] = items[0]
    return "".join(f"{pad}{name}: {value}\n" for name, value in lines.items())


@st.composite
def files(draw: st.DrawFn, number: int, others: tuple[str, ...]) -> str:
    """A compose file; ``others`` are files it may extend from."""
    anchors = ""
    text = "services:\n"
    merges = ["", ""]
    if draw(st.booleans()):
        anchors = "x-base: &base\n" + (draw(entries("  ", alone=False, tags=False)) or "  init: true\n")
        merges += ["<<: *base", "<<: [*base]"]
        if draw(st.booleans()):
            anchors += "x-more: &more\n  <<: *base\n" + draw(entries("  ", alone=False, tags=False))
            merges += ["<<: [*more, *base]", "<<: *more"]
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    for at, name in enumerate(names):
        kind = draw(st.sampled_from(["body"] * 8 + ["reset", "null", "override"])) if number else "body"
        if kind == "reset":
            text += f"  {name}: !reset\n"
            continue
        if kind == "null":
            text += f"  {name}:\n"
            continue
        text += f"  {name}:{' !override' if kind == 'override' else ''}\n"
        merge = draw(st.sampled_from(merges))
        body = f"    {merge}\n" if merge else ""
        base = draw(st.sampled_from(["", "", "same", "other"]))
        if base == "same" and at:
            body += f"    extends: {names[at - 1]}\n"
        elif base == "other" and others:
            file = draw(st.sampled_from(others))
            body += f"    extends: {{file: {file}, service: {draw(st.sampled_from(NAMES))}}}\n"
        body += draw(entries("    ", alone=number == 0 and not merge, tags=kind != "override"))
        text += body or "    init: true\n"
    if not number and draw(st.integers(0, 5)) == 0:
        text += f"---\nservices:\n  {names[0]}:\n    init: true\n{draw(entries('    ', alone=False))}"
    return anchors + text


@st.composite
def projects(draw: st.DrawFn) -> tuple[dict[str, str], tuple[str, ...]]:
    """Files by name, and those of them that are started together, in order."""
    texts = {".env": "".join(f"{name}={value}\n" for name, value in ENV.items())}
    others: tuple[str, ...] = ()
    if draw(st.booleans()):
        texts["lib/base.yaml"] = draw(files(0, ()))
        others = ("lib/base.yaml",)
    used = []
    for number in range(draw(st.integers(1, 3))):
        name = f"compose.{number}.yaml"
        texts[name] = draw(files(number, others))
        used.append(name)
    if "lib/base.yaml" in texts and draw(st.integers(0, 4)) == 0:
        texts["lib/.env"] = "ONE=7g\nMORE=8g\n"
        texts[used[0]] = "include: [lib/base.yaml]\n" + texts[used[0]].replace("  a:", "  other:")
    return texts, tuple(used)


@contextlib.contextmanager
def written(texts: dict[str, str]) -> Iterator[Path]:
    """The files in a directory of their own, entered."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        for path, text in texts.items():
            (Path(name) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / path).write_text(text, encoding="utf-8")
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def compared(texts: dict[str, str], used: tuple[str, ...]) -> list[str] | None:
    """Where Compose and our reading differ; None where Compose refuses the files."""
    with written(texts) as directory:
        answer = compose_config(directory, used)
        launches = {launch.name: launch for launch in read_project(load_project(used, Workspace()), Workspace())}
    if answer is None:
        return None
    found = [f"{name} is read by one alone" for name in set(answer["services"]) ^ set(launches)]
    for name in set(answer["services"]) & set(launches):
        found += disagreements(answer["services"][name], launches[name])
    return found


@pytest.mark.compose_judge
@settings(
    max_examples=int(os.environ.get("SHMLINT_EXAMPLES", "60")),
    suppress_health_check=list(HealthCheck),
)
@given(projects())
def test_compose_agrees(project: tuple[dict[str, str], tuple[str, ...]]) -> None:
    need_compose()
    texts, used = project
    for path, text in texts.items():
        note(f"--- {path}\n{text}")
    found = compared(texts, used)
    for _ in range(5):  # Compose takes services in no fixed order, and with !reset in a chain that matters
        found = found and compared(texts, used)
    assert not found, found

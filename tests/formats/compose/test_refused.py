"""Keys, tags and interpolations that Compose refuses, and those it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.load import load_project
from shmlint.formats.compose.service import read_project
from shmlint.formats.compose.shape import check
from shmlint.model.source import Source
from shmlint.syntax.yaml_read import parse
from tests.oracles.compose import compose_config
from tests.table import table

A = "services:\n  a:\n    image: x\n    shm_size: 1g\n"

REFUSED: list[tuple[str, int, str]] = [
    (A + "  1: {image: y}\n", 5, "non-string key in `services`: `1`"),
    (A + "    labels: {1: x}\n", 5, "non-string key in `services.a.labels`: `1`"),
    (A + "    environment:\n      0x10: x\n", 6, "non-string key in `services.a.environment`: `0x10`"),
    ("%YAML 1.2\n---\n" + A, 1, "incompatible YAML document: Compose reads YAML 1.1, not 1.2"),
    (A + "3: x\n", 5, "non-string key at top level: `3`"),
    (A + "x-a: [{true: x}]\n", 5, "non-string key in `x-a[0]`: `true`"),
    (A + "x-a: {~: x}\n", 5, "non-string key in `x-a`: `~`"),
    (A + "x-a: {1.5: x}\n", 5, "non-string key in `x-a`: `1.5`"),
    (A + "x-a: {!!int '1': x}\n", 5, "non-string key in `x-a`: `1`"),
    ("x-k: &k 1\n" + A + "x-a: {*k : x}\n", 6, "non-string key in `x-a`: `1`"),
    (A + "x-a: {{ b }}: x\n".replace("}}: x", "}: x}"), 5, "invalid map key: a mapping"),
    (A + "x-a: {? [b] : x}\n", 5, "invalid map key: a list"),
    (A.replace("1g", "${SHM:-8g"), 4, "invalid interpolation format for `services.a.shm_size`: `${SHM:-8g`"),
    ("services:\n  a: {image: x, shm_size: '${SHM:-8g'}\n", 2,
     "invalid interpolation format for `services.a.shm_size`"),
    ('services: {a: {image: x, labels: {b: "${C"}}}\n', 1, "invalid interpolation format for `services.a.labels.b`"),
    (A + "x-a: ['$B', 'a ${b!}']\n", 5, "invalid interpolation format for `x-a[1]`: `a ${b!}`"),
    (A + "    command: |\n      echo ${list[@]}\n", 5, "invalid interpolation format for `services.a.command`"),
    (A.replace("1g", "!!int 1e9"), 4, "cannot decode !!float `1e9` as a !!int"),
    (A.replace("1g", "!!float 1g"), 4, "cannot decode !!str `1g` as a !!float"),
    (A + "    privileged: !!bool yes\n", 5, "cannot decode !!str `yes` as a !!bool"),
    (A.replace("1g", "!!binary 8g"), 4, "!!binary value contains invalid base64 data"),
    (A + "---\n", 6, "top-level object must be a mapping"),
    (A + '    environment: {U: "http:\\/\\/x"}\n', 5, r"`\/` is an escape that Compose does not know; write `/`"),
    (A + '    labels: {"a\\/b": c}\n', 5, r"`\/` is an escape"),
    (A + '    labels: {a: "\\\\ \\ud83d\\ude00"}\n', 5, r"`\ud83d` is an escape that Compose does not know"),
    (A + 'x-a: ["\\U0000DC00"]\n', 5, r"`\U0000DC00` is an escape"),
]

TAKEN = [
    (A + "x-a: {'1': x, yes: y, on: z, -a: b, .c: d, !!str 2: e}\n", 1 << 30),
    ("x-k: &k foo\n" + A + "x-a: {*k : x}\nx-b: {<<: {c: d}}\n", 1 << 30),
    (A + "x-a: ['$${b', '$${c!}', '${D:-${E:-f}}', '${G:-{}}', '$', '$1', '{}']\nx-b: {'${H': i}\n", 1 << 30),
    (A + "x-a: !reset ['${b']\n", 1 << 30),
    (A + """x-a: ["\\\\/\\\\ud83d\\ue000\\u0041\\'", '\\/', \\/]  # "\\/"\n""", 1 << 30),
    (A.replace("1g", "!!float 1e9"), 0),
    (A.replace("1g", "!!float '5'"), 0),
    (A.replace("1g", "!!int 0x40000000"), 1 << 30),
    (A.replace("1g", "!!int '64'"), 64),
    (A.replace("1g", "!!binary OGc="), 8 << 30),
    (A.replace("1g", "!!binary JHtYOi04Z30="), 8 << 30),
    (A.replace("1g", "!!str 1e9"), 10**9),
    (A.replace("1g", "! 0x10"), 16),
    (A.replace("1g", "!<tag:yaml.org,2002:int> 0x10"), 16),
    ("x-k: &k {image: x, shm_size: 1g}\n---\nservices: {a: *k}\n...\n...\n", 1 << 30),
]


def faults(text: str) -> list[tuple[int, str]]:
    source = Source("compose.yaml", text)
    found = check("compose.yaml", parse(source), Workspace({"compose.yaml": text}))
    return [(problem.span.line, problem.message) for problem in found]


@table("text, line, words", REFUSED)
def test_what_is_refused(text: str, line: int, words: str) -> None:
    ((at, message),) = faults(text)
    assert (at, words in message) == (line, True), message


@table("text, size", TAKEN)
def test_what_is_taken(text: str, size: int) -> None:
    assert faults(text) == []
    (launch,) = read_project(load_project(["compose.yaml"], Workspace({"compose.yaml": text})), Workspace())
    assert launch.shm is not None and launch.shm.known is not None
    assert launch.shm.known.bytes == size


@pytest.mark.compose_judge
@table("text, size", [(text, None) for text, _, _ in REFUSED] + TAKEN)
def test_compose_agrees(text: str, size: int | None, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(text, "utf-8")
    answer = compose_config(tmp_path)
    assert (answer and int(answer["services"]["a"].get("shm_size", 0))) == size

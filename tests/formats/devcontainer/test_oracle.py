"""devcontainer.json is read as the reference implementation reads it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.run import lint
from shmlint.syntax.json import Json, parse
from tests.oracles.devcontainer import read_configuration, substituted
from tests.table import table

pytestmark = pytest.mark.devcontainer_cli

KEYS = (
    "name", "image", "build", "dockerFile", "runArgs", "mounts", "containerEnv", "hostRequirements",
    "dockerComposeFile", "service", "features", "privileged",
)  # fmt: skip


def plain(value: Json) -> Any:
    """The plain data of a value, with the host's variables substituted as where none is set."""
    if value.kind == "object":
        return {name: plain(item) for name, (_, item) in value.entries.items()}
    if value.kind == "array":
        return [plain(item) for item in value.items]
    if value.kind == "string":
        return substituted(value.text)
    if value.kind == "number":
        return float(value.span.text)
    return {"true": True, "false": False, "null": None}[value.kind]


def same(ours: Any, theirs: Any) -> bool:
    """Whether two values are the same; a text with a variable that is set there is any text."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(item, theirs[name]) for name, item in ours.items())
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        return "${" in ours or ours == theirs
    return type(ours) in (type(theirs), float) and bool(ours == theirs)


def compare(text: str, directory: Path) -> bool:
    """Whether the reference reads the text; where it does, it reads the same as we."""
    config = directory / ".devcontainer" / "devcontainer.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(text, encoding="utf-8", newline="")
    theirs = read_configuration(directory, config)
    root, problems = parse(Source("devcontainer.json", text))
    if theirs is None or root is None or problems:
        return False
    ours = plain(root)
    for key in KEYS:
        assert same(ours.get(key), theirs.get(key)), (key, text)
    return True


@table(
    "text",
    [
        '{"image": "a", "runArgs": ["--gpus", "all", "--shm-size=8g"]}',
        '// first\n{ /* in */ "image": "a", // behind\n "runArgs": ["--shm-size=8g",], }',
        '\ufeff{"image": "a"}',
        '{"image": "a", "runArgs": ["--gpus", "\\"device=0,1\\""], "hostRequirements": {"gpu": "optional"}}',
        '{"image": "${localEnv:IMAGE:pytorch/pytorch}", "runArgs": ["--shm-size=${localEnv:SHM:2g}"]}',
        '{"image": "a", "name": "\\u0061\\/\\n", "hostRequirements": {"gpu": {"cores": 1000, "memory": "32gb"}}}',
        '{"image": "a", "image": "b"}',
        '{"dockerComposeFile": ["a.yml", "../b.yml"], "service": "s", "runArgs": ["--ipc=host"]}',
    ],
    ids=range(8),
)
def test_reads_the_same(text: str, tmp_path: Path) -> None:
    assert compare(text, tmp_path)


texts = st.text(st.characters(codec="utf-8", exclude_characters="$"), max_size=8)
gaps = st.sampled_from(["", " ", "\n", "\r\n  ", " /* a, b: { */ ", " // {\n", "\t"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A devcontainer.json with comments and commas where they may be."""

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=draw(st.booleans()))

    def array(items: list[str]) -> str:
        body = "".join(f"{draw(gaps)}{quoted(item)}{draw(gaps)}," for item in items)
        return f"[{body if draw(st.booleans()) else body[:-1]}]"

    arguments = st.one_of(texts, st.sampled_from(["--gpus", "all", "--shm-size=1g", "--ipc=host", "-e", "A=b"]))
    entries = [
        ("image", quoted(draw(texts) or "a")),
        ("runArgs", array(draw(st.lists(arguments, max_size=4)))),
        ("hostRequirements", '{"gpu":' + draw(st.sampled_from(["true", "false", '"optional"', "{}"])) + "}"),
        ("containerEnv", "{" + f'"A":{draw(gaps)}{quoted(draw(texts))}' + "}"),
    ]
    chosen = draw(st.lists(st.sampled_from(entries), unique_by=lambda entry: entry[0], max_size=4))
    body = ",".join(f"{draw(gaps)}{quoted(key)}{draw(gaps)}:{draw(gaps)}{value}{draw(gaps)}" for key, value in chosen)
    comma = "," if chosen and draw(st.booleans()) else ""
    return f"{draw(gaps)}{{{body}{comma}{draw(gaps)}}}{draw(gaps)}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents())
def test_generated_files_are_read_the_same(tmp_path: Path, text: str) -> None:
    assert compare(text, tmp_path)


@pytest.mark.needs("corpus")
def test_public_files_are_read_the_same(tmp_path: Path) -> None:
    files = sorted((Path(os.environ["SHMLINT_CORPUS"]) / "devcontainer").glob("*.json"))
    read = 0
    for number, file in enumerate(files):
        directory = tmp_path / str(number)
        directory.mkdir()
        read += compare(file.read_bytes().decode("utf-8", "replace"), directory)
    assert read > len(files) * 0.9


@pytest.mark.needs("corpus")
def test_public_files_with_their_compose_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What people read in dev containers is read here too, once the compose files they start are there."""
    corpus = Path(os.environ["SHMLINT_CORPUS"])
    index = [json.loads(line) for line in (corpus / "index.jsonl").read_text("utf-8").splitlines()]
    places = {row["file"]: row for row in index}
    labels = [json.loads(line) for line in (corpus / "labels.jsonl").read_text("utf-8").splitlines()]
    wrong, seen = [], 0
    for number, label in enumerate(labels):
        if not label["file"].startswith("devcontainer/") or label["requests_gpu"] not in (True, False):
            continue
        directory = tmp_path / str(number)
        own = places[label["file"]]
        for row in (own, *(row for row in index if row.get("repo") == own.get("repo") and row["kind"] == "compose")):
            target = directory / row["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((corpus / row["file"]).read_bytes())
        monkeypatch.chdir(directory)
        run = lint({"devcontainer": [own["path"]]}, Settings(), Workspace())
        if any(launch.undecided for launch in run.launches):
            continue  # the corpus has not got the compose file that it starts
        seen += 1
        if [launch.gpu.requested for launch in run.launches] != [label["requests_gpu"]]:
            wrong.append((label["file"], [launch.gpu for launch in run.launches]))
    assert seen > 15
    assert not wrong

"""The size of a dev container rewritten."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.formats.devcontainer.read import read
from shmlint.model.settings import Settings
from shmlint.model.source import Source, apply_edits
from shmlint.syntax.json import Json, parse
from tests.formats.devcontainer.containers import GIB, HERE, NGC, launch
from tests.project import findings, fixed, write
from tests.table import table

REWRITES = {
    "inline": ('{IMG, "runArgs": ["--gpus=all"]}', '{IMG, "runArgs": ["--shm-size=8g", "--gpus=all"]}'),
    "inline, packed": (
        '{IMG,"runArgs":["--init","--gpus","all"]}',
        '{IMG,"runArgs":["--init","--shm-size=8g","--gpus","all"]}',
    ),
    "a line each": (
        '{\n  IMG,\n  "runArgs": [\n    "--init", // 1\n    "--gpus=all"  // no comma\n  ]\n}\n',
        '{\n  IMG,\n  "runArgs": [\n    "--init", // 1\n    "--shm-size=8g",\n    "--gpus=all"  // no comma\n  ]\n}\n',
    ),
    "two strings": (
        '{\n  IMG,\n  "runArgs": [\n    "--gpus",\n    "all",\n    // end\n  ],\n}\n',
        '{\n  IMG,\n  "runArgs": [\n    "--shm-size=8g",\n    "--gpus",\n    "all",\n    // end\n  ],\n}\n',
    ),
    "two strings on a line": (
        '{\n  IMG,\n  "runArgs": [\n    "--gpus", "all"\n  ]\n}\n',
        '{\n  IMG,\n  "runArgs": [\n    "--shm-size=8g",\n    "--gpus", "all"\n  ]\n}\n',
    ),
    "comments at column 0": (
        '{\n  IMG,\n  "runArgs": [\n//  "--ipc=host",\n    "--gpus=all",\n//    "--x"\n  ]\n}\n',
        '{\n  IMG,\n  "runArgs": [\n//  "--ipc=host",\n    "--shm-size=8g",\n    "--gpus=all",\n//    "--x"\n  ]\n}\n',
    ),
    "a comment before it": (
        '{IMG, "runArgs": [ /* gpu */ "--gpus=all" ]}',
        '{IMG, "runArgs": [ /* gpu */ "--shm-size=8g", "--gpus=all" ]}',
    ),
    "tabs and CRLF": (
        '\ufeff{\r\n\tIMG,\r\n\t"runArgs": [\r\n\t\t"--gpus=all"\r\n\t]\r\n}',
        '\ufeff{\r\n\tIMG,\r\n\t"runArgs": [\r\n\t\t"--shm-size=8g",\r\n\t\t"--gpus=all"\r\n\t]\r\n}',
    ),
    "empty array": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": []}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g"]}',
    ),
    "empty array with a comment": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": [\n  // "--init"\n]}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g"\n  // "--init"\n]}',
    ),
    "null": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": null}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g"]}',
    ),
    "no runArgs": (
        '{\n  // dev\n  IMG,\n  "hostRequirements": {\n    "gpu": true\n  },\n}\n',
        '{\n  // dev\n  IMG,\n  "runArgs": ["--shm-size=8g"],\n  "hostRequirements": {\n    "gpu": true\n  },\n}\n',
    ),
    "no runArgs, inline": (
        '{"hostRequirements": {"gpu": true}, IMG}',
        '{"runArgs": ["--shm-size=8g"], "hostRequirements": {"gpu": true}, IMG}',
    ),
    "GPU elsewhere": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--init", "--network=host"]}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g", "--init", "--network=host"]}',
    ),
    "too small": (
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=128m"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
    ),
    "too small, two strings": (
        '{IMG, "runArgs": ["--gpus=all", "--shm-size", /* MB */ "128m",]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size", /* MB */ "8g",]}',
    ),
    "too small, escaped": (
        r'{IMG, "runArgs": ["--gpus=all", "--shm-size=12\u0038m"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
    ),
    "refused": (
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8Gi"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
    ),
    "not ASCII": (
        '{"name": "Größe 🐋", IMG, "runArgs": ["--gpus=all"]}',
        '{"name": "Größe 🐋", IMG, "runArgs": ["--shm-size=8g", "--gpus=all"]}',
    ),
}  # fmt: skip


@table("case", REWRITES)
def test_rewriting(tmp_path: Path, case: str) -> None:
    before, after = (text.replace("IMG", NGC) for text in REWRITES[case])
    assert fixed(tmp_path, {HERE: before}) == {HERE: after}
    assert fixed(tmp_path, {HERE: after}) == {}
    assert findings(tmp_path, {HERE: after}) == []


@table(
    "text",
    [
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size", "8g"]}',
        '{IMG, "runArgs": ["--gpus=all", "--ipc=host"]}',
        '{IMG, "runArgs": ["--gpus=all", "${localEnv:MORE}"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=${localEnv:SHM}"]}',
        '{IMG, "runArgs": [\n// "--gpus=all"\n]}',
        '{IMG, "runArgs": ["--gpus=all"], "mounts": ["type=bind,source=/dev/shm,target=/dev/shm"]}',
        '{IMG, "hostRequirements": {"gpu": false}}',
        '{"image": "ollama/ollama", "runArgs": ["--gpus=all"]}',
        '{"dockerComposeFile": "x.yaml", "service": "x", "hostRequirements": {"gpu": true}}',
        '{"runArgs": ["--gpus", "all"}',
    ],
)
def test_nothing_to_rewrite(tmp_path: Path, text: str) -> None:
    assert fixed(tmp_path, {HERE: text.replace("IMG", NGC)}) == {}


GAPS = st.sampled_from(["", " ", "\n    ", "\r\n\t", " // c,]}\n  ", "/* [{, */", "\n//x\n"])
ARGUMENTS = st.lists(
    st.sampled_from(["--init", "--gpus=all", "--cap-add=SYS_PTRACE", "--name=é🐋", "--shm-size=1m", "--env=A=\"b\\"]),
    max_size=4,
)


@st.composite
def dev_containers(draw: st.DrawFn) -> str:
    """A dev container with comments and commas anywhere."""

    def listing(items: list[str], opening: str, closing: str) -> str:
        inside = ",".join(draw(GAPS) + item + draw(GAPS) for item in items)
        comma = "," + draw(GAPS) if bool(items) and draw(st.booleans()) else ""
        return opening + (inside or draw(GAPS)) + comma + closing

    given_: list[str] | None = draw(st.none() | ARGUMENTS)
    properties = [NGC, '"hostRequirements":' + draw(GAPS) + '{"gpu": true}']
    if given_ is not None:
        array = listing([json.dumps(item, ensure_ascii=draw(st.booleans())) for item in given_], "[", "]")
        properties.append('"runArgs"' + draw(GAPS) + ":" + draw(GAPS) + array)
    return draw(GAPS) + listing(draw(st.permutations(properties)), "{", "}") + draw(GAPS)


def _plain(value: Json) -> object:
    if value.kind == "object":
        return {name: _plain(held) for name, (_, held) in value.entries.items()}
    if value.kind == "array":
        return [_plain(item) for item in value.items]
    return value.text if value.kind == "string" else json.loads(value.span.text)


@given(dev_containers())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_an_edit_changes_the_size_and_nothing_else(text: str) -> None:
    def value(text: str) -> dict[str, list[str]]:
        root, problems = parse(Source(HERE, text))
        assert root is not None and problems == []
        found = _plain(root)
        assert isinstance(found, dict)
        return found

    found = launch(text)
    (change,) = found.rewriter.set_shm_size(4 * GIB)
    (edit,) = change.edits
    new = apply_edits(text, change.edits)
    before, after = value(text), value(new)
    shm = launch(new).shm
    assert shm is not None and shm.known is not None and shm.known.bytes == 4 * GIB
    assert text[: edit.start] == new[: edit.start] and text[edit.end :] == new[edit.start + len(edit.text) :]
    sizes = [item for item in after["runArgs"] if item == "--shm-size=4g"]
    assert len(sizes) == 1
    old = list(before.get("runArgs", []))
    if "--shm-size=1m" in old:
        at = len(old) - 1 - old[::-1].index("--shm-size=1m")
        old[at] = sizes[0]
    else:
        after["runArgs"].remove(sizes[0])
    assert {**after, "runArgs": after["runArgs"]} == {**before, "runArgs": old}
    (again,) = launch(new).rewriter.set_shm_size(4 * GIB)
    assert apply_edits(new, again.edits) == new


def test_the_text_on_disk_is_the_one_that_is_read(tmp_path: Path) -> None:
    write(tmp_path, {HERE: "\ufeff{" + NGC + "}"})
    with contextlib.chdir(tmp_path):
        (found,) = read([HERE], Workspace(), Settings()).launches
    assert found.span.begin == (1, 1)

"""Comments that suppress findings: where they count, when they are of no use, how they are removed and written."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from shmlint.fixing.add_ignore import add
from tests.project import findings, fixed, run
from tests.table import table

NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
DOCKER = f"docker run --gpus all {NGC} python train.py"


def compose(*, key: str = "", image: str = "", above: str = "", top: str = "", size: str = "") -> str:
    return (
        f"{top}services:\n{above}  x:{key}\n    image: {NGC}{image}\n    gpus: all\n"
        + (f"    shm_size: {size}\n" if size else "")
    )  # fmt: skip


def told(tmp_path: Path, files: dict[str, str] | str, **settings: Any) -> list[str]:
    return [f.rule for f in findings(tmp_path, files, **settings)]


COMMENT = "  # shmlint: ignore[SHM101] why"
ABOVE = "  # shmlint: ignore[SHM101] why\n"


@table(
    "text",
    [
        compose(key=COMMENT),
        compose(key="  # shmlint: ignore"),
        compose(key="  #shmlint:ignore[SHM101]"),
        compose(key="  # shmlint: ignore[missing-shm-size]"),
        compose(key="  # shmlint: ignore[ SHM103 , shm101 ]").replace("SHM103 ,", ""),
        compose(key="  # shmlint: ignore[SHM1] a prefix"),
        compose(key="  # the trainer # shmlint: ignore[SHM101]"),
        compose(key="  # shmlint: ignore[SHM101] why # noqa"),
        compose(above=ABOVE),
        compose(above=ABOVE + "  # it is small\n"),
        compose(top="# shmlint: ignore-file\n"),
        compose(top="# shmlint: ignore-file[SHM101] all of it\n"),
        compose(image="\n    # shmlint: ignore-file[SHM101]"),
        compose(key=COMMENT).replace("\n", "\r\n"),
        "\ufeff# shmlint: ignore-file\n" + compose(),
    ],
)
def test_compose(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == []


@pytest.mark.parametrize(
    "text",
    [
        compose(key="  # shmlint: ignored"),
        compose(key="  # shmlint: ignore-files"),
        compose(key="  # please shmlint: ignore[SHM101]"),
        compose(key='  # "x"').replace("gpus: all", "gpus: all\n    labels: ['a# shmlint: ignore']"),
    ],
)
def test_what_is_no_suppression(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == ["SHM101"]


@table(
    "base, overlay, expected",
    [
        (("", ABOVE), ("", ""), []),
        (("", ""), ("", ABOVE), []),
        (("# shmlint: ignore-file[SHM101]\n", ""), ("", ""), []),
        (("", ""), ("# shmlint: ignore-file[SHM101]\n", ""), []),
        (("", ""), ("", ""), ["SHM101"]),
    ],
)
def test_a_service_in_two_files(
    tmp_path: Path, base: tuple[str, str], overlay: tuple[str, str], expected: list[str]
) -> None:
    files = {
        "compose.yaml": f"{base[0]}services:\n{base[1]}  x:\n    image: {NGC}\n",
        "compose.override.yaml": f"{overlay[0]}services:\n{overlay[1]}  x:\n    gpus: all\n",
    }
    assert told(tmp_path, files) == expected


def test_only_here(tmp_path: Path) -> None:
    text = compose(key=COMMENT) + compose().removeprefix("services:\n").replace("x:", "y:")
    assert told(tmp_path, text) == ["SHM101"]
    other = compose() + f"    restart: always{COMMENT}\n"
    assert told(tmp_path, other) == ["SHM101", "SHM002"], "not any line of the service"


def test_next_to_the_reason(tmp_path: Path) -> None:
    assert told(tmp_path, compose(image=COMMENT)) == []
    assert told(tmp_path, compose().replace("gpus: all", f"gpus: all{COMMENT}")) == []
    bare = compose().replace("gpus: all", "gpus: all  # shmlint: ignore")
    assert told(tmp_path, bare) == ["SHM101", "SHM002"], "it may be meant for another rule"
    other = compose().replace("gpus: all", "gpus: all  # shmlint: ignore[SHM102]")
    assert told(tmp_path, other) == ["SHM101", "SHM002"]


def test_the_marked_line(tmp_path: Path) -> None:
    assert told(tmp_path, compose(size="64m  # shmlint: ignore[SHM102] a smoke test")) == []
    assert told(tmp_path, compose(size="64m", key="  # shmlint: ignore[SHM102]")) == []


SCRIPTS = {
    "above": f"# shmlint: ignore[SHM101] why\n{DOCKER}\n",
    "behind": f"{DOCKER}  # shmlint: ignore[SHM101] why\n",
    "above several": f"# shmlint: ignore[SHM101]\ncd x && \\\n  docker run \\\n  --gpus all \\\n  {NGC}\n",
    "behind several": f"docker run \\\n  --gpus all \\\n  {NGC}  # shmlint: ignore[SHM101]\n",
    "a size in a later line": f"# shmlint: ignore[SHM102]\ndocker run --gpus all \\\n  --shm-size 64m \\\n  {NGC}\n",
    "file": f"{DOCKER}\n# shmlint: ignore-file\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, {"run.sh": "#!/bin/sh\n" + SCRIPTS[name]}) == []


def test_other_formats(tmp_path: Path) -> None:
    files = {
        "Makefile": f"a:\n# shmlint: ignore[SHM101]\n\t{DOCKER}\nb:\n\t@# shmlint: ignore[SHM101]\n\t{DOCKER}\n",
        ".github/workflows/a.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n"
        f"      - run: |\n          # shmlint: ignore[SHM101]\n          {DOCKER}\n",
        ".devcontainer/devcontainer.json": f'{{  // shmlint: ignore[SHM101] why\n  "image": "{NGC}",\n'
        '  "runArgs": ["--gpus=all"]\n}\n',
    }
    assert told(tmp_path, files) == []


def test_the_line_of_a_dev_container(tmp_path: Path) -> None:
    text = f'{{\n  "image": "{NGC}",\n  "runArgs": ["--gpus=all"] // shmlint: ignore[SHM101] why\n}}\n'
    assert told(tmp_path, {".devcontainer/devcontainer.json": text}) == []
    assert told(tmp_path, {".devcontainer/devcontainer.json": text.replace("//", "#")})[0] != "SHM002"


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- shmlint: ignore[SHM101] why -->\n```sh\n{DOCKER}\n```\n",
        f"<!-- shmlint: ignore[SHM101] why -->\n\n```sh\ncd x\n\n{DOCKER}\n```\n",
        f"```sh\n# shmlint: ignore[SHM101] why\n{DOCKER}\n```\n",
        f"- a list\n\n  <!-- shmlint: ignore[SHM101] why -->\n  ```sh\n  {DOCKER}\n  ```\n",
        f"Say `{DOCKER}` and see. <!-- shmlint: ignore[SHM101] why -->\n",
        f"<!-- shmlint: ignore-file -->\n\n# Title\n\n```sh\n{DOCKER}\n```\n",
        f"```yaml\n{compose(key=COMMENT)}```\n",
    ],
)
def test_documents(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, {"README.md": text}) == []


def test_documents_about_suppressing(tmp_path: Path) -> None:
    text = (
        "Write `# shmlint: ignore[SHM101]` or `<!-- shmlint: ignore -->`:\n\n"
        "```yaml\nservices:\n  x:  # shmlint: ignore[SHM101] why\n```\n\n"
        f"```md\n<!-- shmlint: ignore-file -->\n```\n\n```sh\n{DOCKER}\n```\n"
    )
    assert told(tmp_path, {"README.md": text}) == ["SHM101"]


@pytest.mark.parametrize(
    "line",
    [
        'echo "write # shmlint: ignore there"',
        "cat <<EOF\n# shmlint: ignore[SHM101] x\nEOF",
        "x='\n# shmlint: ignore[SHM101]\n'",
    ],
)
def test_a_text_about_a_comment_is_none(tmp_path: Path, line: str) -> None:
    assert told(tmp_path, {"run.sh": f"{line}\ndocker run redis\n"}) == []


def test_a_text_in_a_compose_file_stays(tmp_path: Path) -> None:
    comment = "# shmlint: ignore[SHM101] x\n"
    text = compose(size="8gb") + f"    command: |\n      {comment}      train\n    labels: ['a # shmlint: ignore']\n"
    assert told(tmp_path, text) == []
    behind = text.replace("    labels", f"    {comment}    labels")
    assert fixed(tmp_path, behind) == {"compose.yaml": text}, "behind a text it is a comment"


FILE = "# shmlint: ignore-file"
LINES = f"cat > x <<EOF\n{FILE}\nEOF\n{DOCKER}\n"


def indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)


@table(
    ("name", "text"),
    [
        ("run.sh", LINES), ("run.sh", f"echo '\n{FILE}\n'\n{DOCKER}\n"), ("run.sh", f"echo 'x {FILE}'\n{DOCKER}\n"),
        ("compose.yaml", f"{compose()}    command: |\n      bash -c '\n      {FILE}\n      train'\n"),
        (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: |\n" + indented(f"\n{LINES}", 10)),
        ("Taskfile.yml", "version: 3\ntasks:\n  a:\n    cmds:\n      - |\n" + indented(f"\n{LINES}", 8)),
        ("Jenkinsfile", f"sh '''\n{LINES}'''\n"), ("README.md", f"```sh\n{LINES}```\n"),
        (".devcontainer.json", f'{{"image": "{NGC}", "runArgs": ["--gpus=all"], "onCreateCommand": "x //{FILE[1:]}"}}'),
    ],
)  # fmt: skip
def test_a_text_does_not_speak_of_the_file_that_it_is_in(tmp_path: Path, name: str, text: str) -> None:
    assert "SHM101" in told(tmp_path, {name: text})


# Writing -----------------------------------------------------------------------------------------


def added(tmp_path: Path, files: dict[str, str]) -> tuple[dict[str, str], int]:
    started = run(tmp_path, files)
    with contextlib.chdir(tmp_path):
        result = add(started, " a\nreason ")
    (tmp_path / "after").mkdir()
    assert told(tmp_path / "after", {**files, **result.texts}).count("SHM101") == len(result.left)
    return result.texts, len(result.left)


C = "# shmlint: ignore[SHM101] a reason"


@table(
    ("name", "before", "after"),
    [
        ("compose.yaml", compose(), compose(key=f"  {C}")),
        ("compose.yaml", compose().replace("\n", "\r\n"), compose(key=f"  {C}").replace("\n", "\r\n")),
        ("compose.yaml", compose(key="  # mine"), compose(key=f"  # mine  {C}")),
        ("run.sh", f"cd x\n  {DOCKER}\n", f"cd x\n  {C}\n  {DOCKER}\n"),
        ("run.sh", f"cd x && \\\n  {DOCKER}\n", f"{C}\ncd x && \\\n  {DOCKER}\n"),
        ("run.sh", f"\ufeff{DOCKER}\r\n", f"\ufeff{C}\r\n{DOCKER}\r\n"),
        ("Makefile", f"a:\n\tcd x\n\t{DOCKER}\n", f"a:\n\tcd x\n{C}\n\t{DOCKER}\n"),
        ("justfile", f"a:\n    cd x\n    {DOCKER}\n", f"a:\n    cd x\n    {C}\n    {DOCKER}\n"),
        ("README.md", f"1. x\n\n   ```sh\n   $ {DOCKER}\n   ```\n",
         f"1. x\n\n   ```sh\n   {C}\n   $ {DOCKER}\n   ```\n"),
        ("README.md", f"> ```sh\n> {DOCKER}\n> ```\n", f"> ```sh\n> {C}\n> {DOCKER}\n> ```\n"),
        ("README.md", f"```yaml\n{compose()}```\n", f"```yaml\n{compose(key=f'  {C}')}```\n"),
        ("README.md", f"Say `{DOCKER}`.\n", f"Say `{DOCKER}`. <!-- {C[2:]} -->\n"),
        (".devcontainer/devcontainer.json", f'{{\n  "image": "{NGC}",\n  "runArgs": ["--gpus=all"]\n}}\n',
         f'{{ // {C[2:]}\n  "image": "{NGC}",\n  "runArgs": ["--gpus=all"]\n}}\n'),
        (".github/workflows/a.yml",
         f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: |\n          {DOCKER}\n",
         f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: |\n          {C}\n          {DOCKER}\n"),
        (".github/workflows/a.yml",
         f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: {DOCKER}\n",
         f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      {C}\n      - run: {DOCKER}\n"),
    ],
)  # fmt: skip
def test_adding(tmp_path: Path, name: str, before: str, after: str) -> None:
    assert added(tmp_path, {name: before}) == ({name: after}, 0)


def test_no_comment_is_added_to_json(tmp_path: Path) -> None:
    text = f'{{"services": {{"a": {{"image": "{NGC}", "gpus": "all"}}}}}}\n'
    assert added(tmp_path, {"compose.json": text}) == ({}, 1)


def test_several_rules_are_one_comment(tmp_path: Path) -> None:
    text = compose() + "    build: {context: ., shm_size: 8gb}\n"
    (new,) = added(tmp_path, {"compose.yaml": text})[0].values()
    assert new.count("# shmlint: ignore[") == 1


def test_what_has_no_place_for_a_comment(tmp_path: Path) -> None:
    folded = f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: >\n          {DOCKER}\n          -v\n"
    texts, left = added(tmp_path, {".github/workflows/a.yml": folded, "run.sh": DOCKER + "\n"})
    assert (list(texts), left) == (["run.sh"], 1)

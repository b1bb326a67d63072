"""Units of systemd: their command lines, and edits in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.formats.systemd.read import parts
from shmlint.model.source import Source
from shmlint.syntax.shell_text import Places
from tests.formats.started import IMAGE, TRAIN, launches, one, seen
from tests.formats.systemd.units import NAME, QUADLET, SERVICE
from tests.oracles.programs import Chooser
from tests.oracles.started_programs import unit
from tests.oracles.systemd import calls, library
from tests.project import findings, fixed, run
from tests.table import table


@pytest.mark.parametrize("name", ["x.service", "x@.service.in", "etc/x.service.d/gpu.conf", "x.service.j2"])
def test_units_are_found(tmp_path: Path, name: str) -> None:
    assert one(tmp_path, f"{SERVICE}/usr/bin/docker run --gpus all IMG\n", name).gpu.requested


@table(
    ("text", "image", "count", "line"),
    [
        (f"{SERVICE}/usr/bin/docker run --gpus all IMG x", IMAGE, "all", 2),
        (f"{SERVICE}-@+:!/usr/bin/docker docker run --gpus all IMG x\n", IMAGE, "all", 2),
        (f"{SERVICE}docker run \\\n  # why\n  --gpus all \\\n; or\n  IMG\n", IMAGE, "all", 2),
        (f"{SERVICE}docker run \\\r\n  --gpus all \\\r\n  IMG\r\n", IMAGE, "all", 2),
        (f"{SERVICE}\nExecStart=docker run --gpus 1 IMG\n", IMAGE, 1, 3),
        (f"{SERVICE}docker run --gpus all x\nExecStart=\nExecStart=docker run --gpus 1 IMG\n", IMAGE, 1, 4),
        (f"{SERVICE}true ; docker run --gpus all IMG\n", IMAGE, "all", 2),
        (f"{SERVICE}docker run --gpus '\"device=0,1\"' IMG\n", IMAGE, 2, 2),
        (f'{SERVICE}docker run "--gpus=\\"device=0,1\\"" IMG\n', IMAGE, 2, 2),
        (f"{SERVICE}docker run --name a\\x20b --gpus=\\x61ll IMG\n", IMAGE, "all", 2),
        (f"{SERVICE}docker run --gpus all -e A=$$X -e 'B=c;d|e' IMG\n", IMAGE, "all", 2),
        (f"Environment=I=IMG 'G=--gpus 2'\n{SERVICE}docker run $G ${{I}}\n", IMAGE, 2, 3),
        (f"Environment=\"I=x y\"\nEnvironment=I=IMG\n{SERVICE}docker run --gpus all $I\n", IMAGE, "all", 4),
        (f"{SERVICE}docker run --gpus all --name %n-%i IMG\n", IMAGE, "all", 2),
        (f"{SERVICE}docker run --gpus all r/%i:1\n", "r/%i:1", "all", 2),
        (f"{SERVICE}@DOCKER@ run --gpus all @IMAGE@\n", "@IMAGE@", "all", 2),
        (f"{SERVICE}docker run --gpus all {{{{ image }}}} x\n", "{{ image }}", "all", 2),
        (f"{SERVICE}/bin/sh -c 'docker run --gpus all IMG && true'\n", IMAGE, "all", 2),
        (f"Environment=I=IMG\n{SERVICE}bash -c \"docker run --gpus all $$I\"\n", IMAGE, "all", 3),
        ("[Service]\nExecStartPre=+/usr/bin/podman run --gpus all IMG\n", IMAGE, "all", 2),
        ("[Container]\nImage=IMG\nAddDevice=-nvidia.com/gpu=all\n", IMAGE, "all", 2),
        ("[Container]\nImage=x\nPodmanArgs=--gpus all \\\n  --rm\nImage=IMG\n", IMAGE, "all", 5),
    ],
)
def test_command_lines(tmp_path: Path, text: str, image: str, count: object, line: int) -> None:
    assert seen(tmp_path, text, NAME) == (image, count, line)


ENVIRONMENT = "Environment=S=64m \"T=a 'b c' d\"\n"


@table(
    ("line", "words"),
    [
        ("docker run $T ${T} \"$T\"", [["docker", "run", "a", "b c", "d", "a 'b c' d", "a", "b c", "d"]]),
        ("docker run $S-x ${S}-x $ $$ $$x", [["docker", "run", "64m-x", "$", "$x"]]),
        ("docker run a\\s \\tb \\x20 c", [["docker", "run", "a ", "\tb", " ", "c"]]),
        ("docker run ; { a ; [ b", [["docker", "run"], ["{", "a"], ["[", "b"]]),
        ("docker run \\; a;b 'c;' ; tool", [["docker", "run", ";", "a;b", "c;"], ["tool"]]),
        ("docker run '\"device=0,1\"' \"\\\"a\\\"\"", [["docker", "run", '"device=0,1"', '"a"']]),
    ],
)  # fmt: skip
def test_words_are_those_of_systemd(line: str, words: list[list[str]]) -> None:
    text = f"{ENVIRONMENT}{SERVICE}{line}\n"
    assert read_words(text) == words
    if library() is not None:
        assert list(calls(text)) == words


@pytest.mark.needs("systemd_library")
def test_words_of_generated_units() -> None:
    for number in range(100):
        text = unit(Chooser(f"words/{number}"))
        assert read_words(text) == list(calls(text)), text


def read_words(text: str) -> list[list[str]]:
    found = [command for part in parts(Source("x.service", text), Places()) for command in part.commands]
    return [[word.text for word in command.words] for command in found if not command.nested]


@table(
    "text",
    [
        f"{SERVICE}docker run --gpus all $ARGS IMG\n",
        f"{SERVICE}docker run --gpus all @ARGS@ IMG\n",
        f"Environment=ARGS=--rm\nEnvironmentFile=/etc/x\n{SERVICE}docker run --gpus all $ARGS IMG\n".replace(
            "Environment", "[Service]\nEnvironment", 1
        ),
        f"Environment=ARGS=%h\n{SERVICE}docker run --gpus all $ARGS IMG\n",
    ],
)
def test_what_is_not_known_leaves_it_undecided(tmp_path: Path, text: str) -> None:
    assert one(tmp_path, text, NAME).undecided


@pytest.mark.parametrize(("drop_in", "sure"), [("Environment=S=32g\n", False), ("Nice=1\n", True)])
def test_a_drop_in_may_set_the_variables(tmp_path: Path, drop_in: str, sure: bool) -> None:
    text = f"[Service]\nEnvironment=S=64m\nExecStart=docker run --gpus all --shm-size=${{S}} {IMAGE}\n"
    (launch,) = run(tmp_path, {NAME: text, f"{NAME}.d/x.conf": f"[Service]\n{drop_in}"}).launches
    assert (launch.effective_shm().decided_by == "shm_size") is sure


def test_a_variable_that_drop_ins_see_stays(tmp_path: Path) -> None:
    """The size goes into the command."""
    text = f"[Service]\nEnvironment=S=64m\nExecStart=docker run --gpus all --shm-size=${{S}} {IMAGE} torchrun x.py\n"
    drop_in = "[Service]\nExecStartPre=docker run --memory 128m --shm-size=${S} redis\n"
    after = text.replace("--shm-size=${S}", "--shm-size=8g")
    assert fixed(tmp_path, {NAME: text, f"{NAME}.d/redis.conf": drop_in}) == {NAME: after}


@table(
    ("name", "text", "drop_in", "sure"),
    [
        (NAME, f"{SERVICE}docker run --gpus all IMG\n", f"{SERVICE}\nExecStart=docker run --shm-size=32g IMG\n", False),
        (NAME, f"{SERVICE}docker run --gpus all IMG\n", "[Service]\nExecStartPre=tool\n", True),
        ("x.container", QUADLET, "[Container]\nShmSize=32g\n", False),
        ("x.container", QUADLET, "[Container]\nNetwork=host\n", True),
    ],
)
def test_what_a_drop_in_replaces_is_not_judged(tmp_path: Path, name: str, text: str, drop_in: str, sure: bool) -> None:
    result = run(tmp_path, {name: text.replace("IMG", IMAGE), f"{name}.d/x.conf": drop_in.replace("IMG", IMAGE)})
    (launch,) = [launch for launch in result.launches if launch.span.path == name]
    assert (launch.undecided is None) is sure
    assert bool(result.findings) is sure


@pytest.mark.parametrize(
    "text",
    [
        "# docker run --gpus all IMG\n[Unit]\nDescription=docker run --gpus all IMG\n",
        f"{SERVICE}echo docker run --gpus all IMG\n",
        f"{SERVICE}docker run --gpus all IMG\nExecStart=\n",
        f"{SERVICE}docker start x\n# docker\n[Container]\nContainerName=x\n",
    ],
)
def test_no_launches(tmp_path: Path, text: str) -> None:
    assert not launches(tmp_path, text, NAME)


def test_no_shell_reads_it(tmp_path: Path) -> None:
    text = f"Environment=S=8g\n{SERVICE}docker run --gpus all --shm-size=$S -e A='$B' IMG 'a b' $$c;d\n"
    launch = one(tmp_path, text, NAME)
    assert launch.shm is not None and launch.shm.text == "$S", "within a word only ${S} is a variable"
    assert launch.command is not None and launch.command.known == ("a b", "$c;d")


def test_where_systemd_ends_a_command_is_reported(tmp_path: Path) -> None:
    result = run(tmp_path, {"x.service": f"{SERVICE}docker run --gpus all \\ \n  --shm-size=8g IMG\n"})
    assert [(place.span.line, place.kind) for place in result.not_read] == [(2, "syntax")]
    assert len(result.launches) == 1


@table(
    ("name", "before", "after"),
    [
        ("x.service", f"{SERVICE}docker run --gpus all {TRAIN}",
         f"{SERVICE}docker run --gpus all --shm-size=8g {TRAIN}"),
        ("x.service", f"{SERVICE}docker run \\\n  --gpus all \\\n  # why\n  {TRAIN}\n",
         f"{SERVICE}docker run \\\n  --gpus all \\\n  --shm-size=8g \\\n  # why\n  {TRAIN}\n"),
        ("x.service", f'{SERVICE}docker run "--gpus" "all" {TRAIN}\n',
         f'{SERVICE}docker run "--gpus" "all" --shm-size=8g {TRAIN}\n'),
        ("x.service", f"{SERVICE}docker run --gpus all --shm-size='64m' {TRAIN}\n",
         f"{SERVICE}docker run --gpus all --shm-size='8g' {TRAIN}\n"),
        ("x.service", f"Environment=S=64m\n{SERVICE}docker run --gpus all --shm-size=${{S}} {TRAIN}\n",
         f"Environment=S=8g\n{SERVICE}docker run --gpus all --shm-size=${{S}} {TRAIN}\n"),
        # Compose puts its environment into the files that it reads.
        ("x.service", f"Environment=S=64m\n{SERVICE[:-10]}ExecStartPre=/usr/bin/docker compose up -d\n"
         f"ExecStart=docker run --gpus all --shm-size=${{S}} {TRAIN}\n",
         f"Environment=S=64m\n{SERVICE[:-10]}ExecStartPre=/usr/bin/docker compose up -d\n"
         f"ExecStart=docker run --gpus all --shm-size=8g {TRAIN}\n"),
        ("x.service", f"Environment='G=--gpus all'\n{SERVICE}docker run $G {TRAIN}\n",
         f"Environment='G=--gpus all'\n{SERVICE}docker run --shm-size=8g $G {TRAIN}\n"),
        ("x.service.in", f"{SERVICE}docker run --gpus @GPUS@ {TRAIN}\n",
         f"{SERVICE}docker run --gpus @GPUS@ --shm-size=8g {TRAIN}\n"),
        ("x.service", f"{SERVICE}sh -c 'docker run --gpus all {TRAIN}'\n",
         f"{SERVICE}sh -c 'docker run --gpus all --shm-size=8g {TRAIN}'\n"),
    ],
)  # fmt: skip
def test_rewriting(tmp_path: Path, name: str, before: str, after: str) -> None:
    assert fixed(tmp_path, {name: before}) == {name: after}
    assert fixed(tmp_path, {name: after}) == {}


@pytest.mark.parametrize("text", [f"{SERVICE}docker run --gpus all {TRAIN}\n", QUADLET])
def test_comments(tmp_path: Path, text: str) -> None:
    name = "x.container" if text == QUADLET else "x.service"
    assert [f.rule for f in findings(tmp_path, {name: text})] == ["SHM101"]
    lines = text.splitlines(keepends=True)
    assert findings(tmp_path, {name: "".join([lines[0], "# shmlint: ignore[SHM101] why\n", *lines[1:]])}) == []
    assert [f.rule for f in findings(tmp_path, {name: text.rstrip() + "  # shmlint: ignore\n"})] == ["SHM101"]

"""Giving a command a size: the text before and after, byte for byte."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix as fixing
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.run import Run, lint
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import whole
from tests.oracles.docker_client import docker_create
from tests.table import table

IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
"""Stands for ``IMG`` in the texts below: an image that is known to need more than the default."""

SETTINGS = Settings(shm_size=8 << 30, select=("SHM101", "SHM102", "SHM201", "SHM203"))


@pytest.fixture(autouse=True, scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The programs of this repository are not those that the commands run."""
    with contextlib.chdir(tmp_path_factory.mktemp("empty")):
        yield


def read(text: str, path: str = "x.sh", kind: str = "shell") -> Run:
    return lint({kind: [path]}, SETTINGS, Workspace().over({path: text}))


def fixed(text: str, path: str = "x.sh", kind: str = "shell") -> str:
    return fixing.fix(read(text, path, kind)).texts.get(path, text)


def accepted(text: str) -> bool:
    """Whether bash finds nothing wrong with the syntax."""
    return subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True).returncode == 0


def check(before: str, after: str) -> None:
    before, after = before.replace("IMG", IMAGE), after.replace("IMG", IMAGE)
    found = fixed(before)
    assert found == after
    assert fixed(found) == found
    assert accepted(before)
    assert accepted(after)


INLINE = [
    ("docker run --gpus all IMG\n", "docker run --gpus all --shm-size=8g IMG\n"),
    ("docker run --gpus all IMG", "docker run --gpus all --shm-size=8g IMG"),
    ("docker run --gpus=all --rm IMG x\n", "docker run --gpus=all --shm-size=8g --rm IMG x\n"),
    ("docker run   --gpus   all   IMG\n", "docker run   --gpus   all --shm-size=8g   IMG\n"),
    ("sudo -E docker run -it --gpus all IMG\n", "sudo -E docker run -it --gpus all --shm-size=8g IMG\n"),
    ("docker run --gpus '\"device=0,1\"' IMG\n", "docker run --gpus '\"device=0,1\"' --shm-size=8g IMG\n"),
    ('docker run --gpus \\"device=0,1\\" IMG\n', 'docker run --gpus \\"device=0,1\\" --shm-size=8g IMG\n'),
    ("docker run --gpus 1 --gpus 2 IMG\n", "docker run --gpus 1 --gpus 2 --shm-size=8g IMG\n"),
    ("docker run --runtime=nvidia IMG\n", "docker run --runtime=nvidia --shm-size=8g IMG\n"),
    ("docker run -it --runtime nvidia IMG\n", "docker run -it --runtime nvidia --shm-size=8g IMG\n"),
    ("docker run --rm --device nvidia.com/gpu=all IMG\n",
     "docker run --rm --device nvidia.com/gpu=all --shm-size=8g IMG\n"),
    ("podman run --gpus all IMG\n", "podman run --gpus all --shm-size=8g IMG\n"),
    ("docker run --device=/dev/kfd --device /dev/dri -it IMG\n",
     "docker run --device=/dev/kfd --device /dev/dri --shm-size=8g -it IMG\n"),
    ("docker run \\\n  --device=/dev/kfd \\\n  --device=/dev/dri \\\n  IMG\n",
     "docker run \\\n  --device=/dev/kfd \\\n  --device=/dev/dri \\\n  --shm-size=8g \\\n  IMG\n"),
    ("nvidia-docker run IMG\n", "nvidia-docker run --shm-size=8g IMG\n"),
    # Words between quotation marks in an expansion.
    ('G=1\ndocker run ${G:+--gpus "all"} IMG\n', 'G=1\ndocker run ${G:+--gpus "all" --shm-size=8g} IMG\n'),
    ("G=1\ndocker run ${G:+--gpus '\"device=0,1\"'} IMG\n",
     "G=1\ndocker run ${G:+--gpus '\"device=0,1\"' --shm-size=8g} IMG\n"),
    ('G=1\ndocker run ${G:+-e "A=b c" "--gpus" "all"} IMG\n',
     'G=1\ndocker run ${G:+-e "A=b c" "--gpus" "all" --shm-size=8g} IMG\n'),
    ("G=1\ndocker run ${G:+--gpus ${H:-all}} IMG\n", "G=1\ndocker run --shm-size=8g ${G:+--gpus ${H:-all}} IMG\n"),
    ('G=1\nO=(${G:+--gpus "all"})\ndocker run "${O[@]}" IMG\n',
     'G=1\nO=(${G:+--gpus "all" --shm-size=8g})\ndocker run "${O[@]}" IMG\n'),
    # Before the image, where a variable holds all that is before it and others use it.
    ('R="docker run --gpus all"\n$R IMG\n$R redis\n', 'R="docker run --gpus all"\n$R --shm-size=8g IMG\n$R redis\n'),
    ('R="docker run"\nG="--gpus all"\nI=IMG\n$R $G "$I"\n$R $G redis\n',
     'R="docker run"\nG="--gpus all"\nI=IMG\n$R $G --shm-size=8g "$I"\n$R $G redis\n'),
    ("NV_GPU=0 nvidia-docker run --rm IMG\n", "NV_GPU=0 nvidia-docker run --shm-size=8g --rm IMG\n"),
    ("${DOCKER} run --gpus all IMG\n", "${DOCKER} run --gpus all --shm-size=8g IMG\n"),
    ("docker -c ctx run --gpus all IMG\n", "docker -c ctx run --gpus all --shm-size=8g IMG\n"),
    ("x=$(docker run -d --gpus all IMG)\n", "x=$(docker run -d --gpus all --shm-size=8g IMG)\n"),
    ("x=`docker run -d --gpus all IMG`\n", "x=`docker run -d --gpus all --shm-size=8g IMG`\n"),
    ("docker run --gpus all IMG a; docker run --gpus 1 IMG b && docker run --gpus 2 IMG c\n",
     "docker run --gpus all --shm-size=8g IMG a; docker run --gpus 1 --shm-size=8g IMG b && "
     "docker run --gpus 2 --shm-size=8g IMG c\n"),
    ("# \u6f22 \U0001f389 --shm-size=64m\ndocker run -e A=\u00e9 --gpus all IMG # --shm-size\n",
     "# \u6f22 \U0001f389 --shm-size=64m\ndocker run -e A=\u00e9 --gpus all --shm-size=8g IMG # --shm-size\n"),
    ("\ufeffdocker run --gpus all IMG\r\n", "\ufeffdocker run --gpus all --shm-size=8g IMG\r\n"),
    ("for i in 1 2; do docker run --gpus $i IMG; done\n",
     "for i in 1 2; do docker run --gpus $i --shm-size=8g IMG; done\n"),
    # Options that are several to a line, or next to the command's name.
    ("docker run -it --gpus all \\\n  -v /a:/b \\\n  IMG\n",
     "docker run -it --gpus all --shm-size=8g \\\n  -v /a:/b \\\n  IMG\n"),
    ("docker run -it \\\n  --gpus all -v a:b \\\n  IMG\n",
     "docker run -it \\\n  --gpus all --shm-size=8g -v a:b \\\n  IMG\n"),
    ("docker run \\\n  --rm \\\n  --gpus all IMG\n", "docker run \\\n  --rm \\\n  --gpus all --shm-size=8g IMG\n"),
    ("docker run \\\n  --rm --gpus all \\\n  IMG\n", "docker run \\\n  --rm --gpus all --shm-size=8g \\\n  IMG\n"),
    ("docker run --gpus all `\n  --rm `\n  IMG\n", "docker run --gpus all --shm-size=8g `\n  --rm `\n  IMG\n"),
]  # fmt: skip

OWN_LINE = [
    ("docker run \\\n  --rm \\\n  --gpus all \\\n  IMG\n",
     "docker run \\\n  --rm \\\n  --gpus all \\\n  --shm-size=8g \\\n  IMG\n"),
    ("docker run \\\n\t--gpus all \\\n\tIMG x\n", "docker run \\\n\t--gpus all \\\n\t--shm-size=8g \\\n\tIMG x\n"),
    ("docker run \\\r\n  --gpus all \\\r\n  IMG\r\n",
     "docker run \\\r\n  --gpus all \\\r\n  --shm-size=8g \\\r\n  IMG\r\n"),
    ("docker run      \\\n  --gpus all    \\\n  IMG\n",
     "docker run      \\\n  --gpus all    \\\n  --shm-size=8g \\\n  IMG\n"),
    ("docker run \\\n  --gpus \\\n  all \\\n  IMG\n",
     "docker run \\\n  --gpus \\\n  all \\\n  --shm-size=8g \\\n  IMG\n"),
    ("docker run \\\n  --gpus \"device=0\" \\\n  IMG",
     "docker run \\\n  --gpus \"device=0\" \\\n  --shm-size=8g \\\n  IMG"),
    (" docker \\\n  run \\\n   --gpus all \\\n    IMG\n",
     " docker \\\n  run \\\n   --gpus all \\\n   --shm-size=8g \\\n    IMG\n"),
    ("docker run -d \\\n    -p 1:1 \\\n    --runtime nvidia \\\n    IMG\n",
     "docker run -d \\\n    -p 1:1 \\\n    --runtime nvidia \\\n    --shm-size=8g \\\n    IMG\n"),
    ("nvidia-docker run \\\n  --rm \\\n  IMG\n", "nvidia-docker run \\\n  --shm-size=8g \\\n  --rm \\\n  IMG\n"),
    ("G=all\ndocker run \\\n  --rm \\\n  --gpus $G \\\n  IMG\n",
     "G=all\ndocker run \\\n  --rm \\\n  --shm-size=8g \\\n  --gpus $G \\\n  IMG\n"),
    ("if x; then\n  docker run \\\n    --gpus all \\\n    IMG\nfi\n",
     "if x; then\n  docker run \\\n    --gpus all \\\n    --shm-size=8g \\\n    IMG\nfi\n"),
]  # fmt: skip

VARIABLES = [
    ("if x; then R='docker run'; else R='sudo docker run'; fi\n$R --gpus all IMG\n",
     "if x; then R='docker run'; else R='sudo docker run'; fi\n$R --gpus all --shm-size=8g IMG\n"),
    ("R='docker'; x && R='sudo -E docker'\n$R run --runtime=nvidia IMG\n",
     "R='docker'; x && R='sudo -E docker'\n$R run --runtime=nvidia --shm-size=8g IMG\n"),
    ("R='docker run'; x && R='sudo docker run'\nG='--gpus all'\n$R $G IMG\n",
     "R='docker run'; x && R='sudo docker run'\nG='--gpus all'\n$R --shm-size=8g $G IMG\n"),
    ('G="--gpus all"\ndocker run $G IMG\n', 'G="--gpus all"\ndocker run --shm-size=8g $G IMG\n'),
    ('G="--gpus all"\ndocker run --rm $G IMG\n', 'G="--gpus all"\ndocker run --shm-size=8g --rm $G IMG\n'),
    ('G="--gpus all"\ndocker run $G IMG a\ndocker run $G IMG b\n',
     'G="--gpus all"\ndocker run --shm-size=8g $G IMG a\ndocker run --shm-size=8g $G IMG b\n'),
    ("G=all\ndocker run --rm --gpus $G IMG\n", "G=all\ndocker run --rm --shm-size=8g --gpus $G IMG\n"),
    ('A=(--gpus all --rm)\ndocker run "${A[@]}" IMG\n',
     'A=(--gpus all --shm-size=8g --rm)\ndocker run "${A[@]}" IMG\n'),
    ('A=()\nA+=(--gpus all)\ndocker run "${A[@]}" IMG\n',
     'A=()\nA+=(--gpus all --shm-size=8g)\ndocker run "${A[@]}" IMG\n'),
    ('A=(\n  --gpus all\n  --rm\n)\ndocker run "${A[@]}" IMG\n',
     'A=(\n  --gpus all\n  --shm-size=8g\n  --rm\n)\ndocker run "${A[@]}" IMG\n'),
    ('A=(\r\n\t--gpus all  # why\r\n)\r\ndocker run "${A[@]}" IMG\r\n',
     'A=(\r\n\t--gpus all  # why\r\n\t--shm-size=8g\r\n)\r\ndocker run "${A[@]}" IMG\r\n'),
    ('A=(\n  docker run\n  --gpus all\n  IMG\n)\n"${A[@]}"\n',
     'A=(\n  docker run\n  --gpus all\n  --shm-size=8g\n  IMG\n)\n"${A[@]}"\n'),
    ('A=(docker run --gpus all)\nA+=(IMG)\n"${A[@]}"\n',
     'A=(docker run --gpus all --shm-size=8g)\nA+=(IMG)\n"${A[@]}"\n'),
    ('A=(--runtime=nvidia)\ndocker run "${A[@]}" IMG\n',
     'A=(--runtime=nvidia --shm-size=8g)\ndocker run "${A[@]}" IMG\n'),
    ('A=(--gpus all)\ndocker run "${A[@]}" IMG a\ndocker run "${A[@]}" IMG b\n',
     'A=(--gpus all --shm-size=8g)\ndocker run "${A[@]}" IMG a\ndocker run "${A[@]}" IMG b\n'),
    ('C="docker run --gpus all IMG"\n$C\n', 'C="docker run --shm-size=8g --gpus all IMG"\n$C\n'),
    ('C="docker run --gpus all IMG"\neval $C\n', 'C="docker run --shm-size=8g --gpus all IMG"\neval $C\n'),
    ('C="docker run --gpus all IMG"\neval "$C"\n', 'C="docker run --gpus all --shm-size=8g IMG"\neval "$C"\n'),
    ('C="docker run --gpus all"\nC="$C IMG"\n$C\n', 'C="docker run --shm-size=8g --gpus all"\nC="$C IMG"\n$C\n'),
    ('D="docker run --gpus all"\n$D IMG a\n$D IMG b\n',
     'D="docker run --shm-size=8g --gpus all"\n$D IMG a\n$D IMG b\n'),
    ("D=docker; $D run --gpus all IMG\n", "D=docker; $D run --gpus all --shm-size=8g IMG\n"),
    ('A=-d; if x; then A="$A -t"; fi\ndocker run --gpus all $A IMG y\n',
     'A=-d; if x; then A="$A -t"; fi\ndocker run --gpus all --shm-size=8g $A IMG y\n'),
]  # fmt: skip

IN_PLACE = [
    ("docker run --gpus all --shm-size=64m IMG\n", "docker run --gpus all --shm-size=8g IMG\n"),
    ('docker run --gpus all --shm-size="64m" IMG\n', 'docker run --gpus all --shm-size="8g" IMG\n'),
    ("docker run --gpus all '--shm-size=64m' IMG\n", "docker run --gpus all '--shm-size=8g' IMG\n"),
    ("docker run --gpus all --shm-size 64m IMG\n", "docker run --gpus all --shm-size 8g IMG\n"),
    ("docker run --gpus all --shm-size '64m' IMG\n", "docker run --gpus all --shm-size '8g' IMG\n"),
    ("docker run --gpus all --shm-size \\\n  64m IMG\n", "docker run --gpus all --shm-size \\\n  8g IMG\n"),
    ("docker run --gpus all --shm-size=0 IMG\n", "docker run --gpus all --shm-size=8g IMG\n"),
    ("docker run --shm-size=1m --gpus all --shm-size=64m IMG\n",
     "docker run --shm-size=1m --gpus all --shm-size=8g IMG\n"),
    ("S=64m\ndocker run --gpus all --shm-size=$S IMG\n", "S=8g\ndocker run --gpus all --shm-size=$S IMG\n"),
    ('S="64m"\ndocker run --gpus all --shm-size="${S}" IMG\n', 'S="8g"\ndocker run --gpus all --shm-size="${S}" IMG\n'),
    ("docker run --gpus all --shm-size=${S:-64m} IMG\n", "docker run --gpus all --shm-size=${S:-8g} IMG\n"),
    # What is written once has another use, which must not change with it.
    ("S=64m\ndocker run -e S=$S --gpus all --shm-size=$S IMG\n",
     "S=64m\ndocker run -e S=$S --gpus all --shm-size=8g IMG\n"),
    ('A="--gpus all --shm-size=64m"\ndocker run $A IMG a\ndocker run $A IMG b\n',
     'A="--gpus all --shm-size=8g"\ndocker run $A IMG a\ndocker run $A IMG b\n'),
    ('A=(--gpus all --shm-size 64m)\ndocker run "${A[@]}" IMG\n',
     'A=(--gpus all --shm-size 8g)\ndocker run "${A[@]}" IMG\n'),
    ('ssh h "docker run --gpus all --shm-size=\\"64m\\" IMG"\n',
     'ssh h "docker run --gpus all --shm-size=\\"8g\\" IMG"\n'),
]  # fmt: skip

NESTED = [
    ('ssh h "docker run --gpus all IMG"\n', 'ssh h "docker run --gpus all --shm-size=8g IMG"\n'),
    ("ssh h 'cd x && docker run --gpus all IMG'\n", "ssh h 'cd x && docker run --gpus all --shm-size=8g IMG'\n"),
    ('ssh h "bash -c \\"docker run --gpus all IMG\\""\n',
     'ssh h "bash -c \\"docker run --gpus all --shm-size=8g IMG\\""\n'),
    ('ssh h "docker run --gpus \\"all\\" IMG"\n', 'ssh h "docker run --gpus \\"all\\" --shm-size=8g IMG"\n'),
    ("ssh h 'docker run \\\n  --gpus all \\\n  IMG'\n",
     "ssh h 'docker run \\\n  --gpus all \\\n  --shm-size=8g \\\n  IMG'\n"),
    ("bash <<EOF\ndocker run \\\n  --gpus all \\\n  IMG\nEOF\n",
     "bash <<EOF\ndocker run \\\n  --gpus all \\\n  --shm-size=8g \\\n  IMG\nEOF\n"),
    ("ssh h <<-'EOF'\n\tdocker run --gpus all IMG\n\tEOF\n",
     "ssh h <<-'EOF'\n\tdocker run --gpus all --shm-size=8g IMG\n\tEOF\n"),
    ("cat <<EOF | bash\ndocker run --gpus all IMG\nEOF\n",
     "cat <<EOF | bash\ndocker run --gpus all --shm-size=8g IMG\nEOF\n"),
]  # fmt: skip


@table(("before", "after"), INLINE)
def test_inline(before: str, after: str) -> None:
    check(before, after)


@table(("before", "after"), OWN_LINE)
def test_on_a_line_of_its_own(before: str, after: str) -> None:
    check(before, after)


@table(("before", "after"), VARIABLES)
def test_next_to_variables(before: str, after: str) -> None:
    check(before, after)


@table(("before", "after"), IN_PLACE)
def test_in_place(before: str, after: str) -> None:
    check(before, after)


@table(("before", "after"), NESTED)
def test_inside_other_texts(before: str, after: str) -> None:
    check(before, after)


@table(
    "text",
    [
        "docker run IMG\n",
        "docker run --gpus all --shm-size=16g IMG\n",
        "docker run --gpus all --ipc=host IMG\n",
        "docker run --gpus all --ipc=host --shm-size=64m IMG\n",
        "docker run --gpus all -v /dev/shm IMG\n",
        "docker run --gpus all -v /dev/shm:/dev/shm IMG\n",
        "docker run --gpus all -v /dev:/dev IMG\n",
        "docker run --gpus all --tmpfs /dev/shm:size=64m IMG\n",
        "docker run --gpus all --shm-size=$S IMG\n",
        "docker run --gpus all $OPTS IMG\n",
        'docker run --gpus all "$@" IMG\n',
        "docker run --gpus all `flags` IMG\n",
        "A=(--shm-size 16g)\ndocker run --gpus all \"${A[@]}\" IMG\n",
        "if x; then A='--shm-size 16g'; fi\ndocker run --gpus all $A IMG\n",
        "docker run --gpus all `\n  --shm-size=16g `\n  IMG\n",
        "# docker run --gpus all IMG\n",
        "echo docker run --gpus all IMG\n",
        "cat <<EOF\ndocker run --gpus all IMG\nEOF\n",
        "docker build --gpus all IMG\n",
        "podman run --gpus all --shm-size=0 IMG\n",
    ],
)
def test_left_alone(text: str) -> None:
    text = text.replace("IMG", IMAGE)
    assert fixed(text) == text


# -- whatever people write --------------------------------------------------------------------------

OPTIONS = st.sampled_from(
    ["--rm", "-it", "-v /a:/b", "-e A=1", "-e 'A=b c'", '--name "x y"', "-e B=\\$C", '-v "$PWD":/w', "--ipc=private",
     "-u $(id -u)", "--shm-size=64m", "--shm-size '32m'", '--shm-size="1m"', "-w/x", "--gpus 1"]
)  # fmt: skip
GPUS = st.sampled_from(["--gpus all", "--gpus=2", "--gpus '\"device=0,1\"'", "--runtime=nvidia", '--gpus "device=0"'])
SEPARATORS = st.sampled_from([" ", "  ", " \\\n  ", " \\\n\t", "   \\\n    "])
AROUND = st.sampled_from(
    ["{}", "{}\n", "sudo {}\n", "if x; then {}; fi\n", "f() {{\n  {}\n}}\n", "x=$({})\n", "({}) | cat\n",
    "a && {} || b\n",
     "# \u00e9\n{} > log 2>&1 &\n", "for i in 1; do\n\t{}\ndone\n", "bash <<'EOF'\n{}\nEOF\n",
     "case $1 in\na) {} ;;\nesac\n"]
)  # fmt: skip


@st.composite
def run_commands(draw: st.DrawFn) -> str:
    options = draw(st.lists(OPTIONS, max_size=4))
    options.insert(draw(st.integers(0, len(options))), draw(GPUS))
    parts = [*options, IMAGE, *draw(st.sampled_from([[], ["bash"], ["python x.py --shm-size=1g"]]))]
    return "docker run" + "".join(draw(SEPARATORS) + part for part in parts)


@st.composite
def scripts(draw: st.DrawFn) -> str:
    text = "".join(
        draw(AROUND).format(command) if last else f"{draw(AROUND).format(command)}\n"
        for last, command in zip([False, True], draw(st.lists(run_commands(), min_size=2, max_size=2)), strict=True)
    )
    return text.replace("\n", "\r\n") if draw(st.integers(0, 9)) == 0 else text


@given(scripts())
def test_generated_scripts(text: str) -> None:
    after = fixed(text)
    assert not [f for f in read(after).findings if f.rule in ("SHM101", "SHM102")]
    assert fixed(after) == after
    if accepted(text):
        assert accepted(after)
    assert sorted(_without_size(text)) == sorted(_without_size(after))


def _without_size(text: str) -> list[list[str]]:
    """The words of all commands, the options that set a size left out."""
    found = []
    for command in commands(whole(Source("x", text), 0, len(text))):
        texts, skip = [], False
        for word in command.words:
            if not skip and not word.text.startswith("--shm-size"):
                texts.append(word.text)
            skip = word.text == "--shm-size"
        found.append(texts)
    return found


@pytest.mark.docker_client
@given(run_commands())
def test_the_client_reads_the_same_but_for_the_size(text: str) -> None:
    bodies = []
    for script in (text, fixed(text)):
        argv = shlex.split(script.replace("\\\n", ""))
        _, body, error = docker_create(["create", *[word for word in argv[2:] if word != "-it"]])
        assert body is not None, error
        # The client gives these in no order of its own.
        body["HostConfig"]["Binds"] = sorted(body["HostConfig"]["Binds"] or ())
        body["Env"] = sorted(body["Env"] or ())
        bodies.append(body)
    before, after = bodies
    assert after["HostConfig"].pop("ShmSize") == 8 << 30
    before["HostConfig"].pop("ShmSize")
    assert before == after

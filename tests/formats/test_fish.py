"""Scripts of fish, and those for Windows, which are not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.started import IMAGE, RUN, TRAIN, launches, one, seen
from tests.project import findings, fixed
from tests.table import table

NAME = "x.fish"


@table(
    ("text", "count", "line"),
    [
        (f"{RUN} IMG", "all", 1),
        ("docker run \\\n  --gpus all \\\n  # why\n  IMG\n", "all", 1),
        (f"set I IMG\n{RUN} $I\n", "all", 2),
        ("set -gx opts --gpus 2 --rm\nset I IMG\ndocker run $opts \"$I\"\n", 2, 3),
        ("set o --rm\nset -a o --gpus 2\ndocker run $o IMG\n", 2, 3),
        ("set g '--gpus all'\ndocker run --gpus 1 -e A=$g IMG\n", 1, 2),
        (f"set id ({RUN} IMG)\n", "all", 1),
        (f"echo \"$({RUN} IMG)\"\n", "all", 1),
        (f"if true; and test -e x\n  {RUN} IMG\nelse if false\n  ls\nelse\n  ls\nend\n", "all", 2),
        (f"for i in 1 2; {RUN} -e I=$i IMG; end\n", "all", 1),
        (f"while true\n  {RUN} IMG\nend | cat\n", "all", 2),
        (f"function f -a x -d 'why not'\n  set -l I IMG\n  {RUN} -e A=$x $I\nend\n", "all", 3),
        (f"switch $argv[1]\n  case a 'b*'\n    {RUN} IMG\n  case '*'\n    ls\nend\n", "all", 3),
        (f"test -e x; and {RUN} IMG; or echo no\n", "all", 1),
        (f"begin; {RUN} -e A='it\\'s' -e B=\"`\" IMG; end\n", "all", 1),
        (f"{RUN} -v (pwd):/w IMG &\n", "all", 1),
        (f"not {RUN} IMG 2>&1 | tee log\n", "all", 1),
        (f"if set -q X\n  set -e X\nend\n{RUN} IMG\n", "all", 4),
        (f"if true\n  complete -c t -x -d 'what; it\"s' -a \"a b\"\nend\n{RUN} IMG\n", "all", 4),
        (f"complete -c t -l x; {RUN} IMG\n", "all", 1),
    ],
)
def test_commands(tmp_path: Path, text: str, count: object, line: int) -> None:
    assert seen(tmp_path, text, NAME) == (IMAGE, count, line)


@table(
    ("body", "calls", "sizes"),
    [
        (f"{RUN} $argv {IMAGE}", ["--shm-size=16g", ""], ["shm_size", "default"]),
        (f"{RUN} $argv[2..-1] $argv[1]", [f"{IMAGE} --shm-size=16g"], ["shm_size"]),
        (f"{RUN} --shm-size=$argv[2] $argv[1] $argv[3]", [f"{IMAGE} 16g"], ["shm_size"]),
        (f"{RUN} $argv[1..2] $argv[3..3]", [f"--shm-size 16g {IMAGE}"], ["shm_size"]),
        (f"{RUN} $argv[-1]", [f"--shm-size=16g {IMAGE}"], ["unknown"]),
        (f"{RUN} $size $image", [f"{IMAGE} --shm-size=16g", IMAGE], ["shm_size", "default"]),
    ],
)
def test_arguments_of_a_function(tmp_path: Path, body: str, calls: list[str], sizes: list[str]) -> None:
    text = f"function go -d why -a image size\n  {body}\nend\n" + "".join(f"go {call}\n" for call in calls)
    found = launches(tmp_path, text, NAME)
    assert [launch.effective_shm().decided_by for launch in found] == sizes
    assert {launch.image.known for launch in found if launch.image is not None} <= {IMAGE, None}


@table(
    "text",
    [
        f"{RUN} $argv IMG\n",
        f"{RUN} $OPTIONS IMG\n",
        f"set o (options)\n{RUN} $o IMG\n",
        f"read -a o\n{RUN} $o[1] IMG\n",
        f"set o --rm\nif test -e x\n  set o --shm-size=8g\nend\n{RUN} $o IMG\n",
        # A local variable of a block ends with it.
        f"set s 16g\nbegin\n  set -l s 64m\nend\n{RUN} --shm-size=$s IMG\n",
        f"for x in a b\n  set -l o --shm-size=16g\nend\n{RUN} $o IMG\n",
        f"function f\n  set s 16g\n  if true\n    set -l s 64m\n  end\n  {RUN} --shm-size=$s IMG\nend\nf\n",
    ],
)
def test_what_is_not_known_leaves_it_undecided(tmp_path: Path, text: str) -> None:
    assert one(tmp_path, text, NAME).effective_shm().decided_by == "unknown"


@table(
    ("text", "size"),
    [
        (f"set s 16g\n{RUN} --shm-size={{$s}} IMG\n", "16g"),
        (f"set n 16\n{RUN} --shm-size={{$n}}g IMG\n", "16g"),
        (f"set i IMG\n{RUN} --shm-size=8g {{$i}}\n", "8g"),
        (f"begin\n  set -l s 64m\n  {RUN} --shm-size=$s IMG\nend\n", "64m"),
        (f"function f\n  set -l s 16g\n  {RUN} --shm-size=$s IMG\nend\nf\n", "16g"),
    ],
)
def test_braces_end_the_name_of_a_variable_and_blocks_have_their_own(tmp_path: Path, text: str, size: str) -> None:
    launch = one(tmp_path, text, NAME)
    assert launch.shm is not None and launch.shm.known is not None and launch.shm.text == size
    assert launch.image is not None and launch.image.known == IMAGE


@pytest.mark.parametrize(
    "text",
    [f"# {RUN} IMG\n", f"echo {RUN} IMG\n", "set x docker run\n", "end\nend docker\n", f"complete -c {RUN} IMG\n"],
)
def test_no_launches(tmp_path: Path, text: str) -> None:
    assert not launches(tmp_path, text, NAME)


@table(
    ("before", "after"),
    [
        (f"{RUN} {TRAIN}", f"{RUN} --shm-size=8g {TRAIN}"),
        (f"set o --gpus all\ndocker run $o {TRAIN}\n", f"set o --gpus all\ndocker run --shm-size=8g $o {TRAIN}\n"),
        (f"set s 64m\n{RUN} --shm-size=$s {TRAIN}\n", f"set s 8g\n{RUN} --shm-size=$s {TRAIN}\n"),
        (f"set -x s 64m\n{RUN} --shm-size=$s {TRAIN}\n./x\n", f"set -x s 64m\n{RUN} --shm-size=8g {TRAIN}\n./x\n"),
        (f"begin; {RUN} {TRAIN}; end\n", f"begin; {RUN} --shm-size=8g {TRAIN}; end\n"),
        (f"function f; {RUN} {TRAIN}; end\n", f"function f; {RUN} --shm-size=8g {TRAIN}; end\n"),
        (f"if true\n  {RUN} \\\n    {TRAIN}\nend\n", f"if true\n  {RUN} --shm-size=8g \\\n    {TRAIN}\nend\n"),
    ],
)
def test_rewriting(tmp_path: Path, before: str, after: str) -> None:
    assert fixed(tmp_path, {"x.fish": before}) == {"x.fish": after}
    assert fixed(tmp_path, {"x.fish": after}) == {}


def test_comments(tmp_path: Path) -> None:
    assert [f.rule for f in findings(tmp_path, {"x.fish": f"{RUN} {TRAIN}\n"})] == ["SHM101"]
    assert findings(tmp_path, {"x.fish": f"# shmlint: ignore[SHM101]\n{RUN} {TRAIN}\n"}) == []

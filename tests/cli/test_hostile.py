"""Whatever a file holds, however it behaves: one clear line, the other files still linted, none left half written."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


GOOD = """\
services:
  trainer:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: torchrun --nproc_per_node=8 train.py
    gpus: all
"""
FIXED = GOOD + "    shm_size: 8gb\n"
SECONDS = 60
"""A run that takes longer hangs; the machines of CI are slow, so that this says nothing of the speed."""


def run(directory: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "shmlint", "--color", "never", *arguments],
        cwd=directory, capture_output=True, text=True, encoding="utf-8", errors="surrogateescape",
        timeout=SECONDS, **options,  # type: ignore[call-overload]
    )  # fmt: skip
    assert done.returncode in (0, 1, 2), (done.returncode, done.stderr)
    assert "Traceback" not in done.stdout + done.stderr and "internal error" not in done.stderr, done.stderr
    return done


def good_one_is_found(directory: Path, done: subprocess.CompletedProcess[str]) -> None:
    assert "good/compose.yaml:2:3" in done.stdout
    assert done.returncode == 1


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "compose.yaml").write_text(GOOD, newline="")
    return tmp_path


NAMES = ("compose.yaml", "run.sh", "Makefile", "README.md", ".gitlab-ci.yml", ".devcontainer.json", ".shmlint.yaml")

CONTENTS = {
    "nothing": b"",
    "NULs": b"\0" * 5000,
    "random bytes": random.Random(1).randbytes(20_000),
    "UTF-16": GOOD.encode("utf-16"),
    "Latin-1": GOOD.replace("trainer", "tr\u00e4iner").encode("latin-1"),
    "a BOM and no more": b"\xef\xbb\xbf",
    "a truncated character": GOOD.encode() + b"\xe2\x82",
    "a truncated file": GOOD.encode()[:-20] + b"'",
    "lone carriage returns": GOOD.replace("\n", "\r").encode(),
    "separators of lines": GOOD.replace("\n", "\u2028").encode(),
    "thousands of open brackets": b"services: " + b"[" * 10_000,
    "thousands of open braces": b'{"a":' * 10_000,
    "thousands of indentations": b"".join(b" " * i + b"a:\n" for i in range(3_000)),
    "thousands of open quotes": b"docker run " + b"'\"" * 10_000,
    "thousands of substitutions": b"docker run --gpus all " + b"$(" * 10_000,
    "thousands of parentheses": b"docker run --gpus all " + b"${X:-" * 10_000,
    "thousands of heredocs": b"".join(b"docker run --gpus all <<E%d\n" % i for i in range(1_000)),
    "thousands of looks ahead": b"echo == a\n" * 20_000 + b"docker run --gpus all x\n",
    "thousands of continuations": b"docker run --gpus all \\\n" * 3_000,
    "thousands of quotes of Markdown": b"> " * 10_000 + b"docker run --gpus all x",
    "thousands of fences": b"```sh\n" * 10_000,
    "thousands of lists": b"".join(b" " * (2 * i) + b"- a\n" for i in range(1_500)),
    "one long line": b"docker run --gpus all " + b"x " * 100_000,
    "one long word": b"docker run --gpus=" + b"a" * 300_000,
    "one long key": b"services:\n  " + b"a" * 200_000 + b": {gpus: all}\n",
    "an alias to itself": b"services: &s\n  a: *s\n",
    "merges in a circle": b"services:\n  a: &a\n    <<: *a\n    gpus: all\n",
    "a billion laughs": b"x0: &x0 [a, a]\n"
    + b"".join(b"x%d: &x%d [*x%d, *x%d]\n" % (i, i, i - 1, i - 1) for i in range(1, 60))
    + b"services:\n  a: {image: a, gpus: all, command: *x59}\n",
    "a billion merges": b"x0: &x0 {image: a}\n"
    + b"".join(b"x%d: &x%d {<<: [*x%d, *x%d]}\n" % (i, i, i - 1, i - 1) for i in range(1, 60))
    + b"services:\n  a: {<<: *x59, gpus: all}\n",
    "tags": b"services: !!python/object/apply:os.system ['touch pwned']\n",
    "variables in variables": b"A=$B\nB=$A\ndocker run --gpus all $A x\n",
    "arguments of arguments": b"set -- a\n" + b'set -- "$@" "$@"\n' * 60 + b'docker run --gpus all "$@" x\n',
    "arguments in a loop": b"set -- a\n" + b'while x; do set -- "$@" $1; shift; done\n' * 60 + b"docker run $1 x\n",
    "a make variable of itself": b"A = $(A) $(A)\nall:\n\tdocker run --gpus all $(A) x\n",
    "control characters": b"docker run --gpus all --name '\x1b]0;x\x07\x1b[2J' \x1b[31mnvcr.io/nvidia/pytorch t\n",
    "interpolation in interpolation": b"services:\n  a:\n    gpus: all\n    image: '" + b"${A:-" * 5_000 + b"'\n",
}


@pytest.mark.parametrize("content", CONTENTS)
def test_hostile_content(content: str, tree: Path) -> None:
    """One run over the same content under the name of every format."""
    before = {}
    for i, name in enumerate(NAMES[:-1]):
        file = tree / f"bad{i}" / name
        file.parent.mkdir()
        file.write_bytes(CONTENTS[content])
        before[file] = CONTENTS[content]
    done = run(tree, "--fail-on", "error", ".")
    good_one_is_found(tree, done)
    assert all(c.isprintable() or c == "\n" for c in done.stdout + done.stderr)
    assert not (tree / "pwned").exists()
    run(tree, "inventory", "--format", "json", ".")
    run(tree, "--fix", ".")
    assert (tree / "good" / "compose.yaml").read_text() == FIXED
    left = {path.name for path in tree.rglob("*") if path.is_file()}
    assert left == {*NAMES[:-1]}, "no temporary file is left"


@pytest.mark.parametrize("content", CONTENTS)
def test_hostile_settings(content: str, tree: Path) -> None:
    (tree / ".shmlint.yaml").write_bytes(CONTENTS[content])
    done = run(tree, ".")
    if done.returncode == 2:
        assert done.stderr.startswith("shmlint: .shmlint.yaml") and len(done.stderr.splitlines()) == 1
        assert len(done.stderr) < 1000
    else:
        good_one_is_found(tree, done)


def chain_of_functions(n: int) -> dict[str, str]:
    lines = "".join(f'f{i}() {{ f{i - 1} --rm "$@"; }}\n' for i in range(1, n))
    return {"run.sh": f'f0() {{ docker run "$@"; }}\n{lines}f{n - 1} --gpus all pytorch/pytorch\n'}


def functions(n: int) -> dict[str, str]:
    return {"run.sh": "".join(f"f{i}() {{ docker run --gpus all -e A=$1 $O x/y; }}\nf{i} a\n" for i in range(n))}


def functions_with_texts(n: int) -> dict[str, str]:
    lines = (f'f{i}() {{ bash -c "docker run --gpus all $O x/y"; }}\nf{i} a\n' for i in range(n))
    return {"run.sh": "".join(lines)}


def conditions_in_conditions(n: int) -> dict[str, str]:
    inner = 'if x; then\nO="$O --rm"\n'
    return {"run.sh": f"{inner * n}docker run --gpus all $O x/y\n" + "fi\n" * n}


def entries_of_a_matrix(n: int) -> dict[str, str]:
    entries = "".join(f"          - {{o: '--rm', p{i}: '-e A={i}'}}\n" for i in range(n))
    steps = "    steps:\n      - run: docker run --gpus all ${{ matrix.o }} ${{ matrix.p1 }} x/y\n"
    text = f"on: push\njobs:\n  a:\n    strategy:\n      matrix:\n        include:\n{entries}{steps}"
    return {".github/workflows/x.yml": text}


def files_that_include_each_other(n: int) -> dict[str, str]:
    """Each of them two others."""
    last = "services:\n  a: {image: x/y, gpus: all}\n"
    files = {f"{one}{n}.compose.yaml": last.replace("a:", f"{one}:") for one in "ab"}
    for i in range(n):
        text = f"include: [a{i + 1}.compose.yaml, b{i + 1}.compose.yaml]\n"
        files |= {f"{one}{i}.compose.yaml": text for one in "ab"}
    return files


def a_chain_of_inclusions(n: int) -> dict[str, str]:
    files = {f"{i}.compose.yaml": f"include: [{i + 1}.compose.yaml]\n" for i in range(n)}
    return {**files, f"{n}.compose.yaml": "services:\n  a: {image: x/y, gpus: all}\n"}


def stages(n: int) -> dict[str, str]:
    steps = "RUN pip install a{0}\nCOPY --from=s{1} /a /b{0}\nENV A{0}=$A{2}$A{2}\n"
    lines = "".join(f"FROM s{i - 1} AS s{i}\n{steps.format(i, i // 2, i - 1)}" for i in range(1, n))
    text = f"FROM pytorch/pytorch AS s0\nENV A0=a\n{lines}CMD python train.py\n"
    return {"compose.yaml": "services:\n  a: {build: ., gpus: all}\n", "Dockerfile": text}


def launches_of_what_a_script_is_given(n: int) -> dict[str, str]:
    return {"run.sh": 'CMD=("$@")\n' + "# a line\n" * n * 500 + "docker run --gpus all x/y $CMD\n" * n}


def images_of_a_repository_with_a_long_page(n: int) -> dict[str, str]:
    lines = "".join(f"docker run --gpus all ghcr.io/me/tool/x{i}\n" for i in range(n))
    return {"README.md": "See https://github.com/me/tool.\n" + "words of github.com\n" * n * 100, "run.sh": lines}


WORD = '"$A"'


def a_variable_in_a_line(n: int) -> dict[str, str]:
    text = f"FROM pytorch/pytorch\nENV A={'a' * 9_000}\nENV B={WORD * n}\nCMD python train.py\n"
    return {"compose.yaml": "services:\n  a: {build: ., gpus: all}\n", "Dockerfile": text}


def directories_in_directories(n: int) -> dict[str, str]:
    service = f"services:\n  a: {{image: x/y, gpus: all, working_dir: /{'a/' * n}, command: python train.py}}\n"
    return {"compose.yaml": service, "train.py": "import torch\n"}


def variables_that_double(n: int) -> dict[str, str]:
    lines = "".join(f"A{i}=${{A{i - 1}}}${{A{i - 1}}}\n" for i in range(1, n))
    service = f"services:\n  a: {{image: x/y, gpus: all, shm_size: $A{n - 1}}}\n"
    return {".env": f"A0=1\n{lines}", "compose.yaml": service}


def comments_after_backslashes(n: int) -> dict[str, str]:
    return {"README.md": "```\n$ docker run --gpus all " + "\\ # " * n + "'\n  x/y\n```\n"}


def comments_in_quotation_marks(n: int) -> dict[str, str]:
    return {"run.sh": "docker run --gpus all ' " + "\\ # " * n + "\n  x/y\n"}


def brackets_that_no_line_ends(n: int) -> dict[str, str]:
    return {"run.sh": "docker run --gpus all x/y\n" + "[ a\n" * n + "docker run --gpus all x/y\n"}


def settings_of_settings(n: int) -> dict[str, str]:
    lines = "".join(f"args.a{i} = args.a{i + 1} + args.a{i + 1}\n" for i in range(n))
    text = f"from torch.utils.data import DataLoader\nargs = make()\n{lines}DataLoader(d, num_workers=args.a0)\n"
    service = "services:\n  a: {image: pytorch/pytorch, gpus: all, volumes: [.:/a], command: python /a/train.py}\n"
    return {"compose.yaml": service, "train.py": text}


SHAPES: dict[str, tuple[Callable[[int], dict[str, str]], int]] = {
    "functions that call each other": (chain_of_functions, 16_000),
    "functions": (functions, 12_000),
    "functions with texts": (functions_with_texts, 6_000),
    "conditions in conditions": (conditions_in_conditions, 20_000),
    "entries of a matrix": (entries_of_a_matrix, 40_000),
    "files that include each other": (files_that_include_each_other, 60),
    "a chain of inclusions": (a_chain_of_inclusions, 300),
    "stages": (stages, 20_000),
    "variables that double": (variables_that_double, 60),
    "launches of what a script is given": (launches_of_what_a_script_is_given, 800),
    "images of a repository with a long page": (images_of_a_repository_with_a_long_page, 2_000),
    "directories in directories": (directories_in_directories, 100_000),
    "a variable in a line": (a_variable_in_a_line, 100_000),
    "comments after backslashes": (comments_after_backslashes, 80_000),
    "comments in quotation marks": (comments_in_quotation_marks, 80_000),
    "tests that no line ends": (brackets_that_no_line_ends, 40_000),
    "settings of settings": (settings_of_settings, 5_000),
}
"""Files that are long or deep in one way, and how much of it they have."""


@pytest.mark.parametrize("shape", SHAPES)
def test_much_of_one_thing(shape: str, tree: Path) -> None:
    make, number = SHAPES[shape]
    for name, text in make(number).items():
        (tree / "bad" / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / "bad" / name).write_text(text)
    good_one_is_found(tree, run(tree, "."))


def test_a_file_that_is_too_large(tree: Path) -> None:
    (tree / "compose.yaml").write_bytes(GOOD.encode() + b"#" * (9 * 1024 * 1024))
    assert "SHM001" not in run(tree, ".").stdout, "a scan passes over what is above 5 MB"
    done = run(tree, "compose.yaml", "good")
    good_one_is_found(tree, done)
    assert "compose.yaml:1:1: error SHM001" in done.stdout and "larger than 8 MiB" in done.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "docker run --gpus all @\n"),
        ("run.sh", "docker run --gpus all --shm-size=@ pytorch/pytorch\n"),
        ("run.sh", "docker run --gpus all -e NCCL_P2P_DISABLE=@ -e NCCL_@=1 pytorch/pytorch @\n"),
        ("compose.yaml", "services:\n  @:\n    image: x@\n    gpus: all\n    shm_size: @\n"),
        ("compose.yaml", "services:\n  a: {extends: @}\n"),
        ("compose.yaml", "@: ["),
        (".devcontainer.json", '{"name": "@", "image": "@", "runArgs": ["--gpus=all", "--shm-size=@"]}'),
        ("README.md", "```sh\ndocker run --gpus all @\n```\n"),
        (".gitlab-ci.yml", "a:\n  script:\n    - docker run --gpus all @\n"),
    ],
)
@pytest.mark.parametrize("form", ["text", "inventory", "github", "sarif", "junit"])
def test_names_of_a_megabyte_are_not_repeated(name: str, text: str, form: str, tree: Path) -> None:
    (tree / name).write_text(text.replace("@", "y" * 1_000_000))
    options = ["inventory"] if form == "inventory" else ["--format", form, "--verbose"]
    assert len(run(tree, *options, name).stdout) < 60_000


def test_circles_of_files(tree: Path) -> None:
    for name, other in (("compose.yaml", "b.yaml"), ("b.yaml", "compose.yaml")):
        (tree / name).write_text(f"include: [{other}]\nservices:\n  a: {{extends: {{file: {other}, service: a}}}}\n")
    done = run(tree, ".")
    good_one_is_found(tree, done)
    assert "circular" in done.stdout


@pytest.mark.needs("posix")
def test_links_in_circles_and_out_of_the_tree(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "compose.yaml"
    outside.write_text(GOOD)
    (tree / "loop").symlink_to(tree)
    (tree / "compose.yml").symlink_to("compose.yml")
    (tree / "away").mkdir()
    (tree / "away" / "compose.yaml").symlink_to(outside)
    (tree / "dangling").mkdir()
    (tree / "dangling" / "compose.yaml").symlink_to("nowhere")
    done = run(tree, ".")
    good_one_is_found(tree, done)
    assert done.stdout.count("SHM101") == 1
    run(tree, "--fix", ".")
    assert outside.read_text() == GOOD


@pytest.mark.needs("posix")
@pytest.mark.parametrize(
    "reference", ["extends: {file: pipe, service: a}", "env_file: pipe", "build: {dockerfile: pipe}"]
)
def test_pipes_and_devices(reference: str, tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    for name in ("compose.yml", "run.sh", "Makefile", ".env"):
        os.mkfifo(tree / name)
    (tree / "zero.sh").symlink_to("/dev/zero")
    (tree / "good" / "compose.override.yaml").write_text(f"services:\n  x: {{image: x, gpus: all, {reference}}}\n")
    (tree / "good" / "pipe").symlink_to("../pipe")
    good_one_is_found(tree, run(tree, "."))
    done = run(tree, "compose.yml", "/dev/zero", "run.sh")
    assert done.stdout.count("SHM001") == 3


@pytest.mark.needs("posix")
def test_names_that_say_things_to_a_terminal(tree: Path) -> None:
    for name in ("\x1b[31mred-compose.yaml", "new\nline-compose.yaml", "tab\tcompose.yaml", "back\\compose.yaml"):
        (tree / name).write_text(GOOD)
    (tree / os.fsdecode(b"\xff\xfe-compose.yaml")).write_text(GOOD)
    for form in ("text", "github", "json", "sarif", "gitlab", "rdjson", "junit", "checkstyle"):
        done = run(tree, "--format", form, ".")
        assert done.returncode == 1
        assert all(c.isprintable() or c == "\n" for c in done.stdout)
    run(tree, "--fix", ".")
    assert all(path.read_text() == FIXED for path in tree.glob("*compose.yaml"))


def without_privileges() -> None:
    """Take from root, in a process that is about to start, what lets it read and write everything (capabilities(7))."""
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


@pytest.mark.needs("rights")
def test_what_may_not_be_read_or_written(tree: Path) -> None:
    (tree / "compose.yaml").write_text(GOOD)
    (tree / "compose.yaml").chmod(0)
    (tree / "closed").mkdir(mode=0)
    (tree / "good").chmod(0o555)
    try:
        good_one_is_found(tree, run(tree, ".", preexec_fn=without_privileges))
        assert run(tree, "--fix", ".", preexec_fn=without_privileges).returncode == 2
        assert (tree / "good" / "compose.yaml").read_text() == GOOD
    finally:
        (tree / "good").chmod(0o755)
        (tree / "closed").chmod(0o755)


@pytest.mark.needs("posix")
def test_a_full_disk(tree: Path) -> None:
    """No file may grow over 60 bytes: what is written in its place would, and so it stays as it is."""
    import resource

    (tree / "compose.yaml").write_text(GOOD)
    done = run(tree, "--fix", ".", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60)))
    assert done.returncode == 2 and "cannot be written" in done.stderr
    assert (tree / "compose.yaml").read_text() == GOOD
    assert sorted(path.name for path in tree.iterdir()) == ["compose.yaml", "good"]


def test_two_fixes_at_once(tree: Path) -> None:
    for i in range(30):
        (tree / f"compose.{i}.yaml").write_text(GOOD, newline="")
    command = [sys.executable, "-m", "shmlint", "--fix", "."]
    both = [subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    for process in both:
        out, err = process.communicate(timeout=SECONDS)
        assert b"Traceback" not in out + err and process.returncode in (0, 1, 2)
    assert all(path.read_text() == FIXED for path in tree.glob("*.yaml"))
    assert len(list(tree.iterdir())) == 31


@pytest.mark.needs("posix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption(number: int, tree: Path) -> None:
    """At whatever moment: every file is as it was, or repaired."""
    for i in range(40):
        (tree / f"compose.{i}.yaml").write_text(GOOD, newline="")
    pause = 0.1
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-m", "shmlint", "--fix", "."], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(pause)
        pause *= 1.25
        process.send_signal(number)
        _, err = process.communicate(timeout=SECONDS)
        assert {path.read_text() for path in tree.glob("*.yaml")} <= {GOOD, FIXED}
        assert (process.returncode == 130) is (b"shmlint: interrupted" in err)
        if process.returncode in (0, 1):
            break
    run(tree, "--fix", ".")
    assert {path.read_text() for path in tree.glob("*.yaml")} == {FIXED}


def test_files_that_come_and_go(tree: Path) -> None:
    """Somebody writes and deletes while files are read: what is there at the end is whole."""
    stop = threading.Event()

    def disturb() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            file = tree / f"compose.{number % 7}.yaml"
            if number % 3:
                file.write_text(GOOD * (number % 2 + 1), newline="")
            else:
                file.unlink(missing_ok=True)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(5):
            done = run(tree, ".")
            assert "good/compose.yaml:2:3" in done.stdout
    finally:
        stop.set()
        thread.join()

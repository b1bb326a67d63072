"""What a report says of fixes that ``--fix`` may leave."""

from __future__ import annotations

import contextlib
from pathlib import Path

from shmlint.fixing import fix as fixing
from shmlint.fixing.doubts import as_proved
from shmlint.fixing.plan import planned
from tests.project import run
from tests.table import table

RUN = "nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py"
SERVICE = "image: nvcr.io/nvidia/pytorch:24.01-py3, command: torchrun --nproc_per_node=8 train.py, gpus: all"


def promised(directory: Path, files: dict[str, str]) -> int:
    """How many fixes a report promises, which ``--fix`` must make."""
    started = run(directory, files)
    with contextlib.chdir(directory):
        told = as_proved(started, started.findings)
        outcome = fixing.fix(started)
    kept = [f for f in told if f.fix is not None and f.fix.safe]
    titles = [change.title for f in kept if (change := planned(f)) is not None]
    assert sorted(titles) == sorted({(done.finding.span, done.title): done.title for done in outcome.fixed}.values())
    assert len(kept) == len({(done.finding.rule, done.finding.span) for done in outcome.fixed})
    assert all("--fix cannot prove" in f.advice for f in told if f.fix is None)
    return len(kept)


@table(
    "files",
    [
        {"run.sh": f"S=${{S:-64m}}\ndocker run --gpus all --shm-size=$S {RUN}\ndocker run --shm-size=$S redis\n"},
        {"run.sh": f'G="device=0,1"\ndocker run --gpus $G --shm-size=8g {RUN}\ntool $G\n'},
        {"run.sh": f"docker run -v /var/run/docker.sock:/s docker:cli docker run --gpus all {RUN}\n"},
        {"Makefile": f"up:\n\t$(foreach i,{RUN.split()[0]} redis,docker run --gpus all $(i) torchrun train.py;)\n"},
        {
            "lib.sh": f'f() {{ docker run --gpus all --shm-size=${{S:-64m}} "$@"; }}\nf {RUN}\n',
            "other.sh": ". ./lib.sh\nf redis\n",
        },
    ],
)
def test_what_is_left_is_not_promised(tmp_path: Path, files: dict[str, str]) -> None:
    assert promised(tmp_path, files) == 0


@table(
    "files",
    [
        {"run.sh": f"docker run --gpus all {RUN}\n"},
        {"run.sh": f'docker run --gpus all -v "$PWD:/w" -w /w -u "$(id -u):$(id -g)" {RUN}\n'},
        {"Makefile": f"up:\n\tdocker run --gpus all -v $(CURDIR):/w -v $${{HOME}}/.cache:/c {RUN}\n"},
        {"run.sh": f"S=64m\ndocker run --gpus all --shm-size=$S {RUN}\n"},
        {"run.sh": f'f() {{ docker run --gpus all "$@"; }}\nf {RUN}\n'},
        {"run.sh": f'A=(--gpus all)\ndocker run "${{A[@]}}" {RUN}\ndocker run --shm-size=64g "${{A[@]}}" {RUN}\n'},
        {"run.sh": f'A=(--gpus all)\npodman run "${{A[@]}}" {RUN}\npodman run --ipc=host "${{A[@]}}" {RUN}\n'},
        {"run.sh": f"S=64m\ndocker run --gpus all --shm-size=$S {RUN}\ndocker run --shm-size=$S redis\n"},
        {"Makefile": f"G = --gpus all\na:\n\tdocker run $(G) {RUN}\nb:\n\tdocker run $(G) redis\n"},
        {"Makefile": f"IMAGE := {RUN}\nup:\n\tdocker run --gpus all $(IMAGE)\n"},
        {"compose.yaml": f"services:\n  a: {{{SERVICE}}}\n"},
        {"compose.yaml": f"x-a: &a {{{SERVICE}}}\nservices:\n  a: *a\n"},
        {"compose.yaml": f"services:\n  a: {{{SERVICE}}}\n", "run.sh": "S=1\ndocker run redis:$S\n"},
    ],
)
def test_what_is_made_is_promised(tmp_path: Path, files: dict[str, str]) -> None:
    assert promised(tmp_path, files) == 1


def test_much_text_is_not_read_again(tmp_path: Path) -> None:
    line = f'G="device=0,1"\ndocker run --gpus $G --shm-size=8g {RUN}\ntool $G\n'
    started = run(tmp_path, {"run.sh": line + "# x\n" * 30_000})
    with contextlib.chdir(tmp_path):
        assert [f.fix is not None for f in as_proved(started, started.findings)] == [True]


def test_no_form_is_advised_that_was_tried_and_is_wrong(tmp_path: Path) -> None:
    files = {"run.sh": f'O="--gpus device=0,1"\nbash <<E\ndocker run $O --shm-size=8g {RUN}\nE\n'}
    started = run(tmp_path, files)
    with contextlib.chdir(tmp_path):
        (told,) = as_proved(started, started.findings)
    assert told.advice.startswith("write the quotation marks for each shell that reads line 1 by hand")

"""Which variables of a CI file its scripts can rely on."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, run
from tests.table import table

START = "docker run --gpus all --shm-size=$S nvcr.io/nvidia/pytorch:24.01-py3"
GITLAB = f"a:\n  script:\n    - {START}\n"


@table(
    ("text", "known"),
    [
        (f"variables: {{S: 64m}}\n{GITLAB}", True),
        (f"variables: {{S: 64m}}\n{GITLAB}  variables: {{S: $BIG}}\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  before_script: [export S=64g]\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  before_script: [export T=64g]\n", True),
        (f"variables: {{S: 64m}}\ndefault:\n  before_script:\n    - . ./sizes.sh\n{GITLAB}", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  parallel: {{matrix: [{{S: [64m, 64g]}}]}}\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  rules: [{{if: x, variables: {{S: 64g}}}}]\n", False),
        (f"variables: {{S: 64m}}\n.{GITLAB}b:\n  extends: .a\n  variables: {{S: 64g}}\n", False),
        (f"variables: {{S: 64m}}\n.{GITLAB}b:\n  extends: .a\n", True),
        (f"variables: {{S: 64m}}\n.x: &x\n  - {START}\nb:\n  script: *x\n  variables: {{S: 64g}}\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}b:\n  artifacts: {{reports: {{dotenv: x.env}}}}\n", False),
    ],
)  # fmt: skip
def test_variables_that_something_else_sets_are_not_known(tmp_path: Path, text: str, known: bool) -> None:
    (launch,) = run(tmp_path, {".gitlab-ci.yml": text}).launches
    assert launch.shm is not None
    assert (launch.shm.known is not None) == known


@table(
    ("image", "before", "known"),
    [
        ("${{ env.I }}", "run: make", "img:1"),
        ("${{env.I}}", "run: make", "img:1"),
        ("me/${{ env.I }}", "run: make", "me/img:1"),
        ("${{ env.J }}", "run: make", None),
        ("${{ vars.I }}", "run: make", None),
        ("${{ env.I }}", 'run: echo "I=$(pick)" >> "$GITHUB_ENV"', None),
    ],
)
def test_the_environment_in_expressions(tmp_path: Path, image: str, before: str, known: str | None) -> None:
    text = f"on: push\nenv: {{I: 'img:1'}}\njobs:\n  a:\n    steps:\n      - {before}\n"
    text += f"      - run: docker run --gpus all {image} python fit.py\n"
    (launch,) = run(tmp_path, {".github/workflows/w.yml": text}).launches
    assert launch.image is not None and (launch.image.known if not launch.image.because else None) == known


@table(
    "text",
    [
        "variables: {T: '--rm --ipc=host'}\na:\n  script:\n    - START\n  before_script: [export T=--rm]\n",
        "a:\n  before_script:\n    - T='--ipc=host'\n  script:\n    - START\n",
        ".a:\n  variables: {T: '--ipc=host'}\n  script:\n    - START\nb: {extends: .a, variables: {T: $O}}\n",
        "variables: {T: --rm}\na:\n  script:\n    - START\n  artifacts: {reports: {dotenv: x.env}}\n",
    ],
)
def test_a_variable_that_is_set_to_options_is_no_image(tmp_path: Path, text: str) -> None:
    text = text.replace("START", "docker run --gpus all $T redis")
    (launch,) = run(tmp_path, {".gitlab-ci.yml": text}).launches
    assert launch.image is not None and launch.image.known == "redis"
    assert launch.undecided is not None


@table(
    "job",
    [
        "    strategy: {matrix: {x: ['--rm', '--ipc=host']}}\n    env: {T: '${{ matrix.x }}'}\n",
        "    env: {T: '${{ inputs.x }}'}\n",
        "    env: {T: '${{ inputs.x }} --rm'}\n",
    ],
)
def test_an_expression_that_is_set_to_options_is_no_image(tmp_path: Path, job: str) -> None:
    on = "on: {workflow_call: {inputs: {x: {type: string, default: --rm}}}}\n" if "inputs" in job else "on: push\n"
    for use in ("$T", "${{ matrix.x }}" if "matrix" in job else "${{ inputs.x }}"):
        text = f"{on}jobs:\n  a:\n    runs-on: x\n{job}    steps:\n      - run: docker run --gpus all {use} redis\n"
        (launch,) = run(tmp_path, {".github/workflows/x.yml": text}).launches
        assert launch.image is not None and launch.image.known == "redis"
        assert launch.undecided is not None


TO_LATER = ">> $GITHUB_ENV"


@table(
    ("step", "severity"),
    [
        (f'run: echo "N=1" {TO_LATER}', None), (f"run: |\n          make\n          echo N=1 {TO_LATER}", None),
        (f"run: echo 'N=8' {TO_LATER}", "error"), (f"run: echo M=1 {TO_LATER}", "error"), ("run: echo N=1", "error"),
        # The value is not known, or a condition decides about it.
        (f'run: echo "N=$(nproc)" {TO_LATER}', "warning"), (f"run: make variables {TO_LATER}", "warning"),
        (f"if: github.ref == 'x'\n        run: echo N=1 {TO_LATER}", "warning"),
        (f"run: |\n          if make; then\n            echo N=1 {TO_LATER}\n          fi", "warning"),
        (f"run: echo N=1 {TO_LATER}\n      - run: make\n        env: {{N: 8}}", "warning"),
        ('run: echo "##vso[task.setvariable variable=N]1"', "warning"),
    ],
)  # fmt: skip
def test_what_a_step_hands_to_those_after_it(tmp_path: Path, step: str, severity: str | None) -> None:
    text = (
        "on: push\njobs:\n  a:\n    runs-on: x\n    container: {image: pytorch/pytorch, options: --gpus all}\n"
        f"    steps:\n      - uses: actions/checkout@v4\n      - {step}\n      - run: ./start.sh\n"
    )
    files = {".github/workflows/a.yml": text, "start.sh": "torchrun --nproc_per_node=${N:-8} fit.py\n"}
    files["fit.py"] = "import torch\ntorch.distributed.init_process_group('nccl')\n"
    assert [one.severity for one in findings(tmp_path, files)] == ([severity] if severity else [])

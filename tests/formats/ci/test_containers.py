"""Containers that a CI system starts itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.ci.workflows import GITHUB, IMAGE, JOB, RUN, SERVE, after_fix, launches
from tests.project import fixed, run
from tests.table import table


@table("newline", ["\n", "\r\n"])
@table(
    ("options", "old", "new"),
    [
        ("--gpus all", "gpus all", "gpus all --shm-size=8g"),
        ("--gpus=all --rm", "--gpus=all", "--gpus=all --shm-size=8g"),
        ("'--gpus all'", "all'", "all --shm-size=8g'"),
        ('"--gpus all"', 'all"', 'all --shm-size=8g"'),
        (">-\n        --gpus all\n        --ulimit memlock=-1", "all\n", "all --shm-size=8g\n"),
        ("|\n        --gpus all\n        --ulimit memlock=-1", "all\n", "all --shm-size=8g\n"),
        ("--gpus all --shm-size 64m", "64m", "8g"),
        ("--runtime=nvidia", "--runtime=nvidia", "--runtime=nvidia --shm-size=8g"),
    ],
)
def test_job_containers(tmp_path: Path, newline: str, options: str, old: str, new: str) -> None:
    text = f"{JOB}    container:\n      image: {IMAGE}\n      options: {options}\n    steps:\n      - run: {SERVE}\n"
    text, old, new = (part.replace("\n", newline) for part in (text, old, new))
    (launch,) = launches(tmp_path, text)
    assert (launch.kind, launch.name, launch.span.line, launch.span.text) == ("ci-container", "train", 5, "container")
    assert fixed(tmp_path, {GITHUB: text}) == {GITHUB: text.replace(old, new)}
    if "64m" not in options:
        after_fix(tmp_path, text)


def job(*steps: str, head: str = "", image: str = "x/y", environment: str = "") -> str:
    """A workflow with a job in a container, given its steps."""
    lines = "".join(f"      - {step}\n" for step in steps)
    body = f"    container: {{image: {image}, options: --gpus all}}\n{environment}    steps:\n{lines}"
    return f"{head}{JOB}{body}"


CHECKOUT = "uses: actions/checkout@v4"
TRAIN = "run: torchrun --nproc_per_node=8 train.py"
STEPS = [
    ((CHECKOUT, "run: pip install -e ."), "not-needed", ""),
    ((CHECKOUT, "uses: docker/login-action@v3", "run: docker build -t x ."), "not-needed", ""),
    ((CHECKOUT, "run: ls", "uses: a/git-auto-commit-action@v7", "uses: a/create-pull-request@v1"), "not-needed", ""),
    ((CHECKOUT, TRAIN), "needed", ""),
    (("run: (exit 0)", TRAIN), "needed", ""),
    ((CHECKOUT, "{run: python load.py, working-directory: src}"), "likely", "8 DataLoader workers"),
    (("{uses: actions/checkout@v4, with: {path: a}}", "run: python a/src/load.py"), "likely", "8 DataLoader workers"),
    ((CHECKOUT, "uses: some/train@v1", "run: ls"), "unknown", "train@v1"),
    ((CHECKOUT, "{run: 'print(1)', shell: python}"), "unknown", "$step_in_python"),
    (("run: ${{ matrix.command }}",), "unknown", "$matrix_command"),
    ((f"run: {RUN}",), "unknown", "$step_that_starts_containers"),
]
LOADS = """\
from torch.utils.data import DataLoader
for batch in DataLoader(data, batch_size=64, num_workers=8):
    pass
"""


@table("steps_, verdict, because", STEPS)
def test_a_job_container_runs_the_steps_of_the_job(
    tmp_path: Path, steps_: tuple[str, ...], verdict: str, because: str
) -> None:
    done = run(tmp_path, {GITHUB: job(*steps_), "src/load.py": LOADS})
    need = done.context.need(done.launches[0])
    assert (need.verdict, because in f"{need.because} {need.stopped}") == (verdict, True)


def test_the_variables_of_steps_are_those_of_the_container(tmp_path: Path) -> None:
    text = job(
        "{run: train, env: {A: 1, B: 2, C: '${{ x }}', NCCL_SHM_DISABLE: 1}}", "{run: test, env: {A: 1, B: 3}}",
        environment="    env: {A: 0, D: 4}\n", head="env: {D: 5, E: 6}\n",
    )  # fmt: skip
    (launch,) = launches(tmp_path, text)
    known = {name: value.known for name, value in launch.environment.items()}
    assert known == {"A": "1", "B": None, "C": None, "D": "4", "E": "6", "NCCL_SHM_DISABLE": "1"}
    assert "NCCL502" in [finding.rule for finding in run(tmp_path, {GITHUB: text}).findings]


def test_what_a_job_container_says_of_dev_shm(tmp_path: Path) -> None:
    text = (
        f"{JOB}    container:\n      image: {IMAGE}\n      options: --gpus all\n      volumes: ['/dev/shm:/dev/shm']\n"
        "      env:\n        NCCL_SHM_DISABLE: 1\n"
    )
    (launch,) = launches(tmp_path, text)
    assert [mount.target for mount in launch.mounts] == ["/dev/shm"]
    assert "NCCL_SHM_DISABLE" in launch.environment
    assert after_fix(tmp_path, text) == text


def test_jobs_that_share_what_they_write_have_a_container_each(tmp_path: Path) -> None:
    text = (
        f"{JOB}    container: &c\n      image: {IMAGE}\n      options: --gpus all\n"
        "    steps:\n      - run: nvidia-smi\n"
        f"  fit:\n    runs-on: gpu\n    container: *c\n    steps:\n      - {TRAIN}\n"
    )
    done = run(tmp_path, {GITHUB: text})
    said = [(launch.name, launch.span.line, done.context.need(launch).verdict) for launch in done.launches]
    assert said == [("train", 5, "not-needed"), ("fit", 12, "needed")]


@pytest.mark.parametrize(
    ("container", "image"),
    [
        (f"container: {IMAGE}\n", IMAGE),
        ("container: ${{ matrix.image }}\n", "${{ matrix.image }}"),
        (f"container:\n      image: {IMAGE}\n", IMAGE),
    ],
)
def test_a_container_without_options(tmp_path: Path, container: str, image: str) -> None:
    (launch,) = launches(tmp_path, f"{JOB}    {container}    steps: []\n")
    assert (launch.kind, launch.name, launch.span.line) == ("ci-container", "train", 5)
    assert launch.image is not None and launch.image.text == image
    assert launch.gpu.requested is False


@table(
    "container, matrix, requested",
    [
        ("matrix.box", f"{{box: [{{image: {IMAGE}, options: --gpus all}}]}}", None),
        ("matrix.box", f"{{box: [{IMAGE}], include: [{{box: {{image: {IMAGE}}}}}]}}", None),
        ("matrix.box", f"{{box: [{IMAGE}]}}", False),
        ("matrix.box", "${{ fromJSON(inputs.matrix) }}", None),
        ("fromJSON(inputs.box)", "{a: [1]}", None),
        ("inputs.image", "{a: [1]}", False),
    ],
)
def test_an_expression_may_give_a_container_its_options(
    tmp_path: Path, container: str, matrix: str, requested: bool | None
) -> None:
    text = f"{JOB}    strategy:\n      matrix: {matrix}\n    container: ${{{{ {container} }}}}\n    steps: []\n"
    (launch,) = launches(tmp_path, text)
    assert launch.gpu.requested is requested


@pytest.mark.parametrize(
    "options", ["--gpus all ${{ inputs.more }}", "${{ matrix.container }}", "${{ matrix.image }} --rm"]
)
def test_options_that_are_an_expression(tmp_path: Path, options: str) -> None:
    text = f"{JOB}    container:\n      image: {IMAGE}\n      options: {options}\n"
    (launch,) = launches(tmp_path, text)
    assert launch.image is not None and launch.image.known == IMAGE
    assert launch.gpu.requested is (True if "gpus" in options else None)
    assert launch.undecided is not None
    assert launch.undecided.because == "it depends on an expression; it may hold --shm-size"
    assert after_fix(tmp_path, text) == text


def test_services(tmp_path: Path) -> None:
    text = (
        f"{JOB}    container: {IMAGE}\n    services:\n      llm:\n"
        "        image: vllm/vllm-openai\n        options: >-\n"
        '          --gpus all\n          --health-cmd "curl x"\n      redis:\n        image: redis\n'
    )
    found = launches(tmp_path, text)
    assert [(launch.name, launch.span.line, launch.gpu.requested) for launch in found] == [
        ("train", 5, False),
        ("llm", 7, True),
        ("redis", 12, False),
    ]
    assert after_fix(tmp_path, text) == text.replace("all\n", "all --shm-size=8g\n")


def test_azure_container_resources(tmp_path: Path) -> None:
    text = (
        f"resources:\n  containers:\n  - container: gpu\n    image: {IMAGE}\n    options: --gpus all\n"
        "jobs:\n- job: t\n  container: gpu\n"
    )
    (launch,) = launches(tmp_path, text, "azure-pipelines.yml")
    assert (launch.kind, launch.name, launch.span.line) == ("ci-container", "gpu", 3)
    assert after_fix(tmp_path, text, "azure-pipelines.yml") == text.replace("all\n", "all --shm-size=8g\n")


AZURE = """resources:
  containers:
    - container: gpu
      image: {0}
      options: --gpus all
jobs:
  - job: a
    container: gpu
    steps:
      - checkout: self
{1}"""
INLINE = "jobs:\n  - job: a\n    container: {{image: {0}, options: --gpus all}}\n    steps:\n{1}"


@table(
    "steps_, verdict",
    [
        (("script: ls",), "not-needed"),
        (("bash: torchrun --nproc_per_node=8 train.py", "task: PublishTestResults@2"), "needed"),
        (("script: cd src\n          python load.py",), "not-needed"),
        (("script: python load.py\n        workingDirectory: src",), "not-needed"),
        (("pwsh: train.ps1",), "likely"),
        (("task: Somebody@1",), "likely"),
    ],
)
def test_a_job_of_azure_runs_its_steps(tmp_path: Path, steps_: tuple[str, ...], verdict: str) -> None:
    lines = "".join(f"      - {step}\n" for step in steps_)
    for text in (AZURE, INLINE):
        files = {
            "azure-pipelines.yml": text.format(IMAGE, lines), "src/load.py": "print(1)\n",
            "train.py": "import torch\ntorch.distributed.init_process_group()\n",
        }  # fmt: skip
        done = run(tmp_path, files)
        assert [done.context.need(launch).verdict for launch in done.launches] == [verdict], text


def test_a_container_of_two_jobs_is_judged_by_its_image(tmp_path: Path) -> None:
    more = "      - script: ls\n  - job: b\n    container: gpu\n    steps:\n      - script: pwd\n"
    done = run(tmp_path, {"azure-pipelines.yml": AZURE.format(IMAGE, more)})
    assert [done.context.need(launch).verdict for launch in done.launches] == ["needed"]

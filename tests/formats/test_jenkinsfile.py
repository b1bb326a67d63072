"""Jenkinsfiles: the scripts of ``sh`` steps, the containers of stages, and edits in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.fixing.add_ignore import add
from tests.formats.started import IMAGE, RUN, TRAIN, launches, one, seen
from tests.project import findings, fixed, run
from tests.table import table

NAME = "Jenkinsfile"


@table(
    ("text", "image", "line"),
    [
        (f"sh '{RUN} IMG'", IMAGE, 1),
        (f'sh("{RUN} IMG")\n', IMAGE, 1),
        (f"sh script: '{RUN} IMG', returnStatus: true\n", IMAGE, 1),
        (f"def x = sh(returnStdout: true,\n  script: \"{RUN} IMG\").trim()\n", IMAGE, 2),
        (f"sh '''\n  {RUN} \\\n    IMG\n'''\n", IMAGE, 2),
        (f'sh """\n  {RUN} \\\\\n    -e A=\\$B \\"IMG\\"\n"""\n', IMAGE, 2),
        (f"x = 'a/b'\nsh $/{RUN} -v $b:$$HOME$/$c -e 'A=\\n' IMG/$\n", IMAGE, 2),
        (f"def i = 'IMG'\nsh(script: $/\n  {RUN} \\\n  ${{i}}\n/$, returnStdout: true)\nsh 'x /$'\n", IMAGE, 3),
        (f"sshCommand remote: r, command: '{RUN} IMG'\n", IMAGE, 1),
        (f"def i = 'IMG'\nsh \"{RUN} ${{i}}\"\n", IMAGE, 2),
        (f"environment {{\n  I = 'IMG'\n}}\nsh '{RUN} $I'\n", IMAGE, 4),
        (f"environment {{ T = '24.01-py3'\n I = \"nvcr.io/nvidia/pytorch:$T\" }}\nsh \"{RUN} ${{env.I}}\"\n", IMAGE, 3),
        (f"String cmd = '{RUN} IMG'\nsh cmd\n", IMAGE, 1),
        (f"sh '{RUN} -v x:' + pwd() + ' IMG'\n", IMAGE, 1),
        (f"sh '{RUN} ' +\n  'IMG'\n", IMAGE, 1),
        (f'sh "{RUN} ${{params.I}}"\n', "${params.I}", 1),
        (f"def i = 'a'\ni = 'b'\nsh \"{RUN} ${{i}}\"\n", "${i}", 3),
        (f"def i = 'a' + b\nsh \"{RUN} r:$i\"\n", "r:$i", 2),
        (f"def i = 'a'\nwithEnv(['i=b']) {{ sh \"{RUN} r:$i\" }}\n", "r:$i", 2),
        ("docker.image('IMG').inside('--gpus all') {\n}\n", IMAGE, 1),
        ("docker.image(\"IMG\").withRun(\"--gpus all\", 'serve') { c -> }\n", IMAGE, 1),
        ("def i = 'IMG'\ndocker.image(i).run('--gpus all')\n", IMAGE, 2),
        ("docker.image(vllm).run('--gpus all')\n", "${vllm}", 1),
        ("docker.image(env.PYTORCH).inside('--gpus all') { sh 'x' }\n", "${env.PYTORCH}", 1),
        ("def img = docker.build('me/x', '-f a/Dockerfile a')\nimg.inside('--gpus all') {}\n", "me/x", 2),
        ("agent {\n  docker {\n    image 'IMG'\n    args '--gpus all'\n    label 'x'\n  }\n}\n", IMAGE, 2),
        ("agent { docker { args \"--gpus all\"; image 'IMG' } }\n", IMAGE, 1),
    ],
)  # fmt: skip
def test_pipelines(tmp_path: Path, text: str, image: str, line: int) -> None:
    assert seen(tmp_path, text, NAME) == (image, "all", line)


@pytest.mark.parametrize("name", ["Jenkinsfile.gpu", "ci/train.jenkinsfile", "vars/train.groovy"])
def test_pipelines_are_found(tmp_path: Path, name: str) -> None:
    assert one(tmp_path, f"sh '{RUN} IMG'\n", name).gpu.requested


@pytest.mark.parametrize(
    "text",
    [
        f"// sh '{RUN} IMG'\n/* sh '{RUN} IMG'\n*/\n",
        f"echo '{RUN} IMG'\nprintln \"sh '{RUN} IMG'\"\n",
        f"sh 'echo \"{RUN} IMG\"'\n",
        f"sh '{RUN} IMG\n", f"sh $/{RUN} IMG\n", f"x$/2 + sh / {RUN} IMG /$\n",
        "docker.image('IMG').push()\ndocker.withRegistry('https://x') {}\n",
    ],
)
def test_no_launches(tmp_path: Path, text: str) -> None:
    assert not launches(tmp_path, text, NAME)


def test_an_agent_of_a_dockerfile(tmp_path: Path) -> None:
    text = "agent { dockerfile { filename 'gpu.Dockerfile'; dir 'ci'; args '--gpus all' } }\n"
    launch = one(tmp_path, text, NAME)
    assert launch.image is None and launch.gpu.requested
    assert launch.build is not None and (launch.build.context, launch.build.dockerfile) == ("ci", "ci/gpu.Dockerfile")


def test_options_that_are_not_known(tmp_path: Path) -> None:
    for added in ("o += ' --shm-size=16g'", "o = o + ' --shm-size=16g'", "o <<= ' --shm-size=16g'"):
        (launch,) = run(tmp_path, {NAME: f"def o = '--rm'\n{added}\nsh \"{RUN} ${{o}} img:1\"\n"}).launches
        assert launch.effective_shm().decided_by == "unknown", added
    assert one(tmp_path, f"sh \"{RUN} ${{params.OPTIONS}} IMG\"\n", NAME).undecided
    assert one(tmp_path, "docker.image('IMG').inside(\"--gpus all ${env.OPTS}\") {}\n", NAME).undecided


def test_steps_for_windows_are_reported(tmp_path: Path) -> None:
    text = f"bat '{RUN} IMG'\npowershell(script: '{RUN} IMG')\nbat 'docker ps'\n"
    result = run(tmp_path, {NAME: text})
    assert [(place.span.line, place.kind) for place in result.not_read] == [(1, "unsupported"), (2, "unsupported")]
    assert result.launches == ()


@table(
    ("before", "after"),
    [
        (f"sh '{RUN} {TRAIN}'", f"sh '{RUN} --shm-size=8g {TRAIN}'"),
        (f"sh '''\n  {RUN} \\\n  {TRAIN}\n'''\n", f"sh '''\n  {RUN} --shm-size=8g \\\n  {TRAIN}\n'''\n"),
        (f"def s = '64m'\nsh \"{RUN} --shm-size=${{s}} {TRAIN}\"\n",
         f"def s = '8g'\nsh \"{RUN} --shm-size=${{s}} {TRAIN}\"\n"),
        # All commands of the pipeline see its environment.
        (f"environment {{ S = '64m' }}\nsh \"{RUN} --shm-size=${{S}} {TRAIN}\"\nsh 'docker compose up'\n",
         f"environment {{ S = '64m' }}\nsh \"{RUN} --shm-size=8g {TRAIN}\"\nsh 'docker compose up'\n"),
        (f"env.S = '64m'\nsh \"{RUN} --shm-size=${{S}} {TRAIN}\"\n",
         f"env.S = '64m'\nsh \"{RUN} --shm-size=8g {TRAIN}\"\n"),
        (f"def o = '--gpus all'\nsh \"docker run ${{o}} {TRAIN}\"\n",
         f"def o = '--gpus all'\nsh \"docker run --shm-size=8g ${{o}} {TRAIN}\"\n"),
        (f"docker.image('{IMAGE}').withRun('--gpus all') {{}}\n",
         f"docker.image('{IMAGE}').withRun('--gpus all --shm-size=8g') {{}}\n"),
        (f"agent {{ docker {{ image '{IMAGE}'; args '--gpus all --shm-size=64m' }} }}\n",
         f"agent {{ docker {{ image '{IMAGE}'; args '--gpus all --shm-size=8g' }} }}\n"),
    ],
)  # fmt: skip
def test_rewriting(tmp_path: Path, before: str, after: str) -> None:
    assert fixed(tmp_path, {"Jenkinsfile": before}) == {"Jenkinsfile": after}
    assert fixed(tmp_path, {"Jenkinsfile": after}) == {}


@table(
    ("text", "comment"),
    [
        (f"x {{\n  sh '{RUN} {TRAIN}'\n}}\n", "  // "),
        (f"sh '''\n  cd x\n  {RUN} {TRAIN}\n'''\n", "  # "),
        (f"docker.image('{IMAGE}').inside('--gpus all') {{\n}}\n", " // "),
    ],
)
def test_comments(tmp_path: Path, text: str, comment: str) -> None:
    assert [f.rule for f in findings(tmp_path, {"Jenkinsfile": text})] == ["SHM101"]
    result = run(tmp_path, {"Jenkinsfile": text})
    (edited,) = add(result, "why").texts.values()
    assert f"{comment}shmlint: ignore[SHM101]" in edited
    assert findings(tmp_path, {"Jenkinsfile": edited}) == []


AGENT = "agent {{ docker {{ image '{}'; args '--gpus all' }} }}"
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
INSIDE = f"node {{\n  docker.image('{NGC}').inside('--gpus all') {{\n    STEPS\n  }}\n}}\n"
STAGE = f"pipeline {{\n  stages {{ stage('a') {{\n    {AGENT.format(NGC)}\n    steps {{ STEPS }}\n  }} }}\n}}\n"


@table(
    ("steps", "verdict"),
    [
        ("sh 'ls'", "not-needed"),
        ("sh 'make --version'\n    sh(script: 'pip list', returnStdout: true)", "not-needed"),
        ("sh 'torchrun --nproc_per_node=8 train.py'", "needed"),
        ('sh """\n  cd .\n  torchrun --nproc_per_node=8 train.py\n"""', "needed"),
        ("if (x) { sh 'ls' }", "not-needed"),
        ("sh command", "likely"),
        ("echo 'no step of a shell'", "needed"),
    ],
)
def test_what_runs_in_a_container_are_its_steps(tmp_path: Path, steps: str, verdict: str) -> None:
    code = {"train.py": "import torch\ntorch.distributed.init_process_group()\n"}
    for text in (INSIDE.replace("STEPS", steps), STAGE.replace("STEPS", steps)):
        started = run(tmp_path, {"Jenkinsfile": text, **code})
        assert [started.context.need(launch).verdict for launch in started.launches] == [verdict], text


def test_the_steps_of_another_agent_are_not_its_own(tmp_path: Path) -> None:
    inner = f"stage('b') {{ {AGENT.format('alpine')}\n steps {{ sh 'torchrun --nproc_per_node=8 train.py' }} }}"
    text = f"pipeline {{\n  {AGENT.format(NGC)}\n  stages {{ stage('a') {{ steps {{ sh 'ls' }} }}\n {inner} }}\n}}\n"
    started = run(tmp_path, {"Jenkinsfile": text, "train.py": "import torch\n"})
    outer = min(started.launches, key=lambda launch: launch.span.start)
    assert started.context.need(outer).verdict == "not-needed"


@table(
    "text",
    [
        f"def o = '--gpus all'\ndocker.image('{NGC}').inside(o) {{ sh 'x' }}\n",
        f"def i = '{NGC}'\nwithDockerContainer(image: i, args: '--gpus all') {{ sh 'x' }}\n",
        f"docker.build('{NGC}', 'docker').inside('--gpus all') {{ sh 'x' }}\n",
        f"def i = docker.image('{NGC}')\ndef o = '--gpus all'\ni.inside(o) {{ sh 'x' }}\n",
        f"pipeline {{ {AGENT.format(NGC)}\n stages {{ }} }}\n",
    ],
)
def test_images_and_options_in_variables(tmp_path: Path, text: str) -> None:
    (launch,) = launches(tmp_path, text, NAME)
    assert launch.image is not None
    assert (launch.image.text, launch.gpu.requested, launch.undecided) == (NGC, True, None)


def test_options_of_which_a_part_is_not_known(tmp_path: Path) -> None:
    for arguments in ("options", '"--gpus all ${options}"'):
        (launch,) = launches(tmp_path, f"docker.image('{NGC}').inside({arguments}) {{ sh 'x' }}\n", NAME)
        assert launch.undecided is not None


def test_pods_that_jenkins_starts_are_told(tmp_path: Path) -> None:
    manifest = "spec:\n  containers:\n  - image: IMG\n    resources:\n      limits:\n        nvidia.com/gpu: 8\n"
    text = f"pipeline {{\n  agent {{ kubernetes {{ yaml '''\n{manifest}''' }} }}\n  // nvidia.com/gpu: 1\n}}\n"
    done = run(tmp_path, {"Jenkinsfile": text})
    assert [(place.span.line, place.because) for place in done.not_read] == [
        (8, "manifests of pods that Jenkins starts are not read")
    ]

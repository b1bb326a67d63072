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
        f"sh '{RUN} IMG\n",
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

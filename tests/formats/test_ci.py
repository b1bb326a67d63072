"""CI files: which of their texts are scripts, where they stand, and what fixing them writes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from shmlint.files.workspace import Workspace
from shmlint.formats.ci import read as read_ci
from shmlint.formats.ci import shell_text
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.syntax.yaml import Mapping, Scalar
from shmlint.syntax.yaml_read import parse
from tests.project import findings, fixed, run
from tests.table import table

IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
RUN = f"docker run --gpus all --rm {IMAGE} python train.py"
FIXED = f"docker run --gpus all --shm-size=8g --rm {IMAGE} python train.py"
GITHUB = ".github/workflows/test.yml"
JOB = "on: push\njobs:\n  train:\n    runs-on: gpu\n"


def steps(text: str) -> str:
    return f"{JOB}    steps:\n{text}"


def launches(directory: Path, text: str, name: str = GITHUB) -> list[Launch]:
    return run(directory, {name: text}).launches


def lines(directory: Path, text: str, name: str = GITHUB) -> list[int]:
    found = launches(directory, text, name)
    for launch in found:
        if launch.kind == "docker-run":
            assert launch.span.text in ("docker", "podman", "nvidia-docker")
    return [launch.span.line for launch in found]


def load(text: str) -> Any:
    return list(YAML(typ="safe", pure=True).load_all(text.removeprefix("\ufeff")))


def without_size(value: Any) -> Any:
    """A loaded document as it was before ``--shm-size=8g`` came in."""
    if isinstance(value, dict):
        return {key: without_size(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_size(item) for item in value]
    if not isinstance(value, str):
        return value
    for new in ("  --shm-size=8g \\\n", " --shm-size=8g", "--shm-size=8g "):
        value = value.replace(new, "")
    return value


def after_fix(directory: Path, text: str, name: str = GITHUB) -> str:
    """The text after fixing: all there is to fix, and to YAML nothing else has changed."""
    new = fixed(directory, {name: text}).get(name, text)
    assert fixed(directory, {name: new}) == {}
    assert without_size(load(new)) == without_size(load(text))
    return new


# Scripts in every scalar style -----------------------------------------------------------------


@table("newline", ["\n", "\r\n"])
@table("bom", ["", "\ufeff"])
@table(
    ("before", "old", "new"),
    [
        pytest.param(
            f"      - run: |\n          docker run \\\n            --gpus all \\\n            {IMAGE}\n",
            "all \\\n",
            "all \\\n            --shm-size=8g \\\n",
            id="literal, one a line",
        ),
        pytest.param(f"      - run: |-\n          {RUN}\n", RUN, FIXED, id="literal, stripped"),
        pytest.param(f"      - run: |2\n            {RUN}\n", RUN, FIXED, id="indentation indicator"),
        pytest.param(
            f"      - run: |\n\n          ls\n\n          {RUN}\n\n\n      - run: ls\n", RUN, FIXED, id="blank lines"
        ),
        pytest.param(
            f"      - run: >\n          docker run\n          --gpus all\n          {IMAGE}\n",
            "all\n",
            "all --shm-size=8g\n",
            id="folded",
        ),
        pytest.param(
            f"      - run: >-\n          docker run --gpus all\n          {IMAGE}\n\n          ls\n",
            "all\n",
            "all --shm-size=8g\n",
            id="folded, stripped",
        ),
        pytest.param(
            f"      - run: docker run --gpus all\n          {IMAGE} # why\n",
            "all\n",
            "all --shm-size=8g\n",
            id="plain over lines",
        ),
        pytest.param(f"      - run: {RUN}\n", RUN, FIXED, id="plain"),
        pytest.param(f"      - run: '{RUN}'\n", RUN, FIXED, id="single quotes"),
        pytest.param(
            f"      - run: 'docker run --gpus ''all'' {IMAGE}'\n",
            "''all''",
            "''all'' --shm-size=8g",
            id="doubled single quotes",
        ),
        pytest.param(f'      - run: "{RUN}"\n', RUN, FIXED, id="double quotes"),
        pytest.param(
            f'      - run: "docker run --gpus \\"all\\" {IMAGE}"\n',
            '\\"all\\"',
            '\\"all\\" --shm-size=8g',
            id="escaped quotes",
        ),
        pytest.param(f'      - run: "echo \\u00e9\\x41\\t\\n{RUN} \\\n          x"\n', RUN, FIXED, id="escapes"),
        pytest.param(f'      - run: "ls\n\n          {RUN}"\n', RUN, FIXED, id="double quotes over lines"),
        pytest.param(f"      - run: 'ls\n\n          {RUN}'\n", RUN, FIXED, id="single quotes over lines"),
        pytest.param(f'      - {{run: "{RUN}", shell: bash}}\n', RUN, FIXED, id="flow"),
        pytest.param(f"      - run: &it |\n          {RUN}\n      - run: *it\n", RUN, FIXED, id="alias"),
        pytest.param(f"      - run: 'docker run --gpus all --shm-size=64m {IMAGE}'\n", "64m", "8g", id="too small"),
    ],
)
def test_every_style(tmp_path: Path, newline: str, bom: str, before: str, old: str, new: str) -> None:
    text = steps(before).replace("\n", newline)
    old, new = old.replace("\n", newline), new.replace("\n", newline)
    (launch,) = launches(tmp_path, bom + text)
    assert launch.span.text == "docker"
    assert launch.image is not None and launch.image.span.text == IMAGE
    result = fixed(tmp_path, {GITHUB: bom + text})[GITHUB]
    assert result == bom + text.replace(old, new)
    assert fixed(tmp_path, {GITHUB: result}) == {}
    if "64m" not in text:
        assert after_fix(tmp_path, bom + text) == result


@table(
    "value",
    [
        "|\n  a \\\n\n  b\n\n   c\n  d",
        "|2\n   a\n  b",
        "|+\n  a\n\n",
        ">\n  a\n  b\n\n  c\n\n\n  d\n    e\n\n    f\n  g",
        ">\n\n  a\n  \tb\n  c",
        "a\n  b\n\n  c",
        "'a\n  b\n\n\n  c''d'",
        '"a\\\n   b\\\n\n  c\n\n  d"',
        '"\\x41\\u00e9\\U0001F433\\e\\N\\_"',
        '"a \\\n  \\ b"',
        '"tab\\tx\\\tx \\/ \\\\"',
        "'\u00a0 a'",
        "|\n  a\n  \n    \n  b",
        '"a \t\n \t b"',
    ],
)
@table("newline", ["\n", "\r\n"])
def test_a_scalar_is_what_yaml_reads(value: str, newline: str) -> None:
    text = f"key: {value}\n".replace("\n", newline)
    check_scalar(text)


def check_scalar(text: str) -> None:
    source = Source("x.yml", text)
    (document,) = parse(source)
    assert isinstance(document.root, Mapping)
    node = document.root.get("key")
    assert isinstance(node, Scalar)
    read = shell_text(node, source)
    assert len(read.text) == len(read.offsets)
    assert read.text.rstrip() == node.value.replace("\r\n", "\n").rstrip()
    if '"' not in text:  # without escapes each character stands where it is said to stand, but for folds
        for char, at in zip(read.text, read.offsets, strict=True):
            assert char == source.text[at] or char in " \n"


@given(st.text("ab \n\\'\"#:-é\t", max_size=30), st.sampled_from(["|", ">", '"', "'"]), st.integers(20, 80))
def test_any_scalar_is_what_yaml_reads(value: str, style: str, width: int) -> None:
    from io import StringIO

    from ruamel.yaml.scalarstring import (
        DoubleQuotedScalarString,
        FoldedScalarString,
        LiteralScalarString,
        SingleQuotedScalarString,
    )

    kinds = {
        "|": LiteralScalarString,
        ">": FoldedScalarString,
        '"': DoubleQuotedScalarString,
        "'": SingleQuotedScalarString,
    }
    yaml = YAML()
    yaml.width = width
    stream = StringIO()
    try:
        yaml.dump({"key": kinds[style](value)}, stream)
        parse(Source("x", stream.getvalue()))
    except Exception:  # what ruamel.yaml cannot write or read back is no case of ours
        return
    check_scalar(stream.getvalue())


# Which texts are scripts -----------------------------------------------------------------------


@table(
    "key", ["name", "if", "uses", "description", "displayName", "label", "title", "block", "prompt", "help", "message"]
)
def test_talk(tmp_path: Path, key: str) -> None:
    assert lines(tmp_path, steps(f"      - {key}: {RUN}\n        x: 1\n")) == []


@table(
    "step",
    [
        "run: docker compose up\n",
        "run: docker build --shm-size 1g .\n",
        "run: docker compose run --rm x\n",
        "run: docker exec x docker\n",
        f"run: \"echo '{RUN}'\"\n",
        f"run: |\n          # {RUN}\n          ls\n",
        f"uses: some/docker-run-action@v3\n        with:\n          image: x\n          run: {RUN}\n",
        f"uses: actions/github-script@v7\n        with:\n          script: exec('{RUN}')\n",
    ],
)
def test_no_launches(tmp_path: Path, step: str) -> None:
    assert lines(tmp_path, steps(f"      - {step}")) == []


def test_an_action_that_runs_its_script_on_a_host(tmp_path: Path) -> None:
    text = steps(
        f"      - uses: some/ssh-action@v1\n        with:\n          host: h\n          script: |\n            {RUN}\n"
    )
    assert lines(tmp_path, text) == [10]
    assert after_fix(tmp_path, text) == text.replace(RUN, FIXED)


@table(
    ("name", "text", "expected"),
    [
        (
            "action.yml",
            f"name: x\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      run: |\n        {RUN}\n",
            [7],
        ),
        (".github/actions/a/action.yaml", f"runs:\n  using: composite\n  steps:\n    - run: {RUN}\n", [4]),
        (
            GITHUB,
            f"on: {{workflow_call: {{}}}}\njobs:\n  a:\n    uses: ./x.yml\n  b:\n    steps:\n      - run: {RUN}\n",
            [7],
        ),
        (".gitlab-ci.yml", f"t:\n  image: x\n  before_script:\n    - ls\n    - {RUN}\n  script: '{RUN}'\n", [5, 6]),
        (
            ".gitlab-ci.yml",
            f".s: &s\n  - {RUN}\nt:\n  script: *s\nu:\n  script:\n    - *s\n    - !reference [.s]\n",
            [2],
        ),
        ("ci/build.gitlab-ci.yml", f"t:\n  script:\n    - |\n      ls\n      {RUN}\n", [5]),
        (
            ".circleci/config.yml",
            f"jobs:\n  t:\n    steps:\n      - run: {RUN}\n      - run:\n          name: {RUN}\n"
            f"          command: |\n            {RUN}\n",
            [4, 8],
        ),
        ("azure-pipelines.yml", f"steps:\n- script: {RUN}\n  displayName: {RUN}\n- bash: |\n    {RUN}\n", [2, 5]),
        (
            ".buildkite/p.yml",
            f"steps:\n  - label: {RUN}\n    command: {RUN}\n  - commands:\n      - {RUN}\n      - ls\n"
            f"  - plugins:\n      - docker#v5:\n          image: x\n          gpus: all\n  - block: {RUN}\n",
            [3, 5],
        ),
        (".travis.yml", f"services: docker\nscript:\n  - {RUN}\n  - ls\n", [3]),
    ],
)
def test_ci_systems(tmp_path: Path, name: str, text: str, expected: list[int]) -> None:
    assert lines(tmp_path, text, name) == expected
    if "!reference" not in text:
        assert after_fix(tmp_path, text, name).count("--shm-size=8g") == len(expected)


@table(
    ("step", "expected"),
    [
        ("run: docker build -t me/x d", ("me/x", "d", None, "")),
        ("run: docker buildx build --load -t me/x -f a/Dockerfile .", ("me/x", ".", "a/Dockerfile", "")),
        ("run: podman build -t me/x .\n        working-directory: d", ("me/x", ".", None, "d")),
        ("uses: docker/build-push-action@v6\n        with: {context: d, file: d/D, tags: 'me/x'}",
         ("me/x", "d", "d/D", "")),
    ],
)  # fmt: skip
def test_builds(step: str, expected: tuple[object, ...]) -> None:
    """Relative paths count from the top of the repository, not from where the file lies."""
    text = steps(f"      - {step}\n      - run: docker run me/x\n")
    (build,) = read_ci([GITHUB], Workspace().over({GITHUB: text}), Settings()).builds
    assert (build.tag, build.context, build.dockerfile, build.directory) == expected


def test_a_built_image_is_followed_to_its_dockerfile(tmp_path: Path) -> None:
    text = steps("      - run: docker build -t me/x d\n      - run: docker run -it --gpus all me/x bash\n")
    found = findings(tmp_path, {GITHUB: text, "d/Dockerfile": "FROM nvcr.io/nvidia/pytorch:24.01-py3\n"})
    assert [(f.rule, f.severity) for f in found] == [("SHM101", "warning")]


def test_powershell(tmp_path: Path) -> None:
    text = steps(
        "      - shell: pwsh\n        run: |\n"
        f"          & docker run `\n            --gpus all `\n            {IMAGE}\n"
    )
    assert after_fix(tmp_path, text) == text.replace("all `", "all --shm-size=8g `")


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


def test_the_lines_of_a_script_share_a_shell(tmp_path: Path) -> None:
    text = f"t:\n  script:\n    - export IMAGE={IMAGE}\n    - 'OPTS=\"--gpus all\"'\n    - docker run $OPTS $IMAGE\n"
    (launch,) = launches(tmp_path, text, ".gitlab-ci.yml")
    assert launch.gpu.requested and launch.image is not None and launch.image.known == IMAGE
    enough = text.replace("--gpus all", "--gpus all --shm-size=8g")
    assert after_fix(tmp_path, enough, ".gitlab-ci.yml") == enough


@pytest.mark.parametrize(
    ("command", "undecided"),
    [
        (f"docker run ${{{{ inputs.options }}}} --gpus all {IMAGE}", True),
        (f"docker run -v ${{{{ github.workspace }}}}:/w {{{{ a }}}} --gpus all {IMAGE}", True),
        (f"docker run --gpus all -v ${{{{ github.workspace }}}}:/w {IMAGE}", False),
        (f'docker run --gpus all {IMAGE} bash -c "x ${{{{ matrix.y }}}}"', False),
        ("docker run --gpus all ${{ env.IMAGE }}", False),
    ],
)
def test_expressions(tmp_path: Path, command: str, undecided: bool) -> None:
    (launch,) = launches(tmp_path, steps(f"      - run: |\n          {command}\n"))
    assert launch.gpu.requested
    assert bool(launch.undecided) is undecided
    assert launch.undecided is None or "variable _" not in launch.undecided.because
    assert launch.image is not None and launch.image.span.text in (IMAGE, "${{ env.IMAGE }}")
    if "env.IMAGE" in command:
        assert launch.image.text == "${{ env.IMAGE }}" and launch.image.because


# Containers of jobs ----------------------------------------------------------------------------


@table("newline", ["\n", "\r\n"])
@table(
    ("options", "old", "new"),
    [
        ("--gpus all", "all", "all --shm-size=8g"),
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
    text = f"{JOB}    container:\n      image: {IMAGE}\n      options: {options}\n    steps:\n      - run: ls\n"
    text, old, new = (part.replace("\n", newline) for part in (text, old, new))
    (launch,) = launches(tmp_path, text)
    assert (launch.kind, launch.name, launch.span.line, launch.span.text) == ("ci-container", "train", 5, "container")
    assert fixed(tmp_path, {GITHUB: text}) == {GITHUB: text.replace(old, new)}
    if "64m" not in options:
        after_fix(tmp_path, text)


def test_what_a_job_container_says_of_dev_shm(tmp_path: Path) -> None:
    text = (
        f"{JOB}    container:\n      image: {IMAGE}\n      options: --gpus all\n      volumes: ['/dev/shm:/dev/shm']\n"
        "      env:\n        NCCL_SHM_DISABLE: 1\n"
    )
    (launch,) = launches(tmp_path, text)
    assert [mount.target for mount in launch.mounts] == ["/dev/shm"]
    assert "NCCL_SHM_DISABLE" in launch.environment
    assert after_fix(tmp_path, text) == text


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


# What is no YAML -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (steps(f"{{% if gpu %}}\n      - run: |\n          {RUN} {{{{ x }}}}\n{{% endif %}}\n"), [8]),
        (steps(f"      - run: docker run {{{{ cookiecutter.options }}}} --gpus all {IMAGE}\n"), [6]),
        (f"{{# {RUN} #}}\n{{%- for job in jobs %}}\n{{{{ job }}}}:\n  script:\n    - {RUN}\n{{%- endfor %}}\n", [5]),
    ],
)
def test_templates(tmp_path: Path, text: str, expected: list[int]) -> None:
    result = run(tmp_path, {GITHUB: text})
    assert [launch.span.line for launch in result.launches] == expected
    assert not [finding for finding in result.findings if finding.rule == "SHM001"]
    new = fixed(tmp_path, {GITHUB: text}).get(GITHUB, text)
    assert new == (
        text if "options" in text else text.replace(f"- {RUN}", f"- {FIXED}").replace(f"{RUN} {{", f"{FIXED} {{")
    )


def test_broken_yaml_still_gives_its_commands(tmp_path: Path) -> None:
    text = steps(
        f"      - run: |\n          ls\n          {RUN}\n   bad: [\n"
        f"      - name: {RUN}\n        run: {RUN}\n      # {RUN}\n"
        f'      - run: "{RUN}"\n      - run: |\n          IMAGE={IMAGE}\n'
        "          docker run \\\n            --gpus all \\\n            $IMAGE\n"
    )
    result = run(tmp_path, {GITHUB: text})
    (problem,) = (finding for finding in result.findings if finding.rule == "SHM001")
    assert problem.span.line == 9
    assert [launch.span.line for launch in result.launches] == [8, 11, 13, 16]
    new = fixed(tmp_path, {GITHUB: text})[GITHUB]
    assert new.replace("            --shm-size=8g \\\n", "").replace(" --shm-size=8g", "") == text
    assert new.count("--shm-size=8g") == 4
    assert fixed(tmp_path, {GITHUB: new}) == {}


# Any file --------------------------------------------------------------------------------------

_STEPS = [
    f"      - run: |\n          docker run \\\n            --gpus all \\\n            {IMAGE}\n",
    f"      - run: {RUN}\n",
    f"      - run: >-\n          docker run --gpus all\n          {IMAGE}\n",
    f"      - run: '{RUN}'\n",
    f'      - run: "{RUN}"\n',
    f"      - name: {RUN}\n        run: ls\n",
    "      - uses: actions/checkout@v4\n",
    f'      - run: "ls\\n{RUN}" # 🐳\n',
    f"      # {RUN}\n",
    f"\n      - run: >\n          ls\n\n          {RUN}\n",
    f"      - {{run: '{RUN}'}}\n",
]


@given(st.lists(st.sampled_from(_STEPS), max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_workflow(pieces: list[str], newline: str, container: bool) -> None:
    text = JOB + (f"    container: {{image: {IMAGE}, options: --gpus all}}\n" if container else "") + "    steps:\n"
    text = (text + "".join(pieces)).replace("\n", newline)
    with tempfile.TemporaryDirectory() as folder:
        found = launches(Path(folder), text)
        talk = sum(f"{lead} {RUN}" in piece for piece in pieces for lead in ("name:", "#"))
        assert len(found) == container + sum(piece.count("docker run") for piece in pieces) - talk
        assert all(launch.span.text in ("docker", "container") for launch in found)
        new = after_fix(Path(folder), text)
    assert new.count("--shm-size=8g") == len(found)

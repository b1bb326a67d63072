"""CI files: which of their texts are scripts, where they are, and what fixing them writes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.formats.ci.read import read as read_ci
from shmlint.model.settings import Settings
from tests.formats.ci.workflows import FIXED, GITHUB, IMAGE, JOB, RUN, SERVE, after_fix, launches, lines, steps
from tests.project import findings, fixed, run
from tests.table import table

# Scripts in every scalar style -----------------------------------------------------------------


@pytest.mark.slow
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
        (".gitlab-ci.yml", f't:\n  script:\n    - {RUN} sh -c "$[[ inputs.a ]]"\n    - {RUN} $[[ inputs.b ]]', [3, 4]),
        ("ci/build.gitlab-ci.yml", f"t:\n  script:\n    - |\n      ls\n      {RUN}\n", [5]),
        (
            ".circleci/config.yml",
            f"jobs:\n  t:\n    steps:\n      - run: {RUN}\n      - run:\n          name: {RUN}\n"
            f"          command: |\n            {RUN}\n",
            [4, 8],
        ),
        (
            ".circleci/config.yml",
            f"jobs:\n  t:\n    when: {RUN}\n    steps:\n      - when:\n          condition: << x >>\n          steps:\n"
            f"            - run: {RUN}\n            - run: {{command: '{RUN}'}}\n",
            [8, 9],
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


def test_the_lines_of_a_script_share_a_shell(tmp_path: Path) -> None:
    text = f"t:\n  script:\n    - export IMAGE={IMAGE}\n    - 'OPTS=\"--gpus all\"'\n    - docker run $OPTS $IMAGE\n"
    (launch,) = launches(tmp_path, text, ".gitlab-ci.yml")
    assert launch.gpu.requested and launch.image is not None and launch.image.known == IMAGE
    enough = text.replace("--gpus all", "--gpus all --shm-size=8g")
    assert after_fix(tmp_path, enough, ".gitlab-ci.yml") == enough


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


@pytest.mark.slow
@given(st.lists(st.sampled_from(_STEPS), max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_workflow(pieces: list[str], newline: str, container: bool) -> None:
    text = JOB + (f"    container: {{image: {IMAGE}, options: --gpus all}}\n" if container else "") + "    steps:\n"
    text += f"      - run: {SERVE}\n" if container else ""
    text = (text + "".join(pieces)).replace("\n", newline)
    with tempfile.TemporaryDirectory() as folder:
        found = launches(Path(folder), text)
        talk = sum(f"{lead} {RUN}" in piece for piece in pieces for lead in ("name:", "#"))
        assert len(found) == container + sum(piece.count("docker run") for piece in pieces) - talk
        assert all(launch.span.text in ("docker", "container") for launch in found)
        new = after_fix(Path(folder), text)
    assert new.count("--shm-size=8g") == len(found)


@table(
    ("switch", "launches"),
    [
        ("if: false", 0), ("if: ${{ false }}", 0), ("if: github.ref == 'x'", 1), ("if: true", 1), ("if: 'false'", 0),
        ("continue-on-error: false", 1),
    ],
)  # fmt: skip
def test_what_never_runs_is_told(tmp_path: Path, switch: str, launches: int) -> None:
    step = f"    - {switch}\n      run: docker run --gpus all IMG\n"
    job = f"    {switch}\n    container: {{image: IMG, options: --gpus all}}\n"
    for before, after in (("", step), (job, "    - run: ls\n")):
        text = f"on: push\njobs:\n  a:\n    runs-on: x\n{before}    steps:\n{after}"
        found = run(tmp_path, {".github/workflows/a.yml": text})
        assert len(found.launches) == launches
        assert [place.because for place in found.not_read] == ["it is switched off"] * (1 - launches)


@table(
    ("switch", "errors"),
    [("if: false", []), ("condition: false", []), ("if: github.ref == 'x'", []), ("id: x", ["SHM101"])],
)
def test_a_step_that_never_runs_is_no_program_of_its_job(tmp_path: Path, switch: str, errors: list[str]) -> None:
    text = (
        "on: push\njobs:\n  a:\n    runs-on: x\n"
        "    container: {image: pytorch/pytorch, options: --gpus all}\n    steps:\n"
        f"    - {switch}\n      run: torchrun --nproc_per_node=8 train.py\n    - run: python -c 'print(1)'\n"
    )
    found = findings(tmp_path, {".github/workflows/a.yml": text})
    assert [one.rule for one in found if one.severity == "error"] == errors
    assert bool(found) == ("false" not in switch)

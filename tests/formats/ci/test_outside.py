"""Variables that the files which a CI file names may set."""

from __future__ import annotations

from pathlib import Path

from tests.formats.ci.workflows import GITHUB, JOB
from tests.project import findings
from tests.table import table

START = "docker run --gpus all --shm-size=$SHM nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py"
WRITES = 'echo "SHM=16g" >> "$GITHUB_ENV"'
ACTION = "runs:\n  using: composite\n  steps:\n    - shell: bash\n      run: {}\n"
OTHER = 'echo A=b >> "$GITHUB_ENV"'


@table(
    "step, files, is_known",
    [
        ("uses: ./.github/actions/up", {".github/actions/up/action.yml": ACTION.format(WRITES)}, False),
        ("uses: ./.github/actions/up", {".github/actions/up/action.yaml": ACTION.format(WRITES)}, False),
        ("run: python tools/up.py", {"tools/up.py": "open(os.environ['GITHUB_ENV'], 'a').write(text)\n"}, False),
        ("run: ./tools/up.sh", {"tools/up.sh": f"{WRITES}\n"}, False),
        ("uses: ./.github/actions/up", {".github/actions/up/action.yml": ACTION.format("make")}, True),
        ("uses: ./.github/actions/up", {".github/actions/up/action.yml": ACTION.format(OTHER)}, True),
        ("run: python tools/up.py", {"tools/up.py": "print(1)\n"}, True),
        ("uses: actions/checkout@v4", {}, True),
    ],
)
def test_github(tmp_path: Path, step: str, files: dict[str, str], is_known: bool) -> None:
    text = f"{JOB}    env: {{SHM: 64m}}\n    steps:\n      - {step}\n      - run: {START}\n"
    found = findings(tmp_path, {GITHUB: text, **files}, select=("SHM102",))
    assert [finding.severity for finding in found] == (["error"] if is_known else [])


@table(
    "include, included, is_known",
    [
        ("[{local: /more.yml}]", "t: {variables: {SHM: 16g}}\n", False),
        ("more.yml", "variables: {SHM: 16g}\n", False),
        ("[{remote: 'https://example.com/x.yml'}]", "", False),
        ("[{template: Jobs/Build.gitlab-ci.yml}]", "", False),
        ("[{local: gone.yml}]", "", False),
        ("[{local: more.yml}]", "t: {variables: {A: b}}\n", True),
    ],
)
def test_gitlab(tmp_path: Path, include: str, included: str, is_known: bool) -> None:
    text = f"include: {include}\nvariables: {{SHM: 64m}}\nt:\n  script:\n    - {START}\n"
    files = {".gitlab-ci.yml": text, **({"more.yml": included} if included else {})}
    found = findings(tmp_path, files, select=("SHM102",))
    assert [finding.severity for finding in found] == (["error"] if is_known else [])


def test_what_a_job_of_gitlab_sets_itself_wins(tmp_path: Path) -> None:
    text = f"include: more.yml\nt:\n  variables: {{SHM: 64m}}\n  script:\n    - {START}\n"
    files = {".gitlab-ci.yml": text, "more.yml": "t: {variables: {SHM: 16g}}\n"}
    assert [finding.severity for finding in findings(tmp_path, files, select=("SHM102",))] == ["error"]

"""Variables of Compose files that the repository's own scripts give another value."""

from __future__ import annotations

from pathlib import Path

from tests import project
from tests.table import table

TEXT = """\
services:
  a:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    gpus: all
    shm_size: ${SHM:-64m}
    command: torchrun --nproc_per_node=8 train.py
"""
WORKFLOW = "on: push\njobs:\n  a:\n    runs-on: x\n    env:\n      SHM: 16g\n    steps:\n    - run: {}\n"


@table(
    "files, rules",
    [
        ({}, ["SHM102"]),
        ({"up.sh": "SHM=16g docker compose up -d\n"}, []),
        ({"up.sh": "export SHM=16g\ndocker-compose up -d\n"}, []),
        ({"up.sh": "export SHM=64m\ndocker compose up -d\n"}, ["SHM102"]),
        ({"up.sh": "export SHM=16g\n./other\n"}, ["SHM102"]),
        ({"up.sh": "docker compose up -d --build MY_SHM=16g\n"}, ["SHM102"]),
        ({"Makefile": "export SHM := 16g\nup:\n\tdocker compose up\n"}, []),
        ({"Makefile": "up:\n\tdocker compose --env-file prod.env up\n", "prod.env": "SHM=16g\n"}, []),
        ({"Makefile": "up:\n\tdocker compose --env-file=x/prod.env up\n", "x/prod.env": "SHM=64m\n"}, ["SHM102"]),
        ({"scripts/up.sh": "SHM=16g docker compose up -d\n"}, []),
        ({".github/workflows/a.yml": WORKFLOW.format("docker compose up")}, []),
        ({".github/workflows/a.yml": WORKFLOW.format("make")}, ["SHM102"]),
        ({".envrc": "export SHM=16g\n"}, []),
        ({".envrc": 'PATH_add bin\nexport SHM="16g" OTHER=1\n'}, []),
        ({".envrc": "dotenv gpu.env\n", "gpu.env": "SHM=16g\n"}, []),
        ({".envrc": "dotenv_if_exists gpu.env\n", "gpu.env": "# SHM=16g\nMY_SHM=16g\n"}, ["SHM102"]),
        ({".envrc": "source_env gpu/.envrc\n", "gpu/.envrc": "export SHM=16g\n"}, []),
        ({".envrc": "source_env .envrc\nsource_env gone\nexport SHM=64m\n"}, ["SHM102"]),
        ({".envrc": "SHM=16g\n"}, ["SHM102"]),
        ({"sub/.envrc": "export SHM=16g\n"}, ["SHM102"]),
        ({"README.md": "```\nSHM=16g docker compose up -d\n```\n"}, ["SHM102"]),
        ({"README.markdown": "```\nSHM=16g docker compose up -d\n```\n"}, ["SHM102"]),
    ],
)
def test_a_default_that_a_launcher_replaces(tmp_path: Path, files: dict[str, str], rules: list[str]) -> None:
    found = project.findings(tmp_path, {"compose.yaml": TEXT, **files})
    assert [one.rule for one in found if one.severity == "error"] == rules
    changed = project.fixed(tmp_path, {"compose.yaml": TEXT, **files})
    assert bool(changed) == (bool(rules) and not any("SHM=64m" in text for text in files.values()))


@table("place", ["deploy", "deploy/gpu"])
def test_a_launcher_above_the_file_counts_where_it_is_near(tmp_path: Path, place: str) -> None:
    files = {f"{place}/compose.yaml": TEXT, "up.sh": f"SHM=16g docker compose -f {place}/compose.yaml up\n"}
    errors = [one.rule for one in project.findings(tmp_path, files) if one.severity == "error"]
    assert errors == ([] if place == "deploy" else ["SHM102"])


IN_DOCKER = {"docker/compose.yaml": TEXT, "docker/.env": "SHM=48m\n", ".env": "SHM=20g\n"}
BESIDE = {"compose.yaml": TEXT, ".env": "SHM=48m\n"}
LINE = "docker compose {} -f docker/compose.yaml up\n"


@table(
    "files, errors",
    [
        ({**IN_DOCKER}, 1),
        ({**IN_DOCKER, "up.sh": LINE.format("--project-name x")}, 1),
        ({**IN_DOCKER, "up.sh": LINE.format("--project-directory docker")}, 1),
        ({**IN_DOCKER, "up.sh": LINE.format("--project-directory .")}, 0),
        ({**IN_DOCKER, "up.sh": LINE.format('--project-directory="$PWD"')}, 0),
        ({**IN_DOCKER, "docker/up.sh": LINE.format('--project-directory "$(dirname "$0")/.."')}, 0),
        ({**IN_DOCKER, "docker/up.sh": LINE.format('--project-directory "$ROOT"')}, 0),
        ({**IN_DOCKER, ".env": "SHM=48m\n", "up.sh": LINE.format('--project-directory "$ROOT"')}, 1),
        ({**IN_DOCKER, "Makefile": "up:\n\t" + LINE.format("--project-directory=./")}, 0),
        ({**IN_DOCKER, ".env": "SHM=48m\n", "up.sh": LINE.format("--project-directory .")}, 1),
        ({**IN_DOCKER, "docker/up.sh": "docker compose --project-directory .. up\n"}, 0),
        ({**BESIDE, "up.sh": "docker compose up\n"}, 1),
        ({**BESIDE, "up.sh": "docker compose --env-file .env up\n"}, 1),
        ({**BESIDE, "up.sh": "docker compose --env-file big.env up\n", "big.env": "SHM=20g\n"}, 0),
        ({**BESIDE, "up.sh": "SHM=20g docker compose up\n"}, 0),
        ({**BESIDE, "up.sh": "set -a; . ./.env; set +a\ndocker compose up\n"}, 1),
        ({**BESIDE, "Makefile": "include .env\nexport\nup:\n\tdocker compose up\n"}, 1),
        ({**BESIDE, ".env.example": "SHM=20g\n"}, 1),
        ({**BESIDE, "sub/.env": "SHM=20g\n", "sub/up.sh": "docker compose up\n"}, 0),
        ({**BESIDE, "sub/.env": "SHM=20g\n", "sub/up.sh": "docker compose -f ../compose.yaml up\n"}, 1),
        ({**BESIDE, "sub/.env": "SHM=20g\n"}, 1),
    ],
)
def test_an_env_file_that_a_launcher_replaces(tmp_path: Path, files: dict[str, str], errors: int) -> None:
    """Compose reads the env file of the project's directory, unless a command names another; the shell comes first."""
    for size in ("${SHM:-64m}", "${SHM}"):
        texts = {name: text.replace("${SHM:-64m}", size) for name, text in files.items()}
        found = project.findings(tmp_path, texts)
        assert [(one.rule, one.severity) for one in found] == [("SHM102", "error")] * errors, size
        assert project.fixed(tmp_path, texts) == {}


def test_an_env_file_that_no_start_reads_does_not_keep_a_default(tmp_path: Path) -> None:
    files = {**IN_DOCKER, ".env": "X=1\n", "up.sh": LINE.format("--project-directory .")}
    assert list(project.fixed(tmp_path, files)) == ["docker/compose.yaml"]


@table(("own", "errors"), [(None, []), ("export SHM=64m\n", ["SHM102"]), ("source_up\nexport A=1\n", [])])
def test_direnv_reads_the_nearest_file(tmp_path: Path, own: str | None, errors: list[str]) -> None:
    (tmp_path / ".git").mkdir()
    files = {"deploy/gpu/compose.yaml": TEXT, ".envrc": "export SHM=16g\n"}
    files |= {"deploy/gpu/.envrc": own} if own is not None else {}
    found = [one.rule for one in project.findings(tmp_path, files) if one.severity == "error"]
    assert found == errors

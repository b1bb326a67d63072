"""Services in which files of the repository run other commands than their own."""

from __future__ import annotations

from pathlib import Path

from tests.project import fixed, run
from tests.table import table

PYTORCH = "nvcr.io/nvidia/pytorch:24.01-py3"
SERVICE = f"services:\n  a:\n    image: {PYTORCH}\n    command: python -c 'print(1)'\n    gpus: all\n"
TRAIN = "torchrun --nproc_per_node=8 train.py"
OTHER = "services:\n  b:\n    image: redis\n"


@table(
    ("files", "verdict"),
    [
        ({}, "not-needed"),
        ({"run.sh": f"docker compose run --rm a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"docker-compose -f compose.yaml exec -T a {TRAIN}\n"}, "needed"),
        ({"Makefile": f"t:\n\tdocker compose run --rm a {TRAIN}\n"}, "needed"),
        ({"README.md": f"```sh\ndocker compose run --rm a {TRAIN}\n```\n"}, "needed"),
        ({"scripts/run.sh": f"docker compose run --rm a nvidia-smi\ndocker compose run a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"docker compose --progress plain exec a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"docker --context gpu compose -p x exec -Tu root --index=1 a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"sudo -E -u me env X=1 /usr/bin/docker compose exec a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"X=1 time podman compose run --pull always --cap-add SYS_PTRACE a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"nerdctl compose run -v x:/y a {TRAIN}\npodman-compose up\n"}, "needed"),
        ({"run.sh": f"timeout 60 podman-compose --in-pod 1 exec a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"COMPOSE_FILE=compose.yaml docker compose exec a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"COMPOSE_FILE=other.yaml docker compose exec a {TRAIN}\n"}, "not-needed"),
        ({"run.sh": f"docker compose -fother.yaml exec a {TRAIN}\n"}, "not-needed"),
        ({"run.sh": f"announce docker compose exec a {TRAIN}\n"}, "not-needed"),
        ({"run.sh": f"docker compose --progress exec a {TRAIN}\n"}, "not-needed"),
        ({"run.sh": "docker compose run --rm a nvidia-smi\n"}, "not-needed"),
        ({"run.sh": "docker compose up a\n"}, "not-needed"),
        ({"run.sh": 'docker compose run --rm a "$@"\n'}, "not-needed"),
        ({"run.sh": f"docker compose run --rm b {TRAIN}\n"}, "not-needed"),
        ({"run.sh": f"docker compose run --entrypoint sh a {TRAIN}\n"}, "not-needed"),
        ({"run.sh": f"# docker compose run --rm a {TRAIN}\necho 'docker compose run a {TRAIN}'\n"}, "not-needed"),
        ({"run.sh": f"docker compose -f other.yaml run --rm a {TRAIN}\n"}, "not-needed"),
        ({"guide.md": f"```sh\ndocker compose run --rm a {TRAIN}\n```\n"}, "not-needed"),
    ],
)
def test_a_service_is_judged_by_what_is_run_in_it(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    result = run(tmp_path, {"compose.yaml": SERVICE, **files})
    assert result.need(result.launches[0]).verdict == verdict
    assert bool(fixed(tmp_path, {"compose.yaml": SERVICE, **files})) == (verdict == "needed")


@table(
    ("files", "verdict"),
    [
        ({"run.sh": f"docker compose -f gpu/compose.yaml run a {TRAIN}\n"}, "needed"),
        ({"compose.yaml": OTHER, "run.sh": f"docker compose -f gpu/compose.yaml run a {TRAIN}\n"}, "needed"),
        ({"run.sh": f"cd gpu\ndocker compose run a {TRAIN}\n"}, "needed"),
        ({"compose.yaml": OTHER, "run.sh": f"docker compose run a {TRAIN}\n"}, "not-needed"),
        ({"compose.yaml": OTHER, "run.sh": f"docker compose -f compose.yaml run a {TRAIN}\n"}, "not-needed"),
    ],
)
def test_a_command_is_for_one_of_several_compose_files(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    result = run(tmp_path, {"gpu/compose.yaml": SERVICE, ".git/HEAD": "", **files})
    assert [result.need(one).verdict for one in result.launches if one.name == "a"] == [verdict]


def test_the_entrypoint_of_the_service_is_that_of_a_container_that_is_run(tmp_path: Path) -> None:
    service = SERVICE.replace("    gpus", "    entrypoint: [echo]\n    gpus")
    for verb, verdict in (("run", "not-needed"), ("exec", "needed")):
        result = run(tmp_path, {"compose.yaml": service, "run.sh": f"docker compose {verb} a {TRAIN}\n"})
        assert result.need(result.launches[0]).verdict == verdict


def test_a_finding_names_the_line_that_runs_the_command(tmp_path: Path) -> None:
    (found,) = run(tmp_path, {"compose.yaml": SERVICE, "run.sh": f"\ndocker compose run a {TRAIN}\n"}).findings
    places = {(one.span.path, one.span.line) for one in found.evidence if one.span is not None}
    assert (found.severity, ("run.sh", 2) in places) == ("error", True)

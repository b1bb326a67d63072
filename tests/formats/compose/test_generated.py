"""Compose files that a script writes or changes before it starts them."""

from __future__ import annotations

from pathlib import Path

from tests import project
from tests.table import table

TEXT = """\
services:
  web:
    image: nginx
  a:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: torchrun --nproc_per_node=8 train.py
    gpus: all
"""
MORE = "services:\n  a:\n    restart: always\n    shm_size: 24g\n"
EOF = f"<<'EOF'\n{MORE}EOF\n"
UP = "docker compose up -d\n"
RUN = "jobs:\n  a:\n    steps:\n      - run: |\n"
STEP = "".join(f"          {line}\n" for line in f"cat > compose.override.yaml {EOF}{UP}".splitlines())


@table(
    ("path", "text"),
    [
        ("up.sh", f"cat > compose.override.yaml {EOF}{UP}"),
        ("up.sh", f"cat >./docker-compose.override.yml {EOF}{UP}"),
        ("up.sh", f"cat > compose.override.yaml <<EOF\n{MORE.replace('24g', '${SHM}')}EOF\n{UP}"),
        ("up.sh", f"cat > compose.override.yaml <<EOF\n{MORE.replace('shm_size: 24g', 'ipc: host')}EOF\n{UP}"),
        ("up.sh", f'cat > "$HERE/compose.override.yaml" {EOF}{UP}'),
        ("up.sh", f"sudo tee compose.override.yaml >/dev/null {EOF}{UP}"),
        ("up.sh", f"cat {EOF.partition(chr(10))[0]} | tee compose.override.yaml\n{MORE}EOF\n{UP}"),
        ("up.sh", f"printf 'services:\\n  a:\\n    shm_size: 24g\\n' > compose.override.yaml\n{UP}"),
        ("up.sh", f'echo "services: {{a: {{shm_size: 24g}}}}" > compose.override.yaml\n{UP}'),
        ("up.sh", f"cat > compose.yaml <<'EOF'\n{TEXT}    shm_size: 24g\nEOF\n{UP}"),
        ("up.sh", f"cat > big.yaml {EOF}docker compose -f compose.yaml -f big.yaml up -d\n"),
        ("up.sh", f"cat > big.yaml {EOF}COMPOSE_FILE=compose.yaml:big.yaml docker compose up -d\n"),
        ("up.sh", f"cat > tmp/big.yaml {EOF}docker-compose --file=compose.yaml --file=tmp/big.yaml up -d\n"),
        ("up.sh", f"docker compose -f compose.yaml -f - up -d {EOF}"),
        ("up.sh", f"cat {EOF.partition(chr(10))[0]} | docker compose -f compose.yaml -f - up -d\n{MORE}EOF\n"),
        ("scripts/up.sh", f"cat > ../compose.override.yaml {EOF}cd .. && {UP}"),
        ("up.sh", f"yq -i '.services.a.shm_size = \"24g\"' compose.yaml\n{UP}"),
        ("up.sh", f"yq eval --inplace \".services.a.shm_size = env(SHM)\" ./compose.yaml\n{UP}"),
        ("up.sh", f"yq -i '.services[] |= . + {{\"ipc\": \"host\"}}' compose.yaml\n{UP}"),
        ("Makefile", "up:\n\techo 'services: {a: {shm_size: 24g}}' > compose.override.yaml\n\t" + UP),
        (".github/workflows/a.yml", RUN + STEP),
    ],
)
def test_a_size_that_a_script_adds_is_not_known(tmp_path: Path, path: str, text: str) -> None:
    files = {"compose.yaml": TEXT, path: text}
    launches = project.run(tmp_path, files).launches
    (launch,) = (one for one in launches if one.gpu.requested and one.span.path == "compose.yaml")
    assert launch.effective_shm().decided_by == "unknown"
    assert launch.undecided is not None and path in launch.undecided.because
    assert [one.rule for one in project.findings(tmp_path, files)] == []
    assert project.fixed(tmp_path, files) == {}


@table(
    ("path", "text"),
    [
        ("up.sh", UP),
        ("up.sh", f"cat > compose.override.yaml <<EOF\n{MORE.replace('  shm_size: 24g', '  tty: true')}EOF\n{UP}"),
        ("up.sh", f"cat > compose.override.yaml <<EOF\n{MORE.replace('  a:', '  web:')}EOF\n{UP}"),
        ("up.sh", f"cat > compose.override.yaml <<EOF\n{MORE.replace('  a:', '  not-a:')}EOF\n{UP}"),
        ("up.sh", f"cat > other/compose.override.yaml {EOF}cd other && {UP}"),
        ("up.sh", f"cat > big.yaml {EOF}docker compose -f compose.yaml up -d\n"),
        ("up.sh", f"docker compose -f other.yaml -f - up -d {EOF}"),
        ("up.sh", f"yq '.services.a.shm_size' compose.yaml\n{UP}"),
        ("up.sh", f"yq -i '.services.web.shm_size = \"24g\"' compose.yaml\n{UP}"),
        ("up.sh", f"yq -i '.services.a.shm_size = \"24g\"' other.yaml\n{UP}"),
        ("README.md", f"```sh\ncat > compose.override.yaml {EOF}{UP}```\n"),
    ],
)
def test_what_says_nothing_of_the_service_changes_nothing(tmp_path: Path, path: str, text: str) -> None:
    files = {"compose.yaml": TEXT, path: text}
    assert [one.rule for one in project.findings(tmp_path, files) if one.severity == "error"] == ["SHM101"]
    assert "shm_size: 8gb" in project.fixed(tmp_path, files)["compose.yaml"]


def test_a_size_that_a_script_may_replace_is_no_error(tmp_path: Path) -> None:
    files = {"compose.yaml": f"{TEXT}    shm_size: 80m\n", "up.sh": f"cat > compose.override.yaml {EOF}{UP}"}
    assert [(one.rule, one.severity) for one in project.findings(tmp_path, files)] == [("SHM102", "warning")]

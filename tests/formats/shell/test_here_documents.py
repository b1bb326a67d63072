"""Compose files in the here-documents of scripts."""

from __future__ import annotations

from pathlib import Path

from shmlint.api import lint
from tests.project import fixed, run
from tests.table import table

SERVICE = """services:
  a:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    gpus: all
    command: torchrun --nproc_per_node=8 {}
"""


@table(
    ("command", "end"),
    [
        ("cat > compose.yaml <<'EOF'", "EOF"), ("cat <<EOF > compose.yaml", "EOF"), ('cat <<"X_Y" >> a.yml', "X_Y"),
        ("sudo tee a/compose.yaml >/dev/null <<\\EOF", "EOF"), ("docker compose -f - up -d <<EOF", "EOF"),
    ],
)  # fmt: skip
def test_a_compose_file_in_a_here_document_is_read_and_mended(tmp_path: Path, command: str, end: str) -> None:
    text = f"#!/bin/sh\n{command}\n{SERVICE.format('t.py')}{end}\ndocker compose up -d\n"
    started = run(tmp_path, {"up.sh": text})
    found = [(launch.name, launch.span.line, launch.gpu.requested) for launch in started.launches]
    assert found == [("a", 4, True)]
    after = text.replace("    gpus: all\n", "    gpus: all\n    shm_size: 8gb\n")
    assert fixed(tmp_path, {"up.sh": text}) == {"up.sh": after}


@table("before", ["# cat <<EOF\n", "echo '<<EOF'\n", "x=$((1 <<EOF))\n", "cat <<A <<'B'\nx\nA\ny\nB\n"])
def test_what_only_looks_like_one_is_none(tmp_path: Path, before: str) -> None:
    text = f"{before}cat > compose.yaml <<'END'\n{SERVICE.format('t.py')}END\ndocker compose up -d\n"
    assert [launch.name for launch in run(tmp_path, {"up.sh": text}).launches] == ["a"]


@table("value", ["$SCRIPT", "`cat program`", "a\\$b.py"])
def test_what_the_shell_changes_is_told(tmp_path: Path, value: str) -> None:
    text = f"docker ps\ncat > compose.yaml <<EOF\n{SERVICE.format(value)}EOF\n"
    started = run(tmp_path, {"up.sh": text})
    assert list(started.launches) == []
    told = [(place.span.line, place.because) for place in started.not_read]
    assert told == [(6, "the shell puts values into this Compose file")]
    literal = run(tmp_path, {"up.sh": text.replace("<<EOF", "<<'EOF'")})
    assert [launch.name for launch in literal.launches] == ["a"]


def test_what_is_no_yaml_is_told(tmp_path: Path) -> None:
    text = f"docker ps\ncat > compose.yaml <<'EOF'\n{SERVICE.format('t.py')}    ...\nEOF\n"
    started = run(tmp_path, {"up.sh": text, "a.md": f"```sh\n{text}```\n"})
    assert list(started.launches) == []
    found = [(place.span.path, place.span.line, place.because.partition(":")[0]) for place in started.not_read]
    because = "the Compose file around it is not valid YAML in line"
    assert sorted(found) == [("a.md", 7, f"{because} 9"), ("up.sh", 6, f"{because} 8")]


@table(
    "text",
    [
        "cat > x.yaml <<'EOF'\nservices:\n  - a\nEOF\ndocker ps\n",
        "cat > x.yaml <<'EOF'\nservices:\n  a: [\nEOF\ndocker ps\n",
        "cat > x.yaml <<'EOF'\nservices:\n  a:\n    gpus: all\n",
        "echo services:\ndocker ps\n",
        f"cat <<<EOF\n{SERVICE}EOF\ndocker ps\n",
        f"cat <<'A'\ntext\nA\n: <<-B\n{SERVICE}B\ndocker ps\n",
    ],
)
def test_other_here_documents_hold_no_services(tmp_path: Path, text: str) -> None:
    started = run(tmp_path, {"up.sh": text})
    assert ([*started.launches], [*started.findings]) == ([], [])


MANIFEST = """apiVersion: v1
kind: Pod
spec:
  containers:
  - image: nvcr.io/nvidia/pytorch:24.01-py3
    resources: {limits: {nvidia.com/gpu: 8}}
"""
STEP = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: |\n"


@table(
    ("path", "before"),
    [
        ("up.sh", ""), ("README.md", "```bash\n"), (".github/workflows/a.yml", STEP), ("Jenkinsfile", "sh '''\n"),
        ("Taskfile.yml", "version: 3\ntasks:\n  a:\n    cmds:\n    - |\n"),
    ],
)  # fmt: skip
@table("start", ["kubectl apply -f - <<EOF", "cat <<'EOF' | kubectl apply -f -", "tee a.yml <<-\\EOF"])
def test_a_manifest_in_a_here_document_is_told(tmp_path: Path, path: str, before: str, start: str) -> None:
    text = f"docker ps\n{start}\n{MANIFEST}EOF\n"
    indented = "".join(f"        {line}\n" for line in text.splitlines()) if path.endswith(".yml") else text
    started = run(tmp_path, {path: before + indented})
    told = [(place.span.line, place.because) for place in started.not_read]
    line = before.count("\n") + 8
    assert told == [(line, "Kubernetes manifests in here-documents are not read")]
    assert list(run(tmp_path, {path: (before + indented).replace("gpu: 8", "cpu: 8")}).not_read) == []


def test_a_script_that_names_no_engine_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "up.sh").write_text(f"kubectl apply -f - <<EOF\n{MANIFEST}EOF\n")
    assert [place.line for place in lint([tmp_path], root=tmp_path).not_read] == [7]


@table("command", ["cat > compose.yaml <<'EOF'", "docker compose -f - up -d <<EOF"])
def test_a_compose_file_that_a_document_writes_is_read_and_mended(tmp_path: Path, command: str) -> None:
    text = f"# A\n\n```bash\n{command}\n{SERVICE.format('t.py')}EOF\ndocker compose up -d\n```\n"
    started = run(tmp_path, {"README.md": text})
    assert [(launch.name, launch.span.line) for launch in started.launches] == [("a", 6)]
    after = text.replace("    gpus: all\n", "    gpus: all\n    shm_size: 8gb\n")
    assert fixed(tmp_path, {"README.md": text}) == {"README.md": after}


def test_a_compose_file_in_a_workflow_is_told(tmp_path: Path) -> None:
    text = f"cat > compose.yaml <<'EOF'\n{SERVICE.format('t.py')}EOF\ndocker compose up -d\n"
    indented = "".join(f"        {line}\n" for line in text.splitlines())
    started = run(tmp_path, {".github/workflows/a.yml": STEP + indented})
    told = [(place.span.line, place.because) for place in started.not_read]
    assert told == [(11, "Compose files in here-documents are only read in scripts and documents")]

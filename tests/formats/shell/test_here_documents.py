"""Compose files in the here-documents of scripts."""

from __future__ import annotations

from pathlib import Path

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

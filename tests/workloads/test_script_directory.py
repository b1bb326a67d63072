"""The directory that a script finds from its own name."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import LOADER, need


@table(
    "before, mount, read",
    [
        ('D="$( cd "$( dirname "${BASH_SOURCE[0]}" )" &> /dev/null && pwd )"', "$D", "tools/fit.py"),
        ('D="$(cd -- "$(dirname -- "$0")" >/dev/null 2>&1 ; pwd -P)"', "$D/../other", "other/fit.py"),
        ('D="$(cd "$(dirname "$0")/../other" && pwd)"', '"$D"', "other/fit.py"),
        ("D=$(cd `dirname $0`; pwd)", "$D/", "tools/fit.py"),
        ("D=$(dirname $(readlink -f $0))", "$D/../other", "other/fit.py"),
        ('ROOT_DIR="$(realpath "$(dirname "$0")"/..)"', "${ROOT_DIR}/other", "other/fit.py"),
        ('D="$(cd "$(dirname "$0")" && pwd)"\nROOT="$(dirname "$D")"', "$ROOT/other", "other/fit.py"),
        ("D=$(dirname $0)\nROOT=$(cd $D/.. && pwd)", "$ROOT/other", "other/fit.py"),
        ("", "$(dirname $(dirname $(realpath $0)))/other", "other/fit.py"),
        ("", "$(git rev-parse --show-toplevel)/other", "other/fit.py"),
        # What the reader does not know is at most a guess
        ("D=$(dirname $(dirname $0))", "$D/other", "other/fit.py (guessed)"),
        ("D=$(dirname $0)", "$D", "tools/fit.py (guessed)"),
        ("D=$(cd $(dirname $0)/$1 && pwd)", "$D", "tools/fit.py (guessed)"),
        ('D="$(cd "$(dirname "$0")" && ls)"', "$D", "tools/fit.py (guessed)"),
        ("D=$(realpath --relative-to=/x $0)", "$D", "tools/fit.py (guessed)"),
        ("D=$(dirname $0)\nif x; then D=/x; fi\nR=$(realpath $D)", "$R", "tools/fit.py (guessed)"),
        ("D=$(dirname $0)\nfor D in a b; do :; done\nR=$(realpath $D)", "$R", "tools/fit.py (guessed)"),
        ("D=$(dirname $0)\n. env.sh\nR=$(realpath $D)", "$R", "tools/fit.py (guessed)"),
        ("D=$(realpath $D)", "$D", "tools/fit.py (guessed)"),
        ("D=$(git rev-parse --show-toplevel | tail -1)", "$D/tools", "tools/fit.py (guessed)"),
    ],
)
def test_a_directory_that_a_script_finds_from_its_own(tmp_path: Path, before: str, mount: str, read: str) -> None:
    text = f"#!/bin/bash\n{before}\ndocker run --gpus all -v {mount}:/w -w /w me/image python fit.py\n"
    files = {"tools/run.sh": text, "tools/fit.py": LOADER, "other/fit.py": LOADER}
    assert [step.text for step in need(tmp_path, files).trail] == [read]


@table(
    "name, first, read",
    [
        ("run.sh", "#!/bin/sh\n", "fit.py"), ("start", "#!/usr/bin/env bash\n", "fit.py"),
        ("lib.sh", "", "fit.py (guessed)"), ("Makefile", "x:\n\t", "fit.py (guessed)"),
    ],
)  # fmt: skip
def test_only_a_script_that_is_started_has_its_own_name(tmp_path: Path, name: str, first: str, read: str) -> None:
    mount = "$$(dirname $$(realpath $$0))" if name == "Makefile" else "$(dirname $(realpath $0))"
    text = f"{first}docker run --gpus all -v {mount}:/w -w /w me/image python fit.py\n"
    assert [step.text for step in need(tmp_path, {name: text, "fit.py": LOADER}).trail] == [read]


@table(
    "start, read",
    [
        ("cat > /opt/start.sh <<'END'\nRUN\nEND\n", "fit.py (guessed)"),
        ("ssh host <<END\nRUN\nEND\n", "fit.py (guessed)"),
        ("bash -c 'RUN'\n", "fit.py (guessed)"),
        ("bash -lc '\n  echo\n  RUN'\n", "fit.py (guessed)"),
        ("ssh host 'RUN'\n", "fit.py (guessed)"),
        ("cat <<END\ntext\nEND\nRUN\n", "fit.py"),
        ("cat <<< END\nRUN\n", "fit.py"),
        ("echo 'done'\nX='a'\nRUN\n", "fit.py"),
        ('bash -c "RUN"\n', "fit.py"),
    ],
)
def test_a_command_for_another_shell_has_not_the_script_s_name(tmp_path: Path, start: str, read: str) -> None:
    text = start.replace("RUN", "docker run --gpus all -v $(dirname $(realpath $0)):/w -w /w me/image python fit.py")
    found = need(tmp_path, {"run.sh": f"#!/bin/bash\n{text}", "fit.py": LOADER})
    assert [step.text for step in found.trail] == [read]

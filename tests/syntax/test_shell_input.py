"""Commands that are given what they run on their standard input."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.model.source import Source
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_input import with_input
from shmlint.syntax.shell_text import whole
from tests.table import table
from tests.workloads.cases import LOADER, PYTORCH, need


@table(
    ("command", "words"),
    [
        ("bash -s a b <<'E'\ntrain $1\nE", ["bash", "-c", "train $1\n", "bash", "a", "b"]),
        ("bash -e -s -- a <<'E'\ntrain\nE", ["bash", "-e", "-c", "train\n", "bash", "a"]),
        ("sudo -u me sh <<E\ntrain\nE", ["sudo", "-u", "me", "sh", "-c", "train\n", "sh"]),
        ("/bin/bash - <<<'train'", ["/bin/bash", "-c", "train", "/bin/bash"]),
        ("N=4; bash <<E\ntrain $N \\$N\nE", ["bash", "-c", "train 4 $N\n", "bash"]),
        ("bash <<-E\n\ttrain\n\tE", ["bash", "-c", "train\n\t", "bash"]),
        ("python3 -u - a <<'E'\nimport x\nE", ["python3", "-u", "-c", "import x\n", "a"]),
        ("python3 - \"$PWD\" <<'E'\nimport x\nE", ["python3", "-c", "import x\n", "$PWD"]),
        ("python3 $OPTS <<'E'\nimport x\nE", ["python3", "$OPTS"]),
        ("bash <<'E' | tee log\ntrain\nE", ["bash", "-c", "train\n", "bash"]),
        ("su - me <<E\ntrain\nE", ["su", "-", "me", "-c", "train\n"]),
        # these run something else, or other input
        ("su me -c 'cat' <<'E'\nyes\nE", ["su", "me", "-c", "cat"]),
        ("bash run.sh <<'E'\nyes\nE", ["bash", "run.sh"]),
        ("bash -c 'cat' <<'E'\nyes\nE", ["bash", "-c", "cat"]),
        ("python -m serve <<'E'\nyes\nE", ["python", "-m", "serve"]),
        ("cat <<'E'\nbash\nE", ["cat"]),
        ("bash < run.sh", ["bash"]),
        ("bash <<'E' < run.sh\ntrain\nE", ["bash"]),
    ],
)
def test_the_text_becomes_an_argument(command: str, words: list[str]) -> None:
    source = Source("run.sh", command)
    found = next(one for one in commands(whole(source, 0, len(command))) if "=" not in one.words[0].text)
    given = found.words if found.given is None else with_input(found.words, found.given)
    assert [word.text for word in given] == words


_START = f"docker run --rm OPTION --gpus all -v $PWD:/app -w /app {PYTORCH} "
_OWN = "def thing(x): return x\n"
_PRINTS = "import torch\nfrom own import thing\nfor one in range(3):\n    print(thing(torch.ones(one)))\n"
_LOADS = (
    "from torch.utils.data import DataLoader\nfrom torchvision.transforms import RandomResizedCrop\n"
    "from own import thing\nfor batch in DataLoader(thing(RandomResizedCrop(224)), 64, num_workers=COUNT):\n    pass\n"
)


@table(
    ("command", "option", "verdict"),
    [
        ("bash -s <<'E'\npython train.py\nE", "-i", "needed"),
        ("bash -s -- 0 <<'E'\npython train.py --workers $1\nE", "-i", "not-needed"),
        ("bash <<'E'\npython train.py --workers 0\nE", "-i", "not-needed"),
        ("bash <<'E'\npython train.py --workers 0\nE", "-t", "likely"),
        ("bash <<E\npython train.py --workers $COUNT\nE", "-i", "unknown"),
        ("bash <<< 'python train.py'", "-i", "needed"),
        (f"python - <<'E'\n{_LOADS.replace('COUNT', '8')}E", "-i", "needed"),
        (f"python - <<'E'\n{_LOADS.replace('COUNT', '0')}E", "-i", "not-needed"),
        (f"bash <<'E'\npython - <<'P'\n{_LOADS.replace('COUNT', '8')}P\nE", "-i", "needed"),
        (f'python -c "{_LOADS.replace("COUNT", "8")}"', "", "needed"),
        (f'python -c "{_PRINTS}"', "", "not-needed"),
        (f"python - <<'E'\n{_PRINTS}E", "-i", "not-needed"),
    ],
)
def test_what_a_container_is_given_is_what_it_runs(tmp_path: Path, command: str, option: str, verdict: str) -> None:
    files = {"run.sh": _START.replace("OPTION", option) + command, "train.py": LOADER, "own.py": _OWN}
    assert need(tmp_path, files).verdict == verdict


@pytest.mark.parametrize("start", ["", "if true; then\n", "echo é\n\n"])
def test_places_in_code_of_a_command_are_those_of_its_file(tmp_path: Path, start: str) -> None:
    end = "\nfi" if start.startswith("if") else ""
    text = f"{start}{_START.replace('OPTION', '-i')}python - <<'E'\n{_LOADS.replace('COUNT', '8')}E{end}\n"
    found = need(tmp_path, {"run.sh": text, "own.py": _OWN})
    places = {one.span.path: one.span.line for one in found.evidence if one.span is not None and "workers" in one.text}
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "num_workers" in one)
    assert places == {"run.sh": line}

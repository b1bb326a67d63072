"""Commands of pages that are meant as they are."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, fixed
from tests.table import table

PLAIN = "docker run --gpus all -v $PWD:/w nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py"
MORE = PLAIN.replace("--gpus all", "--gpus all --shm-size=16g")


def page(*commands: str) -> str:
    return "# Page\n\n" + "\nOr:\n\n".join(f"```bash\n{command}\n```\n" for command in commands)


@table(
    "name, text",
    [
        ("README.md", page(PLAIN, MORE)),
        ("docs/trouble.mdx", page(MORE, PLAIN)),
        ("README.md", page(PLAIN.replace("all", "all --shm-size=64m"), PLAIN.replace("all", "all --ipc=host"))),
        ("README.md", page(f"# fails:\n{PLAIN}\n# works:\n{MORE}")),
        ("README.md", page(f"# fails:\n{PLAIN}", f"# works:\n{MORE}").replace("```bash", "```")),
        ("guide.rst", f"Run::\n\n    # fails:\n    {PLAIN}\n\nRun::\n\n    # works:\n    {MORE}\n"),
        ("CHANGELOG.md", f"# Changes\n\n- `{PLAIN}` ran into a bus error\n"),
        ("docs/release-notes.md", page(PLAIN)),
    ],
)
def test_a_command_that_may_be_meant_so_is_left_to_people(tmp_path: Path, name: str, text: str) -> None:
    (found,) = findings(tmp_path, {name: text})
    assert found.severity == "warning" and "page" in [reason.label for reason in found.why]
    assert fixed(tmp_path, {name: text}) == {}
    assert "--shm-size=8g" in fixed(tmp_path, {name: text}, unsafe=True)[name]


@table(
    "name, text",
    [
        ("README.md", page(PLAIN)),
        ("README.md", page(PLAIN, MORE.replace("train.py", "other.py"))),
        ("README.md", page(PLAIN, MORE.replace("docker run", "docker run --rm"))),
        ("README.md", f"{page(PLAIN)}\n## On several hosts\n{page(MORE)}"),
        ("README.md", f"{page(PLAIN)}On several hosts\n===============\n{page(MORE)}"),
        ("guide.rst", f"Run::\n\n    {PLAIN}\n\nSeveral hosts\n-------------\n\nRun::\n\n    {MORE}\n"),
        ("README.md", page(PLAIN, MORE.replace("$PWD:/w", "$PWD:/x"))),
        ("README.md", page(PLAIN, MORE.replace("16g", "64m"))),
        ("run.sh", f"{PLAIN}\n{MORE}\n"),
    ],
)
def test_other_commands_are_reported_and_fixed(tmp_path: Path, name: str, text: str) -> None:
    assert "error" in [found.severity for found in findings(tmp_path, {name: text})]
    assert name in fixed(tmp_path, {name: text})

"""Commands of pages that are meant as they are."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, fixed
from tests.table import table

PLAIN = "docker run --gpus all -v $PWD:/w nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py"
MORE = PLAIN.replace("--gpus all", "--gpus all --shm-size=16g")

SMALL = PLAIN.replace("--gpus all", "--gpus all --shm-size=64m")


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
        ("README.md", f"Do not run `{PLAIN}`: it lacks `--ipc=host`.\n"),
        ("README.md", f"- Start it.\n- With `{PLAIN}`\n  the workers die of a bus error.\n"),
        ("README.md", f"| Command | Result |\n|---|---|\n| `{PLAIN}` | Bus error |\n"),
        ("README.md", f"# Fails without `--shm-size`\n\n```bash\n{PLAIN}\n```\n"),
        ("README.md", f"The following crashes:\n\n    {PLAIN}\n\nGive it `--shm-size=8g`, or more.\n"),
        ("README.md", f"Crashes:\n\n1. So:\n   ```\n   {PLAIN}\n   ```\n   It crashes without `--shm-size 8g`.\n"),
        ("guide.rst", f"This crashes:\n\n.. code-block:: bash\n\n   {PLAIN}\n\nAdd ``--ipc=host`` to it.\n"),
        ("guide.rst", f"Run ``{PLAIN}``, which\nends with a bus error.\n"),
        ("README.md", f"```bash\n# ends with a bus error\n{PLAIN}\n```\n"),
        ("README.md", f"Run this, and raise `--shm-size=64m` to `--shm-size=16g`:\n\n```\n{SMALL}\n```\n"),
        ("README.md", f"```console\n$ {PLAIN}\nEpoch 1\nBus error (core dumped)\n```\n"),
        ("README.md", f"```\n$ {PLAIN}\nRuntimeError: unable to write: No space left on device\n$ ls\n```\n"),
        ("README.md", f"### Wrong\n\n```sh\n{PLAIN}\n```\n\n### Right\n\nMore of it.\n"),
        ("README.md", f"> I run `{PLAIN}` and get \"No space left on device\".\n"),
        ("README.md", f"With\n```sh\n{PLAIN}\n```\ntraining hangs, since /dev/shm is too small.\n"),
        ("README.md", f"```sh\n# no --shm-size is needed here\n{PLAIN}\n```\n"),
        (".github/ISSUE_TEMPLATE/bug.md", f"Command:\n\n```\n{PLAIN}\n```\n"),
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
        ("run.sh", f"# without --ipc=host\n{PLAIN}\n"),
        ("README.md", f"Run `{PLAIN}`.\n\nOf other containers: use `--ipc=host`.\n"),
        ("README.md", f"- Run `{PLAIN}`.\n- In the other container a bus error comes.\n"),
        ("README.md", f"| `{PLAIN}` | works |\n| `docker run --gpus all x` | Bus error |\n"),
        ("README.md", f"{page(PLAIN)}\n# Bus error\n\nSee below.\n"),
        ("README.md", f"```console\n$ {PLAIN}\n$ docker run x\nBus error\n```\n"),
        ("README.md", f"Run this.\n\n```bash\n{PLAIN}\n```\n\n```bash\nls\n```\n\nIt may need `--ipc=host`.\n"),
        ("README.md", f"{page(PLAIN)}\nFor training it is necessary to increase the shared memory (`--ipc=host`).\n"),
        ("README.md", f"With more data, use `--shm-size=16g`:\n\n```\n{PLAIN}\n```\n"),
        ("README.md", f"The option `--shm-size=64m` sets its size:\n\n```\n{SMALL}\n```\n"),
    ],
)
def test_other_commands_are_reported_and_fixed(tmp_path: Path, name: str, text: str) -> None:
    assert "error" in [found.severity for found in findings(tmp_path, {name: text})]
    assert name in fixed(tmp_path, {name: text})


def test_a_service_of_a_page_that_says_what_it_lacks_is_left_to_people(tmp_path: Path) -> None:
    service = (
        "services:\n  a:\n    image: nvcr.io/nvidia/pytorch:24.01-py3\n    gpus: all\n"
        "    command: torchrun --nproc_per_node=8 train.py\n"
    )
    for before, severity in (("Fails without `shm_size`:", "warning"), ("Works:", "error")):
        text = f"{before}\n\n```yaml\n{service}```\n"
        (found,) = findings(tmp_path, {"README.md": text})
        assert found.severity == severity
        assert bool(fixed(tmp_path, {"README.md": text})) == (severity == "error")

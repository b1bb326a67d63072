"""What stands for a value that is known elsewhere is shown as the file writes it, never as it was read."""

from __future__ import annotations

from pathlib import Path

from shmlint.reports import json
from tests import project
from tests.table import table

IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"


def commands(one: str) -> list[str]:
    """Commands with a placeholder in each part that is shown."""
    return [
        f"docker run --gpus all -v {one}:/dev/shm img:{one} python {one}.py",
        f"docker run {one} --gpus all {IMAGE} {one} x",
        f"docker run --gpus all --shm-size {one} {IMAGE} torchrun --nproc_per_node={one} x.py",
        f"docker run --gpus {one} {IMAGE} bash {one}.sh",
        f"docker run --gpus all --ipc={one} -e NCCL_DEBUG={one} -e NCCL_SOCKET_IFNAME={one} {IMAGE} ./{one}",
    ]


def ci(one: str) -> str:
    return "jobs:\n  a:\n    steps:\n" + "".join(f"      - run: {command}\n" for command in commands(one))


@table(
    ("path", "placeholder", "text"),
    [
        (".github/workflows/a.yml", "${{ matrix.some }}", ci("${{ matrix.some }}")),
        (".circleci/config.yml", "<< parameters.some >>", ci("<< parameters.some >>")),
        ("Jenkinsfile", "${params.some}",
         "node {\n" + "".join(f'  sh "{command}"\n' for command in commands("${params.some}")) + "}\n"),
        ("Taskfile.yml", "{{.SOME}}", "version: 3\ntasks:\n  a:\n    cmds:\n"
         + "".join(f"      - '{command}'\n" for command in commands("{{.SOME}}"))),
        ("a.sh", "{{ some }}", "".join(f"{command}\n" for command in commands("{{ some }}"))),
        ("a.sh", "{{ some | default('x') }}", "".join(f"{c}\n" for c in commands("{{ some | default('x') }}"))),
        ("a.sh", "${{ matrix.some }}", "".join(f"{command}\n" for command in commands("${{ matrix.some }}"))),
        ("a.md", "${{ inputs.some }}",
         "".join(f"```\n{command}\n```\n\n" for command in commands("${{ inputs.some }}"))),
        ("a.service", "%i", "[Service]\n" + "".join(f"ExecStart=/usr/bin/{c}\n" for c in commands("%i"))),
    ],
)  # fmt: skip
def test_a_placeholder_is_shown_as_it_is_written(tmp_path: Path, path: str, placeholder: str, text: str) -> None:
    started = project.run(tmp_path, {path: text}, select=("ALL",))
    assert len(started.launches) == 5
    shown = "".join((json.inventory(started), json.render(started, started.findings)))
    assert placeholder in shown
    assert [line for line in shown.splitlines() if "${_" in line or "$_" in line] == []


def test_an_image_is_named_without_its_quotes(tmp_path: Path) -> None:
    command = 'podman run --gpus all "$TAG-${{ matrix.some }}" x'
    started = project.run(tmp_path, {".github/workflows/a.yml": f"jobs:\n  a:\n    steps:\n      - run: {command}\n"})
    assert [launch.words.launch for launch in started.launches] == ["`podman run` of $TAG-${{ matrix.some }}"]


@table("word", ["...", "....", "…", "[OPTIONS]"])
def test_what_stands_for_more_words_is_no_program(tmp_path: Path, word: str) -> None:
    started = project.run(tmp_path, {"a.md": f"```sh\ndocker run --gpus all own/image {word}\n```\n"})
    (finding,) = started.findings
    assert finding.why[0].text == "the image's own command is unknown"

"""Templates whose names do not say so: their placeholders are unknown, and with statements nothing of them is read."""

from __future__ import annotations

from pathlib import Path

from tests import project
from tests.table import table

SERVICE = """services:
  a:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    gpus: all
    command: torchrun --nproc_per_node=8 train.py
"""
RUN = "docker run --gpus all {} nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py\n"


@table(
    ("path", "text"),
    [
        ("compose.yaml", SERVICE + '    shm_size: "{{ shm_size }}"\n'),
        ("compose.yaml", SERVICE + '    shm_size: "{{ shm_size | default(\'8g\') }}"\n'),
        ("compose.yaml", SERVICE + '    ipc: "{{ ipc }}"\n'),
        ("compose.yaml", SERVICE + "    shm_size: ${templateOption:shmSize}\n"),
        ("compose.yaml", SERVICE + '    shm_size: "8g"\n    mem_limit: ${templateOption:memory}\n'),
        ("compose.yaml", SERVICE + '    shm_size: 8g\n    mem_limit: "{{ memory }}"\n    cpus: "{{ cpus }}"\n'),
        ("compose.yaml", SERVICE + '    shm_size: 8g\n    deploy: {resources: {limits: {memory: "{{ memory }}"}}}\n'),
        ("compose.yaml", SERVICE + '    shm_size: 8g\n    networks: ["{{ net }}"]\n    depends_on: ["{{ db }}"]\n'),
        ("compose.yaml", SERVICE + '    shm_size: 8g\n    volumes: ["{{ data }}:/data"]\n'),
        ("compose.yaml", SERVICE.replace("gpus: all", 'gpus: [{count: "{{ gpus }}"}]') + "    shm_size: 8g\n"),
        ("run.sh", RUN.format("--shm-size={{ shm_size }}")),
        ("run.sh", RUN.format('--shm-size="{{ shm_size }}"')),
        ("run.sh", RUN.format('--shm-size {{ shm_size | default("8g") }}')),
        ("run.sh", RUN.format("--shm-size={{cookiecutter.shm}}")),
        ("run.sh", RUN.format("{{ options }}")),
        ("run.sh", RUN.format("--shm-size=${{ inputs.shm }}")),
        ("run.sh", RUN.format('--shm-size 8g --gpus "${{ matrix.gpus }}" -e "KEY=${{ secrets.KEY }}"')),
        ("run.sh", 'SHM="{{ shm_size }}"\n' + RUN.format("--shm-size=$SHM")),
        ("run.sh", RUN.format("--shm-size=8g").replace("--gpus all", "--gpus '{{ gpus }}'")),
        (".devcontainer/devcontainer.json",
         '{"image": "pytorch/pytorch", "runArgs": ["--gpus", "all", "--shm-size={{ cookiecutter.shm }}"]}'),
        (".devcontainer/devcontainer.json",
         '{"image": "pytorch/pytorch", "runArgs": ["--gpus", "all", "{{ cookiecutter.arguments }}"]}'),
    ],
)  # fmt: skip
def test_a_placeholder_of_a_template_may_be_anything(tmp_path: Path, path: str, text: str) -> None:
    started = project.run(tmp_path, {path: text}, select=("ALL",))
    assert len(started.launches) == 1
    assert [f"{f.rule} {f.message}" for f in started.findings if f.severity != "note"] == []


STATEMENTS = SERVICE + "{% if shm %}\n    shm_size: 8g\n{% endif %}\n"


@table(
    ("path", "text", "line"),
    [
        ("compose.yaml", STATEMENTS, 6),
        ("compose.yaml", STATEMENTS.replace("{%", "# {%"), 6),
        ("compose.yaml", SERVICE + "    shm_size: {{ shm_size }}\n", 6),
        ("run.sh", "{% if gpu %}\nOPTIONS='--gpus all'\n{% endif %}\n" + RUN.format("$OPTIONS"), 1),
        ("user_data.tpl", "#!/bin/bash\n" + RUN.format(""), 1),
        ("cloud/start.tftpl", "#!/bin/sh\n" + RUN.format("${options}"), 1),
        (".devcontainer/devcontainer.json",
         '{\n{% if gpu %}\n"runArgs": ["--gpus", "all"],\n{% endif %}\n"image": "a"}', 2),
    ],
)  # fmt: skip
def test_a_template_with_statements_is_told_and_not_read(tmp_path: Path, path: str, text: str, line: int) -> None:
    started = project.run(tmp_path, {path: text}, select=("ALL",))
    assert [*started.launches, *started.findings] == []
    told = [(place.span.path, place.span.line, place.kind, place.whole) for place in started.not_read]
    assert told == [(path, line, "template", True)]


@table(("path", "text"), [("compose.yaml.example", SERVICE), ("run.sh.sample", RUN.format(""))])
def test_an_example_is_told_and_read_where_it_is_named(tmp_path: Path, path: str, text: str) -> None:
    started = project.run(tmp_path, {path: text})
    told = [(place.span.path, place.because.partition(";")[0], place.whole) for place in started.not_read]
    assert (list(started.launches), told) == ([], [(path, "it is an example", True)])
    named = project.run(tmp_path, {path: text}, paths=(path,))
    assert [finding.rule for finding in named.findings] == ["SHM101"]


def test_other_templates_without_an_ending_of_their_own_are_not_told(tmp_path: Path) -> None:
    files = {"page.tpl": RUN.format(""), "start.tpl": "#!/bin/sh\ndocker ps\n", "x.py.tpl": "#!/bin/sh\n" + RUN}
    assert project.run(tmp_path, files).not_read == ()


def test_a_template_in_a_text_of_a_compose_file_is_for_others(tmp_path: Path) -> None:
    chat = "configs:\n  chat:\n    content: |\n      {% for message in messages %}\n      {{ message }}\n"
    started = project.run(tmp_path, {"compose.yaml": SERVICE + chat})
    assert [(finding.rule, finding.severity) for finding in started.findings] == [("SHM101", "error")]


@table(
    "text",
    [
        'docker ps --format "{{.Names}}"\n' + RUN.format("--log-opt tag='{{.Name}}'"),
        "cat > page.j2 <<EOF\n{% if x %}\n{{ foo }}\nEOF\n" + RUN.format(""),
        "docker inspect -f '{{range .Mounts}}{{.Source}}{{end}}' a\n" + RUN.format(""),
    ],
)
def test_templates_for_others_change_nothing(tmp_path: Path, text: str) -> None:
    """Those of Docker itself, and those that a script writes."""
    started = project.run(tmp_path, {"run.sh": text})
    assert [(finding.rule, finding.severity) for finding in started.findings] == [("SHM101", "error")]

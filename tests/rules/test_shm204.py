"""SHM204 ignored-with-ipc."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import findings, fixed
from tests.rules.cases import NGC, SIZE_RULES, levels_test, messages_test, overridden_test, service
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "host and size": (service("ipc: host", "shm_size: 8gb"), [("SHM204", "note")]),
    "none and size": (service("ipc: none", "shm_size: 8gb"), [("SHM102", "error"), ("SHM204", "note")]),
    "host and size, no gpu": (service("ipc: host", "shm_size: 8gb", gpu=None), [("SHM204", "note")]),
    "private and size": (service("ipc: private", "shm_size: 8gb"), []),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "ipc": (service("ipc: host", "shm_size: 8gb"),
            "service `x`: shm_size has no effect together with `ipc: host`: the host's /dev/shm is used"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


test_a_size_that_does_not_count = overridden_test(
    [
        (("ipc: host", "shm_size: 8gb"), ["SHM204"]),
        (("ipc: none", "shm_size: 8gb"), ["SHM204"]),
        (("ipc: host", "shm_size: 0"), []),
        (("ipc: private", "shm_size: 8gb"), []),
        (("ipc: '${IPC}'", "shm_size: 8gb"), []),
        (("ipc: host", "shm_size: '${SIZE}'"), ["SHM204"]),
        (("ipc: host",), []),
    ]
)


@pytest.mark.parametrize(
    ("command", "engine", "severity", "said"),
    [
        ("podman run --ipc=host", "docker", "error", "Podman does not start the container"),
        ("podman run --ipc host", "podman", "error", "Podman does not start the container"),
        ("docker run --ipc=host", "podman", "error", "Podman does not start the container"),
        ("docker run --ipc=host", "docker", "note", "the host's /dev/shm is used"),
        ("podman run --ipc=container:x", "docker", "note", "the other container's /dev/shm is used"),
    ],
)
def test_podman_refuses_a_size_with_the_hosts_namespace(
    tmp_path: Path, command: str, engine: str, severity: str, said: str
) -> None:
    text = f"{command} --gpus all --shm-size=8g x\n"
    (found,) = findings(tmp_path, {"run.sh": text}, select=("SHM204",), engine=engine)
    assert found.severity == severity and said in found.message
    assert "`--ipc=" in found.message and "ipc: " not in found.message


@table(
    ("name", "text", "words"),
    [
        ("run.sh", f"docker run --gpus all --ipc=host --shm-size=8g {NGC}\n", "together with `--ipc=host`"),
        ("compose.yaml", f"services:\n  a: {{image: {NGC}, gpus: all, ipc: host, shm_size: 8g}}\n",
         "together with `ipc: host`"),
        (".devcontainer.json", f'{{"image": "{NGC}", "runArgs": ["--gpus=all", "--ipc=host", "--shm-size=8g"]}}',
         "together with `--ipc=host`"),
        ("run.sh", f"docker run --gpus all --ipc container:$OTHER --shm-size=8g {NGC}\n", "`--ipc=container:$OTHER`"),
        ("compose.yaml", f"services:\n  a: {{image: {NGC}, gpus: all, ipc: 'container:$OTHER', shm_size: 8g}}\n",
         "`ipc: container:$OTHER`"),
        ("compose.yaml", f"services:\n  a: {{image: {NGC}, gpus: all, ipc: 'container:$SECRET', shm_size: 8g}}\n",
         "`ipc: container:$SECRET`"),
    ],
)  # fmt: skip
def test_words_of_the_format(tmp_path: Path, name: str, text: str, words: str) -> None:
    (found,) = findings(tmp_path, {name: text, ".env": "SECRET=hunter2\n"}, select=("SHM204",))
    assert words in found.message


@table(
    ("name", "before", "after"),
    [
        ("compose.yaml", service("ipc: host", "shm_size: 8gb"), service("ipc: host")),
        ("compose.yaml", "x-a: &a {gpus: all, ipc: host, shm_size: 8gb}\nservices:\n  a: {<<: *a, image: b}\n",
         "x-a: &a {gpus: all, ipc: host}\nservices:\n  a: {<<: *a, image: b}\n"),
        ("run.sh", "docker run --gpus all --shm-size 8g --ipc=host x\n", "docker run --gpus all --ipc=host x\n"),
        ("run.sh", 'A="--shm-size 8g"\ndocker run --gpus all $A --ipc=host x\n', None),
        ("run.sh", "podman run --gpus all --shm-size 8g --ipc=host x\n", None),
        ("Makefile", "r:\n\tdocker run --gpus all \\\n\t  --shm-size=8g \\\n\t  --ipc=host x\n",
         "r:\n\tdocker run --gpus all \\\n\t  --ipc=host x\n"),
    ],
)  # fmt: skip
def test_the_dead_size_is_removed(tmp_path: Path, name: str, before: str, after: str | None) -> None:
    expected = {} if after is None else {name: after}
    assert fixed(tmp_path, {name: before}, select=("SHM204",)) == expected


COMMAND = "docker run --gpus all {} --shm-size=8g nvcr.io/nvidia/pytorch:24.01-py3 python train.py\n"


@table(
    ("name", "text"),
    [
        ("compose.yaml", service("ipc: '${IPC:-host}'", "shm_size: 8gb")),
        ("compose.yaml", service("ipc: '${IPC_OF_FILE}'", "shm_size: 8gb")),
        ("run.sh", "IPC=${IPC:-host}\n" + COMMAND.format("--ipc=$IPC")),
        ("run.sh", COMMAND.format('--ipc="${1:-host}"')),
        ("run.sh", "EXTRA=${EXTRA:---ipc=host}\n" + COMMAND.format("$EXTRA")),
        ("run.sh", COMMAND.format('--ipc=host "$@"')),
        ("run.sh", COMMAND.format("--ipc=host $EXTRA")),
        ("run.sh", "start() {\n  " + COMMAND.format("$OPTS") + "}\nOPTS=--ipc=host\nstart\n"),
        ("Makefile", "IPC ?= host\nr:\n\t" + COMMAND.format("--ipc=$(IPC)")),
        ("justfile", "ipc := 'host'\nr:\n    " + COMMAND.format("--ipc={{ipc}}")),
        ("Taskfile.yml", "vars: {IPC: host}\ntasks: {r: {cmds: ['" + COMMAND.format("--ipc={{.IPC}}")[:-1] + "']}}\n"),
    ],
)
def test_a_mode_that_something_else_may_set_says_nothing_of_the_size(tmp_path: Path, name: str, text: str) -> None:
    files = {name: text, ".env": "IPC_OF_FILE=host\n"}
    assert findings(tmp_path, files, select=("SHM204",)) == []
    assert fixed(tmp_path, files, unsafe=True, select=("SHM204",)) == {}


@table(
    ("before", "after"),
    [
        ("  a:\n    shm_size: 8gb\n", "  a: {}\n"),
        ("  a:\n    shm_size: 8gb", "  a: {}"),
        ("  a: # the first\n    # 8 GiB\n\n    shm_size: 8gb # enough\n  b: {image: y}\n",
         "  a: {} # the first\n    # 8 GiB\n\n  b: {image: y}\n"),
        ("  a:\r\n    shm_size: 8gb\r\n", "  a: {}\r\n"),
        ("  a: &a\n    shm_size: 8gb\n", "  a: &a {}\n"),
        ("  a: {shm_size: 8gb}\n", "  a: {}\n"),
        # The other service gets its size from there.
        ("  a: &a\n    shm_size: 8gb\n  b:\n    <<: *a\n    image: y\n", None),
    ],
)  # fmt: skip
def test_a_dead_size_is_removed_from_an_override(tmp_path: Path, before: str, after: str | None) -> None:
    files = {"compose.yaml": service("ipc: host", name="a"), "compose.override.yaml": f"services:\n{before}"}
    expected = {} if after is None else {"compose.override.yaml": f"services:\n{after}"}
    assert fixed(tmp_path, files, select=("SHM204",)) == expected


@table(
    ("files", "size"),
    [
        ({"compose.dev.yaml": "services:\n  a: {ipc: host}\n"}, "shm_size: 8gb"),
        ({"compose.override.yaml": "services:\n  a: {ipc: host}\n", "compose.prod.yaml": "services:\n  a: {}\n"}, ""),
        ({"compose.shm.yaml": 'services:\n  a: {tmpfs: ["/dev/shm:size=16g"]}\n'}, ""),
        ({"compose.host.yaml": 'services:\n  a: {volumes: ["/dev/shm:/dev/shm"]}\n'}, ""),
        ({"compose.host.yaml": "services:\n  a: {ipc: host}\n"}, "shm_size: 64m"),
        ({".env": "IPC=host\n"}, "ipc: ${IPC:-private}"),
    ],
)
def test_what_a_later_file_takes_the_place_of_is_meant_so(tmp_path: Path, files: dict[str, str], size: str) -> None:
    """The service has its size where it is started without that file; and fixes come to an end."""
    lines = ["command: torchrun --nproc_per_node=8 t.py", *([size] if size else [])]
    text = service(*lines)
    expected = text.replace("shm_size: 64m", "shm_size: 8gb")
    if "shm_size" not in text and "IPC" not in text:
        expected = text.replace("    gpus: all\n", "    gpus: all\n    shm_size: 8gb\n")
    texts = fixed(tmp_path, {"compose.yaml": text, **files})
    assert texts == ({"compose.yaml": expected} if expected != text else {})
    assert findings(tmp_path, texts, select=("SHM1", "SHM2")) == []


def test_a_size_that_counts_in_another_combination_stays(tmp_path: Path) -> None:
    files = {"compose.yaml": service("shm_size: 8gb"), "compose.host.yaml": service("ipc: host", gpu=None)}
    assert fixed(tmp_path, files, select=("SHM204",)) == {}

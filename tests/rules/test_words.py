"""What findings say, where the words hang on how the launch is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import findings

NEEDS = "nvcr.io/nvidia/pytorch:24.01-py3"


@pytest.mark.parametrize(
    ("name", "text", "rule", "words"),
    [
        ("run.sh", f"docker run --gpus all --ipc=host --shm-size=8g {NEEDS}\n", "SHM204", "beside `--ipc=host`"),
        ("compose.yaml", f"services:\n  a: {{image: {NEEDS}, gpus: all, ipc: host, shm_size: 8g}}\n", "SHM204",
         "beside `ipc: host`"),
        (".devcontainer.json", f'{{"image": "{NEEDS}", "runArgs": ["--gpus=all", "--ipc=host", "--shm-size=8g"]}}',
         "SHM204", "beside `--ipc=host`"),
        ("compose.yaml", f"services:\n  a: {{image: {NEEDS}, gpus: all, shm_size: '8  gb'}}\n", "SHM201",
         "shm_size `8  gb` is refused"),
        ("compose.yaml", f"services:\n  a: {{image: {NEEDS}, gpus: all, shm_size: ''}}\n", "SHM201",
         "shm_size is refused"),
        ("compose.yaml", f"services:\n  a: {{image: {NEEDS}, gpus: all, shm_size: 64m, command: torchrun "
         "--nproc_per_node=8 t.py}\n", "SHM102", "has shm_size 64 MiB, too little for what it runs"),
        (".devcontainer.json", f'{{"image": "{NEEDS}", "runArgs": ["--gpus=all", "--shm_size=8g"]}}', "SHM210",
         "`--shm_size` is an unknown flag"),
    ],
)  # fmt: skip
def test_words(tmp_path: Path, name: str, text: str, rule: str, words: str) -> None:
    (found,) = findings(tmp_path, {name: text}, select=(rule,))
    assert words in found.message


def test_a_size_from_an_env_file_is_not_named(tmp_path: Path) -> None:
    text = f"services:\n  a: {{image: {NEEDS}, gpus: all, shm_size: $S, command: torchrun --nproc_per_node=8 t.py}}\n"
    (found,) = findings(tmp_path, {"compose.yaml": text, ".env": "S=65m\n"}, select=("SHM102",))
    assert "takes its shm_size from an env file, and that is too little for what it runs" in found.message
    assert "65" not in found.message

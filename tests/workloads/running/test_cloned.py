"""Code that a build fetches."""

from __future__ import annotations

import time
from pathlib import Path

from tests.table import table
from tests.workloads.cases import GIT, GPUS, compose, need


@table(
    "lines, verdict",
    [
        (f"RUN git clone --depth 1 {GIT}/fairseq && cd fairseq && pip install -q --editable .\n",
         "likely"),
        (f"RUN git clone -b main {GIT}/fairseq.git /opt/fs\nRUN apt-get update && cd /opt/fs && \\\n"
         "# all of it\n  pip install .[all]\n", "likely"),
        ("RUN git clone git@example.org:me/vllm.git && pip install -e ./vllm\n", "likely"),
        (f"RUN git clone --recursive {GIT}/pytorch && cd pytorch; python setup.py install\n", "likely"),
        (f"RUN git clone {GIT}/fairseq\n", "unknown"),
        (f"RUN git clone {GIT}/fairseq && git clone {GIT}/a && cd a && make install\n", "unknown"),
        (f"RUN git clone {GIT}/fairseq && apt-get install -y ./tool.deb\n", "unknown"),
        (f"RUN git clone {GIT}/tool && cd tool && python setup.py install\n", "unknown"),
        ("RUN git clone && cd && pip install\n", "unknown"),
        (f"RUN git clone {GIT}/fairseq\nRUN pip install -e ./fairseq\n", "likely"),
        (f"RUN git clone {GIT}/fairseq /opt/a && git clone {GIT}/tool && pip install -e /opt/tool\n", "unknown"),
        (f"RUN pip install -e ./fairseq && git clone {GIT}/fairseq\n", "unknown"),
    ],
)
def test_a_clone_that_the_build_installs(tmp_path: Path, lines: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash"), "Dockerfile": f"FROM python:3.12\n{lines}"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "fetch, command, verdict",
    [
        ("git clone --depth=1 https://github.com/comfyanonymous/ComfyUI.git .", "python main.py -l", "not-needed"),
        ("git clone https://github.com/someone/ComfyUI", "python ComfyUI/main.py", "not-needed"),
        ("wget https://raw.githubusercontent.com/a/stable-diffusion-webui/master/webui.sh", "./webui.sh", "not-needed"),
        ("cd /x && git clone 'https://github.com/a/stable-diffusion-webui'", "bash webui.sh", "not-needed"),
        # Another program of it, one of its extensions, another repository, and training in it.
        ("git clone https://github.com/comfyanonymous/ComfyUI.git .", "python other.py", "unknown"),
        ("git clone https://github.com/a/ComfyUI-nodes.git .", "python main.py", "unknown"),
        ("git clone https://github.com/a/unheard-of.git .", "python main.py", "unknown"),
        ("echo https://github.com/comfyanonymous/ComfyUI", "python main.py", "unknown"),
        ("git clone https://github.com/a/stable-diffusion-webui", "accelerate launch launch.py", "likely"),
    ],
)
def test_programs_that_a_build_fetches(tmp_path: Path, fetch: str, command: str, verdict: str) -> None:
    docker = f"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nWORKDIR /app\nRUN {fetch}\nCMD {command}\n"
    service = f"services:\n  app:\n    build: .\n    {GPUS}\n"
    assert need(tmp_path, {"Dockerfile": docker, "compose.yaml": service}).verdict == verdict


def test_a_build_that_fetches_much_does_not_take_long(tmp_path: Path) -> None:
    docker = f"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN {'curl ' * 20_000}\nCMD python main.py\n"
    service = f"services:\n  app:\n    build: .\n    {GPUS}\n"
    begin = time.process_time()
    assert need(tmp_path, {"Dockerfile": docker, "compose.yaml": service}).verdict == "unknown"
    assert time.process_time() - begin < 5

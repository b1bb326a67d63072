"""Programs that supervisord starts."""

from __future__ import annotations

from pathlib import Path

from shmlint.model.source import Source
from shmlint.workloads.running.supervisor import read
from tests.table import table
from tests.workloads.cases import DOCKERFILE, LOADER, compose, need

SUPERVISED = """
[supervisord]
nodaemon=true

[program:serve]
command = python serve.py  ; the page
directory = /app

[program:train]
command=python %(ENV_WHERE)strain.py
  --workers {workers}
{more}

[include]
files = parts/*.conf
"""


@table(
    "configuration, part, verdict",
    [
        (SUPERVISED.format(workers=8, more=""), "", "needed"),
        (SUPERVISED.format(workers=0, more=""), "", "not-needed"),
        (SUPERVISED.format(workers=8, more="autostart=false"), "", "not-needed"),
        (SUPERVISED.format(workers=8, more="autostart = False  ; later"), "", "not-needed"),
        (SUPERVISED.format(workers=8, more="AUTOSTART: Off"), "", "not-needed"),
        (SUPERVISED.format(workers=8, more="autostart=True # now"), "", "needed"),
        (SUPERVISED.format(workers=8, more="autostart=%(ENV_TRAIN)s"), "", "likely"),
        (SUPERVISED.format(workers=8, more="") + "[program:train]\nautostart=no\n", "", "not-needed"),
        (SUPERVISED.format(workers=8, more="; autostart=no"), "", "needed"),
        # Lines of a template, which supervisord refuses
        (SUPERVISED.format(workers=8, more="{% if train %}"), "", "likely"),
        ("{% if train %}\n" + SUPERVISED.format(workers=8, more=""), "", "unknown"),
        (SUPERVISED.format(workers=0, more=""), "[program:x]\ncommand=python train.py\n", "needed"),
        (SUPERVISED.format(workers=0, more=""), "[program:x]\ncommand=gone\n", "unknown"),
        (SUPERVISED.format(workers=0, more=""), "[include]\nfiles = *.conf\n", "not-needed"),
        ("[program:a]\ncommand='\n" + "[" * 5000 + "\n" + "[a]\n" * 5000, "", "unknown"),
    ],
)
def test_programs_of_supervisord(tmp_path: Path, configuration: str, part: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("supervisord -n -c etc/supervisord.conf", "    environment: {WHERE: ./}\n"),
        "Dockerfile": DOCKERFILE, "etc/supervisord.conf": configuration, "train.py": LOADER, "serve.py": "print(1)\n",
        "etc/parts/x.conf": part,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_the_directory_that_debians_configuration_includes(tmp_path: Path) -> None:
    volumes = "    volumes: [./parts:/etc/supervisor/conf.d]\n"
    files = {
        "compose.yaml": compose("/usr/bin/supervisord", volumes), "Dockerfile": DOCKERFILE, "train.py": LOADER,
        "parts/x.conf": "[program:x]\ncommand=python /app/train.py\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == "needed"
    assert need(tmp_path, {**files, "parts/x.conf": "[program:x]\ncommand=python gone.py\n"}).verdict == "unknown"


def test_where_a_supervised_program_stands() -> None:
    text = "[program:a]\ndirectory=/x\nCommand = python a.py ; run\n    --more  # it\n[program:b]\ncommand=b\n"
    found = read(Source("x.conf", text))
    assert [(one.command, one.span.text.splitlines()[0]) for one in found.programs] == [
        ("python a.py --more", "Command = python a.py ; run"), ("b", "command=b"),
    ]  # fmt: skip


@table(
    "configuration, verdict",
    [
        ("[program:a]\ncommand=python t.py\n", "not-needed"),
        ("[program:a]\ncommand=python t.py\nenvironment=M=\"a b\", N=\"2\"\n", "needed"),
        ("[supervisord]\nenvironment=N=2\n[program:a]\ncommand=python t.py\n", "needed"),
        ("[supervisord]\nenvironment=N=2\n[program:a]\ncommand=python t.py\nenvironment=N=1\n", "not-needed"),
        ("[program:a]\ncommand=python t.py\nenvironment=N=%(ENV_N)s\n", "unknown"),
    ],
)
def test_variables_that_supervisord_gives(tmp_path: Path, configuration: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("supervisord -n -c s.conf"), "Dockerfile": DOCKERFILE, "s.conf": configuration,
        "t.py": "import os\nfrom vllm import LLM\nLLM('a/b', tensor_parallel_size=int(os.getenv('N', 1)))\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict

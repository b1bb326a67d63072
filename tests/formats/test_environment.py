"""A default of the shell holds where nothing around the command sets its variable."""

from __future__ import annotations

from pathlib import Path

from tests.project import run
from tests.table import table

RUN = "docker run --gpus all --shm-size=${S:-64m} vllm/vllm-openai"
MADE = RUN.replace("$", "$$")
UNIT = f"ExecStart=/bin/sh -c '{MADE}'\n"
STEP = f"jobs:\n  a:\n    runs-on: x\n    steps:\n    - run: {RUN}\n"
STAGE = f"stages {{ stage('a') {{ steps {{ sh '{RUN}' }} }} }} }}\n"
WORKFLOW, PIPELINE = ".github/workflows/x.yml", ".gitlab-ci.yml"


@table(
    ("path", "text"),
    [
        (WORKFLOW, STEP.replace("runs-on", "env: {S: '${{ matrix.s }}'}\n    runs-on")),
        (WORKFLOW, STEP.replace("steps:\n", "steps:\n    - run: echo S=16g >> $GITHUB_ENV\n")),
        (WORKFLOW, STEP.replace("steps:\n", "steps:\n    - run: ./sizes.sh >> $GITHUB_ENV\n")),
        (WORKFLOW, STEP.replace("steps:\n", "steps:\n    - run: echo $LINE >> $GITHUB_ENV\n")),
        (WORKFLOW, STEP.replace("steps:\n", "steps:\n    - run: echo T=1; ./sizes.sh $GITHUB_ENV\n")),
        (WORKFLOW, STEP.replace("steps:\n", "steps:\n    - run: echo -e 'T=1\\nS=16g' >> $GITHUB_ENV\n")),
        (PIPELINE, f"variables: {{S: $BIG}}\na:\n  script:\n  - {RUN}\n"),
        (PIPELINE, f"a:\n  rules: [{{if: $X, variables: {{S: 16g}}}}]\n  script:\n  - {RUN}\n"),
        (PIPELINE, f"a:\n  before_script: ['. ./env.sh']\n  script:\n  - {RUN}\n"),
        ("Makefile", f"-include .env\nexport\na:\n\t{MADE}\n"),
        ("Makefile", f"-include .env\nexport S\na:\n\t{MADE}\n"),
        ("Makefile", f"export S = 16g\na:\n\t{MADE}\n"),
        ("Makefile", f"S = 16g\nexport S # for all\na:\n\t{MADE}\n"),
        ("Makefile", f"S = 16g\nexport $(NAMES)\na:\n\t{MADE}\n"),
        ("Makefile", f".EXPORT_ALL_VARIABLES:\nS = 16g\na:\n\t{MADE}\n"),
        ("Makefile", f"a: export S = 16g\na:\n\t{MADE}\n"),
        ("justfile", f"set dotenv-load\na:\n  {RUN}\n"),
        ("justfile", f'export S := "16g"\na:\n  {RUN}\n'),
        ("justfile", f'set export\nS := "16g"\na:\n  {RUN}\n'),
        ("justfile", f'a $S="16g":\n  {RUN}\n'),
        ("Taskfile.yml", f"version: '3'\ndotenv: [.env]\ntasks:\n  a: {{cmds: ['{RUN}']}}\n"),
        ("Taskfile.yml", f"version: '3'\ntasks:\n  a: {{dotenv: [.env], cmds: ['{RUN}']}}\n"),
        ("Taskfile.yml", f"version: '3'\nenv: {{S: {{sh: x}}}}\ntasks:\n  a: {{cmds: ['{RUN}']}}\n"),
        ("x.service", f"[Service]\nEnvironmentFile=/etc/default/a\n{UNIT}"),
        ("x.service", f"[Service]\nEnvironment=S=%i\n{UNIT}"),
        ("x.service", f"[Service]\nPassEnvironment=S T\n{UNIT}"),
        ("Jenkinsfile", f"node {{ withEnv(['S=16g']) {{ sh '{RUN}' }} }}\n"),
        ("Jenkinsfile", f"pipeline {{ parameters {{ string(name: 'S', defaultValue: '16g') }}\n {STAGE}"),
        ("Jenkinsfile", f"pipeline {{ environment {{ S = credentials('s') }}\n {STAGE}"),
        ("x.md", f"```sh\nsource env.sh\n```\n```sh\n{RUN}\n```\n"),
        ("x.md", f"```sh\nread -r S\n```\n```sh\n{RUN}\n```\n"),
        ("x.md", f"```sh\nexport S=$(x)\n```\n```sh\n{RUN}\n```\n"),
    ],
)
def test_a_value_from_around_is_not_known(tmp_path: Path, path: str, text: str) -> None:
    (launch,) = run(tmp_path, {path: text}).launches
    assert launch.shm is not None and launch.shm.known is None


@table(
    ("path", "text"),
    [
        (WORKFLOW, STEP.replace("runs-on", "env: {T: '${{ matrix.s }}'}\n    runs-on")),
        (WORKFLOW, STEP.replace("steps:\n", "steps:\n    - run: echo T=16g >> $GITHUB_ENV\n")),
        (WORKFLOW, STEP.replace("steps:\n", "steps:\n    - run: |\n        echo \"T=$(a b)\" >> \"${GITHUB_ENV}\"\n")),
        (PIPELINE, f"a:\n  before_script: ['. .venv/bin/activate']\n  script:\n  - {RUN}\n"),
        ("Makefile", f"export S\na:\n\t{MADE}\n"),
        ("Makefile", f"S = 16g\na:\n\t{MADE}\nb:\n\texport T=1; x\n"),
        ("justfile", f"set dotenv-load := false\nset shell := ['sh']\nT := 'x'\na:\n  {RUN}\n"),
        ("Taskfile.yml", f"version: '3'\nenv: {{T: {{sh: x}}}}\ntasks:\n  a: {{cmds: ['{RUN}']}}\n"),
        ("x.service", f"[Service]\nEnvironment=T=%i\n{UNIT}"),
        ("Jenkinsfile", f"node {{ withEnv(['T=16g']) {{ sh '{RUN}' }} }}\n"),
        ("x.md", f"```sh\ndocker run -e S=1g redis\nsource .venv/bin/activate\n```\n```sh\n{RUN}\n```\n"),
    ],
)
def test_a_default_that_nothing_replaces_holds(tmp_path: Path, path: str, text: str) -> None:
    launch = run(tmp_path, {path: text}).launches[-1]
    assert launch.shm is not None and launch.shm.known is not None and launch.shm.known.bytes == 64 << 20

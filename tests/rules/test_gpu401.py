"""GPU401: the fix makes the list of devices reach Docker as one, whatever the list is in."""

from __future__ import annotations

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing.fix import fix
from shmlint.model.settings import Settings
from shmlint.run import lint
from tests.table import table

SETTINGS = Settings(select=("GPU401",))
RUN = "docker run --shm-size=8g --gpus {} vllm/vllm-openai"


def fixed(kind: str, path: str, text: str) -> str:
    """A text after `--fix`."""
    outcome = fix(lint({kind: [path]}, SETTINGS, Workspace().over({path: text})))
    return outcome.run.workspace.source(path).text


SCRIPTS = (
    (RUN.format("device=0,1"), RUN.format("'\"device=0,1\"'")),
    (RUN.format('"device=0,1"'), RUN.format("'\"device=0,1\"'")),
    (RUN.format('"device=GPU-3a,GPU-3b"'), RUN.format("'\"device=GPU-3a,GPU-3b\"'")),
    (RUN.format("driver=nvidia,device=0:0,0:1"), RUN.format("'driver=nvidia,\"device=0:0,0:1\"'")),
    ('docker run --gpus="device=0,1" i', "docker run --gpus='\"device=0,1\"' i"),
    ("docker run '--gpus=device=0,1' i", "docker run '--gpus=\"device=0,1\"' i"),
    ('docker run "--gpus=device=0,1" i', 'docker run "--gpus=\\"device=0,1\\"" i'),
    ('O="--gpus device=0,1"\ndocker run $O i', 'O="--gpus \\"device=0,1\\""\ndocker run $O i'),
    ("O=(--gpus device=0,1)\ndocker run ${O[@]} i", "O=(--gpus '\"device=0,1\"')\ndocker run ${O[@]} i"),
    ('O=("--gpus device=0,1 --shm-size=1g" --rm)\ndocker run ${O[@]} i',
     'O=("--gpus \\"device=0,1\\" --shm-size=1g" --rm)\ndocker run ${O[@]} i'),
    ("O=('--shm-size=1g --gpus device=0,1')\ndocker run ${O[*]} i",
     "O=('--shm-size=1g --gpus \"device=0,1\"')\ndocker run ${O[*]} i"),
    ("O=(--gpus=device=0,1\\ --shm-size=1g)\ndocker run ${O[@]} i",
     "O=(--gpus='\"device=0,1\"'\\ --shm-size=1g)\ndocker run ${O[@]} i"),
    ('C="docker run --gpus device=0,1 i"\n$C', 'C="docker run --gpus \\"device=0,1\\" i"\n$C'),
    ('C="docker run --gpus device=0,1 i"\neval "$C"', 'C="docker run --gpus \\\\\\"device=0,1\\\\\\" i"\neval "$C"'),
    ('O="--gpus device=0,1"\neval docker run $O i', 'O="--gpus \\\\\\"device=0,1\\\\\\""\neval docker run $O i'),
    ("ssh h docker run --gpus device=0,1 i", r"ssh h docker run --gpus \\\"device=0,1\\\" i"),
    ('bash -c "docker run --gpus device=0,1 i"', 'bash -c "docker run --gpus \\\\\\"device=0,1\\\\\\" i"'),
    ('C="`docker run -d --gpus device=0,1 i`"', 'C="`docker run -d --gpus \\\\\\"device=0,1\\\\\\" i`"'),
    ("C=`docker run -d --gpus device=0,1 i`", "C=`docker run -d --gpus '\"device=0,1\"' i`"),
    ("sh -c 'docker run --gpus \"device=0,1\" i'", "sh -c 'docker run --gpus \"\\\"device=0,1\\\"\" i'"),
    ("docker run --gpus device=0,1,capabilities=gpu i", "docker run --gpus '\"device=0,1\",capabilities=gpu' i"),
    ('docker run --gpus "driver=nvidia,device=0,1" i', "docker run --gpus 'driver=nvidia,\"device=0,1\"' i"),
)  # fmt: skip


@pytest.mark.parametrize(("before", "after"), SCRIPTS)
def test_the_quotation_marks_reach_docker(before: str, after: str) -> None:
    assert fixed("shell", "x.sh", before + "\n") == after + "\n"


def test_a_list_that_two_shells_read_stays() -> None:
    """The inner shell takes away the marks that the outer one needs."""
    text = 'G=device=0,1\ndocker run --gpus $G --shm-size=8g i\nbash -c "docker run --gpus $G --shm-size=8g i"\n'
    assert fixed("shell", "x.sh", text) == text


@pytest.mark.parametrize(
    "value",
    ["device=0,all", "device=GPU-3a,none", "device=GPU-3a,GPU-3b,count=2", "device=0,count=2", "device=all,1",
     "device=0,1,2,count=3"],
)  # fmt: skip
def test_what_is_no_list_of_devices_stays(value: str) -> None:
    text = RUN.format(value) + "\n"
    assert fixed("shell", "x.sh", text) == text


@table(
    ("text", "lines"),
    [
        ("docker run --gpus 0 i\ndocker run --gpus=0 i\ndocker run '--gpus' \"0\" i\n", [1, 2, 3]),
        ("O=(--gpus 0)\ndocker run \"${O[@]}\" i\nT='--gpus 0'\ndocker run $T i\n", [1, 3]),
        ("docker run --gpus \\\n  0 i\n", [2]),
        ("N=0\ndocker run --gpus $N i\ndocker run --gpus ${M:-0} i\n", []),
        ("podman run --gpus 0 i\nnerdctl run --gpus 0 i\ndocker run --gpus count=0 i\ndocker run --gpus 1 i\n", []),
    ],
)
def test_the_number_0_may_have_been_meant_as_an_index(text: str, lines: list[int]) -> None:
    found = lint({"shell": ["x.sh"]}, SETTINGS, Workspace().over({"x.sh": text})).findings
    assert [(one.span.line, one.severity, one.fix) for one in found] == [(line, "warning", None) for line in lines]
    assert fixed("shell", "x.sh", text) == text


def test_a_list_in_one_word_with_its_option_is_no_list() -> None:
    text = 'docker run "--gpus device=0,1" i\ndocker run "--gpus 1,2" i\n'
    assert lint({"shell": ["x.sh"]}, SETTINGS, Workspace().over({"x.sh": text})).findings == []


def step(run: str) -> str:
    return f"jobs:\n  a:\n    steps:\n      - run: {run}\n"


def options(given: str) -> str:
    return f"jobs:\n  a:\n    container:\n      image: vllm/vllm-openai\n      options: {given}\n"


def fenced(language: str, value: str) -> str:
    return f"```{language}\n{RUN.format(value)}\n```\n"


def on(settings: str, key: str, runner: str = "windows-latest") -> str:
    """A step of a job with settings of its own, on a runner."""
    steps = f"    steps:\n      - {settings}\n        {key}: docker run --gpus {{}} i\n"
    return f"jobs:\n  a:\n    runs-on: {runner}\n{steps}"


QUOTED, ESCAPED = "'\"device=0,1\"'", '\\"device=0,1\\"'
GITHUB, AZURE = ".github/workflows/x.yml", "azure-pipelines.yml"

FILES = (
    ("makefile", "Makefile", f"O = --gpus \"device=0,1\"\nx:\n\t{RUN.replace('--gpus {}', '$(O)')}\n",
     f"O = --gpus '\"device=0,1\"'\nx:\n\t{RUN.replace('--gpus {}', '$(O)')}\n"),
    ("ci", ".github/workflows/x.yml", step('"docker run --gpus device=0,1 i"'),
     step('"docker run --gpus \\\\\\"device=0,1\\\\\\" i"')),
    ("ci", ".github/workflows/x.yml", step("'docker run --gpus device=0,1 i'"),
     step("'docker run --gpus \\\"device=0,1\\\" i'")),
    ("ci", ".github/workflows/x.yml", options('--gpus "device=0,1" --shm-size=8g'),
     options('--gpus "\\"device=0,1\\"" --shm-size=8g')),
    ("ci", ".github/workflows/x.yml", options('"--gpus device=0,1 --shm-size=8g"'),
     options('"--gpus \\\\\\"device=0,1\\\\\\" --shm-size=8g"')),
    ("markdown", "x.md", fenced("bash", "device=0,1"), fenced("bash", "'\"device=0,1\"'")),
    ("markdown", "x.md", fenced("cmd", "device=0,1"), fenced("cmd", '\\"device=0,1\\"')),
    ("markdown", "x.md", f"```\nC:\\> {RUN.format('device=0,1')}\n```\n",
     f"```\nC:\\> {RUN.format(ESCAPED)}\n```\n"),
    ("markdown", "x.md", "```\ndocker run ^\n  --gpus \"device=0,1\" i\n```\n",
     '```\ndocker run ^\n  --gpus "\\"device=0,1\\"" i\n```\n'),
    *(("ci", path, before.replace("{}", "device=0,1"), before.replace("{}", after)) for path, before, after in (
        (GITHUB, on("shell: cmd", "run"), ESCAPED),
        (GITHUB, on("shell: pwsh", "run"), QUOTED),
        (GITHUB, on("shell: bash", "run"), QUOTED),
        (GITHUB, on("env: {A: b}", "run"), QUOTED),
        (GITHUB, on("env: {A: b}", "run", "linux"), QUOTED),
        (AZURE, "pool: {vmImage: windows-latest}\nsteps:\n- script: docker run --gpus {} i\n", ESCAPED),
        (AZURE, "pool: {vmImage: windows-latest}\nsteps:\n- pwsh: docker run --gpus {} i\n", QUOTED),
        (AZURE, "pool: {vmImage: windows-latest}\nsteps:\n- bash: docker run --gpus {} i\n", QUOTED),
        (AZURE, "pool: {vmImage: ubuntu-latest}\nsteps:\n- script: docker run --gpus {} i\n", QUOTED),
    )),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "path", "before", "after"), FILES)
def test_the_quotation_marks_pass_what_is_around_the_shell(kind: str, path: str, before: str, after: str) -> None:
    assert fixed(kind, path, before) == after


EITHER = f"--gpus {QUOTED} in PowerShell 7.3 and later, --gpus '{ESCAPED}' in earlier ones"
OR_CMD = f"{EITHER}, --gpus {ESCAPED} in the command line of Windows"
MATRIX = "jobs:\n  a:\n    strategy: {matrix: {os: [ubuntu-latest, windows-latest]}}\n    runs-on: ${{ matrix.os }}\n"


@table(
    ("kind", "path", "text", "advice"),
    [
        ("markdown", "x.md", fenced("powershell", '"device=0,1"'), EITHER),
        ("markdown", "x.md", fenced("ps1", "device=0,1"), EITHER),
        ("markdown", "x.md", fenced("bat", "'device=0,1'"), f"write --gpus {ESCAPED}"),
        ("markdown", "x.md", fenced("dos", "'device=0,1'"), f"write --gpus {ESCAPED}"),
        ("markdown", "x.md", fenced("pwsh", "'device=0,1'"), EITHER),
        ("markdown", "x.md", "```sh\nPS C:\\> docker run --gpus device=0,1 i\n```\n", EITHER),
        ("markdown", "x.md", '```\ndocker run `\n  --gpus "device=0,1" i\n```\n', EITHER),
        ("markdown", "x.md", "```\nC:\\> docker run --gpus device=0,1 i\n\n$ docker ps\n```\n", OR_CMD),
        ("ci", GITHUB, on("shell: powershell", "run").replace("{}", '"device=0,1"'), EITHER),
        ("ci", GITHUB, f"{MATRIX}    steps:\n      - run: docker run --gpus device=0,1 i\n", OR_CMD),
        ("ci", ".gitlab-ci.yml", "a:\n  tags: [windows]\n  script:\n    - docker run --gpus device=0,1 i\n", OR_CMD),
        ("ci", AZURE, "steps:\n- powershell: docker run --gpus device=0,1 i\n", EITHER),
        ("ci", AZURE, "steps:\n- task: PowerShell@2\n  inputs: {script: 'docker run --gpus device=0,1 i'}\n", EITHER),
    ],
)
def test_nothing_is_written_for_an_unknown_shell(kind: str, path: str, text: str, advice: str) -> None:
    (found,) = lint({kind: [path]}, SETTINGS, Workspace().over({path: text})).findings
    assert (found.fix, found.advice) == (None, advice)
    assert fixed(kind, path, text) == text


@table(
    ("shell", "lines"),
    [("pwsh", [6]), ("powershell", []), ("cmd", [])],
)
def test_backslashes_that_the_shell_takes_away_are_no_fault(shell: str, lines: list[int]) -> None:
    text = on(f"shell: {shell}", "run").replace("{}", f"'{ESCAPED}'" if shell != "cmd" else ESCAPED)
    settings = Settings(select=("GPU401", "GPU402"))
    found = lint({"ci": [GITHUB]}, settings, Workspace().over({GITHUB: text})).findings
    assert [one.span.line for one in found] == lines


@table(
    "value, why, do",
    [
        ("device=2,3", "Docker needs quotation marks around the list: --gpus '\"device=2,3\"'", ""),
        # A device and a count: there is nothing to quote.
        ("device=0,all", "", "remove the count, or the devices"),
        ("0,1", "Docker needs quotation marks around the list: --gpus '\"device=0,1\"'",
         "--gpus '\"device=0,1\"' for these devices, --gpus 1 for so many"),
    ],
)  # fmt: skip
def test_what_is_right_is_said_of_these_devices(value: str, why: str, do: str) -> None:
    text = RUN.format(value) + "\n"
    (finding,) = lint({"shell": ["x.sh"]}, SETTINGS, Workspace().over({"x.sh": text})).findings
    assert (finding.needs, finding.advice) == (why, do)


@table(
    "value, why",
    [
        ("device=2,3", '"--gpus", "\\"device=2,3\\""'), ("'device=2,3'", '"--gpus", "\\"device=2,3\\""'),
        ("'device=2'", ""), ("device=0,all", ""),
    ],
)  # fmt: skip
def test_what_is_right_in_a_dev_container(value: str, why: str) -> None:
    text = f'{{"image": "i", "runArgs": ["--gpus", "{value}", "--shm-size=8g"]}}\n'
    path = ".devcontainer.json"
    (finding,) = lint({"devcontainer": [path]}, SETTINGS, Workspace().over({path: text})).findings
    assert finding.needs == (f"Docker needs quotation marks around the list: {why}" if why else "")

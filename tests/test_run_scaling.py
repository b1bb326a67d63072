"""Twice the text takes twice the work, counted in calls of each function: no clock is asked.

What only the regular expression engine or a loop in C does is not counted; for that there are hostile texts that
would take minutes.
"""

from __future__ import annotations

import cProfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from json import dumps
from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.formats.compose.read import _by_word as by_word
from shmlint.model.settings import Settings
from shmlint.reports import diff, json, text
from shmlint.run import lint
from tests.formats.test_inspect import ALL, NGC_CONFIG, container
from tests.table import table

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("elsewhere")]

SMALL = 40
"""Launches of the smaller text."""

MOST = 2.5
"""How often more than in the smaller text a function may be called: twice, and a little for what happens once."""

FEW = 1000
"""Calls for the larger text below which nothing is said: a function called for each pair of launches has 3,200."""

GPU = "    image: pytorch/pytorch\n    gpus: all\n"
RUN = "docker run --gpus all pytorch/pytorch python train.py"
SIZED = RUN.replace("--gpus", "--shm-size=64m --gpus")


def many(part: str, head: str = "") -> Callable[[int], str]:
    """A text of one part again and again; ``@`` is its number."""
    return lambda count: head + "".join(part.replace("@", str(n)) for n in range(1, count + 1))


CASES: Mapping[str, tuple[str, str, Callable[[int], str]]] = {
    "services": ("compose", "compose.yaml", many(f"  s@:\n{GPU}    command: python train.py\n", "services:\n")),
    "other services": ("compose", "compose.yaml", many("  s@:\n    image: redis\n    ports: ['@:1']\n", "services:\n")),
    "one anchor": (
        "compose", "compose.yaml",
        many("  s@:\n    <<: *gpu\n    command: train @\n", f"x-gpu: &gpu\n{GPU.replace('    ', '  ')}services:\n"),
    ),
    "an extends chain": (
        "compose", "compose.yaml", lambda count: f"services:\n  s0:\n{GPU}" + "".join(
            f"  s{n}:\n    extends: s{max(0, n - 1 if n % 10 else 0)}\n    command: x\n" for n in range(1, count)
        ),
    ),
    "invalid sizes": ("compose", "compose.yaml", many(f"  s@:\n{GPU}    shm_size: 1e8\n", "services:\n")),
    "suppressed": ("compose", "compose.yaml", many(f"  s@: # shmlint: ignore[SHM101] x\n{GPU}", "services:\n")),
    "suppressions of nothing": (
        "compose", "compose.yaml", many("  s@: # shmlint: ignore[SHM101] x\n    image: redis\n", "services:\n")
    ),
    "suppressions below each other": (
        "devcontainer", ".devcontainer/devcontainer.json",
        many("// shmlint: ignore\n", '{"image": "redis", "runArgs": []}\n'),
    ),
    "suppressions in a document": (
        "markdown", "README.md", many(f"<!-- shmlint: ignore -->\n```sh\n{RUN}\n```\n\n")
    ),
    "command lines": ("shell", "run.sh", many(f"{RUN} @\n")),
    "variables": ("shell", "run.sh", many(f"A@=--rm\n{RUN} $A@\n")),
    "words that are not known": ("shell", "run.sh", lambda count: RUN.replace("all ", "all " + "$A " * 20 * count)),
    "suppressed command lines": ("shell", "run.sh", many(f"{RUN} # shmlint: ignore\n")),
    "rules of make": ("makefile", "Makefile", many(f"r@:\n\t{RUN}\n")),
    "rules of make that share a size": (
        "makefile", "Makefile", many(f"r@:\n\t{RUN.replace('all', 'all --shm-size=$(S)')}\n\ttool $(S)\n", "S = 64m\n")
    ),
    "stages with agents in one another": (
        "jenkinsfile", "Jenkinsfile",
        many("stage('@') { agent { docker { image 'a'; args '--gpus all' } }\nstages {\n"),
    ),
    "steps of a pipeline": ("jenkinsfile", "Jenkinsfile", many(f"sh '{RUN} @'\n")),
    "blocks of commands": ("markdown", "README.md", many(f"# Use @\n\n```sh\n{RUN}\n```\n\n")),
    "blocks that give a size": ("markdown", "README.md", many(f"# @\n\n```sh\n{SIZED} --epochs @\n```\n\n")),
    "lines of a block": ("markdown", "README.md", many(f"{RUN} @\n", "```sh\n")),
    "blocks of compose": ("markdown", "README.md", many(f"# Use @\n\n```yaml\nservices:\n  s@:\n{GPU}```\n\n")),
    "jobs": (
        "ci", ".github/workflows/gpu.yml",
        many(f"  j@:\n    container:\n      image: x\n      options: --gpus all\n    steps:\n      - run: {RUN}\n",
             "jobs:\n"),
    ),
    "scripts of jobs": ("ci", ".gitlab-ci.yml", many(f"j@:\n  script:\n    - {RUN}\n    - echo @\n")),
    "a dev container's arguments": (
        "devcontainer", ".devcontainer/devcontainer.json",
        lambda count: '{"image": "pytorch/pytorch", "runArgs": [' + '"-e", "A=b", ' * count + '"--gpus", "all"]}',
    ),
    "containers that are inspected": (
        "inspect", "inspect.json", lambda count: dumps([
            container(f"c{n}", DeviceRequests=ALL, IpcMode="container:c0" if n % 2 else "private", config=NGC_CONFIG)
            for n in range(count)
        ]),
    ),
}  # fmt: skip


def work(texts: Mapping[str, Mapping[str, str]]) -> Counter[str]:
    """The calls of each function while texts, by kind and path, are checked, repaired, compared and reported."""
    profile = cProfile.Profile()
    profile.enable()
    workspace = Workspace({path: text for some in texts.values() for path, text in some.items()})
    run = lint({kind: list(some) for kind, some in texts.items()}, Settings(), workspace)
    outcome = fix.fix(run)
    for _ in diff.render(run, outcome.texts):
        pass
    for _ in text.render(run, run.findings):
        pass
    json.render(run, run.findings, fixed=0)
    profile.disable()
    calls: Counter[str] = Counter()
    for entry in profile.getstats():
        code = entry.code
        if not isinstance(code, str):  # what is written in C is called by the test runner's own hooks too
            calls[f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}"] += entry.callcount
    return calls


@table("case", CASES)
def test_twice_the_launches_are_twice_the_work(case: str) -> None:
    kind, path, content = CASES[case]
    compare(lambda count: {kind: {path: content(count)}})


def test_twice_the_shells_are_twice_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # nothing else shows what is run in them
    shells = many("docker run -it --gpus all -v a@:/a pytorch/pytorch bash\npython fit@.py --a\n")
    compare(lambda count: {"shell": {"run.sh": shells(count)}})


def test_twice_the_directories_are_twice_the_work() -> None:
    compare(lambda count: {
        "compose": {f"d{n}/compose.yaml": f"services:\n  s:\n{GPU}" for n in range(count)},
        "devcontainer": {f"d{n}/.devcontainer.json": '{"image": "redis"}' for n in range(0, count, 2)},
        "shell": {f"d{n}/run.sh": f"{RUN}\n" for n in range(count)},
    })  # fmt: skip


def test_twice_the_files_that_include_one_another_are_twice_the_work() -> None:
    compare(lambda count: {"compose": {
        f"c{n}/compose.yaml": f"include: [../c{n + 1}/compose.yaml]\n" if n < count - 1 else f"services:\n  s:\n{GPU}"
        for n in range(count)
    }})  # fmt: skip


def test_a_file_that_is_included_again_and_again_is_taken_once() -> None:
    services = many(f"  s@:\n{GPU}", "services:\n")
    compare(lambda count: {"compose": {
        "compose.yaml": "include:\n" + "- part.yaml\n" * count, "part.yaml": services(count),
    }})  # fmt: skip


def test_a_file_that_many_extend_is_taken_apart_once() -> None:
    services = many(f"  b@:\n{GPU}", "services:\n")
    extends = "services:\n  s:\n    extends:\n      file: base.yml\n      service: b@\n"
    compare(lambda count: {"compose": {
        "base.yml": services(count),
        **{f"compose.{n}.yml": extends.replace("@", str(n)) for n in range(1, count + 1)},
    }})  # fmt: skip


def test_few_files_are_looked_at_for_one_that_a_file_may_be_put_on() -> None:
    workspace = Workspace({f"compose.gpu.{n}.yml": "services:\n  s:\n    image: x\n" for n in range(100)})
    assert max(map(len, by_word("", workspace).values())) < 3


def compare(texts: Callable[[int], Mapping[str, Mapping[str, str]]]) -> None:
    work(texts(3))  # what is imported and read once is read now
    few, many = work(texts(SMALL)), work(texts(2 * SMALL))
    assert sum(many.values()) < MOST * sum(few.values())
    grown = {name: (few[name], calls) for name, calls in many.items() if calls > FEW and calls > MOST * few[name]}
    assert grown == {}


@pytest.mark.parametrize("case", ["one anchor", "services", "command lines", "jobs", "blocks of compose"])
def test_what_is_measured_is_repaired(case: str) -> None:
    kind, path, content = CASES[case]
    outcome = fix.fix(lint({kind: [path]}, Settings(), Workspace({path: content(5)})))
    assert len(outcome.fixed) >= 5
    assert outcome.unproved == []


HOSTILE = {
    "statements": "docker run: [\n" + "{% " * 100_000,
    "comments": "docker run: [\n" + "{# " * 100_000,
    "places": "docker run: [\n" + "{{ " * 100_000 + "\n}}",
    "expressions": "a:\n  script: docker run x " + "${{ " * 75_000 + "\n",
    "engines": "a: [\n" + "docker " * 45_000,
    "blanks": "a:\n  script: docker run" + " " * 300_000 + "x\n",
    "quoted blanks": 'a:\n  script: "docker run' + " " * 300_000 + 'x"\n',
    "escaped blanks": 'a:\n  script: "docker run' + "\\ " * 150_000 + 'x"\n',
}


@table("case", HOSTILE)
def test_no_pattern_starts_over_at_every_character(case: str) -> None:
    """In time that grows with the square these would take a minute and more."""
    start = time.process_time()
    lint({"ci": [".gitlab-ci.yml"]}, Settings(), Workspace({".gitlab-ci.yml": HOSTILE[case]}))
    assert time.process_time() - start < 10


PAGES = {
    "verbs in one line": "docker " + "run -" * 300_000,
    "spans": "x `A=" * 60_000,
    "assignments in a span": " `" + "A=b " * 75_000,
    "lines that go": "cd " * 100_000,
}


@table("case", PAGES)
def test_a_line_of_a_page_is_looked_at_once(case: str) -> None:
    start = time.process_time()
    page = f"```\n{RUN.replace('run', 'run -it -v .:/x')}\n```\n{PAGES[case]}\n"
    lint({"markdown": ["README.md"]}, Settings(), Workspace({"README.md": page}))
    assert time.process_time() - start < 10


def test_lines_above_a_container_are_not_read_again_for_each() -> None:
    """What is walked in a loop calls no function, so the clock is asked: each time, it would take 20 seconds."""
    head = "---\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
    container = "  - name: c@\n    image: pytorch/pytorch\n    resources: {limits: {nvidia.com/gpu: 1}}\n"
    for manifest in (many(container, head)(3_000), many(head + container)(4_000)):
        run = lint({"kubernetes": ["pods.yaml"]}, Settings(), Workspace({"pods.yaml": manifest}))
        start = time.process_time()
        for launch in run.launches:
            assert launch.rewriter.set_shm_size(1 << 33)
        assert time.process_time() - start < 5


def test_a_command_is_not_read_again_for_each_variable_in_it() -> None:
    """What is walked in a loop calls no function, so the clock is asked: each time it would take 5 seconds and more."""
    command = RUN.replace("all ", "all " + "-v$A:/x " * 4_900)
    run = lint({"shell": ["run.sh"]}, Settings(), Workspace({"run.sh": command}))
    start = time.process_time()
    assert len(fix.fix(run).fixed) == 1
    assert time.process_time() - start < 3

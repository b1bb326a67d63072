"""Several processes: the same answers as one, whatever becomes of the others."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from shmlint import checks, formats
from shmlint.files import discover, parallel
from shmlint.files.parallel import share
from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.model.settings import Settings
from shmlint.reports import json
from shmlint.run import Run, lint
from tests.project import uncovered
from tests.table import table

# Newer Pythons warn where the runner of these tests has threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

HERE = os.getpid()
MANY = list(range(40))


def double(number: int) -> int:
    return 2 * number


def die_elsewhere(number: int) -> int:
    if os.getpid() != HERE:
        os._exit(9)
    return 2 * number


def unsendable(number: int) -> Callable[[], int]:
    return lambda: 2 * number


def refuse(number: int) -> int:
    if number == 33:
        raise KeyError(number)
    return number


def slow(number: int) -> tuple[int, int]:
    time.sleep(0.01)
    return number, os.getpid()


@pytest.fixture(
    params=[
        pytest.param("forked", marks=pytest.mark.needs("posix")),
        pytest.param("spawned", marks=pytest.mark.slow),
    ]
)
def started(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started in each way that some system has."""
    monkeypatch.setattr(parallel, "FORKS", request.param == "forked")


@pytest.mark.usefixtures("started")
@table("jobs", [1, 2, 4])
@table("count", [0, 1, 2, 40])
def test_the_results_come_in_order(jobs: int, count: int) -> None:
    done = []
    assert share(double, MANY[:count], jobs, lambda: done.append(os.getpid())) == [2 * n for n in range(count)]
    assert done == [HERE]


@pytest.mark.usefixtures("started")
def test_the_work_is_shared() -> None:
    results = share(slow, MANY, 3)
    assert [number for number, _ in results] == MANY
    assert HERE in {process for _, process in results} and len({process for _, process in results}) > 1


@pytest.mark.usefixtures("started")
def test_what_others_do_not_bring_to_an_end_is_done_here() -> None:
    assert share(die_elsewhere, MANY, 3) == [2 * n for n in MANY]
    assert [result() for result in share(unsendable, MANY, 3)] == [2 * n for n in MANY]


def die_at_first(number: int) -> int:
    time.sleep(0.4 if os.getpid() == HERE else 0.1)
    if number == 0 and os.getpid() != HERE:
        os._exit(9)
    return number


@pytest.mark.usefixtures("started")
@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_process_dies_while_this_one_does_what_is_left() -> None:
    """The others end too: none of them keeps this one from ending."""
    try:
        assert share(die_at_first, MANY[:8], 3) == MANY[:8]
        assert multiprocessing.active_children() == []
    finally:
        for process in multiprocessing.active_children():
            process.terminate()


def refused(*_: object, **__: object) -> None:
    raise OSError(11, "Resource temporarily unavailable")


@table("forks", [True, False])
def test_where_no_other_process_can_be_had(forks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "FORKS", forks)
    monkeypatch.setattr(os, "fork", refused, raising=False)
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refused)
    assert share(who, MANY, 3) == [(number, HERE) for number in MANY]


@pytest.mark.needs("linux")
def test_nothing_is_left_open_and_no_process_unwaited_for() -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = opened()
    others = {process for _, process in share(slow, MANY, 4)} - {HERE}
    with pytest.raises(KeyError):
        share(refuse, MANY, 4)
    assert opened() == before and others
    for process in others:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_more_portions_than_a_pipe_holds_numbers_and_results_larger_than_it() -> None:
    count = 50_000
    assert share(double, range(count), 3) == [2 * n for n in range(count)]
    assert list(map(len, share(large, MANY, 3))) == [300_000] * len(MANY)


def large(number: int) -> bytes:
    time.sleep(0.002)
    return bytes([number]) * 300_000


def share_and_send(connection: Connection) -> None:
    connection.send(share(who, MANY, 3))


def who(number: int) -> tuple[int, int]:
    return number, os.getpid()


@pytest.mark.usefixtures("started")
def test_a_daemonic_process_gets_all_work_done_and_a_thread_does_it_itself() -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=share_and_send, args=(theirs,), daemon=True)
    process.start()
    assert ours.poll(60)
    assert [number for number, _ in ours.recv()] == MANY
    process.join()
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(share, who, MANY, 3).result() == [(number, HERE) for number in MANY]


@pytest.mark.usefixtures("started")
def test_processes_of_others_live_on_when_the_work_is_interrupted() -> None:
    process = multiprocessing.Process(target=time.sleep, args=(60,))
    process.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            share(time.sleep, [9.0] * 6, 3, interrupted)
        assert process.is_alive()
    finally:
        process.terminate()
        process.join()


def interrupted() -> None:
    time.sleep(0.3)  # the other processes are at work
    raise KeyboardInterrupt


@pytest.mark.usefixtures("started")
def test_what_goes_wrong_goes_wrong_as_in_one_process() -> None:
    for jobs in (1, 3):
        with pytest.raises(KeyError, match="33"):
            share(refuse, MANY, jobs)


def hears_of_interruptions(number: int) -> tuple[int, bool]:
    time.sleep(0.01)
    return os.getpid(), signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


@pytest.mark.usefixtures("started")
def test_an_interruption_is_for_one_process() -> None:
    heard = share(hears_of_interruptions, MANY, 3)
    assert {process for process, hears in heard if hears} == {HERE} != {process for process, _ in heard}


@pytest.mark.usefixtures("started")
def test_an_interruption_does_not_wait_for_the_others() -> None:
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        share(time.sleep, [9.0] * 6, 3, interrupted)
    assert time.monotonic() - begin < 8


GPU = "docker run --gpus all pytorch/pytorch python train.py"
SERVICE = "services:\n  t:\n    image: pytorch/pytorch\n    gpus: all\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of every kind, in and out of directories, some of them not readable as text."""
    monkeypatch.chdir(tmp_path)
    for i in range(12):
        folder = tmp_path / f"d{i % 4}" / f"e{i}"
        (folder / ".github/workflows").mkdir(parents=True)
        (folder / "run.sh").write_text(f"{GPU} {i}\n# shmlint: ignore\n" if i % 3 else f"# shmlint: ignore\n{GPU}\n")
        (folder / "README.md").write_text(f"# Use\n\n```sh\n{GPU}\n```\n\n```yaml\n{SERVICE}```\n")
        (folder / "Makefile").write_text(f"run:\n\t{GPU}\n")
        (folder / "compose.yaml").write_text(SERVICE)
        (folder / "compose.other.yaml").write_text("services:\n  o: {extends: {file: ../../base.yml, service: t}}\n")
        (folder / ".github/workflows/gpu.yml").write_text(
            f"jobs:\n  a:\n    container:\n      image: x\n      options: --gpus all\n    steps: [run: '{GPU}']\n"
        )
        (folder / "broken.sh").write_bytes(b"docker run \xff\n")
        (folder / "none.txt").write_text(GPU)
    (tmp_path / "base.yml").write_text(SERVICE)
    return tmp_path


def whole_run(jobs: int) -> Run:
    found = list(discover.discover(["."], kinds=formats.KINDS, exclude=("d3/e3",), jobs=jobs))
    files: dict[str, list[str]] = {}
    for item in found:
        if isinstance(item, discover.LeftOut):
            continue
        assert isinstance(item, discover.Found)
        files.setdefault(item.kind, []).append(item.path)
    return lint(files, Settings(), jobs=jobs)


def told(run: Run) -> tuple[str, str, dict[str, str], str]:
    outcome = fix.fix(run)
    return (
        json.render(run, run.findings, fixed=0), json.inventory(run), outcome.texts,
        json.render(outcome.run, fix.remaining(outcome), fixed=len(outcome.fixed)),
    )  # fmt: skip


@pytest.mark.slow
def test_several_processes_find_and_repair_the_same(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = told(whole_run(1))
    for module, name, value in ((discover, "MANY", 0), (discover, "PORTION", 50), (formats, "MUCH", 0)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(formats, "PORTION", 200)
    monkeypatch.setattr(checks, "ALONE", -1.0)
    monkeypatch.setattr(checks, "WORTH", 0.0)
    shares: list[int] = []

    def counted(work: Callable[[object], object], portions: list[object], *rest: object, **named: object) -> object:
        shares.append(len(portions))
        return share(work, portions, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(discover, "share", counted)
    monkeypatch.setattr(formats, "share", counted)
    monkeypatch.setattr(checks, "share", counted)
    assert told(whole_run(3)) == alone
    assert len(shares) == 3 and min(shares) > 10  # the names, the files, and the launches
    assert len(alone[2]) > 40


def test_a_small_run_starts_nothing(tree: Path) -> None:
    # By a clock that stands still: on a slow machine the check of even this tree takes long enough to be shared.
    script = "import sys, time\ntime.process_time = float\nfrom shmlint.cli.program import program\n"
    script += "program(['-q', '--exit-zero', '.'], standalone_mode=False)\n"
    script += "print([name for name in sys.modules if name.startswith('concurrent')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


LARGE = """
from shmlint import formats
formats.MUCH = 0
formats.PORTION = 1
from shmlint.cli import main
main()
"""


def start_large_run(tree: Path) -> subprocess.Popen[str]:
    """A run of several seconds in three processes, in a group of its own, once they are at work."""
    for i in range(60):
        (tree / f"{i}.sh").write_text(f"{GPU} {i}\n" * 2000)
    process = subprocess.Popen(
        [sys.executable, "-c", LARGE, "--jobs", "3", "."], cwd=tree, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=uncovered(),
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while len(members(process.pid)) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(members(process.pid)) == 3
    return process


def members(group: int) -> set[int]:
    """The processes of a group that are still running."""
    lines = subprocess.run(["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    return {int(pid) for pid, of, state in rows if int(of) == group and not state.startswith("Z")}


@pytest.mark.slow
@pytest.mark.needs("posix", "ps")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_behind(number: str, tree: Path) -> None:
    process = start_large_run(tree)
    if number == "SIGINT":
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    else:
        process.send_signal(getattr(signal, number))
    out, err = process.communicate(timeout=10)
    assert process.returncode != 0 and "Traceback" not in out + err
    deadline = time.monotonic() + 10
    while members(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert members(process.pid) == set()


@pytest.mark.needs("posix")
def test_an_interruption_while_processes_start_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+C that is held back while they start is raised where it is let through."""
    mask = signal.pthread_sigmask

    def interrupted(how: int, signals: set[signal.Signals]) -> set[int | signal.Signals]:
        before = mask(how, signals)
        if how == signal.SIG_SETMASK:
            raise KeyboardInterrupt
        return before

    monkeypatch.setattr(signal, "pthread_sigmask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        share(time.sleep, [60, 60, 60], 3)
    assert multiprocessing.active_children() == []


def test_what_goes_to_other_processes_can_be_sent() -> None:
    text = "docker run --gpus all nvcr.io/nvidia/pytorch:24.01-py3 python train.py\n"
    for kind, name in (("shell", "x.sh"), ("markdown", "x.md"), ("ci", ".gitlab-ci.yml")):
        body = {"shell": text, "markdown": f"```sh\n{text}```\n", "ci": f"job:\n  script:\n    - {text}"}[kind]
        reading = formats.read(kind, [name], Workspace().over({name: body}), Settings())
        assert reading.launches
        assert [launch.name for launch in pickle.loads(pickle.dumps(reading)).launches] == [
            launch.name for launch in reading.launches
        ]
    assert pickle.loads(pickle.dumps(Settings())) == Settings()

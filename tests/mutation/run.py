"""Mutants of one target in a throwaway copy of the checkout: how many the tests kill, and which live.

    python -m tests.mutation.run size|effective_shm|merge

Needs cosmic-ray besides the test dependencies; README.md says what came of it.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules")


def skip_others(database: WorkDB, functions: list[str], notes: set[tuple[int, int]]) -> None:
    """Leave out the mutants of annotations, and those outside of the named functions; no name means all."""
    for item in list(database.pending_work_items):
        mutation = item.mutations[0]
        if tuple(mutation.start_pos) in notes or (functions and mutation.definition_name not in functions):
            database.set_result(item.job_id, WorkResult(WorkerOutcome.SKIPPED, "not asked for"))


def annotations(text: str) -> set[tuple[int, int]]:
    """Line and column of every character of a module's annotations: they are never evaluated."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        note = getattr(node, "returns", None) or getattr(node, "annotation", None)
        if isinstance(note, ast.expr):
            found |= {(note.lineno, column) for column in range(note.col_offset, (note.end_col_offset or 0))}
    return found


def survivors(database: WorkDB) -> Iterator[tuple[str, int, str, str]]:
    """Function, line, operator and changed line of each mutant that lives."""
    mutations = {item.job_id: item.mutations[0] for item in database.work_items}
    for job, result in database.results:
        if result.test_outcome == TestOutcome.SURVIVED:
            mutation = mutations[job]
            lines = [line for line in (result.diff or "").splitlines() if line.startswith("+") and line[1:2] != "+"]
            operator = mutation.operator_name.removeprefix("core/")
            yield mutation.definition_name or "-", mutation.start_pos[0], operator, " ".join(lines)


def main(target: str) -> int:
    """Run one target; the exit status is 0 whatever lives: that is for a reader to judge."""
    config = HERE / f"{target}.toml"
    asked = tomllib.loads(config.read_text(encoding="utf-8"))["cosmic-ray"]
    notes = annotations((CHECKOUT / asked["module-path"]).read_text(encoding="utf-8"))
    # `python` in the test command is the one that runs this.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "CI": "true"}
    with tempfile.TemporaryDirectory(prefix="mutants-") as work:
        copy, session = Path(work) / "checkout", Path(work) / "session.sqlite"
        shutil.copytree(CHECKOUT, copy, ignore=LEFT_OUT)

        def cosmic_ray(*arguments: str) -> None:
            subprocess.run([sys.executable, "-m", "cosmic_ray.cli", *arguments], cwd=copy, env=environment, check=True)

        # The unchanged copy has to pass, or every mutant would count as killed.
        cosmic_ray("baseline", str(config))
        cosmic_ray("init", str(config), str(session))
        with use_db(session) as database:
            skip_others(database, asked.get("functions", []), notes)
        cosmic_ray("exec", str(config), str(session))
        with use_db(session, mode=WorkDB.Mode.open) as database:
            ran = [each for _, each in database.results if each.worker_outcome != WorkerOutcome.SKIPPED]
            alive = sorted(survivors(database))
    print(f"{target}: {len(ran)} mutants, {len(ran) - len(alive)} killed, {len(alive)} live")
    for function, line, operator, text in alive:
        print(f"{function}:{line} {operator}\n    {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

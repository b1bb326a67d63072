"""Public compose files, unchanged: every launch of each agrees with what Compose makes of it.

The files are not part of this repository. ``SHMLINT_CORPUS`` names a directory with an
``index.jsonl`` whose lines hold ``file`` (a path below the directory), ``kind`` and ``path`` (the
path it had in its repository).
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.files import default_files, incomplete
from shmlint.formats.compose.invalid_service import service_faults
from shmlint.formats.compose.load import load_project
from shmlint.formats.compose.service import read_project
from shmlint.formats.compose.shape import check
from shmlint.syntax.yaml_read import read_documents
from tests.oracles.agreement import disagreements
from tests.oracles.compose import compose_answer

Asked = tuple[Path, tuple[str, ...]]
"""A directory, and files in it that are read together."""


def laid_out(corpus: Path, work: Path) -> Iterator[Path]:
    """Copies of the corpus' compose files, each under the name it had; projects as they are."""
    with (corpus / "index.jsonl").open(encoding="utf-8") as index:
        rows = sorted(map(json.loads, index), key=lambda row: row["file"])
    for number, row in enumerate(rows):
        if row["kind"] == "projects" or row["file"].startswith("projects/"):
            target = work / row["file"]
        elif row["file"].startswith("compose/"):
            target = work / "compose" / f"{number:05d}" / row["path"]
        else:
            continue
        if (corpus / row["file"]).exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(corpus / row["file"], target)
            if target.suffix in (".yml", ".yaml") and re.search(rb"^services\s*:", target.read_bytes(), re.M):
                yield target


def to_ask(files: list[Path]) -> Iterator[Asked]:
    """Each file alone, and what Compose finds by itself in each directory that has more than one."""
    for file in files:
        yield file.parent, (file.name,)
    workspace = Workspace()
    for directory in sorted({file.parent for file in files}):
        found = default_files(str(directory), workspace)
        if len(found) > 1:
            yield directory, tuple(os.path.relpath(file, directory) for file in found)
        if found:  # a file that cannot stand alone is put on what is there
            for file in files:
                if file.parent == directory and str(file) not in found and overlays(str(file), workspace):
                    yield directory, (os.path.basename(found[0]), file.name)


def overlays(path: str, workspace: Workspace) -> bool:
    try:
        return bool(incomplete(path, workspace))
    except Unreadable:
        return False


def asked(directory: Path, files: tuple[str, ...]) -> tuple[dict[str, Any] | None, bool]:
    """Compose's answer, and whether something was put there, which is done until Compose is content.

    That is what a repository leaves to its users: env files and variables. Both programs read them, so it makes more
    to compare.
    """
    for attempt in range(25):
        answer, said = compose_answer(directory, files)
        if answer is not None:
            # The directory this happens to be in is the project's own.
            shorter: dict[str, Any] = json.loads(json.dumps(answer).replace(str(directory), "."))
            return shorter, attempt > 0
        missing_file = re.search(r"env file (\S+) not found", said)
        missing_value = re.search(r"required variable (\w+) is missing a value", said)
        if missing_file:
            path = Path(missing_file[1])
            if not path.is_relative_to(directory):
                break
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        elif missing_value:
            with (directory / ".env").open("a", encoding="utf-8") as env:
                env.write(f"\n{missing_value[1]}=given\n")
        else:
            break
    return None, attempt > 0


def project_of(directory: Path, work: Path) -> tuple[str, ...]:
    """The copy of a repository, or of a single file with its directories."""
    return directory.relative_to(work).parts[:2]


@pytest.mark.compose_judge
@pytest.mark.needs("corpus")
@pytest.mark.slow
def test_compose_agrees_on_public_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = list(to_ask(sorted(laid_out(Path(os.environ["SHMLINT_CORPUS"]), tmp_path))))
    with ThreadPoolExecutor(3) as pool:
        answers = dict(zip(questions, pool.map(lambda question: asked(*question), questions), strict=True))
        # What one question puts into a project, the others there see too.
        changed = {project_of(directory, tmp_path) for (directory, _), (_, put) in answers.items() if put}
        again = [question for question in questions if project_of(question[0], tmp_path) in changed]
        answers.update(zip(again, pool.map(lambda question: asked(*question), again), strict=True))
    accepted = 0
    found: list[str] = []
    for (directory, files), (answer, _) in answers.items():
        if answer is None:
            continue
        accepted += 1
        monkeypatch.chdir(directory)
        name = f"{directory.relative_to(tmp_path)}: {' + '.join(files)}"
        workspace = Workspace()
        try:
            project = load_project(files, workspace)
            problems = [p for file in files for p in check(file, read_documents(file, workspace), workspace)]
        except Unreadable as error:
            found.append(f"{name}: unreadable, {error.message}")
            continue
        problems += [*project.problems, *service_faults(project, complete=True, is_given_beside=lambda _: False)]
        found += [f"{name}: line {p.span.line}: {p.message}" for p in problems]
        launches = {launch.name: launch for launch in read_project(project, workspace)}
        for service, theirs in answer["services"].items():
            if service in launches:
                found += [f"{name}: {line}" for line in disagreements(theirs, launches[service])]
            else:
                found.append(f"{name}: {service} is not read")
    print(f"Compose accepts {accepted} of {len(questions)}")
    assert not found, "\n".join(found)
    assert accepted >= 300

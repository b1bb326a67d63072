"""What all formats share: one unreadable file of several stops nothing."""

from __future__ import annotations

from pathlib import Path

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.model.launch import Unknown
from shmlint.model.reading import NotRead, Reading
from shmlint.model.source import Source, Span
from tests.project import run
from tests.table import table

OF_MAKE = "is a variable that make sets for the rule"


def test_each_file_is_read_by_itself() -> None:
    def read_file(source: Source) -> Reading:
        if source.text == "broken":
            raise Unreadable(source.path, "not valid", 3, source)
        return Reading(not_read=(NotRead(Span(source, 0, 1), source.text, "unsupported"),))

    workspace = Workspace({"a": "one", "b": "broken", "c": "two"})
    reading = read_each(["a", "gone", "b", "c"], workspace, read_file)
    assert [place.because for place in reading.not_read] == ["one", "two"]
    assert [(problem.span.path, problem.span.start) for problem in reading.problems] == [("gone", 0), ("b", 3)]


@table(
    "path, text, size, because",
    [
        ("run.fish", "docker run --gpus all --shm-size=$SHM[2] IMG\n", "$SHM[2]", "$SHM[2] is an item of a list"),
        ("run.fish", "docker run --gpus all --shm-size=\"$$SHM\" IMG\n", "$$SHM", "$$SHM is an item of a list"),
        ("Makefile", "8g:\n\tdocker run --gpus all --shm-size=$@ IMG\n", "$@", f"$@ {OF_MAKE}"),
        ("Makefile", "a: 8g\n\tdocker run --gpus all --shm-size=$< IMG\n", "$<", f"$< {OF_MAKE}"),
        (".github/workflows/a.yml",
         "env: {SHM: 8g}\njobs:\n  a:\n    steps:\n      - run: echo SHM=1g >> $GITHUB_ENV\n"
         "      - run: docker run --gpus all --shm-size=${{ env.SHM }} IMG\n",
         "${{ env.SHM }}", "variable ${{ env.SHM }} is set from elsewhere"),
        (".github/workflows/a.yml",
         "jobs:\n  a:\n    container: {image: IMG, options: '--gpus all --shm-size=${{ inputs.shm }}'}\n",
         "${{ inputs.shm }}", "it depends on an expression"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_called_as_the_file_has_it(
    tmp_path: Path, path: str, text: str, size: str, because: str
) -> None:
    (launch,) = run(tmp_path, {path: text}).launches
    assert launch.shm is not None and isinstance(launch.shm.value, Unknown)
    assert (launch.shm.text, launch.shm.value.because) == (size, because)

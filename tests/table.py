"""Tables of cases: one test that goes through all rows and names those that fail."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

PARAM = type(pytest.param())


def table(
    names: str | Sequence[str], rows: Iterable[Any], ids: Iterable[str] | Callable[[Any], str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like ``pytest.mark.parametrize``, but a single test; with hundreds of rows a test for each takes too long.

    Each row has a ``tmp_path`` and a ``monkeypatch`` of its own. A fixture of another name is shared by all rows.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    given_rows = list(rows)
    values = [_values(row, len(columns)) for row in given_rows]
    labels = _labels(given_rows, ids)
    assert values, "a table without rows tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        added = [] if "tmp_path" in signature.parameters else [
            inspect.Parameter("tmp_path", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Path)
        ]  # fmt: skip

        @functools.wraps(test)
        def every_row(**given: Any) -> None:
            failures: list[Exception] = []
            for number, (row, label) in enumerate(zip(values, labels, strict=True)):
                try:
                    with _isolated(given, number) as fixtures:
                        if added:
                            del fixtures["tmp_path"]
                        test(**fixtures, **dict(zip(columns, row, strict=True)))
                except Exception as error:
                    error.add_note(f"row {label}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(values)} rows fail", failures)

        every_row.__signature__ = signature.replace(parameters=[*fixtures, *added])  # type: ignore[attr-defined]
        del every_row.__wrapped__
        return every_row

    return decorate


def _values(row: Any, columns: int) -> tuple[Any, ...]:
    if isinstance(row, PARAM):
        assert not row.marks, "a row of a table has no markers of its own"
        return tuple(row.values)
    return (row,) if columns == 1 else tuple(row)


def _labels(rows: Sequence[Any], ids: Iterable[str] | Callable[[Any], str] | None) -> list[str]:
    if callable(ids):
        return [str(ids(row)) for row in rows]
    if ids is not None:
        return [repr(label) for label in ids]
    return [repr(row.id if isinstance(row, PARAM) else row)[:200] for row in rows]


@contextlib.contextmanager
def _isolated(given: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """The fixtures of a row: a directory of its own, which is the current one where ``tmp_path`` was."""
    directory = given["tmp_path"] / f"row{number}"
    with contextlib.ExitStack() as stack:
        fixtures = {**given, "tmp_path": directory}
        if "monkeypatch" in given:
            fixtures["monkeypatch"] = stack.enter_context(given["monkeypatch"].context())
        directory.mkdir()
        if Path(os.getcwd()) == given["tmp_path"]:
            stack.enter_context(contextlib.chdir(directory))
        yield fixtures

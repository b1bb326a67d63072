"""Results as bytes for another process that has read the same files."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from shmlint.files.workspace import Workspace
from shmlint.model.source import Source


def pickled(value: object, workspace: Workspace, common: Sequence[object] = ()) -> bytes:
    """A value in which the texts of files, and what both processes have in ``common``, are named and not copied."""
    buffer = BytesIO()
    _Pickler(buffer, workspace, common).dump(value)
    return buffer.getvalue()


def unpickled(data: bytes, workspace: Workspace, common: Sequence[object] = ()) -> Any:
    """A value from ``pickled``, with the texts of this workspace."""
    return _Unpickler(data, workspace, common).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: BytesIO, workspace: Workspace, common: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._workspace = workspace
        self._numbers = {id(value): number for number, value in enumerate(common)}

    def persistent_id(self, value: Any) -> int | str | None:
        if isinstance(value, Source):
            return value.path if self._workspace.has(value) else None
        return self._numbers.get(id(value))


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, workspace: Workspace, common: Sequence[object]) -> None:
        super().__init__(BytesIO(data))
        self._workspace = workspace
        self._common = common

    def persistent_load(self, name: Any) -> object:
        return self._common[name] if isinstance(name, int) else self._workspace.source(name)

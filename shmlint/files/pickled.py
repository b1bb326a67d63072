"""Results as bytes for another process that has read the same files."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from shmlint.files.workspace import Workspace
from shmlint.model.launch import Launch
from shmlint.model.source import Source

_PROTOCOL = pickle.HIGHEST_PROTOCOL


def pickled(value: object, workspace: Workspace, common: Sequence[Launch] = ()) -> bytes:
    """A value in which the texts of files, and what both processes have in ``common``, are named and not copied."""
    buffer = BytesIO()
    _Pickler(buffer, workspace, common).dump(value)
    return buffer.getvalue()


def unpickled(data: bytes, workspace: Workspace, common: Sequence[Launch] = ()) -> Any:
    """A value from ``pickled``, with the texts of this workspace."""
    return _Unpickler(data, workspace, common).load()


class _Pickler(pickle.Pickler):
    """The two types that are named are the only objects that it asks for, and not each one that it comes by."""

    def __init__(self, file: BytesIO, workspace: Workspace, common: Sequence[Launch]) -> None:
        super().__init__(file, _PROTOCOL)
        self._workspace = workspace
        self._numbers = {id(value): number for number, value in enumerate(common)}
        self.dispatch_table = {Source: self._source, Launch: self._launch}

    def _source(self, source: Source) -> str | tuple[Any, ...]:
        return (_named, (source.path,)) if self._workspace.has(source) else source.__reduce_ex__(_PROTOCOL)

    def _launch(self, launch: Launch) -> str | tuple[Any, ...]:
        number = self._numbers.get(id(launch))
        return (_named, (number,)) if number is not None else launch.__reduce_ex__(_PROTOCOL)


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, workspace: Workspace, common: Sequence[Launch]) -> None:
        super().__init__(BytesIO(data))
        self._workspace = workspace
        self._common = common

    def find_class(self, module: str, name: str) -> Any:
        named = (module, name) == (_named.__module__, _named.__name__)
        return self._find if named else super().find_class(module, name)

    def _find(self, name: int | str) -> Launch | Source:
        return self._common[name] if isinstance(name, int) else self._workspace.source(name)


def _named(name: int | str) -> None:
    """Stands for what is named, in the bytes; ``_Unpickler`` has its own in this place."""
    raise pickle.UnpicklingError(f"only `unpickled` knows what {name!r} is")

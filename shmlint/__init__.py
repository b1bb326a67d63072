"""shmlint finds and fixes GPU containers that are started with too little /dev/shm.

`lint` and `fix` are the Python API; they and the types of their values are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from shmlint.version import __version__

if TYPE_CHECKING:
    from shmlint.api import (
        Edit,
        Error,
        Evidence,
        Finding,
        Fix,
        Fixed,
        Gpu,
        InternalError,
        Launch,
        Location,
        Mechanism,
        Need,
        NotRead,
        PathError,
        Position,
        Report,
        Settings,
        SettingsError,
        Shm,
        WriteError,
        fix,
        lint,
        load_settings,
    )

__all__ = [
    "Edit", "Error", "Evidence", "Finding", "Fix", "Fixed", "Gpu", "InternalError", "Launch", "Location", "Mechanism",
    "Need", "NotRead", "PathError", "Position", "Report", "Settings", "SettingsError", "Shm", "WriteError",
    "__version__", "fix", "lint", "load_settings",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shmlint import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

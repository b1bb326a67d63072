"""NCCL's variables: whether one is on, and fixes for it.

Numbers are read as in src/misc/param.cc: ``strtoll`` up to the first character that is not a digit, so
``true`` is 0. An empty value counts as not set.
"""

from __future__ import annotations

import re

from shmlint.model.finding import DropVariable, Fix
from shmlint.model.launch import Launch, Value

ENV_PAGE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"

_NUMBER = r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]{0,18})"
"""Of a longer number, which is more than NCCL can hold, the first digits are enough: it is large."""


def number(text: str) -> int:
    """A value as NCCL reads it as a number; 0 if it is not a number."""
    found = re.match(_NUMBER, text)
    if found is None:
        return 0
    digits = found[2]
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") else 10
    return int(digits, base) * (-1 if found[1] == "-" else 1)


def given(value: Value[str] | None) -> str | None:
    """A variable's value if the repository sets it; None if the host or an env file does."""
    return value.known if value is not None and not value.private else None


def is_on(value: Value[str] | None) -> bool:
    """Whether a switch such as ``NCCL_IB_DISABLE`` is known to be on."""
    text = given(value)
    return text is not None and number(text) != 0


def infiniband(launch: Launch) -> Value[str] | None:
    """The first InfiniBand device that is passed in."""
    for device in launch.devices:
        path = device.known
        if path is not None and (path + "/").startswith("/dev/infiniband/") and not device.because:
            return device
    return None


def removal(name: str) -> Fix:
    """The fix that removes a variable; applied only with ``--unsafe-fixes``."""
    return Fix(DropVariable(name), safe=False)

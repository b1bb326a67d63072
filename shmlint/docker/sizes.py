"""Sizes: Docker's grammar, Compose's, the kernel's for tmpfs, and Kubernetes' quantities; all in bytes."""

from __future__ import annotations

import re

from shmlint.model.launch import Size

_POWERS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}
_INT64 = range(-(2**63), 2**63)


class InvalidSize(ValueError):
    """A text is not a valid size; the message says why."""


def parse_docker(text: str) -> int:
    """Bytes as docker/go-units ``RAMInBytes`` (size.go) reads them: ``--shm-size``, ``--memory``.

    A number, at most one space, and one of b k m g t p with an optional b or ib after the last
    five; 1024-based, truncated. Raises InvalidSize.

    >>> parse_docker("1.5g")
    1610612736
    """
    if not text:
        raise InvalidSize("the size is empty")
    number, space, suffix = text.partition(" ")
    if not space:
        last = max(text.rfind(char) for char in "0123456789.")
        number, suffix = text[: last + 1], text[last + 1 :]
    value = go_float(number)
    if value is None:
        raise InvalidSize(f"`{number}` is not a number" if number else f"`{text}` does not start with a number")
    if value < 0:
        raise InvalidSize("a size cannot be negative")
    lowered = suffix.lower()
    if lowered[:1] in tuple("kmgtp") and lowered[1:] in ("", "b", "ib"):
        value *= 1 << _POWERS[lowered[0]]
    elif lowered not in ("", "b"):
        raise InvalidSize(f"`{suffix}` is not a unit of Docker; use b, k, m, g (also kb, mb, gb)")
    # Go does not notice that a float is too large, or not a number: on amd64 the conversion then
    # gives the smallest integer.
    return int(value) if value < 2.0**63 else _INT64.start


def docker_size(text: str) -> Size:
    """A size as Docker reads it, or why it refuses it."""
    try:
        return Size(parse_docker(text), bare_number=text.isdigit())
    except InvalidSize as error:
        return Size(None, str(error))


def go_float(text: str) -> float | None:
    """Go's ``strconv.ParseFloat`` (atof.go); None where it refuses the text or finds it out of range."""
    decimal, hexadecimal = r"[0-9](?:_?[0-9])*", r"[0-9a-f](?:_?[0-9a-f])*"
    lowered = text.lower()
    # Only the pattern that can fit: compiling one takes longer than reading a small file.
    if "n" in lowered:
        return float(lowered) if re.fullmatch(r"[+-]?inf(inity)?|nan", lowered, re.ASCII) else None
    if "x" not in lowered:
        if not re.fullmatch(rf"[+-]?(?:{decimal}(?:\.(?:{decimal})?)?|\.{decimal})(?:e[+-]?{decimal})?", lowered):
            return None
        value = float(lowered)
        return None if value in (float("inf"), float("-inf")) else value
    mantissa = rf"(?:_?{hexadecimal}(?:\.(?:{hexadecimal})?)?|\.{hexadecimal})"
    if re.fullmatch(rf"[+-]?0x{mantissa}p[+-]?{decimal}", lowered):
        try:
            return float.fromhex(lowered.replace("_", ""))
        except OverflowError:
            return None
    return None


def parse_compose(value: int | str) -> int:
    """Bytes as Compose reads ``shm_size`` (compose-go types/bytes.go).

    A YAML integer as it is, but one that only fits an unsigned integer as 0, which is not a size;
    a text as a whole number first, so that "-1" passes, then in Docker's grammar. Raises InvalidSize.
    """
    if isinstance(value, int):
        return value if value in _INT64 else 0
    # Python refuses to read thousands of digits as an integer; Docker's grammar reads them below.
    if re.fullmatch(r"[+-]?[0-9]{1,99}", value) and int(value) in _INT64:
        return int(value)
    return parse_docker(value)


SECRET_SIZE = "it is not a valid size"
"""Why a size is refused that came out of an env file: what is written there is not to be printed."""


def compose_size(value: int | str, *, private: bool = False) -> Size:
    """A size as Compose reads it, or why it refuses it; of a private one nothing is printed."""
    try:
        count = parse_compose(value)
    except InvalidSize as error:
        return Size(None, SECRET_SIZE if private else str(error))
    if count < 0:
        return Size(None, "a size cannot be negative")
    return Size(count, bare_number=isinstance(value, int) or value.isdigit())


def parse_tmpfs_option(text: str) -> int | None:
    """Bytes as the kernel reads ``size=`` of a tmpfs mount; 0 is unlimited.

    Decimal, hexadecimal (0x) or octal (0) digits, one of k m g t p e, and ``%`` (mm/shmem.c, and
    ``memparse`` of lib/cmdline.c). No digits at all count as 0: ``size=g`` mounts, unlimited.
    None for a percentage: a share of the host's memory. Raises InvalidSize for what fails the
    mount, which Docker's own units ``gb`` and ``GiB`` do.
    """
    match = re.fullmatch(r"(?:0x([0-9a-f]+)|0([0-7]*)|([1-9][0-9]*)|)([kmgtpe]?)(%?)", text, re.ASCII | re.I)
    if not text or match is None:
        raise InvalidSize(f"the kernel does not accept `{text}` as the size of a tmpfs; it accepts k, m, g and %")
    hexadecimal, octal, decimal, unit, percent = match.groups()
    if hexadecimal:
        count = int(hexadecimal, 16)
    elif octal:
        count = int(octal, 8)
    else:
        # Only the last 64 bits are kept below, and the last 64 decimal digits decide those.
        count = int((decimal or "0")[-64:])
    size = (count << _POWERS[unit.lower()] if unit else count) % 2**64
    return None if percent and size else size


_DECIMAL = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "m": -3, "u": -6, "n": -9}


def parse_quantity(text: str) -> int:
    """Bytes as Kubernetes reads a quantity (apimachinery pkg/api/resource/quantity.go), rounded up.

    A decimal number with Ki, Mi, Gi … (1024), k, M, G … (1000), m, u, n (parts), or an exponent.
    Docker's ``g`` and ``gb`` are refused. Raises InvalidSize.

    >>> parse_quantity("1.5Gi"), parse_quantity("2G"), parse_quantity("1e9")
    (1610612736, 2000000000, 1000000000)
    """
    from fractions import Fraction

    number = r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})"
    match = re.fullmatch(rf"({number})(?:([KMGTPE])i|([kMGTPEmun]?)|[eE]([+-]?[0-9]{{1,3}}))", text, re.ASCII)
    if match is None:
        raise InvalidSize(f"`{text}` is not a quantity; Kubernetes accepts Ki, Mi, Gi, and k, M, G")
    value, binary, decimal, exponent = Fraction(match[1]), match[2], match[3], match[4]
    if binary:
        value *= 1 << _POWERS[binary.lower()]
    else:
        value *= Fraction(10) ** (int(exponent) if exponent else _DECIMAL[decimal or ""])
    return -(-value.numerator // value.denominator)


def spell_quantity(size: int) -> str:
    """A size as a quantity of Kubernetes, the largest unit up to Gi that divides it.

    >>> spell_quantity(8589934592)
    '8Gi'
    """
    unit = _dividing_unit(size)
    return f"{size >> _POWERS[unit]}{unit.upper()}i" if unit else f"{size}"


def spell_compose(size: int) -> str:
    """A size in Compose's spelling, the largest unit up to gb that divides it.

    >>> spell_compose(1610612736)
    '1536mb'
    """
    unit = _dividing_unit(size)
    return f"{size >> _POWERS[unit]}{unit}b" if unit else f"{size}b"


def spell_docker(size: int) -> str:
    """A size as people write it after ``--shm-size``.

    >>> spell_docker(8589934592)
    '8g'
    """
    unit = _dividing_unit(size)
    return f"{size >> _POWERS[unit]}{unit}" if unit else f"{size}b"


def _dividing_unit(size: int) -> str:
    return next((unit for unit in "gmk" if size and size % (1 << _POWERS[unit]) == 0), "")


_MOST = 1 << 1000
"""More bytes than this are said to be so many; a float cannot hold all that a file may ask for."""


def soft_limit(text: str | None) -> int | None:
    """The soft limit of a ulimit such as ``-1``, ``-1:-1`` or ``memlock=-1``; -1 is unlimited, None no number.

    >>> soft_limit("memlock=-1:-1")
    -1
    """
    soft = (text or "").rpartition("=")[2].partition(":")[0].strip()
    return int(soft) if re.fullmatch(r"-?[0-9]{1,18}", soft) else None


def human(size: int) -> str:
    """A size for a sentence, to a tenth.

    >>> human(67108864)
    '64 MiB'
    """
    if abs(size) < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    amount = float(max(-_MOST, min(size, _MOST)))
    for unit in "KMGTP":
        amount /= 1024
        # A little less than the next unit would be rounded to 1024 of this one.
        if round(abs(amount), 1) < 1024 or unit == "P":
            break
    return f"{amount:.1f}".removesuffix(".0") + f" {unit}iB"


def rounded(size: int) -> int:
    """The next of 1, 2, 4, 8, 16 … GiB, in bytes.

    >>> rounded(3 * 2**30) == 4 * 2**30
    True
    """
    step: int = 2**30
    while step < size:
        step *= 2
    return step

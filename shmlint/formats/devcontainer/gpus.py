"""Lists of devices in ``runArgs`` that Docker reads as something else."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.gpus_option import misread, quoted_devices, requests_none
from shmlint.docker.run_options import Option, RunCommand, is_one_word
from shmlint.formats.shell.gpus import no_gpu, shown
from shmlint.model.launch import Change, GpuFault
from shmlint.model.source import Edit


def misread_device_lists(run: RunCommand) -> Iterator[GpuFault]:
    """Values of ``--gpus`` that look like a list of devices and are not read as one.

    No shell reads these arguments, so Docker sees each quotation mark that the string holds.
    """
    for option, request in run.gpus():
        value = option.value or ""
        span = (option.value_word or option.word).span
        if option.unknown or span is None or is_one_word(option):  # the client reads no value of it
            continue
        if requests_none(value, request):
            yield no_gpu(span, '"device=0" for the first GPU')
            continue
        bare = value.strip("'")
        if bare != value and request.error:
            devices = bare.strip('"')
            meant = f'"{devices}"' if "," in devices else devices
            message = f"`--gpus {value}` is refused: no shell removes the quotation marks in runArgs"
            changes, right = tuple(_write_gpus(option, meant)), _right(meant) if "," in devices else ""
            yield GpuFault(span, "quotes", shown(value), message, changes, "", right, shown(meant))
        elif (found := misread(value, request)) is None:
            continue
        elif found.applies:
            advice = rf'"\"device={value}\"" for these devices, "{found.applies}" for so many'
            right = _right(f'"device={value}"')
            yield GpuFault(span, found.kind, shown(value), found.message, (), advice, right)
        elif (quoted := quoted_devices(value)) is None:
            advice = "remove the count, or the devices"
            yield GpuFault(span, found.kind, shown(value), found.message, (), advice)
        else:
            changes = tuple(_write_gpus(option, quoted))
            yield GpuFault(span, found.kind, shown(value), found.message, changes, "", _right(quoted), shown(quoted))


def _right(value: str) -> str:
    """The option and its value as the strings of ``runArgs``."""
    return f'"--gpus", "{_escaped(value)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"")


def _write_gpus(option: Option, value: str) -> Iterator[Change]:
    """Write another value of ``--gpus`` into the string that holds it."""
    place = (option.value_word or option.word).span
    if place is None:
        return
    given = f"{option.word.text.partition('=')[0]}={value}" if option.joined else value
    text = _escaped(given)
    yield Change((Edit(place.path, place.start, place.end, text),), f'write "{text}" in line {place.line}')

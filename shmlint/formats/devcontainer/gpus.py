"""Lists of devices in ``runArgs`` that Docker reads as something else."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.gpus_option import misread, quoted_devices, requests_none
from shmlint.docker.run_options import Option, RunCommand, is_one_word
from shmlint.formats.shell.gpus import no_gpu, shown
from shmlint.model.launch import Change, GpuFault
from shmlint.model.source import Edit

_RIGHT = r'"--gpus", "\"device=0,1\""'


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
            right = f'"{devices}"' if "," in devices else devices
            message = f"`--gpus {value}` is refused: no shell removes the quotation marks in runArgs"
            changes = tuple(_write_gpus(option, right))
            yield GpuFault(span, "quotes", shown(value), message, changes, right=_RIGHT, meant=shown(right))
        elif (found := misread(value, request)) is None:
            continue
        elif found.applies:
            advice = rf'"\"device={value}\"" for these devices, "{found.applies}" for so many'
            yield GpuFault(span, found.kind, shown(value), found.message, (), advice, _RIGHT)
        else:
            meant = quoted_devices(value)
            changes = tuple(_write_gpus(option, meant)) if meant is not None else ()
            right = shown(meant or value)
            yield GpuFault(span, found.kind, shown(value), found.message, changes, right=_RIGHT, meant=right)


def _write_gpus(option: Option, value: str) -> Iterator[Change]:
    """Write another value of ``--gpus`` into the string that holds it."""
    place = (option.value_word or option.word).span
    if place is None:
        return
    given = f"{option.word.text.partition('=')[0]}={value}" if option.joined else value
    text = given.replace("\\", r"\\").replace('"', r"\"")
    yield Change((Edit(place.path, place.start, place.end, text),), f'write "{text}" in line {place.line}')

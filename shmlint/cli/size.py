"""``shmlint size``: its options, and how an image, a command or a ``docker run`` becomes a launch."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypedDict, Unpack

import click

from shmlint.cli import command as shared
from shmlint.cli.command import Command, complete_workload, option
from shmlint.cli.configured import load_settings
from shmlint.cli.output import Output, fail, nearest, write
from shmlint.cli.sizing import render, render_json
from shmlint.docker.gpus_option import parse_gpus
from shmlint.docker.sizes import InvalidSize, human, parse_docker
from shmlint.model.launch import BINARIES, Launch, ReadOnly, Value, Words
from shmlint.model.source import Source, Span
from shmlint.workloads import mechanisms as estimate
from shmlint.workloads.knowledge import Workload, builtin, match_command, recognise, users
from shmlint.workloads.sizing import Question, answer, nccl_of_image, nccl_of_torch

_EPILOG = """\b
Examples:
  shmlint size --gpus 4 vllm/vllm-openai
  shmlint size --gpus 8 --nccl 2.27 torchrun --nproc_per_node=8 train.py
  shmlint size --workers 8 --batch-size 64 --item-size 600k python train.py
  shmlint size --camera 1920x1080 --camera 1280x720 frigate
  shmlint size docker run --gpus all --memory 64g rayproject/ray

\b
Options may be anywhere, except after `docker run` and `--`: those
are the command's own. What is estimated is usually less in fact:
/dev/shm takes memory only for what is written."""

_LEADS = frozenset({*BINARIES, "sudo", "doas", "env"})
_FILES = (".yaml", ".yml", ".json", ".toml", ".sh", ".md", "file")
_ITEM_TYPES = {
    "float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2, "uint8": 1, "int8": 1,
    "bool": 1,
}  # fmt: skip
_LEAST_MEMORY = 6 * 2**20
"""Bytes; Docker takes no smaller memory limit."""
_MOST = 2**50
"""Bytes, or a count. Larger values are typing mistakes."""


def _size(value: str, least: int = 1) -> int:
    """Bytes in Docker's grammar. Raises click.BadParameter, as all of these do."""
    try:
        size = parse_docker(value)
    except InvalidSize as error:
        raise click.BadParameter(f"{error}; write it like 512k, 64m or 8g") from None
    if not 0 < size <= _MOST:
        raise click.BadParameter("write a size like 512k, 64m or 8g")
    if size < least:
        raise click.BadParameter(f"{value} is {human(size)}; write it with a unit, like {value.strip('bB ')}g")
    return size


def _memory(value: str) -> int:
    return _size(value, _LEAST_MEMORY)


def _item(value: str) -> int:
    """Bytes of one item: a size, or a shape with a type."""
    shape, _, kind = value.lower().partition(":")
    if not re.fullmatch(r"[0-9]{1,9}([x×][0-9]{1,9}){1,7}", shape):
        return _size(value)
    each = _ITEM_TYPES.get(kind or "float32")
    if each is None:
        raise click.BadParameter(f"unknown type {kind}; known are {', '.join(_ITEM_TYPES)}")
    size = each
    for length in re.split("[x×]", shape):
        size *= int(length)
    if not 0 < size <= _MOST:
        raise click.BadParameter(f"invalid shape {value}; write one item like 3x224x224")
    return size


def _resolution(value: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]{0,4})[x×]([1-9][0-9]{0,4})", value.lower())
    if match is None:
        raise click.BadParameter(f"{value} is not a width and height in pixels; write it like 1280x720")
    return int(match[1]), int(match[2])


def _gpus(value: str) -> int | Literal["all"]:
    """A number, ``all``, or what else ``docker run --gpus`` takes."""
    parsed = parse_gpus(value)
    found = len(parsed.device_ids) or parsed.number
    if parsed.error or not found or found > 10_000:
        raise click.BadParameter(f"invalid number of GPUs {value}; write a number, or all")
    return "all" if found < 0 else found


def _nccl(value: str) -> str:
    if not re.fullmatch(r"[0-9]{1,3}\.[0-9]{1,3}([.+-][0-9A-Za-z.+-]{1,20})?", value):
        raise click.BadParameter(f"invalid version {value}; write it like 2.27. In a container, "
                                 "python -c 'import torch; print(torch.cuda.nccl.version())' shows it")  # fmt: skip
    return value


def _torch(value: str) -> str:
    if nccl_of_torch(value) is None:
        known = list(estimate.TORCH_NCCL)
        raise click.BadParameter(f"the NCCL version of PyTorch {value} is unknown (known: {known[0]} to {known[-1]}); "
                                 "set it with --nccl")  # fmt: skip
    return value


class _SizeCommand(Command):
    """Leaves alone what is not its own: after ``docker run`` every option is the engine's or the container's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = True
        ctx.allow_interspersed_args = not any(_is_engine(word) for word in args)
        return super().parse_args(ctx, args)


def _is_engine(word: str) -> bool:
    return word.rpartition("/")[2] in BINARIES


Gpus = int | Literal["all"]


class Options(TypedDict):
    """What the command line says; sizes in bytes."""

    words: tuple[str, ...]
    gpus: Gpus | None
    memory: int | None
    workers: int | None
    prefetch: int | None
    batch_size: int | None
    item_size: int | None
    batch_bytes: int | None
    nccl: str | None
    torch: str | None
    channels: int | None
    camera: tuple[tuple[int, int], ...]
    birdseye: bool
    tabs: int | None
    window: tuple[int, int] | None
    picture: tuple[tuple[int, int], ...]
    format: str
    config: str | None


@click.command(cls=_SizeCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="[IMAGE] [COMMAND]...", shell_complete=complete_workload)
@option("--gpus", section="Container", metavar="N|all", type=_gpus, help="Number of GPUs of the container.")
@option("--memory", section="Container", metavar="SIZE", type=_memory,
        help="The container's memory limit; Ray uses a share of it.")  # fmt: skip
@option("--workers", section="DataLoader", metavar="N", type=click.IntRange(0, 10_000),
        help="DataLoader workers of each rank: num_workers.")  # fmt: skip
@option("--prefetch", section="DataLoader", metavar="N", type=click.IntRange(1, 10_000),
        help=f"Batches that each worker prefetches: prefetch_factor.  [default: {estimate.PREFETCH}]")  # fmt: skip
@option("--batch-size", section="DataLoader", metavar="N", type=click.IntRange(1, 10**9),
        help="Items per batch of one rank.")  # fmt: skip
@option("--item-size", section="DataLoader", metavar="SIZE|SHAPE", type=_item,
        help="One item: 600k, or a tensor's shape, 3x224x224 (float32), 3x224x224:uint8.")  # fmt: skip
@option("--batch-bytes", section="DataLoader", metavar="SIZE", type=_size,
        help="One batch, instead of --batch-size and --item-size.")  # fmt: skip
@option("--nccl", section="NCCL", metavar="VERSION", type=_nccl,
        help="NCCL's version; newer ones have larger buffers.  [default: the newest known]")  # fmt: skip
@option("--torch", section="NCCL", metavar="VERSION", type=_torch,
        help="PyTorch's version, which determines NCCL's version.")  # fmt: skip
@option("--channels", section="NCCL", metavar="N", type=click.IntRange(1, 64),
        help=f"Number of NCCL channels.  [default: {estimate.CHANNELS}, as logs of PCIe machines show]")  # fmt: skip
@option("--camera", section="Frigate", metavar="WIDTHxHEIGHT", type=_resolution, multiple=True,
        help="Width and height of a camera's detect stream. Repeat for each camera.")  # fmt: skip
@option("--birdseye", section="Frigate", is_flag=True, help="Birdseye's restream is enabled.")
@option("--tabs", section="Browser", metavar="N", type=click.IntRange(1, 10_000),
        help="Tabs that are open at a time.")  # fmt: skip
@option("--window", section="Browser", metavar="WIDTHxHEIGHT", type=_resolution,
        help="Size of the browser's window in pixels.  [default: 1920x1080]")  # fmt: skip
@option("--picture", section="Browser", metavar="WIDTHxHEIGHT", type=_resolution, multiple=True,
        help="A picture, canvas or video of each page, by its own size. Repeat for each.")  # fmt: skip
@shared.text_or_json
@shared.config
def command(**options: Unpack[Options]) -> int:
    """Compute how much /dev/shm an image or a command needs.

    Shows the arithmetic, what each figure rests on, and what to type. IMAGE is a container image
    or a workload of `shmlint explain workload:`, COMMAND is what runs in it. A whole `docker run`
    command is understood too.
    """
    batch_bytes = _check_numbers(options)
    settings = load_settings(options["config"], ["."])
    extra = users(settings.workloads)
    words = options["words"] or (_of_cameras() if options["camera"] else ())
    launch, own = _launch(words, extra)
    launch = _with_limits(launch, options)
    found = answer(_question(launch, options, batch_bytes), (*own, *extra), settings.default_shm_size)
    if options["camera"] and (found.workload is None or found.workload.inputs != "cameras"):
        name = found.need.workload.name if found.need.workload is not None else "the image"
        fail(f"--camera is for Frigate, and {name} is not known to be Frigate; use the image name frigate")
    if found.workload is None and len(words) == 1 and not found.terms:
        found = found._replace(notes=(*found.notes, *_meant(words[0], extra)))
    found = found._replace(notes=(*found.notes, *_notes(words, launch, options, batch_bytes)))
    if options["format"] == "json":
        text = render_json(found, settings.default_shm_size) + "\n"
    else:
        text = "".join(f"{line}\n" for line in render(found, settings.default_shm_size))
    write(Output(), text, machine=options["format"] == "json")
    return 0


def _of_cameras() -> tuple[str, ...]:
    """The workload whose size is computed from cameras."""
    return tuple(workload.id for workload in builtin() if workload.inputs == "cameras")[:1]


def _check_numbers(options: Options) -> int | None:
    """The bytes of a batch, from the options that agree with each other."""
    batch_size, item_size, batch_bytes = options["batch_size"], options["item_size"], options["batch_bytes"]
    if options["nccl"] is not None and options["torch"] is not None:
        fail("--nccl and --torch both set NCCL's version; use only one")
    if batch_bytes is not None and (batch_size is not None or item_size is not None):
        fail("use either --batch-bytes, or --batch-size and --item-size")
    if item_size is not None and batch_size is None:
        fail("--item-size needs --batch-size, the number of items in a batch")
    if batch_size is not None and item_size is not None:
        batch_bytes = batch_size * item_size
    if batch_bytes is not None and options["workers"] == 0:
        fail("a DataLoader without workers uses no shared memory: remove the --batch-… options or raise --workers")
    if batch_bytes is not None and batch_bytes > _MOST:
        fail("the batch is too large for any memory; --item-size is the size of one item, not of the data set")
    if options["birdseye"] and not options["camera"]:
        fail("--birdseye is for Frigate: add --camera WIDTHxHEIGHT for each camera")
    browser = options["tabs"] or options["window"] or options["picture"]
    if browser and options["camera"]:
        fail("--camera is for Frigate, and --tabs, --window and --picture are for a browser; use them apart")
    if not (options["words"] or options["gpus"] or options["workers"] or options["camera"] or browser):
        fail("nothing to compute: give an image, a command, or numbers (--gpus, --workers, --camera, --tabs)")
    return batch_bytes


def _with_limits(launch: Launch, options: Options) -> Launch:
    """The launch with the GPUs and the memory limit that the options give it."""
    if options["gpus"] is not None:
        launch = launch._replace(gpu=launch.gpu._replace(requested=True, number=options["gpus"]))
    if options["memory"] is not None:
        launch = launch._replace(memory_limit=Value(options["memory"], launch.span, ""))
    return launch


def _question(launch: Launch, options: Options, batch_bytes: int | None) -> Question:
    version, because = options["nccl"], ""
    if version is None:
        image = launch.image.known if launch.image is not None else None
        torch = options["torch"]
        found = nccl_of_torch(torch) if torch is not None else nccl_of_image(image or "")
        version, because = found if found is not None else (None, "")
    tabs = options["tabs"] or (1 if options["window"] or options["picture"] else 0)
    return Question(
        launch, version, because, options["channels"], options["workers"], options["prefetch"], batch_bytes,
        options["camera"], options["birdseye"], tabs, options["window"] or estimate.CHROMIUM_WINDOW, options["picture"],
    )  # fmt: skip


def _notes(words: Sequence[str], launch: Launch, options: Options, batch_bytes: int | None) -> list[str]:
    """What a reader should know of the options besides the answer."""
    found = [] if any(map(_is_engine, words)) else _misspelt(launch)
    if options["batch_size"] is not None and batch_bytes is None:
        found.append("--batch-size needs --item-size, the size of one item")
    return found


def _meant(word: str, extra: Sequence[Workload]) -> Iterator[str]:
    """The workload that was probably meant by a word that names none."""
    from difflib import get_close_matches

    for meant in get_close_matches(word.lower(), [w.id for w in (*extra, *builtin())], 1, 0.8):
        yield f"there is no workload `{word}`; did you mean `{meant}`?"


def _launch(words: Sequence[str], extra: Sequence[Workload]) -> tuple[Launch, tuple[Workload, ...]]:
    """The launch that words mean, and the workload where they name one by its id."""
    if len(words) == 1 and any(c.isspace() for c in words[0]):
        line = words[0]
        if _mentions_engine(line):
            return _docker(line), ()
        import shlex

        try:
            words = shlex.split(line)
        except ValueError as error:
            fail(f"the command cannot be read ({str(error).lower()}): {line[:80]}")
    if any(map(_is_engine, words[:8])) and words[0].rpartition("/")[2] in _LEADS:
        import shlex

        return _docker(shlex.join(words)), ()
    if words and words[0].startswith("-"):
        meant = nearest(words[0].partition("=")[0], _own_options())
        fail(f"unknown option `{words[0]}`{meant or '; `shmlint size --help` lists them'}")
    if words and words[0].endswith(_FILES) and os.path.isfile(words[0]):
        fail(f"{words[0]} is a file; `shmlint inventory {words[0]}` shows what its launches need, "
               "size takes an image or a command")  # fmt: skip
    span = Span(Source("", ""), 0, 0)
    launch = Launch("docker-run", None, span, span, Words("", "--shm-size"), ReadOnly())
    if not words:
        return launch, ()
    known = (*extra, *builtin())
    first = words[0]
    named = _named(first, known)
    if named is not None and (len(words) == 1 or match_command(words, known) is None):
        # Settings come first, and so does what is named.
        own = Workload({**named.entry, "images": [first.lower()], "commands": []})
        return launch._replace(image=_text(first, span), command=_words(words[1:], span)), (own,)
    if _is_image(words, known):
        return launch._replace(image=_text(first, span), command=_words(words[1:], span)), ()
    return launch._replace(command=_words(words, span)), ()


def _named(word: str, known: Sequence[Workload]) -> Workload | None:
    """The workload that a word names: by its id, its name, or what only its images are called.

    A program has no hyphen in its name as a rule: Kaggle's image is called ``python`` too.
    """
    lowered = word.lower()
    if (named := next((w for w in known if lowered in (w.id, w.name.lower())), None)) is not None:
        return named
    found = [w for w in known if any(pattern.rpartition("/")[2] == lowered for pattern in w.images)]
    return found[0] if len(found) == 1 and "-" in word else None


def _text(text: str, span: Span) -> Value[str]:
    return Value(text, span, text)


def _words(words: Sequence[str], span: Span) -> Value[tuple[str, ...]] | None:
    return Value(tuple(words), span, " ".join(words)) if words else None


def _is_image(words: Sequence[str], known: Sequence[Workload]) -> bool:
    """Whether the first word is an image and not a program."""
    first = words[0]
    if first.startswith((".", "/", "~")) or "=" in first:
        return False
    if "/" in first or ":" in first or "@" in first:
        return True
    if match_command(words, known) is not None:
        return False
    return recognise(first, known)[0] is not None


def _mentions_engine(line: str) -> bool:
    return any(_is_engine(word) for word in line.split())


def _docker(line: str) -> Launch:
    """The first container that a command line starts."""
    from shmlint.formats.shell.run import launches
    from shmlint.syntax.shell import commands
    from shmlint.syntax.shell_text import whole

    source = Source("command", line)
    found = launches(list(commands(whole(source, 0, len(line)))))
    if not found:
        fail("the command has no `docker run` with an image; "
             "`shmlint size` takes `docker run [OPTIONS] IMAGE [COMMAND]`, an image, or a command")  # fmt: skip
    return found[0]


def _own_options() -> list[str]:
    return [option for parameter in command.params for option in parameter.opts if option.startswith("--")]


def _misspelt(launch: Launch) -> list[str]:
    """Words that look like misspelt options of ours and were taken for the command's."""
    from difflib import get_close_matches

    options = _own_options()
    found = []
    for word in (launch.command.known if launch.command is not None else None) or ():
        name = word.partition("=")[0].replace("_", "-")
        close = get_close_matches(name, options, 1, 0.85) if name.startswith("--") else []
        if close and close[0] != name:  # an exact name comes after `--`, which is intended
            found.append(f"{word} was read as an option of the command; `shmlint size` has the option {close[0]}")
    return found

"""What was found out about a Python program of the repository."""

from __future__ import annotations

from shmlint.model.need import Step
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.workloads.packages.libraries import Row
from shmlint.workloads.python.values import Found

Items = tuple[tuple[tuple[int, ...], Span], ...]
"""Shapes of items, and where these are written."""


class Call(NamedTuple):
    """A call that fills /dev/shm, in code that can be reached; ``certain`` where no unknown branch decides."""

    row: Row
    processes: Found
    batch: Found
    prefetch: Found
    span: Span
    certain: bool
    repeated: bool = False
    """Whether it is in a loop, or in a function that is called more than once."""
    kept: int = 0
    """Items of all ranks that stay besides the batches of workers: those that are put together to a batch."""
    resized: Span | None = None
    """Where its dataset gives an image the size that its row has for an item."""
    items: Items = ()
    """The shapes of the items of its own datasets, where these are known."""
    most: int = 0
    """The items that its dataset has at most: no more of them are in batches; 0 where that is not known."""
    holds: bool = False
    """Its dataset gives out what it holds, and makes no images of it."""

    @property
    def number(self) -> int:
        """The bytes of a number of its items: PyTorch's default type, where its library does not hand over bytes."""
        return 1 if self.row.item or self.row.in_bytes else 4


class Reading(NamedTuple):
    """What a Python program does."""

    calls: tuple[Call, ...]
    collective: Span | None
    """Where ranks are joined."""
    items: Items
    """The shapes of items that transforms and datasets tell."""
    environment: tuple[tuple[str, str, Span], ...]
    stops: tuple[Step, ...]
    """Why it was not read completely."""
    commands: tuple[tuple[tuple[str, ...], Span, bool], ...]
    """Programs that it starts, and whether it surely does."""
    variables: frozenset[str] = frozenset()
    """The variables of the environment that it changes, which these may find; the empty name stands for all."""
    started: tuple[int | None, Span] | None = None
    """The ranks that it starts or joins by itself, as processes, and where; None of a number that is not known."""
    sockets: bool = False
    """Whether its ranks are joined by Gloo, which talks over TCP."""
    may_join: bool = True
    """Whether its modules import or name what joins ranks, wherever that may be used."""
    may_load: bool = False
    """Whether its modules import what loads data with workers, wherever that may be used."""
    share: float = 1.0
    """The share of the bytes of its shape, in three colours and floats, that an item has at least."""
    several: bool = False
    """Whether an item may have more images than are written down."""
    pictures: int = 2
    """How often an item may have what is as large as an image. Once where all datasets are torchvision's, and their
    items an image and the number of its class."""
    tokens: int = 0
    """The most tokens of an item, where it works with texts alone; 0 where that is not known."""
    together: tuple[tuple[int, ...], ...] = ()
    """The loaders among the calls, by their positions, that are iterated at the same time."""
    devices: str | None = None
    """What it leaves itself of the GPUs before it does anything else; None where that is not known."""
    steps: bool = False
    """Whether code in its reach takes the steps of a training: it asks a loss for its gradients."""
    full: bool = False
    """Whether a bound was reached before it was read to its end."""

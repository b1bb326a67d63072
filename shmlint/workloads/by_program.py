"""What the Python programs of a launch need: calls that fill /dev/shm, summed up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.docker.sizes import human
from shmlint.model.finding import Basis, Evidence
from shmlint.model.launch import DOCKER_DEFAULT_SHM, Launch
from shmlint.model.need import UNKNOWN_RECOMMENDED, Mechanism, Need, Step, Verdict
from shmlint.model.source import Span
from shmlint.workloads.by_knowledge import (
    DATALOADER_SOURCE,
    NCCL_SOURCE,
    by_knowledge,
    collectives,
    nccl,
    queues,
    unknown_batches,
)
from shmlint.workloads.commands import (
    MOST_RANKS,
    RANK_OF,
    has_rank_for_each,
    has_ranks_by_default,
    names_training,
    options,
    read_ranks,
)
from shmlint.workloads.launchers import python_words
from shmlint.workloads.mechanisms import (
    RAY_SHARE,
    batches_at_once,
    counted_workers,
    share_term,
)
from shmlint.workloads.program import Entry, Findings, Program, Ran, named
from shmlint.workloads.python.program import read_program
from shmlint.workloads.python.reading import Call, Items, Reading
from shmlint.workloads.python.values import POSITIVE, UNKNOWN, Found
from shmlint.workloads.running.visible import as_limited_by_code, as_seen, as_set_by_code, gpu_count

if TYPE_CHECKING:
    from shmlint.workloads.running.follow import Follower

_Counted = list[tuple[Mechanism, bool]]
"""Mechanisms, each with whether it is sure."""
_MOST_PROGRAMS = 10
_MOST_ALIKE = 3
"""Readings of one program that is started with other arguments; of what pages show, one."""


def read(launch: Launch, program: Program, entries: Sequence[Entry] = ()) -> Findings:
    """Read the Python programs of a launch, and those that they start."""
    mechanisms: list[tuple[Mechanism, bool]] = []
    stops: list[Step] = []
    environment: list[tuple[str, str, Span]] = []
    small, idle, sockets, trains = False, True, True, None
    loads: list[bool] = []
    readings: list[tuple[Entry, Reading]] = []
    left: list[Entry] = []
    segments: list[Call] = []
    commands, most = (program.documented_commands, 1) if entries else (program.commands, _MOST_ALIKE)
    own = sorted(entries or program.entries, key=_order)
    pending: list[tuple[Entry, int | None, _Counted]] = [(entry, _ranks(commands, entry), []) for entry in own]
    done: list[Entry] = []
    while pending and len(done) < _MOST_PROGRAMS:
        entry, ranks, launched = pending.pop(0)
        if any(other.runs == entry.runs for other in done):
            left.append(entry)
            continue
        if sum(other.path == entry.path for other in done) >= most:
            left.append(entry)
            stops += () if entries else (Step(f"{entry.path} is started too often"),)
            continue
        done.append(entry)
        reading = read_program(entry, program.files)
        seen = as_limited_by_code(_as_started(launch, entry, own, commands), reading)
        stops += (
            *_not_counted(reading.calls, gpu_count(seen) == 1), *_texts(reading),
            *_unknown_ranks(reading, commands, entry, seen), *_unknown_library(reading, seen),
            *_single_workers(reading, ranks, seen),
        )  # fmt: skip
        readings.append((entry, reading))
        loads += [call.row.use == "dataloader" and call.processes.number == 0 for call in reading.calls]
        found, fits = _of_calls(entry, reading, ranks, as_set_by_code(seen, reading))
        found += _connected(entry, reading, ranks, seen, commands) if reading.collective is not None else []
        mechanisms, small = mechanisms + (_shown(entry, found) if entries else found), small or fits
        segments += _small_segments(reading.calls, _room(launch))
        idle, sockets = idle and _is_idle(reading, seen), sockets and reading.sockets and not _joins(reading)
        mechanisms += launched if _may_join(reading) else ()
        stops += reading.stops
        environment += reading.environment
        for words, span, certain in reading.commands:
            sure, changed = certain and entry.certain and not entry.guessed, reading.variables | entry.variables
            begun = _started(words, span, launch, program, changed, certain=sure)
            pending += [(one, _ranks(begun.commands, one), _launched(begun, one, launch)) for one in begun.entries]
            mechanisms += _served(begun, launch)
            stops += begun.stops
            trains = trains or (span if names_training(words) else None)
    if any(entry.runs not in [other.runs for other in done] for entry, _, _ in pending):
        stops.append(Step("it starts too many programs"))
    bare = _bare(readings, [*left, *(entry for entry, _, _ in pending)])
    mechanisms += _together(segments, _room(launch))
    stops += _repeated(segments, _room(launch))
    alone, idle, sockets = bool(loads) and all(loads), idle and bool(done), sockets and bool(done) and not stops
    return Findings(
        _need(mechanisms, _room(launch)), tuple(stops), small, tuple(environment), idle, alone, sockets, trains, bare,
        apart=bool(done) and not stops and not any(reading.may_join for _, reading in readings),
        steps=frozenset(entry.path for entry, reading in readings if reading.steps),
    )  # fmt: skip


def _as_started(launch: Launch, entry: Entry, own: Sequence[Entry], commands: Sequence[Ran]) -> Launch:
    """The launch with the GPUs that the commands leave a program which start it: ``CUDA_VISIBLE_DEVICES=0,1 python``.
    """
    alike = [other for other in own if other.path == entry.path]
    return as_seen(launch, [ran for ran in commands if any(other.is_started_by(ran) for other in alike)])


def _joins(reading: Reading) -> bool:
    """Whether a program joins ranks, or starts some."""
    return reading.collective is not None or any(call.row.use == "ranks" for call in reading.calls)


def _unknown_library(reading: Reading, launch: Launch) -> Iterator[Step]:
    """That it is not known through what ranks exchange data on an accelerator."""
    if _joins(reading) and not collectives(launch) and gpu_count(launch) != 1:
        yield Step("how its ranks exchange data on this accelerator is not known")


def _is_idle(reading: Reading, launch: Launch) -> bool:
    """Whether nothing in a program's reach loads data or joins ranks; one rank, or all on one GPU, joins nobody."""
    one_gpu = gpu_count(launch) == 1
    ranks = [call.processes for call in reading.calls if call.row.use == "ranks"]
    alone = one_gpu or all(count.number == 1 and count.certain for count in ranks)
    return reading.collective is None and len(ranks) == len(reading.calls) and alone


def _bare(readings: Sequence[tuple[Entry, Reading]], left: Sequence[Entry]) -> tuple[tuple[Entry, bool], ...]:
    """The programs without workers in what was read, and whether that is all; not those with all loaders elsewhere.

    Of those left out, one that runs alike has the same, and nothing was read of other files.
    """
    found: list[tuple[Entry, bool]] = []
    for entry, reading in readings:
        workers = [call.processes.number for call in reading.calls if call.row.use == "dataloader"]
        whole = not reading.stops and not reading.commands
        if not any(count != 0 for count in workers) and (whole or workers or not reading.may_load):
            found.append((entry, whole))
    read = {entry.path for entry, _ in readings}
    for entry in left:
        alike = [(other, whole) for other, whole in found if other.path == entry.path]
        same = next((whole for other, whole in alike if other.runs == entry.runs), False)
        if alike or entry.path not in read:
            found.append((entry, same))
    return tuple(found)


def _room(launch: Launch) -> int:
    """The bytes that a launch's programs have at least: Docker's default, or the smaller size that it is given.

    A number without a unit that is meant as megabytes is no size.
    """
    given = launch.effective_shm().bytes or 0
    return given if _LEAST <= given < DOCKER_DEFAULT_SHM else DOCKER_DEFAULT_SHM


_LEAST = 1024 * 1024


def _doubt(call: Call, reading: Reading, entry: Entry, room: int, ranks: int) -> str:
    """Why it is not sure that a call runs, or with what it was counted with; empty where it is."""
    if entry.guessed:
        return "the program is guessed from its name"
    if not entry.certain or not call.certain:
        return "whether it gets there is decided at run time"
    if call.row.call.startswith("torch.multiprocessing.") and call.row.use == "ranks" and reading.collective is None:
        return "whether its processes join each other is not known"
    if call.row.one_process:
        return "one process has all GPUs, and may reach them without shared memory"
    if call.row.use == "dataloader" and "." not in call.row.call:
        return "its loader only has the name of PyTorch's"
    if not call.processes.certain and not _exceeds(call, _items_of(call, reading), room):
        return "something else may set the number"
    if call.row.use == "dataloader" and call.batch.number and not call.batch.certain:
        return "something else may set the size of the batches"
    least = _least(call, reading, ranks)
    return "" if least is None or least > room else _SMALLER


_SMALLER = "its images may be smaller"


def _least(call: Call, reading: Reading, ranks: int) -> float | None:
    """The bytes of a loader's batches where its items are the smallest of the program's; None where there is one size.
    """
    items = _items_of(call, reading)
    if call.row.use != "dataloader" or not items or call.row.least or call.row.item or not call.batch.number:
        return None  # what it was counted with is all there is
    batches = batches_at_once(call.processes.number or 1, call.prefetch.number or 2)
    smallest = min(_product(shape) for shape, _ in items) * max(call.number * reading.share, 1)
    return ranks * batches * call.batch.number * smallest


def _order(entry: Entry) -> tuple[bool, bool]:
    """Programs first that their arguments give workers, then training: not all are read."""
    return not any("workers" in word for word in entry.arguments), "train" not in entry.path


def _of_calls(
    entry: Entry, reading: Reading, ranks: int | None, launch: Launch
) -> tuple[list[tuple[Mechanism, bool]], bool]:
    """What the calls of a program fill, each with whether that is sure; and whether one of them fits."""
    mechanisms: list[tuple[Mechanism, bool]] = []
    small = False
    ranks = _most_ranks(reading, ranks, launch)
    for call in reading.calls:
        found = _mechanism(call, reading, ranks, launch)
        if found in ("small", _SINGLE):
            small = True
        elif isinstance(found, Mechanism):
            mechanisms += [(queue, False) for queue in _queues(call, found, launch)]
            doubt = _doubt(call, reading, entry, _room(launch), ranks)
            mechanisms.append((found._replace(doubt=doubt if found.bytes else ""), not doubt))
    beside = [_iterated_together(entry, reading, group, ranks, launch) for group in reading.together]
    return [*mechanisms, *filter(None, beside)], small and not any(beside)


def _iterated_together(
    entry: Entry, reading: Reading, group: Sequence[int], ranks: int, launch: Launch
) -> tuple[Mechanism, bool] | None:
    """The batches of loaders that are iterated at the same time; None where they fit, or one is not known."""
    room, calls = _room(launch), [call for call in map(reading.calls.__getitem__, group) if call.processes.number != 0]
    made = [_dataloader(call, reading, ranks, 0) for call in calls]
    each = [one for one in made if isinstance(one, Mechanism) and one.bytes]
    total = sum(one.bytes or 0 for one in each)
    if not 2 <= len(each) == len(calls) or total <= room:
        return None
    doubts = [_doubt(call, reading, entry, room, ranks) for call in calls]
    doubt = next((one for one in doubts if one and one != _SMALLER), "")
    least = sum(_least(call, reading, ranks) or one.bytes or 0 for call, one in zip(calls, each, strict=True))
    doubt = _SMALLER if not doubt and least <= room else doubt
    basis: Basis = "computed" if all(one.basis == "computed" for one in each) else "estimated"
    because = ", and beside it ".join(one.because for one in each)
    evidence = tuple(told for one in each for told in one.evidence)
    return Mechanism("dataloader", total, basis, because, evidence, DATALOADER_SOURCE, doubt), not doubt


def _started(
    words: Sequence[str], span: Span, launch: Launch, program: Program, variables: frozenset[str], *, certain: bool
) -> Follower:
    """What a program starts with a command."""
    from shmlint.workloads.running.follow import follow

    def settled(command: tuple[str, ...]) -> bool:
        if read_ranks(command)[1] and gpu_count(launch) != 1:
            return False  # the code computes how many there are
        known = by_knowledge(launch, (), [Ran(command, span, "program")])
        return known.by_command and known.need.verdict == "not-needed"

    return follow(words, span, program, settled, variables, certain=certain)


def _connected(
    entry: Entry, reading: Reading, ranks: int | None, launch: Launch, commands: Sequence[Ran]
) -> _Counted:
    """The ranks of a program whose code joins them, if a launcher starts several; and whether that is sure."""
    count = gpu_count(launch)
    ranks = min(ranks, count) if ranks is not None and isinstance(count, int) else ranks
    if not collectives(launch):
        return []
    if ranks is None or ranks < 2:
        return _beside(entry, reading, launch) if entry.beside else _of_its_own(entry, reading, launch)
    told = Evidence(f"{ranks} ranks communicate with each other", reading.collective)
    by_default = any(entry.is_started_by(ran) and has_ranks_by_default(ran.words) for ran in commands)
    return [(nccl(ranks, (told,), launch), entry.certain and not entry.guessed and not by_default)]


def _beside(entry: Entry, reading: Reading, launch: Launch) -> _Counted:
    """The ranks of a program that a script starts several times at once: ``RANK=$i python train.py &`` in a loop."""
    if gpu_count(launch) == 1:
        return []
    told = (Evidence("starts it several times at once", entry.span), Evidence("joins ranks", reading.collective))
    because = f"several processes, {collectives(launch)} between them"
    return [(Mechanism("nccl", None, "estimated", because, told, NCCL_SOURCE), False)]


def _of_its_own(entry: Entry, reading: Reading, launch: Launch) -> _Counted:
    """The ranks that a program starts as processes, or joins as its code says; some may be in other containers."""
    if reading.started is None or gpu_count(launch) == 1 or any(call.row.use == "ranks" for call in reading.calls):
        return []
    if any(options(entry.arguments, RANK_OF)):
        return []  # the others are started elsewhere
    ranks, place = reading.started
    if ranks is not None and ranks <= MOST_RANKS:
        return [(nccl(ranks, (Evidence(f"{ranks} ranks communicate with each other", place),), launch), False)]
    told = Evidence("starts processes that communicate with each other", place)
    because = f"several processes, {collectives(launch)} between them"
    return [(Mechanism("nccl", None, "estimated", because, (told,), NCCL_SOURCE), False)]


def _shown(entry: Entry, found: _Counted) -> _Counted:
    """What a program fills that a page runs: the launch does not name it, so the page's place is told."""
    if entry.span is None:
        return found
    told = Evidence(f"runs {named(entry.path)}", entry.span)
    return [(mechanism._replace(evidence=(*mechanism.evidence, told)), sure) for mechanism, sure in found]


def _may_join(reading: Reading) -> bool:
    """Whether a launcher's ranks may be joined where the code does not show it: it was read in part, or its library
    joins them.

    The training arguments of transformers do (``_setup_devices`` of training_args.py, v4.12.0 to v4.57.0).
    """
    if reading.collective is not None or reading.sockets:
        return False
    return bool(reading.stops) or any(call.row.batch == "per_device_train_batch_size" for call in reading.calls)


def _launched(begun: Follower, entry: Entry, launch: Launch) -> _Counted:
    """The ranks that a launcher starts of a program, as the command tells; and whether that is sure."""
    ran = [one for one in begun.commands if entry.is_started_by(one) and python_words(one.words) is not None]
    known = by_knowledge(launch._replace(image=None, base_images=()), (), ran) if ran else None
    if known is None or not known.by_command or known.need.verdict not in ("needed", "likely"):
        return []
    sure = known.need.verdict == "needed" and entry.certain and not entry.guessed and all(one.certain for one in ran)
    found = [mechanism for mechanism in known.need.mechanisms if mechanism.id == "nccl"]
    library = collectives(launch)
    if not found and library and not known.alone:
        told = Evidence("a launcher starts a process on each GPU", entry.span)
        found = [Mechanism("nccl", None, "estimated", f"several ranks, {library} between them", (told,), NCCL_SOURCE)]
    return [(mechanism, sure) for mechanism in found]


def _served(begun: Follower, launch: Launch) -> list[tuple[Mechanism, bool]]:
    """What the options of a server ask for that a program starts: ``vllm serve --tensor-parallel-size 4``.

    The second of each is whether that is sure.
    """
    if begun.entries:
        return []  # the options of a launcher count where the code of the program does
    ran = [ran for ran in begun.commands if ran.kind == "program"]
    known = by_knowledge(launch, (), ran) if ran else None
    if known is None or not known.by_command:
        return []
    sure = known.need.verdict == "needed" and all(one.certain for one in ran)
    return [(mechanism, sure) for mechanism in known.need.mechanisms]


def _not_counted(calls: Sequence[Call], one_gpu: bool) -> Iterator[Step]:
    """The calls whose number of workers or processes is unknown: such a program is not read to its end.

    With one GPU there are no ranks that talk to each other.
    """
    for call in calls:
        if call.row.use == "ranks" and one_gpu:
            continue
        value = call.processes.value
        absent = value is None and (call.row.default is None or call.row.use != "dataloader")
        stands = value in (POSITIVE, *_EVERY) or _devices(value) is not None
        doubted = call.row.use == "ranks" and not call.processes.certain and (call.processes.number or 0) <= 1
        counts = absent or stands or (call.processes.number is not None and not doubted)
        if call.row.argument and call.row.use in _COUNTED and not counts:
            yield Step(f"the number of {_COUNTED[call.row.use]} of `{call.row.call}` is not known", call.span)


def _texts(reading: Reading) -> Iterator[Step]:
    """Loaders of texts, whose batches most likely fit: their length is known, and not all that is in them."""
    for call in reading.calls if reading.tokens else ():
        if call.row.use == "dataloader" and call.processes.number and not call.row.item:
            yield Step("what its loaders give with each text is not known", call.span)


_SINGLE = "single"
_FEW = 128
"""Items of a batch up to which a single worker is not taken to fill /dev/shm, where their size is unknown (chosen)."""


def _is_single(call: Call, ranks: int) -> bool:
    """Whether a loader has one worker, which holds four batches at most, and these are not known to be large."""
    single = ranks == 1 and call.processes.certain and call.processes.number == 1 and not call.row.least
    few = (call.prefetch.number or 2) == 2 and (call.batch.number or 1) <= _FEW
    return single and few and call.row.call.startswith("torch.utils.data.")


def _single_workers(reading: Reading, ranks: int | None, launch: Launch) -> Iterator[Step]:
    """Loaders with a single worker: whether its batches fill what there is rests on what is not known of them."""
    most, room = _most_ranks(reading, ranks, launch), _room(launch)
    for call in reading.calls:
        if _is_single(call, most) and _dataloader(call, reading, most, room) == _SINGLE:
            yield Step("how large the batches are that its single DataLoader worker loads is not known", call.span)


def _unknown_ranks(reading: Reading, commands: Sequence[Ran], entry: Entry, launch: Launch) -> Iterator[Step]:
    """The ranks that a program joins where a launcher starts of it as many as there are GPUs, or nobody knows how many.

    None of its commands tells a number.
    """
    joins = reading.collective is not None and not reading.sockets
    if not joins or gpu_count(launch) == 1 or _ranks(commands, entry) is not None:
        return
    for ran in commands:
        if entry.is_started_by(ran) and (has_rank_for_each(ran.words) or read_ranks(ran.words)[1]):
            yield Step("how many ranks its launcher starts is not known", ran.place)


_EVERY = ("all", "auto", -1, "-1")
"""Values of a number of processes that stand for one per GPU."""
_COUNTED = {"dataloader": "workers", "ranks": "processes"}


def _ranks(commands: Sequence[Ran], entry: Entry) -> int | None:
    """The most ranks that a launcher starts of a program; of any, where the commands do not name it."""
    file = entry.path.rpartition("/")[2]
    named = [ran for ran in commands if any(word.rpartition("/")[2] == file for word in ran.words)]
    found = [read_ranks(ran.words, launcher=True) for ran in named or commands if ran.kind == "program"]
    # That there is one where nobody says otherwise does not tell that there is one.
    return max((ranks for ranks, vary in found if ranks is not None and not (vary and ranks == 1)), default=None)


def _queues(call: Call, ranks: Mechanism, launch: Launch) -> tuple[Mechanism, ...]:
    """The message queues of the workers of a server that a program starts."""
    workers = call.processes.number
    return queues(call.row.call.partition(".")[0], workers, launch, call.span) if ranks.bytes and workers else ()


def _most_ranks(reading: Reading, ranks: int | None, launch: Launch) -> int:
    """The most ranks that have the loaders of a program: those of its launcher, or those that it starts itself."""
    return max([ranks or 1, *_ranks_with_loaders(reading, launch)])


def _ranks_with_loaders(reading: Reading, launch: Launch) -> Iterator[int]:
    """The ranks that a program starts of its own code, each of which has the loaders that it makes."""
    count = gpu_count(launch)
    for call in reading.calls:
        if call.row.use == "ranks" and call.row.argument in _RUN_THE_CODE and call.processes.certain:
            ranks = _asked_for(call.processes, launch) or 1
            ranks = min(ranks, count) if isinstance(count, int) else ranks
            yield ranks if ranks <= MOST_RANKS else 1


_RUN_THE_CODE = frozenset({"nprocs", "devices", "num_processes", "num_gpus_per_machine"})
"""Arguments of launchers that run the program's code in each of their ranks."""


def _mechanism(call: Call, reading: Reading, ranks: int, launch: Launch) -> Mechanism | str | None:
    room = _room(launch)
    if call.row.use == "dataloader":
        return _dataloader(call, reading, ranks, room)
    if call.row.use == "ranks":
        if _are_apart(call, reading):
            return None
        return _ranks_of(call.processes, launch, call.span) or _spawned(call, reading, launch)
    told = (Evidence(_TOLD[call.row.use], call.span),)
    size = call.processes.number
    if call.row.use in ("ray", "python-shm") and size is not None and size > 0:
        if size <= room:
            return "small"
        because = f"{_TOLD[call.row.use]}: {human(size)}"
        return Mechanism(call.row.use, size, "computed", because, told, call.row.source)
    limit = launch.memory_limit.known if launch.memory_limit is not None else None
    if call.row.use == "ray" and limit:
        share = share_term("Ray's object store", limit, RAY_SHARE, call.row.source)
        if share.bytes <= room:
            return "small"
        return Mechanism("ray", share.bytes, "documented", f"Ray's object store: {share.formula}", told, share.source)
    return Mechanism(call.row.use, None, "estimated", _TOLD[call.row.use], told, call.row.source)


_TOLD = {
    "ray": "Ray keeps its object store in shared memory",
    "browser": "a browser uses shared memory for drawing",
    "python-shm": "Python's `multiprocessing.shared_memory`",
    "shared-array": "SharedArray keeps its arrays in shared memory",
    "torch-sharing": "processes exchange tensors through shared memory",
    "ucx": "UCX exchanges data through shared memory",
}


_MANY = 1_000
"""More segments than this are hardly made in a loop."""


def _small_segments(calls: Sequence[Call], room: int) -> list[Call]:
    """The calls that make a segment of shared memory which fits alone."""
    made = (call for call in calls if call.row.use == "python-shm")
    return [call for call in made if 0 < (call.processes.number or 0) <= room]


def _repeated(segments: Sequence[Call], room: int) -> Iterator[Step]:
    """Segments that are made any number of times."""
    for call in segments:
        if call.repeated and (call.processes.number or 0) * _MANY > room:
            yield Step("how many segments of shared memory it makes is not known", call.span)


def _together(segments: Sequence[Call], room: int) -> Iterator[tuple[Mechanism, bool]]:
    """Segments that only together exceed what there is: they are there at the same time."""
    sizes = [call.processes.number or 0 for call in segments]
    if sum(sizes) > room:
        told = tuple(Evidence(_TOLD["python-shm"], call.span) for call in segments)
        because = f"{_TOLD['python-shm']}: {' + '.join(map(human, sizes))}"
        yield Mechanism("python-shm", sum(sizes), "computed", because, told, segments[0].row.source), False


_TOKEN, _TOKEN_PARTS = 8, 4
"""Bytes of a token in a batch, and what an item of text may have for each: itself, a mask, a label, a position."""


def _dataloader(call: Call, reading: Reading, ranks: int, room: int) -> Mechanism | str | None:
    """``ranks × (workers × prefetch + 2) × batch`` where that is written down."""
    workers, batch, fixed, span = call.processes, call.batch, call.row.item, call.span
    count = workers.number
    if workers.value is POSITIVE:
        count = None
    elif workers.value is UNKNOWN or not count or count < 0:
        return None
    evidence = [Evidence(_workers_text(count), workers.spans[0] if workers.spans else span)]
    evidence += [Evidence("the number of workers", place) for place in workers.spans[1:2]]
    unknown = _SINGLE if _is_single(call, ranks) else unknown_batches(_workers_text(count), tuple(evidence), ranks)
    items = _items_of(call, reading)
    shape, place = _largest(items) if items and not call.row.least else (fixed, None)
    size = batch.number or (1 if shape else None)  # a batch holds at least one item
    ahead = call.prefetch.number or 2
    if not shape and count and batch.number:
        texts = ranks * batches_at_once(count, ahead) * batch.number
        if 0 < texts * reading.tokens * _TOKEN_PARTS * _TOKEN <= room:
            return "small"
    if not shape or size is None or size < 1:
        return unknown
    item = call.number * _product(shape)
    certain_count = count if count is not None else 8
    more = call.row.validation
    beside = batches_at_once(more * certain_count, ahead) * more * size * item
    ranks = ranks if not call.row.least else 1  # a batch of it is that of all ranks
    kept = max(call.kept - 2, 0) * item  # two are among the batches
    total = ranks * batches_at_once(certain_count, ahead) * size * item + beside + kept
    pictures = 1 if fixed else reading.pictures
    few = batch.number and batch.certain and total * pictures <= room
    few = few or 0 < call.most * ranks * item * pictures <= room
    if few and not call.row.least and (fixed or not reading.several):
        return "small"
    if total <= room:
        return unknown
    if place is not None:
        evidence.append(Evidence(f"items of {' × '.join(map(str, shape))}", place))
    if call.resized is not None:
        least = " at least" if call.row.least else ""
        sides = " × ".join(map(str, fixed[1:])) or human(fixed[0])
        evidence.append(Evidence(f"items of {sides}{least}", call.resized))
    counted = f"batches of {size}" if batch.number else "batches of at least one item"
    evidence += [Evidence(counted, at) for at in batch.spans[:1]]
    several = f"{ranks} ranks × " if ranks > 1 else ""
    because = f"{several}({certain_count} × {ahead} + 2) batches × {human(size * item)}"
    if beside:
        because += f", and of validation ({more * certain_count} × {ahead} + 2) × {human(more * size * item)}"
    if kept:
        because += f", and {human(kept)} of a batch of {call.kept} images"
    basis: Basis = "computed" if count is not None and batch.certain else "estimated"
    return Mechanism("dataloader", total, basis, because, tuple(evidence), DATALOADER_SOURCE)


def _items_of(call: Call, reading: Reading) -> Items:
    """The shapes that the items of a call may have."""
    return () if call.holds else call.items or reading.items


def _exceeds(call: Call, items: Items, room: int) -> bool:
    """Whether what there is is filled however many there are: Ray's store does so, and a single worker may.

    As many workers as the machine has CPUs are at least one.
    """
    if call.row.use == "ray":
        return call.row.call != "ray.serve.deployment"  # which only says what is started later
    shape = _largest(items)[0] if items else call.row.item
    if call.processes.value is not POSITIVE or not shape or not call.batch.number:
        return False
    item = call.number * _product(shape)
    return batches_at_once(1, call.prefetch.number or 2) * call.batch.number * item > room


def _workers_text(count: int | None) -> str:
    if count is None:
        return "as many DataLoader workers as the machine has CPUs or the environment says"
    return counted_workers(count)


def _largest(items: Items) -> tuple[tuple[int, ...], Span]:
    return max(items, key=lambda item: _product(item[0]))


def _product(shape: tuple[int, ...]) -> int:
    found = 1
    for side in shape:
        found *= side
    return found


def _ranks_of(processes: Found, launch: Launch, span: Span) -> Mechanism | None:
    if not collectives(launch):
        return None
    count = gpu_count(launch)
    asked = _asked_for(processes, launch)
    if asked is None and count != 1 and _is_one_per_gpu(processes):
        told = Evidence("one process per GPU", span)
        because = f"one process per GPU, {collectives(launch)} between them"
        return Mechanism("nccl", None, "estimated", because, (told,), NCCL_SOURCE)
    if asked is None or not 2 <= asked <= MOST_RANKS or (isinstance(count, int) and count < 2):
        return None
    return nccl(asked, (Evidence(f"{asked} ranks", span),), launch)


def _is_one_per_gpu(processes: Found) -> bool:
    return processes.value in _EVERY or processes.value is POSITIVE


def _asked_for(processes: Found, launch: Launch) -> int | None:
    """How many ranks a program starts; None where that is not known."""
    if _is_one_per_gpu(processes):
        count = gpu_count(launch)
        return count if isinstance(count, int) else None
    return _devices(processes.value) or processes.number


def _are_apart(call: Call, reading: Reading) -> bool:
    """Whether processes that a program starts of itself are joined by Gloo, or by nothing in all of its code."""
    unjoined = not reading.may_join and not reading.stops
    return call.row.argument == "nprocs" and (reading.sockets or unjoined)


def _spawned(call: Call, reading: Reading, launch: Launch) -> Mechanism | None:
    """The ranks of a program that starts itself several times and joins these, where nobody knows how often."""
    library = collectives(launch) if gpu_count(launch) != 1 else ""
    joins = reading.collective is not None and not reading.sockets
    if call.row.argument != "nprocs" or call.processes.value is not UNKNOWN or not joins or not library:
        return None
    because = f"several processes, {library} between them"
    told = Evidence("starts processes that communicate with each other", call.span)
    return Mechanism("nccl", None, "estimated", because, (told,), NCCL_SOURCE)


def _devices(value: object) -> int | None:
    """How many GPUs a list of their numbers or names has: ``[0, 1]``, ``"0,1"``, ``["GPU:0", "GPU:1"]``, or a list for
    each node."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d+(\s*,\s*\d+)+\s*", value):
        return value.count(",") + 1
    if not isinstance(value, tuple) or not value:
        return None
    if all(isinstance(gpu, int) or (isinstance(gpu, str) and re.fullmatch(_GPU, gpu) is not None) for gpu in value):
        return len(value)
    nodes = [_devices(node) for node in value]
    return max((node for node in nodes if node is not None), default=None) if None not in nodes else None


_GPU = r"(?i)/?(?:(?:device|physical_device):)?(?:gpu|cuda|xla_gpu):\d+"
"""The name of a GPU in TensorFlow, JAX or PyTorch."""


def _need(found: list[tuple[Mechanism, bool]], room: int) -> Need | None:
    """The sum of what was found."""
    if not found:
        return None
    sure = [mechanism for mechanism, certain in found if certain and _decides(mechanism, room)]
    best: dict[str, Mechanism] = {}
    for mechanism, _ in found:
        known = best.get(mechanism.id)
        if known is None or (mechanism.bytes or 0) > (known.bytes or 0):
            best[mechanism.id] = mechanism
    mechanisms = tuple(best.values())
    total = sum(mechanism.bytes or 0 for mechanism in mechanisms)
    computed = all(m.basis in ("computed", "measured", "documented") and m.bytes for m in mechanisms)
    evidence = tuple(evidence for mechanism in mechanisms for evidence in mechanism.evidence)
    source = next((mechanism.source for mechanism in mechanisms if mechanism.source), "")
    verdict: Verdict = "needed" if sure else "likely"
    minimum = total if computed and sure and total else None
    return Need(verdict, minimum, UNKNOWN_RECOMMENDED, None, "", source, evidence, mechanisms)


def _decides(mechanism: Mechanism, room: int) -> bool:
    """Whether a mechanism exceeds what there is for sure."""
    return (mechanism.bytes or 0) > room or mechanism.id == "ray"

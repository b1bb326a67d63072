"""What the knowledge base says of a launch: its image, the images it is built on, and its commands.

What a command says beats what an image says, an image beats the base image it was built from; a
launch's own number of GPUs decides for workloads that need shared memory between GPUs only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence
from shmlint.model.launch import DOCKER_DEFAULT_SHM, GpuEvidence, GpuRequest, Launch, Value
from shmlint.model.need import UNKNOWN_RECOMMENDED, Mechanism, Need, Verdict
from shmlint.model.number import whole_number
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.workloads.commands import (
    flatten,
    has_rank_for_each,
    has_ranks_by_default,
    is_for_use,
    is_mpi_only,
    leaves_numbers_open,
    may_have_no_workers,
    names_training,
    options,
    read_batch,
    read_ranks,
    read_workers,
    simple_commands,
    starts_ranks,
)
from shmlint.workloads.knowledge import Workload, builtin, entry_called, match_command, recognise
from shmlint.workloads.launchers import TORCHRUN_VARIABLE, python_words
from shmlint.workloads.program import Ran
from shmlint.workloads.running.visible import Count, gpu_count, may_see_more

NCCL_SOURCE = (
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory"
)

class Known(NamedTuple):
    """What the knowledge base says of a launch."""

    need: Need
    by_command: bool
    """A command says so, not only an image."""
    alone: bool
    """Its words or its GPUs allow one process only."""
    without_workers: bool = False
    """Its words say that it has no DataLoader workers."""
    perhaps_without_workers: bool = False
    """An option of an unread program may say so."""
    workers_perhaps: bool = False
    """Its words ask for DataLoader workers, and the code that was read of its programs has no such loader."""


def by_knowledge(
    launch: Launch, extra: Sequence[Workload], commands: Sequence[Ran], *, copy: bool = False
) -> Known:
    """What the knowledge base says of a launch that runs these simple commands.

    An error has to be right, so "needed" is for what is sure: ranks that a command asks for, an image
    whose maintainers say so. ``copy`` is whether its image is its base image with files added: then the
    base image says as much as if the launch named it.
    """
    reading = _Reading(launch, extra, commands, copy=copy)
    case = _Case(launch, reading)
    need = _spared(case) or _ranks(case) or _workers(case) or _without_workers(case) or _workload(case)
    winner, command = reading.workload, reading.by_command
    by_command = winner is not None and command is not None and command.id == winner.id
    alone = case.alone and not reading.ranks_vary
    return Known(
        need, by_command, alone, reading.without_workers, reading.perhaps_without_workers, reading.workers_perhaps
    )


class _Case:
    """A launch, what was read of it, and the parts of the answer that are the same whatever decides."""

    def __init__(self, launch: Launch, reading: _Reading) -> None:
        self.launch = launch
        self.reading = reading
        self.workload = workload = reading.workload
        self.evidence = (reading.told,) if reading.told is not None else ()
        self.minimum, self.recommended, self.share = _sizes(workload, launch, reading)
        self.because = _because(workload)
        count = reading.count
        self.alone = (isinstance(count, int) and count <= 1) or (reading.ranks == 1 and not reading.ranks_vary)
        """One process on one GPU, at least on this host."""

    def need(self, verdict: Verdict, why: str | None = None) -> Need:
        workload = self.workload
        standing = " (not checked against a source)" if workload is not None and not workload.verified else ""
        source = workload.source if workload is not None else ""
        known = workload.known if workload is not None else None
        why = self.because if why is None else why
        if verdict == "not-needed":
            return Need(verdict, None, None, known, f"{why}{standing}", source, self.evidence)
        formula = workload.formula if workload is not None else None
        found = (*self.evidence, formula) if formula is not None else self.evidence
        return Need(verdict, self.minimum, self.recommended, known, f"{why}{self.share}{standing}", source, found)


def _spared(case: _Case) -> Need | None:
    """What needs nothing; of training in an image that is made for something else its maintainers say nothing."""
    workload, reading = case.workload, case.reading
    if workload is None or workload.needs != "no":
        return None
    if workload is reading.by_command or reading.by_use:
        return case.need("not-needed")
    if reading.workers:
        return None
    return case.need("unknown" if _trains(reading) else "not-needed")


def _trains(reading: _Reading) -> bool:
    return any(ran.kind == "program" and names_training(ran.words) for ran in reading.ran)


def _ranks(case: _Case) -> Need | None:
    """Several ranks that the command asks for exchange data through NCCL."""
    workload, reading = case.workload, case.reading
    ranks, count = reading.ranks, reading.count
    if ranks is None or ranks < 2 or (isinstance(count, int) and count < 2) or reading.no_nccl:
        return None
    if isinstance(count, int):
        ranks = min(ranks, count)  # the others run in other containers
    library = collectives(case.launch)
    if not library:
        return _other_ranks(case, ranks)
    text = f"{'several' if reading.private else ranks} ranks, {library} between them"
    told = Evidence(text, reading.ranks_span, NCCL_SOURCE)
    verified = workload is not None and workload.verified
    why = f"{case.because}{case.share}"
    if workload is None or not verified or workload.needs == "depends":
        why = "NCCL's ranks exchange data through shared memory"
    minimum = case.minimum if verified else None
    recommended = case.recommended if verified else None
    source = workload.source if workload is not None and verified else ""
    mechanisms: tuple[Mechanism, ...] = ()
    if workload is not None and not reading.private and not reading.replicas:
        mechanisms = queues(workload.id, ranks, case.launch, reading.ranks_span)
    mechanism = nccl(ranks, (told,), case.launch)
    mechanism = mechanism._replace(bytes=None, because="several ranks") if reading.private else mechanism
    if reading.workers and not reading.private:
        from shmlint.workloads.mechanisms import counted_workers

        told_workers = Evidence(counted_workers(reading.workers), reading.workers_span, DATALOADER_SOURCE)
        mechanisms += (unknown_batches(counted_workers(reading.workers), (told_workers,), ranks),)
    perhaps = (workload is not None and workload.condition) or reading.ranks_perhaps or reading.by_default
    # Where training needs more anyway, as its maintainers say, doubtful ranks make it no less sure.
    surely = not perhaps or (_trains(reading) and _workload(case).verdict == "needed")
    verdict: Verdict = "needed" if surely else "likely"
    return Need(
        verdict, minimum, recommended or UNKNOWN_RECOMMENDED, workload.known if workload is not None else None, why,
        source or NCCL_SOURCE, (*case.evidence, told), (mechanism, *mechanisms),
    )  # fmt: skip


def _other_ranks(case: _Case, ranks: int) -> Need:
    """Ranks on accelerators whose library for collectives is not NCCL: what it puts into /dev/shm is not known."""
    workload = case.workload if case.workload is not None and case.workload.verified else None
    return Need(
        "likely", None, (case.recommended if workload else None) or UNKNOWN_RECOMMENDED,
        workload.known if workload else None, f"{case.because}{case.share}" if workload else _OF_OTHERS,
        workload.source if workload else "", (*case.evidence, Evidence(f"{ranks} ranks", case.reading.ranks_span)),
    )  # fmt: skip


_OF_OTHERS = "its ranks may exchange data through shared memory"


def collectives(launch: Launch) -> str:
    """The library that connects the ranks of a launch, NCCL or AMD's version of it; empty for other accelerators."""
    return {"": "NCCL", "NVIDIA": "NCCL", "AMD": "RCCL"}.get(launch.gpu.accelerator, "")


def nccl(ranks: int, told: tuple[Evidence, ...], launch: Launch) -> Mechanism:
    """What NCCL puts into /dev/shm for ranks of one host, as the variables of a launch set it up."""
    from shmlint.workloads.mechanisms import nccl_estimate

    channels, buffsize = nccl_settings(launch)
    size = nccl_estimate(ranks, None, channels, buffsize)
    return Mechanism("nccl", size, "estimated", f"{ranks} ranks", told, NCCL_SOURCE)


def nccl_settings(launch: Launch) -> tuple[int, int]:
    """NCCL's channels and the bytes of a buffer: its defaults, where the launch does not set them."""
    from shmlint.workloads.mechanisms import BUFFSIZE, CHANNELS, MOST_CHANNELS

    channels = max(number(launch, "NCCL_MAX_NCHANNELS") or CHANNELS, number(launch, "NCCL_MIN_NCHANNELS") or 0)
    return min(channels, MOST_CHANNELS), number(launch, "NCCL_BUFFSIZE") or BUFFSIZE


def queues(server: str, workers: int, launch: Launch, span: Span | None) -> tuple[Mechanism, ...]:
    """The message queues of an inference server's workers, which come on top of NCCL's buffers."""
    from shmlint.workloads.mechanisms import VLLM_BROADCAST, sglang_terms, total, vllm_terms

    slot = number(launch, "VLLM_MQ_MAX_CHUNK_BYTES_MB") or VLLM_BROADCAST
    terms = {"vllm": vllm_terms(workers, slot), "sglang": sglang_terms(workers)}.get(server, ())
    if not terms:
        return ()
    because = "message queues: " + " + ".join(term.formula for term in terms)
    told = (Evidence(f"{workers} workers", span),)
    return (Mechanism(server, total(terms), "documented", because, told, terms[-1].source),)


def number(launch: Launch, variable: str) -> int | None:
    """The number that a variable of a launch is set to; None where only an env file says it, which is not printed."""
    value = launch.environment.get(variable)
    text = value.known if value is not None and not value.private else None
    return whole_number(text or "")


def _workers(case: _Case) -> Need | None:
    """DataLoader workers that the command asks for."""
    workload, reading = case.workload, case.reading
    workers = reading.workers
    if not workers:
        return None
    from shmlint.workloads.mechanisms import batches_at_once, counted_workers

    because = "DataLoader workers" if reading.private else counted_workers(workers)
    keep = "keeps" if workers == 1 else "keep"
    text = f"{because} {keep} up to {batches_at_once(workers)} batches in shared memory"
    if reading.private:
        text = "DataLoader workers pass their batches through shared memory"
    told = Evidence(text, reading.workers_span, DATALOADER_SOURCE)
    verified = workload is not None and workload.verified
    minimum, recommended = (case.minimum, case.recommended) if verified else (None, None)
    mechanism = unknown_batches(because, (told,))
    doubtful = reading.serves or reading.workers_perhaps or _are_small(reading.ran)
    return Need(
        "needed" if _trains(reading) and not doubtful else "likely", minimum,
        recommended or UNKNOWN_RECOMMENDED, workload.known if workload is not None else None, text, DATALOADER_SOURCE,
        (*case.evidence, told), (mechanism,),
    )  # fmt: skip


def unknown_batches(workers: str, told: tuple[Evidence, ...], ranks: int = 1) -> Mechanism:
    """What workers, of every rank where there are several, keep of batches whose size is not known."""
    because = f"{workers} of each rank" if ranks > 1 else workers
    return Mechanism("dataloader", None, "estimated", because, told, DATALOADER_SOURCE, times=ranks)


def _are_small(commands: Sequence[Ran]) -> bool:
    """Whether all that workers keep at once may fit, as commands say.

    It does where an item is a picture of the usual size, or the program has the options of those for texts.
    """
    return all(_is_small(ran.words) for ran in commands if ran.loads != "no" and read_workers(ran.words))


def _is_small(words: Sequence[str]) -> bool:
    from shmlint.workloads.mechanisms import batches_at_once

    batch = read_batch(words)
    few = batch is not None and batches_at_once(read_workers(words) or 0) * batch * _PICTURE <= DOCKER_DEFAULT_SHM
    return few or _takes_texts(words)


def _takes_texts(words: Sequence[str]) -> bool:
    """Whether options are those of programs for texts, ``--lora-r 16`` or ``max_length=512``, and none is of images."""
    from shmlint.workloads.packages.libraries import IMAGE_SIZE_OPTIONS, LENGTH_OPTIONS

    given = (word.partition("=")[0].lstrip("-") for word in words if word.startswith("-") or "=" in word)
    names = {name.replace("-", "_").rpartition(".")[2] for name in given}
    return not names.isdisjoint((*LENGTH_OPTIONS, *_OF_ADAPTERS)) and names.isdisjoint(IMAGE_SIZE_OPTIONS)


_OF_ADAPTERS = ("lora_r", "lora_rank", "lora_alpha", "lora_dropout")
"""Options of fine-tuning, mostly of language models; one for images names their size as well."""


_PICTURE = 3 * 224 * 224 * 4
"""Bytes of three colours of 224 × 224 pixels, as PyTorch's numbers."""


def _without_workers(case: _Case) -> Need | None:
    """No DataLoader workers, as the command says: one process needs nothing, and of several nothing is known.

    One rank of several hosts has NCCL's buffers for the network in its own memory, and in /dev/shm at most 33 MiB.
    """
    if case.reading.perhaps_without_workers and case.reading.by_command is None:
        return case.need("unknown")
    if not case.reading.without_workers:
        return None
    if case.alone:
        return case.need("not-needed", "it runs in one process, and its command sets no DataLoader workers")
    return case.need("unknown") if case.reading.by_command is None else None


def _only_uses(reading: _Reading) -> bool:
    """Whether all programs that launchers start are called after a use of models: ``test.py``, ``demo.py``."""
    started = [words for ran in reading.ran if ran.kind == "program" if (words := python_words(ran.words)) is not None]
    return bool(started) and all(is_for_use(words) for words in started)


def _of_one_process(case: _Case, workload: Workload) -> Need:
    """What is advised for one process on one GPU; of a program that only uses models nobody says how it loads."""
    if workload is case.reading.by_command and _only_uses(case.reading):
        stopped = "it starts one process, of a program that is named after another use than training"
        return case.need("unknown")._replace(stopped=stopped)
    return case.need("likely", str(workload.entry.get("single_gpu_because", "")) or None)


def _workload(case: _Case) -> Need:
    """What the maintainers say of the image or the command."""
    workload, reading = case.workload, case.reading
    if workload is None:
        return Need("unknown")
    count, ranks = reading.count, reading.ranks
    one = case.alone
    if one and workload.single_gpu == "not-needed":
        return case.need("not-needed", "it runs on one GPU")
    if workload.needs == "depends":
        asked = told_size(case.launch, workload) or 0  # for what it may not load
        return case.need("likely" if asked > DOCKER_DEFAULT_SHM else "unknown")
    one_process = workload.one_process and not (workload.counts_listed and _has_several(count))
    default = one_process and ranks is None and not reading.ranks_vary and reading.complete
    if workload.single_gpu == "depends" and (one or default):
        return case.need("unknown")._replace(stopped=str(workload.entry.get("single_gpu_because", "")))
    if one and workload.single_gpu == "advised":
        return _of_one_process(case, workload)
    if workload.needs == "multi-gpu":
        if one and not workload.single_gpu:
            return case.need("not-needed", f"with one GPU {workload.name} does not exchange data between processes")
        if default:
            return case.need("not-needed", f"{workload.name} runs in one process unless its command sets more")
        if ranks == 1 and reading.ranks_vary:
            return case.need("unknown")  # one where nobody says otherwise
        if not isinstance(count, int) or reading.ranks_vary:
            return case.need("likely")
    if one_process and ranks is None and reading.words:
        return case.need("likely")  # GPUs alone do not make it use more than one; its command would say so
    other = reading.serves and workload is not reading.by_command
    launched = one and any(ran.kind == "program" and python_words(ran.words) is not None for ran in reading.ran)
    single = ranks == 1 or launched  # nothing is known of its DataLoader workers, or of other ranks that it may have
    sure = workload.verified and not workload.condition and not reading.weak and not other and not single
    sure = sure and not (reading.command_perhaps and workload is reading.by_command)
    sure = sure and not any(leaves_numbers_open(ran.words) for ran in reading.ran if ran.kind == "program")
    if reading.by_name and (workload.sure == "never" or (workload.sure == "multi-gpu" and not _has_several(count))):
        sure = False
    return case.need("needed" if sure else "likely")


def _may_not_run(ran: Sequence[Ran], chosen: Sequence[bool]) -> bool:
    """Whether a condition decides if one of the chosen commands runs, and another or none may run instead.

    Of two chosen ones it only decides which.
    """
    some = [one for one, is_so in zip(ran, chosen, strict=True) if is_so]
    if not some or any(one.certain for one in some):
        return False
    others = (one for one, is_so in zip(ran, chosen, strict=True) if not is_so)
    return len(some) == 1 or any(one.kind == "program" and not one.certain for one in others)


def _has_several(count: Count) -> bool:
    return isinstance(count, int) and count > 1


def numbers(
    launch: Launch, extra: Sequence[Workload], commands: Sequence[Ran]
) -> tuple[Count, int | None, int | None]:
    """The GPUs a launch's program sees, and the ranks and DataLoader workers that its own words ask for."""
    reading = _Reading(launch, extra, commands)
    return reading.count, reading.ranks, reading.workers


class _Reading:
    """What a launch's command, image, base images and environment say, and what wins."""

    def __init__(
        self, launch: Launch, extra: Sequence[Workload], ran: Sequence[Ran], *, copy: bool = False
    ) -> None:
        mine = {workload.id for workload in extra}
        known = (*extra, *(w for w in builtin() if w.id not in mine)) if extra else builtin()
        self.ran = ran
        commands = [list(command.words) for command in ran]
        self.words = [word for command in commands for word in command]
        self.no_nccl = any(is_mpi_only(command) for command in commands)
        self.span = _command_span(launch)
        self.private = any(part is not None and part.private for part in (launch.entrypoint, launch.command))
        self.count = gpu_count(launch)
        self.by_command = _of_commands(commands, extra, known)
        if self.by_command is not None:
            says = (command.place for command in ran if match_command(command.words, (self.by_command,)) is not None)
            self.span = next(says, None) or self.span
        self.copy = copy
        servers = entry_called("servers", extra)
        self.serves = servers is not None and any(match_command(one, (servers,)) is not None for one in commands)
        workers = [read_workers(command.words) for command in ran]
        used = [(count, one) for count, one in zip(workers, ran, strict=True) if one.loads != "no"]
        self.workers, self.workers_span = self._most(used, read_workers)
        self.workers_perhaps = bool(self.workers) and all(one.loads == "perhaps" for count, one in used if count)
        """The code of no program that asks for workers was found to have a DataLoader."""
        self.without_workers = bool(workers) and all(count == 0 for count in workers)
        asked = [ran.words for ran, count in zip(ran, workers, strict=True) if ran.kind == "program" and count is None]
        self.perhaps_without_workers = bool(asked) and all(map(may_have_no_workers, asked))
        """An option of an unread program, whose meaning is not known, may say that it has no DataLoader workers."""
        self.workload, self.told, self.weak = self._winner(launch, known, mine)
        self.by_use = False
        """What the entry says of these commands alone decides."""
        self._apply_use(commands, launch)
        if self.by_command is not None and self.workload is self.by_command:
            self.weak = False
        self.by_name = self.workload is self.by_command and not self._is_backed(launch, known, mine)
        """Only the name of a program in the command tells of the workload, and no image of it is there."""
        own = self.by_command is not None or re.match(_TO_A_SERVER, next(iter(self.words), "")) is not None
        self.complete = own and _says_all(self.words, launch)
        """The command is the workload's own, and says all that the workload is told."""
        self.replicas = any(options(self.words, _REPLICA_OPTIONS))
        """Some of the ranks are copies of a server, each with workers of its own."""
        found = self.workload
        launcher = found is not None and found.verified and found.needs in ("yes", "multi-gpu")
        self.ranks, self.ranks_span = self._most_ranks(launcher)
        several = [(read_ranks(one.words, launcher=launcher)[0] or 1) > 1 for one in ran]
        self.ranks_perhaps = _may_not_run(ran, several) or self._are_named_alone(several)
        """A condition decides whether a program with several ranks runs; or an option's name alone says so."""
        self.by_default = any(has_ranks_by_default(one.words) for one in ran)
        """A variable decides how many ranks there are, of which only what it is otherwise is known."""
        written = flatten(_written(launch))
        one_for_each = self.count == 1 and has_rank_for_each(written) and not _has_several_hosts(written)
        self.ranks_vary = self.by_default or (read_ranks(written, launcher=launcher)[1] and not one_for_each)
        self._apply_environment(launch, launcher)

    def _are_named_alone(self, several: Sequence[bool]) -> bool:
        """Whether only options of programs that are not known tell of ranks: ``convert.py --tp-size 8`` has one."""
        asking = [one.words for one, asks in zip(self.ran, several, strict=True) if asks]
        server = self.workload is not None and self.workload.needs == "multi-gpu"  # all programs of its image take them
        unknown = self.by_command is None or self.by_command.needs == "depends"  # any Python server, say
        return bool(asking) and unknown and not server and not any(map(starts_ranks, asking))

    @property
    def command_perhaps(self) -> bool:
        """Whether something that is not known decides if the command runs; another or none may run instead."""
        some = [one for one in self.ran if one.kind == "program"]
        known = (self.by_command,) if self.by_command is not None else ()
        return _may_not_run(some, [match_command(one.words, known) is not None for one in some])

    def _apply_environment(self, launch: Launch, launcher: bool) -> None:
        """Take the ranks that variables set, and leave open how many GPUs there are where they differ from these."""
        torchrun = _reads_processes(self.words)
        if (self.ranks is None or torchrun) and not self.ranks_vary and launcher:
            self._ranks_of_environment(launch, _TORCHRUN_VARIABLES if torchrun else _RANK_VARIABLES)
        if self.count == 1 and (self.ranks or 1) > 1 and may_see_more(launch):
            self.count, self.ranks_perhaps = None, True

    def _most_ranks(self, launcher: bool) -> tuple[int | None, Span | None]:
        """The most ranks that one of the commands asks for, and where it does."""
        def read(words: Sequence[str]) -> int | None:
            return read_ranks(words, launcher=launcher)[0]

        found = [(read(ran.words), ran) for ran in self.ran]
        if isinstance(self.count, int) and self.count >= 1:
            every = (ran for ran in self.ran if has_rank_for_each(ran.words))
            found += [(self.count, ran) for ran in every if not _has_several_hosts(ran.words)]
        return self._most(found, read)

    def _most(
        self, found: Sequence[tuple[int | None, Ran]], read: Callable[[Sequence[str]], int | None]
    ) -> tuple[int | None, Span | None]:
        """The largest count, and where the first command is that asks for it; of options alone, the one that does."""
        told = [(count, ran) for count, ran in found if count is not None]
        if not told:
            return None, self.span
        count, ran = max(told, key=lambda item: item[0])
        alone = ran.words[0].startswith("-") and ran.span is not None and "\n" in ran.span.text
        option = _asking(ran.words, count, read) if alone else ()
        return count, ran.place_of(option, ran.words, ran.words[:1]) or self.span

    def _is_backed(self, launch: Launch, known: Sequence[Workload], mine: set[str]) -> bool:
        """Whether more than the command says so: the settings, or an image whose maintainers ask for shared memory."""
        if self.by_command is None or self.by_command.id in mine:
            return self.by_command is not None
        image, _, certain = self._image(launch, known)
        if image is None or not certain:
            return False
        return image.id == self.by_command.id or (image.needs == "yes" and image.verified)

    def _apply_use(self, commands: list[list[str]], launch: Launch) -> None:
        """Let the winner say what it says of these commands and of the launch's variables."""
        if self.workload is None:
            return
        variables = (f"{name}={value.known}" for name, value in launch.environment.items() if value.known)
        used = self.workload.used_by(commands, variables)
        if self.by_command is self.workload:
            self.by_command = used
        self.by_use = used is not self.workload
        self.workload = used

    def _ranks_of_environment(self, launch: Launch, names: Sequence[str]) -> None:
        for name in names:
            value = launch.environment.get(name)
            if value is None:
                continue
            ranks = whole_number(value.known or "")
            if ranks is not None:
                self.ranks = ranks
                self.ranks_span = value.span
                self.private = value.private
            else:
                self.ranks_vary = True
        for name, text in _ONE_RANK.items() if self.ranks is None and not self.ranks_vary else ():
            value = launch.environment.get(name)
            if value is not None and (value.known or "").lower() == text:
                self.ranks, self.ranks_span, self.private = 1, value.span, value.private

    def _winner(
        self, launch: Launch, known: Sequence[Workload], mine: set[str]
    ) -> tuple[Workload | None, Evidence | None, bool]:
        """The workload that is judged, how it was recognised, and whether that is a weak sign."""
        command = self.by_command
        image, told, certain = self._image(launch, known)
        if image is not None and self._outweighs(image, command, mine):
            # An interactive tool in an image that needs it: what will be run there is not known.
            open_end = command is not None and command.needs == "depends"
            return image, told, image.id not in mine and (open_end or not certain)
        told = Evidence(command.name, self.span, command.source) if command is not None else None
        return command, told, False

    def _image(self, launch: Launch, known: Sequence[Workload]) -> tuple[Workload | None, Evidence | None, bool]:
        """The workload of the image or else of one that it is built on, and whether that is certain."""
        if launch.image is not None and launch.image.known:
            image, certain = recognise(launch.image.known, known)
            if image is not None:
                return image, Evidence(image.name, launch.image.span, image.source), certain
        for base in launch.base_images:
            image, certain = recognise(base.known or "", known)
            if image is not None:
                return image, Evidence(f"built on {image.name}", base.span, image.source), certain and self.copy
        return None, None, False

    def _outweighs(self, image: Workload, command: Workload | None, mine: set[str]) -> bool:
        """Whether an image says more than a command.

        A command says more as a rule, but a tool that runs anything says less than a named image, and
        settings say more than the program knows.
        """
        if command is None:
            return True
        if (image.id in mine) != (command.id in mine):
            return image.id in mine
        if command.needs == "depends":
            return image.needs != "depends"
        if command.id == "nccl":
            ranks, _ = self._most_ranks(launcher=True)
            return image.needs == "yes" or (image.needs == "no" and (ranks or 1) < 2)
        return False


def _asking(words: Sequence[str], count: int, read: Callable[[Sequence[str]], int | None]) -> Sequence[str]:
    """The option without which a command does not ask for so many; empty where there are too many options."""
    for at, word in enumerate(words[:_MOST_OPTIONS]):
        alone = "=" in word or words[at + 1 : at + 2] == () or words[at + 1].startswith("-")
        end = at + (1 if alone else 2)
        if word.startswith("-") and read((*words[:at], *words[end:])) != count:
            return words[at:end]
    return ()


_MOST_OPTIONS = 200
"""Words among which the option is looked for that asks for ranks or workers."""


_TO_A_SERVER = r"-|(?!\.|bin/|scripts?/)[\w.-]+/[\w.-]+$(?<!\.sh)(?<!\.py)"
"""The first word for a server that is its image's own program: an option, or the name of a model, ``me/model-7b``."""


def _says_all(words: Sequence[str], launch: Launch) -> bool:
    """Whether a command says all that its program is told: what is not known are values of its options, alone."""
    unknown = [at for at, word in enumerate(words) if re.search(_UNKNOWN, word) is not None]
    if any(not _is_value(words, at) for at in unknown) or any(re.match(r"--config(?:=|$)", word) for word in words):
        return False
    entrypoint, command = launch.entrypoint, launch.command
    if entrypoint is not None and entrypoint.because:
        return False
    if command is None or not command.because or unknown:
        return True
    written = command.text.split()  # Compose puts in nothing for a variable that is not set
    unset = [at for at, word in enumerate(written) if "$" in word]
    return bool(unset) and all(_is_value(written, at) and not any(read_ranks(written[: at + 1])) for at in unset)


def _is_value(words: Sequence[str], at: int) -> bool:
    """Whether a word that is not known is the value of the option before it, and does not stand for options."""
    name, equals, value = words[at].partition("=")
    named = equals and name.startswith("--") and "$" not in name
    value = value if named else words[at]
    if not named and (at == 0 or not words[at - 1].startswith("--") or "=" in words[at - 1]):
        return False
    return re.search(_OF_OPTIONS, value) is None


_UNKNOWN = r"[$`]|<[A-Za-z][^<>]*>|\{\{|\{\w+\}|^\["
"""Variables, what a command prints, and the placeholders of pages and templates."""
_OF_OPTIONS = (
    r"(?i)\$\{?[@*]|\[[@*]\]|`|\$\(|\$\{?\w*(?:arg|opt|flag|param|extra|cmd|command|config|more)"
    r"|[<{][^<>{}]*(?:arg|opt|flag|param|extra|command|more|other)|^\["
)
"""What stands for options, by its form or its name."""


DATALOADER_SOURCE = "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading"


def _because(workload: Workload | None) -> str:
    """Why a workload needs it, or does not."""
    if workload is None:
        return ""
    return f"{workload.because} {workload.condition}".rstrip()


def told_size(launch: Launch, workload: Workload) -> int | None:
    """How many bytes of /dev/shm a command itself asks for, where the workload has an option for that."""
    option = workload.entry.get("size_option")
    words = [word for command in simple_commands(flatten(_command(launch))) for word in command] if option else []
    for i, word in enumerate(words):
        # An option may hold the name of a setting: ``--backend-config=python,size=N``, or with a space after it.
        for written in (word, f"{word}={words[i + 1]}" if i + 1 < len(words) else ""):
            if written.startswith(f"{option}="):
                return whole_number(written.removeprefix(f"{option}="))
    return None


def _sizes(workload: Workload | None, launch: Launch, reading: _Reading) -> tuple[int | None, int | None, str]:
    """The least and the advised size of a workload in bytes, and how they came about."""
    if workload is None:
        return None, None, ""
    told = told_size(launch, workload)
    if told and (workload.recommended is None or told > DOCKER_DEFAULT_SHM):
        shown = "so much" if reading.private else human(told)
        unit = 2**30 if told > 2**30 else 2**20
        advised = max(-(-told // unit) * unit, workload.recommended or 0)
        return told, advised, f"; its `{workload.entry['size_option']}` asks for {shown}"
    if workload.memory_share is None:
        return workload.minimum, workload.recommended, ""
    share = f"; it needs more than {workload.memory_share * 100:.0f} % of the container's memory"
    limit = launch.memory_limit
    if limit is None or limit.known == 0:  # 0 is no limit
        return workload.minimum, workload.recommended, f"{share}, but no memory limit is set"
    if limit.known is None or limit.private:
        return workload.minimum, workload.recommended, f"{share}, whose limit is unknown"
    size = (int(limit.known * workload.memory_share) // 2**20 or 1) * 2**20
    return workload.minimum, size, f"{share}, here {human(size)} of {human(limit.known)}"


def with_render_nodes(launch: Launch, extra: Sequence[Workload] = ()) -> Launch:
    """A launch that gets Intel's GPUs as ``/dev/dri``, where its program is one that computes on them.

    Others that get these nodes draw or transcode, and ask for no GPU.
    """
    device = next((d for d in launch.devices if re.fullmatch(r"/dev/dri(?:/.*)?", d.known or "")), None)
    if device is None or launch.gpu.requested is not False:
        return launch
    command = match_command(flatten(_command(launch)), (*extra, *builtin()))
    images = (image.known or "" for image in (launch.image, *launch.base_images) if image is not None)
    known = [command, *(recognise(image, (*extra, *builtin()))[0] for image in images)]
    if not any(workload is not None and workload.entry.get("render_nodes") for workload in known):
        return launch
    path = "devices" if launch.kind == "compose-service" else "--device"
    told = GpuEvidence(path, f"{path}: {device.text}", device.span or launch.span)
    return launch._replace(gpu=GpuRequest(True, "intel", None, (told,), accelerator="Intel"))


_RANK_VARIABLES = ("NUM_SHARD", "TENSOR_PARALLEL_SIZE", "NPROC_PER_NODE")
"""Environment variables that inference servers and launchers read their number of processes from."""
_ONE_RANK = {"SHARDED": "false"}
"""Values of variables that set one process, where no variable sets its number: TGI and LoRAX without shards."""
_REPLICA_OPTIONS = frozenset({"--data-parallel-size", "--data_parallel_size", "-dp", "--dp", "--dp-size", "--dp_size"})
_TORCHRUN_VARIABLES = (TORCHRUN_VARIABLE,)
"""What torchrun reads instead of its option."""


def _reads_processes(words: Sequence[str]) -> bool:
    """Whether torchrun is started without an option for its processes."""
    return "torchrun" in words and not any(word.startswith("--nproc") for word in words)


def _has_several_hosts(words: Sequence[str]) -> bool:
    return any(value != "1" for _, value in options(words, frozenset({"--nnodes"})))


def _command(launch: Launch) -> tuple[str, ...]:
    words: tuple[str, ...] = ()
    for part in (launch.entrypoint, launch.command):
        if part is not None and part.known:
            words += part.known
    return words


def _written(launch: Launch) -> tuple[str, ...]:
    """The words of its command; as the file has them where a variable has no value."""
    parts = (launch.entrypoint, launch.command)
    return tuple(word for part in parts if part is not None for word in part.known or part.text.split())


def _of_commands(
    commands: Sequence[Sequence[str]], extra: Sequence[Workload], known: Sequence[Workload]
) -> Workload | None:
    """The workload that several commands are; one that needs nothing only where all of them are."""
    found = [match_command(command, extra) or match_command(command, known) for command in commands]
    real = [w for w in found if w is not None and w.needs != "no"]
    if real:
        return next((w for w in real if w.needs != "depends"), real[0])
    return found[0] if found and all(w is not None for w in found) else None


def _command_span(launch: Launch) -> Span | None:
    part: Value[tuple[str, ...]] | None = launch.command or launch.entrypoint
    return part.span if part is not None else None

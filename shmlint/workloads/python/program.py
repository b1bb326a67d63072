"""What a Python program of the repository does that fills /dev/shm: read by its syntax tree, never run.

From the entry file the code that can be reached is followed: functions and classes by their names, imports
that stay in the repository. Numbers are looked up where they are written: literals, constants, parameters,
options with their defaults, configuration files that the command names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse

from shmlint.docker.accelerators import OF_PROGRAMS
from shmlint.model.need import Step
from shmlint.model.source import Span
from shmlint.syntax.python import Module, dotted, switches_mode
from shmlint.workloads.filesystem import Files
from shmlint.workloads.packages.libraries import (
    COLLECTIVE,
    COUNTS,
    DATASET_OPTIONS,
    DATASETS,
    IMAGE_PACKAGES,
    IMAGE_SIZE_CALLS,
    IMAGE_SIZE_OPTIONS,
    INPUT_SIZE_CALLS,
    KNOWN_ITEMS,
    LENGTH_OPTIONS,
    OF_CLASSES,
    OTHER_PACKAGES,
    OWNERS,
    ROWS,
    RUNNER,
    RUNNERS,
    TEXT_PACKAGES,
    VOLUME_SIZE_CALLS,
    Row,
)
from shmlint.workloads.program import Entry
from shmlint.workloads.python.changes import ANY
from shmlint.workloads.python.configurations.detectron import counted, is_counted, sized
from shmlint.workloads.python.configurations.runners import loaders_of
from shmlint.workloads.python.created import most_items
from shmlint.workloads.python.datasets import gives_what_it_holds, with_own_items
from shmlint.workloads.python.declarations import SETTINGS_CLASSES
from shmlint.workloads.python.evaluated import imported_by
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.item_sizes import (
    Shapes,
    early_steps,
    gets_other_transforms,
    grown_later,
    items_of_loader,
    least_share,
    leave_size,
)
from shmlint.workloads.python.iterated import together, without_unused
from shmlint.workloads.python.loaded import Loaded, extending
from shmlint.workloads.python.pools import tensors_may_cross
from shmlint.workloads.python.reach import Site, Walker
from shmlint.workloads.python.reading import Call, Items, Reading
from shmlint.workloads.python.subclasses import row_of_class, row_of_method
from shmlint.workloads.python.tensors import (
    adds_to_tokens,
    classes_of_datasets,
    collects_images,
    makes_arrays,
    passed_tensors,
    reads_items,
)
from shmlint.workloads.python.values import UNKNOWN, Found, Scope, changed, text_of
from shmlint.workloads.python.varied import with_varied

_MOST_TURNS = 3
"""How often a program is walked again with modules that may call its methods."""


def read_program(entry: Entry, files: Files) -> Reading:
    """Read one program, once for all launches that run it alike. What cannot be followed is a stop with its reason."""
    told = ((name, str(value.known), value.private) for name, value in files.environment.items())
    key = *entry.runs, entry.certain, entry.guessed, files.layout(), tuple(sorted(told)), files.env_files
    known = files.repository.shared.programs
    if key not in known:
        known[key] = _read_program(entry, files)._replace(full=files.repository.full)
    files.repository.full = files.repository.full or known[key].full
    return known[key]


def _read_program(entry: Entry, files: Files) -> Reading:
    parsed: frozenset[str] = frozenset()
    walker = Walker(entry, files)
    try:
        walker.walk()
        for _ in range(_MOST_TURNS):
            more = walker.calling()
            if not more:
                break
            parsed |= more
            walker = Walker(entry, files, parsed)
            walker.walk()
        return _result(walker)
    except (RecursionError, MemoryError):
        stop = Step("its code is nested too deep")
        return Reading((), None, (), (), (*walker.stops, stop), ())


def _result(walker: Walker) -> Reading:
    walker.evaluator.forget()  # now all is known that may change it
    calls: list[Call] = []
    loaders: dict[int, Site] = {}
    made = {site.name for site in walker.sites}
    sites: dict[int, Site] = {}
    for site in filterfalse(walker.is_settled, walker.sites):  # reached surely, perhaps otherwise before
        if id(site.node) not in sites or site.certain:
            sites[id(site.node)] = site
    loaded = [module for module in walker.modules.loaded.values() if module is not None]
    sites = without_unused(_without_attached(sites, walker), loaded, walker.is_reached)
    names = extending(loaded)
    for site in sites.values():
        last = site.name.rpartition(".")[2]
        row = _row_of(site.name, last, made) or row_of_class(site, walker, _row_of_name, names)
        row = row or row_of_method(site, walker, _row_of_name)
        if row is None and (row := _row_of(site.name, last, walker.kept)) is not None:
            site = site._replace(certain=False)  # it may be a method of another class
        row = None if row is not None and (_only_switches(row, site) or _is_of_another(row, site)) else row
        meant = row is not None and _is_meant(row, site, walker)
        made_of = loaders_of(site, walker.evaluator) if row is not None and row.call in RUNNER else None
        if made_of is not None:
            calls += (_filled(_LOADER, one, walker.evaluator) for one in made_of)
        elif row is not None and meant and not _uses_none(row, site, walker):
            loaders[len(calls)] = site
            calls.append(_made(row, site, walker))
            _note_size(calls[-1], walker)
            calls += _on_each_gpu(row, site, walker.evaluator)
        elif not meant and (row is None or _is_of_object(site)) and (counted := _counted(site, walker)):
            walker.stop(f"what `{site.name}` does with `{counted}` is unknown", site.span)
        elif row is None and _may_train(site, walker):
            walker.stop(f"how `{site.name}` loads its data is unknown", site.span)
    calls = _with_workers_given_later(calls, loaders, walker.evaluator)
    shapes, sizes_known = _shapes(sites.values(), loaded, walker.evaluator)
    calls = with_varied(calls, loaders, sites.values(), walker.evaluator)
    early = early_steps(loaded) if len(shapes) > 1 else frozenset()
    items = [item for at, item in shapes.items() if at not in early]
    calls = calls if items else with_own_items(calls, loaders, sites.values(), loaded, walker.evaluator)
    _stop_at_tensors(sites.values(), walker)
    if not items and not IMAGE_PACKAGES.isdisjoint(package for module in loaded for package in module.packages):
        items = _items_of_options(walker)
    if items:
        calls = [_with_items(call, loaders.get(at), shapes, walker.evaluator) for at, call in enumerate(calls)]
    named = _are_known(sites.values())
    environment = (*walker.environment, *(variable for module in loaded for variable in _environment(module)))
    collective, sockets = _joined([*sites.values(), *filter(walker.is_settled, walker.sites)], walker.evaluator)
    started = _own_ranks(sites.values(), walker.evaluator) if collective is not None else None
    return Reading(
        tuple(calls), collective, tuple(items), environment, tuple(walker.stops), tuple(walker.commands),
        frozenset(walker.evaluator.changes.variables | walker.evaluator.changes.handed),
        started=started, sockets=sockets,
        may_join=_names_ranks(loaded), may_load=any(_imports_loaders(one.module) for one in loaded),
        several=bool(items) and (not sizes_known or _may_have_more(items, loaded, named=named)),
        pictures=1 if items and _of_classes(sites.values(), loaded) else 2,
        tokens=_tokens(walker, loaded) if calls and not items else 0, share=least_share(loaded) if items else 1.0,
        together=together(loaders, loaded), devices=_devices_left(walker, environment),
        steps=any(site.name.endswith(".backward") for site in sites.values()),
    )  # fmt: skip


def _with_workers_given_later(calls: list[Call], loaders: Mapping[int, Site], evaluator: Evaluator) -> list[Call]:
    """Calls whose number of workers is not known where code sets that of the loader which they make."""
    given = {id(made) for made in evaluator.changes.objects_with("num_workers")}
    set_later = {at for at, site in loaders.items() if id(site.node) in given}
    return [
        call._replace(processes=call.processes._replace(value=None, certain=False)) if at in set_later else call
        for at, call in enumerate(calls)
    ]


def _shapes(
    sites: Iterable[Site], loaded: Sequence[Loaded], evaluator: Evaluator
) -> tuple[dict[int, tuple[tuple[int, ...], Span]], bool]:
    """The shapes that calls give items, by the ids of the calls; and whether nothing else may set one of them."""
    found: dict[int, tuple[tuple[int, ...], Span]] = {}
    known, grown, replaced = True, grown_later(loaded), gets_other_transforms(loaded)
    for site in sites:
        last = site.name.rpartition(".")[2]
        shape, sure = _shape(last, site, evaluator) if last in _SHAPED else ((), True)
        sure = sure and id(site.node) not in grown
        sure = sure and (last not in KNOWN_ITEMS or (not replaced and leave_size(site, evaluator)))
        known = known and sure
        if shape and sure:
            found[id(site.node)] = shape, site.span
    return found, known


def _with_items(call: Call, site: Site | None, shapes: Shapes, evaluator: Evaluator) -> Call:
    """A call of a loader with the shapes of its own items, marked where these are not those of images."""
    if site is None or not call.row.call.startswith("torch.utils.data.") or call.row.item:
        return call
    if gives_what_it_holds(site, evaluator):
        return call._replace(holds=True)
    return call._replace(items=items_of_loader(site, shapes, evaluator))


def _stop_at_tensors(sites: Collection[Site], walker: Walker) -> None:
    """Note where processes may exchange tensors, which are in shared memory then."""
    for place in tensors_may_cross(sites, walker.evaluator):
        walker.stop("what `torch.multiprocessing.Pool` starts is not followed", place)
    for place in passed_tensors(sites, walker.evaluator):
        walker.stop("its processes exchange tensors in a way that is not followed", place)


def _made(row: Row, site: Site, walker: Walker) -> Call:
    """A call that fills /dev/shm; a loader whose batches are arrays is as good as one without workers, but for more."""
    made = _filled(row, site, walker.evaluator)
    if not row.call.startswith("torch.utils.data."):
        return made
    made = made._replace(most=most_items(site, walker.evaluator))
    if not _collates_arrays(site, walker):
        return made
    walker.stop("its batches are NumPy arrays, which are not shared; what else they may hold is unknown", site.span)
    return made._replace(processes=Found(0, False, ()))


def _collates_arrays(site: Site, walker: Walker) -> bool:
    """Whether the repository's function that makes the batches of a loader makes arrays of NumPy and no tensors.

    https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading: what is no tensor is pickled.
    """
    given = next((keyword.value for keyword in site.node.keywords if keyword.arg == "collate_fn"), None)
    name = dotted(given).rpartition(".")[2] if isinstance(given, ast.Name | ast.Attribute) else ""
    if not name:
        return False
    modules = [one for one in walker.modules.loaded.values() if one is not None]
    having = [one.path for one in modules if f"def {name}(" in one.source.text]
    loaded = [one for one in map(walker.modules.load_whole, having) if one is not None]
    named = [node for one in loaded for node in one.module.nodes if getattr(node, "name", "") == name]
    return bool(named) and all(isinstance(node, ast.FunctionDef) and makes_arrays(node) for node in named)


def _may_have_more(
    items: Sequence[tuple[tuple[int, ...], Span]], loaded: Sequence[Loaded], *, named: bool
) -> bool:
    """Whether a program has items that are larger than is known; ``named`` where they are those of a known dataset."""
    more = any(collects_images(one.module) or (named and reads_items(one.module)) for one in loaded)
    return more or _of_some(items, loaded)


def _are_known(sites: Collection[Site]) -> bool:
    """Whether all that tells the shape of an item are datasets whose items are known."""
    shaped = _SHAPED.intersection(site.name.rpartition(".")[2] for site in sites)
    return bool(shaped) and shaped.issubset(KNOWN_ITEMS)


def _of_some(items: Sequence[tuple[tuple[int, ...], Span]], loaded: Sequence[Loaded]) -> bool:
    """Whether the shapes are those of some of the program's datasets, written in their classes, and it has others."""
    owners = [(one.path, owner) for one in loaded for owner in classes_of_datasets(one.module)]
    around = [[id(owner) for path, owner in owners if path == at.path and _holds(owner, at)] for _, at in items]
    return all(around) and len({one for inside in around for one in inside}) < len(owners)


def _of_classes(sites: Collection[Site], loaded: Sequence[Loaded]) -> bool:
    """Whether all datasets of a program are torchvision's with an image and the number of its class in each item.

    A transform of its own may make several images of one.
    """
    made = {site.name for site in sites if site.name.startswith("torchvision.datasets.")}
    own = any(classes_of_datasets(one.module) or _MAKES_MORE.search(one.source.text) for one in loaded)
    return bool(made) and made <= OF_CLASSES and not own


_MAKES_MORE = re.compile(r"def __call__\b|\bLambda\b|target_type")
"""What a transform of a program's own has, and an option for more than a class."""


def _holds(owner: ast.ClassDef, span: Span) -> bool:
    return owner.lineno <= span.line <= (owner.end_lineno or owner.lineno)


def _imports_loaders(module: Module) -> bool:
    targets = (*module.imports.values(), *module.stars)
    return any(name.startswith(_TORCH_DATA) or name.partition(".")[0] in _LOADING for name in targets)


_TORCH_DATA = "torch.utils.data"
_LOADING = {row.call.partition(".")[0] for row in ROWS if row.use == "dataloader" and "." in row.call} - {"torch"}
_LOADING |= {"lightning", "pytorch_lightning"}
"""Packages with loaders of their own, or that are given some."""


def _names_ranks(loaded: Sequence[Loaded]) -> bool:
    """Whether modules name what joins ranks, or import a library of which that is not known."""
    own = {part.removesuffix(".py") for one in loaded for part in one.path.split("/")}
    imported = {package for one in loaded for package in one.packages}
    others = imported - own - sys.stdlib_module_names - _WITHOUT_RANKS
    return bool(others) or any(_OF_RANKS.search(re.sub(_REMOTE, "", one.source.text)) for one in loaded)


_WITHOUT_RANKS = frozenset(
    {"PIL", "cv2", "matplotlib", "numpy", "packaging", "pandas", "psutil", "pynvml", "requests", "rich", "scipy",
     "torch", "torchvision", "tqdm", "yaml"}
)  # fmt: skip
"""Packages without collectives, but for names of PyTorch."""
_OF_RANKS = re.compile(r"(?i)distribut|nccl|rccl|parallel|device_?mesh|collective|process_?group")
_REMOTE = r"torch\.distributed\.rpc|from[ \t]+torch\.distributed[ \t]+import[ \t]+rpc\b"
"""Remote calls of PyTorch, whose processes talk through TensorPipe."""


def _joined(sites: Collection[Site], evaluator: Evaluator) -> tuple[Span | None, bool]:
    """Where ranks are joined that use NCCL, and whether they are joined by Gloo instead, which talks over TCP."""
    found = [site for site in sites if site.name in COLLECTIVE]
    on_cpus = [site for site in found if _is_on_cpus(site, evaluator)]
    found = [site for site in found if site not in on_cpus]
    if on_cpus and not found:
        return None, True
    groups = [site for site in found if site.name.endswith(".init_process_group")]
    chosen = [evaluator.argument(site.node, "backend", 0, "nccl", site.scope) for site in groups]
    # A further group has the backend of the first one unless it is given one.
    further = (site for site in sites if site.name == "torch.distributed.new_group")
    chosen += (evaluator.argument(site.node, "backend", 2, "gloo", site.scope) for site in further)
    if groups and all(backend.value == "gloo" and backend.certain for backend in chosen):
        found = [s for s in found if s not in groups and not s.name.endswith(".DistributedDataParallel")]
        return (found[0].span, False) if found else (None, True)
    return (found[0].span if found else None), False


_PROCESSES = frozenset({
    f"{module}.Process" for module in ("multiprocessing", "torch.multiprocessing", "multiprocessing.context")
})  # fmt: skip


def _own_ranks(sites: Collection[Site], evaluator: Evaluator) -> tuple[int | None, Span] | None:
    """The ranks that a program joins as the code says how many, or starts as processes in a loop; and where."""
    for site in sites:
        if site.name == "torch.distributed.init_process_group":
            ranks = evaluator.argument(site.node, "world_size", 3, None, site.scope).number
            if ranks is not None and ranks > 1:
                return ranks, site.span
    for site in sites:
        if site.name in _PROCESSES and evaluator.is_repeated(site.node, site.scope) and _joins(site, evaluator):
            return None, site.span
    return None


def _joins(site: Site, evaluator: Evaluator) -> bool:
    """Whether the function that a process runs joins ranks."""
    target = next((keyword.value for keyword in site.node.keywords if keyword.arg == "target"), None)
    found = evaluator.definition(site.scope.full_name(target), site.scope) if target is not None else None
    named = (dotted(node.func) for node in ast.walk(found[0]) if isinstance(node, ast.Call)) if found else ()
    return any(name.rpartition(".")[2] == "init_process_group" for name in named)


def _is_on_cpus(site: Site, evaluator: Evaluator) -> bool:
    """Whether a call joins ranks that run on CPUs: ``Accelerator(cpu=True)``."""
    named = site.name == "accelerate.Accelerator"
    return named and evaluator.argument(site.node, "cpu", -1, False, site.scope).value is True


_SHAPED = frozenset({*IMAGE_SIZE_CALLS, *VOLUME_SIZE_CALLS, *KNOWN_ITEMS, *INPUT_SIZE_CALLS})
"""Calls whose arguments tell the shape of an item, or whose name does."""


def _items_of_options(walker: Walker) -> list[tuple[tuple[int, ...], Span]]:
    """Shapes that options tell, ``--img-size 640`` or ``--dataset cifar10``, of a program that works with images.

    Where the command sets none, a keyword of a call that makes data may: ``Images(folder, resolution=32)``.
    """
    items = []
    for name in (*IMAGE_SIZE_OPTIONS, *DATASET_OPTIONS):
        found = walker.options.get(name, walker.evaluator.value, 0)
        named = DATASETS.get(found.value.lower(), ()) if isinstance(found.value, str) else ()
        shape = named if name in DATASET_OPTIONS else _of_image(found.value)
        if shape and found.certain and found.spans:
            items.append((shape, found.spans[0]))
    return items or [
        (shape, site.scope.span(keyword.value))
        for site in walker.sites
        if site.certain and _MAKES_DATA.search(site.name)
        for keyword in site.node.keywords
        if keyword.arg in IMAGE_SIZE_OPTIONS and isinstance(keyword.value, ast.Constant)
        and (shape := _of_image(keyword.value.value))
    ]  # fmt: skip


def _tokens(walker: Walker, loaded: Sequence[Loaded]) -> int:
    """The tokens of an item, as an option says, of a program that works with texts and with nothing else."""
    imported = {package for module in loaded for package in module.packages}
    if not OTHER_PACKAGES.isdisjoint(imported):
        return 0
    named = (*(name for one in loaded for name in one.module.imports.values()), *(site.name for site in walker.sites))
    if any(map(_OF_OTHERS.search, named)):
        return 0

    def told(name: str) -> int:
        found = walker.options.get(name, walker.evaluator.value, 0)
        return max(found.number or 0, 0) if found.certain else 0

    of_text = not TEXT_PACKAGES.isdisjoint(imported) or told("vocab_size") > 0
    most = max(map(told, LENGTH_OPTIONS)) if of_text else 0
    return most if most and not any(adds_to_tokens(one.module) for one in loaded) else 0


_OF_OTHERS = re.compile(r"(?i)^transformers\.[\w.]*(?:image|vision|video|processor|feature|clip|vit|wav|audio|speech)")
"""Classes of transformers for more than texts."""
_MAKES_DATA = re.compile(r"(?i)data|image|folder|transform|crop|resize|augment")


def _counted(site: Site, walker: Walker) -> str:
    """The argument by which a call of another library may be told to start workers or ranks; empty without one."""
    if site.name.rpartition(".")[2] in _ONLY_KEPT or site.name in _IN_THREADS:
        return ""
    for keyword in site.node.keywords:
        name = keyword.arg or ""
        if keyword.arg is None and site.name.partition(".")[0] in _LOADING:  # ``Sampler(data, **options)``
            given = {name: walker.evaluator.argument(site.node, name, -1, 0, site.scope) for name in sorted(COUNTS)}
            handed = (one for one, value in given.items() if (value.number or 0) > ("workers" not in one))
            if found := next(handed, ""):
                return found
        if name in COUNTS:
            value = walker.evaluator.value(keyword.value, site.scope)
            least = 0 if "workers" in name else 1
            few = value.value is None or (value.number is not None and value.number <= least)
            if not few and not walker.is_own(site):
                return name
    return ""


_TRAINS = frozenset({"train", "tune", "val", "finetune", "fine_tune", "fit_one_cycle"})
_LOADS_ALONE = frozenset(
    row.call.partition(".")[0] for row in ROWS
    if row.use == "dataloader" and row.default not in (0, None) and "." in row.call
)  # fmt: skip
"""Packages whose trainers start workers without being told to."""


_COUNTED_WHERE_MADE = frozenset(row.call for row in ROWS if row.call.endswith(".DefaultTrainer"))
"""Trainers that have their loaders when they are made, which is a row."""


def _may_train(site: Site, walker: Walker) -> bool:
    """Whether a call may train with what a package makes that starts workers by itself, in a way that is not known.

    ``model.train()`` of PyTorch has no arguments that are named; a trainer may have none.
    """
    if site.name.rpartition(".")[2] not in _TRAINS or not isinstance(site.node.func, ast.Attribute):
        return False
    imported = [name for name in site.scope.module.imports.values() if name.partition(".")[0] in _LOADS_ALONE]
    imported = [name for name in imported if name not in _COUNTED_WHERE_MADE]
    told = any(keyword.arg != "mode" for keyword in site.node.keywords)
    called = site.node.func.value
    above = isinstance(called, ast.Call) and dotted(called.func) == "super" and _extends_owner(site)
    own = walker.is_own(site) and not above
    return (told or any("Trainer" in name for name in imported)) and bool(imported) and not own


def _without_attached(sites: dict[int, Site], walker: Walker) -> dict[int, Site]:
    """Sites without those that attach to a segment of shared memory which another one may have made.

    Where only code makes segments that the program was not found to reach, it is not known whether there are any.
    """
    evaluator = walker.evaluator
    segments = {
        at: (evaluator.argument(site.node, "create", 1, False, site.scope).value,
             evaluator.argument(site.node, "name", 0, None, site.scope).value)
        for at, site in sites.items() if site.name == "multiprocessing.shared_memory.SharedMemory"
    }  # fmt: skip
    made = {name for create, name in segments.values() if create is True and isinstance(name, str)}
    any_made = any(create is True for create, _ in segments.values())
    elsewhere = bool(segments) and not any_made and _makes_segments(walker)
    attached = {
        at for at, (create, name) in segments.items()
        if create is False and (any_made or elsewhere)
        and (not isinstance(name, str) or name in made or (elsewhere and not _is_named(sites[at].node)))
    }  # fmt: skip
    for at in attached if elsewhere else ():
        walker.stop("whether there is the segment of shared memory that it attaches to is not known", sites[at].span)
    return {at: site for at, site in sites.items() if at not in attached} if attached else sites


def _makes_segments(walker: Walker) -> bool:
    """Whether any code of the modules that were read makes a segment of shared memory."""
    loaded = (module for module in walker.modules.loaded.values() if module is not None)
    return any(
        isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "SharedMemory"
        and any(keyword.arg == "create" and _is_true(keyword.value) for keyword in node.keywords)
        for module in loaded if "SharedMemory" in module.source.text for node in module.module.nodes
    )  # fmt: skip


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_named(call: ast.Call) -> bool:
    """Whether a call has the name of its segment written in it."""
    given = (*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "name"))
    return any(isinstance(node, ast.Constant) for node in given)


def _extends_owner(site: Site) -> bool:
    """Whether a method is one of a class that extends one whose methods matter."""
    bases = site.scope.owner.bases if site.scope.owner is not None else ()
    return any(site.scope.full_name(base) in OWNERS for base in bases if isinstance(base, ast.Name | ast.Attribute))


_ONLY_KEPT = frozenset(
    {*SETTINGS_CLASSES, "update", "set_defaults", "setdefault", "format", "print", "info", "debug", "partial"}
)
"""Calls that only keep or print what they are given; what is bound by ``partial`` is passed on."""


_IN_THREADS = frozenset(
    {
        # https://github.com/SYSTRAN/faster-whisper/blob/65882eee9f5c/faster_whisper/transcribe.py#L654
        "faster_whisper.WhisperModel", "faster_whisper.transcribe.WhisperModel",
        # https://github.com/Project-MONAI/MONAI/blob/d388d1c6fec8cb3a0eebee5b5a0b9776ca59ca83/monai/data/dataset.py#L863
        "monai.data.CacheDataset", "monai.data.dataset.CacheDataset", "monai.apps.DecathlonDataset",
        "monai.apps.MedNISTDataset", "monai.apps.TciaDataset",
    }
)  # fmt: skip
"""Calls whose workers are threads."""


def _filled(row: Row, site: Site, evaluator: Evaluator) -> Call:
    def argument(name: str, position: int, default: object) -> Found:
        if is_counted(row, name):
            return counted(row, name, site, evaluator)
        if row.configured:
            found = evaluator.configured(name, default, site.span)
            several = row.call in RUNNERS | RUNNER  # which of their loaders it is of, nobody knows
            return changed(found) if several else found
        if file is not None and not any(keyword.arg == name for keyword in site.node.keywords):
            told = evaluator.of_file(file, name, site.scope)
            if told is not None:
                place = told.spans or (site.span,)
                return told._replace(spans=place) if told.value is not UNKNOWN else Found(default, False, place)
        return evaluator.argument(site.node, name, position, default, site.scope)

    none = Found(UNKNOWN, False, ())
    file = next((keyword.value for keyword in site.node.keywords if keyword.arg == row.file and row.file), None)
    file = None if isinstance(file, ast.Constant) and not file.value else file
    former = any(keyword.arg == row.formerly for keyword in site.node.keywords) and row.formerly
    name, position = (former, -1) if former else (row.argument, row.position)
    count = argument(name, position, row.default) if name else none
    loads = row.use == "dataloader"
    sampled = _of_sampler(row, site, evaluator) if loads else none
    batch = sampled or argument(row.batch, row.batch_position, row.batch_default)
    prefetch = argument("prefetch_factor", -1, 2) if loads else none
    repeated = row.use == "python-shm" and evaluator.is_repeated(site.node, site.scope)
    items: Items = ()
    if row.side:
        size = argument(row.side, row.side_position, None)
        if shape := _of_input(size.value):
            row, items = row._replace(item=shape), ((shape, size.spans[0]),)
    if row.floats and (kept := argument(row.floats, -1, True)).value is not True:
        row, count = row._replace(item=(), in_bytes=False), count if kept.value is False else changed(count)
    return sized(Call(row, count, batch, prefetch, site.span, site.certain, repeated, items=items), site, evaluator)


def _of_sampler(row: Row, site: Site, evaluator: Evaluator) -> Found | None:
    """The size of the batches that a sampler makes for PyTorch's loader, which has none of its own then; None without.

    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.BatchSampler
    """
    given = next((keyword.value for keyword in site.node.keywords if keyword.arg == "batch_sampler"), None)
    if given is None or isinstance(given, ast.Constant) or not row.call.startswith("torch.utils.data."):
        return None
    named = evaluator.only_given(given, site.scope) if isinstance(given, ast.Name | ast.Attribute) else None
    made, scope = named or (given, site.scope)
    if isinstance(made, ast.Call) and scope.full_name(made.func) in _BATCH_SAMPLERS:
        return evaluator.argument(made, "batch_size", 1, None, scope)
    return Found(UNKNOWN, False, ())


_BATCH_SAMPLERS = frozenset({"torch.utils.data.BatchSampler", "torch.utils.data.sampler.BatchSampler"})


def _on_each_gpu(row: Row, site: Site, evaluator: Evaluator) -> list[Call]:
    """The ranks of a trainer that starts one on each GPU of a list; the number of a single GPU starts none."""
    if not row.devices or row.use != "dataloader":
        return []
    own = Row(row.call, "ranks", row.devices, default=None, source=row.source, file=row.file)
    ranks = _filled(own, site, evaluator)
    given = ranks.processes.value
    return [ranks] if isinstance(given, tuple) or (isinstance(given, str) and "," in given) else []


def _note_size(call: Call, walker: Walker) -> None:
    """Note that a segment of shared memory may be larger than what is known: ``size=max(4096, n)``."""
    if call.row.use == "python-shm" and call.processes.number is not None and not call.processes.certain:
        walker.stop("the size of its shared memory is not sure", call.span)


def _is_meant(row: Row, site: Site, walker: Walker) -> bool:
    """Whether a loader that is known by a bare name is one of a library, with workers, and not of the repository."""
    if row.imported:
        loaded = (module for module in walker.modules.loaded.values() if module is not None)
        return any(row.imported in module.packages for module in loaded) and not walker.is_own(site)
    if row.call != "DataLoader":
        return True
    module, head = site.scope.module, dotted(site.node.func).partition(".")[0]
    alias = next((value for value in module.constants.get(head, ()) if isinstance(value, ast.Attribute)), None)
    target = module.imports.get(head, site.scope.full_name(alias) if alias is not None else ".")
    given = any(keyword.arg == row.argument for keyword in site.node.keywords)
    return given and not target.startswith(".") and walker.modules.resolve(site.name, site.scope.path) is None


def _only_switches(row: Row, site: Site) -> bool:
    """Whether ``model.train()`` is PyTorch's switch of a mode.

    It is where its module does not import what trains with workers, and for the ``model`` of such a model.
    """
    if site.name == row.call or not switches_mode(site.node):
        return False
    if dotted(site.node.func).endswith("model.model.train"):
        return True
    return row.call.partition(".")[0] not in imported_by(site.scope.module)


def _is_of_another(row: Row, site: Site) -> bool:
    """Whether ``index.train(vectors)`` is no method of ultralytics: its models take no such values, only named ones."""
    node = site.node
    values = bool(node.args) and not node.keywords and not any(isinstance(value, ast.Starred) for value in node.args)
    return values and site.name != row.call and row.call.startswith("ultralytics.")


def _is_of_object(site: Site) -> bool:
    """Whether what is called belongs to something that only the running program knows: ``module.DataLoader()``."""
    head = dotted(site.node.func).partition(".")[0]
    return isinstance(site.node.func, ast.Attribute) and head not in site.scope.module.imports


def _joins_cluster(site: Site, walker: Walker) -> bool:
    """Whether ``ray.init`` joins what is started elsewhere; where its address is not known, it stops there.

    "auto" is what is started in the container. https://github.com/ray-project/ray/blob/ray-2.7.1/doc/source/ray-core/
    starting-ray.rst
    """
    if not site.node.args and not any(keyword.arg == "address" for keyword in site.node.keywords):
        return False
    address = walker.evaluator.argument(site.node, "address", 0, None, site.scope)
    if address.certain and address.value in (None, "", "auto", "local"):
        return False
    if not (isinstance(address.value, str) and address.value.startswith("ray://")):
        # A node of Ray at that address may be in the container, too.
        walker.stop("whether `ray.init` starts Ray, or joins what its address names, is not known", site.span)
    return True


def _uses_none(row: Row, site: Site, walker: Walker) -> bool:
    """Whether a call keeps its data out of /dev/shm: Paddle's loader has an option for it.

    ``ray.init("ray://head:10001")``, or ``RAY_ADDRESS``, connects to Ray of another container, Dask's workers talk
    over TCP unless UCX is asked for, and Chrome has an option for it.
    """
    if row.use == "browser":
        loaded = (module for module in walker.modules.loaded.values() if module is not None)
        return any(re.search(_WITHOUT_SHM, module.source.text) for module in loaded)
    if row.use == "ray":
        head = walker.options.environment.get("RAY_ADDRESS")
        if head is not None and (head.known or "").startswith("ray://"):
            return True
        folder = walker.evaluator.argument(site.node, "_plasma_directory", -1, None, site.scope).value
        elsewhere = isinstance(folder, str) and not folder.startswith("/dev/shm")
        return row.call == "ray.init" and (elsewhere or _joins_cluster(site, walker))
    if row.call == "deepspeed.initialize":  # it makes a loader of the data that it is given
        return walker.evaluator.argument(site.node, "training_data", 4, False, site.scope).value in (None, False)
    if row.call == "paddle.io.DataLoader":
        return walker.evaluator.argument(site.node, "use_shared_memory", -1, True, site.scope).value is False
    if row.formerly:  # Lightning's data parallelism has one process, and ranks on CPUs have no NCCL
        options = ("strategy", "accelerator", "distributed_backend")
        return any(walker.evaluator.argument(site.node, o, -1, "", site.scope).value in _ALONE for o in options)
    if row.use == "shared-array":
        return _keeps_no_array(site, walker)
    if row.use == "torch-sharing" and row.devices:
        return not _is_list_given(row.devices, site, walker.evaluator)
    if row.call.endswith(".init_rpc"):  # each side of a connection has a buffer of 2 MiB
        processes = walker.evaluator.argument(site.node, "world_size", 3, None, site.scope)
        return processes.certain and 0 < (processes.number or 0) <= 2
    if row.use == "ucx":
        names = {keyword.arg or "" for keyword in site.node.keywords}
        chosen = "protocol" in names or not any(name.startswith("enable_") for name in names)  # which choose UCX
        protocol = walker.evaluator.argument(site.node, "protocol", -1, "tcp", site.scope).value
        return chosen and isinstance(protocol, str) and not protocol.startswith("ucx")
    return False


def _is_list_given(name: str, site: Site, evaluator: Evaluator) -> bool:
    """Whether an argument is a list, as it is or by a name."""
    given = next((keyword.value for keyword in site.node.keywords if keyword.arg == name), None)
    values = evaluator.given_to(given, site.scope) if isinstance(given, ast.Name | ast.Attribute) else []
    return any(isinstance(value, ast.List | ast.ListComp) for value in (given, *(value for value, _ in values)))


def _keeps_no_array(site: Site, walker: Walker) -> bool:
    """Whether SharedArray keeps nothing in /dev/shm: `file://` is a file, `shm://` or no prefix shared memory.

    Where a branch decides about the call it is often an option that nobody switches on.
    """
    name = walker.evaluator.argument(site.node, "name", 0, None, site.scope).value
    if isinstance(name, str) and name.startswith("file://") and not name.startswith("file:///dev/shm"):
        return True
    if not site.certain:
        walker.stop(f"whether it calls `{site.name}` is unknown", site.span)
    return not site.certain


_ALONE = ("dp", "cpu")
"""Ways of Lightning to train without NCCL."""
_WITHOUT_SHM = r"""(?m)^[^#\n]*["']--disable-dev-shm-usage["']"""
"""Chrome's option, wherever the code writes it: many have a list of options, which a loop adds."""


def _shape(last: str, site: Site, evaluator: Evaluator) -> tuple[tuple[int, ...], bool]:
    """The shape that a call gives an item, and whether it is surely this one; nothing where it is not known."""
    doubts: list[bool] = []

    def value(name: str, position: int, default: object = None) -> object:
        found = evaluator.argument(site.node, name, position, default, site.scope)
        doubts.append(found.value is not UNKNOWN and not found.certain)
        return found.value

    return _shape_by(last, site, value), not any(doubts)


def _shape_by(last: str, site: Site, value: Callable[..., object]) -> tuple[int, ...]:
    if last in KNOWN_ITEMS:
        return KNOWN_ITEMS[last]
    if last in INPUT_SIZE_CALLS:
        return _of_input(value("input_size", 1))
    if last in VOLUME_SIZE_CALLS:
        samples = value("num_samples", -1, 1)
        size, keys = value(VOLUME_SIZE_CALLS[last], 1), value("keys", 0)
        parts = len(keys) if isinstance(keys, tuple) and len(keys) > _IMAGE_AND_LABEL else 1
        return _of_volume(size, max(samples if isinstance(samples, int) else 1, 1) * parts)
    named = {"height", "width"} <= {keyword.arg for keyword in site.node.keywords}
    if named or (site.name.startswith("albumentations.") and last in _TWO_SIDES and len(site.node.args) > 1):
        sides = (("height", 0), ("width", 1))
        if shape := _of_image(tuple(value(*side) for side in sides)):
            return shape
    size = value("size", 0)
    return _of_image(value("height", 0) if size is UNKNOWN else size)


_TWO_SIDES = frozenset({"Resize", "RandomCrop", "CenterCrop", "RandomResizedCrop"})
"""Transforms of albumentations with the height first and the width second."""
_IMAGE_AND_LABEL = 2
"""So many parts every item may have."""


def _of_image(value: object) -> tuple[int, ...]:
    """The shape of an image of this size; nothing where it is not a size."""
    sides = value if isinstance(value, tuple) else (value, value)
    if len(sides) == 2 and all(isinstance(side, int) and 0 < side < 100_000 for side in sides):
        return (3, *sides)
    return ()


def _of_input(value: object) -> tuple[int, ...]:
    """The shape of an image, where its colours may be told as well; nothing where it is not a size."""
    return _of_image(value[1:]) if isinstance(value, tuple) and len(value) == 3 else _of_image(value)


def _of_volume(value: object, samples: int) -> tuple[int, ...]:
    """The shape of some volumes with one channel; nothing where it is not a size."""
    sides = value if isinstance(value, tuple) else ()
    if len(sides) == 3 and all(isinstance(side, int) and 0 < side < 10_000 for side in sides):
        return (samples, *sides)
    return ()


_ROWS: dict[str, list[Row]] = {}
for _row in ROWS:
    _ROWS.setdefault(_row.call.rpartition(".")[2], []).append(_row)


_LOADER = next(row for row in ROWS if row.call == "torch.utils.data.DataLoader")


def _row_of(name: str, last: str, made: Collection[str]) -> Row | None:
    """The row of a call: the whole dotted name, or a method of an object that the library made."""
    for row in _ROWS.get(last, ()):
        if name == row.call or (("." not in row.call or row.call[0].isupper()) and name.endswith(row.call)):
            return row
        owner = row.call.rpartition(".")[0]
        if owner in made and owner.rpartition(".")[2][:1].isupper():
            return row
    return None


def _row_of_name(name: str) -> Row | None:
    return _row_of(name, name.rpartition(".")[2], ())


def _environment(loaded: Loaded) -> Iterator[tuple[str, str, Span]]:
    """``os.environ["NAME"] = "value"`` and ``os.environ |= {"NAME": "value"}`` anywhere in a module."""
    if not loaded.module.nodes or "environ" not in loaded.source.text:
        return
    scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
    for node in loaded.module.nodes:
        for name, value in _put(node):
            if not isinstance(name, ast.Constant) or not isinstance(value, ast.Constant):
                continue
            if isinstance(name.value, str) and isinstance(value.value, str | int):
                yield name.value, text_of(value.value), scope.span(node)


def _devices_left(walker: Walker, environment: Sequence[tuple[str, str, Span]]) -> str | None:
    """What a program leaves itself of the GPUs before it does anything else, in the only place that does so; else None.
    """
    told = [(value, place) for name, value, place in environment if name in OF_PROGRAMS]
    first = walker.modules.loaded.get(walker.entry.path)
    if len(told) != 1 or first is None or ANY in walker.evaluator.changes.variables:
        return None
    value, place = told[0]
    for statement in first.module.tree.body if place.path == first.path else ():
        if statement.lineno == place.line and any(_put(statement)):
            return value
        if not isinstance(statement, _PREPARES) and not isinstance(getattr(statement, "value", None), ast.Constant):
            return None
    return None


_PREPARES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
"""Statements that use no GPU by themselves, beside those of values that are written."""


def _put(node: ast.AST) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """The names and values that a statement puts into the environment."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and dotted(target.value).endswith("environ"):
                yield target.slice, node.value
    elif isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Dict) and dotted(node.target) == "os.environ":
        yield from zip(node.value.keys, node.value.values, strict=True)

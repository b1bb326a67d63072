"""devcontainer.json: a container of its own, or a service of a compose project.

The order in which the reference CLI puts a command together counts: mounts, ``runArgs``, then
``--gpus all`` for ``hostRequirements.gpu`` (devcontainers/cli src/spec-node/singleContainer.ts).
Where ``dockerComposeFile`` is given, ``runArgs``, ``image`` and ``build`` are not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from shmlint.docker.gpus import HostRequirement, with_host_requirement
from shmlint.docker.gpus_option import quoted_devices
from shmlint.docker.run_options import Option, RunCommand, read_run
from shmlint.docker.sizes import spell_docker
from shmlint.files.boundary import OUTSIDE
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.comments import SLASHES, at_end, before, line_suppressions
from shmlint.formats.shell.gpus import read_gpu, starts_count
from shmlint.formats.shell.run import launch_of, named, with_misspelt
from shmlint.model.launch import Bind, Build, Change, GpuFault, GpuRequest, Launch, Misplaced, ReadOnly, Unknown, Value
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Problem, Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.json import Json, parse
from shmlint.syntax.word import Word


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers that editors start for development."""
    found: list[Launch] = []
    problems: list[Problem] = []
    for source in sources(paths, workspace, problems):
        path = source.path
        root, faults = parse(source)
        problems += faults
        if root is None:
            continue
        if root.kind != "object":
            message = f"not a dev container: expected an object, found {root.kind}"
            problems.append(Problem(root.span, message, "wrong-file"))
            continue
        starts_service = root.get("dockerComposeFile") is not None
        launch = (_compose_launch if starts_service else _launch)(root, path, workspace)
        if faults:  # what is broken is not to be edited by guesses
            lists = tuple(fault._replace(changes=()) for fault in launch.gpu.device_lists)
            invalid = tuple(fault._replace(changes=()) for fault in launch.gpu.invalid)
            gpu = launch.gpu._replace(device_lists=lists, invalid=invalid)
            launch = launch._replace(rewriter=ReadOnly(), gpu=gpu)
        found.append(launch)
    return Reading(tuple(found), tuple(problems))


def _unknown(text: str) -> str:
    """Why a text is not fully known: a variable depends on the host, or on who uses the template."""
    _, variable, rest = text.partition("${")
    return f"`${{{rest.partition('}')[0]}}}` is not set here" if variable else ""


def _word(value: Json) -> Word:
    """A string as an argument. One that starts with a variable may become any option."""
    unknown = _unknown(value.text)
    whole = value.text.startswith("${")
    return Word(value.text, value.inside, unknown, maybe_many=whole, options=whole, offsets=value.offsets)


def _arguments(root: Json) -> list[Json]:
    given = root.get("runArgs")
    return [item for item in given.items if item.kind == "string"] if given is not None else []


def _strings(value: Json | None) -> list[Json]:
    if value is None:
        return []
    if value.kind == "string":
        return [value]
    return [item for item in value.items if item.kind == "string"]


def _opening(root: Json) -> Span:
    return Span(root.source, root.start, root.start + 1)


def _launch(root: Json, path: str, workspace: Workspace) -> Launch:
    span = _opening(root)
    words: list[Word] = []
    mounts = root.get("mounts")
    for mount in mounts.items if mounts is not None else ():
        words += _mount_words(mount)
    environment = root.get("containerEnv")
    if environment is not None:
        for name, (_, value) in environment.entries.items():
            if value.kind == "string":
                words += [Word("--env", value.inside), Word(f"{name}={value.text}", value.inside, _unknown(value.text))]
    privileged = root.get("privileged")
    if privileged is not None and privileged.kind == "true":
        words.append(Word("--privileged", privileged.span))
    words += map(_word, _arguments(root))
    image, bases = _image(root, path, workspace)
    words.append(Word(image.text, image.inside, _unknown(image.text)) if image is not None else Word("built", span))
    run = read_run(words, "docker", "run")
    asked = read_gpu(run)
    device_lists = tuple(_device_lists(run))
    listed = {fault.span for fault in device_lists}
    invalid = tuple(fault for fault in asked.invalid if fault.span not in listed)
    gpu = with_host_requirement(asked._replace(device_lists=device_lists, invalid=invalid), _host_requirement(root))
    launch = launch_of(
        run, kind="devcontainer", span=span, label="dev container",
        rewriter=DevcontainerRewriter(root, run), gpu=gpu,
    )  # fmt: skip
    launch = named(launch, _name(root))
    home = gpu.evidence[0].span if gpu.evidence else span
    launch = with_misspelt(launch, run)
    return launch._replace(
        home=home,
        image=Value(image.text, image.inside, image.text, _unknown(image.text))
        if image is not None
        else None,
        base_images=(*bases, *_cuda_features(root)),
        command=None,
        build=_build(root, path),
        binds=(*launch.binds, _workspace(root, path)),
        workdir=Value(_workspace_folder(root), span, ""),
        words=launch.words._replace(launch=_label(root)),
    )


_WORKSPACE = "/workspaces/workspace"
"""Where the editor mounts the repository; it is really named after the repository's directory."""


def _workspace_folder(root: Json) -> str:
    folder = root.string("workspaceFolder")
    return folder.text if folder is not None and not _unknown(folder.text) else _WORKSPACE


def _home(path: str) -> str:
    """The directory that the editor opens: the one above ``.devcontainer``."""
    directory = os.path.dirname(path)
    while ".devcontainer" in directory.split("/"):
        directory = os.path.dirname(directory)
    return directory or "."


def _workspace(root: Json, path: str) -> Bind:
    """The repository, which the editor mounts."""
    return Bind(_home(path), _workspace_folder(root), _opening(root), resolved=True)


def _build(root: Json, path: str) -> Build | None:
    file = root.string("build", "dockerfile") or root.string("dockerFile")
    if file is None or _unknown(file.text):
        return None
    context = root.string("build", "context") or root.string("context")
    target, given = root.string("build", "target"), root.get("build", "args")
    args = tuple(
        (name, value.text)
        for name, (_, value) in (given.entries.items() if given is not None else ())
        if value.kind == "string" and not _unknown(value.text)
    )
    directory = os.path.dirname(path)
    return Build(
        "", context.text if context is not None else ".", file.text, target.text if target is not None else None,
        args, file.inside, directory,
    )  # fmt: skip


def _cuda_features(root: Json) -> Iterator[Value[str]]:
    """Features that put CUDA into the container: what it is for, though they ask for no GPU.

    So says devcontainers/features src/nvidia-cuda/NOTES.md: the GPU is asked for by ``hostRequirements``.
    """
    features = root.get("features")
    for reference, (key, _) in (features.entries.items() if features is not None else ()):
        name = reference.rpartition("/")[2].partition(":")[0].partition("@")[0]
        if "cuda" in name.lower().replace("_", "-").split("-"):
            yield Value(reference, key.inside, reference)


def _name(root: Json) -> str | None:
    given = root.string("name")
    return given.text if given is not None else None


def _label(root: Json) -> str:
    name = _name(root)
    return f"dev container `{name}`" if name is not None else "dev container"


def _mount_words(mount: Json) -> list[Word]:
    if mount.kind == "string":
        return [Word("--mount", mount.inside), _word(mount)]
    if mount.kind == "object":
        parts = [f"{key}={value.text}" for key, (_, value) in mount.entries.items() if value.kind == "string"]
        text = ",".join(parts)
        return [Word("--mount", mount.span), Word(text, mount.span, _unknown(text))]
    return []


def _host_requirement(root: Json) -> HostRequirement | None:
    """``hostRequirements.gpu``. The CLI asks only whether there is a value, not for one that the schema allows."""
    wanted = root.get("hostRequirements", "gpu")
    if wanted is None or wanted.kind == "false" or (wanted.kind == "string" and not wanted.text):
        return None
    return HostRequirement("hostRequirements.gpu", wanted.span, wanted.text, _unknown(wanted.text))


_RIGHT = r'"--gpus", "\"device=0,1\""'


def _device_lists(run: RunCommand) -> Iterator[GpuFault]:
    """Values of ``--gpus`` that look like a list of devices and are not read as one.

    No shell reads these arguments, so Docker sees each quotation mark that the string holds.
    """
    for option, request in run.gpus():
        value = option.value or ""
        span = (option.value_word or option.word).span
        if option.unknown or span is None:
            continue
        bare = value.strip("'")
        if bare != value and request.error:
            devices = bare.strip('"')
            right = f'"{devices}"' if "," in devices else devices
            message = f"`--gpus {value}` is refused: no shell removes the quotation marks in runArgs"
            changes = tuple(_write_gpus(option, right))
            yield GpuFault(span, message, changes, right=_RIGHT, value=value, meant=right)
        elif starts_count(value, request):
            message = f"`--gpus {value}` is refused: the comma ends the device list and starts a count"
            meant = quoted_devices(value)
            changes = tuple(_write_gpus(option, meant)) if meant is not None else ()
            yield GpuFault(span, message, changes, right=_RIGHT, value=value, meant=meant or value)
        elif "," in value and value.replace(",", "").isdigit():
            last = value.rpartition(",")[2]
            message = f"`--gpus {value}` asks for {last} GPUs: of several counts, the last one applies"
            advice = rf'"\"device={value}\"" for these devices, "{last}" for so many'
            yield GpuFault(span, message, (), advice, _RIGHT)


def _write_gpus(option: Option, value: str) -> Iterator[Change]:
    """Write another value of ``--gpus`` into the string that holds it."""
    place = (option.value_word or option.word).span
    if place is None:
        return
    given = f"{option.word.text.partition('=')[0]}={value}" if option.joined else value
    text = given.replace("\\", r"\\").replace('"', r"\"")
    yield Change((Edit(place.path, place.start, place.end, text),), f'write "{text}" in line {place.line}')


def _image(root: Json, path: str, workspace: Workspace) -> tuple[Json | None, tuple[Value[str], ...]]:
    """The image, or what the Dockerfile it is built from builds on."""
    image = root.string("image")
    if image is not None:
        return image, ()
    file = root.string("build", "dockerfile") or root.string("dockerFile")
    if file is None:
        return None, ()
    dockerfile = normal(os.path.join(os.path.dirname(path), file.text))
    if not workspace.inside(dockerfile, path) or not workspace.exists(dockerfile):
        return None, ()
    try:
        source = workspace.source(dockerfile)
    except Unreadable:
        return None, ()
    from shmlint.syntax.dockerfile import read as read_dockerfile

    given = root.get("build", "args")
    args = {
        name: value.text
        for name, (_, value) in (given.entries.items() if given is not None else ())
        if value.kind == "string"
    }
    target = root.string("build", "target")
    built = read_dockerfile(source.text, target.text if target is not None else None, args)
    if built is None:
        return None, ()
    return None, tuple(
        Value(name, Span(source, *source.line_span(max(line, 1))), name, _unknown(name))
        for name, line in built.base_images
    )


def _compose_launch(root: Json, path: str, workspace: Workspace) -> Launch:
    """The service of the compose project that an editor starts, with the GPU it adds."""
    span = _opening(root)
    host = with_host_requirement(GpuRequest(), _host_requirement(root))
    found = _service(root, path, workspace)
    if isinstance(found, Unknown):
        run = RunCommand("docker", (), None, ())
        bare = launch_of(
            run, kind="devcontainer", span=span, label=_label(root), rewriter=ReadOnly(), gpu=host
        )
        return named(bare, _name(root))._replace(
            home=host.evidence[0].span if host.evidence else span,
            gpu=host._replace(requested=host.requested or None, unknown=host.unknown or found),
            undecided=found,
            files=(path,),
            words=bare.words._replace(shm_option="shm_size"),
            misplaced=tuple(_dead_arguments(root)),
        )
    gpu = found.gpu
    if gpu.requested:
        gpu = gpu._replace(evidence=(*gpu.evidence, *host.evidence))
    elif host.requested is not False:
        gpu = host
    return found._replace(
        kind="devcontainer",
        name=_name(root),
        span=span,
        home=gpu.evidence[0].span if host.evidence and gpu is host else found.home,
        gpu=gpu,
        files=(path, *found.files),
        words=found.words._replace(launch=f"{_label(root)} (service `{found.name}`)"),
        misplaced=tuple(_dead_arguments(root)),
    )


def _service(root: Json, path: str, workspace: Workspace) -> Launch | Unknown:
    """The service that is started, or why it is not known."""
    from shmlint.formats.compose.load import load_project
    from shmlint.formats.compose.service import read_project

    written = [item.text for item in _strings(root.get("dockerComposeFile"))]
    if not written:
        return Unknown("file", "the Compose files that it starts are unknown")
    unknown = next((name for name in written if _unknown(name)), None)
    if unknown is not None:
        return Unknown("variable", _unknown(unknown), unknown)
    files = [normal(os.path.join(os.path.dirname(path), name)) for name in written]
    if not all(workspace.inside(file, path) for file in files):
        return Unknown("file", f"it starts a compose file that lies {OUTSIDE}", " ".join(written))
    missing = next((file for file in files if not workspace.exists(file)), None)
    if missing is not None:
        return Unknown("file", f"it starts {missing}, which does not exist", missing)
    service = root.string("service")
    if service is None or _unknown(service.text):
        return Unknown("variable", "the service that it starts is unknown")
    try:
        project = load_project(files, workspace)
    except Unreadable as error:
        return Unknown("file", f"it starts {error.path}, which cannot be read", error.path)
    launches = {launch.name: launch for launch in read_project(project, workspace)}
    because = f"no service {service.text} is in the compose files it starts"
    return launches.get(service.text) or Unknown("file", because, service.text)


def _dead_arguments(root: Json) -> Iterator[Misplaced]:
    """What decides /dev/shm in ``runArgs``, which are not read where compose files are named."""
    run = read_run([_word(item) for item in _arguments(root)], "docker", "run")
    dead = [*run.all("--shm-size"), *run.all("--ipc"), *(option for option, _ in run.shm_mounts())]
    for option in dead:
        if option.word.span is not None:
            written = option.word.text.partition("=")[0]
            message = f"`{written}` in runArgs is ignored with dockerComposeFile"
            yield Misplaced(option.word.span, message, at=f"runArgs {option.word.text}")


class DevcontainerRewriter(ReadOnly):
    """Rewrites ``runArgs`` and ``containerEnv``; comments, commas and indentation stay."""

    __slots__ = ("root", "run")

    def __init__(self, root: Json, run: RunCommand) -> None:
        self.root = root
        self.run = run

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to give the container a ``--shm-size`` of so many bytes."""
        return list(self._changes(spell_docker(size)))

    def drop_shm_size(self) -> Sequence[Change]:
        """A way to take every ``--shm-size`` away."""
        return self._dropped("--shm-size", self._items(self.run.all("--shm-size")), ())

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """Ways to give the container an ``--ipc`` mode; an empty one takes it away."""
        if not mode:
            return self._dropped("--ipc", self._items(self.run.all("--ipc")), ())
        return list(self._set(self.run.ipc(), "--ipc", mode))

    def set_ulimit(self, name: str, value: str) -> Sequence[Change]:
        """Ways to give the container a ``--ulimit``, soft and hard."""
        return list(self._set(self.run.ulimits().get(name), "--ulimit", f"{name}={value}"))

    def drop_variable(self, name: str) -> Sequence[Change]:
        """A way to take a variable out of ``containerEnv`` and ``runArgs``."""
        options, pairs = self._variable(name)
        return self._dropped(name, self._items(options), pairs)

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """A way to give a variable another name; none where the host's is passed on, or the name is taken."""
        options, pairs = self._variable(name)
        if any(self._variable(new)):
            return ()
        places = [key.inside for key, _ in pairs]
        for option in options:
            word = option.value_word or option.word
            at = word.text.find(f"{name}=")
            if word.span is None or at < 0 or word.span.text != word.text:
                return ()
            places.append(Span(word.span.source, word.span.start + at, word.span.start + at + len(name)))
        if not places or any(place.text != name for place in places):
            return ()
        edits = tuple(Edit(place.path, place.start, place.end, new) for place in places)
        return (Change(edits, f"rename {name} to {new} in line {places[0].line}"),)

    def _variable(self, name: str) -> tuple[list[Option], list[tuple[Json, Json]]]:
        """The options of ``runArgs`` and the properties of ``containerEnv`` that give a variable."""
        arguments = {(item.start, item.end) for item in _arguments(self.root)}
        options = [
            option for option in self.run.all("--env")
            if (option.value or "").partition("=")[0] == name
            and option.word.span is not None
            and (option.word.span.start - 1, option.word.span.end + 1) in arguments
        ]  # fmt: skip
        given = self.root.get("containerEnv")
        return options, [given.entries[name]] if given is not None and name in given.entries else []

    def _items(self, options: Sequence[Option]) -> list[int] | None:
        """The numbers of the items of ``runArgs`` that hold options; None where they cannot be distinguished."""
        array = self.root.get("runArgs")
        numbers = {item.start + 1: i for i, item in enumerate(array.items)} if array is not None else {}
        found: list[int] = []
        for option in options:
            for word in dict.fromkeys((option.word, option.value_word or option.word)):
                i = numbers.get(word.span.start) if word.span is not None else None
                cluster = word is option.word and not word.text.startswith(("--", "-e"))
                if i is None or cluster:
                    return None
                found.append(i)
        return found

    def _dropped(
        self, what: str, items: Sequence[int] | None, pairs: Sequence[tuple[Json, Json]]
    ) -> Sequence[Change]:
        """The change that takes items of ``runArgs`` and properties of ``containerEnv`` away."""
        if items is None or not (items or pairs):
            return ()
        edits: list[Edit] = []
        emptied: list[tuple[int, int]] = []  # properties that nothing would be left of
        for key, gone in (("containerEnv", [k.start for k, _ in pairs]), ("runArgs", items)):
            entry = self.root.entries.get(key)
            if not gone or entry is None:
                continue
            holder = entry[1]
            members = _members(holder)
            chosen = [m for i, m in enumerate(members) if (m[0] if holder.entries else i) in gone]
            if len(chosen) == len(members):
                emptied.append((entry[0].start, holder.end))
            else:
                edits += _removed(holder.source, members, chosen)
        if emptied:
            members = _members(self.root)
            if len(members) == len(emptied):
                return ()
            edits += _removed(self.root.source, members, sorted(emptied))
        first = min(edits)
        line = self.root.source.position(pairs[0][0].start if pairs else first.start + 1).line
        return (Change(tuple(edits), f"remove {what} in line {line}"),)

    def _changes(self, text: str) -> Iterator[Change]:
        yield from self._set(self.run.shm_size(), "--shm-size", text)

    def _set(self, given: Option | None, name: str, text: str) -> Iterator[Change]:
        """Another value of an option that is given, else a new item of ``runArgs``."""
        if given is not None:
            word = given.value_word or given.word
            place = given.value_span or word.span
            if place is not None:
                # A value with escapes in it is written anew as a whole string.
                whole = given.joined and given.value_span is None
                new = f"{given.word.text.partition('=')[0]}={text}" if whole else text
                title = f"change `{name}` to {text} in line {place.line}"
                yield Change((Edit(place.path, place.start, place.end, new),), title)
            return
        argument = f'"{name}={text}"'
        entry = self.root.entries.get("runArgs")
        if entry is None:
            yield from self._new_property(argument)
            return
        array = entry[1]
        if array.kind == "null":
            title = f"add {argument} in line {array.span.line}"
            yield Change((Edit(array.source.path, array.start, array.end, f"[{argument}]"),), title)
        if array.kind != "array":
            return
        if not array.items:
            title = f"add {argument} in line {array.span.line}"
            yield Change((Edit(array.source.path, array.start + 1, array.start + 1, argument),), title)
            return
        source = array.source
        packed = len(array.items) > 1 and source.text[array.items[0].end : array.items[1].start] == ","
        yield _before(self._anchor(array), argument, gap="" if packed else " ")

    def _anchor(self, array: Json) -> Json:
        """The element to put the option before: the one that asks for GPUs, else the first."""
        gpu = self.run.last("--gpus")
        for item in array.items:
            if gpu is not None and gpu.word.span is not None and item.start <= gpu.word.span.start < item.end:
                return item
        return array.items[0]

    def _new_property(self, argument: str) -> Iterator[Change]:
        if not self.root.entries:
            return
        entry = self.root.entries.get("hostRequirements") or next(iter(self.root.entries.values()))
        yield _before(entry[0], f'"runArgs": [{argument}]', argument)


def _before(item: Json, new: str, shown: str = "", gap: str = " ") -> Change:
    """Put something before an element: on a line of its own where the element starts one."""
    source = item.source
    start = source.text.rfind("\n", 0, item.start) + 1
    indentation = source.text[start : item.start]
    line = source.position(item.start).line
    if start and not indentation.strip():
        newline = "\r\n" if source.text[start - 2 : start] == "\r\n" else "\n"
        edit = Edit(source.path, start, start, f"{indentation}{new},{newline}")
    else:
        edit = Edit(source.path, item.start, item.start, f"{new},{gap}")
    return Change((edit,), f"add {shown or new} in line {line}")


def _members(holder: Json) -> list[tuple[int, int]]:
    """Where the properties of an object, or the items of an array, start and end."""
    if holder.entries:
        return [(key.start, value.end) for key, value in holder.entries.values()]
    return [(item.start, item.end) for item in holder.items]


def _removed(source: Source, members: Sequence[tuple[int, int]], chosen: Sequence[tuple[int, int]]) -> list[Edit]:
    """The edits that take members, by their places, out of an object or array that keeps others.

    Comments on other lines stay, and so does every comma between two members that stay.
    """
    text = source.text
    kept = [member for member in members if member not in chosen]
    runs: list[tuple[int, int]] = []
    for start, end in chosen:
        before = members.index((start, end)) - 1
        if runs and runs[-1][1] == members[before][1] and "\n" not in text[runs[-1][1] : start]:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    edits = []
    for start, end in runs:
        comma = _next_comma(text, end)
        line = text.rfind("\n", 0, start) + 1
        behind = end if comma is None else comma + 1
        newline = text.find("\n", behind)
        rest = text[behind:newline].strip() if newline >= 0 else "x"
        if line and not text[line:start].strip() and (not rest or rest.startswith("//")):
            edits.append(Edit(source.path, line, newline + 1, ""))  # a line of its own
            continue
        while text[behind : behind + 1] in (" ", "\t"):
            behind += 1
        if comma is not None and text[behind : behind + 1] not in ("]", "}", "\r", "\n"):
            edits.append(Edit(source.path, start, behind, ""))
            continue
        while text[start - 1] in " \t" and text[line:start].strip():
            start -= 1
        edits.append(Edit(source.path, start, end if comma is None else comma + 1, ""))
    last = kept[-1]
    if last != members[-1] and _next_comma(text, members[-1][1]) is None:
        # The last one goes, and the comma that stood between it and what is left.
        at = _next_comma(text, last[1])
        if at is not None and not any(e.start <= at < e.end for e in edits):
            edits.append(Edit(source.path, at, at + 1, ""))
    return edits


def _next_comma(text: str, at: int) -> int | None:
    """The offset of the comma after a value, comments passed over; None where there is none."""
    while at < len(text):
        if text.startswith("//", at):
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline
        elif text.startswith("/*", at):
            close = text.find("*/", at)
            at = len(text) if close < 0 else close + 2
        elif text[at].isspace():
            at += 1
        else:
            return at if text[at] == "," else None
    return None


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments, which JSON with comments has after two slashes."""
    return line_suppressions(source, SLASHES, "//", lambda at: before(source, at).count('"') % 2 == 0)


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment after the opening brace."""
    return at_end(launch.span.source, launch.span.line, f"// {text}")

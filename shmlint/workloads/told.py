"""What the repository's own people say of /dev/shm: the same container started elsewhere with more, and their pages."""

from __future__ import annotations

import math
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from shmlint.docker.images import parse, pattern_of
from shmlint.docker.sizes import human
from shmlint.files import kinds
from shmlint.files.cache import Key
from shmlint.files.read import normal
from shmlint.formats import STARTERS, read_one
from shmlint.model.finding import Evidence
from shmlint.model.launch import DOCKER_DEFAULT_SHM, Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.workloads.commands import flatten, kind_of, names_training, simple_commands
from shmlint.workloads.filesystem import dockerfile_of
from shmlint.workloads.given import Given, Same
from shmlint.workloads.program import Program
from shmlint.workloads.repository import Repository, Texts
from shmlint.workloads.running.builds import WORKFLOWS, builds_in, directories, spellings
from shmlint.workloads.running.visible import gpu_count

if TYPE_CHECKING:
    from shmlint.files.workspace import Workspace
    from shmlint.syntax.markdown import Heading

_MOST_LOOKED_AT = 20
"""Files near that of the launch in which the same container is looked for."""
_MOST_LINES = 3000
"""Lines of a page that are read."""
_GIVEN = (r"shm[-_]size", r"ShmSize", r"--ipc[= ]host", r"ipc:\s*[\"']?host", r"/dev/shm")
"""How a size is given. One by one they are found much sooner than all together."""


class Told(NamedTuple):
    """Who says so, and how many bytes they give; ``bytes`` is None where they do not say."""

    evidence: Evidence
    bytes: int | None
    page: bool = False
    """A page says so in its own words."""
    perhaps: bool = False
    """It says so only of the use of several GPUs, or another page says so of the same image."""
    workers: bool = False
    """It says so only of DataLoader workers."""
    seldom: bool = False
    """Its file starts the same container more often without: there the size is an example."""


def told(launch: Launch, program: Program) -> Told | None:
    """What the repository says of a launch; None where it says nothing."""
    repository = program.files.repository
    if repository.workspace is None:
        return None
    has = max(launch.effective_shm().bytes or 0, DOCKER_DEFAULT_SHM)
    other = next(_others(launch, has, program), None)
    if other is not None:
        given, seldom = other.effective_shm(), _is_seldom(launch, other, has, program)
        if given.decided_by == "host" or given.bytes is None:
            of_host = Evidence("the same container with the host's /dev/shm", given.span or other.home)
            return Told(of_host, None, seldom=seldom)
        text = f"the same container with {human(given.bytes)}"
        return Told(Evidence(text, given.span or other.home), given.bytes, seldom=seldom)
    page = repository.peek(launch.span.path) if kinds.is_page(launch.span.path) else None
    if page is None:
        return _by_other_page(launch, repository)
    always, workers, several = _said(page, repository)
    if always is not None:
        return Told(Evidence(_PAGE_ASKS, always), None, True)
    if workers is not None:
        return Told(Evidence(_PAGE_ASKS, workers), None, True, workers=True)
    if several is not None and gpu_count(launch) != 1:
        return Told(Evidence(_PAGE_ASKS, several), None, True, True)
    return _by_other_page(launch, repository)


_PAGE_ASKS = "the page asks for shared memory"


def _by_other_page(launch: Launch, repository: Repository) -> Told | None:
    """What a page around says that names the same image: known problems, answers to questions."""
    image = launch.image.known or "" if launch.image is not None else ""
    word = parse(image).repository
    if "/" not in word:
        return None
    pattern = rf"{_BEGIN}{pattern_of(image)}{_END}"
    for folder in repository.above()[:_LEVELS]:
        for path in _speaking(folder, repository).holding((word,)):
            source = repository.peek(path) if kinds.is_page(path) and path != launch.span.path else None
            named = source is not None and re.search(pattern, source.text)
            said = _said(source, repository)[0] if source is not None and named else None
            if said is not None:
                return Told(Evidence("a page about the image asks for shared memory", said), None, True, True)
    return None


_BEGIN, _END = r"(?<![\w./-])", r"(?![\w-]|[./]\w)"
"""The ends of an image's name: ``me/tool`` is not ``me/tool-server``."""
_LEVELS = 3
"""Directories from that of a page upwards in which other pages about its image are looked for."""


# The same container elsewhere -----------------------------------------------------------------


def _given(launch: Launch) -> float:
    """How many bytes a launch is given; infinitely many are the host's."""
    given = launch.effective_shm()
    if launch.shm is not None and launch.shm.private:
        return 0
    if given.decided_by == "host":
        return math.inf
    return given.bytes or 0 if given.decided_by in ("shm_size", "tmpfs") else 0


def _looked_for(launches: Iterable[Launch]) -> Iterator[tuple[Launch, float, Iterable[Same]]]:
    """Launches that are given more than a container has by itself, and what other launches of it have in common."""
    for launch in launches:
        size = _given(launch)
        if size > DOCKER_DEFAULT_SHM:
            yield launch, size, (*_keys(launch, built=True), *_keys(launch, built=False))


def _keys(launch: Launch, *, built: bool) -> Iterator[Same]:
    """What a launch has in common with each other one of the same container: one of these, at least.

    ``built``: its Dockerfile is known, and the container of another name may be built from it too.
    """
    use = _use(launch)
    if built:
        yield "use", use
        return
    if launch.kind == "compose-service":
        yield "service", (use, launch.name)
    for name in _names(launch):
        yield "image", (use, name)


def _others(launch: Launch, has: int, program: Program) -> Iterator[Launch]:
    """The launches of the same container in this file and those around it that are given more than ``has``."""
    repository, built = program.files.repository, _built(program)
    for path in _paths(launch, built, repository):
        if launch.kind == "compose-service" and _kind(path, repository) == "compose" and (
            path == launch.span.path or not _may_have(launch.name or "", path, repository)
        ):
            continue  # a Compose file has one service of the name, where a page may have several
        known = repository.shared.launches
        if path not in known:
            known[path] = Given(_looked_for(_launches(path, repository)))
        for other in known[path].more_than(has, _keys(launch, built=built is not None)):
            itself = (other.span.path, other.span.start) == (launch.span.path, launch.span.start)
            if not itself and _is_same(launch, other, built, repository):
                yield other


def _is_seldom(launch: Launch, other: Launch, has: int, program: Program) -> bool:
    """Whether the page of ``other`` starts the container of a launch more often with no more than that has."""
    path, repository = other.span.path, program.files.repository
    if not kinds.is_page(path):
        return False
    built, known = _built(program), repository.shared.found
    own = *_keys(launch, built=False), _use(launch), launch.kind, launch.span.path, bool(launch.binds)
    key = "seldom", path, has, built, *own
    if key not in known:  # a page may have many launches, and each of them asks
        more = [_given(one) > has for one in _launches(path, repository) if _is_same(launch, one, built, repository)]
        known[key] = path if more.count(False) > more.count(True) else None
    return known[key] is not None


def _built(program: Program) -> str | None:
    """The Dockerfile of a launch, where it is known."""
    sure = program.dockerfile is not None and not program.guessed and not program.namesake
    return normal(program.dockerfile.path) if sure and program.dockerfile is not None else None


def _may_have(service: str, path: str, repository: Repository) -> bool:
    """Whether a Compose file may have a service of some name: written there, or in a file that it includes."""
    source = repository.peek(path)
    if source is None or "include" in source.text:
        return source is not None
    return re.search(rf"{re.escape(service)}[\"']?\s*:", source.text) is not None


def _paths(launch: Launch, built: str | None, repository: Repository) -> Iterator[str]:
    """The files in which a size is given and the container is named, or one is built from its Dockerfile."""
    words = _words(launch) | ({_BUILDS} if built is not None else set())
    own = normal(os.path.dirname(launch.span.path) or ".")
    around = dict.fromkeys((own, *directories(repository), normal(os.path.join(repository.root, WORKFLOWS))))
    holding = (path for directory in around for path in _speaking(directory, repository).holding(words))
    return islice(holding, _MOST_LOOKED_AT)


def _speaking(directory: str, repository: Repository) -> Texts:
    """The files of a directory in which a size is given, with their text in lower case."""
    key = repository.root, directory
    known = repository.shared.sizes.get(key)
    if known is None:
        paths = (normal(os.path.join(directory, name)) for name in repository.names(directory))
        sources = ((path, repository.peek(path)) for path in paths if kinds.may_be_of(path, STARTERS))
        known = Texts((path, s.text.lower()) for path, s in sources if s is not None and _gives(s.text))
        repository.shared.sizes[key] = known
    return known


def _gives(text: str) -> bool:
    return any(re.search(pattern, text) for pattern in _GIVEN)


_BUILDS = "build"


def _words(launch: Launch) -> set[str]:
    """Words without which a file does not start the container."""
    found = {launch.name} if launch.kind == "compose-service" and launch.name else set()
    if launch.image is not None:
        found |= {launch.image.text.strip("\"'"), parse(launch.image.known or launch.image.text).repository}
    return {word.lower() for word in found - {""}}


def _launches(path: str, repository: Repository) -> tuple[Launch, ...]:
    kind, workspace = _kind(path, repository), repository.workspace
    return read_one(kind, path, workspace).launches if kind in STARTERS and workspace is not None else ()


def _kind(path: str, repository: Repository) -> str | None:
    """The kind of a file; found once in a run, because many launches ask."""
    if repository.peek(path) is None or repository.workspace is None:
        return None
    return repository.workspace.once(_KIND, path, lambda files: kinds.kind_of(files.source(path), files.top))


_KIND: Key[str | None] = Key("kind of a file in which a size is given")


def _is_same(launch: Launch, other: Launch, built: str | None, repository: Repository) -> bool:
    """Whether two launches start the same container for the same use. ``built`` is the Dockerfile of the first.

    Scripts give the images of several Dockerfiles one name, and the image of one Dockerfile several.
    """
    if _use(launch) != _use(other):
        return False
    theirs = _dockerfile(other, repository) if built is not None else None
    differ = built is not None and theirs is not None and built != theirs
    if launch.kind == other.kind == "compose-service":  # one image may be several services
        return launch.name == other.name and not (differ and not _use(launch))  # each image has its own command
    if built is not None and theirs is not None:
        return not differ
    if launch.image is None or other.image is None:
        return False
    if other.binds and not launch.binds and not _use(launch):
        return False  # a look at the image, beside work with the code and the data that the other has
    same = _names(launch) & _names(other)
    return bool(same) and (launch.span.path == other.span.path or not all("$" in name for name in same))


def _names(launch: Launch) -> set[str]:
    return spellings(launch.image.known or "", launch.image.text) if launch.image is not None else set()


def _dockerfile(launch: Launch, repository: Repository) -> str | None:
    """The Dockerfile of a launch, as far as its own file says so: of the last build before it."""
    if launch.build is not None:
        return dockerfile_of(launch.build, repository)
    builds = [b for b in builds_in(launch.span.path, repository) if spellings(b.tag, b.tag) & _names(launch)]
    last = max(builds, key=lambda build: (build.span.start < launch.span.start, build.span.start), default=None)
    return dockerfile_of(last, repository) if last is not None else None


def _use(launch: Launch) -> tuple[str, ...]:
    """What a launch runs; nothing where that is the image's own, or a shell or a notebook, however it is prepared."""
    words: tuple[str, ...] = ()
    for part in (launch.entrypoint, launch.command):
        words += (part.known or (part.text,)) if part is not None else ()
    kinds = {kind_of(command) for command in simple_commands(flatten(words))} if words else set()
    return () if "interactive" in kinds and "program" not in kinds else words


# Pages ----------------------------------------------------------------------------------------


def _said(page: Source, repository: Repository) -> tuple[Span | None, Span | None, Span | None]:
    """Where a page says, outside of its code, that training in the container takes more shared memory.

    The second is where it says so of DataLoader workers, the third where it says so of several GPUs.
    """
    known = repository.shared.said
    if page.path not in known:
        said = list(_naming(page, repository)) if _may_name(page.text) else []
        known[page.path] = _first(_asks, said), _first(_asks_of_workers, said), _first(_asks_with_several_gpus, said)
    return known[page.path]


def _may_name(text: str) -> bool:
    """Whether a page names shared memory, its code included; the pattern is slow."""
    lowered = text.lower()
    return any(sign in lowered for sign in _SIGNS) and re.search(_NAMED, text) is not None


def _first(asks: Callable[[str, str], bool], said: Sequence[tuple[str, str, Span]]) -> Span | None:
    return next((span for sentence, before, span in said if asks(sentence, before)), None)


def _naming(page: Source, repository: Repository) -> Iterator[tuple[str, str, Span]]:
    """The sentences outside of a page's code that name shared memory, the sentence before each, and the line."""
    for start, end in _paragraphs(page, repository):
        before = ""
        for sentence in re.finditer(_SENTENCE, page.text[start:end]):
            named = re.search(_NAMED, sentence[0])
            text = " ".join(sentence[0].split())
            if named is not None:
                line = page.position(start + sentence.start() + named.start()).line
                yield text, before, Span(page, *page.line_span(line))
            before = text


def _paragraphs(page: Source, repository: Repository) -> Iterator[tuple[int, int]]:
    """The paragraphs of a page, its code left out."""
    from shmlint.syntax.markdown import blocks_of

    assert repository.workspace is not None
    every = blocks_of(page, repository.workspace)
    code = sorted((block.lines[0][0], block.lines[-1][1]) for block in every if not block.inline)
    begin, last, at, covered = -1, 0, 0, -1
    for number in range(1, min(len(page.line_starts), _MOST_LINES) + 1):
        start, end = page.line_span(number)
        line = page.text[start:end]
        while at < len(code) and code[at][0] <= start:
            covered = max(covered, code[at][1])
            at += 1
        ends = not line.strip() or start <= covered
        if begin >= 0 and (ends or re.match(_BEGINS, line) is not None):
            yield begin, last
            begin = -1
        if not ends:
            begin, last = (start if begin < 0 else begin), end
    if begin >= 0:
        yield begin, last


def _asks(sentence: str, before: str) -> bool:
    asked = re.search(_ASKS, sentence) is not None and re.search(_ONLY_IF, sentence) is None
    return asked and re.search(_CONDITION, before) is None


def _asks_of_workers(sentence: str, before: str) -> bool:
    """Whether a sentence asks for it where there are DataLoader workers: NVIDIA's and PyTorch's notes do."""
    asked = re.search(_ASKS, sentence) is not None and re.search(_OPEN, sentence) is None
    return asked and re.search(_OF_WORKERS, f"{before} {sentence}") is not None


def _asks_with_several_gpus(sentence: str, before: str) -> bool:
    """Whether a sentence asks for it where there are several GPUs: ``if you use multiple GPUs, you may need to …``."""
    found = re.search(_SEVERAL, sentence)
    return found is not None and re.search(_ASKS, sentence) is not None and re.search(_NEGATED, sentence) is None


def is_to_be_used(path: str, start: int, repository: Repository) -> bool:
    """Whether a page starts something under a heading about something else than training."""
    told = heading(path, start, repository)
    return told is not None and tells_of_use(told.text.lower())


def tells_of_use(text: str) -> bool:
    """Whether the words of a heading or a name, in small letters, are about something else than training."""
    if _is_about_training(text):
        return False
    return any(word in text for word in _USES) or any(word in _USES_ALONE for word in re.findall(r"[a-z]+", text))


def _is_about_training(text: str) -> bool:
    words = re.findall(r"[\w-]+", text)
    return any(names_training((word,)) for word in words) or any(word in text for word in _TRAINING)


_TRAINING = ("训练", "訓練", "微调", "学習", "ファインチューニング")
_USES = (
    "inference", "predict", "demo", "deploy", "serving", "export", "convert", "evaluat", "analys", "visuali",
    "推理", "推論", "预测", "演示", "デモ", "部署", "导出", "评估", "評価", "可视化", "可視化",
)  # fmt: skip
"""Words of headings in English, Chinese and Japanese, or their beginnings."""
_USES_ALONE = frozenset({"service", "serve", "infer", "app", "gradio"})
"""Words that others have in them: `observe`, `mapping`."""


def heading(path: str, start: int, repository: Repository) -> Evidence | None:
    """The heading of a page under which something stands."""
    return next(headings(path, start, repository), None)


def headings(path: str, start: int, repository: Repository) -> Iterator[Evidence]:
    """The headings of a page under which something stands, the nearest first."""
    page = repository.peek(path) if kinds.is_page(path) else None
    if page is None:
        return
    known = _outline(page, repository).sections
    at = bisect_left(known, start, key=lambda one: one.span.start) - 1
    while at >= 0:
        span, at = known[at].span, known[at].around
        yield Evidence(span.text.strip("# \t"), span)


def shows_training(path: str, start: int, repository: Repository) -> bool:
    """Whether a page has a heading about training behind an offset, or before it one with code or a link.

    Before it starts a container a page may tell how its model was trained.
    """
    page = repository.peek(path) if kinds.is_page(path) else None
    first, last = _outline(page, repository).training if page is not None else (None, None)
    return first is not None or (last is not None and last > start)


def _on_training(page: Source, known: Sequence[_Section]) -> tuple[int | None, int | None]:
    """Where a page has its first heading about training with code or a link under it, and its last one of any kind."""
    first = last = None
    for at, one in enumerate(known):
        if _is_about_training(page.text[one.span.start : one.span.end].lower()):
            last = one.span.start
            behind = (other.span.start for other in known[at + 1 :] if other.depth <= one.depth)
            section = page.text[last : next(behind, None)] if first is None else ""
            if re.search(r"`|(?<!!)\[[^\]\n]{0,300}\]\(|\n(?: {4}|\t)", section) is not None:
                first = last
    return first, last


class _Section(NamedTuple):
    span: Span
    """Its heading."""
    depth: int
    around: int
    """The number of the section in which it is; below 0 for none."""


class _Outline(NamedTuple):
    page: Source
    sections: tuple[_Section, ...]
    """Those of its headings, but not of texts that are marked as one."""
    training: tuple[int | None, int | None]
    """Where its first heading about training is, and its last one: see ``_on_training``."""


_OUTLINE: Key[_Outline] = Key("sections of a page")


def _outline(page: Source, repository: Repository) -> _Outline:
    """The sections of a page; found once, because each launch of it asks."""
    from shmlint.syntax import markdown

    def made(files: Workspace) -> _Outline:
        return _outlined(page, markdown.headings_of(page, files))

    if repository.workspace is None:
        return _outlined(page, markdown.headings(page))
    known = repository.workspace.once(_OUTLINE, page.path, made)
    return known if known.page is page else made(repository.workspace)


def _outlined(page: Source, headings: Sequence[Heading]) -> _Outline:
    found: list[_Section] = []
    for one in headings:
        if one.end - one.start >= _LONGEST_HEADING:
            continue
        around = len(found) - 1
        while around >= 0 and found[around].depth >= one.level:
            around = found[around].around
        found.append(_Section(Span(page, one.start, one.end), one.level, around))
    return _Outline(page, tuple(found), _on_training(page, found))


_LONGEST_HEADING = 200


_SENTENCE = r"[^\s](?:[^.!?。！？]|[.!?](?!\s)|(?<=\.)\.)*[.!?。！？]?"
_BEGINS = r"\s*(?:[-*+#>|]|\d+[.)])\s"
"""The first line of an item of a list, of a heading, of a quotation."""
_NAMED = (
    r"(?i)--?shm[-_]size|shm_size|/dev/shm|--ipc[= ]host|(?:docker|container)\W+(?:\w+\W+){0,4}shared[- ]memory"
    r"|容器[^。]{0,8}共享内存"
)
_SIGNS = ("shm", "ipc", "shared", "共享内存")
"""One of these is in all that ``_NAMED`` finds."""
_ASKS = (
    r"(?i)increas|enlarg|larger|insufficient|not enough|too (?:small|little|low)|must|necessary|requir|need"
    r"|sufficient|recommend|需要|必须|建议|增大|增加|提高|调大|不足|太小"
)
_SEVERAL = (
    r"(?i)\b(?:if|when|with|for|on|using)\b[^.]{0,40}"
    r"\b(?:multiple|several|multi|more than one)\b[ -](?:\w+[ -])?GPUs?\b|(?:多卡|多\s*GPU|多张)"
)
_NEGATED = r"(?i)\bnot (?:need|requir|necess)|n['’]t|\bunless\b|不需要|无需|不必"
_CONDITION = r"(?i)\bif\b|\bmay\b|\bmight\b|如果|可能"
_OPEN = rf"{_NEGATED}|\bmay\b|\bmight\b|\boptional|\bcan be\b|也许|可能|可以"
"""Sentences that leave it open whether it is needed, or say that it is not."""
_ONLY_IF = rf"{_OPEN}|\bif\b|如果"
_OF_WORKERS = r"(?i)\bif\b[^.]{0,80}(?:data[ -]?load|multi-?process|num_workers)"

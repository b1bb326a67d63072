"""Which Dockerfile of the repository gives the image that a launch runs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from shmlint.docker.images import DOCKERFILES, parse
from shmlint.files.cache import Key
from shmlint.files.kinds import PAGE_ENDINGS, is_readme, kind_of, may_be_of
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats import STARTERS, read_one
from shmlint.model.launch import Build, Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source
from shmlint.workloads.filesystem import dockerfile_of
from shmlint.workloads.knowledge import base_called, builtin, recognise, workdir_of
from shmlint.workloads.repository import Repository, Texts

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage

_MOST_LOOKED_AT = 60
"""Files near a launch in which a build of its image is looked for."""
_FOLDERS = (
    "docker", "scripts", ".devcontainer", "docs", "tools", "build", "dockerfiles", "scripts/docker", "docker/scripts",
)  # fmt: skip


WORKFLOWS = ".github/workflows"


class FoundBuild(NamedTuple):
    """The build of an image; ``guessed`` where only names lead to it, ``namesake`` where it is of one with its name."""

    build: Build | None
    guessed: bool = False
    namesake: bool = False
    by_name: bool = False
    """Only the name of a file or a directory leads to it, and the image has an owner: others call theirs so, too."""


def find_build(launch: Launch, builds: Sequence[Build], repository: Repository) -> FoundBuild:
    """The build of a launch's image."""
    if launch.image is None or not launch.image.text:
        return FoundBuild(None)
    names = spellings(launch.image.known or "", launch.image.text)
    # A script is looked for by the name that it has in common with another, or else by that of the variable for it.
    words = {re.sub(r"^\$\{?\w*\}?/?", "", parse(name).repository) for name in names} - {""}
    words = words or {name for name in names if re.fullmatch(_SHARED, name) is not None}
    words |= {service for word in words for service in _services(word, repository)}
    known = _with(names, builds, lambda build: spellings(build.tag, build.tag), repository.shared.tags)
    same = _fitting(lambda build: bool(spellings(build.tag, build.tag) & names), known, words, repository)
    same = same or _put_together(names, repository)
    if same:
        nearest = min(same, key=lambda build: _distance(build.span.path, launch.span.path))
        # What a script is given is not what another script is given.
        given = re.fullmatch(_GIVEN, nearest.tag) is not None and nearest.span.path != launch.span.path
        return FoundBuild(nearest, given)
    pushed = _of_workflow(launch, repository)
    if pushed is not None:
        return FoundBuild(pushed, True)
    namesake = _namesake(launch, builds, repository)
    if namesake is not None:
        own, by_name = _is_own(namesake, launch, repository), namesake.span == launch.span and "/" in launch.image.text
        return FoundBuild(_in_context(namesake, launch, repository), guessed=True, namesake=not own, by_name=by_name)
    guessed = _of_own_name(launch, repository) or _called_like(launch, repository) or _guess(launch, repository)
    return FoundBuild(guessed and _in_context(guessed, launch, repository), guessed is not None)


def _services(name: str, repository: Repository) -> Iterator[str]:
    """What a service is called whose image Compose gives a name after a directory around: `app` of ``web_app``."""
    for folder in directories(repository):
        project = os.path.basename(folder).lower()
        if project and name.startswith((f"{project}_", f"{project}-")) and len(name) > len(project) + 1:
            yield name[len(project) + 1 :]


def _in_context(build: Build, launch: Launch, repository: Repository) -> Build:
    """A build that no command tells of, in the directory around its Dockerfile that has all that it copies."""
    image = read_build(build, repository)[0] if build.span == launch.span and build.dockerfile is not None else None
    if image is None or build.dockerfile is None:
        return build
    own = (copy for copy in image.copies if copy.origin is None and not copy.elsewhere)
    copied = [source.lstrip("/") for copy in own for source in copy.sources if re.search(r"[$*?\[]", source) is None]
    folder = os.path.dirname(build.dockerfile)
    around = [folder]
    while folder and normal(folder) != normal(repository.root) and len(around) < _MOST_AROUND:
        folder = os.path.dirname(folder)
        around.append(folder or ".")
    fitting = (place for place in (build.context, *around) if _has_all(place, copied, repository))
    return build._replace(context=normal(next(fitting, build.context)))


_MOST_AROUND = 8


def _has_all(folder: str, paths: Iterable[str], repository: Repository) -> bool:
    places = (normal(os.path.join(folder, path)) for path in paths)
    return all(repository.is_file(place) or repository.is_dir(place) for place in places)


def _is_own(build: Build, launch: Launch, repository: Repository) -> bool:
    """Whether the Dockerfile of a directory gives the image with its name, and not only one that is called so.

    A name without an owner is nobody's on a registry. Who keeps the script that starts an image beside the Dockerfile,
    in a directory of its name, has pushed it to an account, unless that is what they build upon.
    """
    assert launch.image is not None
    if build.span != launch.span or build.dockerfile is None:
        return False  # another script builds it, for itself
    if "/" not in launch.image.text:
        return True
    name, folder = bare_name(launch.image.known or ""), os.path.dirname(build.dockerfile)
    beside = folder == normal(repository.home) and os.path.basename(folder).lower() == name
    if not beside or len(name) < _LEAST_NAME:
        return False
    image, _ = read_build(build, repository)
    return image is not None and all(bare_name(base) != name for base, _ in image.base_images)


_SHARED = r"\$(?:\w{4,}|\{\w{4,}\})"
"""A variable alone that gives an image its name, in each of the scripts that set it in one place."""
_GIVEN = r"[\"']?\$\{?[0-9@*]\}?[\"']?"
"""A word that a script is given."""


def _with(
    names: Iterable[str], builds: Sequence[Build], names_of: Callable[[Build], Iterable[str]],
    known: dict[str, list[int]],
) -> list[Build]:  # fmt: skip
    """Those of the builds of a run that have one of some names; ``known`` gets the numbers of all, by name."""
    if not known:
        for number, build in enumerate(builds):
            for name in names_of(build):
                known.setdefault(name, []).append(number)
    return [builds[number] for number in sorted({number for name in names for number in known.get(name, ())})]


def _fitting(
    fits: Callable[[Build], bool], builds: Sequence[Build], words: set[str], repository: Repository
) -> list[Build]:
    """The builds that fit: of those that were read, else in the files around a launch, else further away."""
    found = [build for build in builds if fits(build)]
    for files in (_around, _further) if words else ():
        found = found or [build for build in _builds_in(files(repository), words, repository) if fits(build)]
    return found


def is_name(text: str) -> bool:
    """Whether a text may be an image's name. What unset variables leave (``:``, ``/app``) is none."""
    return bool(text) and not text.startswith(("/", ":")) and not text.endswith(("/", ":"))


def spellings(image: str, written: str) -> set[str]:
    """An image's name in the forms in which a build and a run may write it, without what makes no difference."""
    return {_spelling(name) for name in (image, written) if is_name(name.strip("\"'"))}


def _spelling(text: str) -> str:
    """An image's name without the parts that the engine adds where a name has none."""
    name = parse(text)
    tag, digest = name.tag if name.tag != _LATEST else "", name.digest
    return f"{name.repository.removeprefix('localhost/')}{tag and f':{tag}'}{digest and f'@{digest}'}"


_LATEST = "latest"
"""The tag of a name without one."""


def bare_name(image: str) -> str:
    """The last part of an image's name, without its tag; empty where a variable decides it."""
    name = parse(image).last
    return name if re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) else ""


def _distance(path: str, other: str) -> tuple[int, int]:
    """How far two files lie from each other."""
    if path == other:
        return 0, 0
    common = os.path.commonpath([os.path.dirname(path) or ".", os.path.dirname(other) or "."]) if (
        os.path.isabs(path) == os.path.isabs(other)
    ) else ""
    return 1, path.count("/") + other.count("/") - 2 * common.count("/")


def _builds_in(files: Iterator[Texts], words: set[str], repository: Repository) -> Iterator[Build]:
    """The builds in those of some files that have one of the words."""
    holding = (path for texts in files for path in texts.holding(words))
    for path in islice(holding, _MOST_LOOKED_AT):
        yield from builds_in(path, repository)


def builds_in(path: str, repository: Repository) -> tuple[Build, ...]:
    """The builds that a script, a make recipe, a page or a compose file has."""
    known = repository.shared.builds
    if path not in known:
        source = repository.peek(path)
        known[path] = _builds_of(source, repository) if source is not None else ()
    return known[path]


def _builds_of(source: Source, repository: Repository) -> tuple[Build, ...]:
    assert repository.workspace is not None
    if is_bake(source.path):
        from shmlint.workloads.running import bake

        return bake.builds(source)
    if is_dockerfile(source.path):
        from shmlint.workloads.running import dockerfile_comments

        return dockerfile_comments.builds(source)
    kind = kind_of(source, repository.workspace.top)
    return read_one(kind, source.path, repository.workspace).builds if kind in STARTERS else ()


def _around(repository: Repository) -> Iterator[Texts]:
    """The files around a launch that speak of building, with their text in lower case."""
    return (_builders(directory, repository) for directory in directories(repository))


def directories(repository: Repository) -> tuple[str, ...]:
    """The directories in which people keep the scripts, pages and compose files of a container."""
    above = repository.above()
    known = repository.shared.around
    if above not in known:
        found = (_folder_in(folder, part, repository) for folder in above for part in ("", *_FOLDERS))
        known[above] = tuple(dict.fromkeys(directory for directory in found if directory is not None))
    return known[above]


def _folder_in(folder: str, part: str, repository: Repository) -> str | None:
    """A directory of a directory, or itself; None where nothing there has the name, which its list tells for all."""
    if part and part.partition("/")[0] not in repository.names(folder):
        return None
    return normal(os.path.join(folder, part))


def _builders(directory: str, repository: Repository, names: str | None = None, *, every: bool = False) -> Texts:
    """The files of a directory that speak of building; but for ``every``, those whose builds are not known yet."""
    key = repository.root, directory, names or "", every
    known = repository.shared.builders.get(key)
    if known is None:
        every_path = (os.path.join(directory, name) for name in repository.names(directory))
        paths = [path for path in every_path if is_dockerfile(path) or _is_named(path, names)]
        left = paths if every else [path for path in paths if normal(path) not in repository.shared.read]
        sources = ((path, repository.peek(path)) for path in left)
        known = Texts((path, s.text.lower()) for path, s in sources if s is not None and _may_build(path, s.text))
        repository.shared.builders[key] = known
    return known


def _further(repository: Repository) -> Iterator[Texts]:
    """The scripts that build images, by their names, in the directories next to and below that of a launch."""
    for folder in repository.above()[:3]:
        yield _below(folder, repository)
        if (inner := _folder_in(folder, "docker", repository)) is not None:
            yield _below(inner, repository)
    yield _workflows(repository)


def _workflows(repository: Repository, *, every: bool = False) -> Texts:
    """The workflows that speak of building."""
    workflows = normal(os.path.join(repository.root, WORKFLOWS))
    return _builders(workflows, repository, every=every) if repository.is_dir(workflows) else Texts(())


def _below(folder: str, repository: Repository) -> Texts:
    """The scripts that build images in the directories of a directory."""
    known = repository.shared.builders
    key = repository.root, folder, "below", False
    if key not in known:
        names = [name for name in repository.names(folder) if not name.startswith(".")]
        inner = (os.path.normpath(os.path.join(folder, name)) for name in names[:_MOST_FOLDERS])
        files = (_builders(path, repository, _BUILDS) for path in inner if repository.is_dir(path))
        known[key] = Texts(file for found in files for file in found.files)
    return known[key]


def _is_named(path: str, names: str | None) -> bool:
    """Whether a file has one of some names, or else one of those that may start or build containers."""
    if names is not None:
        return re.search(names, os.path.basename(path)) is not None
    return is_bake(path) or may_be_of(path, STARTERS)


def _may_build(path: str, text: str) -> bool:
    if is_dockerfile(path):
        return re.search(_BUILT_SO, text) is not None
    return "build" in text or is_bake(path)


def is_dockerfile(path: str) -> bool:
    """Whether a file is a Dockerfile, by its name."""
    name = os.path.basename(path)
    return re.search(_NAMED, name) is not None and re.search(_NOT_NAMED, name) is None


_NAMED = r"^(?:Dockerfile|(?i:dockerfile)(?:[._-]|$))|\.(?i:dockerfile)$"
_NOT_NAMED = rf"\.dockerignore$|(?i:\.(?:{PAGE_ENDINGS}))$|^dockerfile.*\.(?:py|go|js|ts|rs|rb|java|json|ya?ml|sh)$"
"""Dockerfiles, also in small letters; in those, code has names like ``dockerfile_parser.go`` too, and pages in any."""
_BUILT_SO = r"(?m)^[ \t]*#.*\bbuild\b"
"""A comment of a Dockerfile on how it is built."""


def is_bake(path: str) -> bool:
    """Whether a file is one of those that ``docker buildx bake`` reads by their names."""
    return re.fullmatch(r"docker-bake(?:\.[\w-]+)?\.hcl", os.path.basename(path)) is not None


_BUILDS = r"(?i)(?:build|docker)[\w-]*(?:\.(?:sh|bash))?$|^makefile$|^readme(?:\.\w+)?$"
"""Scripts that build an image, by the names that everybody gives them, and pages that tell how."""
_MOST_FOLDERS = 60


def _namesake(launch: Launch, builds: Sequence[Build], repository: Repository) -> Build | None:
    """The build of an image of the same name but for its owner and tag, or the Dockerfile that is called so.

    Images that the knowledge base knows are somebody else's.
    """
    image = launch.image
    name = bare_name(image.known or "") if image is not None else ""
    if image is None or not name or recognise(image.known or "", builtin())[0] is not None:
        return None
    if base_called(image.known or "").bare:
        return None
    known = _with([name], builds, lambda build: [bare_name(build.tag)], repository.shared.namesakes)
    found = _fitting(lambda build: _is_namesake(build, launch), known, {name}, repository)
    if found:
        return _only_one(found, launch)
    for folder in repository.above():
        for part in ("", "docker", name, f"docker/{name}"):
            directory = _folder_in(folder, part, repository)
            path = _called(name, directory, repository) if directory is not None else None
            if directory is not None and path is not None:
                return Build(image.known or "", directory if part != "docker" else folder, path, None, (), launch.span)
    return _of_tag(launch, repository)


def _only_one(found: Sequence[Build], launch: Launch) -> Build | None:
    """The nearest of some namesakes; None where a file builds several images of the name, and none has the tag."""
    nearest = min(_distance(build.span.path, launch.span.path) for build in found)
    near = [build for build in found if _distance(build.span.path, launch.span.path) == nearest]
    if len({(build.context, build.dockerfile, build.target) for build in near}) > 1:
        tag = parse(launch.image.known or "").tag if launch.image is not None else ""
        near = [build for build in near if (parse(build.tag).tag or _LATEST) == (tag or _LATEST)]
    return near[0] if near else None


def _put_together(names: set[str], repository: Repository) -> list[Build]:
    """The builds of workflows that put their image's name together: ``${{ env.REGISTRY }}/${{ env.IMAGE }}``."""
    ends = {bare_name(name) for name in names if "/" in name} - {""}
    builds = _builds_in(iter([_workflows(repository, every=True)]), ends, repository) if ends else ()
    return [build for build in builds if spellings(build.tag, build.tag) & names]


def _of_workflow(launch: Launch, repository: Repository) -> Build | None:
    """The build of a workflow that names its image after the repository: ``ghcr.io/${{ github.repository }}``."""
    image = launch.image.known if launch.image is not None else None
    if not image or image.count("/") < 2:
        return None
    name = _own_name(repository)
    if not name or f"/{name}" not in image.lower():
        return None
    for build in _builds_in(iter([_workflows(repository, every=True)]), {_REPOSITORY}, repository):
        tag = re.sub(r"\$\{\{ *github\.repository *\}\}", name, build.tag.lower())
        if "/" in tag and parse(tag).repository == parse(image).repository:
            return build
    return None


def _of_own_name(launch: Launch, repository: Repository) -> Build | None:
    """The only Dockerfile at the top of the repository, for an image of its owner that has its name: ``me/robot:1``."""
    folders = (repository.root, normal(os.path.join(repository.root, "docker")))
    named = [(folder, name) for folder in folders for name in _dockerfiles(folder, repository)]
    files = [os.path.join(folder, name) for folder, name in named if folder == named[0][0]]
    image = launch.image.known if launch.image is not None else None
    own = "/".join(parse(image or "").repository.split("/")[-2:])
    if len(files) != 1 or image is None or "/" not in own or recognise(image, builtin())[0] is not None:
        return None
    if own != _own_name(repository):
        return None
    return Build(image, repository.root, normal(files[0]), None, (), launch.span)


def _called_like(launch: Launch, repository: Repository) -> Build | None:
    """The Dockerfile of an image that somebody else has published: only names lead to it.

    The image is called like the repository or the package at its top, and the Dockerfile is the only one there; or
    like a repository that the first pages link to, and the Dockerfile is the only one beside the launch. Or the
    Dockerfile is called like the image with its tag: ``Dockerfile-robot-1.2`` for ``me/robot:1.2``.
    """
    image = launch.image.known if launch.image is not None else None
    if image is None or "/" not in image or recognise(image, builtin())[0] is not None or base_called(image).bare:
        return None
    own, linked = _is_own_name(bare_name(image), repository)
    top = (normal(os.path.join(repository.root, part)) for part in ("", "docker"))
    for folder, fits in ((normal(repository.home), linked), *((folder, own) for folder in top)):
        files = [file for file in _dockerfiles(folder, repository) if not file.endswith(_COPIES)]
        chosen = files if fits and len(files) == 1 else _of_name_and_tag(image, files)
        if len(chosen) == 1 and repository.is_file(path := normal(os.path.join(folder, chosen[0]))):
            context = os.path.dirname(folder) if os.path.basename(folder) == "docker" else folder
            return Build(image, context or ".", path, None, (), launch.span)
    return None


def _is_own_name(name: str, repository: Repository) -> tuple[bool, bool]:
    """Whether a name is that of the repository or of the package at its top, and whether of one that it links to."""
    if len(name) < _LEAST_NAME:
        return False, False
    package = os.path.join(repository.root, name.replace("-", "_"), "__init__.py")
    own = _plain(name) == _plain(_own_name(repository).rpartition("/")[2]) or repository.is_file(normal(package))
    return own, any(_plain(link.rpartition("/")[2]) == _plain(name) for link in _linked(repository))


def _of_name_and_tag(image: str, files: Iterable[str]) -> list[str]:
    """The Dockerfiles whose names end like an image with its whole tag, and have a part of its name before that."""
    name, tag = parse(image).last, parse(image).tag
    whole = f"-{_dashed(name)}-{_dashed(tag)}"
    last = f"-{_dashed(tag)}"
    named = ((file, file.lower().removeprefix("dockerfile").removesuffix(".dockerfile")) for file in files)
    ends = ((file, f"-{_dashed(end)}") for file, end in named) if tag else ()
    return [file for file, end in ends if whole.endswith(end) and end.endswith(last) and end != last]


def _dashed(name: str) -> str:
    return re.sub(r"[._-]+", "-", name).strip("-")


def _plain(name: str) -> str:
    """A name without what people leave out of it or put between its words."""
    return re.sub(r"[._-]", "", name.lower())


_COPIES = (".save", ".bak", ".old", ".orig", "~")
"""The ends of what editors and people keep of a file."""


def is_published_here(launch: Launch, dockerfile: str, repository: Repository) -> bool:
    """Whether an image has the owner and the name of the repository, whose only Dockerfile at the top is this one."""
    build = _of_own_name(launch, repository)
    return build is not None and build.dockerfile == normal(dockerfile)


_REPOSITORY = "github.repository"


def _own_name(repository: Repository) -> str:
    """The owner and the name of the repository, in lower case: the one on GitHub that its first pages link to most."""
    names = Counter(_linked(repository))
    return max(names, key=lambda name: names[name], default="")


def _linked(repository: Repository) -> tuple[str, ...]:
    """The repositories on GitHub that the first pages link to, as often as they do."""
    known = repository.shared.linked
    if repository.root not in known:
        known[repository.root] = _first_links(repository)
    return known[repository.root]


def _first_links(repository: Repository) -> tuple[str, ...]:
    readmes = sorted(filter(is_readme, repository.names(repository.root)))
    places = (os.path.join(repository.root, name) for name in (*readmes, *_ABOUT))
    paths = [path for path in places if repository.is_file(path)]
    workspace = repository.workspace
    found = [workspace.once(_LINKS, path, partial(_links, path)) for path in paths] if workspace is not None else []
    return tuple(name for links in found for name in links)


_LINKS: Key[tuple[str, ...]] = Key("repositories on GitHub that a page links to")


def _links(path: str, files: Workspace) -> tuple[str, ...]:
    """The repositories on GitHub that a page links to, in lower case; looked for once in a run."""
    try:
        text = files.source(path).text.lower()
    except Unreadable:
        return ()
    found = re.findall(r"github\.com[/:]([\w.-]{1,100}/[\w.-]{1,100}?)(?:\.git)?(?![\w.-])", text)
    return tuple(name.rstrip(".") for name in found)


_ABOUT = ("pyproject.toml", "setup.py", "setup.cfg", "CONTRIBUTING.md")
"""Files at the top of a repository that link to it, as its README does."""


def _of_tag(launch: Launch, repository: Repository) -> Build | None:
    """The Dockerfile beside a launch, in a directory whose name is the end of the tag: ``me/robot:noetic-lidar``."""
    image = launch.image.known if launch.image is not None else None
    name = _name_in_repository(repository).lower()
    tag = parse(image or "").tag
    if len(name) < _LEAST_NAME or re.search(rf"(?:^|[._-]){re.escape(name)}$", tag) is None:
        return None
    files = _dockerfiles(repository.home, repository)
    path = normal(os.path.join(repository.home, "Dockerfile" if len(files) != 1 else files[0]))
    if not repository.is_file(path):
        return None
    return Build(image or "", repository.home, path, None, (), launch.span)


def _name_in_repository(repository: Repository) -> str:
    """The name of the directory that a launch is in; empty at the top, whose name each checkout chooses."""
    home, workspace = normal(repository.home), repository.workspace
    if workspace is None:
        return ""
    top = workspace.root(repository.of)
    whole = os.path.realpath(os.path.join(workspace.top, home))
    return "" if whole == top or (top is None and home == ".") else os.path.basename(whole)


_LEAST_NAME = 4
"""Letters of a directory's name; shorter ones (`gpu`, `dev`) end the tags of other people's images too."""


def _is_namesake(build: Build, launch: Launch) -> bool:
    """Whether a build may give a launch's image: the same name, and an owner in at most one of them."""
    assert launch.image is not None
    same = bare_name(build.tag) == bare_name(launch.image.known or "")
    owners = {parse(name).repository.rpartition("/")[0] for name in (build.tag, launch.image.known or "")}
    return same and len(owners - {"", "localhost"}) <= 1


def _called(name: str, directory: str, repository: Repository) -> str | None:
    """The Dockerfile of a directory that is called so, or the only one of a directory that is."""
    files = _dockerfiles(directory, repository)
    named = [n for n in files if n.lower() in (f"dockerfile.{name}", f"{name}.dockerfile")]
    own = files if os.path.basename(directory).lower() == name else ()
    chosen = named or [n for n in own if n in DOCKERFILES] or (own if len(own) == 1 else [])
    path = normal(os.path.join(directory, chosen[0])) if chosen else None
    return path if path is not None and repository.is_file(path) else None


def _dockerfiles(directory: str, repository: Repository) -> tuple[str, ...]:
    """The names of the Dockerfiles of a directory."""
    known, key = repository.shared.dockerfiles, (repository.root, directory)
    if key not in known:
        named = filter(is_dockerfile, repository.names(directory))
        known[key] = tuple(name for name in named if repository.is_file(normal(os.path.join(directory, name))))
    return known[key]


def _guess(launch: Launch, repository: Repository) -> Build | None:
    """The only Dockerfile near a launch that fits, where the image's name is nobody's on a registry."""
    image = launch.image
    if image is None or image.known is None:
        return None
    name = image.known.partition("@")[0]
    if "/" in name and not re.search(_OWN, name) and not image.because:
        return None
    if base_called(name).bare:
        return None
    for folder in repository.above():
        for part in ("", "docker"):
            directory = _folder_in(folder, part, repository)
            files = _fits_name(name, _dockerfiles(directory, repository)) if directory is not None else ()
            if directory is not None and len(files) == 1 and repository.is_file(os.path.join(directory, files[0])):
                context = directory if part == "" else folder
                return Build(name, context, os.path.join(directory, files[0]), None, (), launch.span, "")
    return None


def _fits_name(image: str, files: Sequence[str]) -> Sequence[str]:
    """Of several Dockerfiles those that end like a part of the image's name: ``Dockerfile_dev`` for ``robot:dev``."""
    name = f"-{re.sub(r'[:/]', '-', _dashed(image.lower()))}-"
    ends = ((file, _dashed(file.lower().removeprefix("dockerfile").removesuffix(".dockerfile"))) for file in files)
    return files if len(files) < 2 else [file for file, end in ends if end and f"-{end}-" in name]


_OWN = r"(?i)^(?:localhost|[$<{]|your|my|\w*user(?:name)?/)"


def is_bare(launch: Launch) -> bool:
    """Whether a launch starts an image of an operating system, a language or CUDA as its makers publish it."""
    return launch.image is not None and base_called(launch.image.known or "").bare


def on_own_base(image: BuiltImage, launch: Launch, builds: Sequence[Build], repository: Repository) -> BuiltImage:
    """An image with what its base gives it, where a Dockerfile of the repository gives that one; of one base alone.

    The lines of that are the line of its own FROM.
    """
    name, line = image.base_images[0]
    registry, slash, _ = parse(name).repository.partition("/")
    host = bool(slash) and "." in registry
    if host or "$" in name or base_called(name).bare or recognise(name, builtin())[0] is not None:
        return image
    names, words = spellings(name, name), {bare_name(name)} - {""}
    known = _with(names, builds, lambda build: spellings(build.tag, build.tag), repository.shared.tags)
    found = _fitting(lambda build: bool(spellings(build.tag, build.tag) & names), known, words, repository)
    near = min(found, key=lambda build: _distance(build.span.path, launch.span.path), default=None)
    base = read_build(near, repository)[0] if near is not None else None
    if base is None:
        return image
    given = {"CMD": base.command, "ENTRYPOINT": base.entrypoint, **base.environment}
    return image._replace(
        environment={**base.environment, **image.environment},
        command=base.command if image.command is None and image.entrypoint is None else image.command,
        entrypoint=base.entrypoint if image.entrypoint is None else image.entrypoint,
        lines={**dict.fromkeys(given, line), **image.lines}, due=base.triggers,
    )  # fmt: skip


def with_supposed_base(image: BuiltImage, build: Build, source: Source) -> BuiltImage | None:
    """An image with the base that its Dockerfile names where the build gives another one by a variable.

    None where the build gives none so. What else the build gives by variables stays unknown.
    """
    from shmlint.syntax import dockerfile

    if build.inline is not None or not any(_is_open(name) for name, _ in image.base_images):
        return None
    args = {name: value for name, value in build.args if value is not None and not _is_open(value)}
    own = dockerfile.read(source.text, build.target, args, workdir_of)
    if own is None or any(_is_open(name) for name, _ in own.base_images):
        return None
    return image._replace(base_images=own.base_images)


def _is_open(value: str) -> bool:
    return "$" in value or "`" in value


def read_build(build: Build, repository: Repository) -> tuple[BuiltImage | None, Source | None]:
    """What the Dockerfile of a build says, and the file that has its text."""
    from shmlint.syntax import dockerfile

    args = {name: value for name, value in build.args if value is not None}
    if build.inline is not None:
        span = build.inline.span
        first = span.source.position(span.start).line
        image = dockerfile.read(build.inline.known or "", build.target, args, workdir_of)
        lines = span.source.position(span.end).line - first
        return image and image.at(first, lines), span.source
    path = dockerfile_of(build, repository)
    source = repository.source(path) if path is not None else None
    if source is None:
        return None, None
    return dockerfile.read(source.text, build.target, args, workdir_of), source

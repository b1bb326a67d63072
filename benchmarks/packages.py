"""Which Python packages use no shared memory: read from what an index of packages, or a repository, offers to install.

    python benchmarks/packages.py --index https://…/pypi --output …/packages.txt NAME…
    python benchmarks/packages.py --index https://…/pypi --output …/packages.txt --names FILE
    python benchmarks/packages.py --clones 'DIR/{owner}/{name}' --output …/packages.txt OWNER/NAME…

The newest release of each package is downloaded and read, never installed or run. Of a repository (``OWNER/NAME`` or
``OWNER/NAME@REVISION``) it is what a clone of it holds, with the sources that are compiled for it. A package is written
to the list where no file of it

- names what puts data into /dev/shm: shared memory of Python or of the C library, PyTorch's loaders, queues and ranks,
  other programs with ranks or workers, browsers;
- starts other programs that are not written there, or may share memory, or runs code that it is given;
- imports a package whose objects start workers, processes or a browser by themselves, or names a call of one that does;

and where all packages that it requires (for a repository: that its code imports) are in the list, known to shmlint, or
a framework. A line of the list is an import name, its package, and the release or the revision that was read. Names
that repositories give to modules of their own are left out, and those that another package has which was read and uses
some. Name packages that many install: others share their import names with something that is installed from elsewhere.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

from package_code import FRAMEWORKS, NATIVE_CODE, imported, parsed, uses

from shmlint.workloads.packages.libraries import harmless

_LARGEST = 40 * 2**20
"""Bytes of a release that is read."""
_OTHERS = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|benchmarks?|scripts|ci)/|(?:^|/)(?:setup|conftest)\.py$"
)
"""Files that do not run when the package is used."""
_COMMON = frozenset(  # what repositories call modules of their own
    {
        "actions", "agent", "agents", "alphafold", "api", "app", "apps", "args", "audio", "bangla", "base", "bin",
        "binary", "blob", "build", "cache", "cam", "channels", "clang", "cli", "client", "clipboard", "code", "cog",
        "colors", "comm", "common", "completion", "compress_json", "config", "config_models", "configs",
        "configurator", "conformer", "contrast", "core", "cpp", "crc", "dagger", "data", "dataset", "datasets",
        "demangle", "demo", "dialog", "diffusion", "docs", "downstream", "dropbox", "editor", "engine", "english",
        "env", "envs", "eval", "evaluate", "evaluation", "events", "examples", "executor", "exif", "experiments",
        "export", "extras", "face", "fields", "fixtures", "flow", "flower", "formulas", "frontend", "functional",
        "fuzzy", "game", "google_drive", "healthcheck", "helper", "helpers", "hist", "hostlist", "http_client",
        "hybrid", "hypertune", "i18n", "identity", "image", "images", "infer", "inference", "infinity", "interface",
        "interrogate", "iterators", "jacobi", "kernels", "layers", "lazy", "lexicon", "lib", "libs", "loader",
        "log", "logger", "losses", "loudness", "main", "measurement", "merge", "method", "metrics", "misc", "model",
        "model_utils", "models", "module", "modules", "names", "network", "networks", "notifiers", "null", "office",
        "ops", "optim", "options", "pan", "path", "phantom", "pid", "pipeline", "pipelines", "plot", "plugins",
        "policy", "poll", "postgres", "preprocess", "preprocessing", "process", "progress", "project", "realtime",
        "recurrent", "requirements", "resolver", "result", "rewrite", "robots", "run", "runner", "saliency",
        "samples", "scheduler", "schema", "scripts", "search", "security", "segment", "segments", "server",
        "service", "services", "settings", "setup", "shared", "shell", "silero", "singleton", "sockets", "solo",
        "solver", "spin", "splines", "src", "ssh", "status", "stopwatch", "storage", "stream", "streams", "stubs",
        "style", "submissions", "task", "tasks", "temp", "template", "test", "test_downstream", "test_od",
        "test_whisper", "tests", "text", "timeout", "tokens", "tools", "train", "trainer", "training", "transform",
        "transforms", "triangle", "tsv", "types", "update", "util", "utilities", "utils", "vector", "video",
        "vision", "visitor", "warden", "watermark", "web", "websocket_server", "worker", "workers",
    }
)  # fmt: skip


class Package(NamedTuple):
    """What was read of a release: ``modules`` are its import names, ``because`` is why it is not in the list."""

    name: str
    version: str = ""
    modules: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    because: str = ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="distributions, or repositories")
    parser.add_argument("--names", dest="file", type=Path, help="a file with more names, one a line")
    parser.add_argument("--index", help="the address below which an index has NAME/json")
    parser.add_argument("--clones", default="", help="where the clone of a repository lies: DIR/{owner}/{name}")
    parser.add_argument("--output", type=Path, required=True, help="the list; what it has is kept")
    parser.add_argument("--read", type=Path, help="a file of JSON lines with what was read, to go on from")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)

    names = [*options.names, *(options.file.read_text("utf-8").split() if options.file else ())]
    packages: dict[str, Package] = {}
    if options.read is not None and options.read.exists():
        for line in options.read.read_text("utf-8").splitlines():
            key, name, version, modules, requires, because = json.loads(line)
            packages[key] = Package(name, version, tuple(modules), tuple(requires), because)
    keys = dict.fromkeys(name if "/" in name else normal(name) for name in names)
    left = [key for key in keys if key not in packages]
    with ProcessPoolExecutor(options.jobs) as pool:
        while left:
            found = pool.map(partial(read_any, options.index, options.clones), left)
            for key, package in zip(left, found, strict=True):
                packages[key] = package
                if options.read is not None:
                    with open(options.read, "a", encoding="utf-8") as file:
                        file.write(json.dumps([key, *package]) + "\n")
            left = sorted({name for one in packages.values() for name in wanted(one, options.index)} - packages.keys())
    lines = listed(packages, options.output)
    options.output.write_text("".join(f"{lines[name]}\n" for name in sorted(lines)), encoding="utf-8")
    print(f"{len(packages)} packages read, {len(lines)} import names in {options.output}", file=sys.stderr)


def wanted(package: Package, index: str | None) -> tuple[str, ...]:
    """The distributions to read next: a repository's requirements are import names, which no index knows."""
    return package.requires if index and "@" not in package.version else ()


def listed(packages: dict[str, Package], output: Path) -> dict[str, str]:
    """The lines of the list by their import names: those that it had, and those of what was read."""
    before = output.read_text("utf-8").splitlines() if output.exists() else []
    found = {line.partition(" ")[0]: line for line in before}
    taken = {module for package in packages.values() if package.because for module in package.modules}
    for package in quiet(packages):
        for module in package.modules:
            if module not in taken and is_listed(module, package.name):
                found[module] = f"{module} {package.name} {package.version}"
    return found


def normal(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def quiet(packages: dict[str, Package]) -> Iterator[Package]:
    """The packages that use nothing themselves, and of which that holds for all that they require."""
    before = harmless() | FRAMEWORKS
    known = {normal(name) for name in before}
    known |= {package.name for package in packages.values() if not before.isdisjoint(package.modules)}
    good = {key for key, package in packages.items() if not package.because}
    while True:
        offered = known.union(*({packages[key].name, *map(normal, packages[key].modules)} for key in good))
        left = {key for key in good if offered.issuperset(packages[key].requires)}
        if left == good:
            break
        good = left
    yield from (packages[key] for key in sorted(good))


def is_listed(module: str, distribution: str) -> bool:
    """Whether an import name goes into the list: it surely means the distribution, and is not known otherwise."""
    return is_name(module, distribution) and module not in harmless()


def is_name(module: str, distribution: str) -> bool:
    """Whether an import name surely means a distribution: it has that name, more or less, and no everyday one."""
    one, other = (re.sub(r"[-_.]", "", text).lower() for text in (module, distribution))
    everyday = len(one) < 3 or module.lower() in _COMMON or module in sys.stdlib_module_names
    return not everyday and (one in other or other in one)


def read_any(index: str | None, clones: str, key: str) -> Package:
    """What a package of an index, or one of a repository, is made of."""
    if "/" in key:
        return read_clone(clones, key)
    return read(index, key) if index else Package(key, because="no index is given")


def read(index: str, name: str) -> Package:
    """What the newest release of a package is made of."""
    try:
        with urllib.request.urlopen(f"{index}/{name}/json", timeout=30) as answer:
            told: dict[str, Any] = json.load(answer)
        version = str(told["info"]["version"])
        requires = told["info"].get("requires_dist") or ()
        needed = {normal(re.split(r"[^\w.-]", text)[0]) for text in requires if "extra" not in text.partition(";")[2]}
        release = _release(told["urls"])
        if release is None:
            return Package(name, version, because="it has no release that can be read")
        with urllib.request.urlopen(urljoin(f"{index}/{name}/json", release), timeout=60) as answer:
            files = list(_files(release, answer.read()))
    except (OSError, ValueError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
        return Package(name, because=f"it could not be read: {type(error).__name__}")
    modules = sorted({_module(path) for path, _ in files} - {""})
    because = next(filter(None, (uses(path, data) for path, data in files)), "")
    return Package(name, version, tuple(modules), tuple(sorted(needed)), because or ("" if modules else "no module"))


def _release(urls: Sequence[dict[str, Any]]) -> str | None:
    """The address of the file that is installed on Linux, else of the sources."""
    small = [file for file in urls if file["size"] <= _LARGEST and not file.get("yanked")]
    wheels = (file for file in small if re.search(r"(?:none-any|linux\w*x86_64)\.whl$", file["filename"]))
    chosen = next(wheels, None) or next((file for file in small if file["filename"].endswith(".tar.gz")), None)
    return str(chosen["url"]) if chosen is not None else None


def _files(address: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """The code of a release: paths as they are installed, and what they hold."""
    if address.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                if _is_code(name):
                    yield name, archive.read(name)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as sources:
        for member in sources:
            path = re.sub(r"^(?:src|lib|python)/", "", member.name.partition("/")[2])
            if member.isfile() and _is_code(path) and (held := sources.extractfile(member)) is not None:
                yield path, held.read()


def _is_code(path: str) -> bool:
    code = re.search(r"\.(?:py|so|pyx)$", path) is not None and ".dist-info/" not in path
    return code and _OTHERS.search(path) is None


def _module(path: str) -> str:
    """The name by which a file's package is imported; empty for one that is none."""
    first, below, _ = path.partition("/")
    name = first if below else first.partition(".")[0]
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else ""


# Repositories ----------------------------------------------------------------------------------


_HEADERS = frozenset(
    {"args", "cccl", "cub", "cutlass", "dlpack", "doctest", "eigen", "eigen-git-mirror", "fmt", "glm", "googletest",
     "json", "nanobind", "pybind11", "robin-map", "spdlog", "thrust", "tinyobjloader", "tinyply"}
)  # fmt: skip
"""Repositories that sources are compiled with, which only hold functions for these, or tests."""
_PLACES = ("", "src/", "python/", "lib/")
"""Directories of a distribution in which its packages may lie."""
_MOST_FILES = 10_000


def read_clone(clones: str, key: str) -> Package:
    """What the packages of a repository are made of: those of its name, and what they import of the others in it."""
    repository, _, revision = key.partition("@")
    owner, _, name = repository.partition("/")
    clone = clones.format(owner=owner, name=name)
    try:
        commit = _git(clone, "rev-parse", revision or "HEAD").decode().strip()
        blobs = _blobs(clone, commit)
    except (OSError, subprocess.CalledProcessError) as error:
        return Package(normal(name), because=f"it could not be read: {type(error).__name__}")
    version = f"{repository}@{commit[:12]}"
    homes = sorted({path.rpartition("/")[0] for path in blobs if re.search(_SETUP, path)} | {""}, key=len)
    homes = [f"{home}/" if home else "" for home in homes if home.count("/") < 2 and not _OTHERS.search(f"{home}/")]
    wanted = {path: blob for path, blob in blobs.items() if _is_read(path)}
    texts = _contents(clone, wanted)
    names = [normal(name), *(found for home in homes for found in _names(home, texts))]
    offered = _offered(homes, blobs)
    modules = {module: next(one for one in names if is_name(module, one)) for module in offered
               if any(is_name(module, one) for one in names)}  # fmt: skip
    if not modules or len(texts) > _MOST_FILES:
        return Package(normal(name), version, because="no module" if not modules else "too many files")
    files, requires = _followed(modules, offered, texts)
    missing = next((path for path in wanted if path not in texts), "")
    because = next(filter(None, (uses(path, texts[path]) for path in files)), "") or _compiled(homes, texts)
    because = because or (f"{missing} is missing" if missing else "")
    return Package(next(iter(modules.values())), version, tuple(sorted(modules)), requires, because)


def _extensions(data: bytes) -> Iterator[str]:
    """The import names that a build or a source gives to extensions: they may differ from the package's."""
    for found in re.findall(_EXTENSION, data.decode("utf-8", "replace")):
        yield found.rpartition(".")[2]
        yield found.partition(".")[0]


_BUILDS = r"(?:^|/)(?:setup\.py|CMakeLists\.txt)$|\.(?:c|cc|cpp|cxx|cu)$"
_EXTENSION = re.compile(
    r"(?:Extension\(\s*(?:name\s*=\s*)?[\"']|(?:pybind11|nanobind|[Pp]ython\d?)_add_(?:module|library)\(\s*"
    r"|(?:PYBIND11|NB)_MODULE\(\s*|PyInit_)([\w.]+)"
)
_SETUP = r"(?:^|/)(?:setup\.py|setup\.cfg|pyproject\.toml)$"


def _git(clone: str, *arguments: str, given: bytes = b"") -> bytes:
    done = subprocess.run(["git", f"--git-dir={clone}", *arguments], input=given, capture_output=True, check=True)
    return done.stdout


def _blobs(clone: str, commit: str) -> dict[str, str]:
    """The files of a commit, and what git calls their contents."""
    found = {}
    for entry in _git(clone, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0"):
        told, _, path = entry.partition("\t")
        if path and told.split()[1] == "blob" and not told.startswith("120000"):
            found[path] = told.split()[2]
    return found


def _contents(clone: str, blobs: dict[str, str]) -> dict[str, bytes]:
    answer = _git(clone, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs.values()).encode())
    found, at = {}, 0
    for path in blobs:
        head, at = answer[at : (end := answer.index(b"\n", at))].split(), end + 1
        if len(head) == 3:  # else the clone does not hold it
            found[path], at = answer[at : at + int(head[2])], at + int(head[2]) + 1
    return found


def _is_read(path: str) -> bool:
    setup = re.search(_SETUP, path) is not None or path == ".gitmodules"
    return setup or (re.search(rf"\.(?:py|so|pyx)$|{NATIVE_CODE}", path) is not None and _OTHERS.search(path) is None)


def _names(home: str, texts: dict[str, bytes]) -> Iterator[str]:
    """What the distribution in a directory is called."""
    for file, pattern in (("setup.py", r"\bname\s*=\s*[\"']"), ("setup.cfg", r"(?m)^name\s*=\s*"),
                          ("pyproject.toml", r"(?m)^name\s*=\s*[\"']")):  # fmt: skip
        text = texts.get(f"{home}{file}", b"").decode("utf-8", "replace")
        yield from map(normal, re.findall(rf"{pattern}([\w.-]+)", text))


def _offered(homes: Sequence[str], blobs: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """The import names of a repository's packages and modules, and where each may lie."""
    found: dict[str, tuple[str, ...]] = {}
    places = [f"{home}{place}" for home in homes for place in _PLACES]
    for path in blobs:
        for place in places if path.endswith(".py") else ():
            first, below, _ = path.removeprefix(place).partition("/")
            module = first if below else first.removesuffix(".py")
            if path.startswith(place) and module.isidentifier() and not _is_test(f"{first}{below}"):
                lies = f"{place}{first}{below}"
                if lies not in found.get(module, ()):
                    found[module] = (*found.get(module, ()), lies)
    return found


def _is_test(path: str) -> bool:
    return re.search(rf"{_OTHERS.pattern}|^tests?_|_tests?(?:/|\.py)$", path) is not None


def _followed(
    modules: Iterable[str], offered: dict[str, tuple[str, ...]], texts: dict[str, bytes]
) -> tuple[list[str], tuple[str, ...]]:
    """All files of some modules and of those that these import, and the import names that are from elsewhere."""
    files: dict[str, None] = {}
    requires: set[str] = set()
    pending = list(modules)
    for module in pending:  # grows while it is walked
        starts = offered[module]
        for path in (path for path in texts if path.startswith(starts) and re.search(r"\.(?:py|so|pyx)$", path)):
            files[path] = None
            tree = parsed(texts[path].decode("utf-8", "replace")) if path.endswith(".py") else None
            for name in imported(tree) if tree is not None else ():
                if name not in offered:
                    requires.add(name)
                elif name not in pending:
                    pending.append(name)
    beside = {part for path in files for part in path.removesuffix(".py").split("/")}
    built = {name for path in texts if re.search(_BUILDS, path) for name in _extensions(texts[path])}
    own = requires & (beside | built)
    return list(files), tuple(sorted(map(normal, requires - own - sys.stdlib_module_names)))


def _compiled(homes: Sequence[str], texts: dict[str, bytes]) -> str:
    """What of the sources that are compiled may share memory, or lies in another repository."""
    native = [path for path in texts if re.search(NATIVE_CODE, path)]
    if not any(re.search(r"\.(?:c|cc|cpp|cxx|cu|rs|go)$", path) for path in native):
        return ""
    fetched = re.findall(r"(?m)^\s*url\s*=\s*(\S+)", texts.get(".gitmodules", b"").decode("utf-8", "replace"))
    others = {re.sub(r"\.git$", "", url.rstrip("/")).rpartition("/")[2].lower() for url in fetched} - _HEADERS
    if others:
        return f"it is compiled with {sorted(others)[0]}"
    linked = (texts.get(f"{home}setup.py", b"").decode("utf-8", "replace") for home in homes)
    words = next(filter(None, (re.search(r"(?i)nccl|\bmpi|nvshmem|git\W{1,4}clone", text) for text in linked)), None)
    because = next(filter(None, (uses(path, texts[path]) for path in native)), "")
    return because or (f"setup.py: {words[0]}" if words is not None else "")


if __name__ == "__main__":
    main()

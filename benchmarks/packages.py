"""Which Python packages use no shared memory: read from what an index of packages offers to install.

    python benchmarks/packages.py --index https://…/pypi --output shmlint/workloads/packages.txt NAME…
    python benchmarks/packages.py --index https://…/pypi --output shmlint/workloads/packages.txt --names FILE

The newest release of each package is downloaded and read, never installed or run. A package is written to the list
where no file of it

- names what puts data into /dev/shm: shared memory of Python or of the C library, PyTorch's loaders, queues and ranks,
  other programs with ranks or workers, browsers;
- starts other programs, or runs code that it is given;
- imports a package whose objects start workers, processes or a browser by themselves;

and where all packages that it requires are in the list, known to shmlint, or a framework. A line of the list is an
import name with the release that was read. Names that repositories give to modules of their own are left out, and
those that another package has which was read and uses some. Name packages that many install: others share their import
names with something that is installed from elsewhere.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

from shmlint.workloads.libraries import ROWS, harmless

_LARGEST = 40 * 2**20
"""Bytes of a release that is read."""
_OTHERS = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|benchmarks?|scripts|ci)/|(?:^|/)(?:setup|conftest)\.py$"
)
"""Files that do not run when the package is used."""
_FRAMEWORKS = frozenset(
    {"torch", "torchvision", "torchaudio", "tensorflow", "keras", "jax", "jaxlib", "flax", "triton", "transformers"}
)
"""Packages that use no shared memory unless one of their calls is used, which is looked for."""
_SHARES = re.compile(
    r"shared_?memory|share_memory|/dev/shm|shm_open|sharedctypes|ShareableList|\bRaw(?:Array|Value)\b|posix_ipc|sysv_ipc"
    r"|(?:multiprocessing|\bmp)\.(?:Array|Value|Manager)\b|multiprocessing\s+import\s[^\n]*\b(?:Array|Value|Manager)\b"
    r"|torch\.(?:multiprocessing|distributed)|torch import [^\n]*\b(?:multiprocessing|distributed)\b"
    r"|DataLoader|num_workers|DataParallel|init_process_group|nccl|torchrun|nproc_per_node|accelerate launch"
    r"|deepspeed|horovod|mpirun|mpi4py|tensor_parallel|MirroredStrategy|vllm|sglang|tritonserver"
    r"|chromium|[Cc]hrome\b|webdriver|puppeteer"
    r"|subprocess|\bpopen\b|\bPopen\b|os\.(?:system|exec|spawn|posix_spawn)|runpy|pexpect|nbclient|jupyter_client"
)
_STARTERS = frozenset(
    {row.call.partition(".")[0] for row in ROWS if "." in row.call and (row.use != "dataloader" or row.default)}
    | {"playwright", "pyppeteer", "nodriver", "dask", "distributed", "torch_xla", "deepspeed", "horovod", "pyspark"}
) - _FRAMEWORKS - {"multiprocessing"}
_IMPORTS = re.compile(rf"(?m)^[ \t]*(?:import|from)[ \t]+(?:{'|'.join(sorted(_STARTERS))})\b")
_COMMON = frozenset(  # what repositories call modules of their own
    {
        "actions", "agent", "agents", "alphafold", "api", "app", "apps", "args", "audio", "bangla", "base", "bin",
        "binary", "blob", "build", "cache", "channels", "clang", "cli", "client", "clipboard", "code", "cog",
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
    parser.add_argument("names", nargs="*", help="distributions")
    parser.add_argument("--names", dest="file", type=Path, help="a file with more names, one a line")
    parser.add_argument("--index", required=True, help="the address below which an index has NAME/json")
    parser.add_argument("--output", type=Path, required=True, help="the list; what it has is kept")
    parser.add_argument("--read", type=Path, help="a file of JSON lines with what was read, to go on from")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)

    names = [*options.names, *(options.file.read_text("utf-8").split() if options.file else ())]
    packages: dict[str, Package] = {}
    if options.read is not None and options.read.exists():
        for line in options.read.read_text("utf-8").splitlines():
            name, version, modules, requires, because = json.loads(line)
            packages[name] = Package(name, version, tuple(modules), tuple(requires), because)
    left = [name for name in dict.fromkeys(map(normal, names)) if name not in packages]
    with ProcessPoolExecutor(options.jobs) as pool:
        while left:
            for package in pool.map(partial(read, options.index), left, chunksize=4):
                packages[package.name] = package
                if options.read is not None:
                    with open(options.read, "a", encoding="utf-8") as file:
                        file.write(json.dumps(package) + "\n")
            left = sorted({name for one in packages.values() for name in one.requires if name not in packages})
    before = options.output.read_text("utf-8").splitlines() if options.output.exists() else []
    found = {line.partition(" ")[0]: line for line in before}
    taken = {module for package in packages.values() if package.because for module in package.modules}
    for package in quiet(packages):
        for module in package.modules:
            if module not in taken and is_listed(module, package.name):
                found[module] = f"{module} {package.name} {package.version}"
    options.output.write_text("".join(f"{found[name]}\n" for name in sorted(found)), encoding="utf-8")
    print(f"{len(packages)} packages read, {len(found)} import names in {options.output}", file=sys.stderr)


def normal(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def quiet(packages: dict[str, Package]) -> Iterator[Package]:
    """The packages that use nothing themselves, and of which that holds for all that they require."""
    before = harmless() | _FRAMEWORKS
    known = {normal(name) for name in before}
    known |= {name for name, package in packages.items() if not before.isdisjoint(package.modules)}
    good = {name for name, package in packages.items() if not package.because}
    while True:
        left = {name for name in good if good.union(known).issuperset(packages[name].requires)}
        if left == good:
            break
        good = left
    yield from (packages[name] for name in sorted(good))


def is_listed(module: str, distribution: str) -> bool:
    """Whether an import name surely means a distribution: it has that name, more or less, and no everyday one."""
    one, other = (re.sub(r"[-_.]", "", text).lower() for text in (module, distribution))
    everyday = len(one) < 3 or module.lower() in _COMMON or module in sys.stdlib_module_names
    return not everyday and (one in other or other in one) and module not in harmless()


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
    because = next(filter(None, (_uses(path, data) for path, data in files)), "")
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


def _uses(path: str, data: bytes) -> str:
    """What of a file may use shared memory; empty where nothing does."""
    if path.endswith(".so"):
        return path if b"shm_open" in data or b"/dev/shm" in data else ""
    text = data.decode("utf-8", "replace")
    found = _SHARES.search(text) or _IMPORTS.search(text)
    return f"{path}: {found[0].strip()}" if found is not None else ""


if __name__ == "__main__":
    main()

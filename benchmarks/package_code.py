"""What the code of a package does when it is used: read from its text, for ``packages.py``.

What only describes is left out first: comments, texts for people, types, code that runs only where a file is the
program. So are calls that start nothing: questions whether there are ranks and what these tell each other, which count
only where the program starts some, and tools that are named there and share nothing, such as ``git`` and ``ffmpeg``.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings

from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import COLLECTIVE, NOT_FOLLOWED, ROWS

FRAMEWORKS = frozenset(
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
    {row.call.partition(".")[0] for row in ROWS if "." in row.call and row.use not in ("dataloader", "ranks")}
    | {"playwright", "pyppeteer", "nodriver", "dask", "distributed", "torch_xla", "deepspeed", "horovod", "pyspark"}
) - FRAMEWORKS - {"multiprocessing"}
_IMPORTS = re.compile(rf"(?m)^[ \t]*(?:import|from)[ \t]+(?:{'|'.join(sorted(_STARTERS))})\b")


def _is_method(name: str) -> bool:
    """Whether a dotted name is that of a method: the objects of its class start something."""
    return name.rpartition(".")[0].rpartition(".")[2][:1].isupper()


_CALLS: dict[str, set[str]] = {}
"""Words of what starts workers or ranks, or what it is told, by packages of which other calls start nothing."""
for _name in (*NOT_FOLLOWED, *COLLECTIVE, *(row.call for row in ROWS if row.use != "dataloader" or row.default)):
    _package, _, _rest = _name.partition(".")
    if _rest and _package not in FRAMEWORKS | _STARTERS | sys.stdlib_module_names:
        _CALLS.setdefault(_package, {"import *"}).update(_rest.split(".")[-2 if _is_method(_name) else -1 :][:1])
_NATIVE = re.compile(
    r"shm_open|shmget|/dev/shm|nccl\w*\.h|\bnccl[A-Z]|rccl|nvshmem|openshmem|interprocess|shared_memory_object|iceoryx"
    r"|\bucp_|c10d|ProcessGroup|torch::data|DataLoader|\bMPI_(?:Init|Comm|Send|Recv)|find_package\(\s*(?:MPI|NCCL)"
    r"|\bpopen\s{0,9}\(|(?<![\w.>:])system\s{0,9}\(|\bexec[lv]p?e?\s{0,9}\(|posix_spawn|\bfork\s{0,9}\(|Command::new"
    r"|Py_Initialize|pybind11/embed|FetchContent_|ExternalProject_|CPMAddPackage|file\(\s*DOWNLOAD|\bgit\s+clone\b"
)
"""Words of sources of C, C++, CUDA and Rust, and of what builds them: what shares memory, starts others or fetches."""
_REMARKS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NATIVE_CODE = r"\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx|inl|rs|go|cmake)$|(?:^|/)CMakeLists\.txt$"

_ASKED = "|".join(
    (
        "is_available", "is_initialized", "is_nccl_available", "get_rank", "get_world_size", "get_backend", "barrier",
        r"all_(?:reduce|gather)\w*", r"broadcast\w*", "reduce", r"reduce_scatter\w*", "gather", r"gather_object",
        "scatter", "all_to_all\\w*", "send", "recv", "isend", "irecv", "ReduceOp", "reduce_op", "ProcessGroup",
        "group", "GroupMember", "Work",
    )
)  # fmt: skip
_QUIET = re.compile(
    rf"torch\.distributed\.(?:{_ASKED})(?:\.\w+)*"
    r"|torch\.multiprocessing\.(?:cpu_count|current_process|set_start_method|get_start_method|set_sharing_strategy)"
    r"|subprocess\.(?:PIPE|DEVNULL|STDOUT|SubprocessError|CalledProcessError|TimeoutExpired|CompletedProcess)"
)
"""Names of modules that start something, which start nothing."""
_STARTING = ("torch.distributed", "torch.multiprocessing", "subprocess")
_RUNS = re.compile(
    r"subprocess\.(?:run|call|check_call|check_output|getoutput|getstatusoutput|Popen)|os\.(?:system|popen)"
)
_TOOLS = frozenset(
    {
        "aria2c", "c++", "cat", "chmod", "clang", "clang++", "clear", "cls", "cmake", "convert", "cp", "cuobjdump",
        "curl", "df", "dot", "du", "espeak", "espeak-ng", "ffmpeg", "ffplay", "ffprobe", "file", "flac", "free",
        "g++", "gcc", "git", "grep", "gs", "gunzip", "gzip", "head", "hipcc", "hostname", "ldconfig", "ldd", "ls",
        "lsb_release", "lscpu", "lspci", "make", "md5sum", "mkdir", "mv", "ninja", "nm", "nvcc", "nvidia-smi",
        "objdump", "open", "pdftoppm", "pip", "pip3", "readelf", "rm", "rocm-smi", "rocminfo", "sed", "sox", "soxi",
        "stty", "sw_vers", "sysctl", "tar", "touch", "tput", "uname", "unzip", "vcgencmd", "wc", "wget", "where",
        "which", "whoami", "xclip", "xdg-open", "xz", "zip",
    }
)  # fmt: skip
"""Programs that share no memory, whatever they are told."""
_DESCRIBES = frozenset({"isinstance", "issubclass", "cast", "hasattr"})
"""Calls of which one argument is a value and the other says what it is."""
_TELLS = frozenset(
    {"print", "warn", "info", "debug", "warning", "error", "exception", "critical", "log", "add_argument", "Field"}
)
"""Calls to which texts are given for people."""


def uses(path: str, data: bytes) -> str:
    """What of a file may use shared memory; empty where nothing does."""
    if path.endswith(".so"):
        return path if b"shm_open" in data or b"/dev/shm" in data else ""
    text = data.decode("utf-8", "replace")
    if re.search(NATIVE_CODE, path) is not None:
        found = _NATIVE.search(_REMARKS.sub("", text))
    else:
        plain = said(text)
        found = _SHARES.search(plain) or _IMPORTS.search(text) or _named(plain)
    return f"{path}: {found[0].strip()}" if found is not None else ""


def _named(text: str) -> re.Match[str] | None:
    """A call of another package that starts workers or ranks."""
    for package in set(re.findall(r"(?m)^[ \t]*(?:import|from)[ \t]+(\w+)", text)) & _CALLS.keys():
        found = re.search("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in sorted(_CALLS[package])), text)
        if found is not None:
            return found
    return None


def said(text: str) -> str:
    """Code without what only describes and what starts nothing; as it is where it cannot be parsed."""
    if _SHARES.search(text) is None:
        return text
    tree = parsed(text)
    if tree is None:
        return text
    names = _aliases(tree)
    try:
        done = ast.fix_missing_locations(_Said(names).visit(tree))
        used = {node.id for node in ast.walk(done) if isinstance(node, ast.Name)}
        return ast.unparse(_Imported(used).visit(done))
    except RecursionError:
        return text


def parsed(text: str) -> ast.Module | None:
    """The tree of some code; None where it is broken or of another Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def imported(tree: ast.Module) -> frozenset[str]:
    """The packages without which code cannot be used: not those of which it catches that they are missing."""
    found: set[str] = set()
    pending: list[ast.AST] = [tree]
    for node in pending:  # grows while it is walked
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
        if isinstance(node, ast.Try) and any(map(_catches_import, node.handlers)):
            pending += [*node.orelse, *node.finalbody]
            pending += [part for part in node.body if not isinstance(part, ast.Import | ast.ImportFrom)]
        elif not _is_program(node) and not _is_for_types(node):
            pending += ast.iter_child_nodes(node)
    return frozenset(found)


def _catches_import(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        one is None or dotted(one) in ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
        for one in caught
    )


def _is_program(node: ast.AST) -> bool:
    """Whether what follows runs only where the file is the program."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" and not node.orelse


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and dotted(node.test).endswith("TYPE_CHECKING") and not node.orelse


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What a file calls the things that it imports."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update((alias.asname, alias.name) for alias in node.names if alias.asname)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
    return found


class _Said(ast.NodeTransformer):
    """Leaves out what only describes."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._aliases = aliases

    def visit(self, node: ast.AST) -> ast.AST | None:
        """A part of the code as it is left; None where nothing is."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return ast.Pass()
        if _is_program(node) or _is_for_types(node):
            return ast.Pass()
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = _plain(node)
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _last(node) in _TELLS):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    inner.value = ""
        if isinstance(node, ast.Call) and dotted(node.func) in _DESCRIBES:
            node.args = node.args[1:] if _last(node) == "cast" else node.args[:1]
        if isinstance(node, ast.Call) and self._is_tool(node):
            node.func = _plain(node)
        if isinstance(node, ast.Attribute | ast.Name) and _QUIET.fullmatch(self._full(node)) is not None:
            return _plain(node)
        return self.generic_visit(node)

    def _full(self, node: ast.expr) -> str:
        head, dot, rest = dotted(node).partition(".")
        return f"{self._aliases.get(head, head)}{dot}{rest}"

    def _is_tool(self, node: ast.Call) -> bool:
        """Whether a call starts a program that is written there and shares nothing."""
        if _RUNS.fullmatch(self._full(node.func)) is None or not node.args:
            return False
        given = node.args[0]
        if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
            given = given.left
        if isinstance(given, ast.List | ast.Tuple):
            given = given.elts[0] if given.elts else given
            return isinstance(given, ast.Constant) and str(given.value).rpartition("/")[2] in _TOOLS
        if isinstance(given, ast.JoinedStr):
            values = [str(part.value) if isinstance(part, ast.Constant) else "x" for part in given.values]
            text = "".join(values) if isinstance(given.values[0], ast.Constant) else ""
        else:
            text = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
        parts = [part.split()[0] for part in re.split(r"\|\||&&|[|;&\n]", text) if part.strip()]
        return bool(parts) and all(part.rpartition("/")[2] in _TOOLS for part in parts)


class _Imported(ast.NodeTransformer):
    """Leaves out imports of what is named for a type or a question only, or not at all."""

    def __init__(self, used: set[str]) -> None:
        self._used = used

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        """An import without modules of which no use is left."""
        names = [alias for alias in node.names if not self._is_unused(alias, alias.name)]
        return ast.copy_location(ast.Import(names) if names else ast.Pass(), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        """An import without names of which no use is left."""
        names = [alias for alias in node.names if not self._is_unused(alias, f"{node.module}.{alias.name}")]
        changed = ast.ImportFrom(node.module, names, node.level) if names else ast.Pass()
        return ast.copy_location(changed, node)

    def _is_unused(self, alias: ast.alias, name: str) -> bool:
        if not name.startswith(_STARTING) and not name.endswith((".DataLoader", "DataParallel")):
            return False
        kept = alias.asname or alias.name.partition(".")[0]
        return kept not in self._used or (alias.asname is None and "." in name and kept == "torch")


def _last(node: ast.Call) -> str:
    return dotted(node.func).rpartition(".")[2]


def _plain(node: ast.AST) -> ast.Name:
    return ast.Name("_", ast.Load())

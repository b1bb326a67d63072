"""Triton's model repository, where the code repository holds it: which of its models use the Python backend."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from shmlint.docker.sizes import human
from shmlint.files.read import normal
from shmlint.model.finding import Evidence
from shmlint.model.launch import DOCKER_DEFAULT_SHM, Launch
from shmlint.model.need import UNKNOWN_RECOMMENDED, Known, Mechanism, Need
from shmlint.model.number import whole_number
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.workloads.by_knowledge import NCCL_SOURCE, nccl
from shmlint.workloads.commands import options
from shmlint.workloads.program import Program
from shmlint.workloads.repository import Repository

SOURCE = "https://github.com/triton-inference-server/python_backend/blob/f9088ff60944/README.md?plain=1#L1144-L1148"
OLDER = (23, 9)
"""The release from which a model instance takes 1 MiB and grows; before it took ``OLDER_SIZE`` at its start."""
OLDER_SIZE = 64 * 1024 * 1024
"""Bytes (``shm_default_byte_size``)."""
OLDER_SOURCE = "https://github.com/triton-inference-server/python_backend/blob/7cb2ef096514/src/python_be.cc#L1904"
SERVERS: Mapping[str, tuple[int, int] | None] = {
    "tritonserver": None,
    # https://github.com/PaddlePaddle/FastDeploy/blob/cc8d1f3c9f31ea4919972f14ee3eaaa9a09966e2/serving/Dockerfile#L75-L76
    # and serving/Dockerfile_CUDA_11_4_TRT_8_4#L18-L21, which takes it from 21.10
    "fastdeployserver": (21, 10),
}
"""Programs that are Triton, and the release that is under a name of others."""
_KNOWN = Known("triton", "Triton Inference Server")
_MOST_MODELS = 100
_MOST_FOLDERS = 10
"""Model repositories of a server that are looked at."""


class _Model(NamedTuple):
    """A model of a model repository; ``backend`` is empty where nothing says which."""

    backend: str
    instances: int
    span: Span | None
    """What says which backend it is."""
    ranks: int = 1
    """The ranks of vLLM that an instance starts."""


def triton(launch: Launch, program: Program) -> Need | None:
    """What Triton's server needs for the models that it loads; None where they are not in the repository.

    It may be a command of the launch, or one that the documentation runs in its container.
    """
    for ran in (*program.commands, *program.documented_commands):
        server = next((name for word in ran.words if (name := word.rpartition("/")[2]) in SERVERS), None)
        if server is None:
            continue
        folders = [value for _, value in options(ran.words, frozenset({"--model-repository", "--model-store"}))]
        found = [program.files.find(folder, program.files.workdir, folder=True) for folder in folders[:_MOST_FOLDERS]]
        places = [place for place in found if place is not None]
        paths = dict.fromkeys(place.path for place in places)
        models = [model for path in paths for model in _models(path, program.files.repository)]
        size = _told_size(ran.words) or (OLDER_SIZE if _is_older(launch, SERVERS[server]) else 0)
        sure = ran.certain and not ran.guessed and not any(place.guessed for place in places)
        need = _need(models, size, launch, sure=sure)
        # A page does not show all that runs in a container, nor one model repository what is in another.
        whole = ran in program.commands and len(places) == len(folders)
        if need is not None and (need.verdict != "not-needed" or whole):
            return need
    return None


def _models(folder: str, repository: Repository) -> Iterator[_Model]:
    names = repository.names(folder)
    if len(names) > _MOST_MODELS:
        yield _Model("", 1, None)  # the others are not read
    for name in names[:_MOST_MODELS]:
        directory = normal(os.path.join(folder, name))
        if not repository.is_dir(directory):
            continue
        path = normal(os.path.join(directory, "config.pbtxt"))
        config = repository.peek(path)
        text = re.sub(r"#.*", lambda comment: " " * len(comment[0]), config.text) if config is not None else ""
        named = re.search(r'\b(?:backend|platform)\s*:\s*"(\w+)"', text)
        counts = [int(count) for count in re.findall(r"\bcount\s*:\s*([1-9]\d{0,3})\b", text)]
        instances = sum(counts) or 1
        versions = [os.path.join(directory, name) for name in repository.names(directory) if name.isdigit()]
        code = _read_in(versions, "model.py", repository)
        engine = _read_in(versions, "model.json", repository)
        if engine is not None and (named[1] == "vllm" if named is not None else code is None):
            yield _Model("vllm", instances, Span(engine, *engine.line_span(1)), _ranks(engine))
        elif named is not None and config is not None:
            backend = "" if named[1] == "pytorch" and code is not None else named[1]  # which may run it in Python
            yield _Model(backend, instances, Span(config, named.start(), named.end()))
        elif code is not None:
            yield _Model("python", instances, Span(code, *code.line_span(1)))
        else:
            files = {name for version in versions for name in repository.names(version)}
            yield _Model(next((_FILES[name] for name in sorted(files & _FILES.keys())), ""), instances, None)


def _read_in(versions: Sequence[str], name: str, repository: Repository) -> Source | None:
    """A file of one of the versions of a model."""
    sources = (repository.peek(os.path.join(version, name)) for version in versions)
    return next((source for source in sources if source is not None), None)


def _ranks(engine: Source) -> int:
    """The ranks that the arguments of vLLM's engine ask for, in the ``model.json`` of its backend."""
    found = re.search(r'"tensor_parallel_size"\s*:\s*"?(\d{1,3})\b', engine.text)
    return int(found[1]) if found is not None else 1


_FILES = {
    "model.onnx": "onnxruntime", "model.plan": "tensorrt", "model.pt": "pytorch", "model.graphdef": "tensorflow",
    "model.savedmodel": "tensorflow", "model.xml": "openvino",
}
"""The backends of models that no configuration gives one, by their files (triton-inference-server/server,
docs/user_guide/model_repository.md at 008fdc5a8a2b, "Model Files")."""


def _told_size(words: Sequence[str]) -> int:
    """The bytes that a model instance takes at its start, as an option of the server says; 0 where none does."""
    told = [value for _, value in options(words, frozenset({"--backend-config"})) if value.startswith(_SIZE)]
    return (whole_number(told[-1].removeprefix(_SIZE)) or 0) if told else 0


_SIZE = "python,shm-default-byte-size="


def _need(models: list[_Model], size: int, launch: Launch, *, sure: bool) -> Need | None:
    """What models need, of whose instances each takes a size at its start; 0 where that is next to nothing."""
    python = [model for model in models if model.backend == "python"]
    of_vllm = _need_of_vllm([model for model in models if model.backend == "vllm"], launch, sure=sure)
    if of_vllm is not None and (of_vllm.mechanisms or not python):
        return of_vllm
    if not python:
        others = bool(models) and all(re.fullmatch(_WITHOUT, model.backend) for model in models)
        why = "none of the models that it loads uses the Python backend"
        return Need("not-needed", workload=_KNOWN, why=why, source=SOURCE) if others and sure else None
    count = sum(model.instances for model in python)
    told = tuple(Evidence("a model of the Python backend", model.span, SOURCE) for model in python[:2])
    why = "its Python backend passes every input and output through shared memory"
    if not size:
        mechanism = Mechanism("triton", None, "estimated", why, told, SOURCE)
        return Need("likely", None, UNKNOWN_RECOMMENDED, _KNOWN, "", SOURCE, told, (mechanism,))
    because = f"{count} instance{'' if count == 1 else 's'} of models × {human(size)}"
    start = count * size
    if start > DOCKER_DEFAULT_SHM:
        mechanism = Mechanism("triton", start, "computed", because, told, OLDER_SOURCE)
    else:  # It fills the default at its start, and grows with what the requests hold.
        mechanism = Mechanism("triton", None, "estimated", f"at least {because}", told, OLDER_SOURCE)
    needed = sure and start > DOCKER_DEFAULT_SHM
    minimum = start if needed else None
    return Need(
        "needed" if needed else "likely", minimum, UNKNOWN_RECOMMENDED, _KNOWN, why, SOURCE, told, (mechanism,)
    )  # fmt: skip


def _need_of_vllm(models: Sequence[_Model], launch: Launch, *, sure: bool) -> Need | None:
    """What models of the vLLM backend need, which is one of Python's: with one rank texts alone pass through it."""
    if not models:
        return None
    largest = max(models, key=lambda model: model.ranks)
    if largest.ranks < 2:
        stopped = "its vLLM backend has one rank; how much its requests take in shared memory is not known"
        return Need("unknown", workload=_KNOWN, stopped=stopped)
    told = (Evidence(f"{largest.ranks} ranks of vLLM", largest.span, NCCL_SOURCE),)
    why = "the ranks of its vLLM backend exchange data through shared memory"
    return Need(
        "needed" if sure else "likely", None, UNKNOWN_RECOMMENDED, _KNOWN, why, NCCL_SOURCE, told,
        (nccl(largest.ranks, told, launch),),
    )  # fmt: skip


_WITHOUT = (
    r"onnxruntime(_onnx)?|tensorrt(_plan)?|pytorch(_libtorch)?|tensorflow(_graphdef|_savedmodel)?|openvino(_\w+)?|fil|"
    r"ensemble"
)
"""The backends and platforms that use no shared memory of their own."""


def _is_older(launch: Launch, release: tuple[int, int] | None) -> bool:
    """Whether a release of Triton has a Python backend that takes a fixed size for each model instance.

    It is the one of the server, or else the one that an image names.
    """
    if release is not None:
        return release < OLDER
    for image in (launch.image, *launch.base_images):
        found = re.search(r"tritonserver:(\d\d)\.(\d\d)-", image.known or "") if image is not None else None
        if found is not None:
            return (int(found[1]), int(found[2])) < OLDER
    return False

"""Programs and modules that the build compiles."""

from __future__ import annotations

import json
from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need


@table(
    "code, setup, verdict",
    [
        ("import kernels", "setup(ext_modules=[CUDAExtension('kernels', ['a.cu'])])", "not-needed"),
        ("import kernels._C", "setup(ext_modules=[CppExtension(name='kernels._C', sources=s)])", "not-needed"),
        ("import kernels", "setup(ext_modules=[CUDAExtension('others', ['a.cu'])])", "unknown"),
        ("import kernels", "setup(install_requires=['kernels'])", "unknown"),
        ("from torch.utils.cpp_extension import load\nload(name='kernels')\nimport kernels", "", "not-needed"),
        ("from torch.utils.cpp_extension import load\nload(name='others')\nimport kernels", "", "unknown"),
    ],
)
def test_modules_that_are_compiled(tmp_path: Path, code: str, setup: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": f"{code}\n"}
    assert need(tmp_path, {**files, "ops/setup.py": setup}).verdict == verdict


NATIVE = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nWORKDIR /src\nCOPY . .\nRUN BUILD\n"
SOLVER = "#include <cuda_runtime.h>\n#include <omp.h>\nint main() { return solve(); }\n"
MADE = {"Makefile": "solver: main.cu\n\tnvcc main.cu -o $@\n", "main.cu": SOLVER}
CMAKE = "project(solver CUDA CXX)\nadd_executable(solver main.cu)\n"


@table(
    "build, files, verdict",
    [
        ("cmake -B build && cmake --build build", {"CMakeLists.txt": CMAKE, "main.cu": SOLVER}, "not-needed"),
        ("make -j4", MADE, "not-needed"),
        ("make", {"Makefile": "EXECUTABLE := solver\n", "src/main.cu": SOLVER}, "not-needed"),
        ("cargo build", {"Cargo.toml": '[package]\nname = "solver"\n', "src/main.rs": "fn main() {}"}, "not-needed"),
        ("go build -o /bin ./...", {"go.mod": "module a", "cmd/solver/main.go": "package main\n"}, "not-needed"),
        # Sources that may share memory or start others, that are elsewhere, and programs that nothing compiles.
        ("make", MADE | {"main.cu": f"#include <nccl.h>\n{SOLVER}"}, "unknown"),
        ("make", MADE | {"main.cu": SOLVER + "int f() { return shm_open(a, 0); }"}, "unknown"),
        ("make", MADE | {"lib-1.2/a.h": "#include <torch/torch.h>"}, "unknown"),
        ("make", MADE | {"main.cu": SOLVER + 'int f() { return system("x"); }'}, "unknown"),
        ("make", MADE | {"Makefile": "other: main.cu\n"}, "unknown"),
        ("make", MADE | {".gitmodules": "[submodule]"}, "unknown"),
        ("git clone https://a.b/c && make", MADE, "unknown"),
        ("cmake -B build", {"CMakeLists.txt": f"{CMAKE}FetchContent_Declare(x)\n", "main.cu": SOLVER}, "unknown"),
        ("apt-get install -y solver", MADE, "unknown"),
        ("make", {"Makefile": "solver: main.cu\n"}, "unknown"),
    ],
)
def test_a_program_that_the_build_compiles_is_read_by_its_words(
    tmp_path: Path, build: str, files: dict[str, str], verdict: str
) -> None:
    written = {"compose.yaml": compose("solver --steps 10"), "Dockerfile": NATIVE.replace("BUILD", build)}
    assert need(tmp_path, written | files).verdict == verdict


def test_a_program_that_an_earlier_stage_compiles(tmp_path: Path) -> None:
    stages = NATIVE.replace("BUILD", "make") + "FROM nvidia/cuda:12.4.1-runtime\nCOPY --from=0 /src/solver /\n"
    files = MADE | {"Dockerfile": stages}
    found = need(tmp_path, {"compose.yaml": compose("/solver"), **files})
    assert (found.verdict, found.evidence[0].text) == (
        "not-needed", "`solver` is compiled from sources of the repository"
    )  # fmt: skip
    assert need(tmp_path, {"compose.yaml": compose("mpirun -n 4 /solver"), **files}).verdict != "not-needed"


@table(
    "image, build, code, verdict, stopped",
    [
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "", "int main() { return 0; }", "not-needed", ""),
        ("ros:humble", "", "int main() { return 0; }", "not-needed", ""),
        ("example/robot:deps", "", "int main() { return 0; }", "unknown",
         "the repository's code uses no shared memory; what else is in its image is unknown"),
        ("", "FROM example/robot:deps", "int main() { return 0; }", "unknown",
         "the repository's code uses no shared memory; what else is in its base image is unknown"),
        ("", "FROM example/robot:deps", "#include <nccl.h>", "unknown",
         "it gives a shell, and nothing is known of what is in its base image"),
        ("", "FROM ros:humble\nRUN git clone https://example.org/slam && make -C slam", "#include <nccl.h>", "unknown",
         "it gives a shell, and nothing is known of what is in its image"),
        ("", "FROM ros:humble\nRUN apt-get install -y libpcl-dev", "int main() { return 0; }", "not-needed", ""),
    ],
)  # fmt: skip
def test_a_dev_container_for_compiled_code(
    tmp_path: Path, image: str, build: str, code: str, verdict: str, stopped: str
) -> None:
    said = {"image": image} if image else {"build": {"dockerfile": "Dockerfile"}}
    files = {".devcontainer/devcontainer.json": json.dumps({**said, "runArgs": ["--gpus=all"]}), "src/main.cpp": code}
    found = need(tmp_path, {**files, **({".devcontainer/Dockerfile": f"{build}\n"} if build else {})})
    assert (found.verdict, found.stopped) == (verdict, stopped)

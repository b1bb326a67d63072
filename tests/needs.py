"""What tests need besides Python: oracles, which markers name, and the rest, which ``@pytest.mark.needs`` names.

``tests/conftest.py`` skips a test whose need is not met, and says which. A test without its oracle fails where
``SHMLINT_JUDGES`` names that, and where it is ``required`` for those that every CI has; ``.ci/run`` sets it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import pytest

PROBE = "shmlint-probe:1"
"""The image that the engine's tests run: busybox and nothing else. tests/oracles/probe_image.sh makes it."""

POSIX = os.name != "nt"
_ROOT = POSIX and os.geteuid() == 0
CORPUS = "SHMLINT_CORPUS"
"""The variable that names a directory of public files."""


def devcontainer_cli() -> str | None:
    """The path of the ``devcontainer`` command: ``SHMLINT_DEVCONTAINER_CLI``, or the one on ``PATH``."""
    return os.environ.get("SHMLINT_DEVCONTAINER_CLI") or shutil.which("devcontainer")


def _program(name: str) -> str:
    return "" if shutil.which(name) else f"`{name}` is not on PATH"


def _module(name: str) -> str:
    return "" if importlib.util.find_spec(name) else f"the module {name} is not installed"


def _answer(*command: str) -> str:
    """Why a program does not answer; empty if it does."""
    if lacking := _program(command[0]):
        return lacking
    try:
        done = subprocess.run(command, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return f"`{' '.join(command)}` does not answer"
    return f"`{' '.join(command)}` fails" if done.returncode else ""


def _compose() -> str:
    return _answer("docker", "compose", "version")


def _engine() -> str:
    if not os.environ.get("DOCKER_HOST"):
        return "DOCKER_HOST is not set"
    return _answer("docker", "info") or _compose() or _answer("docker", "image", "inspect", PROBE)


def _devcontainer() -> str:
    if not POSIX:
        return "the replacement for the docker client is a shell script"
    return "" if devcontainer_cli() else "`devcontainer` (npm package @devcontainers/cli) is not on PATH"


READERS = (
    "rdformat-validator", "sarif-multitool", "node", "java", "violation-comments-to-github-command-line",
)  # fmt: skip
"""Programs that read a report; ``CONTRIBUTING.md`` says where they come from."""
PACKAGES = ("danger-plugin-lint-report", "@actions/core", "github-action-ts-run-api")
"""Packages of npm that read or write a report."""


def _report_readers() -> str:
    lacking = next(filter(None, map(_program, READERS)), "")
    return lacking or _answer("node", "-e", "".join(f"require.resolve('{package}');" for package in PACKAGES))


def _podman() -> str:
    if not _ROOT:
        return "this is not root"
    from tests.oracles.podman import refusal

    return next(filter(None, map(_program, ("podman", "runc", "busybox"))), "") or refusal()


def _systemd() -> str:
    from tests.oracles.systemd import library

    return "" if library() is not None else "there is no library of systemd of a known version"


def _links() -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.symlink("a", os.path.join(folder, "b"))
        except OSError:
            return "symbolic links cannot be created"
    return ""


def _attributes() -> str:
    if not hasattr(os, "setxattr"):
        return "this system has no extended attributes"
    with tempfile.NamedTemporaryFile(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as file:
        try:
            os.setxattr(file.name, "user.probe", b"1")
        except OSError:
            return "the file system has no extended attributes"
    return ""


def _if(met: bool, otherwise: str) -> Callable[[], str]:
    return lambda: "" if met else otherwise


LACKING: Mapping[str, Callable[[], str]] = {
    # Oracles.
    "docker_client": lambda: _program("docker") if POSIX else "the recorded socket is one of POSIX",
    "compose_judge": _compose,
    "engine": _engine,
    "devcontainer_cli": _devcontainer,
    "report_readers": _report_readers,
    "kubectl": lambda: _program("kubectl"),
    "podman": _podman,
    # Programs and packages.
    "atheris": lambda: _module("atheris"),
    "bash": lambda: _program("bash") if POSIX else "bash on Windows may be that of another system",
    "checkout": _if(os.path.exists(os.path.join(os.path.dirname(__file__), "..", ".git")), "this is not a checkout"),
    "corpus": lambda: "" if os.environ.get(CORPUS) else f"{CORPUS} names no directory of public files",
    "git": lambda: _program("git"),
    "patch": lambda: _program("patch"),
    "ps": lambda: _program("ps"),
    "systemd_library": _systemd,
    "yaml_in_c": lambda: _module("_ruamel_yaml"),
    # Systems and rights.
    "posix": _if(POSIX, "this is not a POSIX system"),
    "linux": _if(sys.platform == "linux", "elsewhere one process checks all launches"),
    "full_device": _if(os.path.exists("/dev/full"), "this system has no device that is always full"),
    "byte_names": _if(sys.platform == "linux", "file names have to be Unicode"),
    "links": _links,
    "attributes": _attributes,
    "root": _if(_ROOT, "this is not root"),
    "rights": _if(POSIX and (not _ROOT or sys.platform == "linux"), "root may read and write everything here"),
}
"""For each need a function that says why it is not met; an empty text if it is."""

REQUIRED = ("docker_client", "compose_judge", "engine", "packaging")
"""Markers of tests that need what CI has, and a developer's machine may lack."""


@cache
def lacking(name: str) -> str:
    """Why a need is not met; an empty text if it is.

    Raises:
        KeyError: there is no need of this name.
    """
    return LACKING[name]()


def need(name: str) -> None:
    """Skip the test that calls this if a need is not met; the only skip there is, with the need as its reason."""
    if reason := lacking(name):
        pytest.skip(reason)


def needs(item: pytest.Item) -> Sequence[str]:
    """The needs of a test: its oracles, and what its ``needs`` markers name."""
    oracles = [mark.name for mark in item.iter_markers() if mark.name in LACKING]
    return [*oracles, *(name for mark in item.iter_markers("needs") for name in mark.args)]

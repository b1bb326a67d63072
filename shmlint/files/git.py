"""The names that git knows under a directory.

The repository may be a stranger's pull request. Only ``ls-files`` and ``check-ignore`` are run, with
everything switched off by which a repository could make git start a program or use the network.
"""

from __future__ import annotations

import os

GIT_TIMEOUT = 10.0
"""Seconds; when git takes longer (it waits for ever where a ``.gitignore`` is a FIFO; a hundred
thousand files take it 0.2) the directory is walked instead."""

_GIT_OPTIONS = (
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "safe.bareRepository=explicit",
    "-c", "protocol.allow=never",
)  # fmt: skip

# A git hook sets these for its own repository; they would answer for the wrong one.
_GIT_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE")


def ask_git(real: str, top: str) -> bytes | None:
    """What git knows under a directory, as NUL-terminated names; None where it does not say.

    It does not where it is not installed, refuses (another owner, no work tree), takes too long,
    or ignores the whole directory, which somebody named all the same.
    """
    program = _git_program()
    if program is None or not _is_repository(os.path.join(top, ".git")):
        return None
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name not in _GIT_PLACES}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}

    def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [program, *_GIT_OPTIONS, *arguments],
            cwd=real,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT,
        )

    try:
        # --no-index: a directory is ignored also where a file in it was added by force.
        if real != top and git("check-ignore", "--quiet", "--no-index", ".").returncode == 0:
            return None
        listing = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except (OSError, subprocess.SubprocessError):
        return None
    return listing.stdout if listing.returncode == 0 else None


def _is_repository(path: str) -> bool:
    """Whether git may take a ``.git`` for one: it is a file that names one, or has a HEAD, which may be a link."""
    return os.path.isfile(path) or os.path.lexists(os.path.join(path, "HEAD"))


def _git_program() -> str | None:
    """git from an absolute entry of PATH, so never one that lies in the repository."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.get_exec_path():
        program = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return None

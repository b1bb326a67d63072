"""Which shell runs a script: the one that its step names, else the one of its runner."""

from __future__ import annotations

import re

from shmlint.model.record import NamedTuple
from shmlint.syntax.shell_text import Shell
from shmlint.syntax.yaml import MappingNode, text_at

_OF_WINDOWS: dict[tuple[str, str], Shell] = {("runs-on", "run"): "pwsh", ("pool", "script"): "cmd"}
"""The shell on Windows, by the key of the runner and that of the script: GitHub's and Azure's.

The shell of GitLab's and CircleCI's runners is a setting of these.
"""
_SHELLS: dict[str, Shell] = {"cmd": "cmd", "pwsh": "pwsh", "powershell": "powershell"}
_STEPS = frozenset({"pwsh", "powershell", "bash"})
"""Keys of Azure's scripts that name their shell."""
_WINDOWS = re.compile(r"(?i)windows|\bwin(?![a-z])")


class Runner(NamedTuple):
    """What decides which shell runs the scripts in a mapping."""

    windows: str = ""
    """The key that says that they run on Windows, ``?`` where they may; empty where none does."""
    shell: str = ""
    """The shell that is named for them."""

    def inside(self, node: MappingNode, text: str) -> Runner:
        """What decides it for a mapping inside; ``text`` is that of the file."""
        named = text_at(node, "shell") or text_at(node, "defaults", "run", "shell") or _of_task(node) or self.shell
        for key in ("runs-on", "pool", "tags", "executor"):
            runner = node.get(key)
            if runner is not None:
                return Runner(_on_windows(key, text[runner.start : runner.end], text[node.start : node.end]), named)
        return self if named == self.shell else self._replace(shell=named)


def shell_of(runner: Runner, key: str) -> Shell:
    """The shell of a script under a key."""
    named = key if key in _STEPS else runner.shell.partition(" ")[0]
    if named and "$" not in named:
        return _SHELLS.get(re.split(r"[/\\]", named)[-1].removesuffix(".exe"), "posix")
    return _OF_WINDOWS.get((runner.windows, key), "unknown") if runner.windows else "posix"


def _on_windows(key: str, runner: str, job: str) -> str:
    if _WINDOWS.search(runner):
        return key
    return "?" if "$" in runner and _WINDOWS.search(job) else ""


def _of_task(step: MappingNode) -> str:
    """The shell that a task of Azure starts."""
    task = text_at(step, "task").partition("@")[0]
    if task == "PowerShell":
        return "pwsh" if text_at(step, "inputs", "pwsh") == "true" else "powershell"
    return "bash" if task == "Bash" else ""

"""What a file may refer to: nothing outside of its repository, unless the settings allow it."""

from __future__ import annotations

import os

from shmlint.files.read import normal

_MOST_LEVELS = 20

OUTSIDE = "outside the repository and is not followed (setting `follow-outside`)"


class Boundary:
    """Decides what may be followed. ``follow_outside`` lets files refer to others outside of their repository."""

    __slots__ = ("_of", "_real", "_roots", "follow_outside", "top")

    def __init__(self, *, follow_outside: bool = False, top: str = "") -> None:
        self.top = top
        """The directory that relative paths count from; the working directory where it is empty."""
        self.follow_outside = follow_outside
        self._of: dict[str, str | None] = {}
        """The work trees of files, by the directories that were asked about."""
        self._roots: dict[str, str | None] = {}
        """The same, by the real paths of these directories and of those above them."""
        self._real: dict[str, str] = {}

    def root(self, path: str) -> str | None:
        """The git work tree a file lies in; None outside of any."""
        directory = os.path.dirname(path)
        if directory not in self._of:
            self._of[directory] = self._nearest(self._real_directory(os.path.join(self.top, directory) or "."))
        return self._of[directory]

    def _nearest(self, directory: str) -> str | None:
        """As ``work_tree``; the directories above, which many files share, are looked at once."""
        passed: list[str] = []
        while directory not in self._roots:
            passed.append(directory)
            parent = os.path.dirname(directory)
            if os.path.exists(os.path.join(directory, ".git")):
                self._roots[directory] = directory
            elif parent == directory:
                self._roots[directory] = None
            else:
                directory = parent
        self._roots.update(dict.fromkeys(passed, self._roots[directory]))
        return self._roots[directory]

    def inside(self, path: str, of: str) -> bool:
        """Whether the file ``of`` may refer to ``path``: not out of its repository.

        The repository may be a stranger's pull request. Outside of any repository, relative paths
        may be followed and absolute ones may not.
        """
        return self.follow_outside or self.within(path, self.root(of))

    def upwards(self, path: str) -> list[str]:
        """The directory of a file and those above it, up to the top of its repository; empty for the current one.

        Outside of any repository the directory that relative paths count from is the top, and what lies elsewhere
        has nothing above it: the directories there belong to others.
        """
        found = [os.path.dirname(normal(path))]
        root = self.root(path)
        while len(found) < _MOST_LEVELS and not self._is_top(found[-1], root):
            above = normal(os.path.join(found[-1], ".."))
            found.append("" if above == "." else above)
        return found

    def _is_top(self, directory: str, root: str | None) -> bool:
        if root is None:
            return directory == "" or os.path.isabs(directory) or directory.split("/")[0] == ".."
        real = self._real_directory(os.path.join(self.top, directory) or ".")
        return not real.startswith(os.path.join(root, ""))

    def within(self, path: str, root: str | None) -> bool:
        """The same for the files of a work tree; None for those outside of any."""
        if self.follow_outside:
            return True
        if root is None:
            return not os.path.isabs(path)
        real = self._real_path(os.path.join(self.top, path) if self.top else path)
        return real == root or real.startswith(root.rstrip(os.sep) + os.sep)

    def _real_path(self, path: str) -> str:
        """``os.path.realpath``, which looks at each directory on the way, for many files of a directory."""
        directory, name = os.path.split(path)
        if name in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        return os.path.join(self._real_directory(directory or "."), name)

    def _real_directory(self, path: str) -> str:
        """As ``os.path.realpath``; the directories above, which many share, are looked at once."""
        passed: list[str] = []
        while path not in self._real:
            above, name = os.path.split(path)
            if not above or name in ("", ".", "..") or os.path.islink(path):
                self._real[path] = os.path.realpath(path)
            else:
                passed.append(path)
                path = above
        real = self._real[path]
        for below in reversed(passed):
            real = self._real[below] = os.path.join(real, os.path.basename(below))
        return real


def work_tree(directory: str) -> str | None:
    """The nearest directory upwards that holds a ``.git``, the directory itself included."""
    while not os.path.exists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return directory

"""Containers that a CI system creates itself: an image, and the options of ``docker create`` as a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shmlint.docker.run_options import read_run
from shmlint.formats.shell.gpus import read_gpu
from shmlint.formats.shell.rewrite import RunRewriter
from shmlint.formats.shell.run import launch_of
from shmlint.model.launch import Launch
from shmlint.model.source import Span
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import NOWHERE, ShellText
from shmlint.syntax.word import Word


def option_words(text: ShellText) -> list[Word]:
    """The words of options, however many lines they take."""
    line = re.sub(r"\\?\n", lambda m: " " * len(m[0]), text.text)
    nowhere = [NOWHERE] * len("docker ")
    used_at = [*nowhere, *text.used_at] if text.used_at else ()
    command = text._replace(text=f"docker {line}", offsets=[*nowhere, *text.offsets], used_at=used_at)
    first = next(iter(commands(command)), None)
    return list(first.words[1:]) if first is not None else []


def created(words: Sequence[Word], home: Span, span: Span, label: str) -> Launch:
    """The container of ``words``: options, then the image. Options are added in ``home``."""
    run = read_run(words, "docker", "create")
    rewriter = RunRewriter(run, Word(""), home, words)
    return launch_of(run, kind="ci-container", span=span, label=label, rewriter=rewriter, gpu=read_gpu(run))

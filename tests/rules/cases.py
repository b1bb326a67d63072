"""What the tests of the rules share: small compose files, and what is looked at in findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from shmlint.model.finding import Finding
from tests.project import findings, fixed
from tests.table import table

Test = Callable[..., None]

GIB = 1 << 30
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
OWN = "example/trainer"

SIZE_RULES = (
    "SHM001", "SHM101", "SHM102", "SHM103", "SHM201", "SHM202", "SHM203", "SHM204", "SHM205", "SHM208",
)  # fmt: skip
"""Rules about a declared size, which are tested together: a size that one reports, another must not."""

SIZED = ("shm_size: 8gb",)
IB = (*SIZED, "devices: [/dev/infiniband]", "ulimits: {memlock: -1}")


def entry(*lines: str, image: str | None = NGC, gpu: str | None = "gpus: all", name: str = "x") -> str:
    """A service, as it is under ``services:``."""
    body = [f"image: {image}" if image else "", gpu, *lines]
    return f"  {name}:\n" + "".join(f"    {line}\n" for line in body if line)


def compose(*entries: str) -> str:
    """A compose file of services."""
    return "services:\n" + "".join(entries)


def service(*lines: str, image: str | None = NGC, gpu: str | None = "gpus: all", name: str = "x") -> str:
    """A compose file of one service."""
    return compose(entry(*lines, image=image, gpu=gpu, name=name))


def env(*variables: str, more: tuple[str, ...] = SIZED, gpu: str = "gpus: all") -> str:
    """A compose file of one service with these variables."""
    return service("environment:", *(f"  - {variable}" for variable in variables), *more, gpu=gpu)


def levels(found: list[Finding]) -> list[tuple[str, str]]:
    return [(f.rule, f.severity) for f in found]


def subjects(found: list[Finding]) -> list[tuple[str, str]]:
    return [(f.rule, f.subject) for f in found]


def said(tmp_path: Path, files: dict[str, str] | str, rule: str, **settings: object) -> list[str]:
    return [f.message for f in findings(tmp_path, files, select=(rule,), **settings)]


def levels_test(cases: Mapping[str, tuple[str, list[tuple[str, str]]]], select: tuple[str, ...]) -> Test:
    """A test that files have findings of these rules with these severities."""

    @table(("text", "expected"), cases.values(), ids=cases)
    def test(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
        assert sorted(levels(findings(tmp_path, text, select=select))) == expected

    return test


def subjects_test(cases: Mapping[str, tuple[str, list[tuple[str, str]]]], select: tuple[str, ...]) -> Test:
    """A test that files have findings of these rules about these subjects."""

    @table(("text", "expected"), cases.values(), ids=cases)
    def test(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
        assert subjects(findings(tmp_path, text, select=select)) == expected

    return test


def messages_test(cases: Mapping[str, tuple[str, str]], select: tuple[str, ...]) -> Test:
    """A test that files have one finding with this message."""

    @table(("text", "message"), cases.values(), ids=cases)
    def test(tmp_path: Path, text: str, message: str) -> None:
        assert [f.message for f in findings(tmp_path, text, select=select)] == [message]

    return test


def sizes_test(cases: Mapping[str, tuple[str, str]]) -> Test:
    """A test that the size of a service without a GPU is repaired."""

    @table(("before", "after"), cases.values(), ids=cases)
    def test(tmp_path: Path, before: str, after: str) -> None:
        def text(size: str) -> str:
            return service(f"shm_size: {size}", gpu=None, image="foo")

        assert fixed(tmp_path, text(before)) == {"compose.yaml": text(after)}

    return test


def overridden_test(rows: Sequence[tuple[tuple[str, ...], list[str]]]) -> Test:
    """A test of which rules report a size that something else overrides."""

    @table(("lines", "rules"), rows)
    def test(tmp_path: Path, lines: tuple[str, ...], rules: list[str]) -> None:
        files = {"compose.yaml": service(*lines) + "volumes: {data: }\n"}
        assert [found.rule for found in findings(tmp_path, files, select=("SHM204", "SHM205", "SHM208"))] == rules

    return test

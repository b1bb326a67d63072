"""Texts that are put in order for the grammar."""

from __future__ import annotations

from shmlint.model.source import Source
from shmlint.syntax.shell_repair import commands_behind_documents
from shmlint.syntax.shell_text import whole
from tests.fuzz.variants import limited
from tests.table import table


@table(
    "text",
    [
        "cat <<A; " * 20_000, "".join(f"cat <<A{n}; " for n in range(20_000)) + "\n",
        "".join(f"cat <<A{n}; x\n" for n in range(20_000)), "cat <<A; '\n" * 20_000,
        "".join(f"cat <<A{n}; x\nA{n}\n" for n in range(20_000)),
        "".join(f"cat <<A{n} && cat <<B{n}\nA{n}\nB{n}\n" for n in range(10_000)),
        "cat <<A | cat <<A; " * 10_000 + "\n" + "A\n" * 100, "cat <<A" + " | x" * 50_000 + " <<B\nA\nB\n",
    ],
    ids=lambda text: repr(text[:24]),
)  # fmt: skip
def test_many_here_documents_take_no_long(text: str) -> None:
    with limited(20):  # seconds of the processor; minutes where each of them looks through all that follows
        found = commands_behind_documents(whole(Source("run.sh", text), 0, len(text)))
    assert len(found.text) <= len(text) and found.text.count("cat") == text.count("cat")

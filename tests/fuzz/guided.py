"""A coverage-guided fuzzer for one format, by atheris.

    python -m tests.fuzz.guided compose -max_total_time=60 [CORPUS_DIRECTORY]

The options behind the kind are libFuzzer's. ``fixtures`` and the rule pages' examples are where it starts.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["shmlint"]):
    from shmlint.files.kinds import classify
    from shmlint.formats import KINDS
    from tests.fuzz.check import check, enter

from tests.fuzz.variants import ROOT, files


def starts(kind: str) -> list[bytes]:
    """The fixtures of a kind, and the examples of the rules' pages that are files of it."""
    found = [content for other, content in files([ROOT / "fixtures", ROOT / "rules"]) if other == kind]
    for page in sorted((ROOT / "rules").glob("*.md")):
        for name, content in re.findall(r"^```\w+ (\S+)[^\n]*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            if classify(f"/{name}", content.encode) == kind:
                found.append(content.encode())
    return found


def main() -> None:
    """The command."""
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"which format? one of {', '.join(KINDS)}")
    kind = sys.argv.pop(1)
    with tempfile.TemporaryDirectory() as work:
        seeds = Path(work) / "seeds"
        seeds.mkdir()
        for number, content in enumerate(starts(kind)):
            (seeds / str(number)).write_bytes(content)
        here = Path(work) / "here"
        artifacts = os.getcwd() + os.sep
        enter(here)

        def one(data: bytes) -> None:
            check(kind, data, here)

        given = [*sys.argv, str(seeds), f"-artifact_prefix={artifacts}", "-timeout=10"]
        atheris.Setup(given, one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()

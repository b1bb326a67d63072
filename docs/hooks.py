"""Builds the rule pages of ``rules/`` into the documentation, and takes the front page from README.md."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside of ``docs/``."""
    for page in sorted((ROOT / "rules").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        text = re.sub(r"\]\(workloads\.json\)", "](workloads.json)", text)
        files.append(File.generated(config, f"rules/{page.name}", content=_without_file_names(text)))
    files.append(File.generated(config, "rules/workloads.json", abs_src_path=str(ROOT / "rules" / "workloads.json")))
    return files


def _without_file_names(text: str) -> str:
    """Code fences with their language only: ``yaml compose.yaml`` names the file for the tests."""
    return re.sub(r"^(```\w+) \S+$", r"\1", text, flags=re.MULTILINE)

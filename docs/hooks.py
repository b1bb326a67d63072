"""Builds the rule pages of ``rules/`` into the documentation, and takes the front page from README.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside of ``docs/``."""
    for page in sorted((ROOT / "rules").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        files.append(File.generated(config, f"rules/{page.name}", content=_without_file_names(text)))
    files.append(File.generated(config, "rules/workloads.json", abs_src_path=str(ROOT / "rules" / "workloads.json")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to the rules as they are in the repository, made those of the site."""
    return markdown.replace("](../rules/", "](rules/") if "/" not in page.file.src_uri else markdown


def _without_file_names(text: str) -> str:
    """Code fences with their language only: ``yaml compose.yaml`` names the file for the tests."""
    return re.sub(r"^(```\w+) \S+$", r"\1", text, flags=re.MULTILINE)

"""What the name of a file says of it."""

from __future__ import annotations

from shmlint.files.kinds import classify, is_page, is_readme
from tests.table import table


@table(
    "path, page, readme",
    [
        ("README.md", True, True),
        ("docs/readme.rst", True, True),
        ("docs/ReadMe.markdown", True, True),
        ("guide.MDX", True, False),
        ("guide.Rmd", True, False),
        ("guide.qmd", True, False),
        ("README.zh.md", True, False),
        ("my-readme.md", True, False),
        ("README", False, False),
        ("README.txt", False, False),
        ("md", False, False),
        ("readme.md/run.sh", False, False),
        ("x.rst.in", False, False),
    ],
)
def test_pages(path: str, page: bool, readme: bool) -> None:
    assert (is_page(path), is_readme(path)) == (page, readme)
    assert not page or classify(path, lambda: b"") == "markdown"

"""The blocks of code in documents, and where their lines are."""

from __future__ import annotations

from shmlint.model.source import Source
from shmlint.syntax.markdown import blocks

CASES: dict[tuple[str, str], list[tuple[str, list[str], bool]]] = {
    ("a.md", "```bash\na\n  b\n```\n"): [("bash", ["a", "  b"], False)],
    ("a.md", "```\na\n```\n"): [("", ["a"], False)],
    ("a.md", "~~~yaml title=x\na\n~~~\n"): [("yaml", ["a"], False)],
    ("a.md", "``` {.bash .annotate}\na\n```\n"): [("bash", ["a"], False)],
    ("a.md", "```[bash]\na\n```\n"): [("bash", ["a"], False)],
    ("a.md", "```{code-block} sh\na\n```\n"): [("sh", ["a"], False)],
    ("a.md", "text\n\n    a\n    b\n"): [("", ["a", "b"], False)],
    ("a.mdx", "text\n\n    a\n    b\n"): [],  # MDX has no indented code
    ("a.md", "- x\n\n  ```sh\n  a\n  ```\n"): [("sh", ["a"], False)],
    ("a.md", "> ```sh\n> a\n> ```\n"): [("sh", ["a"], False)],
    ("a.md", "```sh\r\na\r\n```\r\n"): [("sh", ["a"], False)],
    ("a.md", "\ufeff```sh\na\n```\n"): [("sh", ["a"], False)],
    ("a.md", "!!! note\n    ```sh\n    a\n    ```\n"): [("sh", ["a"], False)],
    ("a.md", '=== "Tab"\n\n    ```sh\n    a\n    ```\n'): [("sh", ["a"], False)],
    ("a.md", "```{note}\n```sh\na\n```\n"): [("sh", ["a"], False)],
    ("a.md", "---\nx: |\n    a\n---\ntext\n"): [],  # front matter
    ("a.md", "<!--\n```sh\na\n```\n-->\n"): [],
    ("a.md", "Run `docker run x` or `docker`.\n"): [("bash", ["docker run x"], True)],
    ("a.md", "Run `docker run\nx`.\n"): [("bash", ["docker run", "x"], True)],
    ("a.rst", ".. code-block:: bash\n   :linenos:\n\n   a\n     b\n\ntext\n"): [("bash", ["", "a", "  b", ""], False)],
    ("a.rst", "Like this::\n\n    a\n\ntext\n"): [("", ["a", ""], False)],
    ("a.rst", "Run ``docker run x``.\n"): [("bash", ["docker run x"], True)],
}


def test_blocks() -> None:
    for (path, text), expected in CASES.items():
        found = [
            (block.language, [text[start:end] for start, end in block.lines], block.inline)
            for block in blocks(Source(path, text))
        ]
        assert found == expected, text

"""The blocks of code in documents, and where their lines are."""

from __future__ import annotations

from shmlint.model.source import Source
from shmlint.syntax.markdown import blocks, headings

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


HEADINGS = {
    ("a.md", "# A\ntext\n## B ##\n#C\n   ### D\n    # E\n"): [("# A", 1), ("## B ##", 2), ("   ### D", 3)],
    ("a.markdown", "A\n=\n\nB b\n---\n\ntext\n\n---\n"): [("A", 1), ("B b", 2)],
    ("a.md", "---\ntitle: x\n---\n# A\n"): [("# A", 1)],
    ("a.md", "~~~~sh\n# a\n~~~\n# b\n~~~~\n# C\n"): [("# C", 1)],
    ("a.md", "```\n# a\n"): [],
    ("a.md", "!!! note\n    ```sh\n# a\n    ```\n# B\n"): [("# B", 1)],
    ("a.md", "<!--\n# a\n-->\n# B\r\n"): [("# B", 1)],
    ("a.md", "```{eval-rst}\nA\n=\n```\n"): [],
    ("a.rst", "=====\n Top\n=====\n\nA\n=\n\nB\n-\n\ntext\n\nC\n==\n"): [(" Top", 1), ("A", 2), ("B", 3), ("C", 2)],
    ("a.rst", "Like this::\n\n    # a\n    ===\n\ntext\nmore\n----\n\n----\n\n=== ===\na   b\n=== ===\n"): [],
    ("a.rst", "A\n----\nB is long\n--\n"): [("A", 1)],
}


def test_headings() -> None:
    for (path, text), expected in HEADINGS.items():
        found = [(text[one.start : one.end], one.level) for one in headings(Source(path, text))]
        assert found == expected, text

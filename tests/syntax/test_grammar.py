"""Grammars are loaded alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from shmlint.syntax import grammar
from tests.table import table


@table("package", ["tree_sitter_bash", "tree_sitter_json"])
def test_a_grammar_brings_nothing_else(package: str) -> None:
    script = "import sys\nfrom shmlint.syntax.grammar import new_parser\n"
    script += f"print(new_parser({package!r}).parse(b'1').root_node.type)\n"
    script += "print(sorted({'importlib.resources', 'pathlib', 'tempfile'}.intersection(sys.modules)))"
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, env=paths())
    assert done.stdout.split("\n")[:2] in (["program", "[]"], ["document", "[]"]), done.stderr


def paths() -> dict[str, str]:
    """An environment in which what is on this path is found without the hooks of a virtual environment."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_grammar_that_is_not_found_alone_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "find_spec", lambda name: None)
    grammar.language.cache_clear()
    assert grammar.new_parser("tree_sitter_bash").language is not None
    with pytest.raises(ModuleNotFoundError, match="No module named 'tree_sitter_of_nobody'"):
        grammar.language("tree_sitter_of_nobody")

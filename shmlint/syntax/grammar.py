"""The grammars of tree-sitter, as they are packaged for Python."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from tree_sitter import Language, Parser


@cache
def language(package: str) -> Language:
    """The grammar in a package, ``tree_sitter_bash``."""
    import tree_sitter

    return tree_sitter.Language(_pointer(package))


def new_parser(package: str) -> Parser:
    """A parser for the grammar in a package. Two threads must not share one."""
    import tree_sitter

    return tree_sitter.Parser(language(package))


def _pointer(package: str) -> object:
    """What its compiled module returns.

    Only that module is loaded: its package imports ``importlib.resources``, for queries that nobody asks for here.
    That takes 8 ms, a tenth of a run over one script.
    """
    around = find_spec(package)
    folders = around.submodule_search_locations if around is not None else []
    spec = PathFinder.find_spec(f"{package}._binding", folders)
    if spec is None or spec.loader is None:  # a bundle finds it otherwise
        return cast("object", import_module(package).language())
    binding = module_from_spec(spec)
    spec.loader.exec_module(binding)
    return cast("object", binding.language())

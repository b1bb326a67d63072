"""Modules that a framework loads by names which the code hands it: ``uvicorn.run("app:make")``, Celery, Django."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import Module
from shmlint.workloads.python.values import Scope


class ByName(NamedTuple):
    """A module that something loads by its name, and the name in it that is called; ``*`` for all that it has."""

    module: str
    name: str


def loaded_by(full: str, node: ast.Call, scope: Scope) -> list[ByName] | None:
    """What a call lets a framework load by name; None where it loads modules which the call does not name."""
    last = full.rpartition(".")[2]
    texts = [text for argument in (*node.args, *(k.value for k in node.keywords)) if (text := _text(argument))]
    found = [ByName(*text.split(":")) for text in texts if ":" in text and re.fullmatch(_NAMED, text) is not None]
    if full in _INCLUDES:  # https://docs.djangoproject.com/en/stable/ref/urls/#include
        found += (ByName(text, "*") for text in texts[:1])
    elif full in _FIND:
        found += (ByName(*text.rsplit(".", 1)) for text in texts[:1] if re.fullmatch(_DOTTED, text) is not None)
        return found or None
    elif full == "celery.Celery":
        # https://docs.celeryq.dev/en/stable/reference/celery.html#celery.Celery
        given = next((keyword.value for keyword in node.keywords if keyword.arg == "include"), None)
        names = _texts(given) if given is not None else []
        return [*found, *(ByName(name, "*") for name in names)] if names is not None else None
    elif last == "autodiscover_tasks" and _is_imported("celery", scope.module):
        names = _texts(node.args[0]) if node.args else None
        if names is None or len(node.args) > 1 or node.keywords:
            return None
        return [*found, *(ByName(f"{name}.tasks", "*") for name in names)]
    return found


def names_in(module: Module) -> Iterator[str]:
    """The dotted names in the texts of a settings module of Django, and what they are in."""
    for node in ast.walk(module.tree):
        text = _text(node) if isinstance(node, ast.Constant) else ""
        if len(text) < _LONGEST and re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", text) is not None:
            yield text
            if "." in text:
                yield text.rpartition(".")[0]


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _texts(node: ast.expr) -> list[str] | None:
    """The texts of a list that is written down."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else ()
    texts = [text for item in items if (text := _text(item))]
    return texts if items and len(texts) == len(items) else None


def _is_imported(package: str, module: Module) -> bool:
    return any(target.partition(".")[0] == package for target in module.imports.values())


DJANGO = frozenset(
    {
        "django.core.asgi.get_asgi_application", "django.core.management.call_command",
        "django.core.management.execute_from_command_line", "django.core.wsgi.get_wsgi_application", "django.setup",
    }
)  # fmt: skip
"""Calls with which Django loads what its settings name."""
DJANGO_SETTINGS = "DJANGO_SETTINGS_MODULE"
"""The variable that names the settings (https://docs.djangoproject.com/en/stable/topics/settings/)."""
_FIND = frozenset(
    {"django.utils.module_loading.import_string", "hydra.utils.get_class", "hydra.utils.get_method",
     "hydra.utils.get_object", "pydoc.locate", "werkzeug.utils.import_string"}
)  # fmt: skip
"""Calls that find what a dotted name stands for."""
_INCLUDES = frozenset({"django.urls.include", "django.conf.urls.include"})
_DOTTED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"
_NAMED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*"
"""A module and what it has, as Uvicorn, APScheduler and the entry points of packages write them."""
_LONGEST = 200

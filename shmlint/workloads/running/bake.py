"""The images that ``docker buildx bake`` builds: the targets of a ``docker-bake.hcl``.

Only what is written down is read: blocks, texts, lists of texts, and variables with a default. Functions, matrices and
conditions leave what they decide unknown. https://docs.docker.com/build/bake/reference/
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from shmlint.model.launch import Build
from shmlint.model.source import Source, Span

_MOST_TARGETS = 100
_MOST_INHERITED = 8
_LONGEST = 100_000
"""Characters; a longer file is not written by hand."""
_BLOCK = re.compile(r'(?m)^[ \t]*(target|variable)[ \t]+"([\w.-]+)"[ \t]*\{')
_TEXT = r'"((?:[^"\\\n]|\\.)*)"'


def builds(source: Source) -> tuple[Build, ...]:
    """A build for each tag of each target."""
    if len(source.text) > _LONGEST:
        return ()
    targets: dict[str, tuple[str, int]] = {}
    defaults: dict[str, str] = {}
    text = re.sub(r"(?m)^[ \t]*(?:#|//).*$", lambda comment: " " * len(comment[0]), source.text)
    for block in list(_BLOCK.finditer(text))[:_MOST_TARGETS]:
        body = _body(text, block.end())
        default = re.search(rf"(?m)^[ \t]*default[ \t]*=[ \t]*{_TEXT}", body)
        if block[1] == "target":
            targets[block[2]] = body, block.start(1)
        elif default is not None:
            defaults[block[2]] = default[1]
    found = (_of_target(name, targets, defaults, source) for name in targets)
    return tuple(build for some in found for build in some)


def _body(text: str, start: int) -> str:
    """What a block holds, up to its closing brace."""
    depth, at = 1, start
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            break
    return text[start:at]


def _of_target(
    name: str, targets: Mapping[str, tuple[str, int]], defaults: Mapping[str, str], source: Source
) -> list[Build]:
    bodies = _inherited(name, targets)
    args = {key: value for body in reversed(bodies) for key, value in _arguments(body, defaults).items()}
    tags = next((tags for body in bodies if (tags := _list("tags", body))), [])
    span = Span(source, targets[name][1], targets[name][1] + len("target"))
    directory = os.path.dirname(source.path)
    return [
        Build(
            _filled(tag, defaults), _attribute("context", bodies, defaults) or ".",
            _attribute("dockerfile", bodies, defaults), _attribute("target", bodies, defaults), tuple(args.items()),
            span, directory, in_context=True,
        )
        for tag in tags
    ]  # fmt: skip


def _inherited(name: str, targets: Mapping[str, tuple[str, int]]) -> list[str]:
    """The body of a target and of those that it inherits from, the one that counts most first."""
    names, at = [name], 0
    while at < len(names) <= _MOST_INHERITED:
        parents = _list("inherits", targets[names[at]][0])
        names += [parent for parent in reversed(parents) if parent in targets and parent not in names]
        at += 1
    return [targets[name][0] for name in names]


def _attribute(key: str, bodies: list[str], defaults: Mapping[str, str]) -> str | None:
    """A text of the first body that gives one, outside of its inner blocks."""
    for body in bodies:
        found = re.search(rf"(?m)^[ \t]*{key}[ \t]*=[ \t]*{_TEXT}", re.sub(r"\{[^{}\n]*\n[^{}]*\}", "{}", body))
        if found is not None:
            return _filled(found[1], defaults)
    return None


def _list(key: str, body: str) -> list[str]:
    found = re.search(rf"(?m)^[ \t]*{key}[ \t]*=[ \t]*\[([^\]]*)\]", body)
    return re.findall(_TEXT, found[1]) if found is not None else []


def _arguments(body: str, defaults: Mapping[str, str]) -> dict[str, str]:
    found = re.search(r"(?m)^[ \t]*args[ \t]*=?[ \t]*\{([^{}]*(?:\$\{\w+\}[^{}]*)*)\}", body)
    pairs = re.findall(rf'(?m)"?(\w+)"?[ \t]*=[ \t]*(?:{_TEXT}|(\w+))', found[1]) if found is not None else []
    return {key: _filled(text or f"${{{name}}}", defaults) for key, text, name in pairs}


def _filled(text: str, defaults: Mapping[str, str]) -> str:
    """A text with the defaults of its variables."""
    return re.sub(r"\$\{(\w+)\}", lambda match: defaults.get(match[1], match[0]), text)

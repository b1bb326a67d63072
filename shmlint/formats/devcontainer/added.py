"""What the properties of a devcontainer.json add to the service of a Compose project that it starts.

The CLI writes them into one more Compose file, which it puts on the others (devcontainers/cli
src/spec-node/dockerCompose.ts, ``generateFeaturesComposeOverrideContent``):
https://github.com/devcontainers/cli/blob/f683c29/src/spec-node/dockerCompose.ts#L504-L573
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from shmlint.docker.run_options import RunCommand
from shmlint.formats.compose.project import Project, Service
from shmlint.formats.compose.rewrite import ServiceRewriter
from shmlint.formats.compose.tree import Branch, Layer, merge_service
from shmlint.formats.devcontainer.properties import (
    ReadMount,
    capabilities,
    cause,
    container_environment,
    is_privileged,
    mounts_of,
)
from shmlint.formats.devcontainer.rewrite import DevcontainerRewriter
from shmlint.model.launch import Change
from shmlint.model.source import Span
from shmlint.syntax.json import Json
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode


def add(root: Json, service: Service, project: Project) -> None:
    """Put what a dev container adds to a service over it."""
    pairs: list[tuple[Node, Node]] = []
    for key, node in (
        ("environment", _environment(root)),
        ("cap_add", _listing(root, [_scalar(item, item.text) for item in capabilities(root)])),
        ("volumes", _listing(root, map(_volume, mounts_of(root)))),
        ("privileged", _privileged(root)),
    ):
        if node is not None:
            pairs.append((_scalar(root, key), node))
    if not pairs:
        return
    layer = Layer(root.source, {}, project.directory)
    over = layer.tree(_mapping(root, pairs))
    assert isinstance(over, Branch)
    name = service.name
    project.services[name] = Service(name, merge_service(service.tree, over), service.bodies, service.unknown)


def _scalar(place: Json, text: str, style: str = '"') -> Scalar:
    """A text at the place of a value. A variable of the editor is none of Compose, and so is not known to it."""
    span = place.inside if place.kind == "string" else place.span
    return Scalar(span.start, span.end, None, None, text, style)


def _mapping(place: Json, pairs: Iterable[tuple[Node, Node]]) -> MappingNode:
    node = MappingNode(place.start, None, None, flow=True)
    node.end = place.end
    node.pairs += pairs
    return node


def _listing(root: Json, items: Iterable[Node]) -> SequenceNode | None:
    node = SequenceNode(root.start, None, None, flow=True)
    node.end = root.end
    node.items += items
    return node if node.items else None


def _environment(root: Json) -> MappingNode | None:
    """The variables, whose dollar signs the CLI doubles."""
    pairs: list[tuple[Node, Node]] = [
        (_scalar(name, name.text), _scalar(value, text if cause(text) else text.replace("$", "$$")))
        for name, value, text in container_environment(root)
    ]
    return _mapping(root, pairs) if pairs else None


def _privileged(root: Json) -> Scalar | None:
    return _scalar(root.entries["privileged"][1], "true", "") if is_privileged(root) else None


def _volume(mount: ReadMount) -> MappingNode:
    """The volume ``source:target`` that the CLI makes of any mount: only a path is a bind mount."""
    known = not cause(mount.source)
    kind = "bind" if mount.source.startswith(("/", ".", "~")) or (not known and mount.type == "bind") else "volume"
    parts = {"type": kind, "source": mount.source, "target": mount.target}
    place = mount.written
    return _mapping(place, [(_scalar(place, key), _scalar(place, text)) for key, text in parts.items() if text])


class AddingRewriter(ServiceRewriter):
    """Rewrites a service, and takes the variables out of ``containerEnv`` that are given there alone."""

    __slots__ = ("_added", "_beside", "_own")

    def __init__(self, service: Service, gpu: Span | None, root: Json, own: Collection[str]) -> None:
        """``own`` are the variables that Compose files give to the service."""
        super().__init__(service, gpu)
        self._beside = DevcontainerRewriter(root, RunCommand("docker", (), None, ()))
        self._added = {name.text for name, _, _ in container_environment(root)}
        self._own = own

    def drop_variable(self, name: str) -> Sequence[Change]:
        """A way to take a variable away; none where it is given in both places."""
        if name not in self._added:
            return super().drop_variable(name)
        return self._beside.drop_variable(name) if name not in self._own else ()

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """A way to give a variable another name; none where it is given in both places, or the name is taken."""
        if new in self._added or new in self._own:
            return ()
        if name not in self._added:
            return super().rename_variable(name, new)
        return self._beside.rename_variable(name, new) if name not in self._own else ()

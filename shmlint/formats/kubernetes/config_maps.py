"""ConfigMaps whose contents a container sees as files: scripts in a manifest, or files that kustomize takes one from.

A text in a manifest is no file of the repository. It gets a path below its manifest, ``job.yaml/scripts/train.sh``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from os.path import basename, dirname, join

from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.manifests import Manifest, read_file
from shmlint.formats.kubernetes.tree import Leaf, Map
from shmlint.model.launch import NO_TEXTS, Bind
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source

_MOST = 50
"""So many files of a ConfigMap, and so many of a directory, are read."""


_LARGEST = 200_000
"""Characters of a manifest whose texts are read: each is kept with as much white space as is before it."""


class ConfigMap(NamedTuple):
    """What a ConfigMap holds by its keys: the path of a file, or a text of the manifest at ``path``."""

    path: str
    held: Mapping[str, str | Leaf]

    def place(self, key: str) -> str:
        """The path of what a key holds."""
        value = self.held[key]
        return value if isinstance(value, str) else normal(f"{self.path}/{key}")


ConfigMaps = Mapping[str, ConfigMap]
"""ConfigMaps by their names."""
NO_MAPS: ConfigMaps = {}


def config_maps(manifests: Iterable[Manifest]) -> dict[str, ConfigMap]:
    """The ConfigMaps among some objects; of several with one name none, for nobody knows which one is meant."""
    found: dict[str, ConfigMap] = {}
    names: list[str] = []
    for manifest in manifests:
        data = manifest.root.map("data") if manifest.kind == "ConfigMap" else None
        if data is not None and manifest.name:
            held = {key: field.value for key, field in data.fields.items() if isinstance(field.value, Leaf)}
            names.append(manifest.name)
            found[manifest.name] = ConfigMap(f"{manifest.path}/{manifest.name}", held)
    return {name: each for name, each in found.items() if names.count(name) == 1}


def usable(path: str, nearby: dict[str, ConfigMaps], workspace: Workspace) -> ConfigMaps:
    """The ConfigMaps that the pods of a file may mount: those of the file, else those of its directory.

    ``nearby`` keeps what was found in a directory.
    """
    if "configMap" not in workspace.source(path).text:
        return NO_MAPS
    directory = dirname(path)
    if directory not in nearby:
        nearby[directory] = config_maps(_around(path, workspace))
    return {**nearby[directory], **config_maps(read_file(path, workspace).manifests)}


def _around(path: str, workspace: Workspace) -> Iterator[Manifest]:
    """The objects of the manifests in a file's directory that hold ConfigMaps."""
    directory = dirname(path)
    names = sorted(name for name in workspace.names_in(directory) if name.endswith((".yaml", ".yml")))
    for name in names[:_MOST]:
        there = normal(join(directory, name))
        try:
            if workspace.inside(there, path) and "ConfigMap" in workspace.source(there).text:
                yield from read_file(there, workspace).manifests
        except Unreadable:
            pass


class Mounted(NamedTuple):
    """What a container sees of ConfigMaps: where each file is, and the texts of those that are none."""

    binds: tuple[Bind, ...] = ()
    texts: Mapping[str, Source] = NO_TEXTS


def mounted(body: Map, volumes: Mapping[str, Map], maps: ConfigMaps) -> Mounted:
    """What a container sees of ConfigMaps that ``volumes`` give it, each by its name as it is written."""
    binds: list[Bind] = []
    texts: dict[str, Source] = {}
    for item in body.maps("volumeMounts") if maps else ():
        volume = volumes.get(item.text("name"))
        for path, config_map, key in _files(volume, maps) if volume is not None else ():
            below = item.text("subPath")
            if below and path != below:
                continue
            place, value = config_map.place(key), config_map.held[key]
            if isinstance(value, Leaf) and len(value.span.source.text) > _LARGEST:
                continue
            target = item.text("mountPath") if below else f"{item.text('mountPath').rstrip('/')}/{path}"
            binds.append(Bind(place, target, item.span, resolved=True))
            if isinstance(value, Leaf):
                texts[place] = text_of(value)
    return Mounted(tuple(binds), texts)


def _files(volume: Map, maps: ConfigMaps) -> Iterator[tuple[str, ConfigMap, str]]:
    """The files that a volume has of ConfigMaps: the path in it, the ConfigMap, and the key."""
    own = volume.map("configMap")
    given = [(own, own.text("name"))] if own is not None else []
    given += [(each, each.text("name")) for s in volume.maps("projected", "sources") if (each := s.map("configMap"))]
    for source, name in given:
        config_map = maps.get(name)
        if config_map is None:
            continue
        items = source.maps("items")
        paths = {item.text("path"): item.text("key") for item in items} if items else {k: k for k in config_map.held}
        for path, key in list(paths.items())[:_MOST]:
            if key in config_map.held:
                yield path, config_map, key


@lru_cache(_MOST)
def text_of(leaf: Leaf) -> Source:
    """The text of a value, with white space in place of all before it, so that its lines are those of the file."""
    source, start = leaf.span.source, leaf.span.start
    if source.text[start : start + 1] in ("|", ">"):
        start = source.text.find("\n", start) + 1
    return Source(source.path, re.sub(r"[^\n]", " ", source.text[:start]) + leaf.text)


def generated(path: str, root: Map, inherited: ConfigMaps) -> Iterator[tuple[str, ConfigMap]]:
    """The ConfigMaps that a kustomization generates from files, by name; one may add to that of a base."""
    for entry in root.maps("configMapGenerator"):
        name = entry.text("name")
        held: dict[str, str | Leaf] = {}
        if entry.text("behavior") == "merge" and name in inherited:
            held.update(inherited[name].held)
        for text in entry.texts("files"):
            key, _, file = text.rpartition("=")
            held[key or basename(file)] = normal(f"{dirname(path) or '.'}/{file}")
        yield name, ConfigMap(f"{path}/{name}", held)

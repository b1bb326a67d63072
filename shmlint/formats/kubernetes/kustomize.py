"""Kustomizations: bases and strategic-merge patches put together, as ``kustomize build`` does for plain resources.

What else a kustomization does makes what it touches unknown: JSON patches (RFC 6902), components,
transformers, replacements. Generators make objects that hold no pods.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.config_maps import NO_MAPS, ConfigMap, ConfigMaps, config_maps, generated
from shmlint.formats.kubernetes.manifests import Manifest, read_file
from shmlint.formats.kubernetes.tree import Field, Leaf, List, Map, Tree, build
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.yaml import YamlError
from shmlint.syntax.yaml_read import parse_part, read_documents

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

MOST_DEEP = 20
"""So many kustomizations on top of each other are followed."""

MOST_DIRECTORIES = 20_000
MOST_USERS = 200
"""So many directories are searched for kustomizations that use a file, and so many of these are read again."""


class Object(NamedTuple):
    """An object as a kustomization builds it. ``files`` are the manifests and patches that make it up."""

    manifest: Manifest
    files: tuple[str, ...]
    unknown: str = ""
    """Why more may be said of it than is known here."""


class Built(NamedTuple):
    """What a kustomization builds, and every file that it is made of."""

    objects: tuple[Object, ...] = ()
    files: frozenset[str] = frozenset()
    config_maps: ConfigMaps = NO_MAPS
    """The ConfigMaps that it holds, and those that it generates from files."""


def users(paths: Collection[str], named: Collection[str], workspace: Workspace) -> list[str] | None:
    """The kustomizations that build with some files, without those that are named; None if there are too many to find.

    They are looked for in the repository of these files, or under the working directory outside of one.
    """
    real_top = os.path.realpath(workspace.top or ".")
    roots = {workspace.root(path) or real_top for path in paths if _may_be_used(path, workspace)}
    found: list[str] = []
    for count, directory in enumerate(_directories(roots)):
        if count > MOST_DIRECTORIES or len(found) > MOST_USERS:
            return None
        here = os.path.relpath(directory, real_top)
        there = _in_directory(here, workspace)
        if there is None or there in named or not workspace.inside(there, there):
            continue
        if not built(there, workspace).files.isdisjoint(paths):
            found.append(there)
    return found


def _may_be_used(path: str, workspace: Workspace) -> bool:
    """Whether there is a kustomization in a file's directory or above: kustomize reads no files that lie elsewhere."""
    return any(_in_directory(directory or ".", workspace) is not None for directory in workspace.upwards(path))


def _directories(roots: Iterable[str]) -> Iterator[str]:
    """The directories under some, without hidden ones and those of installed packages."""
    for root in sorted(roots):
        for directory, inner, _ in os.walk(root):
            inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "node_modules")
            yield directory


class _Patch(NamedTuple):
    path: str
    root: Map | None
    """None where it is not a strategic-merge patch."""
    target: Map | None


def is_kustomization(path: str) -> bool:
    """Whether a file has one of the names that kustomize looks for."""
    return os.path.basename(path) in NAMES


def built(path: str, workspace: Workspace, depth: int = 0) -> Built:
    """The objects of the kustomization in a file."""
    root = _load(path, workspace)
    if root is None or depth > MOST_DEEP:
        return Built(files=frozenset((normal(path),)))
    files = {normal(path)}
    found: list[Object] = []
    inherited: dict[str, ConfigMap] = {}
    for name in (name for key in ("resources", "bases", "components") for name in root.texts(key)):
        part = _resource(path, name, workspace, depth)
        files |= part.files
        found += part.objects
        inherited |= part.config_maps
    because = next((text for key, text in _UNKNOWN.items() if root.get(key) is not None), "")
    if because:
        found = [object_._replace(unknown=object_.unknown or because) for object_ in found]
    for patch in _patches(path, root, workspace):
        files.add(normal(patch.path))
        found = [_patched(object_, patch) for object_ in found]
    images = root.maps("images")
    maps = inherited | config_maps(object_.manifest for object_ in found) | dict(generated(path, root, inherited))
    return Built(tuple(_with_images(object_, images) for object_ in found), frozenset(files), maps)


_UNKNOWN = {
    "components": "a component of the kustomization may change it",
    "transformers": "a transformer of the kustomization may change it",
    "replacements": "a replacement of the kustomization may change it",
    "patchesJson6902": "a JSON patch of the kustomization may change it",
    "openapi": "the kustomization merges lists by a schema of its own",
    "vars": "a variable of the kustomization may be in it",
}


def _load(path: str, workspace: Workspace) -> Map | None:
    try:
        source = workspace.source(path)
        documents = read_documents(path, workspace)
    except Unreadable:
        return None
    root = build(documents[0].root, source) if documents else None
    return root if isinstance(root, Map) else None


def _local(path: str, name: str, workspace: Workspace) -> str | None:
    """The path of what a kustomization names; None for what lies elsewhere."""
    if "://" in name or name.startswith(("/", "git@", "github.com/")) or "?ref=" in name:
        return None
    there = normal(os.path.join(os.path.dirname(path), name))
    return there if workspace.inside(there, path) else None


def _in_directory(directory: str, workspace: Workspace) -> str | None:
    """The kustomization of a directory."""
    names = set(workspace.names_in(directory))
    return next((normal(os.path.join(directory, name)) for name in NAMES if name in names), None)


def _resource(path: str, name: str, workspace: Workspace, depth: int) -> Built:
    """The objects of a resource, and the files that it is made of."""
    there = _local(path, name, workspace)
    if there is None:
        return Built()
    inner = _in_directory(there, workspace)
    if inner is not None:
        return built(inner, workspace, depth + 1)
    if not workspace.exists(there) or is_kustomization(there):
        return Built()
    objects = tuple(Object(manifest, (there,)) for manifest in read_file(there, workspace).manifests)
    return Built(objects, frozenset((there,)))


# Patches -----------------------------------------------------------------------------------------


def _patches(path: str, root: Map, workspace: Workspace) -> Iterator[_Patch]:
    """The patches of a kustomization, in their order."""
    for item in _items(root.get("patchesStrategicMerge")):
        if isinstance(item, Leaf):
            yield from _read_patch(path, item, None, workspace, inline="\n" in item.text)
    for entry in root.maps("patchesJson6902"):
        there = _local(path, entry.text("path"), workspace) if entry.text("path") else None
        if there is not None:
            yield _Patch(there, None, entry.map("target"))
    for entry in root.maps("patches"):
        file, text = entry.leaf("path"), entry.leaf("patch")
        if file is not None:
            yield from _read_patch(path, file, entry.map("target"), workspace, inline=False)
        elif text is not None:
            yield from _read_patch(path, text, entry.map("target"), workspace, inline=True)


def _items(tree: Tree | None) -> Sequence[Tree]:
    return tree.items if isinstance(tree, List) else ()


def _read_patch(
    path: str, leaf: Leaf, target: Map | None, workspace: Workspace, *, inline: bool
) -> Iterator[_Patch]:
    """The patches of a file, or of a text in the kustomization itself."""
    if inline:
        yield from (_Patch(path, root, target) for root in _inline(leaf.span))
        return
    there = _local(path, leaf.text, workspace)
    if there is None:
        return
    try:
        source, documents = workspace.source(there), read_documents(there, workspace)
    except Unreadable:
        yield _Patch(there, None, target)
        return
    for document in documents:
        root = build(document.root, source)
        yield _Patch(there, root if isinstance(root, Map) and not _directs(root) else None, target)


def _inline(span: Span) -> Iterator[Map | None]:
    """A patch that is written as a block of text; it is read and never edited."""
    source: Source = span.source
    newline = source.text.find("\n", span.start)
    if source.text[span.start : span.start + 1] not in ("|", ">") or not 0 <= newline < span.end:
        yield None
        return
    try:
        documents = parse_part(source, newline + 1, span.end)
    except YamlError:
        yield None
        return
    for document in documents:
        root = build(document.root, source, fixed=True)
        yield root if isinstance(root, Map) and not _directs(root) else None


def _directs(tree: Tree) -> bool:
    """Whether a patch holds directives (``$patch: delete``), which are not followed."""
    if isinstance(tree, Map):
        return any(name.startswith("$") or _directs(field.value) for name, field in tree.fields.items())
    return isinstance(tree, List) and any(map(_directs, tree.items))


def _patched(object_: Object, patch: _Patch) -> Object:
    """An object with a patch in it, where it is meant by it."""
    meant = _meant(object_.manifest, patch)
    if meant is False:
        return object_
    files = tuple(dict.fromkeys((*object_.files, normal(patch.path))))
    if meant is None or patch.root is None:
        return object_._replace(files=files, unknown=object_.unknown or "a patch of the kustomization may change it")
    kept = {name: field for name, field in patch.root.fields.items() if name not in ("metadata", "apiVersion", "kind")}
    listed = object_.manifest.kind in _MERGED
    merged = merge(object_.manifest.root, patch.root._replace(fields=kept), listed=listed)
    assert isinstance(merged, Map)
    return object_._replace(manifest=object_.manifest._replace(root=merged), files=files)


def _meant(manifest: Manifest, patch: _Patch) -> bool | None:
    """Whether a patch is for an object; None where that is not known."""
    target = patch.target
    if target is None:
        root = patch.root
        if root is None:
            return None
        return (root.text("kind"), root.text("metadata", "name")) == (manifest.kind, manifest.name)
    for key, given in (("kind", manifest.kind), ("name", manifest.name)):
        wanted = target.text(key)
        try:
            if wanted and not re.fullmatch(wanted, given):
                return False
        except re.error:
            return None
    return None if any(target.get(key) for key in ("labelSelector", "annotationSelector")) else True


_MERGED = frozenset(
    {"Pod", "PodTemplate", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job",
     "CronJob"}
)  # fmt: skip
"""Kinds whose lists are merged by a key. The lists of other kinds are replaced."""
_KEYS = {
    "containers": "name", "initContainers": "name", "ephemeralContainers": "name", "volumes": "name", "env": "name",
    "imagePullSecrets": "name", "volumeMounts": "mountPath", "volumeDevices": "devicePath", "ports": "containerPort",
    "hostAliases": "ip", "resourceClaims": "name", "topologySpreadConstraints": "topologyKey",
}  # fmt: skip
"""The keys by which the lists of a pod are merged (kubernetes staging/src/k8s.io/api/core/v1/types.go)."""


def merge(base: Tree, patch: Tree, key: str = "", *, listed: bool) -> Tree:
    """A value with a strategic-merge patch in it. ``listed``: lists are merged by their keys."""
    if isinstance(base, Map) and isinstance(patch, Map):
        fields = dict(base.fields)
        for name, field in patch.fields.items():
            known = fields.get(name)
            if isinstance(field.value, Leaf) and field.value.null:
                fields.pop(name, None)
            elif known is None:
                fields[name] = field
            else:
                value = merge(known.value, field.value, name, listed=listed)
                own = field.key if value is field.value else known.key
                fields[name] = Field(own, value)
        return base._replace(fields=fields, written=(*base.written, *patch.written))
    if isinstance(base, Leaf) and isinstance(patch, Leaf) and (base.text, base.plain) == (patch.text, patch.plain):
        return base  # a name stands where the object is written, not in the patch
    by = _KEYS.get(key, "")
    if listed and by and isinstance(base, List) and isinstance(patch, List):
        return _merged(base, patch, by)
    return patch


def _merged(base: List, patch: List, by: str) -> List:
    items = list(base.items)
    for item in patch.items:
        name = item.text(by) if isinstance(item, Map) else ""
        at = next((i for i, old in enumerate(items) if isinstance(old, Map) and name and old.text(by) == name), None)
        if at is None:
            items.append(item)
        else:
            items[at] = merge(items[at], item, listed=True)
    return List(base.span, tuple(items), (*base.written, *patch.written))


# Images ------------------------------------------------------------------------------------------


def _with_images(object_: Object, images: Iterable[Map]) -> Object:
    """An object with other names and tags for some images."""
    changes = {image.text("name"): image for image in images}
    if not changes:
        return object_
    root = _renamed(object_.manifest.root, changes)
    assert isinstance(root, Map)
    return object_._replace(manifest=object_.manifest._replace(root=root))


def _renamed(tree: Tree, changes: dict[str, Map]) -> Tree:
    if isinstance(tree, List):
        return tree._replace(items=tuple(_renamed(item, changes) for item in tree.items))
    if not isinstance(tree, Map):
        return tree
    fields = {name: Field(field.key, _renamed(field.value, changes)) for name, field in tree.fields.items()}
    image = tree.leaf("image")
    if image is not None:
        match = re.fullmatch(r"(.*?)(:[\w.-]+)?(@[\w:]+)?", image.text)
        change = changes.get(match[1]) if match is not None else None
        if match is not None and change is not None:
            tag, digest = change.text("newTag"), change.text("digest")
            end = f"@{digest}" if digest else f":{tag}" if tag else (match[2] or "") + (match[3] or "")
            text = (change.text("newName") or match[1]) + end
            fields["image"] = Field(tree.fields["image"].key, image._replace(text=text))
    return tree._replace(fields=fields)



"""Manifests: the objects of files, their pods, and the containers of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.config_maps import NO_MAPS, ConfigMaps, usable
from shmlint.formats.kubernetes.containers import Owner, read_pod
from shmlint.formats.kubernetes.manifests import Manifest, read_file
from shmlint.formats.kubernetes.pods import Pod, find
from shmlint.formats.kubernetes.ranks import (
    runs_daemon,
    runs_launcher,
    share_of,
    slots_of,
    started_by,
    with_processes,
)
from shmlint.formats.kubernetes.rewrite import PodRewriter
from shmlint.formats.kubernetes.tree import Map
from shmlint.formats.unread import in_manifest
from shmlint.model.launch import Combination, Launch, ReadOnly
from shmlint.model.number import whole_number
from shmlint.model.reading import NotRead, Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Span


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers of all pods that the files describe."""
    found: list[Launch] = []
    problems: list[Problem] = []
    not_read: list[NotRead] = []
    kustomizations = [path for path in paths if _is_kustomization(path)]
    parts: frozenset[str] = frozenset()
    if kustomizations:
        kustomized, parts = _kustomized(kustomizations, workspace, settings)
        found += kustomized
    nearby: dict[str, ConfigMaps] = {}
    for path in paths:
        if _is_kustomization(path):
            continue
        file = read_file(path, workspace)
        problems += (file.problem,) if file.problem is not None else ()
        not_read += file.not_read
        if file.manifests:
            not_read += in_manifest(workspace.source(path))
        if file.manifests and normal(path) not in parts:
            maps = usable(path, nearby, workspace)
            for manifest in file.manifests:
                found += launches(manifest, (path,), settings, maps=maps)
    found.sort(key=lambda launch: (launch.span.path, launch.span.start))
    return Reading(tuple(found), tuple(problems), not_read=tuple(not_read))


def _is_kustomization(path: str) -> bool:
    return path.lower().endswith(("kustomization.yaml", "kustomization.yml", "kustomization"))


def _kustomized(
    paths: Sequence[str], workspace: Workspace, settings: Settings
) -> tuple[list[Launch], frozenset[str]]:
    """The containers of what kustomizations build, and the files that these are made of.

    A kustomization that others build upon is judged as they build it.
    """
    from shmlint.formats.kubernetes.kustomize import built

    every = {normal(path): built(path, workspace) for path in paths}
    parts = frozenset(file for path, made in every.items() for file in made.files if file != path)
    tops = {path: made for path, made in every.items() if path not in parts}
    found: list[tuple[str, Launch]] = []
    for path, made in tops.items():
        for object_ in made.objects:
            files = (path, *(file for file in object_.files if file != path))
            own = launches(object_.manifest, files, settings, object_.unknown, made.config_maps)
            found += ((path, launch) for launch in own)
    return list(_told_apart(found)), parts


def _told_apart(found: Sequence[tuple[str, Launch]]) -> Iterator[Launch]:
    """The containers that kustomizations build. Where one is built in several ways, each says by which of them."""
    ways: dict[Span, list[tuple[Launch, list[str]]]] = {}
    for path, launch in found:
        known = ways.setdefault(launch.span, [])
        same = next((paths for other, paths in known if other == _bare(launch)), None)
        if same is None:
            known.append((_bare(launch), [path]))
        else:
            same.append(path)
    for _, launch in found:
        known = ways[launch.span]
        if len(known) > 1:
            paths = next(paths for other, paths in known if other == _bare(launch))
            launch = launch._replace(combination=Combination(tuple(paths), "each"))
        yield launch


_REWRITER = ReadOnly()


def _bare(launch: Launch) -> Launch:
    """A launch without what differs between kustomizations that build it in the same way."""
    return launch._replace(rewriter=_REWRITER, files=())


def launches(
    manifest: Manifest, files: tuple[str, ...], settings: Settings, unknown: str = "", maps: ConfigMaps = NO_MAPS
) -> Iterator[Launch]:
    """The containers of an object's pods. ``unknown`` is why more may be said of it than is known."""
    root = manifest.root
    claims = {text for claim in root.maps("spec", "volumeClaimTemplates") if (text := claim.text("metadata", "name"))}
    name = manifest.name
    label = f"{manifest.kind} `{name}`" if name else f"a {manifest.kind}"
    owner = Owner(label, name, files, frozenset(claims), unknown, maps)
    every = find(root, settings.of(files[0]).pod_kinds)
    pods = [(pod, list(read_pod(pod, owner, partial(PodRewriter, pods=every)))) for pod in every]
    if manifest.kind == "MPIJob":
        pods = _with_launcher(root, pods)
    elif manifest.kind == "Job" and root.get("spec", "tasks") is not None:
        pods = _with_tasks(root, pods)
    for _, containers in pods:
        yield from (with_processes(launch, root) if manifest.kind == "PyTorchJob" else launch for launch in containers)


Pods = list[tuple[Pod, list[Launch]]]
"""The pods of an object with their containers."""


def _with_launcher(root: Map, pods: Pods) -> Pods:
    """The pods of an MPIJob; its workers run what its launcher starts in them."""
    roles = {name: root.map("spec", "mpiReplicaSpecs", name, "template", "spec") for name in ("Launcher", "Worker")}
    launcher = next((own[0] for pod, own in pods if pod.spec is roles["Launcher"]), None)
    slots = slots_of(root)
    if launcher is None or slots is None:
        return pods
    return _started(pods, launcher, slots, lambda pod: pod.spec is roles["Worker"])


def _with_tasks(root: Map, pods: Pods) -> Pods:
    """The pods of a job of Volcano; where one task starts MPI, those that wait for it run its ranks."""
    replicas = {
        id(spec): whole_number(task.text("replicas") or "1") or 0
        for task in root.maps("spec", "tasks") if (spec := task.map("template", "spec")) is not None
    }  # fmt: skip
    waiting = {id(pod.spec) for pod, own in pods if runs_daemon(own[0])}
    workers = sum(replicas.get(spec, 0) for spec in waiting)
    for pod, own in pods:
        ranks = share_of(own[0], workers) if id(pod.spec) not in waiting else None
        if ranks is not None:
            return _started(pods, own[0], ranks, lambda pod: id(pod.spec) in waiting)
    return pods


def _started(pods: Pods, launcher: Launch, ranks: int, is_worker: Callable[[Pod], bool]) -> Pods:
    return [
        (pod, [started_by(own[0], launcher, ranks), *own[1:]])
        if is_worker(pod) and runs_launcher(own[0]) else (pod, own)
        for pod, own in pods
    ]  # fmt: skip

"""Stack files: compose files that are started by ``docker stack deploy``, on a swarm.

The docker client reads them with an older schema of its own (docker/cli cli/compose/schema) and
makes swarm services of them, in which there is no place for ``shm_size``, ``ipc``, ``devices`` or
the short ``tmpfs`` (cli/compose/types/types.go, cli/compose/convert/service.go).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from shmlint.docker.sizes import human
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.mounts import read_mounts
from shmlint.formats.compose.project import Body, Project, Service
from shmlint.formats.compose.rewrite import ServiceRewriter
from shmlint.formats.compose.splice import (
    change_at,
    end_of,
    indentation_of,
    line_edit,
    neighbour_of,
    newline_of,
    quotation_mark,
    quoted_like,
)
from shmlint.formats.compose.tree import Branch, Layer, Leaf, items_of
from shmlint.model.launch import Change, Words
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Span
from shmlint.syntax.yaml import MappingNode, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents

SERVICE_KEYS = frozenset(
    {
        "build", "cap_add", "cap_drop", "cgroup_parent", "cgroupns_mode", "command", "configs", "container_name",
        "credential_spec", "depends_on", "deploy", "devices", "dns", "dns_search", "domainname", "entrypoint",
        "env_file", "environment", "expose", "external_links", "extra_hosts", "healthcheck", "hostname", "image",
        "init", "ipc", "isolation", "labels", "links", "logging", "mac_address", "network_mode", "networks",
        "oom_score_adj", "pid", "ports", "privileged", "read_only", "restart", "secrets", "security_opt", "shm_size",
        "stdin_open", "stop_grace_period", "stop_signal", "sysctls", "tmpfs", "tty", "ulimits", "user",
        "userns_mode", "volumes", "working_dir",
    }
)  # fmt: skip
"""What the schema lets a service have. ``gpus``, ``runtime``, ``profiles``, ``extends``, … are refused."""

TOP_KEYS = frozenset({"version", "services", "networks", "volumes", "secrets", "configs"})
DEPLOY_KEYS = frozenset(
    {
        "mode", "endpoint_mode", "replicas", "labels", "rollback_config", "update_config", "resources",
        "restart_policy", "placement",
    }
)  # fmt: skip
_LIMITS = frozenset({"cpus", "memory", "pids"})
_RESERVATIONS = frozenset({"cpus", "memory", "generic_resources"})

DROPPED = frozenset({"devices", "network_mode", "pid", "privileged", "security_opt"})
"""Keys that decide something elsewhere and nothing here. ``shm_size``, ``ipc`` and ``tmpfs`` are kept
for the rule that says so."""

_COMPOSE_SIGNS = DROPPED | {"build", "tmpfs", "container_name", "external_links", "links", "restart", "userns_mode"}
"""Keys that mean nothing to a swarm: a file that has them is meant for Compose too."""

_VERSION = r"3(?:\.(?:\d|1[0-3]))?"
_NAMED = r"(?i)(?:docker-?)?stack(?:[._-].*)?|(?:docker-)?compose[._-]stack(?:[._-].*)?"
_SWARM = r"(?i)(?:.*[._-])?swarm(?:[._-].*)?"


def why(project: Project, workspace: Workspace, settings: Settings) -> str:
    """Why files are taken to be started by ``docker stack deploy``; empty where they are not.

    Files that the docker client refuses never are.
    """
    because = ""
    if settings.engine == "swarm":
        because = "the settings contain `engine: swarm`"
    elif named := next((f for f in project.files if is_named_a_stack(f)), None):
        because = f"{os.path.basename(named)} has the name of a stack file"
    elif key := _only_swarm(project):
        because = f"`{key}` is used by a swarm only"
    return because if because and _accepted(project, workspace) else ""


def is_named_a_stack(path: str) -> bool:
    """Whether people call a file like this when they deploy it on a swarm.

    >>> is_named_a_stack("docker-stack.yml"), is_named_a_stack("full-stack.yml")
    (True, False)
    """
    stem = os.path.splitext(os.path.basename(path))[0]
    return re.fullmatch(_NAMED, stem) is not None or re.fullmatch(_SWARM, stem) is not None


def _only_swarm(project: Project) -> str:
    """The key by which a file cannot be meant for Compose; empty where there is none."""
    found = ""
    for service in project.services.values():
        if not _COMPOSE_SIGNS.isdisjoint(service.tree.entries):
            return ""
        deploy = service.tree.get("deploy")
        if not isinstance(deploy, Branch):
            continue
        if any(True for _ in items_of(deploy.get("resources", "reservations", "generic_resources"))):
            found = found or "deploy.resources.reservations.generic_resources"
        elif isinstance(deploy.get("placement"), Branch):
            found = found or "deploy.placement"
        elif deploy.leaf("endpoint_mode") is not None:
            found = found or "deploy.endpoint_mode"
        elif (mode := deploy.leaf("mode")) is not None and mode.text in ("global", "global-job", "replicated-job"):
            found = found or f"deploy.mode: {mode.text}"
    return found


def _accepted(project: Project, workspace: Workspace) -> bool:
    """Whether the client takes the files, as far as their keys and a few values tell."""
    for path in project.files:
        try:
            documents = read_documents(path, workspace)
        except Unreadable:
            return False
        for document in documents:
            root = Layer(document.source, {}, "").tree(document.root)
            if not isinstance(root, Branch) or not _all_known(root, TOP_KEYS):
                return False
            version = root.leaf("version")
            if version is not None and (version.kind != "str" or not re.fullmatch(_VERSION, version.written)):
                return False
    services = [service.tree for service in project.services.values()]
    return bool(services) and all(map(_accepted_service, services))


def _accepted_service(service: Branch) -> bool:
    shm = service.get("shm_size")
    if (
        not _all_known(service, SERVICE_KEYS)
        or service.leaf("image") is None
        or isinstance(service.get("depends_on"), Branch)
        or any(not isinstance(item, Leaf) for item in items_of(service.get("env_file")))
        or (shm is not None and not (isinstance(shm, Leaf) and shm.kind == "str"))
    ):
        return False
    deploy = service.get("deploy")
    if not isinstance(deploy, Branch):
        return True
    return _all_known(deploy, DEPLOY_KEYS) and all(
        not isinstance(part, Branch) or _all_known(part, keys)
        for part, keys in (
            (deploy.get("resources"), {"limits", "reservations"}),
            (deploy.get("resources", "limits"), _LIMITS),
            (deploy.get("resources", "reservations"), _RESERVATIONS),
        )
    )


def _all_known(branch: Branch, keys: frozenset[str] | set[str]) -> bool:
    return all(name in keys or name.startswith("x-") for name in branch.entries)


def kept(service: Branch) -> Branch:
    """A service without what a swarm service has no place for."""
    entries = {name: entry for name, entry in service.entries.items() if name not in DROPPED}
    return Branch(service.node, service.layer, entries, service.resets, service.overrides)


class StackRewriter(ServiceRewriter):
    """Rewrites a service of a stack: its size is a mount, and it has no IPC mode."""

    __slots__ = ()

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to mount a tmpfs of so many bytes on /dev/shm, the best first."""
        return list(self._mounted(size))

    def drop_shm_size(self) -> Sequence[Change]:
        """None: the size of a stack's /dev/shm is that of a mount."""
        return ()

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """None: ``docker stack deploy`` drops it."""
        return ()

    def _mounted(self, size: int) -> Iterator[Change]:
        if any(mount.target == "/dev/shm" for mount in read_mounts(self.service.tree)):
            return  # Compose refuses a second mount, and the file may be its too
        entry = self.service.tree.entries.get("volumes")
        for body in self.bodies():
            node = body.node
            if not isinstance(node, MappingNode) or not node.pairs:
                continue
            written = node.get("volumes")
            if isinstance(written, SequenceNode):
                yield from _append(body, node, written, size)
            elif written is None and entry is None:
                yield _new_key(body, node, size)
            # Volumes that come through an alias or a merge key would be lost by a key of its own.


def rewriting(
    project: Project, workspace: Workspace, words: Words
) -> tuple[Callable[[Service, Span | None], ServiceRewriter], Words]:
    """How the services of a stack are rewritten, and what to say where they cannot be."""
    if _can_size_mounts(project, workspace):
        return StackRewriter, words._replace(by_hand=BY_HAND)
    return _Fixed, words._replace(by_hand=f'write `version: "3.6"` or a later one; then {BY_HAND}')


BY_HAND = "mount a tmpfs of {size} on /dev/shm, in the long form of `volumes`"


class _Fixed(StackRewriter):
    """A service of a stack whose version does not know the size of a tmpfs."""

    __slots__ = ()

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """None."""
        return ()


def _can_size_mounts(project: Project, workspace: Workspace) -> bool:
    """Whether the files' versions know the size of a tmpfs: 3.6 is the first."""
    for path in project.files:
        for document in read_documents(path, workspace):
            root = Layer(document.source, {}, "").tree(document.root)
            version = root.leaf("version") if isinstance(root, Branch) else None
            if version is not None and version.text in ("3.0", "3.1", "3.2", "3.3", "3.4", "3.5"):
                return False
    return True


def _title(body: Body, at: int, size: int, *edits: Edit) -> Change:
    source = body.layer.source
    return change_at(f"mount a tmpfs of {human(size)} on /dev/shm after", source, at, source, *edits)


def _in_flow(node: MappingNode, size: int) -> str:
    """The mount in braces, with the quotation marks that the keys of the service have."""
    q = quotation_mark(node)
    return (
        f"{{{q}type{q}: {q}tmpfs{q}, {q}target{q}: {q}/dev/shm{q}, "
        f"{q}tmpfs{q}: {{{q}size{q}: {size}}}}}"
    )


def _append(body: Body, service: MappingNode, volumes: SequenceNode, size: int) -> Iterator[Change]:
    """One more item at the end of a list of volumes."""
    source = body.layer.source
    text = source.text
    if volumes.flow:
        item = _in_flow(service, size)
        if not volumes.items:
            at = volumes.start + 1
            yield _title(body, at, size, Edit(source.path, at, at, item))
            return
        last = volumes.items[-1]
        at = end_of(text, last, last)
        start = text.rfind("\n", 0, last.start) + 1
        indentation = text[start : last.start]
        first = volumes.items[0]
        if not indentation.strip() and first.start != last.start:
            edit = Edit(source.path, at, at, f",{newline_of(source, last.start)}{indentation}{item}")
        else:
            edit = Edit(source.path, at, at, f", {item}")
        yield _title(body, last.start, size, edit)
        return
    if not volumes.items:
        return
    last = volumes.items[-1]
    dash = text.rfind("-", 0, last.start)
    indentation = indentation_of(text, dash)
    end = end_of(text, last, last, len(indentation))
    step = " " * (last.start - dash) if text[dash + 1 : last.start].isspace() and "\n" not in text[
        dash:last.start
    ] else "  "
    lines = _block(indentation, step, size)
    yield _title(body, max(end - 1, 0), size, _lines(body, end, lines))


def _new_key(body: Body, node: MappingNode, size: int) -> Change:
    """``volumes`` with the mount as its only item."""
    source = body.layer.source
    text = source.text
    sizes = [pair for pair in node.pairs if isinstance(pair[0], Scalar) and pair[0].value == "shm_size"]
    key, value = sizes[0] if sizes else neighbour_of(node)
    end = end_of(text, key, value, len(indentation_of(text, key.start)))
    if node.flow:
        pair = f"{quoted_like(node, 'volumes')}: [{_in_flow(node, size)}]"
        return _title(body, key.start, size, Edit(source.path, end, end, f", {pair}"))
    indentation = indentation_of(text, key.start)
    if quotation_mark(node):
        lines = [f"{indentation}{quoted_like(node, 'volumes')}: [{_in_flow(node, size)}]"]
    else:
        lines = [f"{indentation}volumes:", *_block(indentation + _step(node, text), "  ", size)]
    return _title(body, max(end - 1, 0), size, _lines(body, end, lines))


def _step(node: MappingNode, text: str) -> str:
    """How far the lists of a service are indented: as its first one does, else two blanks."""
    for key, value in node.pairs:
        if isinstance(value, SequenceNode) and not value.flow and value.items:
            dash = text.rfind("-", 0, value.items[0].start)
            return " " * max(len(indentation_of(text, dash)) - len(indentation_of(text, key.start)), 0)
    return "  "


def _block(indentation: str, step: str, size: int) -> list[str]:
    inner = f"{indentation}{' ' * len(step)}"
    return [
        f"{indentation}-{step[1:]}type: tmpfs",
        f"{inner}target: /dev/shm",
        f"{inner}tmpfs:",
        f"{inner}  size: {size}  # {human(size)}",
    ]


def _lines(body: Body, end: int, lines: Sequence[str]) -> Edit:
    source = body.layer.source
    newline = newline_of(source, max(end - 1, 0))
    return line_edit(source, end, newline.join(lines))


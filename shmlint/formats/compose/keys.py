"""What Compose takes as the value of each key of a service, and of what a file defines beside services.

Compose 2.40 was asked for each of them; the tests ask it again. A key that only a later version knows is listed, too,
so that no file is said to be refused which the next version starts.
"""

from __future__ import annotations

from collections.abc import Mapping

from shmlint.model.record import NamedTuple


class Takes(NamedTuple):
    """The values that are taken at one place."""

    shown: str
    kinds: frozenset[str] = frozenset()
    """Of a YAML value: those of a scalar, `list`, `mapping`; none where any value will do."""
    text: str = ""
    """What a string must hold: a `whole` number, a `number`, a `switch`, a `duration`, a `port`, a `host` …"""
    items: Takes | None = None
    values: Takes | None = None
    """Of a mapping with any keys."""
    keys: Mapping[str, Takes] | None = None
    """Of a mapping with these keys and no others but `x-…`."""
    needs: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    least: int | None = None
    """The smallest number that is taken."""
    named: bool = False
    """Whether the keys of a mapping with any keys are names of services or of what they share."""
    unique: bool = False
    """Whether a list may not have an item twice."""


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _list(items: Takes, shown: str = "a list") -> Takes:
    return Takes(shown, _kinds("list"), items=items)


def _mapping(keys: Mapping[str, Takes], needs: tuple[str, ...] = (), shown: str = "a mapping") -> Takes:
    return Takes(shown, _kinds("mapping"), keys=keys, needs=needs)


def _or(one: Takes, other: Takes, shown: str) -> Takes:
    """What is taken in either of two forms; of lists and of mappings at most one says what is in them."""
    return Takes(
        shown,
        one.kinds | other.kinds,
        one.text or other.text,
        one.items or other.items,
        one.values or other.values,
        one.keys or other.keys,
        one.needs or other.needs,
        unique=one.unique or other.unique,
    )


ANY = Takes("any value")
TEXT = Takes("a string", _kinds("str"))
_TEXT_OR_NUMBER = Takes("a string or a number", _kinds("str int float"))
_TEXT_OR_WHOLE = Takes("a string or a whole number", _kinds("str int"))
_SWITCH = Takes("true or false", _kinds("bool str"), text="switch")
_WHOLE = Takes("a whole number", _kinds("int str"), text="whole")
_NUMBER = Takes("a number", _kinds("int float str"), text="number")
_COUNT = Takes("a whole number", _kinds("int float str"), text="whole")
_SIZE = Takes("a size", _kinds("int float str"))
_NATURAL = _WHOLE._replace(shown="a whole number, 0 or more", least=0)
_DURATION = Takes("a duration, such as `30s` or `1m30s`", _kinds("str"), text="duration")
_NULL = Takes("nothing", _kinds("null"))
_SCALARS = Takes("a string, a number, true or false", _kinds("str int float bool null"))

_TEXTS = _list(TEXT, "a list of strings")
_DISTINCT_TEXTS = _TEXTS._replace(unique=True)
_TEXT_OR_LIST = _or(TEXT, _TEXTS, "a string or a list")
_WORDS = _or(_TEXT_OR_LIST, _NULL, "a string or a list")
_PAIRS = _or(Takes("", _kinds("mapping"), values=_SCALARS), _TEXTS, "a mapping, or a list of NAME=value")
_HOST = Takes("a host and its address: `NAME:ADDRESS`", _kinds("str"), text="host")
_HOSTS = _or(Takes("", _kinds("mapping"), values=_TEXT_OR_LIST), _list(_HOST), "a mapping or a list")
_OPTIONS = Takes("a mapping", _kinds("mapping"), values=_TEXT_OR_NUMBER)
_LOG_OPTIONS = Takes("a mapping", _kinds("mapping"), values=_or(_TEXT_OR_NUMBER, _NULL, _TEXT_OR_NUMBER.shown))

_BOTH_LIMITS = _mapping({"soft": _WHOLE, "hard": _WHOLE}, needs=("soft", "hard"))
_ULIMIT = _or(_WHOLE, _BOTH_LIMITS, "a whole number (-1 is no limit), or a mapping with `soft` and `hard`")
_ULIMITS = Takes("a mapping", _kinds("mapping"), values=_ULIMIT)

_UPDATE = _mapping({
    "parallelism": _WHOLE, "delay": _DURATION, "failure_action": TEXT, "monitor": _DURATION,
    "max_failure_ratio": _NUMBER, "order": TEXT._replace(one_of=("start-first", "stop-first")),
})  # fmt: skip
# Sizes of memory, requests for devices and `shm_size` have checks of their own, which say more.
_LIMITS = _mapping({"cpus": _NUMBER, "memory": ANY, "pids": _WHOLE})
_RESERVATIONS = _mapping({"cpus": _NUMBER, "memory": ANY, "generic_resources": _list(ANY), "devices": ANY})
_DEPLOY = _mapping({
    "mode": TEXT, "endpoint_mode": TEXT, "labels": _PAIRS, "replicas": _NATURAL, "rollback_config": _UPDATE,
    "update_config": _UPDATE,
    "resources": _mapping({"limits": _LIMITS, "reservations": _RESERVATIONS}),
    "restart_policy": _mapping({
        "condition": TEXT, "delay": _DURATION, "max_attempts": _WHOLE, "window": _DURATION,
    }),
    "placement": _mapping({
        "constraints": _TEXTS, "max_replicas_per_node": _WHOLE, "preferences": _list(_mapping({"spread": TEXT})),
    }),
})  # fmt: skip

_SSH = _or(Takes("", _kinds("mapping"), values=ANY), _TEXTS, "a mapping or a list")
_BUILD = _mapping({
    "additional_contexts": _PAIRS, "args": _PAIRS, "cache_from": _TEXTS, "cache_to": _TEXTS, "context": TEXT,
    "dockerfile": TEXT, "dockerfile_inline": TEXT, "entitlements": _TEXTS, "extra_hosts": _HOSTS, "isolation": TEXT,
    "labels": _PAIRS, "network": TEXT, "no_cache": _SWITCH, "no_cache_filter": ANY, "platforms": _TEXTS,
    "privileged": _SWITCH, "provenance": ANY, "pull": _SWITCH, "sbom": ANY, "secrets": _list(ANY), "shm_size": ANY,
    "ssh": _SSH, "tags": _TEXTS, "target": TEXT, "ulimits": _ULIMITS,
})  # fmt: skip

_VOLUME = _or(TEXT, _mapping({
    "type": TEXT._replace(one_of=("bind", "volume", "tmpfs", "cluster", "npipe", "image")),
    "source": TEXT, "target": TEXT, "read_only": _SWITCH, "consistency": TEXT,
    "bind": _mapping({
        "propagation": TEXT, "create_host_path": _SWITCH, "selinux": TEXT._replace(one_of=("z", "Z")),
        "recursive": TEXT._replace(one_of=("enabled", "disabled", "writable", "readonly")),
    }),
    "volume": _mapping({"labels": _PAIRS, "nocopy": _SWITCH, "subpath": TEXT}),
    "tmpfs": _mapping({"size": _TEXT_OR_WHOLE._replace(shown="a size, 0 or more", least=0), "mode": ANY}),
    "image": _mapping({"subpath": TEXT}),
}, needs=("type", "target")), "a string or a mapping")  # fmt: skip
_DEVICE = _or(
    TEXT, _mapping({"source": TEXT, "target": TEXT, "permissions": TEXT}, needs=("source", "target")),
    "a path, or a mapping with `source` and `target`",
)  # fmt: skip
_ENV_FILE = _or(TEXT, _mapping({"path": TEXT, "required": _SWITCH, "format": TEXT}, needs=("path",)),
                "a path, or a mapping with `path`")  # fmt: skip
_PORT = _or(Takes("", _kinds("str int"), text="port"), _mapping({
    "app_protocol": TEXT, "host_ip": TEXT, "mode": TEXT, "name": TEXT, "protocol": TEXT, "published": _TEXT_OR_WHOLE,
    "target": _WHOLE,
}, needs=("target",)), "a port, `HOST:CONTAINER` or a mapping")  # fmt: skip
_CONDITION = TEXT._replace(one_of=("service_started", "service_healthy", "service_completed_successfully"))
_DEPENDENCY = _mapping({"condition": _CONDITION, "restart": _SWITCH, "required": _SWITCH}, needs=("condition",))
_GRANT = _or(TEXT, _mapping({"source": TEXT, "target": TEXT, "uid": ANY, "gid": ANY, "mode": ANY}),
             "a string or a mapping")  # fmt: skip
_NETWORK_OF_SERVICE = _or(Takes("a mapping", _kinds("mapping"), keys={
    "aliases": _TEXTS, "driver_opts": _OPTIONS, "gw_priority": ANY, "interface_name": TEXT, "ipv4_address": TEXT,
    "ipv6_address": TEXT, "link_local_ips": _TEXTS, "mac_address": TEXT, "priority": ANY,
}), _NULL, "a mapping")  # fmt: skip

_CONTAINER = Takes("a name of two or more letters and digits", _kinds("str"), text="container")
_POLICY = Takes(
    "one of `always`, `never`, `build`, `if_not_present`, `missing`, `refresh`, `daily`, `weekly`, `every_…`",
    _kinds("str"), text="policy",
)  # fmt: skip

SERVICE: Mapping[str, Takes] = {
    "annotations": _PAIRS, "attach": _SWITCH, "blkio_config": Takes("a mapping", _kinds("mapping")),
    "build": _or(TEXT, _BUILD, "a directory or a mapping"), "cap_add": _TEXTS, "cap_drop": _TEXTS,
    "cgroup": TEXT._replace(one_of=("host", "private")), "cgroup_parent": TEXT, "command": _WORDS,
    "configs": _list(_GRANT), "container_name": _CONTAINER, "cpu_count": _WHOLE, "cpu_percent": _SIZE,
    "cpu_period": _COUNT,
    "cpu_quota": _COUNT, "cpu_rt_period": _COUNT, "cpu_rt_runtime": _COUNT, "cpu_shares": _COUNT, "cpus": _NUMBER,
    "cpuset": TEXT, "credential_spec": Takes("a mapping", _kinds("mapping")),
    "depends_on": _or(_DISTINCT_TEXTS, Takes("", _kinds("mapping"), values=_DEPENDENCY), "a list or a mapping"),
    "deploy": _or(_DEPLOY, _NULL, "a mapping"), "develop": Takes("a mapping", _kinds("mapping null")),
    "device_cgroup_rules": _DISTINCT_TEXTS, "devices": _list(_DEVICE), "dns": _TEXT_OR_LIST, "dns_opt": _TEXTS,
    "dns_search": _TEXT_OR_LIST, "domainname": TEXT, "entrypoint": _WORDS,
    "env_file": _or(TEXT, _list(_ENV_FILE), "a path or a list of paths"), "environment": _PAIRS,
    "expose": _list(_TEXT_OR_WHOLE),
    "extends": Takes("a service name, or a mapping with `service`", _kinds("str mapping")),
    "external_links": _DISTINCT_TEXTS,
    "extra_hosts": _HOSTS, "gpus": ANY, "group_add": _list(_TEXT_OR_WHOLE)._replace(unique=True),
    "healthcheck": _mapping({
        "disable": _SWITCH, "interval": _DURATION, "retries": _COUNT, "start_interval": _DURATION,
        "start_period": _DURATION, "test": _TEXT_OR_LIST, "timeout": _DURATION,
    }),
    "hostname": TEXT, "image": TEXT, "init": _SWITCH, "ipc": TEXT, "isolation": TEXT, "label_file": _TEXT_OR_LIST,
    "labels": _PAIRS, "links": _TEXTS, "logging": _mapping({"driver": TEXT, "options": _LOG_OPTIONS}),
    "mac_address": TEXT, "mem_limit": _SIZE, "mem_reservation": _TEXT_OR_WHOLE, "mem_swappiness": _TEXT_OR_WHOLE,
    "memswap_limit": _SIZE, "models": Takes("a list or a mapping", _kinds("list mapping")), "network_mode": TEXT,
    "networks": _or(
        _DISTINCT_TEXTS, Takes("", _kinds("mapping"), values=_NETWORK_OF_SERVICE), "a list or a mapping of networks"
    ),
    "oom_kill_disable": _SWITCH, "oom_score_adj": _WHOLE, "pid": Takes("a string", _kinds("str null")),
    "pids_limit": _COUNT, "platform": TEXT, "ports": _list(_PORT), "post_start": _list(ANY), "pre_start": ANY,
    "pre_stop": _list(ANY), "privileged": _SWITCH, "profiles": _TEXTS, "provider": ANY, "pull_policy": _POLICY,
    "pull_refresh_after": TEXT, "read_only": _SWITCH, "restart": TEXT, "runtime": TEXT, "scale": _NATURAL,
    "secrets": _list(_GRANT), "security_opt": _DISTINCT_TEXTS, "shm_size": ANY, "stdin_open": _SWITCH,
    "stop_grace_period": _DURATION, "stop_signal": TEXT, "storage_opt": Takes("a mapping", _kinds("mapping")),
    "sysctls": _PAIRS, "tmpfs": _TEXT_OR_LIST, "tty": _SWITCH, "ulimits": _ULIMITS, "use_api_socket": ANY,
    "user": TEXT, "userns_mode": TEXT, "uts": TEXT, "volumes": _list(_VOLUME), "volumes_from": _DISTINCT_TEXTS,
    "working_dir": TEXT,
}  # fmt: skip

_EXTERNAL = _or(_SWITCH, Takes("", _kinds("mapping"), values=ANY), "true or false")
_DRIVEN = {"driver": TEXT, "driver_opts": _OPTIONS, "external": _EXTERNAL, "labels": _PAIRS, "name": TEXT}


def _defined(keys: Mapping[str, Takes], *, null: bool) -> Takes:
    one = _or(_mapping(keys), _NULL, "a mapping") if null else _mapping(keys)
    return Takes("a mapping", _kinds("mapping"), values=one, named=True)


_FROM_HOST = {"environment": TEXT, "external": _EXTERNAL, "file": TEXT, "labels": _PAIRS, "name": TEXT,
              "template_driver": TEXT}  # fmt: skip

_ALL_KINDS = _SCALARS.kinds | _kinds("list mapping")

TOP: Mapping[str, Takes] = {
    "services": Takes("a mapping", _ALL_KINDS, values=ANY, named=True),  # which have checks of their own
    "version": TEXT,
    "name": TEXT,
    "volumes": _defined(_DRIVEN, null=True),
    "networks": _defined(
        {**_DRIVEN, "attachable": _SWITCH, "enable_ipv4": _SWITCH, "enable_ipv6": _SWITCH, "internal": _SWITCH,
         "ipam": Takes("a mapping", _kinds("mapping"))},
        null=True,
    )._replace(named=False),
    "secrets": _defined({**_FROM_HOST, "driver": TEXT, "driver_opts": _OPTIONS}, null=False),
    "configs": _defined({**_FROM_HOST, "content": TEXT}, null=False),
}  # fmt: skip

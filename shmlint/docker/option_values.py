"""Which values of an option the docker client refuses, and why.

Only what the client itself decides, on any machine: that an env file is missing, a name is
taken or a device is not there is not known here, and what the engine refuses is not said here.
Sources are named at the functions; all were compared with the 28.2 client.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from shmlint.docker.gotext import CSVError, go_bool, go_int, read_record
from shmlint.docker.gpus import parse_gpus
from shmlint.docker.mounts import parse_mount, parse_volume
from shmlint.docker.sizes import InvalidSize, parse_docker


def cdi_device(value: str) -> bool:
    """Whether a ``--device`` value is a CDI name such as ``nvidia.com/gpu=all``.

    Source: tags.cncf.io/container-device-interface pkg/parser, IsQualifiedName.
    """
    name = r"[A-Za-z](?:[\w.-]*[A-Za-z0-9])?"
    device = r"[A-Za-z0-9](?:[\w.:-]*[A-Za-z0-9])?"
    return re.fullmatch(rf"{name}/{name}={device}", value, re.ASCII) is not None


_DOMAIN_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH_PART = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?P<name>{_DOMAIN}/{_PATH_PART}(?:/{_PATH_PART})*)(?::[\w][\w.-]{{0,127}})?"
    r"(?:@(?P<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?",
    re.ASCII,
)
_DIGEST = re.compile(r"sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}")


def check_image(text: str) -> str:
    """Why the client refuses an image name, or nothing.

    Source: distribution/reference ParseAnyReference (normalize.go, regexp.go).
    """
    if re.fullmatch(r"[a-f0-9]{64}", text) or _DIGEST.fullmatch(text):
        return ""
    domain, slash, rest = text.partition("/")
    if not slash or not ("." in domain or ":" in domain or domain == "localhost" or domain.lower() != domain):
        domain, rest = "docker.io", text
    if domain in ("docker.io", "index.docker.io") and "/" not in rest:
        domain, rest = "docker.io", f"library/{rest}"
    name = rest.partition(":")[0]
    if name.lower() != name:
        return f"invalid reference format: repository name ({name}) must be lowercase"
    match = _REFERENCE.fullmatch(f"{domain}/{rest}")
    if match is None or (match["digest"] and not _DIGEST.fullmatch(match["digest"])):
        return "invalid reference format"
    if len(match["name"].partition("/")[2]) > 255:
        return "invalid reference format: repository name must not be more than 255 characters"
    return ""


def check_value(option: str, kind: str, value: str) -> str:
    """Why the client refuses one value of an option (its long name, its type in the help), or nothing."""
    check = _BY_OPTION.get(option) or _BY_TYPE.get(kind)
    return check(value) if check else ""


def check_together(values: Mapping[str, tuple[str, ...]]) -> str:
    """Why the client refuses options that are each well formed; ``values`` in the order given.

    Source: docker/cli cli/command/container/opts.go parse and parseNetworkOpts, run.go, create.go.
    """

    def last(option: str) -> str:
        return values.get(option, ("",))[-1]

    def on(option: str) -> bool:
        return go_bool(last(option)) is True

    for option in (name for name in values if name in _LATE):
        if why := _LATE[option](last(option)):
            return why
    restart = last("--restart").partition(":")[0]
    if on("--rm") and restart not in ("", "no"):
        return "conflicting options: cannot specify both --restart and --rm"
    if on("--no-healthcheck") and any(
        last(option) not in ("", *_NOTHING) for option in values if option.startswith("--health-")
    ):
        return "--no-healthcheck conflicts with --health-* options"
    if last("--log-driver") == "none" and "--log-opt" in values:
        return "invalid logging opts for driver none"
    if on("--detach") and "--attach" in values:
        return "conflicting options: cannot specify both --attach and --detach"
    names = [network_name(value) for value in values.get("--network", ("default",))]
    special = [name in _MODES or name.startswith("container:") for name in names]
    if special[0] and "--network-alias" in values:
        return "network-scoped aliases are only supported for user-defined networks"
    if "--network-alias" in values and _long_fields(values.get("--network", ("",))[0], "alias"):
        return "conflicting options: cannot specify both --network-alias and per-network alias"
    if "" in (name.strip() for name in names):
        return "no name set for network"
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        return f'network "{twice}" is specified multiple times'
    if any(special) and not all(special):
        return "conflicting options: cannot attach both user-defined and non-user-defined network-modes"
    return ""


_NOTHING = ("0", "0s")
_MODES = ("default", "bridge", "host", "none")
_NETWORK_KEYS = ("name", "alias", "ip", "ip6", "mac-address", "link-local-ip", "driver-opt", "gw-priority")


def network_name(value: str) -> str:
    """The network a ``--network`` value names, in its short or its CSV form."""
    if not _LONG_NETWORK.search(value):
        return value
    return next(iter(_long_fields(value, "name")[-1:]), "")


def _long_fields(value: str, wanted: str) -> list[str]:
    """The values of a key in a ``--network`` value that is CSV; none where it is just a name."""
    if not _LONG_NETWORK.search(value):
        return []
    pairs = [item.partition("=") for item in read_record(value)]
    return [val.strip() for key, _, val in pairs if key.strip() == wanted]


_LONG_NETWORK = re.compile(r"\w+=\w+(,\w+=\w+)*", re.ASCII)


def _network(value: str) -> str:
    """docker/cli opts/network.go."""
    if not _LONG_NETWORK.search(value):
        return ""
    try:
        fields = read_record(value)
    except CSVError as error:
        return str(error)
    for item in fields:
        key, equals, val = item.partition("=")
        if not equals or not key:
            return f"invalid field {item}"
        key = key.strip()
        if key == "driver-opt" and not val.strip().partition("=")[1]:
            return "invalid key value pair format in driver options"
        if key not in _NETWORK_KEYS:
            return f"invalid field key {key}"
    return "" if network_name(value) else "network name/id is not specified"


def _bool(value: str) -> str:
    return "" if go_bool(value) is not None else f'strconv.ParseBool: parsing "{value}": invalid syntax'


def _integer(low: int, high: int) -> Callable[[str], str]:
    def check(value: str) -> str:
        return "" if go_int(value, low, high) is not None else f"`{value}` is not an integer in its range"

    return check


def _bytes(value: str) -> str:
    return "" if _is_size(value) else f"invalid size: '{value}'"


def _is_size(value: str) -> bool:
    try:
        parse_docker(value)
    except InvalidSize:
        return False
    return True


def _memory_swap(value: str) -> str:
    return "" if value == "-1" else _bytes(value)


_DURATION = re.compile(r"[+-]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")


def _duration(value: str) -> str:
    return "" if _DURATION.fullmatch(value) else f'time: invalid duration "{value}"'


def _decimal(value: str) -> str:
    """docker/cli opts/opts.go ParseCPUs, for decimal numbers and fractions."""
    if value != value.strip():
        return f"failed to parse {value} as a rational number"
    try:
        billionths = Fraction(value) * 10**9
    except (ValueError, ZeroDivisionError):
        return f"failed to parse {value} as a rational number"
    return "" if billionths.denominator == 1 else "value is too precise"


_ULIMITS = frozenset(
    [
        "core",
        "cpu",
        "data",
        "fsize",
        "locks",
        "memlock",
        "msgqueue",
        "nice",
        "nofile",
        "nproc",
        "rss",
        "rtprio",
        "rttime",
        "sigpending",
        "stack",
    ]
)


def _ulimit(value: str) -> str:
    """docker/go-units ulimit.go ParseUlimit."""
    name, equals, limits = value.partition("=")
    if not equals:
        return f"invalid ulimit argument: {value}"
    if name not in _ULIMITS:
        return f"invalid ulimit type: {name}"
    numbers = limits.split(":")
    if len(numbers) > 2:
        return f"too many limit value arguments - {limits}, can only have up to two, `soft[:hard]`"
    if not all(re.fullmatch(r"[+-]?[0-9]+", number) for number in numbers):
        return f"`{limits}` is not a number or soft:hard"
    soft, hard = int(numbers[0]), int(numbers[-1])
    if not all(-(2**63) <= number < 2**63 for number in (soft, hard)):
        return f"`{limits}` is out of range"
    if hard != -1 and (soft == -1 or soft > hard):
        return f"ulimit soft limit must be less than or equal to hard limit: {soft} > {hard}"
    return ""


def _gpus(value: str) -> str:
    return parse_gpus(value).error


def _mount(value: str) -> str:
    return parse_mount(value).error


def _volume(value: str) -> str:
    return parse_volume(value).error


def _env(value: str) -> str:
    return f"invalid environment variable: {value}" if not value.partition("=")[0] else ""


def _label(value: str) -> str:
    key = value.partition("=")[0].lstrip()
    if not key:
        return f"invalid label '{value}': empty name"
    return f"label '{value}' contains whitespaces" if re.search(r"[ \t\n\r\v\f]", key) else ""


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _add_host(value: str) -> str:
    """docker/cli opts/opts.go ValidateExtraHost."""
    name, separator, address = value.partition("=" if "=" in value else ":")
    if not separator or not name or ":" in name:
        return f'bad format for add-host: "{value}"'
    if address.startswith("[") and address.endswith("]"):
        address = address[1:-1]
    if address != "host-gateway" and not _is_ip(address):
        return f'invalid IP address in add-host: "{address}"'
    return ""


def _dns(value: str) -> str:
    return "" if _is_ip(value.strip()) else f"IP address is not correctly formatted: {value}"


def _link(value: str) -> str:
    if not value:
        return "empty string specified for links"
    return f"bad format for links: {value}" if value.count(":") > 1 else ""


def _attach(value: str) -> str:
    known = value.lower() in ("stdin", "stdout", "stderr")
    return "" if known else "valid streams are STDIN, STDOUT and STDERR"


def _device(value: str) -> str:
    """docker/cli cli/command/container/opts.go validateLinuxPath and parseLinuxDevice."""
    if cdi_device(value):
        return ""
    parts = value.split(":")
    if len(parts) > 3 or not parts[0]:
        return f"bad format for path: {value}"
    target = parts[0]
    if len(parts) == 3:
        if not _device_mode(parts[2]):
            return f"bad mode specified: {parts[2]}"
        target = parts[1]
    elif len(parts) == 2 and not _device_mode(parts[1]):
        target = parts[1]
    if not target.startswith("/"):
        return f"{target} is not an absolute path"
    return ""


def _device_mode(mode: str) -> bool:
    return bool(mode) and set(mode) <= set("rwm") and len(set(mode)) == len(mode)


def _cgroup_rule(value: str) -> str:
    fine = re.fullmatch(r"[acb] ([0-9]+|\*):([0-9]+|\*) [rwm]{1,3}", value)
    return "" if fine else f"invalid device cgroup format '{value}'"


def _throttle(value: str) -> str:
    """docker/cli opts/throttledevice.go; rates in bytes (``--device-*-bps``)."""
    path, colon, rate = value.partition(":")
    if not colon or ":" in rate:
        return f"bad format: {value}"
    if not path.startswith("/dev/"):
        return f"bad format for device path: {value}"
    return "" if _is_size(rate) else f"invalid rate for device: {value}"


def _throttle_iops(value: str) -> str:
    path, colon, rate = value.partition(":")
    if not colon or ":" in rate:
        return f"bad format: {value}"
    if not path.startswith("/dev/"):
        return f"bad format for device path: {value}"
    fine = re.fullmatch(r"[0-9]+", rate) and int(rate) < 2**64
    return "" if fine else f"invalid rate for device: {value}"


def _weight(value: str) -> str:
    path, colon, weight = value.partition(":")
    if not colon or ":" in weight:
        return f"bad format: {value}"
    if not path.startswith("/dev/"):
        return f"bad format for device path: {value}"
    fine = re.fullmatch(r"[0-9]+", weight) and (int(weight) == 0 or 10 <= int(weight) <= 1000)
    return "" if fine else f"invalid weight for device: {value}"


def _restart(value: str) -> str:
    name, colon, count = value.partition(":")
    if colon and not name:
        return "invalid restart policy format: no policy provided before colon"
    if colon and count and not re.fullmatch(r"[+-]?[0-9]+", count):
        return "invalid restart policy format: maximum retry count must be an integer"
    return ""


def _one_of(option: str, *allowed: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        names = ", ".join(filter(None, allowed))
        return "" if value in allowed else f"{option}: `{value}` is none of {names}"

    return check


def _pid(value: str) -> str:
    if value in ("", "host") or value.removeprefix("container:") not in ("", value):
        return ""
    return "--pid: invalid PID mode"


def _security(value: str) -> str:
    fine = value == "no-new-privileges" or "=" in value or ":" in value
    return "" if fine else f'invalid --security-opt: "{value}"'


def _storage(value: str) -> str:
    return "" if "=" in value else "invalid storage option"


_SYSCTLS = frozenset(
    f"kernel.{name}"
    for name in ["msgmax", "msgmnb", "msgmni", "sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced"]
)


def _sysctl(value: str) -> str:
    """docker/cli opts/opts.go ValidateSysctl."""
    name, equals, _ = value.partition("=")
    fine = equals and (name in _SYSCTLS or name.startswith(("net.", "fs.mqueue.")))
    return "" if fine else f"sysctl '{value}' is not allowed"


def _mac(value: str) -> str:
    """Go's ``net.ParseMAC``."""
    hexes = r"[0-9a-fA-F]{2}"
    for separator in (":", "-"):
        for more in (5, 7, 19):
            if re.fullmatch(rf"{hexes}(?:{separator}{hexes}){{{more}}}", value):
                return ""
    if not value or re.fullmatch(r"[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2,}", value):
        return ""
    return f"{value} is not a valid mac address"


def _swappiness(value: str) -> str:
    number = go_int(value)
    fine = number is not None and -1 <= number <= 100
    return "" if fine else f"invalid value: {value}. Valid memory swappiness range is 0-100"


def _ports(text: str) -> tuple[int, int] | None:
    """docker/go-connections nat.ParsePortRange, which does not look behind a second dash."""
    start, *end = text.split("-")
    first, last = go_uint16(start), go_uint16(end[0] if end else start)
    return None if first is None or last is None or last < first else (first, last)


def go_uint16(text: str) -> int | None:
    """Go's ``strconv.ParseUint(text, 10, 16)``."""
    return int(text) if re.fullmatch(r"[0-9]+", text) and int(text) < 2**16 else None


def _not_negative(option: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        negative = value.startswith("-") and value.strip("-0nuµμmsh.")
        return f"{option} cannot be negative" if negative else ""

    return check


def _expose(value: str) -> str:
    if ":" in value:
        return f"invalid port format for --expose: {value}"
    port, _, _proto = value.partition("/")
    return "" if _ports(port) else f"invalid range format for --expose: {value}"


def _publish(value: str) -> str:
    """docker/go-connections nat.ParsePortSpec, and docker/cli convertToStandardNotation before it."""
    if "=" in value:
        params = {"protocol": "tcp"}
        for param in value.split(","):
            name, equals, text = param.partition("=")
            if not equals:
                return f"invalid publish opts format (should be name=value but got '{param}')"
            params[name] = text
        value = f"{params.get('published', '')}:{params.get('target', '')}/{params['protocol']}"
    spec, slash, rest = value.partition("/")
    proto = rest.partition("/")[0]
    if slash and not spec:
        return f"no port specified: {value}<empty>"
    if slash and proto.lower() not in ("tcp", "udp", "sctp", ""):
        return f"invalid proto: {proto}"
    host, container = "", spec
    address = ""
    if ":" in spec:
        front, _, container = spec.rpartition(":")
        address, _, host = front.rpartition(":")
    if address.startswith("[") and address.endswith("]"):
        address = address[1:-1]
    if address and not _is_ip(address):
        return f"invalid IP address: {address}"
    if not container:
        return f"no port specified: {value}<empty>"
    inner = _ports(container)
    if inner is None:
        return f"invalid containerPort: {container}"
    outer = _ports(host) if host else None
    if host and outer is None:
        return f"invalid hostPort: {host}"
    if outer and inner[1] - inner[0] != outer[1] - outer[0] and inner[0] != inner[1]:
        return f"invalid ranges specified for container and host Ports: {container} and {host}"
    return ""


_BY_TYPE: dict[str, Callable[[str], str]] = {
    "bool": _bool,
    "int": _integer(-(2**63), 2**63 - 1),
    "int64": _integer(-(2**63), 2**63 - 1),
    "uint16": _integer(0, 2**16 - 1),
    "uint64": _integer(0, 2**64 - 1),
    "bytes": _bytes,
    "duration": _duration,
    "decimal": _decimal,
    "gpu-request": _gpus,
    "mount": _mount,
    "network": _network,
    "ulimit": _ulimit,
}

_BY_OPTION: dict[str, Callable[[str], str]] = {
    "--add-host": _add_host,
    "--attach": _attach,
    "--blkio-weight-device": _weight,
    "--device": _device,
    "--device-cgroup-rule": _cgroup_rule,
    "--device-read-bps": _throttle,
    "--device-read-iops": _throttle_iops,
    "--device-write-bps": _throttle,
    "--device-write-iops": _throttle_iops,
    "--dns": _dns,
    "--env": _env,
    "--expose": _expose,
    "--label": _label,
    "--link": _link,
    "--memory-swap": _memory_swap,
    "--publish": _publish,
    "--security-opt": _security,
    "--storage-opt": _storage,
    "--sysctl": _sysctl,
    "--volume": _volume,
}

# Looked at once all options have been read: only the last value counts.
_LATE: dict[str, Callable[[str], str]] = {
    "--cgroupns": _one_of("--cgroupns", "", "private", "host"),
    "--health-interval": _not_negative("--health-interval"),
    "--health-retries": _not_negative("--health-retries"),
    "--health-start-interval": _not_negative("--health-start-interval"),
    "--health-start-period": _not_negative("--health-start-period"),
    "--health-timeout": _not_negative("--health-timeout"),
    "--mac-address": _mac,
    "--memory-swappiness": _swappiness,
    "--pid": _pid,
    "--pull": _one_of("--pull", "", "always", "missing", "never"),
    "--restart": _restart,
    "--userns": _one_of("--userns", "", "host"),
    "--uts": _one_of("--uts", "", "host"),
}

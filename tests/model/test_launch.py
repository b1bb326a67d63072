"""What decides /dev/shm: mount, ipc, size, default, in the order measured on a real engine."""

from __future__ import annotations

from shmlint.model.launch import Decider, Effective, Launch, Mount, ReadOnly, Size, Unknown, Value, Words
from shmlint.model.source import Source, Span
from tests.table import table

G = 1 << 30
TEXT = Source("compose.yaml", "service mount dev size ipc donor\n")


def at(word: str) -> Span:
    start = TEXT.text.index(word)
    return Span(TEXT, start, start + len(word))


def bind(target: str, word: str = "mount") -> Mount:
    return Mount("bind", target, None, at(word), source="/x")


def tmpfs(target: str, size: int | Unknown | None, word: str = "mount", error: str = "", short: bool = False) -> Mount:
    return Mount("tmpfs", target, size, at(word), size_error=error, kernel_grammar=short)


def ipc(mode: str | Unknown) -> Value[str]:
    if isinstance(mode, Unknown):
        return Value(mode, at("ipc"), "${IPC}")
    # A text as it comes out of a file: equal to a constant of the program, not the same object.
    return Value(TEXT.text.replace(TEXT.text, mode), at("ipc"), mode)


def shm(size: int | Unknown | None, error: str = "") -> Value[Size]:
    return Value(size if isinstance(size, Unknown) else Size(size, error), at("size"), "…")


PLAIN = Launch("compose-service", "a", at("service"), at("service"), Words("service `a`", "shm_size"), ReadOnly())
DONOR = PLAIN._replace(name="donor", shm=shm(2 * G))
MISSING = Unknown("file", "a base is missing")
LOST = Unknown("variable", "a variable decides")

CASES: dict[str, tuple[Launch, Decider, int | None, str, str]] = {
    "nothing": (PLAIN, "default", 64 << 20, "", ""),
    # sizes
    "a size": (PLAIN._replace(shm=shm(G)), "shm_size", G, "size", ""),
    "one byte": (PLAIN._replace(shm=shm(1)), "shm_size", 1, "size", ""),
    "a size of 0": (PLAIN._replace(shm=shm(0)), "default", 64 << 20, "", ""),
    "an unknown size": (PLAIN._replace(shm=shm(LOST)), "unknown", None, "size", "a variable decides"),
    "a refused size": (PLAIN._replace(shm=shm(None, "no unit")), "unknown", None, "size", "no unit"),
    "a negative size": (PLAIN._replace(shm=shm(-1)), "shm_size", -1, "size", ""),
    # ipc
    "host": (PLAIN._replace(ipc=ipc("host")), "host", None, "ipc", ""),
    "host before size": (PLAIN._replace(ipc=ipc("host"), shm=shm(G)), "host", None, "ipc", ""),
    "none before size": (PLAIN._replace(ipc=ipc("none"), shm=shm(G)), "none", 0, "ipc", ""),
    "private": (PLAIN._replace(ipc=ipc("private"), shm=shm(G)), "shm_size", G, "size", ""),
    "shareable": (PLAIN._replace(ipc=ipc("shareable"), shm=shm(G)), "shm_size", G, "size", ""),
    "shareable alone": (PLAIN._replace(ipc=ipc("shareable")), "default", 64 << 20, "", ""),
    "an empty mode": (PLAIN._replace(ipc=ipc(""), shm=shm(G)), "shm_size", G, "size", ""),
    "an unknown mode": (PLAIN._replace(ipc=ipc(LOST), shm=shm(G)), "unknown", None, "ipc", "a variable decides"),
    "a mode that no engine knows": (
        PLAIN._replace(ipc=ipc("hosts"), shm=shm(G)), "unknown", None, "ipc", "`hosts` is not an IPC mode",
    ),
    # donors
    "a donor's size": (PLAIN._replace(ipc=ipc("service:b"), donor=DONOR), "donor", 2 * G, "ipc", ""),
    "a donor before size": (
        PLAIN._replace(ipc=ipc("container:b"), donor=DONOR, shm=shm(G)), "donor", 2 * G, "ipc", "",
    ),
    "a donor of the default": (
        PLAIN._replace(ipc=ipc("service:b"), donor=PLAIN), "donor", 64 << 20, "ipc", "",
    ),
    "a donor on the host": (
        PLAIN._replace(ipc=ipc("service:b"), donor=PLAIN._replace(ipc=ipc("host"))), "donor", None, "ipc", "",
    ),
    "a donor that nothing is known of": (
        PLAIN._replace(ipc=ipc("service:b"), donor=PLAIN._replace(shm=shm(LOST))),
        "donor", None, "ipc", "a variable decides",
    ),
    "a donor's donor": (
        PLAIN._replace(ipc=ipc("service:b"), donor=PLAIN._replace(ipc=ipc("service:c"), donor=DONOR)),
        "donor", 2 * G, "ipc", "",
    ),
    "a container that is not here": (
        PLAIN._replace(ipc=ipc("container:b"), shm=shm(G)), "donor", None, "ipc", "`container:b` is not in these files",
    ),
    "a service that is not here": (
        PLAIN._replace(ipc=ipc("service:b")), "donor", None, "ipc", "`service:b` is not in these files",
    ),
    "a donor without joining it": (PLAIN._replace(donor=DONOR), "default", 64 << 20, "", ""),
    # mounts
    "tmpfs before size": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", 2 * G),), shm=shm(G)), "tmpfs", 2 * G, "mount", "",
    ),
    "tmpfs before ipc": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", 2 * G),), ipc=ipc("host")), "tmpfs", 2 * G, "mount", "",
    ),
    "tmpfs before a mode that is unknown": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", 2 * G),), ipc=ipc(LOST)), "tmpfs", 2 * G, "mount", "",
    ),
    "half of the memory": (PLAIN._replace(mounts=(tmpfs("/dev/shm", None),)), "tmpfs", None, "mount", ""),
    "unlimited": (PLAIN._replace(mounts=(tmpfs("/dev/shm", 0),)), "tmpfs", None, "mount", ""),
    "one byte of tmpfs": (PLAIN._replace(mounts=(tmpfs("/dev/shm", 1),)), "tmpfs", 1, "mount", ""),
    "tmpfs of unknown size": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", LOST),)), "tmpfs", None, "mount", "a variable decides",
    ),
    "tmpfs that cannot be mounted": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", None, error="no gb"),)), "tmpfs", None, "mount", "no gb",
    ),
    "tmpfs that cannot be mounted, read as a size": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", 5, error="no gb"),)), "tmpfs", None, "mount", "no gb",
    ),
    "a bind mount": (PLAIN._replace(mounts=(bind("/dev/shm"),), shm=shm(G)), "bind", None, "mount", ""),
    "a volume": (
        PLAIN._replace(mounts=(bind("/dev/shm")._replace(type="volume"),)), "volume", None, "mount", "",
    ),
    "the last of two": (
        PLAIN._replace(mounts=(bind("/dev/shm"), tmpfs("/dev/shm", G, "dev"))), "tmpfs", G, "dev", "",
    ),
    "mounted elsewhere": (PLAIN._replace(mounts=(tmpfs("/run", G),)), "default", 64 << 20, "", ""),
    "below it": (PLAIN._replace(mounts=(bind("/dev/shm/x"),), shm=shm(G)), "shm_size", G, "size", ""),
    # /dev hides what is below it, but for a mount on /dev/shm itself
    "/dev": (PLAIN._replace(mounts=(bind("/dev", "dev"),), shm=shm(G)), "bind", None, "dev", ""),
    "/dev/shm, then /dev": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", G), bind("/dev", "dev"))), "tmpfs", G, "mount", "",
    ),
    "/dev, then /dev/shm": (
        PLAIN._replace(mounts=(bind("/dev", "dev"), tmpfs("/dev/shm", G))), "tmpfs", G, "mount", "",
    ),
    "/dev of a shareable one": (
        PLAIN._replace(mounts=(bind("/dev", "dev"),), ipc=ipc("shareable"), shm=shm(G)), "shm_size", G, "size", "",
    ),
    "/dev/shm of a shareable one": (
        PLAIN._replace(mounts=(bind("/dev/shm"),), ipc=ipc("shareable"), shm=shm(G)), "bind", None, "mount", "",
    ),
    "/dev of a private one": (
        PLAIN._replace(mounts=(bind("/dev", "dev"),), ipc=ipc("private"), shm=shm(G)), "bind", None, "dev", "",
    ),
    "/dev with a mode that sorts behind shareable": (
        PLAIN._replace(mounts=(bind("/dev", "dev"),), ipc=ipc("zzz"), shm=shm(G)), "bind", None, "dev", "",
    ),
    "/dev with an unknown mode": (
        PLAIN._replace(mounts=(bind("/dev", "dev"),), ipc=ipc(LOST)), "bind", None, "dev", "",
    ),
    # a stack passes on mounts, and of those not the short tmpfs
    "stack, size": (PLAIN._replace(swarm="a stack", shm=shm(G)), "default", 64 << 20, "", ""),
    "stack, unknown size": (PLAIN._replace(swarm="a stack", shm=shm(LOST)), "default", 64 << 20, "", ""),
    "stack, host": (PLAIN._replace(swarm="a stack", ipc=ipc("host")), "default", 64 << 20, "", ""),
    "stack, donor": (PLAIN._replace(swarm="a stack", ipc=ipc("service:b")), "default", 64 << 20, "", ""),
    "stack, tmpfs": (PLAIN._replace(swarm="a stack", mounts=(tmpfs("/dev/shm", G),)), "tmpfs", G, "mount", ""),
    "stack, short tmpfs": (
        PLAIN._replace(swarm="a stack", mounts=(tmpfs("/dev/shm", G, short=True),)), "default", 64 << 20, "", "",
    ),
    "stack, long and short": (
        PLAIN._replace(swarm="a stack", mounts=(tmpfs("/dev/shm", G), tmpfs("/dev/shm", 1, "dev", short=True))),
        "tmpfs", G, "mount", "",
    ),
    "stack, /dev of a shareable one": (
        PLAIN._replace(swarm="a stack", mounts=(bind("/dev", "dev"),), ipc=ipc("shareable")), "bind", None, "dev", "",
    ),
    "short tmpfs": (
        PLAIN._replace(mounts=(tmpfs("/dev/shm", G, short=True),), shm=shm(1)), "tmpfs", G, "mount", "",
    ),
    # what a file that is not here may still say
    "undecided": (PLAIN._replace(undecided=MISSING), "unknown", None, "", "a base is missing"),
    "undecided with a size": (PLAIN._replace(undecided=MISSING, shm=shm(G)), "shm_size", G, "size", ""),
    "undecided with a size of 0": (
        PLAIN._replace(undecided=MISSING, shm=shm(0)), "unknown", None, "", "a base is missing",
    ),
    "undecided on the host": (PLAIN._replace(undecided=MISSING, ipc=ipc("host")), "host", None, "ipc", ""),
    "undecided with a mount": (
        PLAIN._replace(undecided=MISSING, mounts=(tmpfs("/dev/shm", G),)), "tmpfs", G, "mount", "",
    ),
}  # fmt: skip


@table(("launch", "decider", "size", "place", "because"), CASES.values(), ids=CASES)
def test_what_decides(launch: Launch, decider: Decider, size: int | None, place: str, because: str) -> None:
    assert launch.effective_shm() == Effective(decider, size, at(place) if place else None, because)


def test_the_default_is_the_daemons() -> None:
    """Also that of the donor, which the same daemon starts."""
    joined = PLAIN._replace(ipc=ipc("service:b"), donor=PLAIN)
    assert [launch.effective_shm(8 * G).bytes for launch in (PLAIN, joined, DONOR)] == [8 * G, 8 * G, 2 * G]


def test_a_donor_in_a_stack_gives_the_default() -> None:
    joined = PLAIN._replace(ipc=ipc("service:b"), donor=DONOR._replace(swarm="a stack"))
    assert joined.effective_shm().bytes == 64 << 20


def test_a_value_is_known_unless_it_is_unknown() -> None:
    assert ipc("host").known == "host"
    assert ipc("").known == ""
    assert shm(0).known == Size(0)
    assert ipc(LOST).known is None

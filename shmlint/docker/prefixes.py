"""Commands that run the rest of their words: ``sudo``, ``env``, ``timeout``.

Sources: the manual pages of the commands in the table, or their ``--help``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shmlint.model.record import NamedTuple


class Prefix(NamedTuple):
    """A command that runs the rest of its words.

    ``short`` and ``long`` are its options that take the next word; ``words`` is the number of
    arguments that come before the command; ``stops`` are options with which it runs nothing.
    ``text`` are options behind which the command is a text for a shell. ``in_place`` is whether
    the command takes the place of the prefix: it does not run on another host, in a session or a
    unit, or many times.
    """

    short: str = ""
    long: tuple[str, ...] = ()
    words: int = 0
    stops: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    in_place: bool = True


class Behind(NamedTuple):
    """Where the command of a prefix begins, and the indexes of the ``NAME=value`` words before it."""

    at: int
    assignments: tuple[int, ...]


def prefix_of(program: str) -> Prefix | None:
    """The entry of a program, by its name or its path."""
    return _PREFIXES.get(program.rpartition("/")[2])


def is_assignment(word: str) -> bool:
    """Whether a word in front of a command sets a variable."""
    return _ASSIGNMENT.match(word) is not None


def after_prefix(words: Sequence[str], at: int = 0) -> Behind | None:
    """What is behind the prefix at ``at``, its options and its arguments; None where it runs nothing.

    The index may be behind the last word.
    """
    prefix = prefix_of(words[at]) or Prefix()
    left, assignments = prefix.words, []
    at += 1
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
        elif word in prefix.stops:
            return None
        elif word in prefix.text:
            break
        elif word.startswith("-") and len(word) > 1:
            takes = word in prefix.long or (word[1] != "-" and _last_takes_value(word, prefix.short))
            at += 2 if takes else 1
        elif is_assignment(word):
            assignments.append(at)
            at += 1
        elif left:
            left -= 1
            at += 1
        else:
            break
    return Behind(at, tuple(assignments))


def program_at(words: Sequence[str]) -> int | None:
    """The index of the program that runs in the place of all prefixes; None where they run nothing, or elsewhere."""
    at = 0
    while at < len(words):
        prefix = prefix_of(words[at])
        if is_assignment(words[at]):
            at += 1
        elif prefix is None:
            return at
        elif not prefix.in_place or (behind := after_prefix(words, at)) is None:
            return None
        else:
            at = behind.at
    return None


def _last_takes_value(cluster: str, short: str) -> bool:
    """Whether a cluster such as ``-nu`` ends in an option whose value is the next word."""
    for place, letter in enumerate(cluster[1:], 1):
        if letter in short:
            return place == len(cluster) - 1
    return False


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")

_PREFIXES: dict[str, Prefix] = {
    "sudo": Prefix(
        "CDRTUghprtu",
        ("--chdir", "--chroot", "--close-from", "--command-timeout", "--group", "--host", "--other-user", "--prompt",
         "--role", "--type", "--user"),
        stops=("-l", "-v", "-e", "-V", "--list", "--validate", "--edit", "--version"),
    ),
    "doas": Prefix("Cu"),
    "env": Prefix("CSu", ("--chdir", "--unset", "--split-string")),
    "exec": Prefix("a"),
    "eval": Prefix(),
    "builtin": Prefix(),
    "command": Prefix(stops=("-v", "-V")),
    "time": Prefix("fo", ("--format", "--output")),
    "nohup": Prefix(),
    "setsid": Prefix(),
    "nice": Prefix("n", ("--adjustment",)),
    "ionice": Prefix("cnpPu", ("--class", "--classdata")),
    "chrt": Prefix("TPD", words=1),
    "timeout": Prefix("ks", ("--kill-after", "--signal"), words=1),
    "stdbuf": Prefix("eio", ("--error", "--input", "--output")),
    "unbuffer": Prefix(),
    "taskset": Prefix(words=1, stops=("-p", "-pc", "-cp", "--pid")),
    "numactl": Prefix(
        "CNMPcmipw",
        ("--cpubind", "--cpunodebind", "--interleave", "--membind", "--physcpubind", "--preferred", "--preferred-many",
         "--weighted-interleave"),
    ),
    "flock": Prefix(
        "wE", ("--wait", "--timeout", "--conflict-exit-code"), words=1, text=("-c", "--command")
    ),
    "xvfb-run": Prefix("efnpsw", ("--auth-file", "--error-file", "--server-args", "--server-num", "--wait")),
    "catchsegv": Prefix(),
    "dbus-run-session": Prefix(),
    "optirun": Prefix(),
    "primusrun": Prefix(),
    "vglrun": Prefix("cd", ("-fps",)),
    "xargs": Prefix("EILPadns", ("--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-procs")),
    "parallel": Prefix(
        "IPSajn", ("--arg-file", "--jobs", "--delay", "--joblog", "--sshlogin", "--timeout"), in_place=False
    ),
    "srun": Prefix(
        "ABCDGJLMNSTWcdeimnopqrtwx",
        ("--account", "--constraint", "--cpus-per-gpu", "--cpus-per-task", "--error", "--exclude", "--gpus",
         "--gpus-per-node", "--gpus-per-task", "--gres", "--job-name", "--jobid", "--mem", "--nodelist", "--nodes",
         "--ntasks", "--ntasks-per-node", "--output", "--partition", "--qos", "--time"),
    ),
    "ssh": Prefix("BDEFIJLOPQRSWbceilmopw", words=1, in_place=False),
    "winpty": Prefix(),
    "watch": Prefix("n", ("--interval",), in_place=False),
    "systemd-run": Prefix(
        "EpuMH", ("--description", "--property", "--setenv", "--slice", "--unit"), in_place=False
    ),
    "runuser": Prefix("GTgsuw", ("--group", "--shell", "--supp-group", "--user", "--whitelist-environment")),
    "setpriv": Prefix(
        long=("--ambient-caps", "--bounding-set", "--groups", "--inh-caps", "--regid", "--reuid", "--securebits")
    ),
    "nsenter": Prefix("GStW", ("--setgid", "--setuid", "--target"), in_place=False),
    "chroot": Prefix(words=1),
    "gosu": Prefix(words=1),
    "su-exec": Prefix(words=1),
    "setuidgid": Prefix(words=1),
    "s6-setuidgid": Prefix(words=1),
    "pkexec": Prefix("u", ("--user",)),
    "screen": Prefix("ScehpstT", in_place=False),
    "tmux": Prefix("FLSTcefnstxy", words=1, in_place=False),
    "systemd-inhibit": Prefix(long=("--mode", "--what", "--who", "--why")),
    "systemd-cat": Prefix("pt", ("--identifier", "--priority")),
    "caffeinate": Prefix("tw"),
    "lima": Prefix(in_place=False),
    "strace": Prefix("EIOPSXabeopsu"),
    "script": Prefix("EIOTcmo", in_place=False),
    "tini": Prefix("ep"),
    "dumb-init": Prefix("r", ("--rewrite",)),
    "catatonit": Prefix(),
    "dockerize": Prefix(long=("-stderr", "-stdout", "-template", "-timeout", "-wait", "-wait-retry-interval")),
    "ddtrace-run": Prefix(),
    "newrelic-admin": Prefix(words=1),
    "nvidia_entrypoint.sh": Prefix(),
    "docker-entrypoint.sh": Prefix(),
    "_entrypoint.sh": Prefix(),
}  # fmt: skip

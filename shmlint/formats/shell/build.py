"""``docker build`` and ``docker buildx build`` commands, read into builds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.docker.engines import skip_to_engine
from shmlint.model.launch import Build, Value
from shmlint.syntax.shell import Command
from shmlint.syntax.word import Word

_WITH_VALUE = frozenset(
    {
        "--add-host", "--allow", "--annotation", "--attest", "--build-arg", "--build-context", "--builder",
        "--cache-from", "--cache-to", "--call", "--cgroup-parent", "--cpu-period", "--cpu-quota", "--cpuset-cpus",
        "--cpuset-mems", "--creds", "--device", "--env", "--file", "--format", "--iidfile", "--isolation", "--label",
        "--memory", "--metadata-file", "--network", "--no-cache-filter", "--output", "--platform", "--policy",
        "--progress", "--provenance", "--sbom", "--secret", "--security-opt", "--shm-size", "--ssh", "--tag",
        "--target", "--ulimit", "--volume",
    }
)  # fmt: skip
"""Options that take the next word (docker buildx build --help, podman build --help)."""
_SHORT = {"-t": "--tag", "-f": "--file", "-o": "--output", "-m": "--memory", "-v": "--volume", "-c": "--cpu-shares"}


def builds(found: Sequence[Command], directory: str) -> Iterator[Build]:
    """The images that commands build; ``directory`` is where the file that holds them lies.

    ``docker tag mine registry/mine`` gives what was built before another name.
    """
    built: list[Build] = []
    for command in found:
        at = skip_to_engine(command.words)
        if at is None:
            continue
        words = command.words[at + 1 :]
        while words and words[0].text in ("image", "buildx", "builder"):
            words = words[1:]
        if words and words[0].text in ("build", "b"):
            built += _builds(words[1:], command, directory)
        elif words and words[0].text == "tag" and len(words) == 3:
            named = words[1].text.removesuffix(":latest")
            built += [b._replace(tag=words[2].text) for b in built if b.tag.removesuffix(":latest") == named]
    return iter(built)


def _builds(words: Sequence[Word], command: Command, directory: str) -> Iterator[Build]:
    """One build a tag, since an image may be run by any of them."""
    tags: list[str] = []
    args: list[tuple[str, str | None]] = []
    given: dict[str, str] = {}
    context = ""
    at = 0
    while at < len(words):
        name, equals, value = words[at].text.partition("=")
        name = _SHORT.get(name, name)
        at += 1
        if not name.startswith("-") or name == "-":
            context = words[at - 1].text
            continue
        if name in _WITH_VALUE and not equals:
            value = words[at].text if at < len(words) else ""
            at += 1
        elif name[:2] in _SHORT and not name.startswith("--"):  # -tname
            name, value = _SHORT[name[:2]], name[2:]
        if name == "--tag":
            tags.append(value)
        elif name == "--build-arg":
            key, has_value, text = value.partition("=")
            args.append((key, text if has_value else None))
        else:
            given[name] = value
    if context and "://" not in context:
        file, inline = given.get("--file"), None
        if "-" in (context, file):  # the Dockerfile is the standard input
            document = command.given
            file = command.reads or None
            if document is not None:
                inline = Value(document.text, document.span or command.span, document.text)
        for tag in tags:
            yield Build(
                tag, context, file, given.get("--target"), tuple(args), command.span, directory, inline=inline,
            )  # fmt: skip

"""Names of images and of the files that they are built from, as the docker client reads them."""

from __future__ import annotations

import re

from shmlint.model.record import NamedTuple

DOCKERFILES = ("Dockerfile", "dockerfile")
"""The names in a build context of which the client takes the first that there is, where a build names none."""

_DOMAIN_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH_PART = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
# Texts: `re` compiles and keeps them when they are first used.
_REFERENCE = (
    rf"(?a)(?P<name>{_DOMAIN}/{_PATH_PART}(?:/{_PATH_PART})*)(?::[\w][\w.-]{{0,127}})?"
    r"(?:@(?P<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?"
)
_DIGEST = r"sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}"


def is_reference(text: str) -> bool:
    """Whether the client takes a text as the name of an image.

    Source: distribution/reference ParseAnyReference (normalize.go, regexp.go).

    >>> is_reference("nvcr.io/nvidia/pytorch:24.01-py3"), is_reference("a/")
    (True, False)
    """
    if re.fullmatch(r"[a-f0-9]{64}", text) or re.fullmatch(_DIGEST, text):
        return True
    domain, slash, rest = text.partition("/")
    if not slash or not ("." in domain or ":" in domain or domain == "localhost" or domain.lower() != domain):
        domain, rest = "docker.io", text
    if domain in ("docker.io", "index.docker.io") and "/" not in rest:
        domain, rest = "docker.io", f"library/{rest}"
    name = rest.partition(":")[0]
    match = re.fullmatch(_REFERENCE, f"{domain}/{rest}")
    if name.lower() != name or match is None or (match["digest"] and not re.fullmatch(_DIGEST, match["digest"])):
        return False
    return len(match["name"].partition("/")[2]) <= 255


class Name(NamedTuple):
    """The parts of an image's name, in lower case; empty where a text has none.

    ``repository`` has its registry, but for those of Docker Hub: ``ubuntu``, ``nvidia/cuda``, ``ghcr.io/me/app``.
    """

    repository: str
    tag: str
    digest: str

    @property
    def tagged(self) -> str:
        """The repository with the tag, which is ``latest`` where a name has none."""
        return f"{self.repository}:{self.tag or 'latest'}"

    @property
    def last(self) -> str:
        """The last part of the repository: ``cuda`` of ``nvidia/cuda``."""
        return self.repository.rpartition("/")[2]


def parse(text: str) -> Name:
    """The parts of an image's name, without spaces and quotation marks around it. Variables in it stay.

    >>> parse("index.docker.io/library/python:3.12").tagged
    'python:3.12'
    """
    name, _, digest = text.strip(" \t\r\n\"'").lower().partition("@")
    head, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    repository = f"{head}{slash}{last}"
    for prefix in _HUB:
        repository = repository.removeprefix(prefix)
    return Name(repository.removeprefix("library/"), tag, digest)


def pattern_of(text: str) -> str:
    """A regular expression that finds an image's name in a text, also by another name of Docker Hub.

    >>> re.search(pattern_of("docker.io/me/app:1"), "docker pull me/app:1") is not None
    True
    """
    name = parse(text)
    tag, digest = f":{name.tag}" if name.tag else "", f"@{name.digest}" if name.digest else ""
    hub = "|".join(map(re.escape, _HUB))
    return rf"(?i:(?:{hub})*{re.escape(f'{name.repository}{tag}{digest}')})"


_HUB = (
    "m.daocloud.io/", "docker.m.daocloud.io/", "mirror.gcr.io/", "public.ecr.aws/docker/", "registry.hub.docker.com/",
    "index.docker.io/", "registry-1.docker.io/", "docker.io/",
)  # fmt: skip
"""Other names of Docker Hub, and mirrors that hold its repositories under their own names."""

"""Names of images and of the files that they are built from, as the docker client reads them."""

from __future__ import annotations

import re

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

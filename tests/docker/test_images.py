"""Which names of images the docker client takes, and their parts; where there is a client, it is asked again."""

from __future__ import annotations

import pytest

from shmlint.docker.images import is_reference, parse
from tests.oracles.docker_client import docker_create
from tests.table import table

IMAGES = [
    ("alpine", True),
    ("localhost/x", True),
    ("localhost:5000/x:y", True),
    ("Registry.io/x", True),
    ("a" * 200, True),
    ("x/" + "a" * 253, True),
    ("0" * 64, True),
    ("sha256:" + "0" * 64, True),
    ("a@sha256:" + "0" * 64, True),
    ("a:b@sha256:" + "0" * 64, True),
    ("docker.io/x", True),
    ("index.docker.io/x/y", True),
    ("x/" + "a" * 254, False),
    ("a" * 256, False),
    ("a@sha256:" + "0" * 63, False),
    ("a@sha256:" + "g" * 64, False),
    ("a@md5:" + "0" * 32, False),
    ("a@sha256:" + "A" * 64, False),
    ("a:" + "b" * 129, False),
    ("a:b c", False),
    ("Upper", False),
    ("x/Upper:y", False),
    ("a:Upper", True),
    ("", False),
    (":tag", False),
    ("a/", False),
]


def test_references() -> None:
    assert {image: is_reference(image) for image, _ in IMAGES} == dict(IMAGES)


@pytest.mark.docker_client
def test_the_client_agrees() -> None:
    assert {image: docker_create(["create", "--", image])[1] is not None for image, _ in IMAGES} == dict(IMAGES)


@table(
    "text, repository, tag, digest",
    [
        ("ubuntu", "ubuntu", "", ""),
        ("me/app:1.2", "me/app", "1.2", ""),
        ("localhost:5000/me/app", "localhost:5000/me/app", "", ""),
        ("registry.io:5000/me/app:1@sha256:abc", "registry.io:5000/me/app", "1", "sha256:abc"),
        ("me/app@sha256:abc", "me/app", "", "sha256:abc"),
        (" 'NVIDIA/CUDA:12-Devel' ", "nvidia/cuda", "12-devel", ""),
        # Docker Hub by its other names, and mirrors of it.
        ("library/ubuntu:22.04", "ubuntu", "22.04", ""),
        ("docker.io/library/ubuntu", "ubuntu", "", ""),
        ("index.docker.io/nvidia/cuda:12", "nvidia/cuda", "12", ""),
        ("registry-1.docker.io/nvidia/cuda", "nvidia/cuda", "", ""),
        ("registry.hub.docker.com/nvidia/cuda", "nvidia/cuda", "", ""),
        ("mirror.gcr.io/nvidia/cuda", "nvidia/cuda", "", ""),
        ("public.ecr.aws/docker/library/ubuntu", "ubuntu", "", ""),
        ("docker.m.daocloud.io/nvidia/cuda", "nvidia/cuda", "", ""),
        ("m.daocloud.io/docker.io/library/ubuntu", "ubuntu", "", ""),
        # Other registries, and other people.
        ("m.daocloud.io/ghcr.io/me/app", "ghcr.io/me/app", "", ""),
        ("quay.io/docker.io/app", "quay.io/docker.io/app", "", ""),
        ("me/library/app", "me/library/app", "", ""),
        # Variables stay as they are.
        ("$REGISTRY/me/app:${TAG:-latest}", "$registry/me/app", "${tag:-latest}", ""),
        ("", "", "", ""),
    ],
)
def test_parts_of_a_name(text: str, repository: str, tag: str, digest: str) -> None:
    assert parse(text) == (repository, tag, digest)

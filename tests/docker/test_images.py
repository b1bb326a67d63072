"""Which names of images the docker client takes; where there is a client, it is asked again."""

from __future__ import annotations

import pytest

from shmlint.docker.images import is_reference
from tests.oracles.docker_client import docker_create

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

"""The settings of a path as ``shmlint settings`` shows them."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.config.check import schema
from shmlint.docker.sizes import spell_docker
from shmlint.model.settings import Settings


def described(settings: Settings) -> Iterator[str]:
    """The settings as lines of a settings file, each with where it comes from."""
    import json


    origins = dict(settings.origins)
    yield f"# settings file: {settings.path or 'none'}"
    for key in schema()["properties"]:
        if key == "extend":
            continue  # what it brings is shown with its place
        field = {"daemon-default-shm-size": "default_shm_size"}.get(key, key.replace("-", "_"))
        value = getattr(settings, field)
        origin = f"{origins[key].path}:{origins[key].line}" if key in origins else "default"
        if key.endswith("shm-size"):
            value = spell_docker(value) if value else None
        elif key in ("severity", "per-file-ignores"):
            value = dict(value)
        if value is None:
            yield f"# {key} is not set"
        else:
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}  # {origin}"

"""devcontainer.json: a container of its own, or a service of a Compose project."""

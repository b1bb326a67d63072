"""Commands that run something in a container: what is found in their words."""

from __future__ import annotations

from shmlint.docker.commands import compose_command, exec_command, runs_engine, service_command
from shmlint.syntax.word import Word
from tests.table import table


def words(text: str) -> list[Word]:
    return [Word(part, unknown=None) for part in text.split()]


@table(
    "command, options, rest",
    [
        ("docker compose up -d", {}, "up -d"),
        ("docker-compose -f a.yml up", {"-f": "a.yml"}, "up"),
        ("sudo -E docker compose --file=a.yml --progress plain up", {"--file": "a.yml", "--progress": "plain"}, "up"),
        ("env X=1 podman-compose --in-pod 0 -pname up", {"--in-pod": "0", "-p": "name"}, "up"),
        ("nerdctl -n x compose -f=a.yml --dry-run up", {"-f": "a.yml", "--dry-run": None}, "up"),
        ("sudo -u docker /usr/bin/docker-compose up", {}, "up"),
        ("docker compose exec a docker-compose up", {}, "exec a docker-compose up"),
    ],
)
def test_a_command_of_compose(command: str, options: dict[str, str | None], rest: str) -> None:
    found = compose_command(words(command))
    assert found is not None and not found.wrapped
    assert {name: value and value.text for name, value in found.options} == options
    assert " ".join(word.text for word in found.rest) == rest


@table("command", ["docker run compose", "docker build .", "compose up", "docker --version compose", "echo docker", ""])
def test_another_command(command: str) -> None:
    assert compose_command(words(command)) is None


@table(
    "command, files",
    [
        ("docker compose -f a.yml --file b.yml up", ["a.yml", "b.yml"]),
        ("COMPOSE_FILE=a.yml:b.yml docker compose up", ["a.yml", "b.yml"]),
        ("COMPOSE_FILE=a.yml docker compose -f c.yml up", ["c.yml"]),
        ("docker compose up -f a.yml", []),
        ("retry 3 docker compose -f a.yml up", ["a.yml"]),
    ],
)
def test_the_files_that_a_command_names(command: str, files: list[str]) -> None:
    found = compose_command(words(command))
    assert found is not None and [word.text for word in found.files] == files
    assert found.wrapped == command.startswith("retry")


@table(
    "command, name, inner, starts",
    [
        ("docker compose run --rm -itp 80:80 a sh", "a", ("sh",), True),
        ("docker compose run --entrypoint=sh -eA=1 -- a -c x", "a", ("-c", "x"), True),
        ("docker compose exec -itu root a sh", "a", ("sh",), False),
        ("docker compose exec -T", "", (), False),
    ],
)
def test_a_command_in_a_service(command: str, name: str, inner: tuple[str, ...], starts: bool) -> None:
    compose = compose_command(words(command))
    found = service_command(compose) if compose is not None else None
    assert found is not None and (found.name, found.words, found.starts) == (name, inner, starts)


@table(
    "command, name, inner",
    [
        ("docker exec -it box sh", "box", ("sh",)),
        ("winpty docker -H x container exec -itw /src box make", "box", ("make",)),
        ("podman exec --preserve-fds 3 box sh", "box", ("sh",)),
        ("docker compose exec -T box sh", "box", ("sh",)),
        ("docker compose run box sh", None, ()),
        ("docker run box exec", None, ()),
        ("explain docker exec box sh", None, ()),
        ("announce docker compose exec box sh", None, ()),
        ("kubectl exec box sh", None, ()),
    ],
)
def test_a_command_in_a_container(command: str, name: str | None, inner: tuple[str, ...]) -> None:
    found = exec_command(words(command))
    assert (found.name if found is not None else None, found.words if found is not None else ()) == (name, inner)


@table(
    "command, is_one",
    [("sudo docker ps", True), ("docker-compose ps", True), ("sudo ls", False), ("make docker run x", False)],
)
def test_a_command_of_an_engine(command: str, is_one: bool) -> None:
    assert runs_engine(words(command)) == is_one

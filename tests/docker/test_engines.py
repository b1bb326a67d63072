"""Which commands start a container, and with which engine."""

from __future__ import annotations

from shmlint.docker.engines import find_docker
from tests.docker.command_lines import words
from tests.table import table

# -- where the command starts -------------------------------------------------------------------


@table(
    ("line", "engine", "verb", "first"),
    [
        ("docker run --rm a", "docker", "run", "--rm"),
        ("docker create a", "docker", "create", "a"),
        ("docker container run a", "docker", "run", "a"),
        ("docker container create a", "docker", "create", "a"),
        ("docker -c ctx run a", "docker", "run", "a"),
        ("docker --context=ctx run a", "docker", "run", "a"),
        ("docker --context ctx -D -H tcp://x:1 -l debug --tls run a", "docker", "run", "a"),
        ("docker --config /x --tlsverify --tlscacert x run a", "docker", "run", "a"),
        ("docker -Htcp://x:1 container run a", "docker", "run", "a"),
        ("/usr/bin/docker run a", "docker", "run", "a"),
        ("docker.exe run a", "docker", "run", "a"),
        ("podman run a", "podman", "run", "a"),
        ("podman container create a", "podman", "create", "a"),
        ("podman --remote --root /x --log-level=debug run a", "podman", "run", "a"),
        ("nvidia-docker run a", "nvidia-docker", "run", "a"),
        ("NV_GPU=0 nvidia-docker run a", "nvidia-docker", "run", "a"),
        ("nerdctl -n k8s.io --address=/run/x.sock run a", "nerdctl", "run", "a"),
        ("lima nerdctl container create a", "nerdctl", "create", "a"),
        ("nerdctl.lima run a", "nerdctl", "run", "a"),
        ("podman-remote run a", "podman", "run", "a"),
        ("/usr/bin/podman-remote container create a", "podman", "create", "a"),
        ("$NERDCTL run a", "nerdctl", "run", "a"),
        ("runuser -u me -- docker run a", "docker", "run", "a"),
        ("screen -L -dmS train docker run a", "docker", "run", "a"),
        ("tmux -L x new-session -d -s train docker run a", "docker", "run", "a"),
        ("gosu me docker run a", "docker", "run", "a"),
        ("chroot /host nsenter -t 1 -m -- docker run a", "docker", "run", "a"),
        ("srun -N1 --gpus=8 --ntasks 1 docker run a", "docker", "run", "a"),
        ("op run --env-file=x -- docker run a", "docker", "run", "a"),
        ("sudo docker run a", "docker", "run", "a"),
        ("sudo -E -u root -n docker run a", "docker", "run", "a"),
        ("sudo -nu root A=1 docker run a", "docker", "run", "a"),
        ("sudo --user=root --preserve-env=A,B -- docker run a", "docker", "run", "a"),
        ("sudo --user root docker run a", "docker", "run", "a"),
        ("env -i A=1 B=2 docker run a", "docker", "run", "a"),
        ("env -u DOCKER_HOST docker run a", "docker", "run", "a"),
        ("time docker run a", "docker", "run", "a"),
        ("/usr/bin/time -f %e -o x docker run a", "docker", "run", "a"),
        ("exec docker run a", "docker", "run", "a"),
        ("command docker run a", "docker", "run", "a"),
        ("nohup nice -n 10 ionice -c3 docker run a", "docker", "run", "a"),
        ("timeout -k 5 --signal=INT 10m docker run a", "docker", "run", "a"),
        ("timeout --foreground 10 sudo docker run a", "docker", "run", "a"),
        ("stdbuf -oL -eL docker run a", "docker", "run", "a"),
        ("doas -u root docker run a", "docker", "run", "a"),
        ("ssh -t -p 22 me@there docker run a", "docker", "run", "a"),
        ("ssh there sudo podman run a", "podman", "run", "a"),
        ("winpty docker run a", "docker", "run", "a"),
        ("CUDA_VISIBLE_DEVICES=0 sudo docker run a", "docker", "run", "a"),
        ("${DOCKER} run a", "docker", "run", "a"),
        ("$(DOCKER_CMD) run a", "docker", "run", "a"),
        ("${SUDO} docker run a", "docker", "run", "a"),
        ("docker $CONTEXT_ARGS run a", "docker", "run", "a"),
    ],
)
def test_starts(line: str, engine: str, verb: str, first: str) -> None:
    found = words(line)
    command = find_docker(found)
    assert command is not None
    assert (command.engine, command.verb, found[command.start].text) == (engine, verb, first)


def test_assignments_in_front() -> None:
    command = find_docker(words("A=1 sudo B=2 env C=3 docker run a"))
    assert command is not None
    assert [word.text for word in command.assignments] == ["A=1", "B=2", "C=3"]


@table(
    "line",
    [
        "",
        "docker",
        "docker -H",
        "docker --context",
        "sudo -u",
        "ssh -p",
        "docker exec a run",
        "docker exec a echo docker run b",
        "docker exec docker run a",
        "docker exec a docker ps run",
        "docker compose up exec",
        "docker compose run a",
        "docker-compose run a",
        "docker build run",
        "docker buildx create a",
        "docker volume create a",
        "docker network create a",
        "docker --version run",
        "docker container ls",
        "command -v docker run",
        "sudo -l docker run a",
        "echo docker run a",
        "echo -- docker run a",
        "grep -r -- docker run a",
        "op run -- x docker run a",
        "tmux kill-session -t docker run a",
        "which docker run",
        "nvidia-docker2 run a",
        "mydocker run a",
        "docker-machine create a",
        "A=1",
        "sudo",
        "timeout 10",
        "./docker/run.sh run a",
    ],
)
def test_starts_nothing(line: str) -> None:
    assert find_docker(words(line)) is None


@table(
    ("line", "rest"),
    [
        ("docker exec a docker run b", "b"),
        ("docker exec -it -u root a sudo podman run --rm b", "--rm b"),
        ("docker compose -f c.yml exec -T a docker container run b", "b"),
        ("sudo docker exec docker docker run b", "b"),
    ],
)
def test_an_engine_inside_of_a_container(line: str, rest: str) -> None:
    found = find_docker(words(line))
    assert found is not None
    assert " ".join(word.text for word in words(line)[found.start :]) == rest

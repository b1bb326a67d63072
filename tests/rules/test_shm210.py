"""SHM210: sizes at places where nothing reads them, and how they get to the right one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracles.compose import compose_answer
from tests.oracles.docker_client import docker_create
from tests.project import findings, fixed, run
from tests.rules.cases import NGC
from tests.table import table

THIS = ("SHM210",)


def service(*lines: str, end: str = "\n") -> str:
    body = ["services:", "  x:", "    image: foo", *(f"    {line}" for line in lines)]
    return "\n".join(body) + end


def key(name: str) -> str:
    return f"`{name}` is not a key of a service, and Compose refuses the file; the key is `shm_size`"


def under(place: str, name: str = "shm_size") -> str:
    return f"`{name}` under `{place}` is refused by Compose: it is a key of the service"


AT_TOP = "`shm_size` at the top level is refused by Compose: it is a key of a service"
VARIABLE = "`{}` in `environment` is a variable for the program, and does not set the size"
DEVICE = "deploy.resources.reservations.devices[0]"

CASES: dict[str, tuple[str, list[str], str | None]] = {
    "shm-size": (service("shm-size: 8gb", "gpus: all"), [key("shm-size")], service("shm_size: 8gb", "gpus: all")),
    "shmSize": (service("shmSize: 8gb"), [key("shmSize")], service("shm_size: 8gb")),
    "shmsize": (service("shmsize: 8gb"), [key("shmsize")], service("shm_size: 8gb")),
    "shm": (service("shm: 8gb"), [key("shm")], service("shm_size: 8gb")),
    "capitals": (service("SHM_SIZE: 8gb"), [key("SHM_SIZE")], service("shm_size: 8gb")),
    "quoted": (service('"shm-size": 8gb'), [key("shm-size")], service('"shm_size": 8gb')),
    "JSON": ('{"services": {"x": {"image": "i", "shm-size": "8g"}}}', [key("shm-size")],
             '{"services": {"x": {"image": "i", "shm_size": "8g"}}}'),
    "variable": (service("shm-size: ${S:-1g}"), [key("shm-size")], service("shm_size: ${S:-1g}")),
    "no size": (service("shm-size: lots"), [key("shm-size")], None),
    "a float": (service("shm-size: 1.5"), [key("shm-size")], None),
    "not the only one": (service("shm_size: 1g", "shm-size: 2g"), [key("shm-size")], None),
    "anchor": (
        "x-g: &g\n  image: i\n  shm-size: 8g\nservices:\n  a:\n    <<: *g\n  b:\n    <<: *g\n",
        [key("shm-size"), key("shm-size")],
        "x-g: &g\n  image: i\n  shm_size: 8g\nservices:\n  a:\n    <<: *g\n  b:\n    <<: *g\n",
    ),
    "deploy": (service("deploy: {shm_size: 8g}"), [under("deploy")], service("shm_size: 8gb")),
    "deploy, other spelling":
        (service("deploy: {shm-size: 8g, replicas: 1}"), [under("deploy", "shm-size")],
         service("shm_size: 8gb", "deploy: {replicas: 1}")),
    "resources":
        (service("deploy:", "  resources:", "    shm_size: 8g", "  replicas: 1"), [under("deploy.resources")],
         service("shm_size: 8gb", "deploy:", "  replicas: 1")),
    "limits":
        (service("deploy:", "  resources:", "    limits:", "      memory: 4g", "      shm_size: 8gb", "user: root"),
         [under("deploy.resources.limits")],
         service("shm_size: 8gb", "deploy:", "  resources:", "    limits:", "      memory: 4g", "user: root")),
    "reservations, comment":
        (service("deploy:", "  resources:", "    reservations:", "      shm_size: 8gb  # NCCL", "      cpus: '1'"),
         [under("deploy.resources.reservations")],
         service("shm_size: 8gb", "deploy:", "  resources:", "    reservations:", "      # NCCL", "      cpus: '1'")),
    "first in braces":
        (service("deploy: {resources: {limits: {shm_size: 1g, memory: 4g}}}"), [under("deploy.resources.limits")],
         service("shm_size: 1gb", "deploy: {resources: {limits: {memory: 4g}}}")),
    "last in braces":
        (service("deploy: {resources: {limits: {memory: 4g, shm_size: 1g}}}"), [under("deploy.resources.limits")],
         service("shm_size: 1gb", "deploy: {resources: {limits: {memory: 4g}}}")),
    "device":
        (service("deploy: {resources: {reservations: {devices: [{capabilities: [gpu], shm_size: 1g}]}}}"),
         [under(DEVICE)],
         service("shm_size: 1gb", "deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}")),
    "device, block":
        (service("deploy:", "  resources:", "    reservations:", "      devices:", "      - capabilities: [gpu]",
                 "        shm_size: 1g"), [under(DEVICE)],
         service("shm_size: 1gb", "deploy:", "  resources:", "    reservations:", "      devices:",
                 "      - capabilities: [gpu]")),
    "device, first key":
        (service("deploy:", "  resources:", "    reservations:", "      devices:", "      - shm_size: 1g",
                 "        capabilities: [gpu]"), [under(DEVICE)], None),
    "deploy, unknown": (service("deploy: {shm_size: '${S}'}"), [under("deploy")], None),
    "deploy and own": (service("shm_size: 1g", "deploy: {shm_size: 2g}"), [under("deploy")], None),
    "deploy and misspelt":
        (service("shm-size: 1g", "deploy: {shm_size: 2g}"), [key("shm-size"), under("deploy")],
         service("shm_size: 1g", "deploy: {shm_size: 2g}")),
    "request": (service("gpus:", "  - count: 1", "    shm_size: 1g"),
                ["`shm_size` under `gpus[0]` is not read: it is a key of the service"],
                service("gpus:", "  - count: 1", "shm_size: 1gb")),
    "top": (service("gpus: all") + "shm_size: 8g\n", [AT_TOP], service("gpus: all", "shm_size: 8gb")),
    "top, above": ("shm_size: 8g\n" + service("gpus: all"), [AT_TOP], service("gpus: all", "shm_size: 8gb")),
    "top, two services": (service("gpus: all") + "  y: {image: foo}\nshm_size: 8g\n", [AT_TOP], None),
    "variable of a container":
        (service("gpus: all", "environment: [shm_size=8g]"), [VARIABLE.format("shm_size")], None),
    "variable with a hyphen":
        (service("gpus: all", "environment: {shm-size: 8g}"), [VARIABLE.format("shm-size")], None),
    "variable in capitals": (service("gpus: all", "environment: {SHM_SIZE: 8g}"), [], None),
    "variable beside a size": (service("gpus: all", "shm_size: 8g", "environment: {shm_size: 8g}"), [], None),
    "variable without a gpu": (service("environment: {shm_size: 8g}"), [], None),
    "extension": (service("x-shm-size: 8g"), [], None),
    "extension at the top": (service() + "x-shm_size: 8g\n", [], None),
    "label": (service("labels: {shm_size: 8g}"), [], None),
    "volume": (service("volumes: [shm:/data]") + "volumes: {shm: {}}\n", [], None),
    "build": (service("build: {context: ., shm_size: 8g}"), [], None),
    "right": (service("shm_size: 8g"), [], None),
    "CRLF": (service("deploy:", "  shm_size: 8g  # NCCL", "  replicas: 1").replace("\n", "\r\n"), [under("deploy")],
             service("shm_size: 8gb", "deploy:", "  # NCCL", "  replicas: 1").replace("\n", "\r\n")),
}  # fmt: skip


@table(("text", "expected", "after"), CASES.values(), ids=CASES)
def test_compose(tmp_path: Path, text: str, expected: list[str], after: str | None) -> None:
    found = findings(tmp_path, text, select=(*THIS, "SHM001"))
    assert [(f.rule, f.severity, f.message.partition(": ")[2]) for f in found] == [
        ("SHM210", "error", message) for message in expected
    ]
    changed = fixed(tmp_path, text, select=THIS)
    assert changed == ({"compose.yaml": after} if after is not None else {})


@pytest.mark.compose_judge
@table(("text", "expected", "after"), CASES.values(), ids=CASES)
def test_compose_refuses_what_we_say_it_refuses(
    tmp_path: Path, text: str, expected: list[str], after: str | None
) -> None:
    (tmp_path / "compose.yaml").write_text(text, "utf-8")
    answer, said = compose_answer(tmp_path)
    assert (answer is None) == any("refuse" in message for message in expected), said
    if answer is None:
        assert "additional properties" in said
    if after is not None and "shm_size: 2g" not in after:
        (tmp_path / "compose.yaml").write_text(after, "utf-8", newline="")
        answer, said = compose_answer(tmp_path)
        assert answer is not None, said
        assert all(int(of["shm_size"]) >= 1 << 30 for of in answer["services"].values())


def test_an_override_is_judged_with_its_base(tmp_path: Path) -> None:
    files = {"compose.yaml": service("gpus: all"), "compose.override.yaml": "services:\n  x:\n    shm-size: 8g\n"}
    assert [(f.span.path, f.rule) for f in findings(tmp_path, files, select=THIS)] == [
        ("compose.override.yaml", "SHM210")
    ]
    assert fixed(tmp_path, files, select=THIS) == {"compose.override.yaml": "services:\n  x:\n    shm_size: 8g\n"}


IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
BEHIND = "`--shm-size` after the image is an argument of the program, not an option of Docker"

COMMANDS: dict[str, tuple[str, list[str], str | None]] = {
    "behind": (f"docker run --gpus all {IMAGE} --shm-size=8g", [BEHIND],
               f"docker run --gpus all --shm-size=8g {IMAGE}"),
    "two words": (f"docker run --gpus all {IMAGE} --shm-size 8g bash", [BEHIND],
                  f"docker run --gpus all --shm-size=8g {IMAGE} bash"),
    "behind another": (f"docker run {IMAGE} --ipc=private --shm-size=1g sh", [BEHIND], None),
    "between others": (f"docker run {IMAGE} -v /a:/b --shm-size 1g --rm sh", [BEHIND], None),
    "before another": (f"docker run {IMAGE} --shm-size=1g -it sh", [BEHIND], None),
    "before one with its value": (f"docker run {IMAGE} --shm-size=1g -v/a:/b sh", [BEHIND], None),
    "before the program's": (f"docker run {IMAGE} --shm-size=1g --model x", [BEHIND],
                             f"docker run --shm-size=1g {IMAGE} --model x"),
    "quotes": (f"docker run {IMAGE} '--shm-size=1g' sh", [BEHIND], f"docker run --shm-size=1g {IMAGE} sh"),
    "lines": (f"docker run \\\n  --gpus all \\\n  {IMAGE} \\\n  --shm-size=8g \\\n  sh", [BEHIND],
              f"docker run \\\n  --gpus all \\\n  --shm-size=8g {IMAGE} \\\n  sh"),
    "no size": (f"docker run {IMAGE} --shm-size=lots", [BEHIND], None),
    "a variable": (f"docker run {IMAGE} --shm-size=$S", [BEHIND], None),
    "some of an array": (f"C=(docker run {IMAGE} --shm-size=1g)\n\"${{C[0]}}\" \"${{C[@]:1}}\"", [BEHIND], None),
    "one in front": (f"docker run --shm-size=1g {IMAGE} --shm-size=2g", [BEHIND], None),
    "in front": (f"docker run --shm-size=8g {IMAGE} sh", [], None),
    "a program's": (f"docker run {IMAGE} tool --shm-size=8g", [], None),
    "docker in docker": ("docker run docker:cli docker run --shm-size=8g foo", [], None),
    "behind a value": (f"docker run {IMAGE} --model x --shm-size=8g", [], None),
    "underscore":
        (f"docker run --gpus all --shm_size=8g {IMAGE}",
         ["`--shm_size` is an unknown flag, and Docker refuses the command; the option is `--shm-size`"], None),
    "one hyphen": (f"docker run -shm-size=8g --gpus all {IMAGE}",
                   ["`-shm-size` is an unknown flag, and Docker refuses the command; the option is `--shm-size`"],
                   None),
    "ipc in a single word":
        (f"docker run '--ipc host' --gpus all {IMAGE}",
         ["`--ipc host` is a single word, which is refused as an unknown flag"], None),
    "a single word":
        (f"docker run '--shm-size 8g' --gpus all {IMAGE}",
         ["`--shm-size 8g` is a single word, which is refused as an unknown flag"],
         f"docker run '--shm-size=8g' --gpus all {IMAGE}"),
    "one hyphen before ipc":
        (f"docker run -ipc=host --gpus all {IMAGE}",
         ["`-ipc=host` is read as -i and -p, and Docker refuses the port; the option is `--ipc`"], None),
    "no hyphen": (f"docker run --shmsize 8g {IMAGE}",
                  ["`--shmsize` is an unknown flag, and Docker refuses the command; the option is `--shm-size`"], None),
    "without a letter":
        (f"docker run --sm-size=8g {IMAGE}",
         ["`--sm-size` is an unknown flag, and Docker refuses the command; the option is `--shm-size`"], None),
    "short": (f"docker run --shm 8g {IMAGE}",
              ["`--shm` is an unknown flag, and Docker refuses the command; the option is `--shm-size`"], None),
    "before run": (f"docker --shm-size=8g run --gpus all {IMAGE} tool",
                   ["`--shm-size` is not read by Docker: it is an unknown flag before `run`"], None),
    "two words before run": (f"docker --shm-size 8g run --gpus all {IMAGE} tool",
                   ["`--shm-size` is not read by Docker: it is an unknown flag before `run`"], None),
    "colon": (f"docker run --shm-size: 8g {IMAGE}",
              ["`--shm-size:` is an unknown flag, and Docker refuses the command; the option is `--shm-size`"], None),
    **{name: (f"docker run --gpus all {name} {IMAGE}",
              [f"`{name.removesuffix('=8g')}` is an unknown flag, and Docker refuses the command; the option is "
               "`--shm-size`"], None)
       for name in ("--shm-size:16g", "--shm-siz=8g", "--shm-sise=8g", "--shmem-size=8g", "--shm-sizes=8g")},
    "Podman's": (f"docker run --gpus all --shm-size-systemd=1g {IMAGE}", [], None),
    "another's": (f"docker run --shmop 8g {IMAGE} --shm 8g", [], None),
}  # fmt: skip


@table(("line", "expected", "after"), COMMANDS.values(), ids=COMMANDS)
def test_commands(tmp_path: Path, line: str, expected: list[str], after: str | None) -> None:
    files = {"run.sh": f"{line}\n"}
    found = findings(tmp_path, files, select=THIS)
    assert [f.message.partition(": `")[2] for f in found] == [message.removeprefix("`") for message in expected]
    assert fixed(tmp_path, files, select=THIS) == ({"run.sh": f"{after}\n"} if after else {})


@table(
    ("size", "because"),
    [
        ("--shm-size 8 g", "`8` and its unit `g` are two words"),
        ("--shm-size 16 GB", "`16` and its unit `GB` are two words"),
        ("--shm-size=16 g", "`16` and its unit `g` are two words"),
        ("--shm-size=512 MB", "`512` and its unit `MB` are two words"),
        ("--shm-size = 8g", "there is a blank before its `=`"),
        ("--shm-size= 8g", "there is a blank behind its `=`"),
    ],
)
def test_a_size_of_several_words(tmp_path: Path, size: str, because: str) -> None:
    files = {"run.sh": f"docker run --gpus all {size} {IMAGE}\n"}
    (found,) = findings(tmp_path, files)
    assert found.message == f"`docker run`: `--shm-size` is not read by Docker: {because}"
    assert fixed(tmp_path, files) == {}


@table(
    "words, severity",
    [
        ("--shm-size 8g fit.py", "warning"), ("--shm-size=8g", "warning"), ("--shm-size 8g --gpus all", "error"),
        ("--rm --shm-size 8g fit.py", "error"), ("--shm-size 8g --model m", "warning"),
    ],
)  # fmt: skip
def test_the_program_of_an_unknown_image_may_have_such_an_option(tmp_path: Path, words: str, severity: str) -> None:
    files = {"run.sh": f"docker run --rm --gpus all me/launcher:1 {words}\n"}
    (found,) = findings(tmp_path, files, select=THIS)
    assert found.severity == severity
    assert found.fix is None if severity == "error" else not found.fix.safe  # where others are beside it
    assert fixed(tmp_path, files, select=THIS) == {}


@pytest.mark.docker_client
@table(("line", "expected", "after"), COMMANDS.values(), ids=COMMANDS)
def test_the_client_sees_an_argument(tmp_path: Path, line: str, expected: list[str], after: str | None) -> None:
    def asked(command: str) -> tuple[int, list[str]] | str:
        _, body, said = docker_create(shlex.split(command.replace("\\\n", " "))[1:])
        return said if body is None else (body["HostConfig"]["ShmSize"], body.get("Cmd") or [])

    answer = asked(line)
    if re.search("unknown flag|Docker refuses", "".join(expected)) or "shmop" in line or "systemd" in line:
        assert isinstance(answer, str) and re.search(r"unknown (shorthand )?flag: |no port specified", answer)
        return
    assert not isinstance(answer, str), answer
    if expected:
        assert any(word.startswith("--shm-size") for word in answer[1])
    if after:
        new = asked(after)
        assert not isinstance(new, str), new
        gone = [word for word in answer[1] if word not in new[1]]
        assert answer[0] == 0 and new[0] and gone[0].startswith("--shm-size")


where = st.sampled_from(["deploy", "deploy.resources", "deploy.resources.limits", "deploy.resources.reservations"])
beside = st.lists(st.sampled_from(["replicas: 1", "# why", "mode: replicated", ""]), max_size=3, unique=True)


@given(where, beside, st.sampled_from(["8g", "'1gb'", "512m # NCCL"]), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_moving_keeps_the_rest(
    tmp_path: Path, place: str, others: list[str], size: str, newline: str, first: bool
) -> None:
    path = place.split(".")
    body = ["deploy:"]
    inner = [f"  {other}" if other else "" for other in others]
    for depth, name in enumerate(path[1:], 1):
        inner = [*inner, f"{'  ' * depth}{name}:"]
    inner.append(f"{'  ' * len(path)}shm_size: {size}")
    body += inner
    lines = [*body, "user: root"] if first else ["user: root", *body]
    text = service(*lines).replace("\n", newline)
    new = fixed(tmp_path, text, select=THIS)["compose.yaml"]
    after = run(tmp_path, new)
    assert after.launches[0].shm is not None and after.launches[0].effective_shm().bytes
    assert [f for f in after.findings if f.rule in ("SHM210", "SHM001")] == []
    for kept in ("replicas: 1", "mode: replicated", "user: root"):
        assert new.count(kept) == text.count(kept)


def test_a_size_that_only_has_to_be_moved_is_not_written_a_second_time(tmp_path: Path) -> None:
    text = "services:\n  a:\n    image: nvcr.io/nvidia/pytorch:24.01-py3\n    gpus: all\n    shm-size: 16gb\n"
    found = findings(tmp_path, {"compose.yaml": text}, select=("SHM101", "SHM210"))
    assert [finding.rule for finding in found] == ["SHM210"]
    assert fixed(tmp_path, {}, select=("SHM101", "SHM210")) == {"compose.yaml": text.replace("shm-size", "shm_size")}


@table(
    ("name", "text", "words"),
    [
        (".devcontainer.json", f'{{"image": "{NGC}", "runArgs": ["--gpus=all", "--shm_size=8g"]}}',
         "`--shm_size` is an unknown flag"),
    ],
)  # fmt: skip
def test_words_of_the_format(tmp_path: Path, name: str, text: str, words: str) -> None:
    (found,) = findings(tmp_path, {name: text}, select=("SHM210",))
    assert words in found.message



PROGRAM = "torchrun --nproc_per_node=8 train.py"


@table(
    ("script", "fixed_script"),
    [
        (f"IMG={NGC}\ndocker run --gpus all $IMG --shm-size 16g {PROGRAM}\n", ""),
        (f'f() {{ docker run --gpus all {NGC} "$@"; }}\nf --shm-size=16g {PROGRAM}\n', ""),
        (f'IMG="{NGC} --shm-size=16g"\ndocker run --gpus all $IMG {PROGRAM}\n', ""),
        (f"docker run --gpus all {NGC} --rm -it --shm-size=16g {PROGRAM}\n", ""),
        (f"docker run --gpus all {NGC} --shm-size=16g --name x {PROGRAM}\n", ""),
        (f"docker run --gpus all {NGC} --shm-size=16g {PROGRAM}\n",
         f"docker run --gpus all --shm-size=16g {NGC} {PROGRAM}\n"),
        (f"docker run --gpus all {NGC} --unheard-of --shm-size=16g {PROGRAM}\n", None),
    ],
)  # fmt: skip
def test_a_size_behind_the_image_gets_no_second_one(tmp_path: Path, script: str, fixed_script: str | None) -> None:
    """Where it cannot be moved, the launch is told so and left."""
    found = [finding.rule for finding in findings(tmp_path, {"x.sh": script})]
    assert found == (["SHM210"] if fixed_script is not None else ["SHM101"])
    if fixed_script is not None:
        assert fixed(tmp_path, {"x.sh": script}) == ({"x.sh": fixed_script} if fixed_script else {})

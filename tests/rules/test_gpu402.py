"""GPU402: requests for GPUs that are refused, what they were meant to be, and how they are written right."""

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
from tests.table import table

THIS = ("GPU402",)
Count = int | str | None


def gpus(value: str) -> str:
    return f"services:\n  x:\n    image: foo\n    gpus: {value}\n"


def reserved(request: str) -> str:
    return (
        "services:\n  x:\n    image: foo\n    deploy:\n      resources:\n        reservations:\n          devices:\n"
        f"            - {request}\n"
    )


def stray(path: str) -> str:
    """A request for devices under other keys than its own."""
    request = "[{driver: nvidia, count: all, capabilities: [gpu]}]"
    for name in reversed(path.split(".")):
        request = f"{{{name}: {request}}}"
    return f"services:\n  x:\n    image: foo\n    {request[1:-1]}\n"


STRAYS = {
    "deploy.reservations.devices": "deploy.reservations", "deploy.devices": "deploy.devices",
    "deploy.resources.devices": "deploy.resources.devices",
    "deploy.resources.limits.devices": "deploy.resources.limits.devices",
    "resources.reservations.devices": "resources", "reservations.devices": "reservations",
    "device_requests": "device_requests", "gpu": "gpu", "deploy.resources.limits.gpus": "deploy.resources.limits.gpus",
    "deploy.resources.reservations.gpu": "deploy.resources.reservations.gpu",
}  # fmt: skip
"""Paths, and the key on them that is none."""


@pytest.mark.parametrize(("path", "key"), STRAYS.items())
def test_a_request_under_another_key(tmp_path: Path, path: str, key: str) -> None:
    (found,) = findings(tmp_path, stray(path), select=(*THIS, "SHM001"))
    assert found.message == f"service `x`: `{key}` is an unknown key{REFUSES}"
    assert found.span.text == key.rpartition(".")[2] and "`deploy.resources.reservations.devices`" in found.advice


@pytest.mark.compose_judge
@pytest.mark.parametrize("path", STRAYS)
def test_compose_knows_no_such_key(tmp_path: Path, path: str) -> None:
    (tmp_path / "compose.yaml").write_text(stray(path), "utf-8")
    answer, said = compose_answer(tmp_path)
    assert answer is None and "additional properties" in said


AMONG_DEVICES = "services:\n  x:\n    image: foo\n    devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]\n"


def test_a_request_in_the_list_of_devices(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, AMONG_DEVICES, select=(*THIS, "SHM001"))
    told = "service `x`: `devices[0]` is a request for GPUs, and `devices` lists devices of the host"
    assert found.message == told + REFUSES
    assert "`deploy.resources.reservations.devices`" in found.advice


@pytest.mark.compose_judge
def test_compose_takes_no_request_in_the_list_of_devices(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(AMONG_DEVICES, "utf-8")
    assert "missing a mount target" in compose_answer(tmp_path)[1]


@pytest.mark.parametrize("text", ["resources: {limits: {memory: 1g}}", "reservations: {}", "deploy: {reservations: }"])
def test_keys_that_ask_for_no_device_are_not_told(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, f"services:\n  x:\n    image: foo\n    {text}\n", select=THIS) == []


DEVICE = "`reservations.devices[0]"
REFUSES = "; Compose refuses the file"

CASES: dict[str, tuple[str, str, Count, str | None]] = {
    # what is refused in it, how many GPUs it was meant to ask for, and what fixing makes of it
    "number": (gpus("2"), "`gpus: 2` is neither `all` nor a list", 2, gpus("[{count: 2}]")),
    "number as text": (gpus('"2"'), "`gpus: 2` is neither `all` nor a list", 2, gpus("[{count: 2}]")),
    "number, comment": (gpus("1  # one"), "`gpus: 1` is neither `all` nor a list", 1, gpus("[{count: 1}]  # one")),
    "none": (gpus("0"), "`gpus: 0` is neither `all` nor a list", None, None),
    "minus one": (gpus("-1"), "`gpus: -1` is neither `all` nor a list", "all", gpus("all")),
    "capitals": (gpus("ALL"), "`gpus: ALL` is neither `all` nor a list", "all", gpus("all")),
    "a word": (gpus("nvidia"), "`gpus: nvidia` is neither `all` nor a list", None, None),
    "true": (gpus("true"), "`gpus: true` is neither `all` nor a list", None, None),
    "no value": (gpus(""), "`gpus` has no value", None, None),
    "a default": (gpus("${G:-2}"), "`gpus: ${G:-2}` is neither `all` nor a list", 2, None),
    "mapping": (gpus("{count: 2}"), "`gpus` must be `all` or a list of requests", 2, None),
    "list of all": (gpus("[all]"), "`gpus: [all]` is not a list of requests", "all", gpus("all")),
    "list of one": (gpus("['0']"), "`gpus[0]` must be a mapping", 1, None),
    "JSON": ('{"services": {"x": {"image": "i", "gpus": 2}}}', "`gpus: 2` is neither `all` nor a list", 2,
             '{"services": {"x": {"image": "i", "gpus": [{"count": 2}]}}}'),
    "word for a count":
        (gpus("[{count: two}]"), "`gpus[0].count: two` is neither `all` nor a whole number", None, None),
    "half a count": (gpus("[{count: 1.5}]"), "`gpus[0].count: 1.5` is neither `all` nor a whole number", None, None),
    "empty count": (gpus("[{count: }]"), "`gpus[0].count` is neither `all` nor a whole number", "all", None),
    "count and ids": (gpus("[{count: 1, device_ids: ['0', '1']}]"),
                      "`gpus[0]` has both `count` and `device_ids`, which exclude each other", 2, None),
    "driver": (gpus("[{driver: 1}]"), "`gpus[0].driver` must be a string", "all", None),
    "numbers for ids": (gpus("[{device_ids: [0, 3]}]"), "`gpus[0].device_ids` has numbers, and needs strings", 2,
                        gpus('[{device_ids: ["0", "3"]}]')),
    "reserved count and ids": (reserved("{capabilities: [gpu], count: all, device_ids: ['0']}"),
                               f"{DEVICE}` has both `count` and `device_ids`, which exclude each other", 1, None),
    "reserved numbers": (reserved("{capabilities: [gpu], device_ids: [0, '1', 2]}"),
                         f"{DEVICE}.device_ids` has numbers, and needs strings", 3,
                         reserved("""{capabilities: [gpu], device_ids: ["0", '1', "2"]}""")),
    "numbers in lines": (
        reserved("capabilities: [gpu]\n              device_ids:\n                - 0  # first\n                - 1"),
        f"{DEVICE}.device_ids` has numbers, and needs strings", 2,
        reserved('capabilities: [gpu]\n              device_ids:\n                - "0"  # first\n'
                 '                - "1"'),
    ),
    "ids in one": (reserved('{capabilities: [gpu], device_ids: "0,1"}'), f"{DEVICE}.device_ids` must be a list", 2,
                   reserved('{capabilities: [gpu], device_ids: ["0", "1"]}')),
    "id as a number": (reserved("{capabilities: [gpu], device_ids: 0}"), f"{DEVICE}.device_ids` must be a list", 1,
                       reserved('{capabilities: [gpu], device_ids: ["0"]}')),
    "an id twice": (gpus("[{device_ids: ['0', '1', '0']}]"), "`gpus[0].device_ids` contains the same value twice", 2,
                    None),
    "a number twice": (reserved("{capabilities: [gpu], device_ids: [0, 0]}"),
                       f"{DEVICE}.device_ids` contains the same value twice", 1, None),
    "ids in one, one twice": (reserved('{capabilities: [gpu], device_ids: "0,1,0"}'),
                              f"{DEVICE}.device_ids` must be a list", 2,
                              reserved('{capabilities: [gpu], device_ids: ["0", "1"]}')),
    "float id": (reserved("{capabilities: [gpu], device_ids: [1.5]}"),
                 f"{DEVICE}.device_ids` must be a list of strings", 1, None),
    "scalar capabilities":
        (reserved("capabilities: gpu"), f"{DEVICE}.capabilities` must be a list, like `[gpu]`", "all",
         reserved("capabilities: [gpu]")),
    "quoted capabilities":
        (reserved('{capabilities: "gpu"}'), f"{DEVICE}.capabilities` must be a list, like `[gpu]`", "all",
         reserved('{capabilities: ["gpu"]}')),
    "nested capabilities":
        (reserved("capabilities: [[gpu, utility]]"), f"{DEVICE}.capabilities` must be a list of strings",
         "all", reserved("capabilities: [gpu, utility]")),
    "no capabilities": (reserved("driver: nvidia\n              count: 1"), f"{DEVICE}` has no `capabilities`", 1,
                        reserved("driver: nvidia\n              count: 1\n              capabilities: [gpu]")),
    "no capabilities in braces": (reserved("{count: 1}"), f"{DEVICE}` has no `capabilities`", 1,
                                  reserved("{count: 1, capabilities: [gpu]}")),
    "the same twice":
        (reserved("capabilities: [gpu, gpu]"), f"{DEVICE}.capabilities` contains the same value twice", "all", None),
    "another key": (reserved("{capabilities: [gpu], device-ids: ['0']}"), f"`device-ids` is not a key of {DEVICE}`",
                    "all", None),
    "no list":
        ("services:\n  x:\n    image: i\n    deploy: {resources: {reservations: {devices: {capabilities: [gpu]}}}}\n",
         "`reservations.devices` must be a list", "all", None),
    "devices without a value":
        ("services:\n  x:\n    image: i\n    deploy: {resources: {reservations: {devices: }}}\n",
         "`reservations.devices` has no value", None, None),
    "a name": (reserved("nvidia.com/gpu=all"), f"{DEVICE}` must be a mapping", None, None),
    "CRLF": (reserved("driver: nvidia").replace("\n", "\r\n"), f"{DEVICE}` has no `capabilities`", "all",
             reserved("driver: nvidia\n              capabilities: [gpu]").replace("\n", "\r\n")),
}  # fmt: skip

RIGHT: dict[str, str] = {
    "all": gpus("all"), "empty": gpus("[]"), "count": gpus("[{count: 2}]"), "any": gpus("[{}]"),
    "capitals": gpus("[{count: ALL}]"), "text": gpus("[{count: '2'}]"), "plus": gpus("[{count: '+1'}]"),
    "ids": gpus("[{device_ids: ['0', '3']}]"), "default": gpus("${G:-all}"), "other key": gpus("[{foo: 1}]"),
    "reserved": reserved("capabilities: [gpu]"), "reserved ids": reserved("{capabilities: [gpu], device_ids: ['0']}"),
    "reserved default": reserved("{capabilities: [gpu], count: '${N:-1}'}"), "none": reserved("{capabilities: []}"),
    "reserved extension": reserved("{capabilities: [gpu], options: {a: b}}"),
    "reserved variable": reserved("{capabilities: [gpu], device_ids: ['${G:-0}']}"),
    "tpu": reserved("capabilities: [tpu]"),
}  # fmt: skip


@table(("text", "message", "count", "after"), CASES.values(), ids=CASES)
def test_compose(tmp_path: Path, text: str, message: str, count: Count, after: str | None) -> None:
    found = run(tmp_path, text, select=(*THIS, "SHM001"))
    assert [(f.rule, f.severity, f.message) for f in found.findings] == [
        ("GPU402", "error", f"service `x`: {message}{REFUSES}")
    ]
    gpu = found.launches[0].gpu
    assert (gpu.number, bool(gpu.requested)) == (count, count is not None or ".count" in message)
    assert found.findings[0].fix is not None or found.findings[0].advice
    assert fixed(tmp_path, text, select=THIS) == ({"compose.yaml": after} if after is not None else {})


@pytest.mark.compose_judge
@table(("text", "message", "count", "after"), CASES.values(), ids=CASES)
def test_compose_refuses_it(tmp_path: Path, text: str, message: str, count: Count, after: str | None) -> None:
    path = tmp_path / "compose.yaml"
    path.write_text(text, "utf-8", newline="")
    answer, _ = compose_answer(tmp_path)
    assert answer is None
    if after is not None:
        path.write_text(after, "utf-8", newline="")
        answer, said = compose_answer(tmp_path)
        assert answer is not None, said
        of = answer["services"]["x"]
        request = of.get("gpus") or of["deploy"]["resources"]["reservations"]["devices"]
        asked = request[0].get("count")
        assert len(request[0].get("device_ids") or "") or ("all" if asked == -1 else asked) == count


@table("text", RIGHT.values(), ids=RIGHT)
def test_what_is_right(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text, select=(*THIS, "SHM001")) == []


@pytest.mark.parametrize("text", [gpus("${G}"), reserved("{capabilities: [gpu], count: '${N}'}")])
def test_what_is_not_known_is_not_judged(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text, select=(*THIS, "SHM001")) == []


PLACEHOLDERS = ("<number of GPUs>", "NUM_GPUS", "__COUNT__", "%GPUS%", "YOUR_GPU_COUNT", "N")


@table("value", PLACEHOLDERS)
@table(
    ("path", "text"),
    [
        ("compose.yaml", gpus("'$1'")),
        ("compose.yaml", gpus("[{count: '$1'}]")),
        ("a.md", f"```yaml\n{reserved('{count: $1, capabilities: [gpu]}')}```\n"),
        ("compose.yaml", reserved("{device_ids: ['$1', '$1'], capabilities: [gpu]}")),
        ("a.md", "```sh\ndocker run --gpus '$1' foo\n```\n"),
        ("a.rst", "::\n\n    docker run --gpus='count=$1' foo\n"),
        ("a.sh", 'G="$1"\ndocker run --gpus "$G" foo\n'),
        (".devcontainer.json", '{"image": "foo", "runArgs": ["--gpus=$1"]}'),
    ],
)
def test_a_placeholder_asks_for_gpus_and_is_not_judged(tmp_path: Path, path: str, text: str, value: str) -> None:
    if "count: $1" in text:
        value = f"'{value}'" if value[0] in "%" else value
    started = run(tmp_path, {path: text.replace("$1", value)}, select=(*THIS, "SHM001"))
    assert started.findings == []
    (launch,) = started.launches
    assert launch.gpu.requested and launch.gpu.number == (1 if "device_ids" in text else None)


@table("count", ["{{ gpus }}", "{{gpus | default(1)}}", "[number]", "{number}"])
def test_a_placeholder_without_quotes_in_a_document(tmp_path: Path, count: str) -> None:
    text = f"```yaml\n{reserved('capabilities: [gpu]')}              count: {count}\n    shm_size: 1g\n```\n"
    started = run(tmp_path, {"a.md": text}, select=(*THIS, "SHM001"))
    assert started.findings == []
    (launch,) = started.launches
    assert launch.gpu.requested and launch.gpu.number is None and launch.shm is not None


@pytest.mark.compose_judge
@table("text", RIGHT.values(), ids=RIGHT)
def test_compose_takes_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "compose.yaml").write_text(text, "utf-8")
    answer, said = compose_answer(tmp_path)
    assert answer is not None, said


IN_ORDER = [
    (("all", "[{count: 1}]"), True),
    (("all", "[{count: 1}]", "[{device_ids: ['2']}]"), True),
    (("[{count: 1}]", "all"), False),
    (("all", "all"), False),
    (("[{count: 1}]", "[{count: 2}]"), True),
]


def _files(directory: Path, values: tuple[str, ...]) -> dict[str, str]:
    for old in directory.glob("*.yaml"):
        old.unlink()
    return {
        ("compose.yaml", "compose.override.yaml", "compose.third.yaml")[i]: (
            f"services:\n  x:\n    image: a\n    gpus: {value}\n" if not i else f"services:\n  x:\n    gpus: {value}\n"
        )
        for i, value in enumerate(values)
    }


@table(("values", "taken"), IN_ORDER)
def test_all_before_a_list_of_another_file(tmp_path: Path, values: tuple[str, ...], taken: bool) -> None:
    found = findings(tmp_path, _files(tmp_path, values), select=(*THIS, "SHM001"))
    assert (not found) is taken, found


@pytest.mark.compose_judge
@table(("values", "taken"), IN_ORDER)
def test_compose_takes_them_in_this_order(tmp_path: Path, values: tuple[str, ...], taken: bool) -> None:
    files = _files(tmp_path, values)
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert (compose_answer(tmp_path, list(files))[0] is not None) is taken


values = st.sampled_from(["0", "1", '"0"', "'all'", "gpu", "1.5", "true", "~", "2", "all", "-1", "ALL", "x"])
requests = st.dictionaries(
    st.sampled_from(["capabilities", "count", "device_ids", "driver", "id", "options"]),
    st.one_of(values, st.lists(values, max_size=2).map(lambda some: f"[{', '.join(some)}]"), st.just("[[gpu]]")),
    max_size=3,
).map(lambda of: f"{{{', '.join(f'{key}: {value}' for key, value in of.items() if key != 'options')}}}")


@pytest.mark.compose_judge
@given(st.lists(requests, max_size=2).map(lambda some: f"[{', '.join(some)}]") | values, st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_compose_agrees(tmp_path: Path, value: str, as_gpus: bool) -> None:
    where = "gpus: " if as_gpus else "deploy: {resources: {reservations: {devices: "
    text = f"services:\n  x:\n    image: foo\n    {where}{value}{'' if as_gpus else '}}}'}\n"
    found = findings(tmp_path, text, select=(*THIS, "SHM001"))
    answer, said = compose_answer(tmp_path)
    assert (answer is None) == bool(found), f"{text}\n{said}"
    new = fixed(tmp_path, text, select=THIS).get("compose.yaml")
    if new is not None and not findings(tmp_path, new, select=(*THIS, "SHM001")):
        (tmp_path / "compose.yaml").write_text(new, "utf-8")
        assert compose_answer(tmp_path)[0] is not None, new


COUNT = 'value must be either "all" or an integer: invalid syntax'

COMMANDS: dict[str, tuple[str, str | None, str | None]] = {
    "capitals": ("--gpus ALL", f"`--gpus ALL` is refused by Docker: invalid count (ALL): {COUNT}", "--gpus all"),
    "joined": ("--gpus=All", f"`--gpus All` is refused by Docker: invalid count (All): {COUNT}", "--gpus=all"),
    "none": ("--gpus none", f"`--gpus none` is refused by Docker: invalid count (none): {COUNT}", None),
    "half": ("--gpus count=0.5", f"`--gpus count=0.5` is refused by Docker: invalid count (0.5): {COUNT}", None),
    "empty": ('--gpus ""', '`--gpus ""` is refused by Docker: EOF', None),
    "empty, joined": ("--gpus=''", '`--gpus ""` is refused by Docker: EOF', None),
    "key": ("--gpus foo=1", "`--gpus foo=1` is refused by Docker: unexpected key 'foo' in 'foo=1'", None),
    "twice": ("--gpus count=1,count=2",
              "`--gpus count=1,count=2` is refused by Docker: "
              "gpu request key 'count' can be specified only once", None),
    "both": ("""--gpus '"device=0",count=2'""",
             '`--gpus "device=0",count=2` is refused by the engine: '
             "cannot set both Count and DeviceIDs on device request", None),
    **{
        name: (option, f"`{name}` is an unknown flag, and Docker refuses the command; the option is `--gpus`", after)
        for name, option, after in (
            ("-gpus", "-gpus all", "--gpus all"), ("--gpu", "--gpu=2", "--gpus=2"), ("-gpu", "-gpu all", "--gpus all"),
            ("--gpus-all", "--gpus-all", "--gpus=all"), ("--gpus:", "--gpus: all", "--gpus all"),
        )
    },
    "all": ("--gpus all", None, None),
    "number": ("--gpus 2", None, None),
    "devices": ("""--gpus '"device=0,1"'""", None, None),
    "a list is GPU401's": ("--gpus device=0,1", None, None),
    "unknown": ("--gpus $GPUS", None, None),
}  # fmt: skip


@table(("option", "message", "after"), COMMANDS.values(), ids=COMMANDS)
def test_commands(tmp_path: Path, option: str, message: str | None, after: str | None) -> None:
    files = {"run.sh": f"docker run {option} --shm-size=8g foo\n"}
    found = findings(tmp_path, files, select=THIS)
    assert [f.message for f in found] == ([f"`docker run` of foo: {message}"] if message else [])
    new = {"run.sh": f"docker run {after} --shm-size=8g foo\n"} if after else {}
    assert fixed(tmp_path, files, select=THIS) == new


@pytest.mark.docker_client
@table(("option", "message", "after"), COMMANDS.values(), ids=COMMANDS)
def test_the_client_agrees(tmp_path: Path, option: str, message: str | None, after: str | None) -> None:
    if "$" not in option:
        _, body, said = docker_create(["run", *shlex.split(option), "foo"])
        unknown = "unknown flag" in (message or "")
        assert (body is None) == ("refused by Docker" in (message or "") or unknown), said
        assert not unknown or re.search(r"unknown (shorthand )?flag: ", said)
        if body is None and message and not unknown:
            assert message.partition("refused by Docker: ")[2].partition(":")[0] in said


@table(
    ("option", "message"),
    [
        ("--gpu $N", "`--gpu` is an unknown flag, and Docker refuses the command; the option is `--gpus`"),
        ("--gpus: foo", "`--gpus:` is an unknown flag, and Docker refuses the command; the option is `--gpus`"),
        ("--gpus = all foo", "`--gpus` has a value that Docker does not read: there is a blank before its `=`"),
        ("--gpus= all foo", "`--gpus` has a value that Docker does not read: there is a blank behind its `=`"),
        ("--gpuset 1 foo", None), ("--gpus-all=1 foo", None), ("$X--gpu all foo", None),
    ],
)
def test_what_follows_an_option_that_is_refused_is_not_read(tmp_path: Path, option: str, message: str | None) -> None:
    files = {"run.sh": f"docker run {option}\n"}
    found = [f.message for f in findings(tmp_path, files, select=THIS)]
    assert found == ([f"`docker run`: {message}"] if message else [])
    assert fixed(tmp_path, files, select=THIS) == {}


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ('"--gpu=all"', ["GPU402"]), ('"--gpu", "all"', ["GPU402"]),
        ('"--gpus", "ALL"', ["GPU402"]), ('"--gpus=none"', ["GPU402"]), ('"--gpus", "all"', []),
        (r'"--gpus", "\"device=0,1\""', []), ('"--gpus", "device=0,1"', ["GPU401"]),
        ("\"--gpus\", \"'device=0,1'\"", ["GPU401"]), ('"--gpus all", "--shm-size 8g"', ["GPU402"]),
        ('"--runtime nvidia"', ["GPU402"]), ('"--runtime=nvidia"', []), ('"--runtime runc"', []),
    ],
)  # fmt: skip
def test_dev_containers(tmp_path: Path, arguments: str, rules: list[str]) -> None:
    files = {".devcontainer/devcontainer.json": f'{{"image": "foo", "runArgs": [{arguments}]}}\n'}
    assert [f.rule for f in findings(tmp_path, files, select=(*THIS, "GPU401"))] == rules
    if '"ALL"' in arguments:
        assert fixed(tmp_path, files, select=THIS) == {
            ".devcontainer/devcontainer.json": '{"image": "foo", "runArgs": ["--gpus", "all"]}\n'
        }


def test_podman_refuses_less(tmp_path: Path) -> None:
    assert findings(tmp_path, {"run.sh": "podman run --gpus none foo\n"}, select=THIS) == []


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_word_with_more_options_in_it_is_left(tmp_path: Path, engine: str) -> None:
    files = {"run.sh": f"O=('--gpus device=0,1 --rm' --init)\n{engine} run \"${{O[@]}}\" foo\n"}
    assert [f.rule for f in findings(tmp_path, files, select=THIS)] == ["GPU402"]
    assert fixed(tmp_path, files, select=THIS) == {}


def test_two_requests_are_two_findings(tmp_path: Path) -> None:
    text = gpus("[{device_ids: [0]}, {device_ids: [1]}]")
    assert len(findings(tmp_path, text, select=THIS)) == 2
    after = gpus("""[{device_ids: ["0"]}, {device_ids: ["1"]}]""")
    assert fixed(tmp_path, text, select=THIS) == {"compose.yaml": after}


@pytest.mark.parametrize(
    ("text", "marked"),
    [(gpus(""), "gpus"), (gpus("[{count: }]"), "count"), (gpus("2"), "2"), (reserved("capabilities: gpu"), "gpu")],
)
def test_what_is_marked(tmp_path: Path, text: str, marked: str) -> None:
    assert [f.span.text for f in findings(tmp_path, text, select=THIS)] == [marked]


@pytest.mark.parametrize("value", ["none", "''", "NONE"])
def test_who_asks_for_no_gpu_in_words_needs_no_size(tmp_path: Path, value: str) -> None:
    found = run(tmp_path, {"run.sh": f"docker run --gpus {value} foo\n"})
    assert [f.rule for f in found.findings] == ["GPU402"]
    assert found.launches[0].gpu.requested is False


ONE = "services: {x: {image: foo, gpus: [{count: 1}]}}\n"


@pytest.mark.compose_judge
@table(
    ("base", "over", "refused"),
    [
        (gpus("all"), gpus("all"), True),
        (ONE, gpus("all"), True),
        (gpus("all"), ONE, False),
        (ONE, ONE, False),
        (gpus("all"), "services: {x: {image: bar}}\n", False),
    ],
)
def test_gpus_of_two_files(tmp_path: Path, base: str, over: str, refused: bool) -> None:
    files = {"a.yaml": base, "b.yaml": over, "run.sh": "docker compose -f a.yaml -f b.yaml up\n"}
    found = [one for one in findings(tmp_path, files) if one.rule == "GPU402"]
    assert [one.span.path for one in found] == ["b.yaml"] * refused
    assert all("cannot override" in one.message for one in found)
    answer, said = compose_answer(tmp_path, ["a.yaml", "b.yaml"])
    assert (answer is None) is refused and ("cannot override" in said) is refused

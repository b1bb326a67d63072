"""Files without `compose` in their names that are put on others: `docker compose -f compose.yaml -f gpu.yml up`."""

from __future__ import annotations

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.read import read
from shmlint.model.settings import Settings
from tests.table import table

BASE = "services:\n  a: {image: vllm/vllm-openai}\n  db: {image: redis}\n"
GPU = "services:\n  a: {gpus: all}\n"


@table(
    ("files", "overlay", "together"),
    [
        ({"compose.yaml": BASE}, "gpu.yml", ("compose.yaml", "gpu.yml")),
        ({"app.yml": BASE}, "gpu.yml", ("app.yml", "gpu.yml")),
        ({"compose.yaml": BASE}, "docker/gpu.yaml", ("compose.yaml", "docker/gpu.yaml")),
        ({"compose.yaml": BASE, "x/compose.yml": BASE}, "x/gpu.yml", ("x/compose.yml", "x/gpu.yml")),
        # No file has that service; it is too far away; a file that Compose finds belongs to what is beside it.
        ({"compose.yaml": BASE.replace(" a:", " b:")}, "gpu.yml", None),
        ({"compose.yaml": BASE}, "docker/gpu/gpu.yml", None),
        ({"compose.yaml": BASE}, "docker/compose.override.yml", None),
        ({"other.yml": "image: a\n" + BASE}, "gpu.yml", None),
    ],
)
def test_what_an_overlay_is_put_on(files: dict[str, str], overlay: str, together: tuple[str, ...] | None) -> None:
    (launch,) = [
        launch
        for launch in read([overlay], Workspace({**files, overlay: GPU}), Settings()).launches
        if launch.gpu.requested
    ]
    assert launch.files == (together or (overlay,))
    assert (launch.undecided is None) is (together is not None)


def test_a_finding_names_the_file_of_the_directory_above() -> None:
    launches = read(["docker/gpu.yml"], Workspace({"compose.yaml": BASE, "docker/gpu.yml": GPU}), Settings()).launches
    (launch,) = [launch for launch in launches if launch.gpu.requested]
    assert launch.combination is not None and launch.combination.files == ("compose.yaml", "docker/gpu.yml")


def test_a_base_may_leave_its_image_to_files_of_any_name() -> None:
    files = {"compose.yaml": "services: {a: {ports: ['80']}}\n", "cpu.yml": "services: {a: {image: x}}\n"}
    assert read(["compose.yaml"], Workspace(files), Settings()).problems == ()


@table(
    ("first", "second"),
    [
        ("compose.yaml", "docker-compose.yml"),
        ("compose.yaml", "compose.yml"),
        ("docker-compose.yml", "docker-compose.yaml"),
    ],
)
def test_of_several_files_that_compose_looks_for_it_takes_one(first: str, second: str) -> None:
    for other in (GPU, BASE.replace("llm-openai", "llm-openai, gpus: all")):
        launches = read([first, second], Workspace({first: BASE, second: other}), Settings()).launches
        assert {launch.files for launch in launches} == {(first,), (second,)}


def test_of_several_overrides_compose_takes_one() -> None:
    taken, left = "compose.override.yml", "docker-compose.override.yml"
    files = {"compose.yaml": BASE, taken: GPU, left: GPU}
    launches = read([*files], Workspace(files), Settings()).launches
    assert {launch.files for launch in launches} == {("compose.yaml", taken), (left,)}
    assert [launch.undecided is not None for launch in launches if launch.files == (left,)] == [True]


EXTENDING = "services:\n  b: {extends: {file: gpu.yaml, service: a}, command: nvidia-smi}\n"
EXTENDED = "services:\n  a: {image: pytorch/pytorch, gpus: all}\n"


@table(
    ("files", "decided"),
    [
        ({"compose.yaml": EXTENDING}, [False]),
        ({"compose.yaml": f"include: [gpu.yaml]\n{EXTENDING}"}, [True]),
        ({"compose.yaml": EXTENDING, "up.sh": "docker compose -f gpu.yaml up\n"}, [True]),
        ({"compose.yaml": EXTENDING, "up.sh": "docker compose -f compose.yaml up\n"}, [False]),
    ],
)
def test_a_service_that_others_extend_may_be_started_itself(files: dict[str, str], decided: list[bool]) -> None:
    launches = read(["compose.yaml", "gpu.yaml"], Workspace({**files, "gpu.yaml": EXTENDED}), Settings()).launches
    assert [launch.undecided is None for launch in launches if launch.name == "a"] == decided

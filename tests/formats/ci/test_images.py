"""The images that workflows build with actions, by the names that they give them."""

from __future__ import annotations

from shmlint.files.workspace import Workspace
from shmlint.formats.ci.read import read as read_ci
from shmlint.model.settings import Settings
from tests.formats.ci.workflows import GITHUB
from tests.table import table

META = "docker/metadata-action@v5"
PUSH = "docker/build-push-action@v6"


def workflow(steps: str, env: str = "{REGISTRY: ghcr.io, NAME: '${{ github.repository }}'}") -> str:
    return f"on: push\nenv: {env}\njobs:\n  a:\n    runs-on: x\n    env: {{OWNER: me}}\n    steps:\n{steps}"


def step(uses: str, inputs: str) -> str:
    return f"      - uses: {uses}\n        id: meta\n        with: {inputs}\n"


def built(text: str) -> list[tuple[str, str, str | None]]:
    found = read_ci([GITHUB], Workspace().over({GITHUB: text}), Settings()).builds
    return [(build.tag, build.context, build.dockerfile) for build in found]


@table(
    "images, names",
    [
        ("me/tool", ["me/tool"]),
        ("'${{ env.REGISTRY }}/${{ env.OWNER }}/tool'", ["ghcr.io/me/tool"]),
        ("'${{ env.REGISTRY }}/${{ env.NAME }}'", ["ghcr.io/${{ github.repository }}"]),
        ('"me/tool\\nname=ghcr.io/me/tool,enable=true\\n"', ["me/tool", "ghcr.io/me/tool"]),
    ],
)
def test_names_from_the_metadata_action(images: str, names: list[str]) -> None:
    push = step(PUSH, "{file: d/Dockerfile, tags: '${{ steps.meta.outputs.tags }}'}")
    expected = [(name, ".", "d/Dockerfile") for name in names]
    assert built(workflow(step(META, f"{{images: {images}}}") + push)) == expected


@table(
    "inputs, expected",
    [
        ("{tags: '${{ env.OWNER }}/x,me/y'}", [("me/x", ".", None), ("me/y", ".", None)]),
        ("{tags: 'me/x:${{ github.sha }}', context: '${{ github.workspace }}'}",
         [("me/x:${{ github.sha }}", ".", None)]),
        ("{tags: me/x, context: '{{defaultContext}}:d'}", [("me/x", "d", None)]),
        ("{tags: me/x, file: 'd/${{ matrix.kind }}.Dockerfile'}", []),
        ("{push: true}", []),
    ],
)  # fmt: skip
def test_what_the_action_is_given(inputs: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert built(workflow(step(PUSH, inputs))) == expected


def test_variables_that_name_each_other_stay_small() -> None:
    many = "${{ env.A }}" * 500
    text = workflow(step(PUSH, f"{{tags: 'me/x{many}'}}"), f"{{A: '{'a' * 400}{many}'}}")
    assert [len(tag) for tag, _, _ in built(text)] == [len(f"me/x{many}")]


MATRIX = """on: push
jobs:
  a:
    runs-on: x
    strategy: {matrix: %s}
    steps:
      - uses: docker/build-push-action@v6
        with: {file: '${{ matrix.file }}', tags: 'me/${{ matrix.name }}'}
"""


@table(
    "matrix, found",
    [
        ("{include: [{file: d/A, name: a}, {file: d/B, name: b}]}", [("me/a", "d/A"), ("me/b", "d/B")]),
        ("{name: [a, b], file: [d/A]}", [("me/a", "d/A"), ("me/b", "d/A")]),
        ("{name: [a, b], include: [{name: a, file: d/A}, {name: c, file: d/C}]}", [("me/a", "d/A"), ("me/c", "d/C")]),
        ("{name: [a, b], include: [{file: d/A}]}", [("me/a", "d/A"), ("me/b", "d/A")]),
        ("{name: [a, a], file: [d/A], gpu: [x, y]}", [("me/a", "d/A")]),
        ("{name: [a, b]}", []),
        ("{file: [d/A]}", [("me/${{ matrix.name }}", "d/A")]),
        ("'${{ fromJSON(needs.x.outputs.y) }}'", []),
        ("{include: '${{ fromJSON(x) }}', name: [a], file: '${{ x }}'}", []),
        ("{name: [{a: 1}], file: [d/A]}", [("me/${{ matrix.name }}", "d/A")]),
    ],
)
def test_images_of_a_matrix(matrix: str, found: list[tuple[str, str]]) -> None:
    assert built(MATRIX % matrix) == [(tag, ".", file) for tag, file in found]


def test_values_inside_of_a_matrix() -> None:
    text = (MATRIX % "{image: [{file: d/A, name: a}]}").replace("matrix.", "matrix.image.")
    assert built(text) == [("me/a", ".", "d/A")]


def test_a_large_matrix() -> None:
    many = ", ".join(f"n{number}" for number in range(2_000))
    more = ", ".join(f"{{x: n{number}}}" for number in range(2_000))
    text = MATRIX % f"{{name: [{many}], file: [{many}], include: [{more}]}}"
    assert len(built(text)) <= 100


@table(
    "kind, inputs, found",
    [
        ("workflows/docker.yml", "{dockerfile: d/A, image-name: a}", [("a", ".", "d/A")]),
        ("workflows/docker.yaml", "{file: d/A, image: x.io/me/a, context: d}", [("x.io/me/a", "d", "d/A")]),
        ("workflows/docker.yml", "{docker_file: '${{ env.F }}', tags: 'me/a, me/b'}",
         [("me/a", ".", "d/F"), ("me/b", ".", "d/F")]),
        ("workflows/docker.yml", "{DOCKERFILE_PATH: d/A, IMAGE_NAME: a, build_context: d}", [("a", "d", "d/A")]),
        ("actions/docker", "{dockerfile: d/A, image: a}", [("a", ".", "d/A")]),
        ("workflows/docker.yml", "{dockerfile: d/A}", []),
        ("workflows/docker.yml", "{image: a}", []),
        ("workflows/docker.yml", "{dockerfile: '${{ inputs.x }}', image: a}", []),
        ("workflows/docker.yml@v1", "{dockerfile: d/A, image: a}", []),
        ("workflows/docker.yml", "docker", []),
    ],
)  # fmt: skip
def test_images_that_a_workflow_of_the_repository_builds(
    kind: str, inputs: str, found: list[tuple[str, str, str]]
) -> None:
    """The names of its inputs tell what it builds; so do those of an action."""
    call = f"uses: ./.github/{kind}\n        with: {inputs}\n"
    inside = f"steps:\n      - {call}" if kind.startswith("actions") else call.replace("        with", "    with")
    assert built(f"on: push\nenv: {{F: d/F}}\njobs:\n  a:\n    {inside}") == found
    matrix = "strategy: {matrix: {x: [1, 2]}}\n    "
    assert built(f"on: push\nenv: {{F: d/F}}\njobs:\n  a:\n    {matrix}{inside}") == found

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

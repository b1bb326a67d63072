"""Scripts with expressions in them, and those for the shells of Windows."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.model.launch import Unknown
from tests.formats.ci.workflows import IMAGE, after_fix, launches, steps


@pytest.mark.parametrize(("shell", "start", "mark"), [("pwsh", "& docker", "`"), ("cmd", "docker", "^")])
def test_shells_of_windows(tmp_path: Path, shell: str, start: str, mark: str) -> None:
    text = steps(
        f"      - shell: {shell}\n        run: |\n"
        f"          {start} run {mark}\n            --gpus all {mark}\n            {IMAGE}\n"
    )
    (launch,) = launches(tmp_path, text)
    assert launch.image is not None and launch.image.value == IMAGE
    assert after_fix(tmp_path, text) == text.replace(f"all {mark}", f"all --shm-size=8g {mark}")


@pytest.mark.parametrize(
    ("command", "undecided"),
    [
        (f"docker run ${{{{ inputs.options }}}} --gpus all {IMAGE}", True),
        (f"docker run -v ${{{{ github.workspace }}}}:/w {{{{ a }}}} --gpus all {IMAGE}", True),
        (f"docker run --gpus all -v ${{{{ github.workspace }}}}:/w {IMAGE}", False),
        (f'docker run --gpus all {IMAGE} bash -c "x ${{{{ matrix.y }}}}"', False),
        ("docker run --gpus all ${{ env.IMAGE }}", False),
    ],
)
def test_expressions(tmp_path: Path, command: str, undecided: bool) -> None:
    (launch,) = launches(tmp_path, steps(f"      - run: |\n          {command}\n"))
    assert launch.gpu.requested
    assert bool(launch.undecided) is undecided
    assert launch.undecided is None or "variable _" not in launch.undecided.because
    assert launch.image is not None and launch.image.span.text in (IMAGE, "${{ env.IMAGE }}")
    if "env.IMAGE" in command:
        assert launch.image.text == "${{ env.IMAGE }}" and launch.image.because


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_an_expression_is_not_known_in_any_quotes(tmp_path: Path, quote: str) -> None:
    one = f"{quote}${{{{ matrix.x }}}}{quote}"
    command = f"docker run --gpus {one} --shm-size={one} {IMAGE} torchrun --nproc_per_node={one} train.py"
    text = steps(f"      - run: |\n          {command}\n")
    (launch,) = launches(tmp_path, text)
    assert launch.gpu.invalid == ()
    assert launch.shm is not None and isinstance(launch.shm.value, Unknown)

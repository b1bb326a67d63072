"""CI files that are not YAML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_text import ShellText
from tests.formats.ci.workflows import FIXED, GITHUB, IMAGE, RUN, steps
from tests.project import fixed, run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (steps(f"{{% if gpu %}}\n      - run: |\n          {RUN} {{{{ x }}}}\n{{% endif %}}\n"), [8]),
        (steps(f"      - run: docker run {{{{ cookiecutter.options }}}} --gpus all {IMAGE}\n"), [6]),
        (f"{{# {RUN} #}}\n{{%- for job in jobs %}}\n{{{{ job }}}}:\n  script:\n    - {RUN}\n{{%- endfor %}}\n", [5]),
    ],
)
def test_templates(tmp_path: Path, text: str, expected: list[int]) -> None:
    result = run(tmp_path, {GITHUB: text})
    assert [launch.span.line for launch in result.launches] == expected
    assert not [finding for finding in result.findings if finding.rule == "SHM001"]
    new = fixed(tmp_path, {GITHUB: text}).get(GITHUB, text)
    assert new == (
        text if "options" in text else text.replace(f"- {RUN}", f"- {FIXED}").replace(f"{RUN} {{", f"{FIXED} {{")
    )


def test_broken_yaml_still_gives_its_commands(tmp_path: Path) -> None:
    text = steps(
        f"      - run: |\n          ls\n          {RUN}\n   bad: [\n"
        f"      - name: {RUN}\n        run: {RUN}\n      # {RUN}\n"
        f'      - run: "{RUN}"\n      - run: |\n          IMAGE={IMAGE}\n'
        "          docker run \\\n            --gpus all \\\n            $IMAGE\n"
    )
    result = run(tmp_path, {GITHUB: text})
    (problem,) = (finding for finding in result.findings if finding.rule == "SHM001")
    assert problem.span.line == 9
    assert [launch.span.line for launch in result.launches] == [8, 11, 13, 16]
    new = fixed(tmp_path, {GITHUB: text})[GITHUB]
    assert new.replace("            --shm-size=8g \\\n", "").replace(" --shm-size=8g", "") == text
    assert new.count("--shm-size=8g") == 4
    assert fixed(tmp_path, {GITHUB: new}) == {}


def test_a_long_script_is_read_in_linear_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def noted(text: ShellText) -> Iterator[Command]:
        read.append(len(text.text))
        return commands(text)

    monkeypatch.setattr("shmlint.formats.ci.unparsed.commands", noted)
    lines: dict[int, int] = {}
    for count in (100, 200):
        text = "jobs:\n  a: b: c\n    run: |\n      image=" + IMAGE + "\n" + f"      {RUN} $image\n" * count
        assert len(run(tmp_path, {GITHUB: text}).launches) == count
        lines[count] = sum(read)
        read.clear()
    assert lines[200] < 2.5 * lines[100]

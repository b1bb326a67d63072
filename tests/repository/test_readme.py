"""README.md and what else is pasted from it are true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

import shmlint
from shmlint import config as configuration
from shmlint.cli import program as cli
from shmlint.config.check import schema
from shmlint.files.kinds import classify
from shmlint.model.project import ADDRESS
from tests.readme import BLOCK, DOCS, INDEX, PAGES, README, ROOT, generated
from tests.table import table

TEXT = README.read_text(encoding="utf-8")
TEXTS = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", "rules/README.md",
    *(f"docs/{page.name}" for page in sorted(DOCS.glob("*.md"))),
)  # fmt: skip
SETTINGS = (DOCS / "settings.md").read_text(encoding="utf-8")


def fenced(language: str, starts: str, text: str = TEXT) -> str:
    """The fenced block of a language that starts with some text."""
    (block,) = re.findall(rf"^```{language}\n({re.escape(starts)}.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(block)


def test_its_own_clone_is_clean() -> None:
    """Its pages, samples and tests hold launches that are wrong on purpose."""
    command = [sys.executable, "-m", "shmlint", "--fail-on", "note"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "read " in done.stdout, done.stdout


def hooks() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
    return loaded


def test_generated_parts_are_up_to_date() -> None:
    """`python -m tests.readme` writes them."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert generated(text) == text, page


def test_the_readme_is_a_first_look() -> None:
    assert [found[2].split()[0] for found in BLOCK.finditer(TEXT)] == ["run", "reads", "rules"]
    assert len(TEXT.splitlines()) <= 200


def test_every_page_of_the_documentation_is_in_its_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in DOCS.glob("*.md") if f"- {page.name}" not in text] == []


def test_the_index_of_the_rules_is_up_to_date() -> None:
    """`python -m tests.readme` writes it."""
    text = INDEX.read_text(encoding="utf-8")
    assert [found[2] for found in BLOCK.finditer(text)] == ["index"]
    assert generated(text) == text
    listed = re.findall(r"^\| \[([A-Z]+[0-9]+)\]", text, re.MULTILINE)
    pages = sorted(path.name.partition("-")[0] for path in INDEX.parent.glob("[A-Z]*-*.md"))
    assert listed == pages


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    file = ROOT / name
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists(), target


def options_of(name: str) -> set[str]:
    command = cli.program.get_command(click.Context(cli.program), name)
    assert command is not None
    return {option for parameter in command.params for option in parameter.opts} | {"--help"}


@pytest.mark.parametrize("name", TEXTS)
def test_options_exist(name: str) -> None:
    everything = {option for command in cli.COMMANDS for option in options_of(command)} | {"--version"}
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", (ROOT / name).read_text(encoding="utf-8"))
    for span in spans:
        given = set(re.findall(r"(?<!\S)--[a-z-]+", span))
        if span.startswith("shmlint"):
            word = [*span.split(), ""][1]
            given -= {"--version"} if word == "--version" else set()
            assert given <= options_of(word if word in cli.COMMANDS else "check"), span
        elif span.startswith("--") and not name.startswith("rules/"):  # these pages speak of docker's
            assert given <= everything, span


def test_settings_example_is_valid_and_whole(tmp_path: Path) -> None:
    example = fenced("yaml", "extend:", SETTINGS)
    file = tmp_path / "team" / ".shmlint.yaml"
    file.parent.mkdir()
    (tmp_path / ".shmlint.yaml").write_text("fail-on: note\n")
    file.write_text(example, encoding="utf-8")
    settings = configuration.load(str(file), str(tmp_path))
    assert settings.shm_size == 16 * 1024**3
    assert settings.workloads[0]["needs"] == "yes"
    keys = list(schema()["properties"])
    assert list(YAML(typ="safe").load(example)) == keys
    assert re.findall(r"^\| `([a-z-]+)` \|", SETTINGS, re.MULTILINE) == keys


def test_settings_schema_is_one() -> None:
    from jsonschema import Draft202012Validator

    published = ROOT / "shmlint" / "config" / "settings.schema.json"
    Draft202012Validator.check_schema(json.loads(published.read_text(encoding="utf-8")))


def test_pre_commit_example_names_hooks() -> None:
    (repo,) = YAML(typ="safe").load(fenced("yaml", "repos:"))["repos"]
    ids = {hook["id"] for hook in hooks()}
    names = ("shmlint", "shmlint-scripts", "shmlint-kubernetes")
    assert ids == {*names, *(f"{name}-fix" for name in names)}
    assert {hook["id"] for hook in repo["hooks"]} <= ids
    assert repo["repo"] == (ADDRESS or "local")


@table(
    ("path", "taken"),
    [
        ("compose.yaml", True),
        ("compose.yml", True),
        ("docker-compose.yml", True),
        ("docker-compose.gpu.yml", True),
        ("deploy/compose.override.yaml", True),
        ("deploy/GPU-Compose.YML", True),
        ("docker-stack.yml", True),
        ("stacks/docker-stack.prod.yaml", True),
        ("compose.json", False),
        ("compose.yaml.bak", False),
        ("compose/values.yaml", False),
        ("my-docker-stack.yml", False),
        ("docker-stack/values.yml", False),
        ("Dockerfile", False),
    ],
)
def test_hooks_take_the_files_that_are_compose_files_by_name(path: str, taken: bool) -> None:
    assert (classify(path, lambda: b"") == "compose") is taken
    for hook in (hook for hook in hooks() if "types" not in hook):
        # pre-commit searches, as Python's `re` does.
        assert (re.search(hook["files"], path) is not None) is taken


def test_nothing_names_an_address_that_may_not_exist() -> None:
    assert not ADDRESS
    texts = [path for path in ROOT.rglob("shmlint/**/*") if path.suffix in (".py", ".json")]
    texts += [*ROOT.glob("rules/*"), README, *(ROOT / name for name in (".pre-commit-hooks.yaml", "action.yml"))]
    assert [path for path in texts if "github.com/shmlint" in path.read_text(encoding="utf-8")] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "urls" not in project


def test_workflow_uses_the_action() -> None:
    steps = YAML(typ="safe").load(fenced("yaml", "name: shmlint"))["jobs"]["shmlint"]["steps"]
    assert [step["uses"] for step in steps][-1] == "./tools/shmlint"
    inputs = YAML(typ="safe").load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(steps[-1]["with"]) <= set(inputs)


def test_changelog_knows_this_version() -> None:
    assert f"[{shmlint.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

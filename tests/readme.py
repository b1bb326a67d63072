"""The generated parts of README.md, the documentation and rules/README.md: tables, options, what commands print.

    python -m tests.readme        writes them anew
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click

from shmlint.cli import program as cli
from shmlint.files.installed import front_matter, page
from shmlint.formats import KINDS
from shmlint.rules import all_rules

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
INDEX = ROOT / "rules" / "README.md"
DOCS = ROOT / "docs"
PAGES = (README, INDEX, *sorted(DOCS.glob("*.md")))
BLOCK = re.compile(r"^(<!-- begin: ([^\n]+?) -->\n).*?^(<!-- end -->)$", re.MULTILINE | re.DOTALL)

READS = {
    "compose": "Compose files: `*compose*.yaml`, `docker-stack*.yaml`, and other YAML files with services at the top "
    "(`.yml` too)",
    "shell": "`docker run`, `podman run` and `nerdctl run` in shell scripts (fish and Slurm too)",
    "makefile": "the same in Makefiles and justfiles",
    "systemd": "the same in units of systemd, and the containers of Quadlet",
    "taskfile": "the same in Taskfiles of go-task, whatever an included one is called",
    "jenkinsfile": "the same in Jenkinsfiles, and the containers of their stages",
    "markdown": "the same in the code blocks of Markdown and reStructuredText, compose files too",
    "ci": "the same in CI workflows, and the containers of their jobs; those of Azure whatever they are called",
    "devcontainer": "`devcontainer.json`",
    "kubernetes": "Kubernetes manifests: YAML files with `apiVersion` and `kind`, and kustomizations",
    "inspect": "the output of `docker inspect` and `podman inspect`, if it is named or piped in",
}


def generated(text: str) -> str:
    """A page with its generated parts as they should be."""
    return BLOCK.sub(lambda found: found[1] + _part(found[2]) + found[3], text)


def _part(what: str) -> str:
    if what == "rules":
        return _rules()
    if what == "index":
        return _index()
    if what.startswith("options "):
        return _options(what.removeprefix("options "))
    if what == "reads":
        return "".join(f"- {text}\n" for kind, text in READS.items() if kind in KINDS)
    verb, _, command = what.partition(" ")
    assert verb == "run", what
    return f"```{'diff' if '--diff' in command else 'console'}\n$ {command}\n{printed(command)}```\n"


def _rules() -> str:
    lines = ["| rule | severity | finds | `--fix` |", "|---|---|---|---|"]
    for rule, _ in all_rules().values():
        about = front_matter(page(rule))
        fix = "" if about["safe"] == "none" else about["fix"]
        if about["safe"] == "false":
            fix += " (`--unsafe-fixes`)"
        severity = rule.severity if rule.default else f"off ({rule.severity})"
        name = f"[{rule.id}](rules/{rule.id}-{rule.name}.md) {rule.name}"
        lines.append(f"| {name} | {severity} | {about['summary']} | {fix} |")
    return "\n".join(lines) + "\n"


def _index() -> str:
    """The rules as `shmlint rules` lists them, for the page in the same directory."""
    lines = ["| id | name | default | what |", "|---|---|---|---|"]
    for rule, _ in all_rules().values():
        severity = rule.severity if rule.default else "off"
        summary = front_matter(page(rule))["summary"]
        lines.append(f"| [{rule.id}]({rule.id}-{rule.name}.md) | {rule.name} | {severity} | {summary} |")
    return "\n".join(lines) + "\n"


def _options(name: str) -> str:
    """What the help of a command says of each option."""
    command = cli.program.get_command(click.Context(cli.program), name)
    assert command is not None, name
    lines = ["| option | what it does |", "|---|---|"]
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
            lines.append(f"| {names} | {(option.help or '').partition('  [')[0]} |")
    return "\n".join(lines) + "\n"


def printed(command: str) -> str:
    """What a command prints when it is typed at the top of the checkout."""
    program, *arguments = shlex.split(command)
    assert program == "shmlint"
    done = subprocess.run(
        [sys.executable, "-m", "shmlint", *arguments],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "SHMLINT_"))} | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return done.stdout


if __name__ == "__main__":
    for file in PAGES:
        file.write_text(generated(file.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")

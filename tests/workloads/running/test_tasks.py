"""Commands that a file calls by a name."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, HELPER, LOADER, SERVE, compose, need

TASKS = {
    "package.json": '{"scripts": {"start": "npm run serve -- --fast", "serve": "python serve.py", "go": "npm run go"}}',
    "pyproject.toml": '[tool.poe.tasks]\nserve = {cmd = "python serve.py"}\ntrain = "python train.py"\nnone = 1\n'
    '[tool.pdm.scripts]\nserve = "python serve.py"\n[tool.pixi.tasks]\ntrain = "python train.py"\n',
    "Procfile": "web: python serve.py\nwork: python train.py\n",
}


@table(
    "command, verdict",
    [
        ("npm start", "not-needed"), ("yarn run serve", "not-needed"), ("pdm run serve", "not-needed"),
        ("poe serve", "not-needed"), ("poe train --workers 8", "needed"), ("pixi run train", "needed"),
        ("honcho start web", "not-needed"), ("foreman start", "needed"), ("pdm run python train.py", "needed"),
        # Names that nobody wrote down, and what calls itself.
        ("npm run gone", "unknown"), ("poe none", "unknown"), ("pixi run serve", "unknown"),
        ("honcho start gone", "unknown"), ("npm run go", "unknown"), ("npm install", "not-needed"),
    ],
)  # fmt: skip
def test_what_a_file_calls_by_a_name_is_followed(tmp_path: Path, command: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "serve.py": SERVE, "helper.py": HELPER,
        "train.py": LOADER, **TASKS,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict

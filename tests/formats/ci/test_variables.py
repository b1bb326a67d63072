"""Which variables of a CI file its scripts can rely on."""

from __future__ import annotations

from pathlib import Path

from tests.project import run
from tests.table import table

START = "docker run --gpus all --shm-size=$S nvcr.io/nvidia/pytorch:24.01-py3"
GITLAB = f"a:\n  script:\n    - {START}\n"


@table(
    ("text", "known"),
    [
        (f"variables: {{S: 64m}}\n{GITLAB}", True),
        (f"variables: {{S: 64m}}\n{GITLAB}  variables: {{S: $BIG}}\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  before_script: [export S=64g]\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  before_script: [export T=64g]\n", True),
        (f"variables: {{S: 64m}}\ndefault:\n  before_script:\n    - . ./sizes.sh\n{GITLAB}", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  parallel: {{matrix: [{{S: [64m, 64g]}}]}}\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}  rules: [{{if: x, variables: {{S: 64g}}}}]\n", False),
        (f"variables: {{S: 64m}}\n.{GITLAB}b:\n  extends: .a\n  variables: {{S: 64g}}\n", False),
        (f"variables: {{S: 64m}}\n.{GITLAB}b:\n  extends: .a\n", True),
        (f"variables: {{S: 64m}}\n.x: &x\n  - {START}\nb:\n  script: *x\n  variables: {{S: 64g}}\n", False),
        (f"variables: {{S: 64m}}\n{GITLAB}b:\n  artifacts: {{reports: {{dotenv: x.env}}}}\n", False),
    ],
)  # fmt: skip
def test_variables_that_something_else_sets_are_not_known(tmp_path: Path, text: str, known: bool) -> None:
    (launch,) = run(tmp_path, {".gitlab-ci.yml": text}).launches
    assert launch.shm is not None
    assert (launch.shm.known is not None) == known

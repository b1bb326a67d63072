"""What `docker buildx bake` builds."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import GPUS, HELPER, SERVE

BAKE = """
variable "TAG" { default = "1.0" }
// target "old" { tags = ["me/old"] }
target "base" {
  context = "services"
  args = {
    BASE = "python:3.12"
    VERSION = "${TAG}"
  }
}
target "app" {
  inherits   = ["base"]
  dockerfile = "app.Dockerfile"
  tags = [
    "registry.me/app:${TAG}", "registry.me/app:${MORE}"
  ]
}
"""


@table(
    "image, hcl, verdict",
    [
        ("registry.me/app:1.0", BAKE, "not-needed"),
        ("registry.me/app:1.0", BAKE.replace("registry.me/app", "registry.me/other"), "unknown"),
        ("me/old", BAKE, "unknown"),
        ("registry.me/app:1.0", BAKE.replace('["base"]', '["gone"]'), "unknown"),
        ("registry.me/app:1.0", 'target "app" {', "unknown"),
    ],
)
def test_what_bake_builds(tmp_path: Path, image: str, hcl: str, verdict: str) -> None:
    build = "ARG BASE\nFROM ${BASE}\nWORKDIR /app\nCOPY . .\nCMD python serve.py\n"
    files = {"compose.yaml": f"services:\n  app:\n    image: {image}\n    {GPUS}\n", "docker-bake.hcl": hcl}
    files |= {"services/app.Dockerfile": build, "services/serve.py": SERVE, "services/helper.py": HELPER}

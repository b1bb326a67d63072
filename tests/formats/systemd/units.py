"""Units of systemd that the tests start from."""

from __future__ import annotations

from tests.formats.started import IMAGE

NAME = "x.service"

SERVICE = "[Service]\nExecStart="
QUADLET = f"[Container]\nImage={IMAGE}\nAddDevice=nvidia.com/gpu=all\nExec=torchrun --nproc_per_node=8 train.py\n"

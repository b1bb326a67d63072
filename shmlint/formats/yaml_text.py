"""Compose files and manifests in other texts, told apart by patterns: where they are, and where they ask for a GPU."""

from __future__ import annotations

import re

SERVICES = re.compile(r"^[ \t]*services:[ \t]*(?:#.*)?$", re.M)
SERVICE_GPU = re.compile(
    r"^[ \t]*(?:-[ \t]*)?(?:gpus:[ \t]*\S|runtime:[ \t]*[\"']?nvidia|.*capabilities:\s*[-\[][-\[ \t\"']*gpu\b)", re.M
)
MANIFEST = re.compile(r"^[ \t]*apiVersion:[ \t]*\S", re.M)
MANIFEST_GPU = re.compile(r"[\w-]+\.(?:com|ai)/(?:gpu|mig-|gaudi)[\w.-]*[\"']?[ \t]*:")

"""The names of the commands, and what each does."""

from __future__ import annotations

COMMANDS = {
    "check": "Find and fix GPU containers with too little /dev/shm (the default).",
    "inventory": "List all container launches, with GPUs, image and /dev/shm.",
    "size": "Compute how much /dev/shm an image or a command needs.",
    "doctor": "Check the container that shmlint runs in.",
    "explain": "Explain a rule, an error message, a workload, an image or one launch.",
    "rules": "List the rules.",
    "files": "List the files that would be checked.",
    "settings": "Show the settings for a path and their origin.",
}

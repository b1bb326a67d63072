"""The names of the commands, and what each does."""

from __future__ import annotations

COMMANDS = {
    "check": "Find GPU containers that get too little /dev/shm, and repair them (the default).",
    "inventory": "List every container launch and what was understood of it.",
    "size": "Compute how much /dev/shm an image or a command needs.",
    "doctor": "Examine the container that this runs in.",
    "explain": "Explain a rule, an error message, a workload, an image or one launch.",
    "rules": "List the rules.",
    "files": "List the files that would be read.",
    "settings": "Show the settings for a path and where each comes from.",
}

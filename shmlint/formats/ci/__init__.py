"""CI files: the scripts in their steps, and the containers that jobs run in."""

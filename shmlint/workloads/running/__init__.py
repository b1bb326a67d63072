"""What a launch runs: from its image, entrypoint and command through scripts and builds to programs."""

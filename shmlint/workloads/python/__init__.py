"""Python programs of the repository: read by their syntax trees, never run."""

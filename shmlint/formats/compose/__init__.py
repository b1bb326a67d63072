"""What Compose v2 reads in a set of files: interpolation, merging, extends, include, projects.

The rules are Compose's own (compose-go); `docker compose config` is the judge.
"""

"""This machine, read from inside a container: its /dev/shm, limits and GPUs, as a launch.

Everything is read from /proc, /sys and /dev; no GPU library is loaded and nothing is started. Of the
environment only the NCCL variables are shown.
"""

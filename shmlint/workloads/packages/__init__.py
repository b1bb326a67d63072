"""Packages of Python: which are installed, and what they put into /dev/shm."""

"""shmlint finds and fixes GPU containers that are started with too little /dev/shm."""

from shmlint.version import __version__

__all__ = ["__version__"]

"""shmlint finds and fixes GPU containers that are started with too little /dev/shm."""

__version__ = "0.1.0"

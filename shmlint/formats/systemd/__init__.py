"""Units of systemd: the commands of services, and the containers of Quadlet."""

"""Kubernetes: the containers of pod templates, whatever object holds them."""

"""Embedders that run on this machine."""

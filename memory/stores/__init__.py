"""Adapters of the memory store port."""

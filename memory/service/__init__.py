"""The memory service: one memory for several bots, over HTTP."""

DEFAULT_PORT = 8_377

"""The memory service: one memory for several bots, over HTTP."""

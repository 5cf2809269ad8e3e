"""How the process runs: the event loop it uses, and a garbage collector that does not stop the world mid-burst."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

YOUNG_OBJECTS = 20_000
"""A burst makes objects by the ten thousand; the default of 700 would collect dozens of times within one."""


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run ``work`` to its end on uvloop where it is installed (it is not on Windows), else on asyncio's own loop."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


def settle() -> None:
    """Called once everything long-lived is in place: it is collected a last time and then left alone."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 50, 50)

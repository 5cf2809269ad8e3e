"""How many tasks something makes."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import Context
from typing import Any


@contextmanager
def tasks_made() -> Generator[list[str]]:
    """The names of what becomes a task in the running loop meanwhile."""
    made: list[str] = []

    def make(loop: asyncio.AbstractEventLoop, work: Any, *, context: Context | None = None) -> asyncio.Task[Any]:
        made.append(work.__qualname__)
        return asyncio.Task(work, loop=loop, context=context)

    loop = asyncio.get_running_loop()
    former = loop.get_task_factory()
    loop.set_task_factory(make)
    try:
        yield made
    finally:
        loop.set_task_factory(former)

"""Work that outlives the call that started it: kept, counted, logged when it fails, drained at the end."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol

import structlog

TASK_FAILED = "task_failed"

_log = structlog.stdlib.get_logger(__name__)


class Spawn(Protocol):
    """Starts work that outlives the call; ``Background.spawn`` does."""

    def __call__(self, work: Coroutine[Any, Any, object], *, name: str, last: bool = False) -> asyncio.Task[None]: ...


class Background:
    """The one place that starts tasks. Every task is referenced until it ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._last: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, object], *, name: str, last: bool = False) -> asyncio.Task[None]:
        """Run ``work`` beside the caller; a failure that nobody awaits ends as one log line.

        ``last`` marks work that carries other tasks' last words and is cancelled only after them.
        """
        task = asyncio.create_task(_guarded(work, name), name=name)
        self._tasks.add(task)
        if last:
            self._last.add(task)
        task.add_done_callback(partial(self._over, work))
        return task

    def _over(self, work: Coroutine[Any, Any, object], task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._last.discard(task)
        # A task that is cancelled before its first step never reaches the work, which would then complain.
        work.close()

    async def drain(self, deadline_s: float, last_words_s: float = 5.0) -> int:
        """Wait up to ``deadline_s`` for what runs, then cancel the rest and wait for its last words.

        Returns how many tasks had to be cancelled at the deadline.
        """
        await self._settle(deadline_s)
        cut_short = [task for task in self._others() if task not in self._last]
        for task in cut_short:
            task.cancel()
        await self._settle(last_words_s)
        for task in self._others():
            task.cancel()
        await asyncio.gather(*self._others(), return_exceptions=True)
        return len(cut_short)

    async def _settle(self, timeout_s: float) -> None:
        waiting = self._others()
        if waiting:
            await asyncio.wait(waiting, timeout=timeout_s)

    def _others(self) -> list[asyncio.Task[Any]]:
        return [task for task in self._tasks if task is not asyncio.current_task()]


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, object], *, name: str) -> AsyncGenerator[asyncio.Task[None]]:
    """Run ``work`` while the body runs, and cancel it then; its failure is a log line."""
    task = asyncio.create_task(_guarded(work, name), name=name)
    try:
        await asyncio.sleep(0)  # It begins first: the body may end without ever waiting.
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def unforeseen_in(act: Callable[[], Awaitable[object]]) -> Exception | None:
    """What ``act`` raised, for whoever has to tell somebody of it; ``None`` when it went well."""
    try:
        await act()
    except Exception as fault:  # noqa: BLE001 - the boundary of a message: its task has nobody else who would tell
        return fault
    return None


async def _guarded(work: Coroutine[Any, Any, object], name: str) -> None:
    try:
        await work
    except Exception:  # noqa: BLE001 - the last boundary of a task: nobody else would ever hear of it
        _log.exception(TASK_FAILED, task=name)

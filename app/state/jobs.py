"""What is handed in to be written, and how whoever waits for it hears what became of it."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Job:
    """A function that is to write, and the future of the loop on which somebody waits for what it returns."""

    work: Callable[[Connection], Any]
    is_step: bool
    loop: asyncio.AbstractEventLoop
    outcome: asyncio.Future[Any]


Ended = tuple[Job, Any, BaseException | None]
"""What was handed in, what it returned, and the fault that ended it instead."""


def report(ended: Iterable[Ended]) -> None:
    """From any thread. Other loops than the one this is called on are woken once for all of their callers."""
    here = _loop_here()
    for loop, theirs in groupby(ended, key=lambda each: each[0].loop):
        if loop is here:
            _settle(theirs)
            continue
        with suppress(RuntimeError):  # the loop is closed, and nobody waits there any more
            loop.call_soon_threadsafe(_settle, list(theirs))


def _loop_here() -> asyncio.AbstractEventLoop | None:
    """The event loop that this is called on, if it is."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _settle(ended: Iterable[Ended]) -> None:
    for job, value, fault in ended:
        if job.outcome.done():  # its caller has stopped waiting
            continue
        if fault is None:
            job.outcome.set_result(value)
        else:
            job.outcome.set_exception(fault)

"""The store as the memory commands reach it, and what is done before a record is taken out of it."""

from collections.abc import Generator
from contextlib import contextmanager

from commands.errors import UnavailableError
from commands.ports import Lessons
from memory.store import MemoryStore, StoreUnavailableError


@contextmanager
def reaching_store() -> Generator[None]:
    """The store's failure as the command's: its text names no record's words."""
    try:
        yield
    except StoreUnavailableError as fault:
        raise UnavailableError(f"memory could not be reached: {fault}") from fault


async def pass_over(lessons: Lessons | None, store: MemoryStore, scope_key: str, record_id: str) -> None:
    """A conversation that goes on would else teach the record again by what was said in it before.

    ``lessons``: ``None`` in a process without the bot's own records. Raises ``UnavailableError``.
    """
    if lessons is None:
        return
    with reaching_store():
        found = await store.get(scope_key, [record_id])
    for each in found:
        await lessons.pass_over(each.source_thread_key)

"""What holds for every test: the event loop is never blocked, and logs are made as in production."""

import gc
import sys
from collections.abc import Generator, Iterator

import hypothesis
import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from app.logs import configure
from memory.service.process import YOUNG_OBJECTS

hypothesis.settings.register_profile("house", deadline=None)  # how long an example takes is the machine's affair
hypothesis.settings.load_profile("house")

pytest_plugins = ["tests.following", "tests.state_databases", "tests.memory_databases"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Tests and modules stay until the end: nobody looks through a million objects while they grow, nor each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)  # as in production
        gc.enable()


@pytest.fixture(scope="session")
def _watch() -> Iterator[BlockBuster]:
    """Made once, which takes longer than many a test does."""
    with blockbuster_ctx(["app", "commands", "config", "memory"]) as watch:
        for name in ("os.stat", "sqlite3.Connection.execute", "sqlite3.Cursor.fetchone"):
            # Whether a scope's file is as it was read: neither waits for a disk or for a lock.
            watch.functions[name].can_block_in("memory/stores/sqlite_files.py", "_is_unchanged")
        for name in ("execute", "executemany", "fetchall", "fetchone"):
            # A few rows that an index finds: what waits for a disk or for a lock is done in a thread.
            watch.functions[f"sqlite3.Cursor.{name}"].can_block_in("app/state/writing.py", "carried_out")
        # Into the system's memory alone: the connection leaves the disk to whoever flushes the log.
        watch.functions["sqlite3.Connection.commit"].can_block_in("app/state/writing.py", "carried_out")
        yield watch


@pytest.fixture(autouse=True)
def loop_stays_free(_watch: BlockBuster) -> BlockBuster:
    """A blocking call of ours on the event loop fails the test that makes it; a test may put that off for itself."""
    _watch.activate()
    return _watch


@pytest.fixture(autouse=True)
def logs_as_in_production() -> None:
    configure("json", "debug", stream=sys.stdout)

"""What holds for every test: the event loop is never blocked, and logs are made as in production."""

import sys
from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from app.logs import configure

pytest_plugins = ["tests.state_databases", "tests.memory_databases"]


@pytest.fixture(autouse=True)
def loop_stays_free() -> Iterator[BlockBuster]:
    """A blocking call of ours on the event loop fails the test that makes it."""
    with blockbuster_ctx(["app", "commands", "config", "memory"]) as watch:
        yield watch


@pytest.fixture(autouse=True)
def logs_as_in_production() -> None:
    configure("json", "debug", stream=sys.stdout)

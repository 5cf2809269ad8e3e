"""One bot for each state database, on this machine's files and on a server."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.state.errors import StateUnreachableError
from app.state.lock import hold, holding, lock_file_of
from app.state.opening import file_of, open_database
from tests.command_runs import WAIT_S, start_python
from tests.state_databases import PostgresServer, noted, noting

HOLDER = """
import signal, sys
from app.state.lock import hold
with hold(sys.argv[1]):
    print("held", flush=True)
    signal.pause()
"""


def test_a_second_holder_is_refused_in_a_sentence_that_says_what_to_do(state_url: str) -> None:
    with hold(state_url), pytest.raises(ConfigurationError) as refused, hold(state_url):
        pass
    assert "another Switchboard" in str(refused.value)
    assert "stop it, or give this one a state.url" in str(refused.value)


def test_what_was_held_is_free_afterwards_whatever_happened(state_url: str) -> None:
    with pytest.raises(ZeroDivisionError), hold(state_url):
        raise ZeroDivisionError
    with hold(state_url):
        pass


def test_databases_are_held_one_by_one(tmp_path: Path, postgres: PostgresServer) -> None:
    urls = (f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}", postgres.new(), postgres.new())
    with ExitStack() as stack:
        for url in urls:
            stack.enter_context(hold(url))
        assert not any(map(is_free, urls))


async def test_a_process_that_is_killed_holds_nothing(state_url: str, tmp_path: Path) -> None:
    process = await start_python(tmp_path, "-c", HOLDER, state_url)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S):
            assert await process.stdout.readline() == b"held\n"
        with pytest.raises(ConfigurationError) as refused:
            await asyncio.to_thread(held_and_given_back, state_url)
        assert (f"process {process.pid}" in str(refused.value)) == state_url.startswith("sqlite")
    finally:
        process.kill()
        await process.communicate()
    async with asyncio.timeout(WAIT_S):
        while not await asyncio.to_thread(is_free, state_url):  # a server notices a moment later
            await asyncio.sleep(0)


def held_and_given_back(url: str) -> None:
    with hold(url):
        pass


def is_free(url: str) -> bool:
    try:
        held_and_given_back(url)
    except ConfigurationError:
        return False
    return True


async def test_the_database_is_worked_with_while_it_is_held(state_url: str) -> None:
    await asyncio.to_thread(held_and_given_back, state_url)
    async with open_database(state_url) as database:
        async with holding(state_url):
            assert not await asyncio.to_thread(is_free, state_url)
            await database.write(noting("word"))
            assert await database.read(noted) == ["word"]
        assert await asyncio.to_thread(is_free, state_url)


def test_a_lock_outlives_its_file_being_read_by_others_and_tells_nothing_else(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    held_and_given_back(url)
    path = lock_file_of(file_of(url) or tmp_path)
    assert path.read_text(encoding="ascii").isdecimal()
    path.write_text("no number", encoding="ascii")
    with hold(url), pytest.raises(ConfigurationError), hold(url):
        pass
    assert path.read_text(encoding="ascii").isdecimal()


def test_a_holder_that_has_not_written_its_number_yet_is_refused_all_the_same(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    with hold(url):
        lock_file_of(tmp_path / "state.db").write_text("", encoding="ascii")
        with pytest.raises(ConfigurationError, match="another Switchboard is using"), hold(url):
            pass


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(ConfigurationError, match="cannot be written"), hold(f"sqlite:///{tmp_path}/file/state.db"):
        pass


def test_a_server_that_is_gone_is_told_and_its_lock_lost_without_noise(postgres: PostgresServer) -> None:
    url = postgres.new()
    with hold(url):
        postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    held_and_given_back(url)
    with pytest.raises(StateUnreachableError), hold("postgresql://nobody@/x?host=/nowhere"):
        pass

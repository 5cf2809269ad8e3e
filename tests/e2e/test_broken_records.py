"""The bot's own records fail under it: people are told, nothing is answered twice, and it goes on after."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from app.playground.server import Playground
from app.state.opening import BUSY_MS, file_of
from config.settings import Settings
from tests.e2e.conftest import MENTION, running, settings_of
from tests.fakes import ScriptedProvider
from tests.mortal_bot import LaterClock


def file_in(settings: Settings) -> Path:
    assert settings.state.url is not None
    file = file_of(settings.state.url.get_secret_value())
    assert file is not None
    return file


def do(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


@asynccontextmanager
async def locked(file: Path) -> AsyncGenerator[None]:
    """Another process writes and does not come to an end."""

    def lock() -> sqlite3.Connection:
        connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        return connection

    connection = await asyncio.to_thread(lock)
    try:
        yield
    finally:
        await asyncio.to_thread(connection.close)


async def test_a_locked_database_is_told_of_once_and_the_next_message_is_answered(playground: Playground) -> None:
    """Acceptance test 10 of a gateway: a mention comes as two events, and again when it is not acknowledged in time."""
    settings = settings_of(playground, "socket")
    async with running(playground, settings, ScriptedProvider(["fine"])) as bot:
        async with locked(file_in(settings)):
            root = bot.say(f"{MENTION} hello")
            await bot.rest(lambda: bool(bot.answers(root)), BUSY_MS / 1000 * 4)
        assert "cannot reach my own records" in bot.text(root)
        again = bot.say(f"{MENTION} hello again")
        assert await bot.answered(again) == "fine"
        assert len(bot.answers(root)) == 1
        assert len(bot.provider.requests) == 1


async def test_a_transcript_that_cannot_be_read_is_refused_and_never_taken_for_an_empty_one(
    playground: Playground,
) -> None:
    """Acceptance test 11 of a gateway."""
    settings = settings_of(playground, "socket")
    async with running(playground, settings, ScriptedProvider(["one"])) as bot:
        root = bot.say(f"{MENTION} the code is 7")
        await bot.answered(root)
    await asyncio.to_thread(do, file_in(settings), "UPDATE transcript SET role = 'nobody' WHERE role = 'assistant'")
    async with running(playground, settings, ScriptedProvider(["two"])) as bot:
        bot.say("what is the code?", thread_ts=root.ts)
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        assert "I cannot read what was said before" in bot.text(root)
        assert bot.provider.requests == []
        bot.say("!new", thread_ts=root.ts)
        await bot.rest(lambda: len(bot.answers(root)) == 3)
        bot.say("hello", thread_ts=root.ts)
        await bot.rest(lambda: bot.text(root).endswith("two"))


async def test_a_damaged_search_index_is_mended_at_the_start_and_nothing_is_lost(playground: Playground) -> None:
    settings = settings_of(playground, "socket")
    async with running(playground, settings, ScriptedProvider(["one"])) as bot:
        root = bot.say(f"{MENTION} the code is 7")
        await bot.answered(root)
    await asyncio.to_thread(do, file_in(settings), "DELETE FROM transcript_fts_data")
    async with running(playground, settings, ScriptedProvider(["two"])) as bot:
        bot.say("what is the code?", thread_ts=root.ts)
        await bot.answered(root, times=2)
        assert bot.provider.requests[-1].messages[0].text == "alice: the code is 7"


async def test_a_clock_that_was_set_back_mixes_nothing_up(playground: Playground) -> None:
    settings = settings_of(playground, "socket")
    async with running(playground, settings, ScriptedProvider(["one"]), LaterClock(86_400)) as bot:
        root = bot.say(f"{MENTION} the code is 7")
        await bot.answered(root)
    async with running(playground, settings, ScriptedProvider(["two"])) as bot:
        bot.say("what is the code?", thread_ts=root.ts)
        await bot.answered(root, times=2)
        said = [turn.text for turn in bot.provider.requests[-1].messages]
        assert said == ["alice: the code is 7", "one", "alice: what is the code?"]

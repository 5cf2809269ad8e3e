"""What the bot's records cost: a message accepted for good, and a long conversation opened again."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.channel import (
    Address,
    ChannelId,
    EventId,
    IncomingMessage,
    Reference,
    ThreadKey,
    UserId,
    Visibility,
    WorkspaceId,
)
from app.clock import SystemClock
from app.dispatch.journal import Accepted
from app.dispatch.keying import Keying
from app.sessions.transcript import TranscriptMessage
from app.state.engine import Database
from app.state.journal import StateJournal
from app.state.opening import open_database
from app.state.sessions import StateSessions
from benchmarks.children import BenchmarkError, Pipe, answer_questions
from memory.service.process import run, settle

LINES = 2_000
LINE = "The staging database listens on port 5433; the old one keeps 5432 until it is retired. " * 2
TOGETHER = 64
"""Messages accepted at the same time, as a burst brings them."""
_PAGE = b"x" * 4_096
_WARM_UP = 5


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of every single step over one database."""

    accept_s: Sequence[float]
    accept_together_s: Sequence[float]
    """Of one message among ``TOGETHER``."""
    open_s: Sequence[float]


class Records:
    """The journal and the sessions over one database, as the bot uses them."""

    def __init__(self, database: Database) -> None:
        clock = SystemClock()
        self._keying = Keying()
        self._journal = StateJournal(database, clock)
        self._sessions = StateSessions(database, clock, self._keying.rules)
        self._count = 0

    async def accept(self, root: str | None = None) -> Accepted:
        self._count += 1
        message = _message(self._count, root)
        accepted = await self._journal.accept(message, self._keying.key(message), '{"channel": "C1"}')
        if accepted is None:
            raise BenchmarkError("a new message was taken for one that is known")
        return accepted

    async def accept_together(self) -> None:
        await asyncio.gather(*(self.accept() for _ in range(TOGETHER)))

    async def make_long(self, root: str) -> None:
        """A conversation of ``LINES`` lines."""
        accepted = await self.accept(root)
        entry = await self._journal.begin(accepted, self._keying.source(accepted.message))
        await self._sessions.append(entry.session_id, _lines())
        await self._journal.end(accepted, "ran")

    async def opening(self, root: str) -> float:
        """Seconds from the beginning of a turn to the whole transcript, read from the database."""
        accepted = await self.accept(root)
        began_s = time.perf_counter()
        entry = await self._journal.begin(accepted, self._keying.source(accepted.message))
        lines = await self._sessions.load(entry.session_id)
        took_s = time.perf_counter() - began_s
        if len(lines) != LINES:
            raise BenchmarkError(f"{len(lines)} of {LINES} lines were found")
        await self._journal.end(accepted, "ran")
        return took_s


@dataclass(frozen=True, slots=True)
class CostsOver:
    """Each step ``times`` times, one after the other, over the database at ``url``."""

    url: str
    times: int

    async def ask(self, _host: object) -> Costs:
        root = "1000.000000"
        async with open_database(self.url) as database:
            records = Records(database)
            await records.make_long(root)
            for _ in range(_WARM_UP):
                await records.opening(root)
            return Costs(
                accept_s=[await _timed(records.accept()) for _ in range(self.times)],
                accept_together_s=[await _timed(records.accept_together()) / TOGETHER for _ in range(self.times // 10)],
                open_s=[await records.opening(root) for _ in range(self.times)],
            )


def records_keeper(pipe: Pipe) -> None:
    """The main function of a process that keeps records, with the event loop and the collector of the bot's."""
    run(_keep(pipe))


async def _keep(pipe: Pipe) -> None:
    settle()
    await answer_questions(pipe, None, greeting=None)


async def _timed(work: Awaitable[object]) -> float:
    began_s = time.perf_counter()
    await work
    return time.perf_counter() - began_s


def sync_s(folder: Path, times: int) -> list[float]:
    """What one page costs on this disk, written and waited for: the least that a durable commit can cost."""
    took_s: list[float] = []
    with (folder / "page").open("wb") as file:
        for _ in range(times):
            began_s = time.perf_counter()
            file.write(_PAGE)
            file.flush()
            os.fsync(file.fileno())
            took_s.append(time.perf_counter() - began_s)
    return took_s


@contextmanager
def postgres_url() -> Generator[str | None]:
    """A database of a server that keeps its promises to the disk; ``None`` where none is installed."""
    if shutil.which("initdb") is None and not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        yield None
        return
    from tests.state_databases import PostgresServer

    class DurableServer(PostgresServer):
        """With the settings PostgreSQL comes with: the tests' own let it forget."""

        def start(self) -> None:
            options = f"-k {self._folder} -c listen_addresses=''"
            self._run("pg_ctl", "start", "--wait", f"--log={self._folder / 'log'}", "-o", options)

    folder = Path(tempfile.mkdtemp(prefix="switchboard-bench-pg-"))
    try:
        server = DurableServer(folder)
        server.make()
        server.start()
        try:
            yield server.new()
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _message(number: int, root: str | None) -> IncomingMessage:
    """In a thread of its own, or in that of ``root``."""
    position, now = f"{1_000_000 + number}.000100", datetime.now(UTC)
    return IncomingMessage(
        event_id=EventId(f"slack:Ev{number}"),
        workspace_id=WorkspaceId("slack:T1"),
        channel_id=ChannelId("slack:C1"),
        user_id=UserId("slack:U1"),
        thread_key=ThreadKey(f"slack:C1:{root or position}"),
        position=position,
        text="what do we know about the release?",
        visibility=Visibility.PUBLIC,
        address=Address.MENTION,
        starts_thread=root is None,
        sent_at=now,
        received_at=now,
        reference=Reference(f"{number:08x}"),
    )


def _lines() -> list[TranscriptMessage]:
    """Half of them a person's, with a place in the thread."""
    now = datetime.now(UTC)
    return [
        TranscriptMessage("assistant", f"{number}: {LINE}", now)
        if number % 2
        else TranscriptMessage(
            "user", f"{number}: {LINE}", now, author="Alice Martin", user_id="slack:U1", position=f"{number}.000100"
        )
        for number in range(LINES)
    ]

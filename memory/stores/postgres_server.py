"""Talking with PostgreSQL: a pool of connections, one deadline for each call, and what is tried again.

A call is tried once more, on connections that were looked at, when the connection broke before anything can have
been done: never when it broke at the commit, whose outcome nobody knows then. The one exception is a change that the
server itself recognises when it comes again.

Connections carry settings of their own and prepared statements, so a pooler in between has to keep sessions together.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from memory.store import StoreUnavailableError
from memory.stores.postgres_address import Address, address_of
from memory.stores.postgres_faults import fault_of, is_farewell, is_undone

Connection = AsyncConnection[tuple[Any, ...]]
Found = TypeVar("Found")
Work = Callable[[Connection], Awaitable[Found]]

_log = structlog.stdlib.get_logger(__name__)

_ATTEMPTS = 2
_RECONNECT_S = 1.0
"""How long the pool itself goes on trying to connect, in ever longer steps; after that the next request tries."""
_GRACE_S = 1.0
_LOCK_SHARE = 0.8
"""Of a statement's time may go by in waiting for a lock: then it is told what held it up."""
# The server keeps a plan for as long as its statistics stay what they were. One that reads a whole table because there
# was next to nothing in it does so for minutes while the table fills, so a scope is read through its index always; and
# because it always is, nothing is gained by planning for the values of every call, which takes longer than a look.
_SETTINGS = """SELECT
    set_config('enable_seqscan', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('jit', 'off', false),
    set_config('statement_timeout', %(statement)s, false), set_config('lock_timeout', %(lock)s, false),
    set_config('idle_in_transaction_session_timeout', %(idle)s, false), set_config('timezone', 'UTC', false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('search_path', 'switchboard_memory', false)"""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a PostgreSQL store may take of the server, of the machine and of its callers' time."""

    connections: int = 8
    connect_s: float = 5.0
    wait_s: float = 3.0
    """For a free connection."""
    statement_s: float = 5.0
    """For one statement, the wait for somebody else's lock included."""
    deadline_s: float = 10.0
    """For one call, however many statements it takes and however many of the same scope are before it."""
    migrate_s: float = 60.0
    """For bringing the tables to the newest version, the wait for another process that does it included."""
    scrub_s: float = 30.0
    """For giving up the space of what was erased."""
    records: int = 10_000
    """Records (and vectors) of all scopes together that stay in memory after a search: a record of ordinary length is
    1.3 KB when its scope was searched once, 3.3 KB at most."""


DEFAULT_BOUNDS = Bounds()


@dataclass(slots=True)
class _Step:
    """Whether a call may be tried again, as far as it has come."""

    is_repeatable: bool


class Warnings:
    """What is wrong, told once until it has been right again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: set[str] = set()

    def note(self, event: str, reason: str | None) -> None:
        """``None``: it is right."""
        if reason is None:
            self._told.discard(event)
        elif event not in self._told:
            self._told.add(event)
            _log.warning(event, database=self._name, reason=reason)


class Server:
    """One database. Every call raises ``StoreUnavailableError`` when it cannot be done."""

    def __init__(self, url: str, bounds: Bounds) -> None:
        self.bounds = bounds
        self._address: Address = address_of(url, connect_s=bounds.connect_s)
        self.warnings = Warnings(self._address.name)
        self.breaks = 0
        """Connections that were lost. What was read before one may be what another server said."""
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            self._address.conninfo,
            kwargs={"autocommit": True},
            min_size=1,
            max_size=bounds.connections,
            timeout=bounds.wait_s,
            configure=self._configure,
            reconnect_timeout=_RECONNECT_S,
            open=False,
            name="memory",
        )

    @property
    def name(self) -> str:
        return self._address.name

    async def open(self) -> None:
        """Connect. What goes wrong now is told by the pool in general terms only; ``alone`` tells it better."""
        try:
            await self._pool.open(wait=True, timeout=self.bounds.connect_s)
        except psycopg.Error as exc:
            raise fault_of(exc, self.name) from exc

    async def close(self) -> None:
        await self._pool.close()

    async def alone(self, work: Work[Found], *, deadline_s: float, statement_s: float | None = None) -> Found:
        """``work`` over a connection beside the pool, outside of a transaction; tells best why there is none."""
        try:
            async with self.within(deadline_s), await self._connected() as connection:
                await self._configure(connection, statement_s)
                return await work(connection)
        except psycopg.Error as exc:
            raise fault_of(exc, self.name) from exc

    async def read(self, work: Work[Found]) -> Found:
        """``work`` outside of a transaction, tried again on another connection when one was lost."""
        return await self._attempt(work, _Step(is_repeatable=True))

    async def change_once(self, work: Work[Found]) -> Found:
        """``work`` outside of a transaction, never tried again. Lets ``psycopg.IntegrityError`` through."""
        return await self._attempt(work, _Step(is_repeatable=False))

    async def change(self, work: Work[Found], *, is_recognised: bool = False, is_pipelined: bool = False) -> Found:
        """``work`` in a transaction. ``is_recognised``: the server knows it again when it has done it already.

        ``is_pipelined``: statements are sent on while nobody waits for their rows; ``work`` may look at no row count.
        Lets ``psycopg.IntegrityError`` through.
        """
        step = _Step(is_repeatable=True)

        async def whole(connection: Connection) -> Found:
            step.is_repeatable = True
            async with connection.pipeline() if is_pipelined else nullcontext(), connection.transaction():
                found = await work(connection)
                step.is_repeatable = is_recognised
            return found

        return await self._attempt(whole, step)

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncGenerator[None]:
        """A deadline for the block."""
        try:
            # The driver asks a server to stop what took too long, and waits ten seconds for one that is frozen: the
            # second deadline ends that, and the connection with it.
            async with asyncio.timeout(seconds + _GRACE_S), asyncio.timeout(seconds):
                yield
        except TimeoutError as exc:
            told = f"the memory database {self.name} cannot be used: it did not answer within {seconds:g} s"
            raise StoreUnavailableError(told) from exc

    async def _attempt(self, work: Work[Found], step: _Step) -> Found:
        for attempt in range(1, _ATTEMPTS + 1):
            is_lost = False
            try:
                async with self._pool.connection() as connection:
                    try:
                        return await work(connection)
                    except psycopg.Error as exc:
                        is_lost = connection.broken or is_farewell(exc)
                        raise
            except psycopg.IntegrityError:
                raise
            except psycopg.Error as exc:
                is_harmless = is_undone(exc) or (is_lost and step.is_repeatable)
                if is_lost:
                    self.breaks += 1
                if attempt == _ATTEMPTS or not is_harmless:
                    raise fault_of(exc, self.name) from exc
                if is_lost:
                    await self._pool.check()
        raise AssertionError("the last attempt returns or raises")

    async def _connected(self) -> Connection:
        return await AsyncConnection.connect(self._address.conninfo, autocommit=True)

    async def _configure(self, connection: Connection, statement_s: float | None = None) -> None:
        patience_s = statement_s or self.bounds.statement_s
        seconds = {"statement": patience_s, "lock": _LOCK_SHARE * patience_s, "idle": self.bounds.deadline_s}
        await connection.execute(_SETTINGS, {name: f"{round(value * 1000)}ms" for name, value in seconds.items()})

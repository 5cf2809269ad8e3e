"""The files a SQLite store has open: a bounded number of them, and a bounded number of records in memory."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memory.store import StoreUnavailableError
from memory.stores.sqlite_connections import path_of
from memory.stores.sqlite_files import LONG_LOG, ScopeFile, in_lane

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a SQLite store may take of the machine."""

    handles: int = 64
    """Open files."""
    records: int = 10_000
    """Records of all scopes together that stay in memory after a search."""
    timeout_s: float = 5.0
    """How long a write waits for another process that holds the file."""
    threads: int = 16


DEFAULT_BOUNDS = Bounds()
SPARE_SHARE = 8
"""One of so many places for open files is kept free for the next one."""
SETTLE_S = 0.5
"""How long a use is known to this process only, unless somebody changes something before."""


class Handles:
    """At most ``limit`` files are in use at once and open while idle, those used last; each has two connections."""

    def __init__(self, directory: Path, executor: Executor, bounds: Bounds) -> None:
        self._directory = directory
        self._executor = executor
        self._bounds = bounds
        self._places = asyncio.Semaphore(bounds.handles)
        self.files: OrderedDict[str, ScopeFile] = OrderedDict()
        """By scope key, used last comes last."""
        self._tending: set[asyncio.Future[None]] = set()
        self._closing: set[asyncio.Future[None]] = set()
        self._is_closed = False

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """The right to work on one file. Raises ``StoreUnavailableError`` once the store is closed."""
        async with self._places:
            if self._is_closed:
                raise StoreUnavailableError("the memory store is closed")
            yield

    @asynccontextmanager
    async def lease(self, scope_key: str) -> AsyncGenerator[ScopeFile]:
        """The scope's file, kept open for the length of the block at least."""
        async with self.place():
            file = self.files.get(scope_key) or self.unshared(scope_key)
            self.files[scope_key] = file
            self.files.move_to_end(scope_key)
            file.users += 1
            try:
                await self._make_room()
                yield file
            finally:
                file.users -= 1
                self._trim()
                self._tend(file)
                self._settle_soon(file)
                self._close_ahead()

    def glance(self, scope_key: str, look: Callable[[ScopeFile], Found | None]) -> Found | None:
        """What ``look`` sees in the scope's file, if that is open. It waits for nobody, so it needs no place."""
        file = None if self._is_closed else self.files.get(scope_key)
        found = None if file is None else look(file)
        if file is not None and found is not None:
            self.files.move_to_end(scope_key)
            self._settle_soon(file)
        return found

    def unshared(self, scope_key: str) -> ScopeFile:
        """The scope's file outside the pool, for whoever closes it."""
        path = path_of(self._directory, scope_key)
        return ScopeFile(path, scope_key, timeout_s=self._bounds.timeout_s)

    async def forget_reads(self, scope_key: str) -> None:
        """Let go of what is in memory of a scope, once nobody is looking at it."""
        file = self.files.get(scope_key)
        if file is not None:
            await in_lane(self._executor, file, file.reads, file.forget_reads)

    async def close(self) -> None:
        """Wait for whoever is at work, then close everything."""
        self._is_closed = True
        for _ in range(self._bounds.handles):
            await self._places.acquire()
        if beside := self._tending | self._closing:
            await asyncio.wait(beside)
        for file in self.files.values():
            await self._in_thread(file.close)
        self.files.clear()
        for _ in range(self._bounds.handles):
            self._places.release()

    async def _make_room(self) -> None:
        """Close the files used longest ago. Whoever asks for one meanwhile waits, and opens it again."""
        while len(self.files) > self._bounds.handles:
            if self._closing:
                await asyncio.wait(self._closing, return_when=asyncio.FIRST_COMPLETED)
                continue
            file = self._idle()
            if file is None:
                return
            file.users += 1
            try:
                await self._in_thread(file.close)
            finally:
                file.users -= 1
            self._let_go(file)

    def _close_ahead(self) -> None:
        """Have the file used longest ago closed beside the calls when places for the next ones run short.

        Closing writes down what was used and syncs it, which takes longer than a search.
        """
        spare = self._bounds.handles // SPARE_SHARE
        staying = len(self.files) - len(self._closing)
        if staying <= self._bounds.handles - spare or len(self._closing) >= spare:
            return
        file = self._idle()
        if file is not None:
            self._beside(file, file.close, self._closing)

    def _idle(self) -> ScopeFile | None:
        """The file used longest ago that nobody uses."""
        return next((each for each in self.files.values() if not each.users), None)

    def _let_go(self, file: ScopeFile) -> None:
        """Forget a file that was closed, unless somebody has used it meanwhile."""
        if not file.users and file.is_put_away:
            del self.files[file.scope_key]

    def _settle_soon(self, file: ScopeFile) -> None:
        """Have what was used written down when the searches that follow each other are over, or soon enough."""
        if file.uses and file.settling is None:
            file.settling = asyncio.get_running_loop().call_later(SETTLE_S, self._settle, file)

    def _settle(self, file: ScopeFile) -> None:
        file.settling = None
        if not self._is_closed:
            self._executor.submit(file.settle)

    def _trim(self) -> None:
        """Forget what was read longest ago, beyond the number of records to keep."""
        kept = 0
        for file in reversed(self.files.values()):
            snapshot = file.snapshot
            kept += 0 if snapshot is None else len(snapshot.pool)
            if kept > self._bounds.records:
                file.snapshot = None

    def _tend(self, file: ScopeFile) -> None:
        """Have a long log carried over into its file, while nobody waits for that."""
        if file.log_length >= LONG_LOG:
            file.log_length = 0
            self._beside(file, file.shorten_log, self._tending)

    def _beside(self, file: ScopeFile, work: Callable[[], None], begun: set[asyncio.Future[None]]) -> None:
        """Have ``work`` done in a thread while the file stays; it is among ``begun`` until it is done."""
        file.users += 1
        working = asyncio.get_running_loop().run_in_executor(self._executor, work)
        begun.add(working)

        def done(_: asyncio.Future[None]) -> None:
            file.users -= 1
            begun.discard(working)
            if begun is self._closing:
                self._let_go(file)

        working.add_done_callback(done)

    async def _in_thread(self, work: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._executor, work)

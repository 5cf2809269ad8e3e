"""The scopes a process has in memory: whose turn it is at each, and a bounded number of snapshots."""

import asyncio
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memory.stores.postgres_server import Server
from memory.stores.postgres_snapshot import Snapshot, brought_up, covers, look


@dataclass(slots=True)
class Scope:
    """One scope as this process knows it.

    Writers of the process wait here for each other, not with a connection in their hands: a crowd at one scope would
    leave none to the others.
    """

    key: str
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the snapshot is replaced, and while what was counted is shown in it: neither loses the other."""
    users: int = 0
    snapshot: Snapshot | None = None

    @property
    def weight(self) -> int:
        return 0 if self.snapshot is None else self.snapshot.weight


class Scopes:
    """By scope key, those in use and those used last; beyond ``records`` in their snapshots the others are let go."""

    def __init__(self, records: int) -> None:
        self._records = records
        self._scopes: OrderedDict[str, Scope] = OrderedDict()
        self._weight = 0

    def __len__(self) -> int:
        return len(self._scopes)

    @property
    def weight(self) -> int:
        """Of the scopes that nobody uses right now."""
        return self._weight

    @contextmanager
    def at(self, scope_key: str) -> Generator[Scope]:
        """The scope, kept for the length of the block at least."""
        scope = self._scopes.get(scope_key)
        if scope is None:
            scope = self._scopes[scope_key] = Scope(scope_key)
        elif not scope.users:
            self._weight -= scope.weight
        self._scopes.move_to_end(scope_key)
        scope.users += 1
        try:
            yield scope
        finally:
            scope.users -= 1
            if not scope.users:
                self._leave(scope)

    async def forget(self, scope_key: str) -> None:
        """Let go of what is in memory of a scope. Who is just ranking it lets go in a moment."""
        with self.at(scope_key) as scope:
            async with scope.loading:
                scope.snapshot = None

    async def forget_all(self) -> None:
        for scope_key in list(self._scopes):
            await self.forget(scope_key)

    def _leave(self, scope: Scope) -> None:
        self._weight += scope.weight
        if scope.snapshot is None:
            del self._scopes[scope.key]
        while self._weight > self._records:
            oldest = next(each for each in self._scopes.values() if not each.users)
            self._weight -= oldest.weight
            del self._scopes[oldest.key]


async def current(server: Server, scope: Scope) -> Snapshot | None:
    """The scope as it is now; ``None`` when nothing was ever written to it. Raises ``StaleTermsError``."""
    while True:
        known = _usable(server, scope)
        if known is None:
            async with scope.loading:
                if _usable(server, scope) is None:
                    return await _load(server, scope)
            continue
        seen = await server.read(lambda connection, known=known: look(connection, scope.key, known))
        if seen is not None and covers(known, seen):
            return known
        async with scope.loading:
            latest = _usable(server, scope) or known
            if seen is not None and covers(latest, seen):
                return latest
            scope.snapshot = None if seen is None else brought_up(latest, seen, scope.key, server.breaks)
            if seen is None or scope.snapshot is not None:
                return scope.snapshot


def _usable(server: Server, scope: Scope) -> Snapshot | None:
    """The snapshot unless a connection was lost since: the server that answers now may not be the one that did."""
    snapshot = scope.snapshot
    return None if snapshot is None or snapshot.breaks != server.breaks else snapshot


async def _load(server: Server, scope: Scope) -> Snapshot | None:
    breaks = server.breaks
    seen = await server.read(lambda connection: look(connection, scope.key, None))
    scope.snapshot = None if seen is None else brought_up(None, seen, scope.key, breaks)
    return scope.snapshot

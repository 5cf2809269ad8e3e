"""In-process, SQLite and PostgreSQL stores agree with a plain list over any history of what can happen to them.

The model is written from the specification, not with the engine: rows of a list, its own tokenizer, score and key.
"""

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from memory.gate import tells_status
from memory.record import MemoryCandidate
from memory.store import EraseReceipt, KeyReusedError, MemoryStore, Query
from tests.memory_model import CAP, Model, clean, seen, told, words_of
from tests.memory_records import Shelf, StoppedClock, searched
from tests.memory_records import standing as standing_of

Result = TypeVar("Result")

SCOPES = ("org:acme", "user:slack:U1")
KEYS = ("k1", "k2")
THREADS = ("slack:C1:1.0", "slack:C1:2.0", "t\x00\ud800")
WORDS = ("deploy", "DEPLOY", "on", "friday", "not", "café", "42", "東京", "\x00", "\ud83d", '"a', "OR", "")

PASSING = ("PR #12 is in review", "The PR is merged")


def is_said(text: str) -> bool:
    """Whether anything is left of it to keep."""
    return bool(clean(text).strip())


texts = (
    st.sampled_from(PASSING)
    | st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join).filter(is_said)
    | st.text(min_size=1, max_size=20).filter(is_said)
)
pointers = st.none() | st.just("") | st.builds("mem:{}:{}".format, st.sampled_from(SCOPES), st.integers(0, 11))
candidates = st.builds(
    MemoryCandidate,
    kind=st.sampled_from(("fact", "summary")),
    text=texts,
    source_thread_key=st.sampled_from(THREADS),
    keywords=st.none() | st.lists(st.sampled_from(WORDS[:-1]), max_size=3).map(tuple),
    confidence=st.none() | st.sampled_from((0.0, 0.5, 1.0)),
    supersedes=pointers,
    restates=pointers,
    is_standing=st.booleans(),
)


class StoreHistory(RuleBasedStateMachine):
    """One history told to a store and to the model."""

    kind: Literal["inprocess", "sqlite", "postgres"]

    @initialize()
    def begin(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self.clock = StoppedClock()
        self.shelf = Shelf(f"{self.kind}-keyword", Path(self._folder.name) / "memory", self.clock)
        self.models = {scope: Model(scope) for scope in SCOPES}
        self.store: MemoryStore = self._open()

    def teardown(self) -> None:
        if hasattr(self, "store"):
            for scope, model in self.models.items():
                self._agree(scope, model)
            self.run(self._stack.aclose())
            self._runner.close()
            self._folder.cleanup()

    def run(self, call: Coroutine[object, object, Result]) -> Result:
        async def bounded() -> Result:
            async with asyncio.timeout(20):
                return await call

        return self._runner.run(bounded())

    def _open(self) -> MemoryStore:
        return self.run(self._stack.enter_async_context(self.shelf.open(cap=CAP)))

    def _agree(self, scope: str, model: Model) -> None:
        newest_first = [told(row) for row in reversed(model.active())]
        assert [seen(record) for record in self.run(self.store.list(scope, 100))] == newest_first
        standing = [row.number for row in reversed(model.active()) if row.is_standing]
        assert [record.sequence for record in self.run(standing_of(self.store, scope, 3))] == standing[:3]

    @rule(scope=st.sampled_from(SCOPES), batch=st.lists(candidates, min_size=1, max_size=5))
    def write(self, scope: str, batch: list[MemoryCandidate]) -> None:
        expected = self.models[scope].write(batch, self.clock.at)
        assert self.run(self.store.write(scope, batch)) == expected
        self._agree(scope, self.models[scope])

    @rule(scope=st.sampled_from(SCOPES), key=st.sampled_from(KEYS), batch=st.lists(candidates, min_size=1, max_size=2))
    def write_with_a_key(self, scope: str, key: str, batch: list[MemoryCandidate]) -> None:
        model = self.models[scope]
        earlier = model.earlier(key, self.clock.at)
        call = self.store.write(scope, batch, idempotency_key=key)
        if earlier is None:
            model.applied[key] = (batch, self.clock.at, model.write(batch, self.clock.at))
            assert self.run(call) == model.applied[key][-1]
        elif earlier[0] == batch:
            assert self.run(call) == earlier[-1]
        else:
            with pytest.raises(KeyReusedError):
                self.run(call)
        self._agree(scope, model)

    @rule(scope=st.sampled_from(SCOPES), key=st.sampled_from(KEYS))
    def write_again(self, scope: str, key: str) -> None:
        """What came with the key before, long ago or erased since as it may be."""
        if key in self.models[scope].applied:
            self.write_with_a_key(scope, key, self.models[scope].applied[key][0])

    @rule(scope=st.sampled_from(SCOPES), dry_run=st.booleans())
    def sweep(self, scope: str, dry_run: bool) -> None:  # noqa: FBT001 - a parameter of the rule
        rows = [row for row in self.models[scope].active() if tells_status(row.kind, row.text)]
        assert list(self.run(self.store.sweep(scope, dry_run=dry_run))) == [f"mem:{scope}:{row.number}" for row in rows]
        for row in () if dry_run else rows:
            row.status = "swept"

    @rule(scope=st.sampled_from(SCOPES), query=texts, limit=st.integers(0, 4), at_once=st.booleans())
    def search(self, scope: str, query: str, limit: int, at_once: bool) -> None:  # noqa: FBT001 - a parameter of the rule
        rows = self.models[scope].search(query, limit, self.clock.at)
        self.models[scope].count_use(rows, self.clock.at)
        asked = Query(query, limit)
        found = self.run(searched(self.store, scope, asked) if at_once else self.store.retrieve(scope, asked))
        assert [seen(hit.record) for hit in found.hits] == [told(row) for row in rows]

    @rule(scope=st.sampled_from(SCOPES), at_once=st.booleans())
    def search_for_what_is_there(self, scope: str, at_once: bool) -> None:  # noqa: FBT001 - a parameter of the rule
        self.search(scope, "deploy on friday, not 42 or deploy", 4, at_once)

    # Words of other scripts are compared as terms, which the model knows nothing of.
    @rule(scope=st.sampled_from(SCOPES), query=texts.filter(words_of), before=st.none() | st.integers(0, 12))
    def look_through(self, scope: str, query: str, before: int | None) -> None:
        asked = words_of(query)
        expected = [
            row.number
            for row in reversed(self.models[scope].active())
            if row.kind == "fact"
            and any(word in row.known for word in asked)
            and (before is None or row.number < before)
        ]
        shown = self.run(self.store.list(scope, 3, query=query, kind="fact", before=before))
        assert [record.sequence for record in shown] == expected[:3]

    @rule(scope=st.sampled_from(SCOPES), name=pointers)
    def forget(self, scope: str, name: str | None) -> None:
        row = self.models[scope].named(name)
        assert self.run(self.store.forget(scope, name or "")) is (row is not None)
        if row is not None:
            row.status = "forgotten"

    @rule(scope=st.sampled_from(SCOPES), name=pointers)
    def erase_one(self, scope: str, name: str | None) -> None:
        model = self.models[scope]
        gone = [row for row in model.rows if name == f"mem:{scope}:{row.number}"]
        assert self.run(self.store.erase(scope, name or "")) == model.erase(gone)

    @rule(scope=st.sampled_from(SCOPES))
    def erase_scope(self, scope: str) -> None:
        model = self.models[scope]
        assert self.run(self.store.erase(scope)) == model.erase(model.rows)
        model.next_number = 0

    @rule(thread=st.sampled_from(THREADS))
    def erase_thread(self, thread: str) -> None:
        expected = EraseReceipt()
        for model in self.models.values():
            expected += model.erase([row for row in model.rows if row.thread == clean(thread)])
        assert self.run(self.store.erase_thread(thread)) == expected

    @rule(scope=st.sampled_from(SCOPES), names=st.lists(pointers, max_size=5))
    def fetch(self, scope: str, names: list[str | None]) -> None:
        rows = [self.models[scope].named(name) for name in dict.fromkeys(names)]
        records = self.run(self.store.get(scope, [name or "" for name in names]))
        assert [seen(record) for record in records] == [told(row) for row in rows if row is not None]

    @rule(hours=st.integers(1, 400))
    def wait(self, hours: int) -> None:
        self.clock.pass_by(timedelta(hours=hours))


class InProcessHistory(StoreHistory):
    kind = "inprocess"


class SqliteHistory(StoreHistory):
    kind = "sqlite"

    @rule()
    def reopen(self) -> None:
        """A restart loses nothing."""
        self.run(self._stack.aclose())
        self._stack = AsyncExitStack()
        self.store = self._open()
        for scope, model in self.models.items():
            self._agree(scope, model)


class PostgresHistory(SqliteHistory):
    kind = "postgres"


pytestmark = pytest.mark.unfollowed
"""Histories are thousands of calls that the suites of the stores make one by one."""
_slow = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
TestInProcessHistory = InProcessHistory.TestCase
TestInProcessHistory.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=_slow
)
TestSqliteHistory = SqliteHistory.TestCase
TestSqliteHistory.settings = settings(
    max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=_slow
)
TestPostgresHistory = PostgresHistory.TestCase
TestPostgresHistory.settings = settings(
    max_examples=8, stateful_step_count=25, deadline=None, suppress_health_check=_slow
)

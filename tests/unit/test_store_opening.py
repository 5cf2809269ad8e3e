"""Which store a bot remembers in (specification, sections 20 and 29)."""

from pathlib import Path

import pytest

from memory.record import WriteCounts
from memory.store import MemoryStore
from memory.stores.inprocess import InProcessStore
from memory.stores.null import NullStore
from memory.stores.opening import Choice, StoreKind, StoreRefusedError, StoreWish, choose, open_store, scope_cap
from memory.stores.remote import RemoteStore
from memory.stores.remote_trust import Credentials
from memory.stores.sqlite import SqliteStore
from tests.memory_records import EPOCH, ORG, fact, files_under
from tests.memory_servers import answer, scripted

WORKER = "https://memory.example"
TOKEN = "a-token-nobody-guesses"
PASSWORD = "a-password-nobody-guesses"
URL = f"postgresql://ada:{PASSWORD}@db.example/memory"


def test_off_means_no_store_and_no_word_about_it() -> None:
    """Criterion: Startup selection: disabled → none."""
    wish = StoreWish(enabled=False, store="postgres", worker_base_url=WORKER, max_records_per_scope=0)
    assert choose(wish) == Choice(StoreKind.NULL)


def test_the_durable_store_is_the_rule() -> None:
    assert choose(StoreWish(enabled=True)) == Choice(StoreKind.SQLITE)
    assert choose(StoreWish(enabled=True, store="sqlite", worker_base_url=WORKER)) == Choice(StoreKind.SQLITE)


@pytest.mark.parametrize("store", ["auto", "remote"])
def test_a_worker_with_its_bearer_is_the_remote_store(store: str) -> None:
    """Criterion: worker + bearer → WorkerMemoryStore."""
    wish = StoreWish(enabled=True, store=store, worker_base_url=f"{WORKER}/", worker_token=TOKEN, postgres_url=URL)
    choice = choose(wish)
    assert choice == Choice(StoreKind.REMOTE, address=WORKER, credentials=Credentials(TOKEN))
    assert not any(secret in f"{wish}{choice}" for secret in (TOKEN, PASSWORD))


@pytest.mark.parametrize("base_url", ["https://ada:pw@memory.example", "https://memory.example:0", "postgresql://h/d"])
def test_a_worker_at_no_address_is_refused_in_a_sentence(base_url: str) -> None:
    with pytest.raises(StoreRefusedError, match=r"memory\.worker\.base_url") as refused:
        choose(StoreWish(enabled=True, worker_base_url=base_url, worker_token=TOKEN))
    assert base_url not in str(refused.value)


def test_a_database_is_chosen_by_name() -> None:
    wish = StoreWish(enabled=True, store="postgres", postgres_url=URL, max_records_per_scope=9)
    assert choose(wish) == Choice(StoreKind.POSTGRES, 9, address=URL)
    assert PASSWORD not in f"{wish}{choose(wish)}"


@pytest.mark.parametrize("url", [None, "", "db.example/memory", WORKER, f"postgresql://u:{'p@ss/w'}@h/d"])
def test_a_database_without_a_proper_address_is_refused_in_a_sentence(url: str | None) -> None:
    with pytest.raises(StoreRefusedError, match=r"memory\.postgres\.url") as refused:
        choose(StoreWish(enabled=True, store="postgres", postgres_url=url))
    assert "p@ss" not in str(refused.value)


def test_a_database_that_is_not_used_is_told() -> None:
    choice = choose(StoreWish(enabled=True, postgres_url=URL))
    assert choice.kind is StoreKind.SQLITE
    assert "memory.postgres.url" in choice.warnings[0]


@pytest.mark.parametrize("store", ["auto", "remote"])
def test_a_worker_without_its_bearer_is_told_by_the_variables_name(store: str) -> None:
    """Criterion: custom tokenEnv; missing bearer → a warning naming the env var."""
    wish = StoreWish(enabled=True, store=store, worker_base_url=WORKER, worker_token_env="OUR_TOKEN")
    choice = choose(wish)
    assert choice.kind is StoreKind.SQLITE
    [warning] = choice.warnings
    assert "OUR_TOKEN" in warning


def test_a_remote_store_without_an_address_is_told() -> None:
    choice = choose(StoreWish(enabled=True, store="remote", worker_token=TOKEN))
    assert choice.kind is StoreKind.SQLITE
    assert "memory.worker.base_url" in choice.warnings[0]


def test_the_dictionary_warns_that_a_restart_forgets() -> None:
    """Criterion: no worker → in-process + a warning naming the restart loss."""
    choice = choose(StoreWish(enabled=True, store="inprocess", max_records_per_scope=7))
    assert (choice.kind, choice.cap) == (StoreKind.INPROCESS, 7)
    assert "restart" in choice.warnings[0]


@pytest.mark.parametrize("store", ["redis", ""])
def test_a_store_that_is_not_there_is_refused_in_a_sentence(store: str) -> None:
    with pytest.raises(StoreRefusedError, match=r"memory\.store"):
        choose(StoreWish(enabled=True, store=store))


@pytest.mark.parametrize("cap", [0, -1, 10_001, 1.5, float("nan"), "500", True, None])
def test_a_cap_out_of_range_warns_and_the_default_governs(cap: object) -> None:
    """Criterion: An out-of-range / non-integer maxRecordsPerScope warns naming the key and the default (section 29)."""
    choice = choose(StoreWish(enabled=True, max_records_per_scope=cap))
    assert choice.cap == 500
    [warning] = choice.warnings
    assert "memory.max_records_per_scope" in warning
    assert "500" in warning


@pytest.mark.parametrize("cap", [1, 500, 10_000])
def test_a_cap_in_range_is_taken(cap: int) -> None:
    assert scope_cap(cap) == (cap, ())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(StoreKind.NULL, NullStore), (StoreKind.INPROCESS, InProcessStore), (StoreKind.SQLITE, SqliteStore)],
)
async def test_the_chosen_store_is_opened_with_its_cap(tmp_path: Path, kind: StoreKind, expected: type[object]) -> None:
    """Criterion: Startup wiring: memory.maxRecordsPerScope reaches the store (a write past it evicts)."""
    store = await opened(Choice(kind, cap=1), tmp_path)
    try:
        assert isinstance(store, expected)
        counts = await store.write(ORG, [fact("one"), fact("two")])
        assert counts == (WriteCounts() if kind is StoreKind.NULL else WriteCounts(inserted=2, evicted=1))
        assert bool(files_under(tmp_path / "memory")) == (expected is SqliteStore)
    finally:
        await store.aclose()


async def test_the_remote_store_sends_its_cap_and_its_bearer(tmp_path: Path) -> None:
    async with scripted(answer({"ok": True, "inserted": 1})) as remote:
        choice = Choice(StoreKind.REMOTE, cap=7, address=remote.service.base_url, credentials=Credentials(TOKEN))
        store = await opened(choice, tmp_path)
        assert isinstance(store, RemoteStore)
        assert await store.write(ORG, [fact("one")]) == WriteCounts(inserted=1)
        await store.aclose()
        assert remote.last.body["cap"] == 7
        assert remote.last.headers["authorization"] == f"Bearer {TOKEN}"
    assert files_under(tmp_path) == {}


async def opened(choice: Choice, folder: Path) -> MemoryStore:
    return await open_store(choice, directory=folder / "memory", ranker="keyword", now=lambda: EPOCH)

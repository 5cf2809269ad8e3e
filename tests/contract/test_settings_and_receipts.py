"""What every adapter of preferences and of receipts promises: in process, over SQLite and over PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
import structlog
from sqlalchemy import Connection, delete, func, insert, select

from app.state.engine import Database
from app.state.errors import StateError
from app.state.opening import open_database
from app.state.preferences import StatePreferences
from app.state.receipts import RECEIPT_LOST, StateReceipts
from app.state.tables import overrides, receipts
from commands.errors import ConflictError, UnavailableError
from commands.ports import Preferences, Receipt, Receipts
from commands.preferences import Layer, Name, Setting, Slot
from commands.receipts import InProcessReceipts
from commands.registry import Registry
from tests.command_house import NOON, HouseRules, Recorder, a_caller, noon, runs_list
from tests.conversation_house import InProcessPreferences
from tests.state_databases import PostgresServer

MINE = Slot(Layer.USER, "slack:U1", Name.EFFORT)
HERE = {Layer.THREAD: "slack:C1:1.0", Layer.USER: "slack:U1", Layer.CHANNEL: "slack:C1"}
BY = "slack:U1"
SHOWN = Receipt("config.set", "slack:U1", True, "set effort of user", NOON)


@dataclass(frozen=True, slots=True)
class Adapters:
    preferences: Preferences
    receipts: Receipts


@pytest.fixture(params=["in process", "sqlite", "postgresql"])
def kept_at(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """The URL of an empty database; ``None`` for the adapters without one."""
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.new()
    return None if request.param == "in process" else f"sqlite:///{tmp_path / 'state.db'}"


@pytest.fixture
async def adapters(kept_at: str | None) -> AsyncIterator[Adapters]:
    if kept_at is None:
        yield Adapters(InProcessPreferences(), InProcessReceipts(most=5))
        return
    async with open_database(kept_at) as database:
        yield Adapters(StatePreferences(database, noon), StateReceipts(database, most=5))


async def put(preferences: Preferences, slot: Slot, value: str, version: int = 0) -> Setting:
    return await preferences.set(slot, value, expected_version=version, by=BY)


async def test_what_is_set_during_a_slow_look_is_found_by_the_next_one(tmp_path: Path) -> None:
    async with open_database(f"sqlite:///{tmp_path / 'state.db'}") as database:
        preferences = StatePreferences(database, noon)
        read, has_read, may_go_on = database.read, asyncio.Event(), asyncio.Event()

        async def slow(step: Callable[[Connection], list[Setting]]) -> list[Setting]:
            found = await read(step)
            has_read.set()
            await may_go_on.wait()
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "read", slow)
            looking = asyncio.create_task(preferences.get({Layer.USER: MINE.subject}))
            await has_read.wait()
            made = await put(preferences, MINE, "high")
            may_go_on.set()
            assert await looking == []
        assert await preferences.get({Layer.USER: MINE.subject}) == [made]


async def test_who_never_set_anything_is_not_asked_for(tmp_path: Path) -> None:
    async with open_database(f"sqlite:///{tmp_path / 'state.db'}") as database:
        looks: list[object] = []
        read = database.read

        async def counted(step: Callable[[Connection], list[Setting]]) -> list[Setting]:
            looks.append(step)
            return await read(step)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "read", counted)
            preferences = StatePreferences(database, noon)
            for number in range(3):
                assert await preferences.get({Layer.USER: MINE.subject, Layer.THREAD: f"slack:C1:{number}.0"}) == []
            assert len(looks) == 1
            made = await put(preferences, MINE, "high")
            for number in range(3):
                here = {Layer.USER: MINE.subject, Layer.THREAD: f"slack:C1:{number}.0"}
                assert await preferences.get(here) == [made]
            assert len(looks) == 3


async def test_what_is_set_is_found_by_its_subject_and_by_no_other(adapters: Adapters) -> None:
    slots = [Slot(layer, subject, Name.MODEL) for layer, subject in HERE.items()]
    for number, slot in enumerate(slots):
        assert await put(adapters.preferences, slot, f"test/{number}") == Setting(slot, f"test/{number}", 1)
    strangers = [replace(slots[1], subject="slack:U2"), replace(slots[2], subject="slack:U1")]
    for stranger in strangers:
        await put(adapters.preferences, stranger, "test/other")
    found = await adapters.preferences.get(HERE)
    assert {each.slot: each.value for each in found} == {slot: f"test/{n}" for n, slot in enumerate(slots)}
    assert [each.slot for each in await adapters.preferences.get({Layer.USER: "slack:U2"})] == [strangers[0]]
    assert await adapters.preferences.get({}) == []
    assert await adapters.preferences.get({Layer.USER: "slack:U3"}) == []


async def test_names_are_kept_beside_each_other_and_text_as_it_is(adapters: Adapters) -> None:
    text = "it's; DROP TABLE overrides --\n\n„so“ \U0001f600"
    for name in Name:
        await put(adapters.preferences, replace(MINE, name=name), text)
    found = await adapters.preferences.get({Layer.USER: "slack:U1"})
    assert {each.slot.name for each in found} == set(Name)
    assert {each.value for each in found} == {text}


async def test_a_change_counts_only_at_the_version_it_was_made_for(adapters: Adapters) -> None:
    preferences = adapters.preferences
    await put(preferences, MINE, "low")
    for version in (0, 2, 7):
        with pytest.raises(ConflictError):
            await put(preferences, MINE, "high", version)
        with pytest.raises(ConflictError):
            await preferences.clear(MINE, expected_version=version, by=BY)
    assert await preferences.get({Layer.USER: "slack:U1"}) == [Setting(MINE, "low", 1)]
    with pytest.raises(ConflictError):
        await put(preferences, replace(MINE, subject="slack:U2"), "low", 3)
    assert await put(preferences, MINE, "high", 1) == Setting(MINE, "high", 2)


async def test_a_cleared_setting_counts_on_so_that_an_old_version_never_fits_again(adapters: Adapters) -> None:
    preferences = adapters.preferences
    await put(preferences, MINE, "low")
    assert await preferences.clear(MINE, expected_version=1, by=BY) == Setting(MINE, None, 2)
    assert await preferences.get({Layer.USER: "slack:U1"}) == [Setting(MINE, None, 2)]
    for version in (0, 1):
        with pytest.raises(ConflictError):
            await put(preferences, MINE, "high", version)
    assert await put(preferences, MINE, "high", 2) == Setting(MINE, "high", 3)


async def test_of_many_changes_at_once_exactly_one_counts(adapters: Adapters) -> None:
    for version in (0, 1):
        values = [f"test/{version}{n}" for n in range(8)]
        changes = [put(adapters.preferences, MINE, value, version) for value in values]
        outcomes = await asyncio.gather(*changes, return_exceptions=True)
        (won,) = [each for each in outcomes if isinstance(each, Setting)]
        assert sum(isinstance(each, ConflictError) for each in outcomes) == 7
        assert await adapters.preferences.get({Layer.USER: "slack:U1"}) == [won]


async def test_receipts_are_told_newest_first_and_the_oldest_make_room(adapters: Adapters) -> None:
    made = [replace(SHOWN, is_ok=n % 2 == 0, summary=f"{n}", at=NOON + timedelta(seconds=n)) for n in range(8)]
    for receipt in made:
        await adapters.receipts.keep(receipt)
    assert list(await adapters.receipts.latest(2)) == [made[7], made[6]]
    assert list(await adapters.receipts.latest(99)) == made[:2:-1]
    for nothing in (0, -1):
        assert list(await adapters.receipts.latest(nothing)) == []


async def test_a_command_that_writes_leaves_its_receipt_in_the_database(database: Database) -> None:
    kept = StateReceipts(database)
    write = runs_list(Recorder(), id="runs.stop", effect="write")
    registry = Registry([write], HouseRules(), now=noon, receipts=kept)
    assert (await registry.run_line("runs stop me", a_caller())).is_ok
    assert await kept.latest(5) == [Receipt("runs.stop", "slack:U1", True, "ok", NOON)]


async def test_who_changed_what_and_when_stands_in_the_row(database: Database) -> None:
    await put(StatePreferences(database, noon), MINE, "low")
    row = await database.read(lambda connection: connection.execute(select(overrides)).one())
    assert tuple(row) == ("user", "slack:U1", "effort", "low", 1, BY, NOON)


async def test_names_of_a_newer_version_are_passed_over(database: Database) -> None:
    values = {"layer": "user", "subject": "slack:U1", "name": "mood", "value": "x", "version": 1}
    content = values | {"updated_by": BY, "updated_at": NOON}
    await database.write(lambda connection: connection.execute(insert(overrides).values(content)))
    assert await StatePreferences(database, noon).get(HERE) == []


async def test_settings_outlive_the_process(migrated_url: str) -> None:
    async with open_database(migrated_url) as database:
        await put(StatePreferences(database, noon), MINE, "low")
        await StateReceipts(database).keep(SHOWN)
    async with open_database(migrated_url) as database:
        assert await StatePreferences(database, noon).get(HERE) == [Setting(MINE, "low", 1)]
        assert await StateReceipts(database).latest(1) == [SHOWN]


async def test_a_database_that_cannot_be_used_is_told_and_no_command_fails_for_its_receipt(migrated_url: str) -> None:
    async with open_database(migrated_url) as database:
        preferences, kept = StatePreferences(database, noon), StateReceipts(database)
    for attempt in (preferences.get(HERE), put(preferences, MINE, "low"), put(preferences, MINE, "low", 1)):
        with pytest.raises(UnavailableError, match="settings could not be reached"):
            await attempt
    write = runs_list(Recorder(), id="runs.stop", effect="write")
    with structlog.testing.capture_logs() as lines:
        result = await Registry([write], HouseRules(), now=noon, receipts=kept).run_line("runs stop me", a_caller())
    assert result.is_ok
    assert [line["command"] for line in lines if line["event"] == RECEIPT_LOST] == ["runs.stop"]
    with pytest.raises(StateError):
        await kept.latest(1)


async def test_old_receipts_go_though_ids_have_gaps(database: Database) -> None:
    kept = StateReceipts(database, most=3)
    for number in range(3):
        await kept.keep(replace(SHOWN, summary=f"{number}"))
    await database.write(lambda connection: connection.execute(delete(receipts).where(receipts.c.summary == "1")))
    await kept.keep(SHOWN)
    count = await database.read(lambda connection: connection.scalar(select(func.count()).select_from(receipts)))
    assert count == 2

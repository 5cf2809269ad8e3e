"""Whether a state database is sound: seen at the start, told apart, mended where only the index is damaged.

Session lifecycle, appendix: state database and FTS recovery.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest
import structlog
from sqlalchemy import Connection, event, insert, text

from app.errors import ConfigurationError
from app.state import full_text
from app.state.checking import Condition, Report, examine, probe, refuse_damaged_pages
from app.state.engine import REBUILD_EVERY_S, STATE_INDEX_REBUILT, Database
from app.state.errors import StateBusyError, StateDamagedError, StateIndexDamagedError
from app.state.migrating import upgrade
from app.state.opening import engine_of, open_database
from app.state.repairing import check
from app.state.tables import transcript
from app.state.writing import WRITES
from tests.fakes import ManualClock
from tests.state_damage import (
    LINES,
    changed,
    content_of,
    filled,
    leaves,
    line,
    overwrite,
    replaced,
    root,
    truncate,
    url_of,
)
from tests.state_databases import disposing


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return filled(tmp_path / "state.db")


Damage = Callable[[Path], None]

UNUSABLE = "UPDATE transcript_fts_data SET block = x'457c769f39d8644199c0e5bdbcfbc85b37ce91cb' WHERE id = 10"
INDEX_DAMAGE: dict[str, Damage] = {
    "words are gone": lambda file: changed(file, "DELETE FROM transcript_fts_data WHERE id > 10"),
    "words are noise": lambda file: changed(
        file, "UPDATE transcript_fts_data SET block = substr(x'AB' || block, 1, length(block)) WHERE id > 10"
    ),
    "its structure is gone": lambda file: changed(file, "DELETE FROM transcript_fts_data WHERE id = 10"),
    "its structure is noise": lambda file: changed(file, UNUSABLE),
    "its structure is noise that asks for memory": lambda file: changed(
        file, "UPDATE transcript_fts_data SET block = x'74527d76545aa91b7bbbfa96c00397bf1bc6eec7' WHERE id = 10"
    ),
    "its settings are gone": lambda file: changed(file, "DELETE FROM transcript_fts_config"),
    "one of its tables is gone": lambda file: changed(file, "DROP TABLE transcript_fts_config"),
    "its words' table is gone": lambda file: changed(file, "DROP TABLE transcript_fts_data"),
    "it is gone": lambda file: changed(file, "DROP TABLE transcript_fts"),
    "new rows do not reach it": lambda file: changed(file, "DROP TRIGGER transcript_fts_insert"),
    "changes do not reach it": lambda file: changed(file, "DROP TRIGGER transcript_fts_update"),
    "the newest row is not in it": lambda file: changed(
        file,
        "INSERT INTO transcript_fts(transcript_fts, rowid, content) SELECT 'delete', id, content FROM transcript"
        " WHERE id = (SELECT max(id) FROM transcript)",
    ),
}

STRUCTURAL_DAMAGE: dict[str, Damage] = {
    "a page of the transcript is noise": lambda file: overwrite(file, leaves(file, "transcript")[3]),
    "the transcript's root is noise": lambda file: overwrite(file, root(file, "transcript")),
    "a page of an index is noise": lambda file: overwrite(
        file, leaves(file, "ix_transcript_session_id_is_active_id")[1]
    ),
    "a page below the full-text index is noise": lambda file: overwrite(file, leaves(file, "transcript_fts_data")[-1]),
    "the first page is noise": lambda file: overwrite(file, 1),
    "the end is missing": lambda file: truncate(file, pages=10),
    "everything is missing": lambda file: replaced(file, b""),
    "it is another kind of file": lambda file: replaced(file, b"hello " * 2_000),
}


async def test_what_was_said_is_for_the_bots_own_account_alone(tmp_path: Path) -> None:
    await asyncio.to_thread(tmp_path.chmod, 0o755)
    async with open_database(f"sqlite:///{tmp_path / 'state.db'}"):
        files = await asyncio.to_thread(lambda: sorted(tmp_path.glob("state.db*")))
        assert [file.stat().st_mode & 0o777 for file in files] == [0o600] * len(files)
        assert "state.db-wal" in {file.name for file in files}


async def test_a_sound_database_is_found_sound_and_left_alone(file: Path) -> None:
    before = content_of(file)
    assert (await checked(file)).condition is Condition.SOUND
    async with open_database(url_of(file)):
        pass
    assert content_of(file) == before


@pytest.mark.parametrize("name", INDEX_DAMAGE)
async def test_a_damaged_index_is_told_apart_and_made_anew_at_the_start(file: Path, name: str) -> None:
    INDEX_DAMAGE[name](file)
    assert (await checked(file)).condition is Condition.INDEX_DAMAGED
    with structlog.testing.capture_logs() as lines:
        async with open_database(url_of(file)) as database:
            assert await database.read(count) == LINES
    assert [line["event"] for line in lines] == [STATE_INDEX_REBUILT]
    assert (await checked(file)).condition is Condition.SOUND


async def checked(file: Path) -> Report:
    return await asyncio.to_thread(check, url_of(file))


def count(connection: Connection) -> int:
    return connection.execute(text("SELECT count(*) FROM transcript")).scalar_one()


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("migrated") / "state.db"
    with disposing(engine_of(url_of(file))) as engine:
        upgrade(engine)
    return file


@pytest.mark.parametrize("name", INDEX_DAMAGE)
def test_an_index_made_anew_is_the_one_the_migrations_make(file: Path, migrated: Path, name: str) -> None:
    INDEX_DAMAGE[name](file)
    with disposing(engine_of(url_of(file))) as engine:
        full_text.mend(engine.execution_options(**{WRITES: True}))
        with engine.begin() as connection:
            full_text.renew(connection)
    assert schema(file) == schema(migrated)


def schema(file: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE 'transcript_fts%'").fetchall()
        return {(name, "".join((sql or "").split())) for name, sql in found}


@pytest.mark.parametrize("name", STRUCTURAL_DAMAGE)
async def test_structural_damage_closes_with_the_command_that_repairs_it(file: Path, name: str) -> None:
    """Nothing is written to it any more, the index least of all."""
    STRUCTURAL_DAMAGE[name](file)
    before = content_of(file)
    assert (await checked(file)).condition is Condition.DAMAGED
    with pytest.raises(StateDamagedError, match="stop the bot and run: switchboard state repair ") as told:
        async with open_database(url_of(file)):
            pass
    assert str(told.value).endswith(str(file))
    assert content_of(file) == before


async def test_the_command_survives_a_shell(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    replaced(tmp_path / "a folder" / "state.db", b"")
    with pytest.raises(StateDamagedError, match=r"switchboard state repair '/.*/a folder/state.db'$"):
        async with open_database(f"sqlite:///{tmp_path}/a folder/state.db"):
            pass


def test_findings_say_where_and_never_what_was_said(file: Path) -> None:
    changed(file, "PRAGMA foreign_keys = OFF", "DELETE FROM sessions WHERE session_id = 's1'")
    overwrite(file, leaves(file, "ix_transcript_session_id_is_active_id")[1])
    report = check(url_of(file))
    assert report.condition is Condition.DAMAGED
    assert report.findings
    assert "word" not in str(report.findings)


def test_rows_without_an_owner_are_a_finding(file: Path) -> None:
    changed(file, "DELETE FROM sessions WHERE session_id = 's1'")
    report = check(url_of(file))
    assert report.condition is Condition.DAMAGED
    assert report.findings == (
        "rows of routes refer to nothing in sessions; rows of transcript refer to nothing in sessions",
    )


def test_a_probe_leaves_nothing_behind(migrated_url: str) -> None:
    with disposing(engine_of(migrated_url)) as engine:
        assert probe(engine).condition is Condition.SOUND
        assert examine(engine).condition is Condition.SOUND
        with engine.connect() as connection:
            for table in ("sessions", "transcript"):
                assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0  # noqa: S608 - our own


def test_a_database_that_is_busy_is_not_called_damaged(file: Path) -> None:
    with disposing(engine_of(url_of(file))) as engine, closing(sqlite3.connect(file, isolation_level=None)) as other:

        def hurry(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute("PRAGMA busy_timeout = 20")

        event.listen(engine, "connect", hurry)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateBusyError):
            probe(engine)


@pytest.mark.parametrize("hand_in", [Database.write, Database.step])
async def test_an_index_damaged_while_the_bot_runs_is_made_anew_and_the_write_kept(
    file: Path, hand_in: Callable[[Database, Callable[[Connection], object]], Awaitable[object]]
) -> None:
    async with open_database(url_of(file)) as database:
        await hand_in(database, count)
        changed(file, UNUSABLE)
        with structlog.testing.capture_logs() as lines:
            await hand_in(database, saying("afterwards"))
        assert [line["event"] for line in lines] == [STATE_INDEX_REBUILT]
        assert await database.read(finding("afterwards")) == 1
        assert await database.read(finding("word1")) > 1


async def test_an_index_that_is_damaged_again_soon_has_another_cause(file: Path) -> None:
    """Making it anew again and again would only hide it."""
    clock = ManualClock()
    async with open_database(url_of(file), clock) as database:
        changed(file, UNUSABLE)
        await database.write(saying("first"))
        changed(file, UNUSABLE)
        clock.elapsed_s = REBUILD_EVERY_S - 1
        with pytest.raises(StateIndexDamagedError):
            await database.write(saying("second"))
        clock.elapsed_s = REBUILD_EVERY_S
        await database.write(saying("third"))
        assert [await database.read(finding(word)) for word in ("first", "second", "third")] == [1, 0, 1]


async def test_structural_damage_while_the_bot_runs_is_told_and_nothing_is_tried(file: Path) -> None:
    async with open_database(url_of(file)) as database:
        overwrite(file, leaves(file, "transcript")[-1])
        changed(file, "DELETE FROM receipts")
        with structlog.testing.capture_logs() as lines, pytest.raises(StateDamagedError) as told:
            await database.write(saying("lost"))
        assert not isinstance(told.value, StateIndexDamagedError)
        assert lines == []


def saying(word: str) -> Callable[[Connection], object]:
    return lambda connection: connection.execute(insert(transcript).values(line("s1", word)))


def finding(word: str) -> Callable[[Connection], int]:
    statement = text("SELECT count(*) FROM transcript_fts WHERE transcript_fts MATCH :word")
    return lambda connection: connection.execute(statement, {"word": word}).scalar_one()


def test_a_file_too_large_for_every_page_is_probed(file: Path) -> None:
    with disposing(engine_of(url_of(file))) as engine:
        overwrite(file, leaves(file, "transcript")[3])
        with pytest.raises(StateDamagedError):
            refuse_damaged_pages(engine, file)
        refuse_damaged_pages(engine, file, up_to_bytes=file.stat().st_size - 1)
        assert probe(engine).condition is Condition.SOUND


def test_an_earlier_schema_is_looked_at_and_a_later_one_left_alone(file: Path) -> None:
    changed(file, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ConfigurationError, match="newer than this program"):
        check(url_of(file))
    changed(file, "DELETE FROM alembic_version")
    assert check(url_of(file)) == Report()
    overwrite(file, leaves(file, "transcript")[3])
    assert check(url_of(file)).condition is Condition.DAMAGED


async def test_the_triggers_follow_deletions_that_a_session_takes_along(file: Path) -> None:
    async with open_database(url_of(file)) as database:
        await database.write(saying("alone"))
        for statement in ("DELETE FROM routes", "DELETE FROM sessions WHERE session_id = 's1'"):
            await database.write(executing(statement))
        assert await database.read(finding("alone")) == 0
    assert (await checked(file)).condition is Condition.SOUND


def executing(statement: str) -> Callable[[Connection], object]:
    return lambda connection: connection.execute(text(statement))

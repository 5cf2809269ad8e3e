"""Repairing a damaged state database: a backup first, the least destructive way that helps, never less than before.

Session lifecycle, appendix: state database and FTS recovery.
"""

import asyncio
import os
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from app.errors import ConfigurationError
from app.state.backups import KEPT, back_up, backups_of, require_room
from app.state.checking import Condition
from app.state.errors import StateFullError
from app.state.lock import hold
from app.state.migrating import newest, version_of
from app.state.opening import engine_of, open_database
from app.state.repairing import Outcome, check, repair
from tests.state_damage import (
    LINES,
    SESSIONS,
    changed,
    content_of,
    filled,
    leaves,
    overwrite,
    replaced,
    root,
    rows,
    said,
    truncate,
    url_of,
)
from tests.state_databases import MOMENT, disposing, noted, noting

INDEX = "ix_transcript_session_id_is_active_id"


HEADER = 100
"""Bytes at the beginning, among which SQLite counts changes: they differ in a copy."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return filled(tmp_path / "state.db")


def repaired(file: Path) -> Outcome:
    """Whatever was done, the backup is the file as it was, and nothing else is left behind."""
    before = content_of(file)
    outcome = repair(url_of(file), MOMENT)
    assert outcome.backup is not None
    assert content_of(outcome.backup)[HEADER:] == before[HEADER:]
    left = {path.name for path in file.parent.iterdir()} - {file.name, outcome.backup.name, f"{file.name}.lock"}
    assert left == set()
    return outcome


def kept(outcome: Outcome) -> dict[str, tuple[int, int | None]]:
    return {each.table: (each.kept, each.lost) for each in outcome.recovered}


def test_a_sound_database_is_left_alone(file: Path) -> None:
    before = content_of(file)
    outcome = repair(url_of(file), MOMENT)
    assert (outcome.report.condition, outcome.backup, outcome.way) == (Condition.SOUND, None, None)
    assert content_of(file) == before
    assert backups_of(file) == []


def test_an_index_that_lacks_rows_is_made_anew(file: Path) -> None:
    """No page of it is wrong, so that only a thorough look finds it."""
    with closing(sqlite3.connect(file)) as connection:
        entry = connection.execute("SELECT * FROM sqlite_master WHERE name = ?", (INDEX,)).fetchone()
    changed(file, "PRAGMA writable_schema = ON", f"DELETE FROM sqlite_master WHERE name = '{INDEX}'")  # noqa: S608 - a constant
    changed(file, "UPDATE transcript SET is_active = 0 WHERE id < 10")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", entry)
        connection.commit()
    outcome = repaired(file)
    assert outcome.way == "its indexes were made anew"
    assert check(url_of(file)).condition is Condition.SOUND
    assert rows(file, "transcript") == LINES


@pytest.mark.parametrize("index", [INDEX, "ix_routes_thread_key"])
def test_a_damaged_page_of_an_index_costs_no_row(file: Path, index: str) -> None:
    overwrite(file, leaves(file, index)[-1])
    outcome = repaired(file)
    assert {each.lost for each in outcome.recovered} == {0}
    assert check(url_of(file)).condition is Condition.SOUND
    assert rows(file, "transcript") == LINES


def test_a_damaged_full_text_index_costs_no_row(file: Path) -> None:
    changed(file, "DELETE FROM transcript_fts_data WHERE id = 10")
    outcome = repaired(file)
    assert outcome.way == "its full-text index was made anew"
    assert check(url_of(file)).condition is Condition.SOUND
    assert rows(file, "transcript") == LINES


def test_pages_below_the_full_text_index_cost_no_row_either(file: Path) -> None:
    overwrite(file, *leaves(file, "transcript_fts_data"), root(file, "transcript_fts_idx"))
    outcome = repaired(file)
    assert outcome.way == "its readable rows were carried over into a new file"
    assert kept(outcome)["transcript"] == (LINES, 0)
    assert check(url_of(file)).condition is Condition.SOUND


def test_rows_on_damaged_pages_are_lost_and_counted_and_all_others_kept(file: Path) -> None:
    """Session lifecycle, "State database and FTS recovery": what is canonical is what can be read of the tables."""
    damaged = [leaves(file, "transcript")[place] for place in (0, 3, 4, 9, -1)]
    held = sum(cells(file, page) for page in damaged)
    overwrite(file, *damaged)
    outcome = repaired(file)
    assert kept(outcome)["transcript"] == (LINES - held, held)
    assert kept(outcome)["sessions"] == (SESSIONS, 0)
    assert rows(file, "transcript") == LINES - held
    assert check(url_of(file)).condition is Condition.SOUND


def cells(file: Path, page: int) -> int:
    return int.from_bytes(content_of(file)[(page - 1) * 4_096 :][3:5])


def test_what_was_said_outlives_the_rows_of_its_sessions(file: Path) -> None:
    overwrite(file, *leaves(file, "sessions"))
    outcome = repaired(file)
    assert kept(outcome)["transcript"] == (LINES, 0)
    assert kept(outcome)["routes"] == (SESSIONS, 0)
    assert rows(file, "sessions") == SESSIONS
    with disposing(engine_of(url_of(file))) as engine, engine.connect() as connection:
        keys = connection.scalars(text("SELECT session_key FROM sessions ORDER BY session_key")).all()
    assert keys == sorted(f"k{number}" for number in range(SESSIONS))


def test_without_routes_a_session_that_is_made_up_has_a_key_of_its_own(file: Path) -> None:
    overwrite(file, *leaves(file, "sessions"), *leaves(file, "routes"))
    repaired(file)
    with disposing(engine_of(url_of(file))) as engine, engine.connect() as connection:
        keys = connection.scalars(text("SELECT session_key FROM sessions")).all()
    assert sorted(keys) == sorted(f"recovered:s{number}" for number in range(SESSIONS))


def test_rows_whose_owner_is_lost_go_with_it(file: Path) -> None:
    overwrite(file, *leaves(file, "inbox"))
    outcome = repaired(file)
    assert kept(outcome)["inbox"][0] == 0
    assert kept(outcome)["posts"][0] == 0
    assert kept(outcome)["transcript"] == (LINES, 0)


def test_a_table_without_its_root_loses_its_rows_and_no_others(file: Path) -> None:
    overwrite(file, root(file, "transcript"))
    outcome = repaired(file)
    assert kept(outcome)["transcript"] == (0, LINES)
    assert kept(outcome)["sessions"] == (SESSIONS, 0)


def test_a_truncated_file_gives_what_is_left(file: Path) -> None:
    truncate(file, pages=100)
    outcome = repaired(file)
    assert outcome.report.condition is Condition.SOUND
    number, lost = kept(outcome)["transcript"]
    assert 0 < number < LINES
    assert lost is None or lost == LINES - number
    assert kept(outcome)["sessions"] == (SESSIONS, 0)


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_file_nothing_can_be_read_of_stays_as_it_is(file: Path, *, is_empty: bool) -> None:
    """An empty database in its place would pass for a bot that never talked to anybody."""
    replaced(file, b"" if is_empty else b"\xaa" * 8_192)
    before = content_of(file)
    outcome = repaired(file)
    assert (outcome.report.condition, outcome.way) == (Condition.DAMAGED, None)
    assert content_of(file) == before


def test_noise_that_looks_like_a_row_is_no_row(file: Path) -> None:
    changed(
        file, "UPDATE transcript SET at = 'noise' WHERE id = 7", "UPDATE transcript SET content = x'ff' WHERE id = 9"
    )
    overwrite(file, leaves(file, "transcript")[-1])
    repaired(file)
    with disposing(engine_of(url_of(file))) as engine, engine.connect() as connection:
        first = connection.execute(text("SELECT id, content FROM transcript ORDER BY id LIMIT 8")).all()
    assert [number for number, _ in first] == [1, 2, 3, 4, 5, 6, 8, 10]
    assert first[0][1] == said(0)


async def test_a_repaired_database_is_the_newest_and_worked_with_as_before(file: Path) -> None:
    overwrite(file, leaves(file, "transcript")[2])
    await asyncio.to_thread(repaired, file)
    async with open_database(url_of(file)) as database:
        await database.write(noting("word"))
        assert await database.read(noted) == ["word"]
        assert await database.read(version_of) == newest()


def test_a_database_in_use_is_not_repaired(file: Path) -> None:
    overwrite(file, leaves(file, INDEX)[0])
    before = content_of(file)
    with hold(url_of(file)), pytest.raises(ConfigurationError, match=f"process {os.getpid()}.*stop it"):
        repair(url_of(file), MOMENT)
    assert content_of(file) == before
    assert backups_of(file) == []


def test_what_a_killed_repair_left_behind_is_not_taken_for_anything(file: Path) -> None:
    overwrite(file, leaves(file, INDEX)[0])
    for name in (".repairing", ".repairing-wal", ".repairing.fresh"):
        replaced(file.with_name(file.name + name), b"left behind")
    repair(url_of(file), MOMENT)
    assert check(url_of(file)).condition is Condition.SOUND


def test_what_was_committed_and_only_in_the_log_is_kept(tmp_path: Path, file: Path) -> None:
    """A process that was killed leaves its latest commits beside the file."""
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE sessions SET title = 'in the log' WHERE session_id = 's1'")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("state.db", "state.db-wal"):
        replaced(crashed / name, content_of(tmp_path / name))
    writer.close()
    overwrite(crashed / "state.db", leaves(crashed / "state.db", "transcript")[2])
    assert repair(url_of(crashed / "state.db"), MOMENT).way is not None
    with disposing(engine_of(url_of(crashed / "state.db"))) as engine, engine.connect() as connection:
        assert connection.scalar(text("SELECT title FROM sessions WHERE session_id = 's1'")) == "in the log"


def test_the_latest_three_backups_are_kept_each_under_a_name_of_its_own(file: Path) -> None:
    made = [back_up(file, MOMENT + timedelta(hours=number // 2)) for number in range(6)]
    assert len({*made}) == 6
    assert backups_of(file) == made[-KEPT:]
    assert {path.stat().st_mode & 0o777 for path in backups_of(file)} == {0o600}


async def test_a_backup_of_a_running_bots_database_is_sound_and_complete(file: Path) -> None:
    async with open_database(url_of(file)) as database:
        await database.write(noting("word"))
        backup = await asyncio.to_thread(back_up, file, MOMENT)
        await database.write(noting("later"))
    assert (await asyncio.to_thread(check, url_of(backup))).condition is Condition.SOUND
    async with open_database(url_of(backup)) as copied:
        assert await copied.read(noted) == ["word"]


def test_no_copy_is_begun_that_would_fill_the_disk(file: Path) -> None:
    with pytest.raises(StateFullError, match=r"has \d+ MiB free, and this takes \d+ MiB"):
        require_room(file, copies=10**9)


def test_servers_have_tools_of_their_own() -> None:
    with pytest.raises(ConfigurationError, match=r"PostgreSQL server: .*pg_dump"):
        repair("postgresql://somewhere/state", MOMENT)


def test_what_does_not_exist_is_not_repaired(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no state database at"):
        check(url_of(tmp_path / "gone.db"))
    with pytest.raises(ConfigurationError, match="there is no state database at"):
        repair(url_of(tmp_path / "gone.db"), MOMENT)
    assert list(tmp_path.iterdir()) == []

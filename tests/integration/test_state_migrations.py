"""The schema's migrations: the same schema everywhere, from every version, with what is in it kept."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, MetaData, Table, select, text

from app.errors import ConfigurationError
from app.state import migrating
from app.state.errors import StateDamagedError
from app.state.migrating import newest, upgrade, version_of, versions
from app.state.opening import engine_of
from app.state.tables import metadata
from tests.state_databases import disposing

FULL_TEXT = ("transcript_fts", "ix_transcript_content_words")
GIVEN_UP = {"deliveries": frozenset({"next_at"})}
"""Columns of earlier versions in which nothing was kept."""


@pytest.fixture
def engine(state_url: str) -> Iterator[Engine]:
    with disposing(engine_of(state_url)) as opened:
        yield opened


def differences(connection: Connection) -> list[str]:
    """Between the tables as declared and as they are, but for the full-text index, which is no declared table."""
    found = compare_metadata(MigrationContext.configure(connection), metadata)
    return [str(each) for each in found if getattr(each[-1], "name", "").startswith(FULL_TEXT) is False]


def test_the_migrated_schema_is_the_declared_one(engine: Engine) -> None:
    upgrade(engine)
    with engine.connect() as connection:
        assert differences(connection) == []
        assert version_of(connection) == newest()


def test_upgrading_again_changes_nothing(engine: Engine) -> None:
    upgrade(engine)
    with engine.begin() as connection:
        filled(connection)
        before = everything(connection)
    upgrade(engine)
    with engine.connect() as connection:
        assert everything(connection) == before


@pytest.mark.parametrize("version", versions())
def test_what_an_earlier_version_holds_is_kept(engine: Engine, version: str) -> None:
    upgrade(engine, version)
    with engine.begin() as connection:
        filled(connection)
        before = everything(connection)
    upgrade(engine)
    with engine.connect() as connection:
        after = everything(connection)
        assert differences(connection) == []
    for table, rows in before.items():
        for row, kept in zip(rows, after[table], strict=True):
            assert _without(GIVEN_UP.get(table, frozenset()), row).items() <= kept.items(), table


def test_of_runs_that_were_kept_before_calls_were_it_is_known_whether_there_was_any(engine: Engine) -> None:
    upgrade(engine, "0006")
    with engine.begin() as connection:
        [runs] = [table for table in reflected(connection) if table.name == "runs"]
        columns = [column for column in runs.columns if column.name != "id"]
        row = {column.name: 0 if column.type.python_type in (int, bool) else "words" for column in columns}
        for taken in ({"cache_read_tokens": 7}, {"is_partial": True}, {}):
            connection.execute(runs.insert(), row | taken)
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT calls FROM runs ORDER BY id")).scalars().all() == [1, 1, 0]


def _without(names: frozenset[str], row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in names}


def test_starters_at_the_same_time_do_not_get_in_each_others_way(engine: Engine) -> None:
    with ThreadPoolExecutor(4) as starters:
        list(starters.map(upgrade, [engine] * 4))
    with engine.connect() as connection:
        assert differences(connection) == []


def test_a_schema_of_the_future_is_refused_in_a_sentence(engine: Engine) -> None:
    upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError, match="9999, which is newer than this program's"):
        upgrade(engine)


def test_rows_that_refer_to_nothing_are_damage_and_nothing_is_changed(tmp_path: Path) -> None:
    """Making a table anew with such rows in it would lose them without a word."""
    with disposing(engine_of(f"sqlite:///{tmp_path / 'state.db'}")) as engine:
        upgrade(engine)
        with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as connection:
            connection.execute("INSERT INTO posts(inbox_id, position) VALUES (7, '1')")
            connection.execute("DELETE FROM alembic_version")
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                if not name.startswith(("posts", "sqlite", "transcript_fts_")):
                    connection.execute(f"DROP TABLE {name}")
            connection.execute("ALTER TABLE posts RENAME TO kept")
        with pytest.raises(StateDamagedError, match="rows of kept refer to nothing"):
            upgrade(engine)
        with engine.connect() as connection:
            assert version_of(connection) is None


def reflected(connection: Connection) -> list[Table]:
    """The tables that are there, those first that others refer to."""
    found = MetaData()
    found.reflect(connection, only=lambda name, _: not name.startswith((*FULL_TEXT, "alembic")))
    return found.sorted_tables


def filled(connection: Connection) -> None:
    """Puts a row into every table, whatever its columns are."""
    for table in reflected(connection):
        row = {column.name: 1 if column.type.python_type in (int, bool) else "words" for column in table.columns}
        connection.execute(table.insert().values(row))


def everything(connection: Connection) -> dict[str, list[dict[str, object]]]:
    return {
        table.name: [dict(row) for row in connection.execute(select(table)).mappings()]
        for table in reflected(connection)
    }


def test_the_versions_read_off_the_files_are_those_of_alembics_steps() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrating.__file__).with_name("migrations")))
    steps = [step.revision for step in ScriptDirectory.from_config(config).walk_revisions()]
    assert list(versions()) == list(reversed(steps))

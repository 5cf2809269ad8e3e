"""Repairing a damaged state database: on a copy, the least destructive way first, and put in place once it is sound."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from sqlalchemy import URL, Engine

from app.errors import ConfigurationError
from app.state import full_text
from app.state.backups import SIDECARS, back_up, beside, copy, database_file, flush, remove, require_room
from app.state.checking import EMPTY, Condition, Report, examine
from app.state.errors import StateDamagedError, StateError, mapped
from app.state.lock import hold
from app.state.migrating import newest, upgrade, version_of, versions
from app.state.opening import engine_of, file_of
from app.state.recovering import Recovered, recover
from app.state.writing import WRITES

T = TypeVar("T")

_ELSEWHERE = "restore it from a dump (pg_dump makes them)"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it. ``way`` is None when nothing had to be done, or nothing helped."""

    report: Report
    backup: Path | None = None
    way: str | None = None
    recovered: tuple[Recovered, ...] = ()


def check(url: str) -> Report:
    """What a thorough look finds; nothing is changed, and a bot may be at work meanwhile.

    Raises ``ConfigurationError`` when there is no such database or this program is too old for it, and the rest of
    ``StateError``'s tree when nothing could be told.
    """
    file = file_of(url)
    if file is not None and not file.is_file():
        raise ConfigurationError(f"there is no state database at {file}")
    if file is not None and file.stat().st_size == 0:
        return Report(Condition.DAMAGED, (EMPTY,))
    engine = engine_of(url)
    try:
        return examine(engine)
    except StateDamagedError as fault:
        return Report(Condition.DAMAGED, (str(fault),))
    finally:
        engine.dispose()


def repair(url: str, now: datetime) -> Outcome:
    """Afterwards the database is sound, or it is as it was.

    Raises ``ConfigurationError`` when somebody is using it or there is nothing to repair here, ``StateFullError``
    when there is no room for the copies.
    """
    file = database_file(url, instead=_ELSEWHERE)
    with hold(url):
        report = check(url)
        if report.condition is Condition.SOUND:
            return Outcome(report)
        require_room(file, copies=3)
        return _repaired(file, back_up(file, now))


def _repaired(file: Path, backup: Path) -> Outcome:
    report = Report(Condition.DAMAGED)
    for way, mended in _WAYS.items():
        work = beside(file, ".repairing")
        remove(work)
        copy(file, work)
        try:
            recovered = mended(work)
            report = check(_url(work))
            if report.condition is Condition.SOUND and report.version is not None:  # else there is nothing in it
                _put_in_place(work, file)
                return Outcome(report, backup, way, tuple(recovered))
        except (StateError, sqlite3.Error) as fault:
            report = Report(Condition.DAMAGED, (str(fault),))
        finally:
            remove(work)
    return Outcome(report, backup)


def _indexes_anew(work: Path) -> list[Recovered]:
    def reindex(engine: Engine) -> None:
        with mapped(), engine.execution_options(**{WRITES: True}).begin() as connection:
            connection.exec_driver_sql("REINDEX")

    _with_engine(work, reindex)
    return []


def _full_text_anew(work: Path) -> list[Recovered]:
    _indexes_anew(work)
    _with_engine(work, lambda engine: full_text.mend(engine.execution_options(**{WRITES: True})))
    return []


def _rows_carried_over(work: Path) -> list[Recovered]:
    """Into a file of the same version. One without a row is no recovery."""
    fresh = beside(work, ".fresh")
    remove(fresh)
    try:
        version = _version(work)
        _with_engine(fresh, lambda engine: upgrade(engine, version))
        recovered = recover(work, fresh)
        if not any(each.kept for each in recovered):
            raise StateDamagedError("not one row of it can be read")
        remove(work)
        fresh.replace(work)
    finally:
        remove(fresh)
    return recovered


_WAYS: dict[str, Callable[[Path], list[Recovered]]] = {
    "its indexes were made anew": _indexes_anew,
    "its full-text index was made anew": _full_text_anew,
    "its readable rows were carried over into a new file": _rows_carried_over,
}


def _version(file: Path) -> str:
    def ask(engine: Engine) -> str | None:
        with mapped(), engine.connect() as connection:
            return version_of(connection)

    try:
        found = _with_engine(file, ask)
    except StateError:
        found = None
    return found if found in versions() else newest()


def _put_in_place(work: Path, file: Path) -> None:
    """The old log goes first: SQLite would play it into whatever file it finds beside it."""
    if beside(work, "-wal").exists():
        raise StateDamagedError("the repaired copy could not be closed")
    flush(work)
    for suffix in SIDECARS:
        beside(file, suffix).unlink(missing_ok=True)
    work.replace(file)
    flush(file.parent)


def _with_engine(file: Path, work: Callable[[Engine], T]) -> T:
    engine = engine_of(_url(file))
    try:
        return work(engine)
    finally:
        engine.dispose()


def _url(file: Path) -> str:
    return URL.create("sqlite", database=str(file)).render_as_string()

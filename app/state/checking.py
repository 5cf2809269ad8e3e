"""Whether a state database is sound: a quick look at every start, a thorough one on request."""

import re
import shlex
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import structlog
from sqlalchemy import Connection, Engine, func, insert, select, text, update

from app.state import full_text
from app.state.engine import STATE_INDEX_REBUILT
from app.state.errors import StateDamagedError, StateIndexDamagedError, mapped
from app.state.migrating import known, newest, version_of
from app.state.prepared import Prepared
from app.state.tables import metadata, sessions, transcript
from app.state.writing import WRITES

_log = structlog.stdlib.get_logger(__name__)

QUICK_CHECK_BYTES = 256 * 1024 * 1024
"""A start reads every page of a file up to this size, which takes about a quarter of a second; a larger one would
keep the bot waiting. There the probes have to do, and `switchboard state check`: a crash does not damage pages."""
EMPTY = "the file is empty, and no database ever is"
_FINDINGS = 20
_LOOKS = [Prepared(select(table).limit(1)) for table in metadata.sorted_tables]
_NEWEST = Prepared(select(transcript.c.id, transcript.c.content).order_by(transcript.c.id.desc()).limit(1))
_WORD, _OTHER_WORD = "switchboardprobe", "switchboardprobed"
_AT = datetime(2000, 1, 1, tzinfo=UTC)


class Condition(StrEnum):
    """What is to be done about it."""

    SOUND = "sound"
    INDEX_DAMAGED = "index damaged"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Report:
    """``findings`` say what is wrong and where, never what anybody wrote."""

    condition: Condition = Condition.SOUND
    findings: tuple[str, ...] = ()
    version: str | None = None


def ensure_sound(engine: Engine) -> None:
    """Probe a database whose schema is up to date; an index that alone is damaged is made anew and probed again.

    Raises ``StateDamagedError`` for anything else, and the rest of ``StateError``'s tree when nothing could be told.
    """
    report = probe(engine)
    if report.condition is Condition.INDEX_DAMAGED:
        full_text.mend(engine.execution_options(**{WRITES: True}))
        report = probe(engine)
        _log.warning(STATE_INDEX_REBUILT, condition=report.condition.value)
    if report.condition is not Condition.SOUND:
        raise StateDamagedError("; ".join(report.findings))


def refuse_damaged_pages(engine: Engine, file: Path, *, up_to_bytes: int = QUICK_CHECK_BYTES) -> None:
    """Before anything is written to it. Raises ``StateDamagedError``."""
    if not file.exists():
        return
    size = file.stat().st_size
    if size == 0:
        raise StateDamagedError(EMPTY)
    with mapped(), engine.connect() as connection:
        findings = _pages(connection, "quick_check") if size <= up_to_bytes else []
    if findings:
        raise StateDamagedError("; ".join(findings))


def damage(file: Path, findings: str) -> StateDamagedError:
    """What the operator is told."""
    return StateDamagedError(
        f"the state database {file} is damaged ({findings}); stop the bot and run: {repair_command(file)}"
    )


def repair_command(file: Path) -> str:
    return f"switchboard state repair {shlex.quote(str(file.absolute()))}"


def probe(engine: Engine) -> Report:
    """Reads from every table, looks for words, and writes through the index's triggers without keeping it.

    Raises ``StateError``'s tree when the database could not be looked at, which says nothing about its soundness.
    """
    return _report(engine, [_read, _write_and_undo])


def examine(engine: Engine) -> Report:
    """As ``probe``, and everything else that can be asked, which takes seconds for each gigabyte.

    A schema of an earlier version is looked at as far as its file goes. Raises ``ConfigurationError`` for a later one.
    """
    with mapped(), engine.connect() as connection:
        version = known(version_of(connection))
    steps = [_read, _write_and_undo] if version == newest() else []
    if engine.dialect.name == "sqlite":
        steps = [_look_at_everything, *steps, full_text.verify] if steps else [_look_at_everything]
    return replace(_report(engine, steps), version=version)


def _report(engine: Engine, steps: list[Callable[[Connection], None]]) -> Report:
    """The first thing that is wrong decides: what comes after it would only repeat it."""
    for step in steps:
        try:
            with mapped(), _undone(engine) as connection:
                step(connection)
        except StateIndexDamagedError as fault:
            return Report(Condition.INDEX_DAMAGED, (str(fault),))
        except StateDamagedError as fault:
            return Report(Condition.DAMAGED, (str(fault),))
        except MemoryError:  # what noise in the index may be taken for is a wish for more memory than there is
            return Report(Condition.INDEX_DAMAGED, ("the full-text index cannot be opened",))
    return Report()


@contextmanager
def _undone(engine: Engine) -> Generator[Connection]:
    with engine.execution_options(**{WRITES: True}).connect() as connection:
        yield connection
        connection.rollback()


def _pages(connection: Connection, how: str) -> list[str]:
    """Without what newer versions of SQLite say about the full-text index, which is looked at for itself."""
    found = connection.exec_driver_sql(f"PRAGMA {how}({_FINDINGS})").scalars()
    return [" ".join(line.split()) for line in found if line != "ok" and "FTS5" not in line]


def _look_at_everything(connection: Connection) -> None:
    findings = _pages(connection, "integrity_check")
    orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    findings += sorted({f"rows of {row[0]} refer to nothing in {row[2]}" for row in orphans})
    if findings:
        raise StateDamagedError("; ".join(findings))


def _read(connection: Connection) -> None:
    for look in _LOOKS:
        look.rows(connection, {})
    newest = _NEWEST.row(connection, {})
    number, content = newest or (0, "")
    word = _plain_word(content)
    if word is not None and not _found(connection, word, number):
        raise StateIndexDamagedError("the full-text index lacks what was written last")


def _write_and_undo(connection: Connection) -> None:
    session = {"session_id": _WORD, "session_key": _WORD, "created_at": _AT, "last_active_at": _AT}
    row = {"session_id": _WORD, "role": "user", "kind": "said", "content": _WORD, "at": _AT}
    connection.execute(insert(sessions).values(session))
    number = connection.execute(insert(transcript).values(row).returning(transcript.c.id)).scalar_one()
    if not _found(connection, _WORD, number):
        raise StateIndexDamagedError("the full-text index does not follow what is written")
    own = transcript.c.id == number
    connection.execute(update(transcript).where(own).values(content=_OTHER_WORD))
    if _found(connection, _WORD, number) or not _found(connection, _OTHER_WORD, number):
        raise StateIndexDamagedError("the full-text index does not follow what is changed")
    connection.execute(transcript.delete().where(own))
    last = select(func.max(transcript.c.id)).scalar_subquery()
    connection.execute(update(transcript).where(transcript.c.id == last).values(content=transcript.c.content))


def _found(connection: Connection, word: str, number: int) -> bool:
    match = _MATCH if connection.dialect.name == "sqlite" else _SERVER_MATCH
    return connection.scalar(match, {"word": f'"{word}"', "id": number}) is not None


_MATCH = text("SELECT rowid FROM transcript_fts WHERE transcript_fts MATCH :word AND rowid = :id")
_SERVER_MATCH = text(
    "SELECT id FROM transcript WHERE to_tsvector('simple', left(content, 100000)) "
    "@@ plainto_tsquery('simple', :word) AND id = :id"
)


def _plain_word(content: str) -> str | None:
    """One that every tokenizer takes for a word."""
    words = re.findall(r"[A-Za-z0-9]{3,40}", content) if content.isascii() else []
    return next(iter(words), None)

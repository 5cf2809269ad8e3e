"""Rows of ``transcript``: what was said. Every function works within the caller's transaction."""

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from app.sessions.entry import SessionId, SessionKey
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.transcript import Kind, Rewound, TranscriptMessage, last_turns
from app.state import session_rows
from app.state.errors import StateValueError
from app.state.prepared import Prepared
from app.state.tables import sessions, transcript
from memory.text import storable

POSITIONS = 16
"""Asked about at once: a turn brings one or two lines, and what stood in a thread before it more only once."""

_KINDS = {kind.value: kind for kind in Kind}
_ROLES = frozenset({"user", "assistant"})
_OF_SESSION = transcript.c.session_id == bindparam("session_id")
LINE = (
    transcript.c.role,
    transcript.c.content,
    transcript.c.at,
    transcript.c.kind,
    transcript.c.author,
    transcript.c.user_id,
    transcript.c.position,
    transcript.c.id,
    transcript.c.directives,
    transcript.c.files,
)
"""What ``line`` reads, in its order."""
_ACTIVE = Prepared(select(*LINE).where(_OF_SESSION, transcript.c.is_active).order_by(transcript.c.id))
_ASKED = tuple(f"position_{number}" for number in range(POSITIONS))
_INSERT = Prepared(insert(transcript))
_ANY = select(transcript.c.id).where(_OF_SESSION, transcript.c.is_active).limit(1)
_LAST_POSITION = (
    select(transcript.c.position)
    .where(_OF_SESSION, transcript.c.position.is_not(None))
    .order_by(transcript.c.id.desc())
    .limit(1)
)
_COMPACT = (
    update(transcript)
    .where(transcript.c.session_id == bindparam("id_"), transcript.c.is_active)
    .values(is_active=False, is_compacted=True)
)
_HIDE = update(transcript).where(transcript.c.id == bindparam("line")).values(is_active=False)


def append(connection: Connection, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> int:
    """How many were kept: none whose position an active line of the session has."""
    rows = [_values(session_id, message) for message in messages]
    seen = _positions(connection, session_id, {row["position"] for row in rows if row["position"]}, in_sight=True)
    new: list[dict[str, Any]] = []
    for row in rows:
        if row["position"] not in seen:
            new.append(row)
            seen.update({row["position"]} if row["position"] else ())
    _insert(connection, session_id, new)
    return len(new)


def rewrite(connection: Connection, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None:
    """Put ``messages`` in the place of every active line; those stay, marked compacted."""
    connection.execute(_COMPACT, {"id_": session_id})
    _insert(connection, session_id, [_values(session_id, message) for message in messages])


def load(connection: Connection, session_id: SessionId) -> list[TranscriptMessage]:
    """Every active line, oldest first. Raises ``TranscriptUnreadableError``."""
    with reading():
        return [line(*row) for row in _ACTIVE.rows(connection, {"session_id": storable(session_id)})]


def rewind(connection: Connection, session_id: SessionId, turns: int) -> Rewound:
    """Take the last turns out of sight. Raises ``TranscriptUnreadableError``."""
    gone, rewound = last_turns(load(connection, session_id), turns)
    _hide(connection, gone)
    return rewound


def replace_last(connection: Connection, session_id: SessionId, opening: str) -> None:
    """Take the last turn out of sight, if it is the one that begins like this. Raises as ``rewind`` does."""
    gone, rewound = last_turns(load(connection, session_id), 1)
    if storable(rewound.target_text or "") == storable(opening):
        _hide(connection, gone)


def _hide(connection: Connection, lines: Sequence[TranscriptMessage]) -> None:
    if lines:
        connection.execute(_HIDE, [{"line": line.id} for line in lines])


def has_lines(connection: Connection, session_id: SessionId) -> bool:
    return connection.execute(_ANY, {"session_id": session_id}).one_or_none() is not None


def last_position(connection: Connection, session_id: SessionId) -> str | None:
    """Of the newest line that has one, in sight or not."""
    return connection.execute(_LAST_POSITION, {"session_id": session_id}).scalar_one_or_none()


def heard(connection: Connection, session_id: SessionId, positions: Collection[str]) -> frozenset[str]:
    """Those of ``positions`` that a line of the session has, in sight or not."""
    return frozenset(_positions(connection, session_id, {storable(position) for position in positions}))


def speakers(connection: Connection, keys: Collection[SessionKey]) -> frozenset[str]:
    """Who said something to the bot in sessions of the keys, in sight or not."""
    said = (transcript.c.kind == Kind.SAID.value) & transcript.c.user_id.is_not(None)
    of_keys = transcript.c.session_id.in_(select(sessions.c.session_id).where(sessions.c.session_key.in_(keys)))
    return frozenset(connection.execute(select(transcript.c.user_id).distinct().where(of_keys, said)).scalars())


@contextmanager
def reading() -> Generator[None]:
    """Around everything that reads lines: one whose moment is none makes no sense either."""
    try:
        yield
    except StateValueError as fault:
        raise TranscriptUnreadableError("a line of the transcript has no moment") from fault


def line(*kept: Any) -> TranscriptMessage:
    """A line out of the columns of ``LINE``. Raises ``TranscriptUnreadableError``, without what it says."""
    role, content, at, name, author, user_id, position, number, directives, files = kept
    kind = _KINDS.get(name)
    if kind is None or role not in _ROLES:
        raise TranscriptUnreadableError(f"line {number} of the transcript is of no known role and kind")
    if not (isinstance(content, str) and isinstance(files, int)):
        # SQLite keeps any value in any column.
        raise TranscriptUnreadableError(f"line {number} of the transcript has no text or no number of files")
    return TranscriptMessage(role, content, at, kind, author, user_id, position, number, directives, files)


def _positions(
    connection: Connection, session_id: SessionId, positions: Collection[str], *, in_sight: bool = False
) -> set[str]:
    kept: set[str] = set()
    rest = iter(positions)
    while some := list(islice(rest, POSITIONS)):
        asked = {"session_id": session_id, **dict(zip(_ASKED, some, strict=False))}
        kept.update(position for (position,) in _among(len(some), in_sight=in_sight).rows(connection, asked))
    return kept


@cache
def _among(count: int, *, in_sight: bool) -> Prepared:
    """Which of that many positions, ``POSITIONS`` at most, lines of a session have."""
    wanted = transcript.c.position.in_([bindparam(name) for name in _ASKED[:count]])
    found = select(transcript.c.position).where(_OF_SESSION, wanted)
    return Prepared(found.where(transcript.c.is_active) if in_sight else found)


def _insert(connection: Connection, session_id: SessionId, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        _INSERT.run_each(connection, rows)
        session_rows.set_active(connection, session_id, max(row["at"] for row in rows))


def _values(session_id: SessionId, message: TranscriptMessage) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "role": message.role,
        "kind": message.kind.value,
        "author": _clean(message.author),
        "user_id": _clean(message.user_id),
        "content": storable(message.content),
        "position": _clean(message.position),
        "at": message.at,
        "directives": _clean(message.directives),
        "files": message.files,
        "is_active": True,
        "is_compacted": False,
    }


def _clean(text: str | None) -> str | None:
    return None if text is None else storable(text)

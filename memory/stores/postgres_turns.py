"""The row that stands for a scope: whoever changes the scope has it locked, so writers of all processes take turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from memory.record import Status
from memory.stores.postgres_rows import LONGEST_TERM
from memory.stores.postgres_server import Connection
from memory.stores.searches import WHOLE_POOL
from memory.text import TERMS_VERSION

_BEGIN: LiteralString = """INSERT INTO scopes (key, epoch, version, terms_version)
    VALUES (%s, nextval('changes'), nextval('changes'), %s)
    ON CONFLICT (key) DO UPDATE SET version = nextval('changes')
    RETURNING id, version, next_seq, is_indexed, terms_version"""
_FIND: LiteralString = """UPDATE scopes SET version = nextval('changes') WHERE key = %s
    RETURNING id, version, next_seq, is_indexed, terms_version"""
_INDEX: LiteralString = """INSERT INTO record_terms (scope, seq, is_word, term)
    SELECT DISTINCT scope, seq, is_word, left(term, %(longest)s)
    FROM records, LATERAL (
        SELECT false AS is_word, term FROM unnest(string_to_array(terms, E'\\n')) AS term
        UNION ALL SELECT true, word FROM unnest(string_to_array(words, E'\\n')) AS word) AS said
    WHERE scope = %(scope)s AND status = 'active'"""
_INDEX_SOME: LiteralString = f"{_INDEX} AND seq = ANY(%(sequences)s)"


@dataclass(frozen=True, slots=True)
class Turn:
    """A scope that is locked until the transaction ends. Its version is new already."""

    scope: int
    version: int
    next_sequence: int
    is_indexed: bool
    terms_version: int


async def turn_at(connection: Connection, scope_key: str) -> Turn | None:
    """Lock the scope; ``None`` when nothing was ever written to it."""
    row = await (await connection.execute(_FIND, (scope_key,))).fetchone()
    return None if row is None else Turn(*row)


async def first_turn_at(connection: Connection, scope_key: str) -> Turn:
    """Lock the scope, a new one if need be."""
    row = await (await connection.execute(_BEGIN, (scope_key, TERMS_VERSION))).fetchone()
    if row is None:
        raise AssertionError("an upsert returns its row")
    return Turn(*row)


async def retire(connection: Connection, turn: Turn, sequences: Sequence[int], status: Status) -> list[int]:
    """Give active rows another status and take what is derived from them away; which of them were active."""
    cursor = await connection.execute(
        "UPDATE records SET status = %s, changed = %s WHERE scope = %s AND seq = ANY(%s) AND status = 'active'"
        " RETURNING seq",
        (status.value, turn.version, turn.scope, list(sequences)),
    )
    retired = sorted(row[0] for row in await cursor.fetchall())
    await drop_derived(connection, turn, retired)
    return retired


async def drop_derived(connection: Connection, turn: Turn, sequences: Sequence[int]) -> None:
    if sequences:
        chosen = (turn.scope, list(sequences))
        await connection.execute("DELETE FROM vectors WHERE scope = %s AND seq = ANY(%s)", chosen)
        if turn.is_indexed:
            await connection.execute("DELETE FROM record_terms WHERE scope = %s AND seq = ANY(%s)", chosen)


async def index(connection: Connection, turn: Turn, active: int, sequences: Sequence[int]) -> None:
    """Have the index know the active ones of ``sequences``; all of the scope when it has just become large."""
    values = {"scope": turn.scope, "longest": LONGEST_TERM, "sequences": list(sequences)}
    if turn.is_indexed:
        await connection.execute(_INDEX_SOME, values)
    elif active > WHOLE_POOL:
        await connection.execute(_INDEX, values)
        await connection.execute("UPDATE scopes SET is_indexed = true WHERE id = %s", (turn.scope,))


async def go_on(connection: Connection, turn: Turn, next_sequence: int) -> None:
    """Note the next number, and that what was just written has this version's terms and no later one's."""
    await connection.execute(
        "UPDATE scopes SET next_seq = greatest(next_seq, %s), terms_version = least(terms_version, %s) WHERE id = %s",
        (next_sequence, TERMS_VERSION, turn.scope),
    )


async def active_count(connection: Connection, turn: Turn) -> int:
    row = await (
        await connection.execute("SELECT count(*) FROM records WHERE scope = %s AND status = 'active'", (turn.scope,))
    ).fetchone()
    return 0 if row is None else int(row[0])

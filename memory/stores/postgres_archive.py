"""Everything in PostgreSQL, whatever its status: counted, and put back as it was."""

from collections.abc import Sequence
from typing import LiteralString

from memory.record import MemoryRecord, Status
from memory.store import Stats
from memory.stores.postgres_rows import (
    COLUMNS,
    INSERT_RECORD,
    RECORDS,
    UPSERT_USE,
    Row,
    record_of,
    use_of,
    values_of,
)
from memory.stores.postgres_server import Connection
from memory.stores.postgres_turns import active_count, first_turn_at, go_on, index
from memory.stores.rows import row_limit


async def scope_keys(connection: Connection, limit: int, after: str | None) -> list[str]:
    behind: LiteralString = "" if after is None else "key > %(after)s AND"
    cursor = await connection.execute(
        f"SELECT key FROM scopes WHERE {behind} EXISTS (SELECT 1 FROM records WHERE scope = scopes.id)"
        " ORDER BY key LIMIT %(limit)s",
        {"after": after, "limit": row_limit(limit)},
    )
    return [row[0] for row in await cursor.fetchall()]


async def stats(connection: Connection, scope_key: str | None) -> Stats:
    if scope_key is None:
        rows = await _counted(connection)
    else:
        cursor = await connection.execute(
            "SELECT status, count(*), 1 FROM records WHERE scope = (SELECT id FROM scopes WHERE key = %s)"
            " GROUP BY status ORDER BY status",
            (scope_key,),
        )
        rows = await cursor.fetchall()
    return Stats(rows[0][2] if rows else 0, {Status(status): count for status, count, _ in rows})


async def _counted(connection: Connection) -> list[Row]:
    """Whole tables are read here, which no other statement does."""
    async with connection.transaction():
        await connection.execute("SET LOCAL enable_seqscan = on")
        cursor = await connection.execute(
            "SELECT status, count(*), (SELECT count(*) FROM scopes WHERE EXISTS (SELECT 1 FROM records"
            " WHERE scope = scopes.id)) FROM records GROUP BY status ORDER BY status"
        )
        return await cursor.fetchall()


async def restore(connection: Connection, scope_key: str, records: Sequence[MemoryRecord]) -> int:
    """Lets ``psycopg.errors.UniqueViolation`` through when the scope has the words of one under another id."""
    turn = await first_turn_at(connection, scope_key)
    given = {record.sequence: record for record in records}
    chosen = (turn.scope, list(given))
    cursor = await connection.execute(
        f"SELECT {COLUMNS} FROM {RECORDS} WHERE records.scope = %s AND records.seq = ANY(%s)", chosen
    )
    known = {record.sequence: record for record in [record_of(scope_key, row) for row in await cursor.fetchall()]}
    changed = [record for sequence, record in given.items() if known.get(sequence) != record]
    if changed:
        # All at once, so that records may change places.
        replaced = [record.sequence for record in changed]
        await connection.execute("DELETE FROM records WHERE scope = %s AND seq = ANY(%s)", (turn.scope, replaced))
        writing = connection.cursor()
        await writing.executemany(INSERT_RECORD, [values_of(turn.scope, turn.version, record) for record in changed])
        used = [record for record in changed if record.use_count or record.last_used_at]
        await writing.executemany(UPSERT_USE, [use_of(turn.scope, record) for record in used])
        await index(connection, turn, await active_count(connection, turn), replaced)
        await connection.execute("UPDATE scopes SET epoch = version WHERE id = %s", (turn.scope,))
        await go_on(connection, turn, max(replaced) + 1)
    return len(changed)

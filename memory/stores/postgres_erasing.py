"""Erasing in PostgreSQL: rows are deleted with all that is derived from them, and then their space is given up.

PostgreSQL keeps what was deleted until a table is vacuumed. A small one is written anew here, so that no byte of it
is left in the table's files; a large one only has the space marked as free, and what was there stays readable to
whoever reads the server's files until something else is written over it. The write-ahead log has it until its
segments are recycled, and archived segments, replicas that lag behind and backups have it for as long as they are
kept: that is for whoever runs the server. A transaction that began before, a dump for example, makes the server keep
it as well until the next vacuum.
"""

from typing import LiteralString

import psycopg

from memory.store import EraseReceipt
from memory.stores.postgres_server import Connection

_TABLES: tuple[LiteralString, ...] = ("records", "uses", "vectors", "record_terms", "applied", "scopes")
SMALL_BYTES = 32 * 1024 * 1024
"""A table (with its indexes) up to this size is written anew in a fraction of a second, for which its users wait."""
_LOCK_WAIT = "1s"
_TAUGHT: LiteralString = """SELECT id FROM scopes WHERE EXISTS (
    SELECT 1 FROM records WHERE records.scope = scopes.id AND source_thread_key = %s) ORDER BY key FOR UPDATE"""
_CHANGE: LiteralString = "UPDATE scopes SET epoch = nextval('changes'), version = nextval('changes') WHERE id = ANY(%s)"


async def erase_record(connection: Connection, scope_key: str, sequence: int) -> EraseReceipt:
    cursor = await connection.execute("SELECT id FROM scopes WHERE key = %s FOR UPDATE", (scope_key,))
    row = await cursor.fetchone()
    if row is None:
        return EraseReceipt()
    erased = await connection.execute("DELETE FROM records WHERE scope = %s AND seq = %s", (row[0], sequence))
    if erased.rowcount:
        await _close(connection, [row[0]])
    return EraseReceipt(erased.rowcount, min(1, erased.rowcount))


async def erase_scope(connection: Connection, scope_key: str) -> EraseReceipt:
    """A scope of that name begins anew, with its first number."""
    cursor = await connection.execute("SELECT id FROM scopes WHERE key = %s FOR UPDATE", (scope_key,))
    row = await cursor.fetchone()
    if row is None:
        return EraseReceipt()
    erased = await connection.execute("DELETE FROM records WHERE scope = %s", (row[0],))
    await connection.execute("DELETE FROM scopes WHERE id = %s", (row[0],))
    return EraseReceipt(erased.rowcount, min(1, erased.rowcount))


async def erase_thread(connection: Connection, thread_key: str) -> EraseReceipt:
    """In every scope at once; locked in the order of their keys, which is everybody's who locks several."""
    cursor = await connection.execute(_TAUGHT, (thread_key,))
    scopes = [row[0] for row in await cursor.fetchall()]
    if not scopes:
        return EraseReceipt()
    cursor = await connection.execute(
        "DELETE FROM records WHERE scope = ANY(%s) AND source_thread_key = %s RETURNING scope", (scopes, thread_key)
    )
    erased = [row[0] for row in await cursor.fetchall()]
    await _close(connection, sorted(set(erased)))
    return EraseReceipt(len(erased), len(set(erased)))


async def scrub(connection: Connection) -> None:
    """Give up the space of what was deleted, outside of a transaction. Raises ``psycopg.Error``."""
    await connection.execute("SELECT set_config('lock_timeout', %s, false)", (_LOCK_WAIT,))
    for table in _TABLES:
        cursor = await connection.execute("SELECT pg_total_relation_size(%s::regclass)", (table,))
        row = await cursor.fetchone()
        is_small = row is not None and row[0] <= SMALL_BYTES
        try:
            if is_small:
                await connection.execute(f"VACUUM (FULL) {table}")
        except psycopg.errors.LockNotAvailable:
            is_small = False
        if not is_small:
            await connection.execute("SELECT set_config('lock_timeout', '0', false)")
            await connection.execute(f"VACUUM (INDEX_CLEANUP ON) {table}")


async def _close(connection: Connection, scopes: list[int]) -> None:
    """Have everybody fetch these scopes anew. A digest can tell that a text was guessed right, so keys go too."""
    await connection.execute("DELETE FROM applied WHERE scope = ANY(%s)", (scopes,))
    await connection.execute(_CHANGE, (scopes,))

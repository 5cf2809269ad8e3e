"""The tables of memory in PostgreSQL: how they came to be, version by version.

Everything lies in a schema of its own. The scope leads every key and every index, as a number that is never given
twice: a scope that is erased and begun anew is another one to whatever still refers to the old one. Texts are
compared byte by byte (collation "C"), so no upgrade of the system's locales can put an index out of order.

How often a record was used has a narrow table of its own: counting it leaves no further copies of the text behind.
"""

from typing import LiteralString

from memory.store import StoreUnavailableError
from memory.stores.postgres_server import Connection

# The server's statistics are samples of what a table holds, and outlive what was erased from it.
_UNSAMPLED: tuple[LiteralString, ...] = (
    """ALTER TABLE switchboard_memory.records ALTER norm SET STATISTICS 0, ALTER text SET STATISTICS 0,
        ALTER keywords SET STATISTICS 0, ALTER terms SET STATISTICS 0, ALTER words SET STATISTICS 0,
        ALTER source_thread_key SET STATISTICS 0, ALTER source_run_id SET STATISTICS 0,
        ALTER source_user SET STATISTICS 0, ALTER author SET STATISTICS 0, ALTER supersedes SET STATISTICS 0""",
    "ALTER TABLE switchboard_memory.vectors ALTER data SET STATISTICS 0",
    "ALTER TABLE switchboard_memory.record_terms ALTER term SET STATISTICS 0",
    """ALTER TABLE switchboard_memory.applied ALTER key SET STATISTICS 0, ALTER digest SET STATISTICS 0""",
    "ALTER TABLE switchboard_memory.scopes ALTER key SET STATISTICS 0",
)
_FIRST: tuple[LiteralString, ...] = (
    "CREATE SEQUENCE switchboard_memory.changes",
    """CREATE TABLE switchboard_memory.scopes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key text COLLATE "C" NOT NULL UNIQUE,
        epoch bigint NOT NULL,
        version bigint NOT NULL,
        next_seq bigint NOT NULL DEFAULT 0,
        terms_version integer NOT NULL,
        is_indexed boolean NOT NULL DEFAULT false)""",
    """CREATE TABLE switchboard_memory.records (
        scope bigint NOT NULL REFERENCES switchboard_memory.scopes ON DELETE CASCADE,
        seq bigint NOT NULL,
        changed bigint NOT NULL,
        norm bytea NOT NULL,
        kind text NOT NULL,
        text text NOT NULL,
        keywords text[] NOT NULL,
        terms text NOT NULL,
        words text NOT NULL,
        source_thread_key text COLLATE "C" NOT NULL,
        source_run_id text,
        source_user text,
        author text,
        created_at timestamptz NOT NULL,
        confidence double precision,
        supersedes text,
        is_standing boolean NOT NULL,
        status text COLLATE "C" NOT NULL,
        PRIMARY KEY (scope, seq))""",
    "CREATE INDEX records_active ON switchboard_memory.records (scope, seq) WHERE status = 'active'",
    "CREATE INDEX records_active_norm ON switchboard_memory.records (scope, norm) WHERE status = 'active'",
    # A correction may say what an unrelated record says already, so only uncorrecting records are unique by their text.
    """CREATE UNIQUE INDEX records_said_once ON switchboard_memory.records (scope, norm)
        WHERE status = 'active' AND supersedes IS NULL""",
    """CREATE INDEX records_standing ON switchboard_memory.records (scope, seq)
        WHERE status = 'active' AND is_standing""",
    "CREATE INDEX records_changed ON switchboard_memory.records (scope, changed)",
    "CREATE INDEX records_thread ON switchboard_memory.records (scope, source_thread_key)",
    """CREATE TABLE switchboard_memory.uses (
        scope bigint NOT NULL, seq bigint NOT NULL, use_count bigint NOT NULL, last_used_at timestamptz,
        PRIMARY KEY (scope, seq),
        FOREIGN KEY (scope, seq) REFERENCES switchboard_memory.records ON DELETE CASCADE) WITH (fillfactor = 70)""",
    """CREATE TABLE switchboard_memory.vectors (
        scope bigint NOT NULL, seq bigint NOT NULL, model text COLLATE "C" NOT NULL, dim integer NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (scope, seq),
        FOREIGN KEY (scope, seq) REFERENCES switchboard_memory.records ON DELETE CASCADE)""",
    """CREATE TABLE switchboard_memory.record_terms (
        scope bigint NOT NULL, seq bigint NOT NULL, is_word boolean NOT NULL, term text COLLATE "C" NOT NULL,
        PRIMARY KEY (scope, seq, is_word, term),
        FOREIGN KEY (scope, seq) REFERENCES switchboard_memory.records ON DELETE CASCADE)""",
    "CREATE INDEX record_terms_term ON switchboard_memory.record_terms (scope, is_word, term, seq)",
    """CREATE TABLE switchboard_memory.applied (
        scope bigint NOT NULL REFERENCES switchboard_memory.scopes ON DELETE CASCADE,
        key text COLLATE "C" NOT NULL, digest bytea NOT NULL, counts jsonb NOT NULL, at timestamptz NOT NULL,
        PRIMARY KEY (scope, key))""",
    *_UNSAMPLED,
)
MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (_FIRST,)
"""Statements that lead from each version to the next, the first from nothing."""

_TURN = 0x5357_4D45_4D4F_5259
"""Names the advisory lock under which one process at a time migrates: SWMEMORY in ASCII."""
_HAS = "SELECT to_regclass('switchboard_memory.version') IS NOT NULL"
_VERSION = "SELECT number FROM switchboard_memory.version"


async def migrate(connection: Connection, name: str) -> None:
    """Bring the database to the newest version, in one transaction. Raises ``StoreUnavailableError`` for a newer one.

    A role without the right to create anything can open what another one has migrated.
    """
    await _require_unicode(connection, name)
    if await _version(connection, name) == len(MIGRATIONS):
        return
    # Before the transaction: within one, what the server knows of its tables may be from before the wait.
    await connection.execute("SELECT pg_advisory_lock(%s)", (_TURN,))
    try:
        await _go_through(connection, name)
    finally:
        await connection.execute("SELECT pg_advisory_unlock(%s)", (_TURN,))


async def _go_through(connection: Connection, name: str) -> None:
    async with connection.transaction():
        found = await _version(connection, name)
        if not found:
            await _begin(connection)
        for statements in MIGRATIONS[found:]:
            for statement in statements:
                await connection.execute(statement)
        await connection.execute("UPDATE switchboard_memory.version SET number = %s", (len(MIGRATIONS),))


async def _begin(connection: Connection) -> None:
    """The schema may be there already, made by an administrator for a role that may make none."""
    row = await (await connection.execute("SELECT to_regnamespace('switchboard_memory') IS NULL")).fetchone()
    if row is None or row[0]:
        await connection.execute("CREATE SCHEMA switchboard_memory")
    await connection.execute("CREATE TABLE switchboard_memory.version (number integer NOT NULL)")
    await connection.execute("INSERT INTO switchboard_memory.version VALUES (0)")


async def _version(connection: Connection, name: str) -> int:
    """How many of the migrations the database has behind it."""
    row = await (await connection.execute(_HAS)).fetchone()
    if row is None or not row[0]:
        return 0
    number = await (await connection.execute(_VERSION)).fetchone()
    version = 0 if number is None else int(number[0])
    if version > len(MIGRATIONS):
        raise StoreUnavailableError(f"the memory database {name} was written by a newer version of the program")
    return version


async def _require_unicode(connection: Connection, name: str) -> None:
    row = await (await connection.execute("SHOW server_encoding")).fetchone()
    if row is None or row[0] != "UTF8":
        raise StoreUnavailableError(f"the memory database {name} must have the encoding UTF8")

"""Filling a memory with thousands of scopes in little time: some through the store, the others as copies of them."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks.serving_questions import NEW_RECORDS, candidates
from benchmarks.serving_services import Database, Files, Place
from memory.stores.sqlite_connections import path_of
from memory.stores.sqlite_schema import set_meta, transaction

SEEDS = 100
"""Scopes that are filled through the store; each of the others is a copy of one of them."""
SCOPE_RECORDS = 100
_BATCH = 50
_AT_ONCE = 16
_COPIERS = 4


def key_of(number: int) -> str:
    return f"channel:c{number}"


def keys(scopes: int) -> list[str]:
    return [key_of(number) for number in range(scopes)]


async def seed(place: Place, words: Sequence[str]) -> None:
    """Fill ``SEEDS`` scopes of an empty memory."""
    random = Random(2)
    async with place.opened() as store:

        async def fill(number: int) -> None:
            for batch in range(SCOPE_RECORDS // _BATCH):
                await store.write(key_of(number), candidates(words, random, batch, _BATCH))

        for start in range(0, SEEDS, _AT_ONCE):
            await asyncio.gather(*(fill(number) for number in range(start, min(start + _AT_ONCE, SEEDS))))


def multiplied_files(seeds: Files, folder: Path, scopes: int) -> Files:
    """A memory of as many scopes in ``folder``. ``seeds`` must be closed."""
    with ThreadPoolExecutor(_COPIERS) as copiers:
        list(copiers.map(partial(_copy, seeds.folder, folder), range(scopes)))
    return Files(folder)


def _copy(seeds: Path, folder: Path, number: int) -> None:
    """The file of a scope under another scope's name, and told that it is that one's."""
    target = path_of(folder, key_of(number))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path_of(seeds, key_of(number % SEEDS)), target)
    if number < SEEDS:
        return
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        with transaction(connection):
            set_meta(connection, "scope_key", json.dumps(key_of(number)))


def multiplied_database(seeds: Database, name: str, scopes: int) -> Database:
    """A memory of as many scopes in a database of that name beside the seeds'. Nobody may be connected to those."""
    parts = conninfo_to_dict(seeds.url)
    beside, target = (make_conninfo(seeds.url, dbname=each) for each in ("postgres", name))
    with psycopg.connect(beside, autocommit=True) as server:
        template = sql.Identifier(str(parts["dbname"]))
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), template))
    with psycopg.connect(target, autocommit=True) as connection:
        with connection.transaction():
            _multiply(connection, scopes)
        # What a server at work has done long before anybody looks.
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")
    return Database(f"postgresql://{parts['user']}@/{name}?host={parts['host']}")


def _multiply(connection: psycopg.Connection, scopes: int) -> None:
    """Give every other scope the rows of a seed, whatever columns the tables have.

    They lie in the order in which bots would have written them, a few of each scope at a time.
    """
    connection.execute("SET LOCAL session_replication_role = replica")  # what refers to what is right in the seeds
    connection.execute(
        """CREATE TEMPORARY TABLE copied ON COMMIT DROP AS
        SELECT scopes.id AS seed, 'channel:c' || number AS new_key
        FROM switchboard_memory.scopes, generate_series(%(seeds)s::bigint, %(last)s::bigint) AS number
        WHERE scopes.key = 'channel:c' || number %% %(seeds)s""",
        {"seeds": SEEDS, "last": scopes - 1},
    )
    columns = _columns(connection)
    others = _listed(each for each in columns["scopes"] if each not in {"id", "key"})
    connection.execute(
        sql.SQL(
            """INSERT INTO switchboard_memory.scopes (key, {0})
            SELECT new_key, {0} FROM copied JOIN switchboard_memory.scopes ON id = seed"""
        ).format(others)
    )
    for table, names in columns.items():
        if {"scope", "seq"} <= names:
            connection.execute(
                sql.SQL(
                    """INSERT INTO switchboard_memory.{0} (scope, {1})
                    SELECT scopes.id, {1} FROM copied JOIN switchboard_memory.scopes ON key = new_key
                    JOIN switchboard_memory.{0} ON scope = seed ORDER BY seq / %s, scopes.id, seq"""
                ).format(sql.Identifier(table), _listed(names - {"scope"})),
                (NEW_RECORDS,),
            )


def _columns(connection: psycopg.Connection) -> dict[str, set[str]]:
    """The names of each table's columns."""
    found = connection.execute(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'switchboard_memory'"
    )
    columns: dict[str, set[str]] = {}
    for table, column in found:
        columns.setdefault(table, set()).add(column)
    return columns


def _listed(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, sorted(names)))

"""Statements of every turn, each compiled once.

SQLAlchemy writes them and says how values travel. SQLite's own cursor carries them out, for which SQLAlchemy takes ten
times as long as SQLite itself; on PostgreSQL, where each is a trip to a server, SQLAlchemy does that as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Dialect, Select, Table, Update
from sqlalchemy import Insert as PlainInsert
from sqlalchemy.dialects import postgresql, sqlite

Values = Mapping[str, Any]
Row = Sequence[Any]
Insert = sqlite.Insert | postgresql.Insert
Statement = Select[*tuple[Any, ...]] | PlainInsert | Update

_Turns = Sequence[tuple[int, Callable[[Any], Any]]]
"""For those values, by place, that are not to the driver what they are here, what makes them so, or takes it back."""
_SQLITE = "sqlite"


@dataclass(frozen=True, slots=True)
class _Plan:
    """The statement as SQLite's driver takes it."""

    sql: str
    constants: Values
    """What the statement itself says."""
    names: Sequence[str]
    """Of its parameters, in the order of its places for them."""
    given: _Turns
    found: _Turns

    def carried_out(self, connection: Connection, values: Values) -> Any:
        """The driver's cursor."""
        return _transaction(connection).cursor().execute(self.sql, self.parameters(values))

    def parameters(self, values: Values) -> list[Any]:
        whole = {**self.constants, **values} if self.constants else values
        return _turned([whole[name] for name in self.names], self.given)

    def read(self, rows: list[Row]) -> Sequence[Row]:
        return [_turned(list(row), self.found) for row in rows] if self.found else rows


class Prepared:
    """A statement whose values always have the same names. Rows have its columns, in its order.

    An insertion is given every column but a counted key: defaults of a table's own are not filled in.
    """

    def __init__(self, statement: Statement | Mapping[str, Statement]) -> None:
        """A mapping has the statement for each dialect, by name."""
        self._statement = statement
        self._plan: _Plan | None = None

    def rows(self, connection: Connection, values: Values) -> Sequence[Row]:
        """Carry it out; what it found or returned."""
        if connection.dialect.name != _SQLITE:
            result = connection.execute(self._written(connection.dialect), values)
            return result.all() if result.returns_rows else ()
        plan = self._planned(connection.dialect, values)
        return plan.read(plan.carried_out(connection, values).fetchall())

    def row(self, connection: Connection, values: Values) -> Row | None:
        """The first of its rows."""
        return next(iter(self.rows(connection, values)), None)

    def changed(self, connection: Connection, values: Values) -> int:
        """Carry it out; how many rows it wrote. For what returns nothing."""
        if connection.dialect.name != _SQLITE:
            counting = {"preserve_rowcount": True}  # which it does not do for insertions by itself
            return connection.execute(self._written(connection.dialect), values, execution_options=counting).rowcount
        return self._planned(connection.dialect, values).carried_out(connection, values).rowcount

    def inserted(self, connection: Connection, values: Values) -> int | None:
        """Carry it out; the counted key of the row, ``None`` if none was inserted.

        For what returns nothing: SQLite knows the key anyway, and RETURNING takes as long as the insertion.
        """
        if connection.dialect.name != _SQLITE:
            key = connection.execute(self._written(connection.dialect), values).inserted_primary_key
            return None if key is None else key[0]
        cursor = self._planned(connection.dialect, values).carried_out(connection, values)
        return cursor.lastrowid if cursor.rowcount else None

    def run_each(self, connection: Connection, values: Sequence[Values]) -> None:
        """Carry it out with each of ``values``, of which there are some; for what returns nothing."""
        if connection.dialect.name != _SQLITE:
            connection.execute(self._written(connection.dialect), values)
            return
        plan = self._planned(connection.dialect, values[0])
        _transaction(connection).cursor().executemany(plan.sql, [plan.parameters(each) for each in values])

    def _written(self, dialect: Dialect) -> Statement:
        return self._statement[dialect.name] if isinstance(self._statement, Mapping) else self._statement

    def _planned(self, dialect: Dialect, values: Values) -> _Plan:
        if self._plan is None:
            self._plan = _plan(self._written(dialect), dialect, values)
        return self._plan


def inserting(table: Table, wanted: Callable[[Insert], Statement]) -> Prepared:
    """An insertion with what the dialects of both databases say alike, but not the same insertion's (ON CONFLICT)."""
    return Prepared({"sqlite": wanted(sqlite.insert(table)), "postgresql": wanted(postgresql.insert(table))})


def _plan(statement: Statement, dialect: Dialect, values: Values) -> _Plan:
    compiled = statement.compile(dialect=dialect, column_keys=list(values))
    names = compiled.positiontup or ()
    given = [compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names]
    found = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in statement.exported_columns]
    constants = {name: value for name, value in compiled.params.items() if name not in values}
    return _Plan(compiled.string, constants, names, _turns(given), _turns(found))


def _turns(processors: Iterable[Callable[[Any], Any] | None]) -> _Turns:
    return [(place, processor) for place, processor in enumerate(processors) if processor is not None]


def _turned(values: list[Any], turns: _Turns) -> list[Any]:
    for place, turn in turns:
        values[place] = turn(values[place])
    return values


def _transaction(connection: Connection) -> Any:
    """The driver's connection, with a transaction under way as SQLAlchemy's own execution would have it."""
    if not connection.in_transaction():
        connection.begin()
    return connection.connection.dbapi_connection

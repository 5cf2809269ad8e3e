"""Column types that mean the same in SQLite and in PostgreSQL."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Dialect, Integer
from sqlalchemy.types import TypeDecorator

from app.state.errors import StateValueError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

BigId = BigInteger().with_variant(Integer(), "sqlite")
"""A counted key. SQLite counts only what is declared INTEGER."""


class Instant(TypeDecorator[datetime]):
    """An aware moment, kept as microseconds since 1970: exact, ordered, and free of time zones."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - the library's
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the library's
        """Raises ``StateValueError``: SQLite keeps any value in any column, and a number can be beyond all years."""
        try:
            return None if value is None else _EPOCH + value * _MICROSECOND
        except (TypeError, OverflowError):
            raise StateValueError("a moment in the state database is none") from None

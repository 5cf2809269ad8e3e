"""Where a PostgreSQL database is: an address read with care, because it holds a password that nobody may see."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memory.store import StoreUnavailableError

_SCHEMES = ("postgresql://", "postgres://")
_SPECIAL = "@:/?#"
"""What a password has to have percent-encoded: left as it is, a part of it reads as host, port or database."""
_PATIENCE = {"keepalives_idle": "10", "keepalives_interval": "3", "keepalives_count": "3", "tcp_user_timeout": "10000"}
"""A connection whose other end has vanished is given up after about as many seconds as a request has."""


@dataclass(frozen=True, slots=True)
class Address:
    """How to connect, and how to speak of it; neither shows in its ``repr``."""

    conninfo: str = field(repr=False)
    name: str
    """Database and host, as sentences name them."""


def address_of(url: str, *, connect_s: float) -> Address:
    """Raises ``StoreUnavailableError``, which repeats nothing of ``url``, for what is no address of PostgreSQL."""
    parts = _parts(url)
    host = parts.get("host") or parts.get("hostaddr") or "this machine"
    database = parts.get("dbname") or parts.get("user") or "its default database"
    ports = [port for port in parts.get("port", "").split(",") if port]
    if any(mark in database for mark in _SPECIAL) or "@" in host or not all(port.isdecimal() for port in ports):
        raise _unreadable()
    wishes = {**_PATIENCE, **parts, "connect_timeout": str(max(1, round(connect_s))), "client_encoding": "UTF8"}
    wishes.setdefault("application_name", "switchboard-memory")
    return Address(make_conninfo("", **wishes), f"{database} on {host}")


def _parts(url: str) -> Mapping[str, str]:
    if not url.startswith(_SCHEMES):
        raise _unreadable()
    try:
        return {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except ProgrammingError:
        # Neither the message nor the chain: the driver quotes what it cannot read, which may be the password.
        raise _unreadable() from None


def _unreadable() -> StoreUnavailableError:
    return StoreUnavailableError(
        "the address of memory's database cannot be read: it must be postgresql://user:password@host:port/database,"
        " with special characters percent-encoded"
    )

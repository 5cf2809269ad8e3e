"""Where a memory is kept, as an operator writes it: a folder of SQLite files, a PostgreSQL server, a memory service."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30})://")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_KINDS = "a folder of scope files, postgresql://… or https://… of a memory service"


class AddressError(ValueError):
    """It is no address; the sentence says why and repeats nothing of it but its scheme."""


@dataclass(frozen=True, slots=True)
class Folder:
    """SQLite files, one for each scope: a bot's ``<data_dir>/memory``, or a backup."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class Database:
    """A database of a PostgreSQL server; ``url`` may hold a password and is not to be shown."""

    url: str = field(repr=False)
    place: str
    """Server and database, without who asks and how."""

    def __str__(self) -> str:
        return f"postgresql://{self.place}"


@dataclass(frozen=True, slots=True)
class Service:
    """A memory service; its token is no part of its address."""

    url: str

    def __str__(self) -> str:
        return self.url


Address = Folder | Database | Service


def parsed(text: str) -> Address:
    """Raises ``AddressError``."""
    if not text.strip() or _CONTROL.search(text):
        raise AddressError(f"an address must not be empty nor have control characters in it: {_KINDS}")
    scheme = _SCHEME.match(text)
    if scheme is None:
        return Folder(Path(text))
    match scheme[1].lower():
        case "postgresql" | "postgres":
            return _database(text)
        case "http" | "https":
            return _service(text)
        case other:
            raise AddressError(f"{other}:// is no address of a memory: {_KINDS}")


def is_same(one: Address, other: Address) -> bool:
    """Whether both name one place in the same words; for folders, links and dots have to be resolved before."""
    match one, other:
        case Database(), Database():
            return one.place == other.place
        case _:
            return one == other


def _database(text: str) -> Database:
    parts = _split(text)
    # Another "@", or one behind the server's part, belongs to a password that only looks as if it had ended.
    if parts.netloc.count("@") > 1 or "@" in f"{parts.path}{parts.query}" or parts.fragment:
        raise AddressError("in a postgresql:// address, @ / ? # of a user's name or password are written as %40 %2F …")
    host, database = parts.netloc.rpartition("@")[2].lower(), parts.path.strip("/")
    # Without a server in its place, the address may name one behind the question mark.
    beside = [] if host else [each for each in parts.query.split("&") if each.startswith(("host=", "port="))]
    return Database(text, f"{host}/{database}{'?' if beside else ''}{'&'.join(beside)}")


def _service(text: str) -> Service:
    parts = _split(text)
    if "@" in text:
        raise AddressError("the address of a memory service has no user or password in it: set MEMORY_TOKEN")
    if parts.query or parts.fragment:
        raise AddressError("the address of a memory service ends before any ? or #")
    if not _hostname(parts):
        raise AddressError("the address of a memory service needs a host, and a port from 1 to 65535 if any")
    return Service(f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}")


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:
        raise AddressError("the address has a host that is none") from None


def _hostname(parts: SplitResult) -> str | None:
    try:
        return parts.hostname if parts.port != 0 else None
    except ValueError:
        return None

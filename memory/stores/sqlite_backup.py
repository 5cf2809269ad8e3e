"""Copies of scope files made by SQLite itself, safe while others read and write, and checked before they count."""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memory.record import Status
from memory.store import StoreFullError
from memory.stores.sqlite_archive import paths
from memory.stores.sqlite_connections import FAULTS, connect, is_full, is_there, path_of, sync_directory, words_of
from memory.stores.sqlite_erasing import shards
from memory.stores.sqlite_rows import status_of
from memory.stores.sqlite_schema import scope_key_of, transaction, version
from memory.stores.sqlite_scrubbing import scrub_if_owed
from memory.walking import Step, Watch

TIMEOUT_S = 5.0
THREADS = 4


@dataclass(frozen=True, slots=True)
class Held:
    """What files hold, and what is wrong with those that are not to be relied on."""

    scopes: int = 0
    records: Counter[Status] = field(default_factory=Counter[Status])
    faults: tuple[str, ...] = ()

    def __add__(self, other: "Held") -> "Held":
        return Held(self.scopes + other.scopes, self.records + other.records, self.faults + other.faults)


def back_up(source: Path, target: Path, watch: Watch) -> Held:
    """Copy every scope file below ``source``, each as it is at one moment, and check the copies.

    A file that cannot be copied is a fault, and the others are copied. Raises ``StoreFullError``. Uses that searches
    have not settled yet are not in the files.
    """
    return _total("back up", partial(_backed_up, source, target), list(paths(source)), watch)


def examine(folder: Path, watch: Watch) -> Held:
    """Check every scope file below ``folder``, which nobody else uses, and bring it to the disk."""
    return _total("check", partial(_examined, folder), list(paths(folder)), watch)


def sync_folders(folder: Path) -> None:
    """Bring to the disk which files there are."""
    for shard in shards(folder):
        sync_directory(shard)
    sync_directory(folder)


def _total(step: Step, work: Callable[[Path], Held], files: list[Path], watch: Watch) -> Held:
    watch.begin(step, len(files))
    total = Held()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="backup") as executor:
        for held in executor.map(work, files):
            total += held
            watch.advance(1)
    return total


def _backed_up(source: Path, target: Path, file: Path) -> Held:
    copied = target / file.relative_to(source)
    try:
        counted = _copied(file, copied)
    except FAULTS as exc:
        if is_full(exc):
            raise StoreFullError(f"{target.parent} has no room left") from exc
        # What is not there any more was erased meanwhile.
        return Held(faults=(f"{file}: {words_of(exc)}",)) if is_there(file) else Held()
    if counted is None:
        return Held()
    held = _examined(target, copied)
    if not held.faults and held.records != counted:
        return Held(faults=(f"{copied} has not the records of {file}",))
    return held


def _copied(file: Path, copied: Path) -> Counter[Status] | None:
    """What the file held at the moment of which the copy is; ``None`` for one that nothing was written to."""
    with closing(connect(file, timeout_s=TIMEOUT_S)) as source:
        if not version(source):
            return None
        copied.parent.mkdir(mode=0o700, exist_ok=True)
        with transaction(source, "DEFERRED"), closing(sqlite3.connect(copied)) as target:
            counted = _counted(source)  # The first read fixes the moment.
            copied.chmod(0o600)
            target.execute("PRAGMA synchronous = OFF")  # It is brought to the disk when it is whole.
            target.execute("PRAGMA journal_mode = OFF")
            source.backup(target)
    return counted


def _examined(folder: Path, file: Path) -> Held:
    """Whether SQLite finds the file sound and it is where its scope's belongs; then it is brought to the disk."""
    try:
        with closing(connect(file, timeout_s=TIMEOUT_S)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            if found != "ok":
                return Held(faults=(f"{file} is damaged: {found}",))
            if path_of(folder, scope_key_of(connection)) != file:
                return Held(faults=(f"{file} is not of the scope that its name says",))
            scrub_if_owed(connection)
            records = _counted(connection)
        _sync_file(file)
    except FAULTS as exc:
        return Held(faults=(f"{file}: {words_of(exc)}",))
    return Held(int(bool(records)), records)


def _counted(connection: sqlite3.Connection) -> Counter[Status]:
    found = connection.execute("SELECT status, count(*) FROM records GROUP BY status").fetchall()
    return Counter({status_of(status): int(count) for status, count in found})


def _sync_file(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())

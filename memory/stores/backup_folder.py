"""The folder of a backup: it has its name only once everything in it is on the disk."""

import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory.stores.sqlite_backup import sync_folders
from memory.stores.sqlite_connections import sync_directory

UNFINISHED, INCOMPLETE = ".unfinished", ".incomplete"


@dataclass(frozen=True, slots=True)
class BackupFolder:
    """``path`` is where it is filled; what is there when nobody fills it any more is half a backup."""

    path: Path

    def finish(self, *, is_whole: bool) -> Path:
        """Give it its name, or one that says that something could not be copied."""
        sync_folders(self.path)
        final = self.path.with_name(self.path.name.removesuffix(UNFINISHED) + ("" if is_whole else INCOMPLETE))
        self.path.rename(final)
        sync_directory(final.parent)
        return final


@contextmanager
def new_folder(parent: Path, now: datetime) -> Generator[BackupFolder]:
    """An empty folder below ``parent``, named by the time, which is removed unless the block comes to its end.

    Raises ``OSError`` when there can be none.
    """
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = BackupFolder(_made(parent, f"memory-{now:%Y%m%dT%H%M%SZ}"))
    with ExitStack() as unless_it_works:
        unless_it_works.callback(shutil.rmtree, folder.path, ignore_errors=True)
        yield folder
        unless_it_works.pop_all()


def _made(parent: Path, name: str) -> Path:
    """Two backups of one second have different names."""
    number = 0
    while True:
        taken = name if not number else f"{name}.{number}"
        number += 1
        if not any((parent / f"{taken}{ending}").exists() for ending in ("", INCOMPLETE)):
            try:
                (parent / f"{taken}{UNFINISHED}").mkdir(mode=0o700)
            except FileExistsError:
                continue
            return parent / f"{taken}{UNFINISHED}"

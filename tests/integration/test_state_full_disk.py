"""What the bot's records say of a disk without room, which is a small one of its own."""

import asyncio
import json
import sys
from pathlib import Path

from tests.small_disks import on_a_small_disk

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from app.clock import SystemClock
from app.sessions.entry import SessionKey
from app.state.errors import StateFullError
from app.state.journal import StateJournal
from app.state.opening import default_url, open_database
from tests.fakes import message

async def refusal(call):
    try:
        await call
    except StateFullError as exc:
        return str(exc)
    return None

def fill(file):
    with file.open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4_096))
        except OSError:
            pass

async def begin(disk):
    async with open_database(default_url(disk), SystemClock()):
        return

async def main(disk):
    async with open_database(default_url(disk), SystemClock()) as database:
        journal = StateJournal(database, SystemClock())

        def said(number):
            text = "secret " + "x" * 2_000
            return journal.accept(message(text, event=f"Ev{number}", position=f"{number}.0"), SessionKey("key"), None)

        first = await said(1)
        fill(disk / "ballast")
        told = [await refusal(said(number)) for number in range(2, 5)]
        kept = [each.accepted.id for each in await journal.unfinished()] == [first.id]
        (disk / "ballast").unlink()
        again = [await said(number) is not None for number in range(1, 5)]
    fill(disk / "ballast")
    begun = await refusal(begin(disk))
    print(json.dumps({"told": told, "kept": kept, "again": again, "begun": begun}))

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_on_a_full_disk_nothing_is_accepted_and_what_was_is_kept_until_there_is_room(tmp_path: Path) -> None:
    """What was refused left no name behind, so it is accepted when the platform tells of it again."""
    lines = await asyncio.to_thread(on_a_small_disk, tmp_path, sys.executable, "-c", PROGRAM, str(tmp_path))
    told = json.loads(lines.splitlines()[-1])
    assert told["told"] == ["no room on the disk for the state database"] * 3
    assert told["kept"]
    assert told["begun"] == "no room on the disk for the state database"
    assert told["again"] == [False, True, True, True]

"""`switchboard memory copy` and `memory backup`, as an operator runs them."""

import asyncio
import shlex
import sys
from collections.abc import Generator
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import invoke
from memory.record import MemoryRecord
from memory.stores.sqlite_connections import path_of
from tests.command_runs import Finished, switchboard
from tests.forked_processes import ROOT
from tests.memory_records import ORG, USER, Shelf, fact, record
from tests.memory_services import served_memory
from tests.moving_house import everything
from tests.small_disks import on_a_small_disk
from tests.state_databases import PostgresServer

SETTINGS = {"SWITCHBOARD_ORGANIZATION": "acme", "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo"}
TOKEN = "hunter2-hunter2-hunter2"
RECORDS = 6
WHOLE = "verified: the target has every record of the source"


@pytest.fixture
async def kept(tmp_path: Path) -> dict[str, str]:
    """What is in the bot's own folder."""
    async with Shelf("sqlite-relevance", tmp_path / "data" / "memory").open() as store:
        await store.write(ORG, [fact("one"), fact("two"), fact("three"), fact("four")])
        await store.forget(ORG, "mem:org:acme:1")
        await store.write(USER, [fact("mine"), fact("too")])
        return await everything(store)


async def in_folder(folder: Path) -> dict[str, str]:
    async with Shelf("sqlite-relevance", folder).open() as store:
        return await everything(store)


def here(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Finished:
    """A command in this process, which is quicker."""
    with chdir(folder):
        status = invoke(arguments)
    said = capsys.readouterr()
    return Finished(status, said.out, said.err)


def figures(out: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)


async def test_a_folder_is_copied_to_a_folder_and_compared(tmp_path: Path, kept: dict[str, str]) -> None:
    done = await switchboard(tmp_path, "memory", "copy", "--from", "data/memory", "--to", "new/memory")
    assert done.status == 0
    assert done.out.splitlines() == [
        "scopes: 2",
        "records: 6 (5 active, 1 forgotten)",
        "copied: 6",
        "already there: 0",
        "different: 0",
        "missing: 0",
        "only in the target: 0",
        WHOLE,
    ]
    assert done.complaints == [
        "from data/memory to new/memory",
        "copying records: about 6",
        "comparing records: about 6",
    ]
    assert await in_folder(tmp_path / "new" / "memory") == kept
    again = await switchboard(tmp_path, "memory", "copy", "--from", "data/memory", "--to", "new/memory")
    assert (again.status, figures(again.out)["copied"], figures(again.out)["already there"]) == (0, "0", "6")


async def test_records_that_are_not_there_afterwards_are_status_one(tmp_path: Path, kept: dict[str, str]) -> None:
    async with Shelf("sqlite-relevance", tmp_path / "new").open() as store:
        await store.restore(ORG, [record(70, "three")])
    done = await switchboard(tmp_path, "memory", "copy", "--from", "data/memory", "--to", "new")
    assert done.status == 1
    told = figures(done.out)
    assert (told["copied"], told["missing"], told["only in the target"]) == ("5", "mem:org:acme:2", "mem:org:acme:70")
    assert "scope org:acme" in told
    assert done.out.splitlines()[-1].startswith("not whole: what is named above")
    assert len(await in_folder(tmp_path / "new")) == len(kept)


@pytest.mark.usefixtures("kept")
async def test_a_damaged_file_is_named_and_the_rest_is_copied(tmp_path: Path) -> None:
    path = path_of(Path("data/memory"), ORG)
    (tmp_path / path).write_bytes(b"\x99" * 8_192)
    done = await switchboard(tmp_path, "memory", "copy", "--from", "data/memory", "--to", "new")
    told = figures(done.out)
    assert (done.status, told["scopes"], told["copied"], told["missing"]) == (1, "1", "2", "0")
    assert [line for line in done.out.splitlines() if path.name in line] == [
        f"the memory file {path} cannot be used: file is not a database"
    ]
    assert done.out.splitlines()[-1].startswith("not whole: what is named above")
    assert {each.split(":")[1] for each in await in_folder(tmp_path / "new")} == {"user"}


async def test_a_damaged_file_of_the_target_is_named_once_and_the_other_scopes_are_copied(
    tmp_path: Path, kept: dict[str, str]
) -> None:
    there = [path_of(Path("new"), key) for key in (ORG, "user:slack:U999")]
    for path in there:
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"\x99" * 8_192)
    done = await switchboard(tmp_path, "memory", "copy", "--from", "data/memory", "--to", "new")
    told = figures(done.out)
    assert (done.status, told["copied"], told["missing"]) == (1, "2", "0")
    damaged, alien = (f"the memory file {path} cannot be used: file is not a database" for path in there)
    assert sorted(line for line in done.out.splitlines() if "cannot be used" in line) == [
        f"scope {ORG}: {damaged}",
        alien,
    ]
    assert done.out.splitlines()[-1].startswith("not whole: what is named above")
    for path in there:
        (tmp_path / path).unlink()
    assert set(await in_folder(tmp_path / "new")) == {each for each in kept if each.startswith("mem:user:")}


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Missing option '--from'"),
        (["--from", "data/memory"], "Missing option '--to'"),
        (["--from"], "Option '--from' requires an argument"),
        (["--from", "data/memory", "--to", "new", "more"], "unexpected extra argument"),
        (["--from", "", "--to", "new"], "an address must not be empty"),
        (["--from", "gone", "--to", "new"], "there is no folder gone"),
        (["--from", "a-file", "--to", "new"], "the folder a-file cannot be read: Not a directory"),
        (["--from", "data", "--to", "new"], "data is no folder of scope files: a bot keeps its memory in <data_dir>"),
        (["--from", "data/memory", "--to", "a-file"], "a-file cannot be made a folder: File exists"),
        (["--from", "data/memory", "--to", "a-file/new"], "a-file/new cannot be made a folder: Not a directory"),
        (["--from", "data/memory", "--to", "other"], "other is no folder of scope files"),
        (["--from", "data/memory", "--to", "data/../data/memory/"], "--from and --to are the same store"),
        (["--from", "data/memory", "--to", "link"], "--from and --to are the same store"),
        (["--from", "data/memory", "--to", "data/memory/new"], "one of the folders is inside the other"),
        (["--from", "data/memory", "--to", "ftp://u:SECRET@host"], "ftp:// is no address of a memory"),
        (["--from", "postgresql://u:SECRET@db/m", "--to", "postgresql://v:SECRET@db/m"], "are the same store"),
        (["--from", "postgresql://u:SECR@T@db/m", "--to", "new"], "are written as %40 %2F"),
        (["--from", "postgresql://u:SECRET@127.0.0.1:1/m", "--to", "new"], "127.0.0.1"),
        (["--from", "data/memory", "--to", "http://127.0.0.1:1"], "MEMORY_TOKEN is not set"),
        (["--from", "data/memory", "--to", "new", "--config", "gone.yaml"], "gone.yaml: cannot be read"),
    ],
)
def test_what_cannot_be_copied_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    (tmp_path / "a-file").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "photo.jpg").touch()
    (tmp_path / "link").symlink_to("data/memory")
    done = here(tmp_path, capsys, "memory", "copy", *arguments)
    assert (done.status, done.out) == (2, "")
    assert complaint in done.complaints[-1]
    assert done.complaints[-1].startswith("switchboard: ")
    assert len([line for line in done.complaints if not line.startswith("from ")]) == 1
    assert "SECR" not in done.err


@pytest.mark.usefixtures("kept")
async def test_a_server_that_is_not_there_is_refused_without_its_token(tmp_path: Path) -> None:
    done = await switchboard(
        tmp_path,
        "memory",
        "copy",
        "--from",
        "data/memory",
        "--to",
        "http://127.0.0.1:1",
        environ={"MEMORY_TOKEN": TOKEN},
    )
    assert (done.status, done.out) == (2, "")
    assert done.complaints[-1].startswith("switchboard: the memory service cannot be reached")
    assert TOKEN not in done.err


@contextmanager
def memory_service(folder: Path) -> Generator[str]:
    """The address of a service of its own process."""
    command, environ = ("memory-service", "--data-dir", str(folder)), {"MEMORY_TOKEN": TOKEN}
    with served_memory(folder.parent, module="app", command=command, environ=environ) as service:
        yield f"http://127.0.0.1:{service.port}"


async def test_a_memory_moves_into_a_service_and_is_backed_up_from_there(tmp_path: Path, kept: dict[str, str]) -> None:
    token = {"MEMORY_TOKEN": TOKEN}
    with memory_service(tmp_path / "served") as url:
        wrong = await switchboard(
            tmp_path, "memory", "copy", "--from", "data/memory", "--to", url, environ={"MEMORY_TOKEN": "wrong-SECRET"}
        )
        there = await switchboard(tmp_path, "memory", "copy", "--from", "data/memory", "--to", url, environ=token)
        backup = await switchboard(
            tmp_path, "memory", "backup", environ={**token, "SWITCHBOARD_MEMORY__WORKER__BASE_URL": url}
        )
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.complaints[-1].startswith("switchboard: the memory service refused the bearer token")
    assert "SECRET" not in wrong.err
    assert (there.status, there.out.splitlines()[-1]) == (0, WHOLE)
    assert (backup.status, figures(backup.out)["scopes"]) == (0, "2")
    assert await in_folder(tmp_path / backup.out.splitlines()[0]) == kept


async def test_a_memory_moves_into_a_database_and_back(
    tmp_path: Path, kept: dict[str, str], postgres: PostgresServer
) -> None:
    url = postgres.new()
    there = await switchboard(tmp_path, "memory", "copy", "--from", "data/memory", "--to", url)
    back = await switchboard(tmp_path, "memory", "copy", "--from", url, "--to", "back")
    backup = await switchboard(tmp_path, "memory", "backup", "--from", url, "--to", "kept")
    assert (there.status, there.out.splitlines()[-1]) == (0, WHOLE)
    assert (back.status, back.out.splitlines()[-1]) == (0, WHOLE)
    assert await in_folder(tmp_path / "back") == kept
    assert backup.status == 0
    assert await in_folder(tmp_path / backup.out.splitlines()[0]) == kept


async def test_a_backup_is_named_checked_and_puts_everything_back(tmp_path: Path, kept: dict[str, str]) -> None:
    done = await switchboard(tmp_path, "memory", "backup")
    folder, *told = done.out.splitlines()
    assert (done.status, told) == (0, ["scopes: 2", "records: 6 (5 active, 1 forgotten)"])
    assert done.complaints == ["backing up scopes: about 2"]
    assert folder.startswith("data/backups/memory-2")
    assert [path.name for path in (tmp_path / "data" / "backups").iterdir()] == [folder.rpartition("/")[2]]
    assert {path.suffix for path in (tmp_path / folder).rglob("*") if path.is_file()} == {".db"}
    restored = await switchboard(tmp_path, "memory", "copy", "--from", folder, "--to", "restored")
    assert (restored.status, restored.out.splitlines()[-1]) == (0, WHOLE)
    assert await in_folder(tmp_path / "restored") == await in_folder(tmp_path / folder) == kept


@pytest.mark.usefixtures("kept")
async def test_a_backup_with_a_file_missing_is_status_one_and_named_so(tmp_path: Path) -> None:
    path = path_of(tmp_path / "data" / "memory", ORG)
    path.write_bytes(b"no database" * 1_000)
    done = await switchboard(tmp_path, "memory", "backup", "--from", "data/memory", "--to", "kept")
    assert (done.status, figures(done.out)["scopes"]) == (1, "1")
    assert done.out.splitlines()[0].endswith(".incomplete")
    assert done.complaints[-1].startswith(f"switchboard: not copied: data/memory/{path.parent.name}/{path.name}: ")


async def test_a_copy_that_finds_no_room_says_how_it_goes_on(tmp_path: Path) -> None:
    said = await on_small(tmp_path, "memory", "copy", "--from", "data/memory", "--to", "small")
    assert "\n2\n" in said
    assert "cannot be used: database or disk is full; what was copied stays, and the same command goes on" in said


async def test_a_backup_that_finds_no_room_leaves_nothing(tmp_path: Path) -> None:
    said = await on_small(tmp_path, "memory", "backup", "--from", "data/memory", "--to", "small")
    assert said.splitlines()[1:] == ["switchboard: small has no room left", "2"]


async def on_small(folder: Path, *arguments: str) -> str:
    """What the command says, its status and what is in ``small`` then, where there is no room for what is kept."""
    async with Shelf("sqlite-relevance", folder / "data" / "memory").open() as store:
        for key in (ORG, USER):
            await store.restore(key, [large(key, number) for number in range(100)])
    (folder / "small").mkdir()
    program = "import sys; from app.cli import invoke; sys.exit(invoke(sys.argv[1:]))"
    command = (sys.executable, "-c", program, *arguments)
    script = f"cd {folder} && PYTHONPATH={ROOT} {shlex.join(command)} 2>&1; echo $?; ls -A small"
    return await asyncio.to_thread(on_a_small_disk, folder / "small", "sh", "-c", script)


def large(key: str, number: int) -> MemoryRecord:
    return replace(record(number, f"{number} {'x' * 3_800}"), id=f"mem:{key}:{number}", scope_key=key)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--from", "gone"], "there is no folder gone"),
        (["--from", "data"], "data is no folder of scope files"),
        (["--to", "a-file"], "a-file cannot be used: File exists"),
        (["--to", "data/memory"], "the backup would be inside the folder it is of"),
        (["--to", "data/memory/backups"], "the backup would be inside the folder it is of"),
        (["--from", "https://example.com"], "MEMORY_TOKEN is not set"),
        (["--config", "inprocess.yaml"], "memory.store is inprocess, which keeps nothing"),
        (["--config", "postgres.yaml"], "needs the database's address"),
    ],
)
def test_what_cannot_be_backed_up_is_refused_in_a_line_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    (tmp_path / "a-file").touch()
    for store in ("inprocess", "postgres"):
        (tmp_path / f"{store}.yaml").write_text(f"memory: {{store: {store}}}\n", encoding="utf-8")
    done = here(tmp_path, capsys, "memory", "backup", *arguments)
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)
    assert complaint in done.err
    assert not (tmp_path / "data" / "backups").exists()


async def test_the_settings_file_says_where_the_bots_memory_is(tmp_path: Path, kept: dict[str, str]) -> None:
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    (tmp_path / "other.yaml").write_text("data_dir: elsewhere\n", encoding="utf-8")
    for arguments in (("--config", "other.yaml", "memory", "backup"), ("memory", "backup", "--config", "other.yaml")):
        done = await switchboard(tmp_path, *arguments)
        assert done.status == 0, done.err
        assert await in_folder(tmp_path / done.out.splitlines()[0]) == kept


@pytest.mark.usefixtures("kept")
async def test_everything_else_about_memory_is_the_registrys(tmp_path: Path) -> None:
    environ = {**SETTINGS, "SWITCHBOARD_MEMORY__ENABLED": "true", "SWITCHBOARD_LOGS__LEVEL": "error"}
    listed = await switchboard(tmp_path, "memory", "list", "org", environ=environ)
    assert (listed.status, "four" in listed.out) == (0, True)
    unknown = await switchboard(tmp_path, "memory", "copied", environ=environ)
    assert (unknown.status, unknown.out) == (2, "")
    assert unknown.complaints[-1].startswith(
        "error (not_found): there is no such command; there are `switchboard memory list`, "
    )
    for words in (["memory", "help"], ["memory", "--help"]):
        shown = await switchboard(tmp_path, *words, environ=environ)
        for command in ("memory list", "memory forget", "memory copy", "memory backup"):
            assert f"- `switchboard {command}`: " in shown.out, words
    explained = await switchboard(tmp_path, "memory", "copy", "--help")
    assert (explained.status, "--from ADDRESS" in explained.out) == (0, True)

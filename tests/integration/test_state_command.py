"""`switchboard state`, as an operator runs it."""

from pathlib import Path

import pytest

from app.state.lock import holding
from app.state.migrating import newest
from app.state.opening import open_database
from tests.command_runs import switchboard
from tests.state_damage import LINES, changed, filled, leaves, overwrite, rows, url_of
from tests.state_databases import PostgresServer

SETTINGS = {"SWITCHBOARD_ORGANIZATION": "acme", "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return filled(tmp_path / "data" / "state.db")


async def test_a_sound_database_is_status_zero_by_its_path_and_by_the_settings(tmp_path: Path, file: Path) -> None:
    by_path = await switchboard(tmp_path, "state", "check", str(file))
    by_settings = await switchboard(tmp_path, "state", "check", environ=SETTINGS)
    assert (by_path.status, by_path.out, by_path.err) == (0, f"sound: schema {newest()}\n", "")
    assert by_settings == by_path


async def test_the_settings_file_may_name_it(tmp_path: Path, file: Path) -> None:
    content = f"organization: acme\ndefaults: {{model: offline/demo}}\nstate: {{url: '{url_of(file)}'}}\n"
    (tmp_path / "other.yaml").write_text(content, encoding="utf-8")
    for arguments in (("--config", "other.yaml", "state", "check"), ("state", "check", "--config", "other.yaml")):
        assert (await switchboard(tmp_path, *arguments)).status == 0


async def test_damage_is_status_one_with_the_command_that_repairs_it_which_does(tmp_path: Path, file: Path) -> None:
    overwrite(file, leaves(file, "transcript")[3])
    checked = await switchboard(tmp_path, "state", "check", str(file))
    assert (checked.status, checked.err) == (1, "")
    assert checked.out.startswith("damaged: ")
    command = checked.out.splitlines()[-1].removeprefix("stop the bot and run: ")
    repaired = await switchboard(tmp_path, *command.split()[1:])
    assert (repaired.status, repaired.err) == (0, "")
    first, second, *tables = repaired.out.splitlines()
    assert first.startswith(f"as it was: {file}.backup-")
    assert second == "repaired: its readable rows were carried over into a new file"
    assert f"transcript: {rows(file, 'transcript')} rows kept, {LINES - rows(file, 'transcript')} lost" in tables
    again = await switchboard(tmp_path, "state", "repair", str(file))
    assert (again.status, again.out) == (0, f"sound: nothing to repair, schema {newest()}\n")


async def test_a_damaged_index_is_nothing_to_stop_for(tmp_path: Path, file: Path) -> None:
    changed(file, "DELETE FROM transcript_fts_data")
    checked = await switchboard(tmp_path, "state", "check", str(file))
    assert checked.status == 1
    assert checked.out.startswith("index damaged: ")
    assert "the next start mends that by itself" in checked.out


async def test_what_cannot_be_repaired_is_status_one_and_left_as_it_was(tmp_path: Path, file: Path) -> None:
    overwrite(file, 1)
    done = await switchboard(tmp_path, "state", "repair", str(file))
    assert (done.status, done.err) == (1, "")
    assert "not repaired: " in done.out


async def test_a_backup_is_named_and_sound(tmp_path: Path, file: Path) -> None:
    done = await switchboard(tmp_path, "state", "backup", str(file))
    assert (done.status, done.err) == (0, "")
    checked = await switchboard(tmp_path, "state", "check", done.out.strip())
    assert checked.status == 0


async def test_a_bot_at_work_is_looked_at_and_backed_up_but_not_repaired(tmp_path: Path, file: Path) -> None:
    async with holding(url_of(file)):
        checked = await switchboard(tmp_path, "state", "check", str(file))
        backed_up = await switchboard(tmp_path, "state", "backup", str(file))
        repaired = await switchboard(tmp_path, "state", "repair", str(file))
    assert (checked.status, backed_up.status, repaired.status) == (0, 0, 2)
    assert len(repaired.complaints) == 1
    assert "another Switchboard (process " in repaired.err


@pytest.mark.parametrize("verb", ["check", "repair", "backup"])
async def test_what_is_not_there_is_refused_in_a_line_and_not_made(tmp_path: Path, verb: str) -> None:
    done = await switchboard(tmp_path, "state", verb, "gone.db")
    assert (done.status, done.out) == (2, "")
    assert done.complaints == ["switchboard: there is no state database at gone.db"]
    assert names_in(tmp_path) == []


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_server_is_checked_and_keeps_its_own_tools(
    tmp_path: Path, postgres: PostgresServer, postgres_url: str
) -> None:
    async with open_database(postgres_url):
        pass
    checked = await switchboard(tmp_path, "state", "check", postgres_url)
    assert (checked.status, checked.out, checked.err) == (0, f"sound: schema {newest()}\n", "")
    empty = await switchboard(tmp_path, "state", "check", postgres.new())
    assert (empty.status, empty.out) == (0, "sound: there are no tables yet, the next start makes them\n")
    for verb in ("repair", "backup"):
        done = await switchboard(tmp_path, "state", verb, postgres_url)
        assert (done.status, len(done.complaints)) == (2, 1)
        assert "pg_dump" in done.err


async def test_a_server_that_is_not_there_is_refused_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://bot:SECRET@/state?host={tmp_path}"
    done = await switchboard(tmp_path, "state", "check", url)
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)
    assert "the state database cannot be reached" in done.err
    assert "SECRET" not in done.err


async def test_a_group_without_a_verb_says_what_is_missing(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, "state")
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)
    listed = await switchboard(tmp_path, "state", "--help")
    assert listed.status == 0
    for verb in ("check", "repair", "backup"):
        assert verb in listed.out

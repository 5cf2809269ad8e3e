"""The memory service over files of which some are damaged: the rest is served, and no answer passes for everything."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from memory.stores.sqlite_connections import path_of
from tests.command_runs import switchboard
from tests.memory_records import Shelf, sql
from tests.memory_services import TOKEN, Json, ServedMemory, fact, served_memory
from tests.moving_house import everything

HEALTHY = ("org:acme", "user:slack:U1")
LOST = "user:slack:U2"
TORN = "user:slack:U3"
"""Its last record does not read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def service(folder: Path) -> Generator[ServedMemory]:
    with served_memory(folder, "--data-dir", str(folder)) as served:
        for scope in (*HEALTHY, LOST):
            served.write(scope, fact("deploys need approval"), fact("lunch is at noon"))
        for batch in range(11):
            served.write(TORN, *[fact(f"note {batch} {each}") for each in range(50)], cap=10_000)
        served.stop()
    path_of(folder / "memory", LOST).write_bytes(b"garbage" * 1_000)
    sql(path_of(folder / "memory", TORN), "UPDATE records SET created_at = 'never' WHERE seq = 549")
    with served_memory(folder, "--data-dir", str(folder)) as served:
        yield served


def test_scopes_and_counts_say_that_something_is_missing(service: ServedMemory) -> None:
    first = service.ask("/scopes", limit=1)["scopes"]
    rest = service.ask("/scopes", limit=9, after=first[0])["scopes"]
    assert {*first, *rest} == {*HEALTHY, TORN}
    assert service.ask("/scopes", limit=9)["unreadable"] == 1
    assert service.ask("/stats") == {"scopes": 3, "records": {"active": 554}, "unreadable": 1}
    assert service.ask("/stats", scopeKey=HEALTHY[0]) == {"scopes": 1, "records": {"active": 2}}
    assert service.post("/stats", {"scopeKey": LOST}).status_code == 503


def test_an_export_has_what_can_be_read_and_does_not_call_it_whole(service: ServedMemory) -> None:
    answer = service.post("/export", {})
    *records, end = map(json.loads, answer.text.splitlines())
    assert end == {"end": False, "records": 504, "unreadable": 2}
    assert {record["scopeKey"] for record in records} == {*HEALTHY, TORN}
    assert len(records) == 504, "the page that does not read is missing whole"
    left: list[Json] = [line for line in service.logged() if line["event"] == "memory_scope_left_aside"]
    for scope in (LOST, TORN):
        assert any(path_of(Path("memory"), scope).name in line["reason"] for line in left)
    assert service.post("/export", {"scopeKey": LOST}).status_code == 503


async def test_a_copy_brings_the_rest_and_is_not_called_whole(service: ServedMemory, tmp_path: Path) -> None:
    url = str(service.client.base_url)
    done = await switchboard(tmp_path, "memory", "copy", "--from", url, "--to", "new", environ={"MEMORY_TOKEN": TOKEN})
    assert done.status == 1
    lines = done.out.splitlines()
    assert sum("cannot look into all of its scopes" in line for line in lines) == 1
    assert any(line.startswith(f"scope {TORN}: ") for line in lines)
    assert lines[-1].startswith("not whole")
    async with Shelf("sqlite-relevance", tmp_path / "new").open() as store:
        assert {each.split(":", 1)[1].rpartition(":")[0] for each in await everything(store)} >= set(HEALTHY)


async def test_a_backup_over_the_service_says_by_its_name_that_it_is_not_whole(
    service: ServedMemory, tmp_path: Path
) -> None:
    url = str(service.client.base_url)
    done = await switchboard(
        tmp_path, "memory", "backup", "--from", url, "--to", "kept", environ={"MEMORY_TOKEN": TOKEN}
    )
    assert done.status == 1
    assert [each.suffix for each in (tmp_path / "kept").iterdir()] == [".incomplete"]
    assert "cannot look into all of its scopes" in done.err

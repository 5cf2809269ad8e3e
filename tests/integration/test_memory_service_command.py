"""The memory service's command: how it starts, what stands in its way, and how it says so."""

import asyncio
import socket
from contextlib import closing
from pathlib import Path

import pytest

from tests.command_runs import Finished, ran
from tests.memory_services import TOKEN, fact, served_memory, texts

MODULES = {"switchboard": ("app", "memory-service"), "memory.service": ("memory.service",)}


async def run(folder: Path, program: str, *arguments: str, **environ: str) -> Finished:
    return await ran(folder, *MODULES[program], *arguments, environ=environ)


@pytest.mark.parametrize("program", MODULES)
@pytest.mark.parametrize("token", [{}, {"MEMORY_TOKEN": ""}, {"MEMORY_TOKEN": "  "}])
async def test_without_a_token_nothing_is_served(tmp_path: Path, program: str, token: dict[str, str]) -> None:
    """Section 16: an unset or empty secret grants nothing."""
    done = await run(tmp_path, program, "--port", "0", **token)
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)
    assert done.err.startswith(f"{program}: MEMORY_TOKEN is not set")
    assert await asyncio.to_thread(lambda: list(tmp_path.iterdir())) == []


@pytest.mark.parametrize("program", MODULES)
async def test_a_port_that_is_taken_is_one_line(tmp_path: Path, program: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        done = await run(tmp_path, program, "--port", port, MEMORY_TOKEN=TOKEN)
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)
    assert f"127.0.0.1:{port}" in done.err
    assert TOKEN not in done.err


@pytest.mark.parametrize("program", MODULES)
@pytest.mark.parametrize("place", [("--port", "99999"), ("--port", "-1"), ("--host", "é" * 70)])
async def test_a_place_that_there_is_not_is_one_line(tmp_path: Path, program: str, place: tuple[str, str]) -> None:
    done = await run(tmp_path, program, *place, MEMORY_TOKEN=TOKEN)
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)
    assert place[0] in done.err


@pytest.mark.parametrize("program", MODULES)
async def test_a_folder_that_is_none_is_one_line(tmp_path: Path, program: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = await run(tmp_path, program, "--port", "0", "--data-dir", "file", MEMORY_TOKEN=TOKEN)
    assert (done.status, len(done.complaints)) == (2, 1)
    assert "--data-dir" in done.err


@pytest.mark.parametrize("program", MODULES)
async def test_a_database_needs_an_address_and_an_answer(tmp_path: Path, program: str) -> None:
    missing = await run(tmp_path, program, "--port", "0", "--store", "postgres", MEMORY_TOKEN=TOKEN)
    assert (missing.status, len(missing.complaints)) == (2, 1)
    assert "memory.postgres.url" in missing.err
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    url = f"postgresql://someone:secret-word@127.0.0.1:{port}/memory"
    environ = {"MEMORY_TOKEN": TOKEN, "SWITCHBOARD_MEMORY__POSTGRES__URL": url}
    silent = await run(tmp_path, program, "--port", "0", "--store", "postgres", **environ)
    assert (silent.status, len(silent.complaints)) == (2, 1), silent.err
    assert "secret-word" not in silent.err + silent.out


@pytest.mark.parametrize("program", MODULES)
async def test_every_fault_of_the_settings_is_told(tmp_path: Path, program: str) -> None:
    done = await run(
        tmp_path, program, MEMORY_TOKEN=TOKEN, SWITCHBOARD_MEMORY__RANKER="best", SWITCHBOARD_HTTP__PORT="x"
    )
    assert (done.status, len(done.complaints)) == (2, 2)
    assert {"memory.ranker", "http.port"} <= {word.rstrip(":") for word in done.err.split()}


def test_the_bots_command_serves_with_the_settings_of_the_file(tmp_path: Path) -> None:
    """No organisation, model or Slack token is needed; cap, ranker and the name of the token are the settings'."""
    (tmp_path / "switchboard.yaml").write_text(
        "data_dir: kept\nmemory:\n  max_records_per_scope: 2\n  ranker: keyword\n  worker: {token_env: MY_TOKEN}\n",
        encoding="utf-8",
    )
    environ = {"MEMORY_TOKEN": "", "MY_TOKEN": TOKEN}
    with served_memory(tmp_path, module="app", command=("memory-service",), environ=environ) as service:
        counts = service.write("org:acme", fact("deployments need approval"), fact("b"), fact("c"))
        assert (counts["inserted"], counts["evicted"]) == (3, 1)
        found = service.ask("/retrieve", scopeKey="org:acme", query="deployment", limit=5)["records"]
        assert texts(found) == []
        assert service.stop() == 0
        assert [line["event"] for line in service.logged()][-1] == "memory_service_stopped"
    assert (tmp_path / "kept" / "memory").is_dir()


def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    """Specification, section 15: records live in one database that survives every restart."""
    with served_memory(tmp_path) as service:
        service.write("org:acme", fact("deploys need approval"))
        assert service.stop() == 0
    with served_memory(tmp_path) as service:
        assert texts(service.retrieve("org:acme", "deploys")) == ["deploys need approval"]


@pytest.mark.parametrize(("token", "warnings"), [("guessable-15-ch", 1), ("long-enough-16ch", 0)])
def test_a_token_that_could_be_guessed_is_warned_of_without_being_shown(
    tmp_path: Path, token: str, warnings: int
) -> None:
    with served_memory(tmp_path, environ={"MEMORY_TOKEN": token}) as service:
        assert service.stop() == 0
        warned = [line["reason"] for line in service.logged() if line["event"] == "memory_service_warned"]
    assert len(warned) == warnings
    assert all(str(each).startswith("MEMORY_TOKEN has fewer than 16 characters") for each in warned)
    assert token not in str(service.logged())

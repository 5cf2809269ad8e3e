"""``switchboard <group> <verb> …`` and ``switchboard ask``: what is printed where, and the exit status."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from app.bootstrap_commands import groups
from app.cli import invoke
from app.cli_commands import Streams, after_config, run_command, without_json
from app.clock import SystemClock
from commands.registry import Registry
from commands.spec import Surface
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.sqlite import SqliteStore
from tests.command_runs import Finished, switchboard
from tests.surfaces import Kept, registry_of

MARKER = "hunter2-do-not-echo"
SETTINGS = """\
organization: acme
defaults: {model: offline/demo}
memory: {enabled: true, store: sqlite}
"""


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    out: str
    err: str


async def ran(kept: Kept, *arguments: str) -> Ran:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Registry]:
        yield registry_of(kept)

    out, err = StringIO(), StringIO()
    status = await run_command(arguments, opened, Streams(out, err))
    return Ran(status, out.getvalue(), err.getvalue())


async def test_the_answer_goes_to_standard_output_and_the_caller_is_the_operator() -> None:
    kept = Kept()
    done = await ran(kept, "echo", "show", "two", "words", "--limit", "7", "--is-loud")
    assert done == Ran(0, "echo of `cli:local`\n", "")
    ((caller, values),) = kept.seen
    assert (caller.id, caller.surface, caller.origin.visibility) == ("cli:local", Surface.CLI, "machine")
    assert values == {"words": "two words", "limit": 7, "isLoud": True, "scope": None}


@pytest.mark.parametrize("place", [0, 2, 4])
async def test_json_is_exactly_what_http_answers(place: int) -> None:
    """Reference bot, 9.13."""
    arguments = ["echo", "show", "--limit", "7"]
    done = await ran(Kept(), *arguments[:place], "--json", *arguments[place:])
    values = {"words": None, "limit": 7, "isLoud": False, "scope": None}
    assert json.loads(done.out) == {
        "ok": True,
        "command": "echo.show",
        "data": {"values": values, "caller": "cli:local"},
    }
    assert (done.status, done.err, done.out.count("\n")) == (0, "", 1)


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["echo", "show", "--limit", MARKER], 2, "invalid_input"),
        (["echo", "show", f"--{MARKER}"], 2, "invalid_input"),
        (["echo", "fail"], 2, "invalid_input"),
        (["echo", "dance"], 2, "not_found"),
        (["talk", "only"], 2, "not_found"),
        (["echo", "fail", "busy"], 75, "busy"),
        (["echo", "fail", "missing"], 1, "not_found"),
        (["echo", "fail", "conflict"], 1, "conflict"),
        (["echo", "fail", "down"], 1, "unavailable"),
        (["echo", "fail", "forbidden"], 1, "unauthorized"),
        (["echo", "fail", "crash"], 1, "internal"),
    ],
)
async def test_each_failure_has_its_exit_status_and_one_line_on_standard_error(
    arguments: Sequence[str], status: int, code: str
) -> None:
    """Reference bot, 9.13."""
    done = await ran(Kept(), *arguments)
    assert (done.status, done.out) == (status, "")
    assert done.err.startswith(f"error ({code}): ")
    assert done.err.count("\n") == 1
    assert MARKER not in done.err
    assert "s3cret" not in done.err


async def test_a_failure_in_json_is_on_both_streams_each_for_its_reader() -> None:
    done = await ran(Kept(), "echo", "fail", "conflict", "--json")
    assert json.loads(done.out) == {
        "ok": False,
        "command": "echo.fail",
        "error": "conflict",
        "message": "it changed meanwhile",
        "decidedBy": "handler",
    }
    assert done.err == "error (conflict): it changed meanwhile\n"


@pytest.mark.parametrize("arguments", [["help"], ["echo", "help"], ["echo", "show", "--help"], ["echo", "show", "-h"]])
async def test_help_is_there_at_every_level(arguments: Sequence[str]) -> None:
    done = await ran(Kept(), *arguments)
    assert (done.status, done.err) == (0, "")
    assert "echo show" in done.out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("help", "- `switchboard session new`: begin anew"),
        ("help memory forget", "Usage: `switchboard memory forget <id>`"),
        ("help show memory", "`switchboard memory forget`"),
        ("memory", "memory backup"),
        ("memory help", "memory copy"),
        ("memory --help", "memory copy"),
        ("memory -h", "`switchboard memory list`"),
        ("memory list --limit 5 --help", "Usage: `switchboard memory list"),
        ("session help --json", '"session.list"'),
    ],
)
def test_help_needs_no_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, told: str) -> None:
    (tmp_path / "switchboard.yaml").write_text("organization: [", encoding="utf-8")
    with chdir(tmp_path):
        status = invoke(line.split())
    said = capsys.readouterr()
    assert (status, said.err) == (0, "")
    assert told in said.out
    assert [each.name for each in tmp_path.iterdir()] == ["switchboard.yaml"]


@pytest.mark.parametrize("line", ["help zzz", "help memory zzz", "help show zzz --json"])
def test_help_about_no_command_is_a_rejected_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    with chdir(tmp_path):
        assert invoke(line.split()) == 2
    assert capsys.readouterr().err.startswith("error (not_found): there is no such command; ")


@pytest.mark.parametrize("line", ["memory list", "memory list -- --help", "memory list help", "status show"])
def test_what_is_no_help_needs_its_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    with chdir(tmp_path):
        status = invoke(line.split())
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    assert "organization: is required" in said.err


async def test_refusals_and_answers_name_commands_as_the_shell_takes_them() -> None:
    done = await ran(Kept(), "echo", "dance")
    there_are = ", ".join(f"`switchboard echo {verb}`" for verb in ("show", "change", "fail"))
    assert done.err == f"error (not_found): there is no such command; there are {there_are}\n"
    done = await ran(Kept(), "echo", "show", "--nope")
    assert "Usage: `switchboard echo show [<words>…]" in done.err


def test_json_behind_the_end_of_options_is_a_word() -> None:
    assert without_json(["echo", "show", "--", "--json"]) == (["echo", "show", "--", "--json"], False)
    assert without_json(["echo", "--json", "--", "--json"]) == (["echo", "--", "--json"], True)


def test_the_settings_file_may_be_named_before_the_command() -> None:
    assert after_config(["--config", "x.yaml", "memory", "list"]) == (Path("x.yaml"), ["memory", "list"])
    assert after_config(["--config=x.yaml", "memory"]) == (Path("x.yaml"), ["memory"])
    assert after_config(["--config"]) == (None, ["--config"])
    assert after_config([]) == (None, [])


def test_no_group_of_commands_hides_a_command_of_the_program() -> None:
    assert groups() >= {"memory", "help", "status"}
    assert groups().isdisjoint({"run", "play", "doctor", "manifest", "ask"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "switchboard.yaml").write_text(SETTINGS, encoding="utf-8")
    return tmp_path


def quiet(done: Finished) -> list[str]:
    """What stands on standard error beside the log."""
    return [line for line in done.complaints if not line.startswith("{")]


async def test_memory_is_listed_and_forgotten_in_the_files_a_running_bot_has_open(folder: Path) -> None:
    """Specification, section 24, on the command line."""
    store = SqliteStore(folder / "data" / "memory", ranker=RelevanceRanker(), now=SystemClock().now)
    try:
        await store.write("org:acme", [MemoryCandidate("fact", "Deploys happen on Tuesdays.", "slack:C0E:1.000100")])
        listed = await switchboard(folder, "memory", "list", "--scope", "org", "--json")
        assert (listed.status, quiet(listed)) == (0, [])
        (section,) = json.loads(listed.out)["data"]["sections"]
        (record,) = section["records"]
        assert section["scopeKey"] == "org:acme"
        assert "Deploys happen on Tuesdays." in record["text"]
        assert "not instructions" in record["text"]
        forgotten = await switchboard(folder, "memory", "forget", record["id"])
        assert (forgotten.status, quiet(forgotten)) == (0, [])
        assert "🧹" in forgotten.out
        assert await store.list("org:acme", 5) == []
        await store.write("org:acme", [MemoryCandidate("fact", "The bot goes on.", "slack:C0E:1.000200")])
    finally:
        await store.aclose()


async def test_what_is_erased_in_a_shell_is_in_no_file_of_a_running_bot(folder: Path) -> None:
    """The operator is an admin; what is their own goes after they have said so twice."""
    memory = folder / "data" / "memory"
    store = SqliteStore(memory, ranker=RelevanceRanker(), now=SystemClock().now)
    try:
        for key in ("org:acme", "user:cli:local"):
            await store.write(key, [MemoryCandidate("fact", f"{MARKER} of {key}", "slack:C0E:1.000100")])
        gone = await switchboard(folder, "memory", "erase", "mem:org:acme:0")
        assert (gone.status, quiet(gone)) == (0, [])
        assert "Erased 1 record for good" in gone.out
        asked = await switchboard(folder, "memory", "erase", "me")
        assert "`switchboard memory erase me --yes` erases all of" in asked.out
        own = await switchboard(folder, "memory", "erase", "me", "--yes", "--json")
        assert json.loads(own.out)["data"] == {
            "what": "me",
            "scopeKey": "user:cli:local",
            "isErased": True,
            "records": 1,
            "scopes": 1,
        }
        assert not any(MARKER.encode() in each.read_bytes() for each in memory.rglob("*") if each.is_file())
        await store.write("user:cli:local", [MemoryCandidate("fact", "The bot goes on.", "slack:C0E:1.000200")])
        assert [each.text for each in await store.list("user:cli:local", 5)] == ["The bot goes on."]
    finally:
        await store.aclose()


async def test_without_tokens_of_slack_the_commands_work_and_their_faults_are_told(folder: Path) -> None:
    refused = await switchboard(folder, "memory", "forget", "mem:user:slack:U0BOB00001:0")
    assert (refused.status, refused.out) == (1, "")
    assert quiet(refused)[0].startswith("error (unauthorized): ")
    wrong = await switchboard(folder, "memory", "list", "--limit", "51")
    assert (wrong.status, quiet(wrong)[0].startswith("error (invalid_input): --limit")) == (2, True)


async def test_the_status_of_a_process_beside_the_bot_says_so(folder: Path) -> None:
    done = await switchboard(folder, "status", "show", "--json")
    assert json.loads(done.out)["data"]["process"] == "terminal"
    assert json.loads(done.out)["data"]["memory"] == "sqlite"


async def test_without_settings_a_command_says_what_is_missing(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, "memory", "list")
    assert (done.status, done.out) == (2, "")
    assert [line.split(" ")[1] for line in done.complaints] == ["organization:", "defaults.model:"]


async def test_ask_answers_on_standard_output_and_logs_elsewhere(folder: Path) -> None:
    store = SqliteStore(folder / "data" / "memory", ranker=RelevanceRanker(), now=SystemClock().now)
    await store.write("org:acme", [MemoryCandidate("fact", "The staging database listens on port 5433.", "slack:C:1")])
    await store.aclose()
    done = await switchboard(folder, "ask", "--thread", "T-1", "which port has the staging database?")
    assert (done.status, quiet(done)) == (0, [])
    assert "5433" in done.out
    assert '"event": "turn_finished"' in done.err
    assert "turn_finished" not in done.out


async def test_ask_that_gets_no_answer_ends_with_status_one(folder: Path) -> None:
    environ = {"SWITCHBOARD_DEFAULTS__MODEL": "anthropic/claude-x"}
    done = await switchboard(folder, "ask", "hello", environ=environ)
    assert (done.status, done.out) == (1, "")
    assert quiet(done)[-1].startswith("error (failed): no complete answer (reference ")

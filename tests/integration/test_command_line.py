"""The command line: what it prints, where, and with which exit status."""

import asyncio
import errno
import json
import re
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from io import StringIO
from pathlib import Path

import pytest
import structlog
import yaml

from app import __version__
from app.__main__ import guarded
from app.cli import startup_faults
from app.errors import ConfigurationError, ModelError
from app.logs import configure
from tests.command_runs import WAIT_S, finished, start, start_python, switchboard
from tests.small_slack import open_small_slack


async def test_without_a_command_it_shows_what_there_is(tmp_path: Path) -> None:
    done = await switchboard(tmp_path)
    assert (done.status, done.err) == (0, "")
    for command in ("run", "play", "doctor", "manifest", "--config", "--version"):
        assert re.search(rf"^  {command}\b", done.out, re.MULTILINE), command
    assert "..." not in done.out.partition("Commands:")[2]


async def test_the_version_is_the_packages(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, "--version")
    assert (done.status, done.out) == (0, f"switchboard {__version__}\n")


async def test_the_installed_script_is_the_same_program(tmp_path: Path) -> None:
    program = "import sys; sys.argv = ['switchboard', '--version']; from app.__main__ import main; main()"
    done = await finished(await start_python(tmp_path, "-c", program))
    assert (done.status, done.out) == (0, f"switchboard {__version__}\n")


@pytest.mark.parametrize(("module", "argument", "status"), [("app", "help", 0), ("memory.service", "--port=0", 2)])
async def test_what_a_start_imports_is_not_looked_through_for_garbage_while_it_grows(
    module: str, argument: str, status: int, tmp_path: Path
) -> None:
    """Neither a second time when the process ends."""
    program = f"""import gc, runpy, sys
seen = []
gc.callbacks.append(lambda phase, info: seen.append(info["generation"]) if phase == "start" else None)
sys.argv = ["switchboard", {argument!r}]
try:
    runpy.run_module({module!r}, run_name="__main__")
finally:
    print(seen.count(2), gc.get_freeze_count() > 0)
"""
    done = await finished(await start_python(tmp_path, "-c", program))
    assert done.status == status, done.err
    assert done.out.splitlines()[-1] == "0 True"


async def test_a_command_beside_the_bot_waits_for_no_library_that_only_the_bot_needs(tmp_path: Path) -> None:
    program = """import runpy, sys
sys.argv = ["switchboard", "memory", "list"]
try:
    runpy.run_module("app", run_name="__main__")
finally:
    print(sorted({"aiohttp", "slack_bolt", "slack_sdk", "uvicorn"} & set(sys.modules)))
"""
    settings = {"SWITCHBOARD_ORGANIZATION": "acme", "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo"}
    settings["SWITCHBOARD_MEMORY__ENABLED"] = "true"
    done = await finished(await start_python(tmp_path, "-c", program, environ=settings))
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["pla"], "No such command 'pla'. Did you mean 'play'?"),
        (["run", "--bogus"], "No such option: --bogus"),
        (["play", "--port", "many"], "Invalid value for '--port'"),
        (["play", "--port", "70000"], "Invalid value for '--port'"),
        (["manifest", "--http"], "Option '--http' requires an argument"),
        (["doctor", "extra"], "unexpected extra argument"),
        (["ask"], "Missing argument 'TEXT' (switchboard ask --help shows what there is)"),
        (["state"], "Missing command (switchboard state --help shows what there is)"),
        (["state", "chek"], "(switchboard state --help shows what there is)"),
        (["xoxb-1-SECRET"], "No such command 'xoxb-***'"),
    ],
)
async def test_a_mistyped_line_is_answered_with_one_line(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    done = await switchboard(tmp_path, *arguments)
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)
    assert done.err.startswith("switchboard: ")
    assert complaint in done.err


@pytest.mark.parametrize("words", [[], ["state"], ["eval"]])
async def test_a_list_of_commands_cuts_no_sentence_short(tmp_path: Path, words: list[str]) -> None:
    listed = (await switchboard(tmp_path, *words, "--help")).out.partition("Commands:")[2]
    assert listed
    assert "..." not in listed


async def test_every_fault_of_the_settings_is_a_line_of_its_own(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, "run", environ={"SWITCHBOARD_HTTP__PORT": "x", "SLACK_APP_TOKEN": "xoxb-SECRET"})
    assert (done.status, done.out) == (2, "")
    assert [line.split(" ")[1].rstrip(":") for line in done.complaints] == [
        "http.port",
        "organization",
        "defaults.model",
        "slack.bot_token",
        "slack.app_token",
    ]
    assert all(line.startswith("switchboard: ") for line in done.complaints)
    assert "SECRET" not in done.err


@pytest.mark.parametrize("before", [True, False])
async def test_the_settings_file_is_named_before_or_after_the_command(tmp_path: Path, *, before: bool) -> None:
    arguments = ("--config", "gone.yaml", "run") if before else ("run", "--config", "gone.yaml")
    done = await switchboard(tmp_path, *arguments)
    assert (done.status, done.err) == (2, "switchboard: gone.yaml: cannot be read: No such file or directory\n")


async def test_dotenv_and_file_of_the_working_directory_are_read(tmp_path: Path) -> None:
    (tmp_path / "switchboard.yaml").write_text("organization: acme\n", encoding="utf-8")
    (tmp_path / ".env").write_text("SLACK_BOT_TOKEN=xoxb-1\nSLACK_APP_TOKEN=xapp-1\n", encoding="utf-8")
    done = await switchboard(tmp_path, "run")
    assert [line.split(" ")[1] for line in done.complaints] == ["defaults.model:"]


async def test_the_manifest_is_the_same_in_yaml_and_json(tmp_path: Path) -> None:
    as_yaml = await switchboard(tmp_path, "manifest", "--name", "Röbin")
    as_json = await switchboard(tmp_path, "manifest", "--name", "Röbin", "--json")
    assert (as_yaml.status, as_json.status) == (0, 0)
    content = yaml.safe_load(as_yaml.out)
    assert content == json.loads(as_json.out)
    assert content["display_information"]["name"] == "Röbin"
    assert content["settings"]["socket_mode_enabled"] is True


async def test_the_manifest_for_http_names_the_request_url(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, "manifest", "--http", "https://bot.example.com")
    subscriptions = yaml.safe_load(done.out)["settings"]["event_subscriptions"]
    assert subscriptions["request_url"] == "https://bot.example.com/slack/events"


@pytest.mark.parametrize("arguments", [["--name", "n" * 36], ["--http", "http://bot.example.com"]])
async def test_a_manifest_slack_would_refuse_is_not_printed(tmp_path: Path, arguments: list[str]) -> None:
    done = await switchboard(tmp_path, "manifest", *arguments)
    assert (done.status, done.out, len(done.complaints)) == (2, "", 1)


async def test_help_and_manifest_need_no_settings_machinery(tmp_path: Path) -> None:
    program = (
        "import sys; from app.cli import invoke; status = invoke(['manifest']) + invoke(['--help'])\n"
        "heavy = {'config.settings', 'slack_sdk', 'slack_bolt', 'aiohttp', 'structlog'} & sys.modules.keys()\n"
        "sys.exit(f'imported {heavy}' if heavy or status else 0)"
    )
    assert (await finished(await start_python(tmp_path, "-c", program))).err == ""


async def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        done = await switchboard(tmp_path, "play", "--port", port)
    assert (done.status, len(done.complaints)) == (2, 1)
    assert done.err.startswith("switchboard: cannot listen: ")
    assert port in done.err
    assert "Traceback" not in done.out


def settings_for(slack_address: str) -> dict[str, str]:
    return {
        "SLACK_API_URL": f"{slack_address}/api",
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_APP_TOKEN": "xapp-1",
        "SWITCHBOARD_ORGANIZATION": "acme",
        "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo",
    }


async def test_a_bot_that_cannot_listen_says_so_in_one_line(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        async with open_small_slack() as slack:
            environ = settings_for(slack.address) | {"SWITCHBOARD_HTTP__PORT": port}
            done = await switchboard(tmp_path, "run", environ=environ)
    assert (done.status, len(done.complaints)) == (2, 1)
    assert "cannot listen" in done.err


async def test_a_bot_whose_token_slack_refuses_says_so_in_one_line(tmp_path: Path) -> None:
    async with open_small_slack() as slack:
        slack.identity = {"ok": False, "error": "invalid_auth"}
        done = await switchboard(tmp_path, "run", environ=settings_for(slack.address))
    assert (done.status, len(done.complaints)) == (2, 1)
    assert "slack.bot_token" in done.err
    assert "Traceback" not in done.out


@asynccontextmanager
async def silent_slack() -> AsyncGenerator[tuple[str, asyncio.Event]]:
    """The address of a server that takes requests and answers none, and whether one has come."""
    asked = asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(never_answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def test_ctrl_c_ends_a_command_silently(tmp_path: Path) -> None:
    async with silent_slack() as (address, asked):
        process = await start(tmp_path, "doctor", environ=settings_for(address))
        async with asyncio.timeout(WAIT_S):
            await asked.wait()
        process.send_signal(signal.SIGINT)
        done = await finished(process)
    assert (done.status, done.err) == (130, "")
    assert done.out.startswith("ok    settings: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_bot_that_waits_for_slack_ends_when_it_is_told(tmp_path: Path, number: signal.Signals) -> None:
    async with silent_slack() as (address, asked):
        process = await start(tmp_path, "run", environ=settings_for(address))
        async with asyncio.timeout(WAIT_S):
            await asked.wait()
        process.send_signal(number)
        done = await finished(process)
    assert (done.status, done.err) == (0, "")


def raising(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


def test_an_unforeseen_failure_is_one_line_and_a_traceback_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    log = StringIO()
    configure("json", "info", stream=log)
    try:
        status = guarded(raising(ZeroDivisionError("with xoxb-1-SECRET")))
    finally:
        structlog.reset_defaults()
    shown = capsys.readouterr()
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (status, shown.out) == (1, "")
    assert shown.err.splitlines() == [
        f"switchboard: stopped by an unexpected error; the log has it as reference={line['reference']}"
    ]
    assert (line["event"], line["level"]) == ("process_failed", "critical")
    assert "ZeroDivisionError" in line["exception"]
    assert "SECRET" not in log.getvalue()


def test_a_failure_before_logging_is_set_up_is_logged_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    structlog.reset_defaults()
    try:
        status = guarded(raising(RuntimeError("early")))
    finally:
        structlog.reset_defaults()
    shown = capsys.readouterr()
    assert status == 1
    assert "RuntimeError" in json.loads(shown.out)["exception"]
    assert "Traceback" not in shown.err


def test_an_interrupt_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(raising(KeyboardInterrupt())) == 130
    assert capsys.readouterr() == ("", "")


def test_what_a_command_returns_is_the_status() -> None:
    assert guarded(lambda: 3) == 3


TAKEN = OSError(errno.EADDRINUSE, "address already in use")
BAD = ConfigurationError("no such\nprovider")


@pytest.mark.parametrize(
    ("error", "faults"),
    [
        (BAD, ["no such provider"]),
        (
            TAKEN,
            ["cannot listen: address already in use; choose another host or port (http.host, http.port or --port)"],
        ),
        (OSError(errno.EACCES, "permission denied"), ["cannot listen: permission denied"]),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), ["cannot listen: Name or service not known"]),
        (ExceptionGroup("both", [BAD, ExceptionGroup("inner", [TAKEN])]), ["no such provider", "cannot listen: "]),
    ],
)
def test_what_the_operator_can_mend_is_told_line_by_line(error: BaseException, faults: list[str]) -> None:
    told = startup_faults(error)
    assert told is not None
    assert [line[: len(fault)] for line, fault in zip(told, faults, strict=True)] == faults


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "disk full"), ModelError("x"), ExceptionGroup("mixed", [BAD, ModelError("x")])],
)
def test_anything_else_is_left_to_the_outermost_boundary(error: BaseException) -> None:
    assert startup_faults(error) is None

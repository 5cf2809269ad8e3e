"""``POST /mcp``, spoken to by the public client of the protocol and by hand."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from app.http.limits import BODY_BYTES
from app.http.mcp import mcp_routes
from commands.registry import Registry
from commands.spec import Surface
from tests.surfaces import (
    CI,
    CLOSED,
    PINNED,
    FakeAuthority,
    FakeDispatch,
    Kept,
    client_of,
    console_of,
    door_of,
    registry_of,
    served,
)

MARKER = "hunter2-do-not-echo"
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@asynccontextmanager
async def connected(
    registry: Registry, dispatch: FakeDispatch | None = None, token: str = CI, mode: str = "auto"
) -> AsyncGenerator[Client]:
    """The public client, connected to a real server over HTTP."""
    async with (
        console_of(dispatch or FakeDispatch()) as console,
        served(mcp_routes(registry, console, door_of(), FakeAuthority().may_dispatch)) as address,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_public_client_finds_and_calls_every_command_that_programs_may_give(mode: str) -> None:
    """Reference bot, 18, by an old and a new client of the protocol."""
    kept = Kept()
    async with connected(registry_of(kept), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["dispatch", "echo_show", "echo_change", "echo_fail", "machine_only"]
        schema = tools["echo_show"].input_schema
        assert schema["additionalProperties"] is False
        assert schema["properties"]["limit"]["maximum"] == 50
        result = await client.call_tool("echo_show", {"limit": 7, "words": "two words"})
    first, _, rest = text_of(result).partition("\n")
    assert first == "echo.show: ok"
    assert json.loads(rest)["values"] == {"limit": 7, "words": "two words", "isLoud": False, "scope": None}
    ((caller, _),) = kept.seen
    assert (caller.id, caller.surface, caller.origin.channel_id) == ("mcp:ci", Surface.MCP, "mcp:default")


@pytest.mark.parametrize(
    ("tool", "arguments", "number", "code"),
    [
        ("echo_show", {"limit": MARKER}, -32602, "invalid_input"),
        ("echo_show", {MARKER: 1}, -32602, "invalid_input"),
        ("talk_only", {}, -32602, "invalid_input"),
        ("nothing", {}, -32602, "invalid_input"),
        ("echo_fail", {"how": "missing"}, -32002, "not_found"),
        ("echo_fail", {"how": "conflict"}, -32003, "conflict"),
        ("echo_fail", {"how": "down"}, -32004, "unavailable"),
        ("echo_fail", {"how": "busy"}, -32004, "busy"),
        ("echo_fail", {"how": "forbidden"}, -32001, "unauthorized"),
        ("echo_fail", {"how": "crash"}, -32603, "internal"),
        ("dispatch", {}, -32602, "invalid_input"),
        ("dispatch", {"text": " "}, -32602, "invalid_input"),
        ("dispatch", {"text": "x", "channel": "a:b"}, -32602, "invalid_input"),
    ],
)
async def test_failures_carry_their_code_and_no_value(
    tool: str, arguments: dict[str, object], number: int, code: str
) -> None:
    async with (
        console_of(FakeDispatch()) as console,
        client_of(mcp_routes(registry_of(Kept()), console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        answer = await call(client, "tools/call", {"name": tool, "arguments": arguments})
    assert answer.json()["error"]["code"] == number
    assert answer.json()["error"]["data"] == {"code": code}
    assert MARKER not in answer.text
    assert "s3cret" not in answer.text


async def call(client: httpx.AsyncClient, method: str, params: object, **more: object) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params} | more
    return await client.post("/mcp", json=body, headers=HEADERS)


async def test_a_refused_call_reaches_the_public_client_as_the_protocols_error() -> None:
    async with connected(registry_of(Kept())) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("echo_fail", {"how": "conflict"})
    assert refused.value.error.code == -32003


async def test_dispatch_talks_with_the_bot_in_the_place_of_the_token() -> None:
    dispatch = FakeDispatch()
    async with connected(registry_of(Kept()), dispatch, token=PINNED) as client:
        result = await client.call_tool("dispatch", {"text": "hello", "channel": "leads", "thread": "9"})
    assert text_of(result) == "you said: hello"
    (message,) = dispatch.messages
    assert (message.user_id, message.thread_key) == ("mcp:deploys", "mcp:builds:9")


async def test_an_answer_that_failed_is_marked_as_an_error() -> None:
    async with connected(registry_of(Kept()), FakeDispatch(outcome="failed")) as client:
        result = await client.call_tool("dispatch", {"text": "hello"})
    assert result.is_error


async def test_a_turn_that_crashes_shows_nothing_of_the_inside() -> None:
    dispatch = FakeDispatch(crash=RuntimeError(MARKER))
    async with (
        console_of(dispatch) as console,
        client_of(mcp_routes(registry_of(Kept()), console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        answer = await call(client, "tools/call", {"name": "dispatch", "arguments": {"text": "hello"}})
    assert answer.json()["error"]["code"] == -32603
    assert MARKER not in answer.text


async def test_a_subject_that_may_not_talk_sees_no_dispatch_and_cannot_call_it() -> None:
    dispatch = FakeDispatch()
    async with connected(registry_of(Kept()), dispatch, token=CLOSED) as client:
        assert "dispatch" not in [tool.name for tool in (await client.list_tools()).tools]
        with pytest.raises(MCPError) as refused:
            await client.call_tool("dispatch", {"text": "hello"})
        assert refused.value.error.code == -32001
        with pytest.raises(MCPError) as restricted:
            await client.call_tool("echo_show", {"bogus": 1})
        assert restricted.value.error.code == -32001
    assert dispatch.messages == []


async def test_the_door_is_the_same_as_elsewhere() -> None:
    async with (
        console_of(FakeDispatch()) as console,
        client_of(mcp_routes(registry_of(Kept()), console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        assert (await client.get("/mcp")).status_code == 405
        assert (await client.delete("/mcp")).status_code == 405
        wrong = await client.post("/mcp", json={}, headers=HEADERS | {"Authorization": "Bearer wrong"})
        assert wrong.status_code == 401
        assert (await client.post("/mcp", content=b" " * (BODY_BYTES + 1), headers=HEADERS)).status_code == 413


async def test_messages_that_are_no_calls_get_the_protocols_errors_and_one_json_answer() -> None:
    async with (
        console_of(FakeDispatch()) as console,
        client_of(mcp_routes(registry_of(Kept()), console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        malformed = await client.post("/mcp", content=b"{", headers=HEADERS)
        unknown = await call(client, "tools/dance", {})
        started = await call(
            client,
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        )
        note = await client.post(
            "/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=HEADERS
        )
    assert malformed.json()["error"]["code"] == -32700
    assert unknown.json()["error"]["code"] == -32601
    assert started.headers["content-type"].startswith("application/json")
    assert started.json()["result"]["serverInfo"]["name"] == "switchboard"
    assert "mcp-session-id" not in started.headers
    assert (note.status_code, note.content) == (202, b"")


async def test_no_log_line_repeats_what_a_client_sends(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"name": {"x": MARKER}, "arguments": MARKER}
    async with (
        console_of(FakeDispatch()) as console,
        client_of(mcp_routes(registry_of(Kept()), console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        for version in ("2025-06-18", "2026-07-28", MARKER):
            headers = HEADERS | {"MCP-Protocol-Version": version}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": wrong}
            assert "error" in (await client.post("/mcp", json=body, headers=headers)).json()
        await call(client, MARKER, {MARKER: MARKER})
        await call(client, "tools/call", {"name": "echo_show", "arguments": {"scope": MARKER}})
    shown = [record.getMessage() for record in caplog.records if record.levelname not in {"DEBUG", "INFO"}]
    assert MARKER not in "".join(shown) + capsys.readouterr().out

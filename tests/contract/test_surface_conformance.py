"""Every built-in command over the real surfaces: the wire, the shell, the slash command and the message.

Derived from the registry: a new command is given here on each surface it declares, and on no other.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

import httpx
import pytest

from app.background import Background
from app.cli_commands import Streams, run_command
from app.clock import SystemClock
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.ports import Limits
from app.http.api import api_routes
from app.http.mcp import mcp_routes, name_of
from app.slack.slash import Slash
from commands.builtin import builtin_commands
from commands.registry import Registry
from commands.schema import schema
from commands.spec import Command, Surface
from tests.command_house import RIGHT, Calm, HouseRules, Recorder
from tests.fakes import FakeChat, OneModel, Rooms, ScriptedProvider, message, ports_of
from tests.surfaces import FakeAuthority, FakeDispatch, client_of, console_of, door_of

MARKER = "hunter2sesame"
COMMANDS = {command.id: command for command in builtin_commands(None, "acme", HouseRules(), Calm())}
GIVEN = [(command, surface) for command in COMMANDS.values() for surface in sorted(command.surfaces)]
HEADERS = {"Accept": "application/json, text/event-stream"}

each_given = pytest.mark.parametrize(
    ("command", "surface"), GIVEN, ids=[f"{command.id} on {surface}" for command, surface in GIVEN]
)


@dataclass(frozen=True, slots=True)
class Said:
    """How a surface answered: whether the command was carried out, and everything it showed."""

    is_ok: bool
    shown: str


def recorded(command: Command, surfaces: frozenset[Surface] | None = None) -> tuple[Registry, Recorder]:
    """Every command, of which this one only notes what it is called with."""
    recorder = Recorder()
    noting = replace(command, handler=recorder, surfaces=surfaces or command.surfaces)
    others = [each for each in COMMANDS.values() if each.id != command.id]
    return Registry([noting, *others], HouseRules()), recorder


async def give(registry: Registry, surface: Surface, command: Command, values: Mapping[str, object]) -> Said:
    async with asyncio.timeout(10):
        match surface:
            case Surface.CHAT:
                return await by_chat(registry, line_of(command, values))
            case Surface.SLASH:
                return await by_slash(registry, line_of(command, values))
            case Surface.CLI:
                return await by_shell(registry, [command.group, command.verb, *typed(command, values)])
            case Surface.HTTP:
                return await by_http(registry, command, values)
            case Surface.MCP:
                return await by_mcp(registry, command, values)


async def by_chat(registry: Registry, line: str) -> Said:
    """A message through the dispatcher; a model must never be asked."""
    provider, chat = ScriptedProvider(["prose"]), FakeChat()
    ports = ports_of(OneModel(provider), SystemClock(), commands=registry)
    dispatcher = Dispatcher(ports, Limits(5.0, 50_000))
    accepted = await dispatcher.accept(message(f"!{line}"))
    assert accepted is not None
    await dispatcher.handle(accepted, chat)
    shown = "\n".join(chat.said)
    return Said(not provider.requests and bool(shown) and not shown.startswith(("⚠️", "🚫")), shown)


async def by_slash(registry: Registry, line: str) -> Said:
    shown: list[str] = []

    async def ack(**answer: Any) -> None:
        shown.append(str(answer.get("text", "")))

    background = Background()
    payload = {"command": "/switchboard", "text": line, "user_id": "U0ALICE001", "channel_id": "C0GENERAL1"}
    await Slash(registry, background.spawn, Rooms()).answer(ack, payload)
    await background.drain(1.0)
    (text,) = shown
    return Said(not text.startswith(("⚠️", "🚫")), text)


async def by_shell(registry: Registry, arguments: list[str]) -> Said:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Registry]:
        yield registry

    out, err = StringIO(), StringIO()
    status = await run_command(arguments, opened, Streams(out, err))
    return Said(status == 0, out.getvalue() + err.getvalue())


async def by_http(registry: Registry, command: Command, values: Mapping[str, object]) -> Said:
    """A body and, for a command that only reads, a query string, which must mean the same."""
    async with client_of(api_routes(registry, door_of())) as client:
        posted = await client.post(f"/api/{command.id}", json=dict(values))
        if command.effect == "read":
            query = httpx.QueryParams([(key, f"{value}") for key, value in values.items()])
            assert (await client.get(f"/api/{command.id}", params=query)).status_code == posted.status_code
    return Said(posted.status_code == 200 and posted.json()["ok"], posted.text)


async def by_mcp(registry: Registry, command: Command, values: Mapping[str, object]) -> Said:
    answer = await mcp_call(registry, "tools/call", {"name": name_of(command), "arguments": dict(values)})
    return Said("result" in answer, json.dumps(answer, ensure_ascii=False))


async def mcp_call(registry: Registry, method: str, params: Mapping[str, object]) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with (
        console_of(FakeDispatch()) as console,
        client_of(mcp_routes(registry, console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        answer: dict[str, Any] = (await client.post("/mcp", json=body, headers=HEADERS)).json()
        return answer


def typed(command: Command, values: Mapping[str, object]) -> list[str]:
    flags = {option.name: option.flag for option in command.options}
    options = [f"{flags[name]}={value}" for name, value in values.items() if name in flags]
    return options + [f"{values[each.name]}" for each in command.arguments if each.name in values]


def line_of(command: Command, values: Mapping[str, object]) -> str:
    return " ".join([command.group, command.verb, *(f'"{word}"' for word in typed(command, values))])


@each_given
async def test_a_command_gets_the_same_values_over_every_surface(command: Command, surface: Surface) -> None:
    registry, recorder = recorded(command)
    said = await give(registry, surface, command, RIGHT[command.id])
    assert said.is_ok, said.shown
    assert recorder.values == RIGHT[command.id]


@each_given
async def test_a_surface_that_a_command_does_not_declare_does_not_have_it(command: Command, surface: Surface) -> None:
    others = frozenset(Surface) - {surface}
    registry, recorder = recorded(command, others)
    said = await give(registry, surface, command, RIGHT[command.id])
    assert recorder.calls == []
    if command.id != "help.show":
        # Help is there on every surface, whether or not the command that gives it is.
        assert not said.is_ok, said.shown


@each_given
async def test_a_wrong_value_is_refused_over_every_surface_and_not_shown(command: Command, surface: Surface) -> None:
    registry, recorder = recorded(command)
    for option in command.options:
        wrong = MARKER if option.type != "text" or option.choices or option.pattern else "x" * 5_000 + MARKER
        said = await give(registry, surface, command, {**RIGHT[command.id], option.name: wrong})
        assert not said.is_ok, option.name
        assert MARKER not in said.shown
    assert recorder.calls == []


@each_given
async def test_what_is_missing_is_named_over_every_surface(command: Command, surface: Surface) -> None:
    registry, recorder = recorded(command)
    for argument in (each for each in command.arguments if each.is_required):
        values = {name: value for name, value in RIGHT[command.id].items() if name != argument.name}
        said = await give(registry, surface, command, values)
        assert not said.is_ok
        assert argument.name in said.shown
        assert recorder.calls == []


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
async def test_help_of_a_command_is_given_wherever_it_can_be_typed(command: Command) -> None:
    registry, recorder = recorded(command)
    line = f"{command.group} {command.verb} --help"
    shown = {
        Surface.CHAT: await by_chat(registry, line),
        Surface.SLASH: await by_slash(registry, line),
        Surface.CLI: await by_shell(registry, line.split()),
    }
    for surface in command.surfaces & shown.keys():
        assert shown[surface].is_ok
        for part in command.options:
            assert part.flag in shown[surface].shown
    assert recorder.calls == []


async def test_the_tools_are_the_commands_of_mcp_with_their_schemas() -> None:
    registry = Registry(COMMANDS.values(), HouseRules())
    listed = (await mcp_call(registry, "tools/list", {}))["result"]["tools"]
    tools = {tool["name"]: tool["inputSchema"] for tool in listed if tool["name"] != "dispatch"}
    assert tools == {name_of(each): schema(each) for each in COMMANDS.values() if Surface.MCP in each.surfaces}


async def test_every_group_has_a_slash_command_of_its_own() -> None:
    registry = Registry(COMMANDS.values(), HouseRules())
    names = Slash(registry, Background().spawn, Rooms()).names()
    assert names == ["/switchboard", *dict.fromkeys(f"/{command.group}" for command in COMMANDS.values())]

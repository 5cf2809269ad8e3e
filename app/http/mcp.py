"""``POST /mcp``: the commands and the bot itself as tools of the Model Context Protocol, stateless, one JSON answer."""

import asyncio
import importlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app import __version__
from app.console import COMPLETED, DEFAULT_PLACE, NAME_PATTERN, Asked, Console, Place
from app.http.bearer import Door, Name, bearer_of, caller_of
from app.http.faults import faults_of
from app.http.ingress import MayDispatch
from app.invocation import as_json
from commands.registry import Registry
from commands.result import Code
from commands.schema import schema
from commands.spec import Command, Surface

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.server import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, Tool

PATH = "/mcp"
DISPATCH = "dispatch"
CODES: Mapping[Code, int] = {
    Code.UNAUTHORIZED: -32001,
    Code.NOT_FOUND: -32002,
    Code.CONFLICT: -32003,
    Code.UNAVAILABLE: -32004,
    Code.BUSY: -32004,
    Code.INVALID_INPUT: -32602,
    Code.INTERNAL: -32603,
}
_SDK = ("mcp.server.lowlevel.server", "mcp.server.streamable_http_manager")


class _Dispatch(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    text: Annotated[str, StringConstraints(pattern=r"\S")]
    channel: Name | None = None
    thread: Name | None = None


def mcp_routes(registry: Registry, console: Console, door: Door, may_dispatch: MayDispatch) -> list[Route]:
    """Checks in order: 405, 503, 401, 413; everything after them is said in JSON-RPC."""
    tools = McpTools(registry, console, may_dispatch)
    return [Route(PATH, Endpoint(tools), methods=["POST"], middleware=door.of_turns())]


class Endpoint:
    """The SDK behind the door. It is imported with the first request, in a thread, because it takes a second."""

    def __init__(self, tools: "McpTools") -> None:
        self._tools = tools
        self._is_imported = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_imported:
            await asyncio.to_thread(lambda: [importlib.import_module(name) for name in _SDK])
            self._is_imported = True
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        # A manager lives as long as its task group, so each request brings its own: nothing outlives it.
        manager = StreamableHTTPSessionManager(self._tools.server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


class McpTools:
    """Each command that MCP may give as the tool ``<group>_<verb>``, and ``dispatch`` for talking with the bot."""

    def __init__(self, registry: Registry, console: Console, may_dispatch: MayDispatch) -> None:
        self._registry = registry
        self._console = console
        self._may_dispatch = may_dispatch
        self._commands = {name_of(command): command for command in registry.commands(Surface.MCP)}

    @cached_property
    def server(self) -> "Server[Any]":
        from mcp.server.lowlevel.server import Server

        return Server("switchboard", version=__version__, on_list_tools=self.list_tools, on_call_tool=self.call_tool)

    async def list_tools(
        self, context: "ServerRequestContext[Any, Any]", _params: "PaginatedRequestParams | None"
    ) -> "ListToolsResult":
        from mcp_types import ListToolsResult

        is_allowed = (
            await self._may_dispatch(caller_of(bearer_of(cast("Request", context.request)), "mcp"))
        ).is_allowed
        tools = [_tool(name, command.summary, schema(command)) for name, command in self._commands.items()]
        return ListToolsResult(tools=[*([_dispatch_tool()] if is_allowed else []), *tools])

    async def call_tool(
        self, context: "ServerRequestContext[Any, Any]", params: "CallToolRequestParams"
    ) -> "CallToolResult":
        arguments = params.arguments or {}
        if params.name == DISPATCH:
            return await self._dispatch(cast("Request", context.request), arguments)
        command = self._commands.get(params.name)
        if command is None:
            raise _error(Code.INVALID_INPUT, "there is no such tool")
        return await self._run(cast("Request", context.request), command, arguments)

    async def _run(self, request: Request, command: Command, arguments: Mapping[str, object]) -> "CallToolResult":
        result = await self._registry.run_values(command.id, arguments, caller_of(bearer_of(request), "mcp"))
        if result.code is not Code.OK:
            raise _error(result.code, result.message)
        return _said(f"{command.id}: ok\n{json.dumps(as_json(result)['data'], ensure_ascii=False)}")

    async def _dispatch(self, request: Request, arguments: Mapping[str, object]) -> "CallToolResult":
        bearer = bearer_of(request)
        if not (await self._may_dispatch(caller_of(bearer, "mcp"))).is_allowed:
            raise _error(Code.UNAUTHORIZED, "this token may not talk with the bot")
        try:
            body = _Dispatch.model_validate(dict(arguments))
        except ValidationError as fault:
            raise _error(Code.INVALID_INPUT, faults_of(fault)) from None
        channel = bearer.channel or body.channel or DEFAULT_PLACE
        place = Place("mcp", bearer.subject, channel, body.thread or DEFAULT_PLACE)
        turn = await self._console.ask(Asked(place, body.text))
        if turn.is_crashed:
            raise _error(Code.INTERNAL, "something went wrong on this side")
        return _said(turn.text, is_error=turn.status != COMPLETED)


def name_of(command: Command) -> str:
    return f"{command.group}_{command.verb}"


def _tool(name: str, description: str, input_schema: Mapping[str, object]) -> "Tool":
    from mcp_types import Tool

    return Tool(name=name, description=description, input_schema=dict(input_schema))


def _dispatch_tool() -> "Tool":
    named = {"type": "string", "pattern": NAME_PATTERN}
    properties = {
        "text": {"type": "string", "description": "What to say to the bot."},
        "thread": named | {"description": "The conversation it belongs to."},
        "channel": named | {"description": "The place it is said in, unless the token is pinned to one."},
    }
    fields = {"type": "object", "properties": properties, "required": ["text"], "additionalProperties": False}
    return _tool(DISPATCH, "Say something to the bot and get its answer.", fields)


def _said(text: str, *, is_error: bool = False) -> "CallToolResult":
    from mcp_types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


def _error(code: Code, message: str) -> Exception:
    from mcp.shared.exceptions import MCPError

    return MCPError(CODES[code], message, {"code": code.value})

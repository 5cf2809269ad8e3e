"""``/api/<group>.<verb>``: every command that programs may give, as one HTTP call."""

import json
from collections.abc import Mapping
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.http.bearer import Door, bearer_of, caller_of
from app.http.limits import problem
from app.invocation import as_json
from commands.registry import Registry
from commands.result import Code, Result
from commands.spec import Surface

PATH = "/api/{command}"

STATUSES: Mapping[Code, int] = {
    Code.OK: 200,
    Code.INVALID_INPUT: 400,
    Code.UNAUTHORIZED: 403,
    Code.NOT_FOUND: 404,
    Code.CONFLICT: 409,
    Code.UNAVAILABLE: 503,
    Code.BUSY: 503,
    Code.INTERNAL: 500,
}


def api_routes(registry: Registry, door: Door) -> list[Route]:
    """``GET`` with a query string for commands that only read, ``POST`` with a JSON object for all."""

    async def read(request: Request) -> JSONResponse:
        command_id = str(request.path_params["command"])
        command = registry.get(command_id)
        if command is not None and command.effect == "write" and Surface.HTTP in command.surfaces:
            return problem(405, "method_not_allowed", "This command changes something: use POST.", {"Allow": "POST"})
        pairs = request.query_params.multi_items()
        return _answer(await registry.run_query(command_id, pairs, caller_of(bearer_of(request), "http")))

    async def write(request: Request) -> JSONResponse:
        values = _object(await request.body())
        if values is None:
            return problem(400, "invalid_input", "The body must be a JSON object.")
        command_id = str(request.path_params["command"])
        return _answer(await registry.run_values(command_id, values, caller_of(bearer_of(request), "http")))

    middleware = door.of_commands()
    return [
        Route(PATH, read, methods=["GET"], middleware=middleware),
        Route(PATH, write, methods=["POST"], middleware=middleware),
    ]


def _answer(result: Result) -> JSONResponse:
    return JSONResponse(as_json(result), status_code=STATUSES[result.code])


def _object(body: bytes) -> dict[str, object] | None:
    """The JSON object ``body`` holds; nothing at all is an empty one."""
    try:
        value: object = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None

"""``POST /ingress``: a program talks with the bot as people do."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.channel import ThreadMessage
from app.console import DEFAULT_PLACE, Asked, Console, ConsoleTurn, Place
from app.http.bearer import Door, Name, bearer_of, caller_of
from app.http.faults import faults_of
from app.http.limits import problem
from commands.ports import Decision
from commands.spec import Caller

PATH = "/ingress"
HISTORY_MOST = 1_000
ACCEPTED_S = 1.0
"""How long ``async`` waits to see whether an agent's run begins; a message still in line has been accepted."""

MayDispatch = Callable[[Caller], Awaitable[Decision]]
"""Whether the subject of a token may talk with the bot."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _Said(_Model):
    role: Literal["user", "assistant"]
    text: str


class _Body(_Model):
    text: Annotated[str, StringConstraints(pattern=r"\S")]
    channel: Name | None = None
    thread: Name | None = None
    history: list[_Said] = Field(default=[], max_length=HISTORY_MOST)
    is_async: bool = Field(default=False, alias="async")


class Permitted:
    """403 for a subject that may not talk with agents."""

    def __init__(self, app: ASGIApp, may_dispatch: MayDispatch) -> None:
        self._app = app
        self._may_dispatch = may_dispatch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not (await self._may_dispatch(caller_of(bearer_of(Request(scope)), "http"))).is_allowed:
            await problem(403, "unauthorized", "This token may not talk with the bot.")(scope, receive, send)
            return
        await self._app(scope, receive, send)


def ingress_routes(console: Console, door: Door, may_dispatch: MayDispatch) -> list[Route]:
    """Checks in order: 405, 503, 401, 403, 413, 400."""

    async def ingress(request: Request) -> JSONResponse:
        try:
            body = _Body.model_validate_json(await request.body())
        except ValidationError as fault:
            return problem(400, "invalid_input", faults_of(fault))
        turn = console.begin(_asked(request, body))
        if body.is_async and not await turn.end_or_beginning(ACCEPTED_S):
            accepted = {"runId": turn.reference, "runUrl": None, "threadKey": turn.thread_key}
            return JSONResponse(accepted, status_code=202)
        await turn.end()
        return _answer(turn)

    permission = Middleware(Permitted, may_dispatch)
    return [Route(PATH, ingress, methods=["POST"], middleware=door.of_turns(permission))]


def _asked(request: Request, body: _Body) -> Asked:
    bearer = bearer_of(request)
    place = Place("http", bearer.subject, bearer.channel or body.channel or DEFAULT_PLACE, body.thread or DEFAULT_PLACE)
    return Asked(
        place, body.text, tuple(_earlier(index, said, bearer.subject) for index, said in enumerate(body.history))
    )


def _earlier(index: int, said: _Said, subject: str) -> ThreadMessage:
    by_bot = said.role == "assistant"
    return ThreadMessage(str(index), "Switchboard" if by_bot else subject, by_bot, said.text)


def _answer(turn: ConsoleTurn) -> JSONResponse:
    run = {"id": turn.reference, "status": turn.status}
    if turn.is_crashed:
        internal = {"error": "internal", "message": "Something went wrong on this side.", "run": run}
        return JSONResponse(internal, status_code=500)
    return JSONResponse({"reply": turn.text, "run": run})

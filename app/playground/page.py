"""The playground's web page: its static files, the state and feed it draws from, and what people do on it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import cast

from aiohttp import WSCloseCode, web
from pydantic import ValidationError

from app.playground.model import File, Member
from app.playground.page_acting import Stage
from app.playground.page_actions import parse_action
from app.playground.page_feed import PageFeed
from app.playground.page_guard import refusal
from app.playground.page_refusals import sentence_of
from app.playground.page_shapes import may_see
from app.playground.page_state import PageShortcut, PageState
from app.playground.people import People
from app.playground.refusal import SlackRefusal
from app.playground.workspace import Workspace

_STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INLINE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"})
_LARGEST_BODY = 48 * 1024 * 1024
"""Bytes; an upload of 32 MiB once it is base64."""
_HEARTBEAT_S = 20.0
_SAFE = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Page:
    """Call ``close`` at shutdown, so that open pages do not hold the server up."""

    def __init__(self, workspace: Workspace, people: People, shortcuts: Sequence[PageShortcut] = ()) -> None:
        self._workspace = workspace
        self._state = PageState(workspace, shortcuts)
        self._feed = PageFeed(workspace)
        self._stage = Stage(people, self._state)
        self._static = {file.relative_to(_STATIC).as_posix(): file for file in _STATIC.rglob("*") if file.is_file()}

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", _guarded(self._index)),
            web.get("/static/{name:.+}", _guarded(self._static_file)),
            web.get("/playground/state", _guarded(self._read_state)),
            web.get("/playground/feed", _guarded(self._follow, changes_something=True)),
            web.post("/playground/actions", _guarded(self._act, changes_something=True)),
            web.get("/playground/files/{file_id}", _guarded(self._file)),
        ]

    def close(self) -> None:
        self._feed.close()

    async def _index(self, request: web.Request) -> web.StreamResponse:
        del request
        return _static_answer(self._static["index.html"])

    async def _static_file(self, request: web.Request) -> web.StreamResponse:
        """Only names that were there at the start are looked up, so no path can lead anywhere else."""
        file = self._static.get(request.match_info["name"])
        return _refused(404, "There is no such file.") if file is None else _static_answer(file)

    async def _read_state(self, request: web.Request) -> web.StreamResponse:
        """Asked without a ``user``, or for one who is not there, it says who is."""
        user = request.query.get("user")
        member = self._state.person(user or "")
        if member is None:
            people = [person.id for person in self._state.people()]
            return web.json_response({"me": None, "people": people}, status=404 if user else 200, headers=_SAFE)
        seen = self._state.seen_by(member)
        return web.json_response({"boot": self._feed.boot, "seq": self._feed.seq, **seen}, headers=_SAFE)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        """A WebSocket that only ever sends; ``boot`` and ``after`` say where the page's state stands."""
        member = self._member(request)
        after = request.query.get("after", "0")
        if not after.isdecimal():
            return _refused(400, "“after” has to be a number.")
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S)
        await socket.prepare(request)
        news = self._feed.follow(member.id, request.query.get("boot", ""), int(after))
        await _send_until_closed(socket, news)
        return socket

    async def _act(self, request: web.Request) -> web.StreamResponse:
        """The answer's ``seq`` is the feed's notice up to which a page has to be to know what was done."""
        if request.content_type != "application/json":
            return _refused(415, "Actions are sent as JSON.")
        body = await _body(request)
        if body is None:
            return _refused(413, "Files of up to 32 MB can be uploaded.")
        try:
            action = parse_action(body)
        except ValidationError as exc:
            return _refused(400, _first_problem(exc))
        if self._state.person(action.user) is None:
            return _refused(403, "There is no such person in this workspace.")
        try:
            answer = await action.run(self._stage)
        except SlackRefusal as exc:
            return _refused(409, sentence_of(exc.error), exc.error)
        done = {"ok": True, "seq": self._feed.last_for(action.user), **answer}
        return web.json_response(done, headers=_SAFE)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        member = self._member(request)
        file = self._workspace.files.get(request.match_info["file_id"])
        if file is None or not self._may_read(file, member):
            return _refused(404, "There is no such file, or it is not shared with you.")
        is_inline = file.mimetype in _INLINE_TYPES
        headers = {**_SAFE, "Content-Security-Policy": "default-src 'none'; sandbox"}
        headers["Content-Disposition"] = "inline" if is_inline else "attachment"
        kind = file.mimetype if is_inline else "application/octet-stream"
        return web.Response(body=file.content, content_type=kind, headers=headers)

    def _may_read(self, file: File, member: Member) -> bool:
        channels = self._workspace.channels
        shared_in = [channels[each] for each in (*file.channels, *file.shares) if each in channels]
        return file.user == member.id or any(may_see(channel, member) for channel in shared_in)

    def _member(self, request: web.Request) -> Member:
        member = self._state.person(request.query.get("user", ""))
        if member is None:
            raise web.HTTPNotFound(text="There is no such person in this workspace.", headers=_SAFE)
        return member


def _guarded(handler: _Handler, *, changes_something: bool = False) -> _Handler:
    async def guarded(request: web.Request) -> web.StreamResponse:
        why_not = refusal(request.headers, _bound_host(request), changes_something=changes_something)
        return await handler(request) if why_not is None else _refused(403, why_not)

    return guarded


def _bound_host(request: web.Request) -> str | None:
    if request.transport is None:
        return None
    address = cast("tuple[str, int] | str | None", request.transport.get_extra_info("sockname"))
    return address[0] if isinstance(address, tuple) else None


def _static_answer(file: Path) -> web.FileResponse:
    return web.FileResponse(file, headers=_SAFE | {"Content-Type": _TYPES.get(file.suffix, "application/octet-stream")})


def _refused(status: int, sentence: str, error: str = "refused") -> web.Response:
    body = {"ok": False, "error": error, "message": sentence}
    return web.json_response(body, status=status, headers=_SAFE)


async def _body(request: web.Request) -> bytes | None:
    """The whole body, or ``None`` if it is too large; the limit of the server's other routes does not matter."""
    parts = bytearray()
    async for part in request.content.iter_any():
        parts += part
        if len(parts) > _LARGEST_BODY:
            return None
    return bytes(parts)


def _first_problem(error: ValidationError) -> str:
    """Says where, never repeats what was sent."""
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(step) for step in first["loc"]) or "the action"
    return f"This is not something one can do here: {where}: {first['msg']}."


async def _send_until_closed(socket: web.WebSocketResponse, news: AsyncGenerator[str, None]) -> None:
    """Until either side ends it; reading is what notices that the page has gone."""
    async with asyncio.TaskGroup() as tasks:
        sending = tasks.create_task(_send_all(socket, news))
        async for _ in socket:
            pass
        sending.cancel()


async def _send_all(socket: web.WebSocketResponse, news: AsyncGenerator[str, None]) -> None:
    async with aclosing(news):
        with suppress(ConnectionError):
            async for text in news:
                await socket.send_str(text)
            await socket.close(code=WSCloseCode.GOING_AWAY)

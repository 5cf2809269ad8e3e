"""Slack over HTTP: the one route Slack posts to."""

from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.slack.manifest import EVENTS_PATH

BODY_BYTES = 1_000_000
"""Far above the largest payload Slack sends."""


def slack_routes(bolt: AsyncApp) -> list[Route]:
    """Bolt verifies the signature of each request before it looks inside; only POST has a route."""

    async def events(request: Request) -> Response:
        if int(request.headers.get("content-length") or 0) > BODY_BYTES:
            return PlainTextResponse("too large", status_code=413)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                return PlainTextResponse("too large", status_code=413)
        return to_starlette_response(await bolt.async_dispatch(to_async_bolt_request(request, bytes(body))))

    return [Route(EVENTS_PATH, events, methods=["POST"])]

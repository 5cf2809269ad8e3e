"""response_url: for half an hour an app may answer an interaction up to five times without a token."""

import json
import secrets
from dataclasses import dataclass, replace
from typing import cast

from aiohttp import web

from app.playground.delivery.ephemerals import Ephemerals
from app.playground.happenings import EphemeralPosted
from app.playground.model import Json, SlackApp
from app.playground.origin import Origin
from app.playground.refusal import SlackRefusal
from app.playground.workspace import PostOptions, Workspace

USES_MAX = 5
LIFETIME_S = 1800.0


@dataclass(frozen=True, slots=True)
class Occasion:
    """The interaction that is answered: whose app, which person, where and, for a click, in which message."""

    app: SlackApp
    user: str
    channel: str
    thread_ts: str | None = None
    original_ts: str | None = None


@dataclass(slots=True)
class _Grant:
    occasion: Occasion
    expires_at: float
    uses_left: int = USES_MAX


class ResponseUrls:
    """Issues the addresses, serves them and does what the answers say."""

    def __init__(self, workspace: Workspace, origin: Origin, ephemerals: Ephemerals) -> None:
        self._workspace = workspace
        self._origin = origin
        self._ephemerals = ephemerals
        self._grants: dict[str, _Grant] = {}

    def issue(self, occasion: Occasion) -> str:
        key = secrets.token_urlsafe(18)
        self._grants[key] = _Grant(occasion, self._workspace.clock.monotonic() + LIFETIME_S)
        return f"{self._origin.base_url}/response/{key}"

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/response/{key}", self._serve)]

    def answer(self, occasion: Occasion, body: Json) -> None:
        """By default a new message to the person alone; or ``in_channel``, or it replaces or deletes the original."""
        if _is_true(body.get("delete_original")) and occasion.original_ts:
            self._delete(occasion, occasion.original_ts)
        elif _is_true(body.get("replace_original")) and occasion.original_ts:
            self._replace(occasion, occasion.original_ts, body)
        elif body.get("text") or body.get("blocks") or body.get("attachments"):
            self._post(occasion, body)
        else:
            raise SlackRefusal("no_text")

    async def _serve(self, request: web.Request) -> web.Response:
        try:
            grant = self._admitted(request.match_info["key"])
            self.answer(grant.occasion, await _body(request))
        except SlackRefusal as refusal:
            return web.json_response({"ok": False, "error": refusal.error}, status=_status(refusal.error))
        return web.Response(text="ok")

    def _admitted(self, key: str) -> _Grant:
        grant = self._grants.get(key)
        if grant is None:
            raise SlackRefusal("invalid_url")
        if self._workspace.clock.monotonic() > grant.expires_at:
            raise SlackRefusal("expired_url")
        if grant.uses_left == 0:
            raise SlackRefusal("used_url")
        grant.uses_left -= 1
        return grant

    def _post(self, occasion: Occasion, body: Json) -> None:
        thread_ts = cast("str | None", body.get("thread_ts"))
        if body.get("response_type") == "in_channel":
            app = occasion.app
            options = PostOptions(
                blocks=body.get("blocks") or [],
                attachments=body.get("attachments") or [],
                bot_id=app.bot_id,
                app_id=app.id,
            )
            text = str(body.get("text") or "")
            self._workspace.post(occasion.channel, app.bot_user_id, text, thread_ts=thread_ts, options=options)
            return
        ts = self._workspace.next_ts()
        self._workspace.emit(_ephemeral(occasion, ts, body, thread_ts or occasion.thread_ts))

    def _replace(self, occasion: Occasion, ts: str, body: Json) -> None:
        shown = self._ephemerals.get(occasion.channel, ts)
        if shown is not None:
            self._workspace.emit(_ephemeral(occasion, ts, body, shown.thread_ts))
            return
        blocks = cast("list[Json]", body.get("blocks") or [])
        bot_user = occasion.app.bot_user_id
        self._workspace.edit(occasion.channel, ts, bot_user, str(body.get("text") or ""), blocks=blocks)

    def _delete(self, occasion: Occasion, ts: str) -> None:
        shown = self._ephemerals.get(occasion.channel, ts)
        if shown is not None:
            self._workspace.emit(replace(shown, text="", blocks=[], attachments=[]))
            return
        if self._workspace.message(occasion.channel, ts).user != occasion.app.bot_user_id:
            raise SlackRefusal("cant_delete_message")
        self._workspace.delete(occasion.channel, ts)


def _ephemeral(occasion: Occasion, ts: str, body: Json, thread_ts: str | None) -> EphemeralPosted:
    return EphemeralPosted(
        channel=occasion.channel,
        user=occasion.user,
        ts=ts,
        text=str(body.get("text") or ""),
        blocks=body.get("blocks") or [],
        thread_ts=thread_ts,
        app_id=occasion.app.id,
        attachments=body.get("attachments") or [],
    )


def _is_true(value: object) -> bool:
    """Slack takes ``"true"`` for ``true``."""
    return value is True or value == "true"


def _status(error: str) -> int:
    return web.HTTPNotFound.status_code if error.endswith("_url") else web.HTTPBadRequest.status_code


async def _body(request: web.Request) -> Json:
    try:
        body = json.loads(await request.text())
    except ValueError as exc:
        raise SlackRefusal("invalid_payload") from exc
    if not isinstance(body, dict):
        raise SlackRefusal("invalid_payload")
    return cast("Json", body)

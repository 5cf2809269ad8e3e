"""Which subject a bearer token stands for."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated

import structlog
from pydantic import BaseModel, ConfigDict, SecretStr, StringConstraints, TypeAdapter, ValidationError
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.buckets import Buckets
from app.clock import Clock
from app.console import DEFAULT_PLACE, NAME_PATTERN, Place
from app.http.limits import SUBJECT, HttpLimits, RateLimited, SizeLimited, TimeLimited, problem
from commands.spec import Caller, Origin, Surface

TOKENS_UNUSABLE = "tokens_unusable"
BEARER_REFUSED = "bearer_refused"

SHOWN_CHARS = 100

TOKEN_CHARS_LEAST = 16
"""A shorter one could be guessed."""

WHAT_TOKENS_MUST_BE = (
    f"must be a JSON object of tokens ({TOKEN_CHARS_LEAST} visible characters or more) "
    "to {subject, channel?, actions?}"
)

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]

_BEARER = "switchboard.bearer"
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whose token came with a request. ``channel`` is the one place it may speak in, if it is pinned."""

    subject: str
    channel: str | None = None
    actions: frozenset[str] | None = None
    """The only actions it allows; ``None`` where the entry does not narrow."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    subject: Name
    channel: Name | None = None
    actions: frozenset[Annotated[str, StringConstraints(pattern=r"^[a-z]+:[a-z]+$")]] | None = None


_Token = Annotated[str, StringConstraints(min_length=TOKEN_CHARS_LEAST, pattern=r"^[!-~]+$")]
_ENTRIES = TypeAdapter(dict[_Token, _Entry])


class Bearers:
    """The tokens that open the door. Without any the door is shut."""

    def __init__(self, tokens: Mapping[str, Bearer]) -> None:
        self._known = [(_digest(token), bearer) for token, bearer in tokens.items()]

    @property
    def are_none(self) -> bool:
        return not self._known

    def actions(self) -> dict[str, frozenset[str]]:
        """Caller id to the only actions it is allowed; of two entries for a subject, what both allow."""
        narrowed: dict[str, frozenset[str]] = {}
        for _, bearer in self._known:
            for platform in ("http", "mcp") if bearer.actions is not None else ():
                caller_id, allowed = f"{platform}:{bearer.subject}", bearer.actions or frozenset()
                narrowed[caller_id] = narrowed.get(caller_id, allowed) & allowed
        return narrowed

    def find(self, authorization: str) -> Bearer | None:
        """Whose ``Authorization`` header this is. Every token is compared, each in constant time."""
        scheme, _, token = authorization.partition(" ")
        given = _digest(token.strip())
        found: Bearer | None = None
        for digest, bearer in self._known:
            if hmac.compare_digest(digest, given):
                found = bearer
        return found if scheme.lower() == "bearer" else None


def bearers_of(tokens: SecretStr | None) -> Bearers:
    """The tokens in a JSON object of raw token to ``{"subject": …, "channel": …, "actions": […]}``.

    Only the subject must be there. One that is malformed or too weak shuts the door for all, and the log says so
    without saying which.
    """
    if tokens is None:
        return Bearers({})
    found = usable_bearers(tokens)
    if found is None:
        _log.warning(TOKENS_UNUSABLE, reason=WHAT_TOKENS_MUST_BE)
    return Bearers(found or {})


def usable_bearers(tokens: SecretStr) -> Mapping[str, Bearer] | None:
    """Raw tokens and whose they are; ``None`` when they are not ``WHAT_TOKENS_MUST_BE``."""
    try:
        entries = _ENTRIES.validate_json(tokens.get_secret_value())
    except ValidationError:
        return None
    return {token: Bearer(entry.subject, entry.channel, entry.actions) for token, entry in entries.items()}


class Authenticated:
    """503 while nobody has a token, 401 for a request without a known one."""

    def __init__(self, app: ASGIApp, bearers: Bearers) -> None:
        self._app = app
        self._bearers = bearers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._bearers.are_none:
            await problem(503, "disabled", "No tokens are set up.")(scope, receive, send)
            return
        bearer = self._bearers.find(Request(scope).headers.get("authorization", ""))
        if bearer is None:
            client = scope.get("client")
            _log.warning(BEARER_REFUSED, path=scope["path"][:SHOWN_CHARS], address=client[0] if client else None)
            answer = problem(401, "unauthenticated", "A bearer token is needed.", {"WWW-Authenticate": "Bearer"})
            await answer(scope, receive, send)
            return
        await self._app({**scope, SUBJECT: bearer.subject, _BEARER: bearer}, receive, send)


def bearer_of(request: Request) -> Bearer:
    """Whose request this is; only behind ``Authenticated``."""
    bearer: Bearer = request.scope[_BEARER]
    return bearer


def caller_of(bearer: Bearer, platform: str) -> Caller:
    """Who gives a command with this token, in the channel the token is pinned to."""
    place = Place(platform, bearer.subject, bearer.channel or DEFAULT_PLACE)
    origin = Origin(channel_id=place.channel_id, thread_key=place.thread_key, visibility="machine")
    return Caller(place.caller_id, Surface(platform), origin)


class Door:
    """What stands before every route of programs. The buckets are shared by the routes."""

    def __init__(self, bearers: Bearers, limits: HttpLimits, clock: Clock) -> None:
        self._bearers = bearers
        self._limits = limits
        self._by_address = Buckets(limits.address, clock)
        self._by_subject = Buckets(limits.subject, clock)

    def of_commands(self) -> list[Middleware]:
        return self._with(self._limits.command_s)

    def of_turns(self, *permission: Middleware) -> list[Middleware]:
        """``permission`` is asked for before a byte of the body is read."""
        return self._with(self._limits.turn_s, *permission)

    def _with(self, most_s: float, *permission: Middleware) -> list[Middleware]:
        return [
            Middleware(TimeLimited, most_s),
            Middleware(RateLimited, self._by_address),
            Middleware(Authenticated, self._bearers),
            Middleware(RateLimited, self._by_subject),
            *permission,
            Middleware(SizeLimited, self._limits.body_bytes),
        ]


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()

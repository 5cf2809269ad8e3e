"""A registry with one command of every kind, and what it takes to give its commands over HTTP in a test."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx
from pydantic import SecretStr
from starlette.routing import BaseRoute

from app.background import Background
from app.channel import Chat, IncomingMessage
from app.clock import SystemClock
from app.console import Console, ConsoleChat
from app.dispatch.journal import Accepted, MessageId
from app.dispatch.keying import Keying
from app.http.bearer import Door, bearers_of
from app.http.limits import HttpLimits
from app.http.surface import serving, surface
from commands.errors import BusyError, ConflictError, NotFoundError, UnauthorizedError, UnavailableError
from commands.ports import Decision
from commands.registry import Registry
from commands.spec import MACHINES, Argument, Caller, Command, Option, Reply, Surface, Values

CI, PINNED, CLOSED = "ci-token-0123456789", "pinned-token-0123456789", "closed-token-0123456789"
TOKENS = {
    CI: {"subject": "ci"},
    PINNED: {"subject": "deploys", "channel": "builds"},
    CLOSED: {"subject": "outsider"},
}
FAULTS = {
    "conflict": ConflictError("it changed meanwhile"),
    "missing": NotFoundError("there is no such thing"),
    "down": UnavailableError("the store is down"),
    "busy": BusyError("ask again later"),
    "forbidden": UnauthorizedError("not yours.", asks_admins=False),
    "crash": RuntimeError("s3cret words of a record"),
}


class FakeAuthority:
    """Nobody named ``outsider`` may do anything."""

    async def may_run(self, caller: Caller, command: Command) -> Decision:
        return Decision(is_allowed=not caller.id.endswith(":outsider"), reason="outsider")

    async def may_touch(self, caller: Caller, action: str, scope_key: str) -> Decision:
        return Decision(is_allowed=False, reason="closed")

    def admins(self) -> str:
        return "an admin"

    async def may_dispatch(self, caller: Caller) -> Decision:
        return Decision(is_allowed=not caller.id.endswith(":outsider"), reason="outsider")


@dataclass(slots=True)
class Kept:
    """What the handlers of a registry saw."""

    seen: list[tuple[Caller, Values]] = field(default_factory=list[tuple[Caller, Values]])

    async def echo(self, caller: Caller, values: Values) -> Reply:
        self.seen.append((caller, values))
        return Reply({"values": dict(values), "caller": caller.id}, f"echo of `{caller.id}`")

    async def fail(self, caller: Caller, values: Values) -> Reply:
        self.seen.append((caller, values))
        if values["how"] == "never":
            await asyncio.Event().wait()
        raise FAULTS[str(values["how"])]


def commands_of(kept: Kept) -> list[Command]:
    everything = (
        Option("limit", "how many", type="integer", least=1, most=50, default=20),
        Option("isLoud", "whether loudly", type="boolean", default=False),
        Option("scope", "whose", choices=("me", "org")),
    )
    words = (Argument("words", "what to look for", is_required=False, is_rest=True),)
    how = (Argument("how", "in which way"),)
    return [
        Command("echo.show", "says what it got", "echo:read", "read", kept.echo, words, everything),
        Command("echo.change", "changes something", "echo:write", "write", kept.echo, words),
        Command("echo.fail", "goes wrong", "echo:read", "read", kept.fail, how),
        Command("talk.only", "for people", "talk:read", "read", kept.echo, surfaces=frozenset({Surface.CHAT})),
        Command("machine.only", "for programs", "machine:read", "read", kept.echo, surfaces=MACHINES),
    ]


def registry_of(kept: Kept) -> Registry:
    return Registry(commands_of(kept), FakeAuthority(), now=lambda: datetime.now(UTC))


@dataclass(slots=True)
class FakeDispatch:
    """Answers every message with its own words; ``held`` keeps agents at work, ``crash`` ends them badly."""

    held: asyncio.Event | None = None
    crash: Exception | None = None
    outcome: str = "ran"
    messages: list[IncomingMessage] = field(default_factory=list[IncomingMessage])
    chats: list[ConsoleChat] = field(default_factory=list[ConsoleChat])

    async def accept(self, message: IncomingMessage) -> Accepted | None:
        self.messages.append(message)
        key = Keying().key(message)
        return Accepted(MessageId(len(self.messages)), message, key, message.received_at)

    async def handle(self, accepted: Accepted, chat: Chat) -> str:
        assert isinstance(chat, ConsoleChat)
        message = accepted.message
        self.chats.append(chat)
        if message.text == "help":
            await chat.say("there is help")
            return "command"
        await chat.status().show("is thinking…")
        if self.held is not None:
            await self.held.wait()
        if self.crash is not None:
            raise self.crash
        reply = chat.reply()
        reply.write(f"you said: {message.text}")
        await reply.finish()
        return self.outcome


def door_of(tokens: object = TOKENS, limits: HttpLimits | None = None) -> Door:
    text = tokens if isinstance(tokens, str) else json.dumps(tokens)
    return Door(bearers_of(SecretStr(text)), limits or HttpLimits(), SystemClock())


@asynccontextmanager
async def console_of(dispatch: FakeDispatch) -> AsyncGenerator[Console]:
    background = Background()
    yield Console(dispatch, background.spawn, SystemClock())
    await background.drain(1.0)


@asynccontextmanager
async def client_of(routes: Sequence[BaseRoute], token: str | None = CI) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of these routes, in this process."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    transport = httpx.ASGITransport(surface(lambda: True, routes))
    async with httpx.AsyncClient(transport=transport, base_url="http://bot", headers=headers) as client:
        yield client


@asynccontextmanager
async def served(routes: Sequence[BaseRoute]) -> AsyncGenerator[str]:
    """The address of a real server with these routes."""
    async with serving(surface(lambda: True, routes), "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}"

"""Stand-ins for the house's ports, each as small as the port allows."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app.access.actor import ActorKind, ChannelFacts, PersonFacts
from app.access.authority import TableAuthority
from app.access.grants import Grants
from app.agents.definitions import agents
from app.agents.loop import AgentLoop
from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.channel import (
    Address,
    ChannelId,
    EventId,
    IncomingFile,
    IncomingMessage,
    Reference,
    ThreadKey,
    ThreadMessage,
    UserId,
    Visibility,
    WorkspaceId,
)
from app.clock import Clock
from app.dispatch.inbox import InProcessInbox
from app.dispatch.ports import Ports
from app.dispatch.provision import Budgets, Provision
from app.dispatch.resolve import Defaults
from app.errors import SwitchboardError
from app.sessions.opening import NullSessionStore
from commands.registry import Registry
from memory.composition import Budget
from memory.ranker import KeywordRanker
from memory.recall import Recall
from memory.reflection import NullReflection, Reflection
from memory.store import MemoryStore
from memory.stores.null import NullStore

EPOCH = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class ManualClock:
    """Time that moves when a test says so, or when somebody sleeps."""

    def __init__(self) -> None:
        self.elapsed_s = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.elapsed_s)

    def monotonic(self) -> float:
        return self.elapsed_s

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.elapsed_s += seconds
        await asyncio.sleep(0)


@dataclass(slots=True)
class FakeReply:
    written: str = ""
    is_finished: bool = False
    is_abandoned: bool = False
    failure: SwitchboardError | None = None

    def write(self, text: str) -> None:
        if self.failure is not None:
            raise self.failure
        self.written += text

    async def finish(self) -> None:
        if self.failure is not None:
            raise self.failure
        self.is_finished = True

    async def abandon(self) -> None:
        self.is_abandoned = True


@dataclass(slots=True)
class FakeStatus:
    shown: list[str] = field(default_factory=list[str])
    is_cleared: bool = False

    async def show(self, text: str) -> None:
        self.shown.append(text)

    async def clear(self) -> None:
        self.is_cleared = True


@dataclass(slots=True)
class FakeChat:
    """A conversation that keeps what was said in it."""

    earlier: Sequence[ThreadMessage] = ()
    is_part: bool = False
    unreadable: SwitchboardError | None = None
    unspeakable: SwitchboardError | None = None
    said: list[str] = field(default_factory=list[str])
    card: FakeStatus = field(default_factory=FakeStatus)
    answer: FakeReply = field(default_factory=FakeReply)

    async def takes_part(self) -> bool:
        if self.unreadable is not None:
            raise self.unreadable
        return self.is_part

    async def history(self) -> Sequence[ThreadMessage]:
        if self.unreadable is not None:
            raise self.unreadable
        return self.earlier

    async def asker(self) -> str:
        return "Alice"

    async def say(self, text: str) -> None:
        if self.unspeakable is not None:
            raise self.unspeakable
        self.said.append(text)

    def status(self) -> FakeStatus:
        return self.card

    def reply(self) -> FakeReply:
        return self.answer


class ScriptedProvider:
    """Answers each call with the next script: pieces of text, an error to raise, an event to wait for, an end."""

    def __init__(self, *scripts: Sequence[str | Exception | Completed | asyncio.Event]) -> None:
        self._scripts = list(scripts)
        self.requests: list[ModelRequest] = []
        self.closed_early = 0

    def play(self, *scripts: Sequence[str | Exception | Completed | asyncio.Event]) -> None:
        """Answer the coming calls with these scripts, the last one for ever."""
        self._scripts = list(scripts)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        end = Completed(StopReason.END, Usage(input_tokens=3, output_tokens=5))
        try:
            for step in script:
                match step:
                    case str():
                        yield TextDelta(step)
                    case Exception():
                        raise step
                    case asyncio.Event():
                        await step.wait()
                    case Completed():
                        end = step
        except (GeneratorExit, asyncio.CancelledError):
            self.closed_early += 1
            raise
        yield end

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class OneModel:
    """A model, and the catalogue that knows no other."""

    provider: ScriptedProvider
    model: str = "scripted"

    def resolve(self, reference: str) -> "OneModel":
        assert "/" in reference
        return self


class Members:
    """A workspace in which everybody is ``kind``."""

    def __init__(self, kind: ActorKind = ActorKind.MEMBER) -> None:
        self._kind = kind

    async def facts(self, user_id: str) -> PersonFacts:
        return PersonFacts(self._kind)


class Rooms:
    """A workspace whose channels are all public and nobody else's."""

    async def facts(self, channel_id: str) -> ChannelFacts:
        return ChannelFacts(Visibility.PUBLIC, is_ext_shared=False)


def access_of(kind: ActorKind = ActorKind.MEMBER, grants: Grants | None = None) -> TableAuthority:
    return TableAuthority("acme", grants or Grants(), people=Members(kind), places=Rooms())


def ports_of(
    models: OneModel,
    clock: Clock,
    *,
    memory: MemoryStore | None = None,
    commands: Registry | None = None,
    reflection: Reflection | None = None,
    default_agent: str = "general",
    access: TableAuthority | None = None,
) -> Ports:
    """A dispatcher's ports around one model; what is not given is the null adapter."""
    return Ports(
        inbox=InProcessInbox(clock),
        access=access or access_of(),
        commands=commands or Registry([]),
        agents=agents({}),
        defaults=Defaults(default_agent, "test/scripted"),
        models=models,
        sessions=NullSessionStore(),
        provision=Provision(Recall(memory or NullStore(), KeywordRanker(), Budget()), "acme", Budgets(1000, 99)),
        loop=AgentLoop(clock),
        reflection=reflection or NullReflection(),
    )


def message(
    text: str = "hello",
    *,
    position: str = "1700000000.000100",
    root: str | None = None,
    address: Address = Address.MENTION,
    event: str = "Ev1",
    files: tuple[IncomingFile, ...] = (),
) -> IncomingMessage:
    return IncomingMessage(
        event_id=EventId(f"slack:{event}"),
        workspace_id=WorkspaceId("slack:T1"),
        channel_id=ChannelId("slack:C1"),
        user_id=UserId("slack:U1"),
        thread_key=ThreadKey(f"slack:C1:{root or position}"),
        position=position,
        text=text,
        visibility=Visibility.PUBLIC,
        address=address,
        starts_thread=root is None,
        sent_at=EPOCH,
        received_at=EPOCH,
        reference=Reference("abcd1234"),
        files=files,
    )


async def until(condition: Callable[[], bool], timeout_s: float = 2.0) -> None:
    """Let other tasks run until ``condition`` holds. Raises ``TimeoutError``."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0)

"""Stand-ins for the house's ports, each as small as the port allows."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from app.access.actor import ActorKind, ChannelFacts, PersonFacts
from app.access.authority import TableAuthority
from app.access.grants import Grants
from app.agents.definitions import agents
from app.agents.loop import AgentLoop
from app.agents.pricing import Total
from app.agents.providers.base import Completed, Counted, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.background import Background
from app.channel import (
    Address,
    ChannelId,
    EventId,
    IncomingFile,
    IncomingMessage,
    Place,
    Reference,
    Remains,
    ThreadKey,
    ThreadMessage,
    UserId,
    Visibility,
    WorkspaceId,
    no_others,
)
from app.clock import Clock
from app.dispatch.journal import Accepted, Boot, MessageId, TurnRecord, Unfinished, Waiting
from app.dispatch.keying import Keying
from app.dispatch.ports import Ports, Reflection
from app.dispatch.provision import Budgets, Provision, Setting
from app.dispatch.records import Keeping, Prices
from app.dispatch.resolve import Defaults, KnownModels
from app.dispatch.work import NOTHING_LEFT
from app.errors import DeliveryError, StateError, SwitchboardError
from app.sessions.cached_transcripts import Keep
from app.sessions.entry import SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.key import KeyRules
from app.sessions.lines import Lines
from app.sessions.source import SessionSource
from app.sessions.transcript import TranscriptMessage
from app.sessions.usage import By, Run, Share, Spent, Which
from commands.preferences import Setting as PreferenceSetting
from commands.preferences import Slot, Subjects
from commands.registry import Registry
from commands.spec import Replaced
from memory.composition import Budget
from memory.ranker import KeywordRanker
from memory.recall import Recall
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
    is_held: bool = False
    is_finished: bool = False
    is_abandoned: bool = False
    failure: SwitchboardError | None = None
    finish_failure: SwitchboardError | None = None

    def write(self, text: str) -> None:
        if self.failure is not None:
            raise self.failure
        self.written += text

    def hold(self) -> None:
        self.is_held = True

    async def finish(self) -> None:
        if self.failure is not None or self.finish_failure is not None:
            raise self.failure or self.finish_failure or DeliveryError("")
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
    unreadable: Exception | None = None
    unspeakable: SwitchboardError | None = None
    said: list[str] = field(default_factory=list[str])
    card: FakeStatus = field(default_factory=FakeStatus)
    answer: FakeReply = field(default_factory=FakeReply)
    whispered: list[str] = field(default_factory=list[str])
    noticed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    left: Remains = NOTHING_LEFT
    reused: tuple[str, ...] = ()
    others: Callable[[], Collection[str]] = no_others
    finish_failure: SwitchboardError | None = None

    async def takes_part(self) -> bool:
        if self.unreadable is not None:
            raise self.unreadable
        return self.is_part

    async def history(self, after: str | None = None) -> Sequence[ThreadMessage]:
        if self.unreadable is not None:
            raise self.unreadable
        return [each for each in self.earlier if after is None or float(each.position) > float(after)]

    async def asker(self) -> str:
        return "Alice"

    def knows_asker(self) -> bool:
        return True

    async def say(self, text: str) -> None:
        if self.unspeakable is not None:
            raise self.unspeakable
        self.said.append(text)

    async def whisper(self, text: str) -> None:
        self.whispered.append(text)

    async def notice(self, text: str, token: str) -> None:
        self.noticed.append((text, token))

    async def remains(self, foreign: Collection[str]) -> Remains:
        if self.unreadable is not None:
            raise self.unreadable
        return replace(self.left, positions=tuple(each for each in self.left.positions if each not in foreign))

    def also(self, part: str) -> "FakeChat":
        return self

    def reusing(self, positions: Sequence[str]) -> "FakeChat":
        self.reused = tuple(positions)
        return self

    def noting(self, on_posted: Callable[[str], None], others: Callable[[], Collection[str]] = no_others) -> "FakeChat":
        self.others = others
        return self

    def status(self) -> FakeStatus:
        return self.card

    def reply(self) -> FakeReply:
        self.answer.finish_failure = self.finish_failure
        return self.answer


Step = str | Exception | Counted | Completed | asyncio.Event


class ScriptedProvider:
    """Answers each call with the next script: pieces of text, an error to raise, an event to wait for, an end."""

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self._scripts = list(scripts)
        self.requests: list[ModelRequest] = []
        self.closed_early = 0

    def play(self, *scripts: Sequence[Step]) -> None:
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
                    case Counted():
                        yield step
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


class FakeJournal:
    """What became of every message, and what was said in sessions, in dicts: ``Journal`` and ``Transcripts``."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._names: set[str] = set()
        self._accepted: list[Accepted] = []
        self.begun: set[int] = set()
        self.commands: set[int] = set()
        self.reworded: dict[int, str] = {}
        self.withdrawing: asyncio.Event | None = None
        self.outcomes: dict[int, str] = {}
        self.promised: dict[int, str] = {}
        self.records: list[TurnRecord] = []
        self.entries: dict[str, SessionEntry] = {}
        self.lines: dict[str, list[TranscriptMessage]] = {}
        self.attempts = 0
        self.left_over: Sequence[Unfinished] = ()
        self.boot: Boot | None = None
        self.was_clean: bool | None = None
        self.broken: StateError | None = None
        self.broken_promises: StateError | None = None
        self.broken_ends: Exception | None = None
        self.ending: asyncio.Event | None = None
        self.unreadable: Exception | None = None

    async def accept(self, message: IncomingMessage, key: SessionKey, address: str | None) -> Accepted | None:
        names = {f"{message.event_id}{message.part}", f"{message.channel_id}|{message.position}{message.part}"}
        if names & self._names:
            return None
        self._names |= names
        accepted = Accepted(MessageId(len(self._accepted) + 1), message, key, self._clock.now(), address)
        self._accepted.append(accepted)
        return accepted

    async def withdraw(self, place: Place, parts: Collection[str]) -> Sequence[Waiting]:
        self._check()
        gone = [self._waiting(place, part) for part in parts]
        self.outcomes |= {each.id: "withdrawn" for each in gone if each is not None}
        if self.withdrawing is not None:
            await self.withdrawing.wait()
        return [each for each in gone if each is not None]

    async def reword(self, place: Place, text: str) -> Waiting | None:
        self._check()
        waiting = self._waiting(place)
        if waiting is not None:
            self.reworded[waiting.id] = text
        return waiting

    def _waiting(self, place: Place, part: str = "") -> Waiting | None:
        for each in self._accepted:
            is_open = not {each.id} & (self.outcomes.keys() | self.promised.keys() | self.commands)
            if is_open and (each.message.place, each.message.part) == (place, part):
                return Waiting(each.id, each.session_key)
        return None

    async def begin(self, accepted: Accepted, source: SessionSource) -> SessionEntry:
        self._check()
        self.begun.add(accepted.id)
        key, now = accepted.session_key, self._clock.now()
        fresh = SessionEntry(key, SessionId(f"session of {key}"), accepted.message.thread_key, now, now, origin=source)
        return self.entries.setdefault(key, fresh)

    async def begin_command(self, accepted: Accepted) -> None:
        self._check()
        self.commands.add(accepted.id)
        self.begun.add(accepted.id)

    async def posted(self, accepted: Accepted, position: str) -> None:
        self._check()

    async def foreign(self, accepted: Accepted) -> frozenset[str]:
        self._check()
        return frozenset()

    async def promise(
        self, accepted: Accepted, text: str, record: TurnRecord | None = None, carried: Sequence[Accepted] = ()
    ) -> None:
        self._check()
        if self.broken_promises is not None:
            raise self.broken_promises
        self.promised[accepted.id] = text
        self.outcomes |= {each.id: "carried" for each in carried}

    async def lead_on(
        self, accepted: Accepted, text: str, then: IncomingMessage, replaced: Replaced | None = None
    ) -> Accepted | None:
        await self.promise(accepted, text)
        return await self.accept(then, accepted.session_key, accepted.address)

    async def end(self, accepted: Accepted, outcome: str, record: TurnRecord | None = None) -> None:
        self._check()
        if self.broken_ends is not None:
            raise self.broken_ends
        if self.ending is not None:
            await self.ending.wait()
        self.outcomes[accepted.id] = outcome
        self._keep(accepted, record)

    async def undelivered(self, accepted: Accepted, record: TurnRecord | None) -> int:
        self._keep(accepted, record)
        self.attempts += 1
        return self.attempts

    async def heard(self, session_id: SessionId, positions: Collection[str]) -> frozenset[str]:
        return frozenset()

    async def unfinished(self) -> Sequence[Unfinished]:
        return self.left_over

    async def began(self) -> Boot:
        return self.boot or Boot(was_clean=True, recent_at=(self._clock.now(),))

    async def stopped(self, *, is_clean: bool) -> None:
        self.was_clean = is_clean

    async def prune(self) -> int:
        return 0

    def pinned(self, key: SessionKey) -> AbstractContextManager[None]:
        return nullcontext()

    async def load(self, entry: SessionEntry) -> Sequence[TranscriptMessage]:
        if self.unreadable is not None:
            raise self.unreadable
        return self.lines.get(entry.session_id, [])

    def extend(self, entry: SessionEntry, lines: Sequence[TranscriptMessage], keep: Keep | None = None) -> None:
        self.lines.setdefault(entry.session_id, []).extend(lines)

    def forget(self, session_id: SessionId) -> None:
        """It is the store itself."""

    def _keep(self, accepted: Accepted, record: TurnRecord | None) -> None:
        if record is not None:
            self.records.append(record)
            entry = self.entries[accepted.session_key]
            self.entries[accepted.session_key] = replace(entry, watermark=record.watermark or entry.watermark)

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken


class FakeUsage:
    """Runs in a list; nobody asks for sums."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.broken: StateError | None = None

    async def record(self, run: Run) -> None:
        if self.broken is not None:
            raise self.broken
        self.runs.append(run)

    async def total(self, which: Which) -> Spent:
        return Spent(Tokens(), Total())

    async def shares(self, by: By, which: Which, *, limit: int = 100) -> Sequence[Share]:
        return []


class FakePreferences:
    """Settings in a dict."""

    def __init__(self) -> None:
        self.settings: dict[Slot, PreferenceSetting] = {}

    async def get(self, subjects: Subjects) -> Sequence[PreferenceSetting]:
        return [each for slot, each in self.settings.items() if subjects.get(slot.layer) == slot.subject]

    async def set(self, slot: Slot, value: str, *, expected_version: int, by: str) -> PreferenceSetting:
        self.settings[slot] = PreferenceSetting(slot, value, expected_version + 1)
        return self.settings[slot]

    async def clear(self, slot: Slot, *, expected_version: int, by: str) -> PreferenceSetting:
        self.settings[slot] = PreferenceSetting(slot, None, expected_version + 1)
        return self.settings[slot]

    def forget(self) -> None:
        """Nothing is read twice."""


class Members:
    """A workspace in which everybody is ``kind``."""

    def __init__(self, kind: ActorKind = ActorKind.MEMBER) -> None:
        self._kind = kind

    async def facts(self, user_id: str) -> PersonFacts:
        return PersonFacts(self._kind)

    def has_facts(self, user_id: str) -> bool:
        return True


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
    prices: Prices | None = None,
) -> Ports:
    """A dispatcher's ports around one model; what is not given is the null adapter."""
    journal = FakeJournal(clock)
    return Ports(
        journal=journal,
        transcripts=journal,
        access=access or access_of(),
        commands=commands or Registry([]),
        agents=agents({}),
        knows_model=KnownModels(frozenset({"test"})),
        preferences=FakePreferences(),
        defaults=Defaults(default_agent, "test/scripted"),
        models=models,
        provision=Provision(
            Recall(memory or NullStore(), KeywordRanker(), Budget()),
            journal,
            Setting("acme", Budgets(1000, 99), KeyRules(), is_command=lambda text: text.startswith("!")),
        ),
        loop=AgentLoop(clock),
        reflection=reflection,
        clock=clock,
        spawn=Background().spawn,
        keying=Keying(),
        lines=Lines(10),
        usage=FakeUsage(),
        keeping=Keeping("acme", prices or {}, reflects=reflection is not None),
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


async def until(condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Let other tasks run until ``condition`` holds. Raises ``TimeoutError``.

    What takes more than a few of their steps waits for a thread or a socket, which need the processor more than this.
    """
    async with asyncio.timeout(timeout_s):
        steps = itertools.count()
        while not condition():
            await asyncio.sleep(0 if next(steps) < 200 else 0.001)

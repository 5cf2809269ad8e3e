"""Conversations as the running bot has them: over a real store, with turns that run for as long as a test says."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypedDict, Unpack

from app.access.actor import caller_of
from app.agents.definitions import agents
from app.agents.windows import Windows
from app.background import Background
from app.channel import ChannelId, IncomingMessage, ThreadKey, UserId, Visibility
from app.dispatch.choices import ConfiguredChoices
from app.dispatch.conversations import Asked, Kept, LiveConversations
from app.dispatch.journal import Accepted, TurnRecord
from app.dispatch.keying import Keying
from app.dispatch.resolve import Defaults, KnownModels
from app.dispatch.work import Work
from app.sessions.busy import Arrival, BusyInput
from app.sessions.cache import ConversationCache
from app.sessions.cached_transcripts import CachedTranscripts
from app.sessions.compressor import Compressor, Policy
from app.sessions.compressor import Ports as CompressorPorts
from app.sessions.entry import Cost, SessionEntry, SessionId, Tokens
from app.sessions.lines import Lines
from app.sessions.summariser import Summariser
from app.sessions.ticket import OutOfLineError
from app.sessions.transcript import TranscriptMessage
from app.sessions.usage import Run
from app.state.engine import Database
from app.state.journal import StateJournal
from app.state.sessions import StateSessions
from app.state.usage import StateUsage
from commands.spec import Caller, Followup
from tests.fakes import EPOCH, FakeChat, FakePreferences, ManualClock, OneModel, ScriptedProvider, message
from tests.session_lines import contents, store_over

ANN, BO, CLEO = "slack:U1", "slack:U2", "slack:U3"
ROOT = "1.0"
WINDOW = 4_000


class Place(TypedDict, total=False):
    """Where something is said; with ``root`` ``None`` at the top of its channel."""

    root: str | None
    channel: str
    visibility: Visibility


def heard(text: str = "hello", *, position: str, by: str = ANN, **where: Unpack[Place]) -> IncomingMessage:
    """A message, in one thread of a public channel unless said otherwise."""
    root, channel = where.get("root", ROOT), where.get("channel", "slack:C1")
    said = message(text, position=position, root=root, event=f"{channel}{position}{by}")
    return replace(
        said,
        user_id=UserId(by),
        channel_id=ChannelId(channel),
        thread_key=ThreadKey(f"{channel}:{root or position}"),
        visibility=where.get("visibility", Visibility.PUBLIC),
    )


def calling(position: str, *, by: str = ANN, **where: Unpack[Place]) -> Caller:
    """Whoever gives a command at ``position``."""
    return caller_of(heard("!command", position=position, by=by, **where))


class Remembering(CachedTranscripts):
    """Notes which sessions it was told to forget."""

    def __init__(self, store: StateSessions, clock: ManualClock) -> None:
        super().__init__(store, ConversationCache(clock))
        self.forgotten: list[str] = []

    def forget(self, session_id: SessionId) -> None:
        self.forgotten.append(session_id)
        super().forget(session_id)


@dataclass(slots=True)
class LiveHouse:
    database: Database
    keying: Keying = field(default_factory=Keying)
    cleanup_s: float = 5.0
    cap: int = 32
    clock: ManualClock = field(default_factory=ManualClock)
    provider: ScriptedProvider = field(default_factory=lambda: ScriptedProvider(["The notes."]))
    preferences: FakePreferences = field(default_factory=FakePreferences)
    windows: Mapping[str, int] = field(default_factory=lambda: {"test/scripted": WINDOW})
    fates: dict[str, str] = field(default_factory=dict[str, str])
    began: dict[str, str] = field(default_factory=dict[str, str])
    """Message to the session its turn began in."""
    ends_as: str | None = None
    """What turns tell of their ends, whatever those are."""
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    lines: Lines[Work] = field(init=False)
    store: StateSessions = field(init=False)
    transcripts: Remembering = field(init=False)
    usage: StateUsage = field(init=False)
    journal: StateJournal = field(init=False)
    kept: Kept = field(init=False)
    asked: Asked = field(init=False)
    talk: LiveConversations = field(init=False)

    def __post_init__(self) -> None:
        self.lines = Lines[Work](concurrent_turns=4, cap=self.cap)
        self.store = store_over(self.database, self.clock, self.keying.rules)
        self.transcripts = Remembering(self.store, self.clock)
        self.usage, self.journal = StateUsage(self.database), StateJournal(self.database, self.clock)
        summariser = Summariser(OneModel(self.provider), self.usage, self.clock, prices={}, timeout_s=5.0)
        ports = CompressorPorts(self.store, summariser, Background(), self.clock)
        known = agents({})
        self.kept = Kept(self.lines, self.store, self.transcripts, self.keying, self.clock, self.cleanup_s)
        self.asked = Asked(
            self.usage,
            Compressor(ports, Policy(protect_first=1, protect_last=1)),
            self.preferences,
            ConfiguredChoices(known, Defaults("general", "test/scripted"), KnownModels(frozenset({"test"}))),
            Windows(self.windows, WINDOW),
        )
        self.talk = LiveConversations(self.kept, self.asked)

    async def said(
        self, said: IncomingMessage, answer: str = "yes", tokens: int = 10, directives: str | None = None
    ) -> SessionEntry:
        """A turn from its beginning to its end, as the dispatcher leaves it behind."""
        accepted = await self._accepted(said)
        entry = await self.journal.begin(accepted, self.keying.source(said))
        record = self._record(said, entry, answer, tokens)
        first = replace(record.lines[0], directives=directives, files=len(said.files))
        await self.journal.end(accepted, "ran", replace(record, lines=(first, *record.lines[1:])))
        self.clock.elapsed_s += 1
        return await self.current(said)

    async def repeated(self, position: str, again: Followup) -> Accepted | None:
        """What the command at ``position`` has answered is accepted, as the dispatcher does it."""
        command = await self._accepted(heard("!command", position=position))
        then = replace(command.message, text=again.text, part="+")
        followed = await self.journal.lead_on(command, "🔁 Once more.", then, again.replaced)
        if again.replaced is not None:
            self.transcripts.forget(SessionId(again.replaced.session_id))
        return followed

    async def current(self, said: IncomingMessage) -> SessionEntry:
        entry = await self.store.get(self.keying.key(said))
        assert entry is not None
        return entry

    async def shown(self, entry: SessionEntry) -> list[str]:
        return contents(await self.store.load(entry.session_id))

    async def arrives(
        self, group: asyncio.TaskGroup, said: IncomingMessage, *, last_word: asyncio.Event | None = None
    ) -> None:
        """A message in its line, whose turn lasts until its gate opens; one that is cut waits for ``last_word``."""
        self.gates[said.text] = asyncio.Event()
        accepted = await self._accepted(said)
        group.create_task(self._own(accepted, last_word))
        await asyncio.sleep(0)

    async def _own(self, accepted: Accepted, last_word: asyncio.Event | None) -> None:
        said = accepted.message
        work = Work(accepted, FakeChat())
        arrival = Arrival(said.user_id, said.thread_key, BusyInput.QUEUE)
        ticket = self.lines.join(accepted.session_key, arrival, work)
        try:
            async with self.lines.turn(ticket):
                entry = await self.journal.begin(accepted, self.keying.source(said))
                self.began[said.text] = entry.session_id
                outcome = "ran"
                try:
                    await self.gates[said.text].wait()
                except asyncio.CancelledError:
                    if not ticket.recovers():
                        raise
                    outcome = "stopped"
                if outcome == "stopped" and last_word is not None:
                    await last_word.wait()
                record = self._record(said, entry, "so far", 1)
                await self.journal.end(accepted, outcome, record)
                self.transcripts.extend(entry, record.lines)
                self.fates[said.text] = outcome
                ticket.outcome = self.ends_as or outcome
        except OutOfLineError as fault:
            self.fates[said.text] = type(fault).__name__

    async def _accepted(self, said: IncomingMessage) -> Accepted:
        accepted = await self.journal.accept(said, self.keying.key(said), None)
        assert accepted is not None
        return accepted

    def _record(self, said: IncomingMessage, entry: SessionEntry, answer: str, tokens: int) -> TurnRecord:
        at = EPOCH + timedelta(seconds=self.clock.elapsed_s)
        run = Run(
            said.reference,
            entry.session_key,
            entry.session_id,
            said.user_id,
            said.channel_id,
            "ran",
            Tokens(tokens, 2),
            Cost(100, "estimated"),
            at,
            at,
        )
        lines = (
            TranscriptMessage("user", said.text, at, author="A", user_id=said.user_id, position=said.position),
            TranscriptMessage("assistant", answer, at),
        )
        return TurnRecord(run, lines, said.position, tokens, is_success=True)

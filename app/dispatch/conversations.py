"""What people do with the conversations they are in: over the session store and the lines of the running bot."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from app.agents.windows import Windows
from app.clock import Clock
from app.dispatch.conversation_beginning import Beginning
from app.dispatch.conversation_keys import keys_of, only_speaker
from app.dispatch.conversation_lanes import BUSY, NOWHERE, AtHand, Lane, Lanes
from app.dispatch.conversation_repeating import NOTHING, once_more
from app.dispatch.conversation_standing import Standing
from app.dispatch.conversation_stopping import CLEANUP_S, Stopping
from app.dispatch.conversation_telling import (
    answering,
    compressed,
    compressible,
    full,
    parts_of,
    spent,
    summary_of,
    there,
    undone,
)
from app.dispatch.keying import Keying
from app.dispatch.resolve import KnownModels
from app.dispatch.work import Work
from app.sessions.compression import Cause
from app.sessions.compressor import Compressor
from app.sessions.entry import SessionEntry, SessionId
from app.sessions.lines import Lines
from app.sessions.store import SessionStore
from app.sessions.summariser import Conversation
from app.sessions.ticket import Ticket
from app.sessions.transcript import PastSession, Rewound
from app.sessions.usage import By, Usage, Which
from commands.conversations import (
    Compressed,
    Compressible,
    Compressing,
    ConversationStatus,
    Restarted,
    SessionSummary,
    Spent,
    Stopped,
    Undone,
    Used,
    Whose,
)
from commands.errors import BusyError, NotFoundError
from commands.ports import Choices, Preferences
from commands.preferences import Name, subjects_of
from commands.spec import Caller, Followup

_NO_SESSION = "there is no such session; `!resume` lists those that there are"
_NOTHING_TO_NAME = "nothing has been said to me here yet, so there is no session to name"
_CLOSING = "I am being restarted and take no more messages here; say it again in a minute"


@dataclass(frozen=True, slots=True)
class Kept:
    """Where conversations are kept, and where they wait."""

    lines: Lines[Work]
    store: SessionStore
    transcripts: AtHand
    keying: Keying
    clock: Clock
    cleanup_s: float = CLEANUP_S


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about them: which model answers, what that took, and for shorter transcripts."""

    usage: Usage
    compressor: Compressor
    preferences: Preferences
    choices: Choices
    windows: Windows


class LiveConversations:
    """Implements ``commands.ports.Conversations``."""

    def __init__(self, kept: Kept, asked: Asked) -> None:
        self._kept = kept
        self._asked = asked
        self._lines = kept.lines
        self._store = kept.store
        self._stopping = Stopping(kept.lines, kept.keying, kept.cleanup_s)
        self._lanes = Lanes(kept.lines, kept.store, kept.transcripts, kept.keying)
        self._beginning = Beginning(self._lanes, self._stopping, asked.preferences)
        self._standing = Standing(self._lanes, asked.usage, asked.windows)

    async def participants(self, caller: Caller) -> frozenset[str]:
        with answering():
            return await self._lanes.people(caller)

    async def status(self, caller: Caller) -> ConversationStatus | None:
        with answering():
            if (entry := await self._lanes.current(caller)) is None:
                return None
            return await self._standing.status(caller, entry, await self._in_effect(caller))

    async def reset(self, caller: Caller, title: str | None) -> Restarted:
        with answering():
            return await self._beginning.reset(caller, title)

    async def stop(self, caller: Caller) -> Stopped:
        return await self._stopping.stop(caller)

    async def earlier(
        self, caller: Caller, *, in_channel: bool = False, limit: int | None = None
    ) -> Sequence[SessionSummary]:
        with answering():
            lane = await self._lanes.of(caller)
            found = await self._lanes.earlier(lane, caller, in_channel=in_channel)
            return [summary_of(each) for each in found[:limit]]

    async def resume(self, caller: Caller, session_id: str, *, in_channel: bool = False) -> SessionSummary:
        with answering():
            lane = await self._lanes.of(caller)
            possible = await self._lanes.earlier(lane, caller, in_channel=in_channel)
            wanted = next((each for each in possible if each.session_id == session_id), None)
            if wanted is None:
                raise NotFoundError(_NO_SESSION)
            left = await self._lanes.opened(lane)
            await self._lanes.write_down(left)
            self._lanes.require_quiet(lane.key)
            entry = there(await self._switched(lane, wanted, left, caller))
        for each in (left.session_id, entry.session_id):
            self._kept.transcripts.forget(each)
        return replace(summary_of(wanted, is_current=True), session_id=entry.session_id)

    async def list_sessions(self, caller: Caller, query: str, limit: int) -> Sequence[SessionSummary]:
        with answering():
            is_here = caller.origin.thread_key is not None
            keys = [(await self._lanes.of(caller)).key] if is_here else await self._lanes.keys_in_channel(caller)
            found = await self._lanes.with_words(keys, query, limit)
            return [summary_of(each, is_current=each.ended_at is None) for each in found]

    async def retry(self, caller: Caller) -> Followup:
        with answering():
            entry = await self._lanes.current(caller)
            if entry is None:
                raise NotFoundError(NOTHING)
            lines, choices = await self._kept.transcripts.load(entry), self._asked.choices
        models = KnownModels(frozenset(choices.providers()))
        again = once_more(entry.session_id, lines, choices.agents(), models)
        # What stands before the command would be answered after its own turn was taken out of sight.
        first = next(iter(self._lines.tickets(entry.session_key)), None)
        if first is not None and not _brought(first, caller):
            raise BusyError(BUSY)
        return again

    async def undo(self, caller: Caller, turns: int) -> Undone:
        with answering():
            entry = await self._lanes.current(caller)
            if entry is None:
                return undone(Rewound(0, 0))
            await self._kept.transcripts.load(entry)
            self._lanes.require_quiet(entry.session_key)
            with self._changing(entry):
                return undone(await self._store.rewind(entry.session_id, turns))

    async def compress(self, caller: Caller, how: Compressing) -> Compressed:
        with answering():
            if (entry := await self._lanes.current(caller)) is None:
                return Compressed()
            where = await self._where(caller, entry)
            await self._kept.transcripts.load(entry)
            self._lanes.require_quiet(entry.session_key)
            with self._changing(entry):
                outcome = await self._asked.compressor.compress(
                    where, focus=how.focus, cause=Cause.COMMAND, keep_turns=how.keep_turns
                )
            return compressed(outcome)

    async def compressible(self, caller: Caller, how: Compressing) -> Compressible:
        with answering():
            if (entry := await self._lanes.current(caller)) is None:
                return Compressible()
            where = await self._where(caller, entry)
            await self._kept.transcripts.load(entry)
            return compressible(await self._asked.compressor.foreseen(where, keep_turns=how.keep_turns))

    async def queue(self, caller: Caller) -> int:
        key = next(iter(keys_of(self._kept.keying, caller)), None)
        if key is None:
            raise NotFoundError(NOWHERE)
        standing = self._lines.tickets(key)
        ahead = next((number for number, ticket in enumerate(standing) if _brought(ticket, caller)), None)
        if ahead is None:
            raise BusyError(_CLOSING if self._lines.is_holding else full(self._lines.depth(key)))
        return ahead

    async def usage(self, caller: Caller, whose: Whose, *, days: int | None) -> Used:
        since = None if days is None else self._kept.clock.now() - timedelta(days=days)
        with answering():
            which = replace(await self._which(caller, whose), since=since)
            by_model = await self._asked.usage.shares(By.MODEL, which)
            return Used(await self._spent(which), parts_of(by_model))

    async def title(self, caller: Caller, text: str) -> None:
        with answering():
            entry = await self._lanes.current(caller)
            if entry is None:
                raise NotFoundError(_NOTHING_TO_NAME)
            await self._store.set_title(entry.session_id, text)

    async def _where(self, caller: Caller, entry: SessionEntry) -> Conversation:
        model = (await self._in_effect(caller))[Name.MODEL]
        return Conversation(
            entry.session_key,
            entry.session_id,
            caller.id,
            caller.origin.channel_id or "",
            reference=caller.origin.position or caller.surface.value,
            model=model,
            window=self._asked.windows.of(model),
        )

    @contextmanager
    def _changing(self, entry: SessionEntry) -> Generator[None]:
        """Around a change of what was said: one that failed may have been kept all the same."""
        try:
            yield
        finally:
            self._kept.transcripts.forget(entry.session_id)

    async def _in_effect(self, caller: Caller) -> Mapping[Name, str]:
        kept = await self._asked.preferences.get(subjects_of(caller))
        return {each.name: each.value or "" for each in self._asked.choices.in_effect(kept)}

    async def _which(self, caller: Caller, whose: Whose) -> Which:
        if whose is Whose.ME:
            return Which(user_id=caller.id)
        if whose is Whose.CHANNEL:
            return Which(channel_id=caller.origin.channel_id, user_id=only_speaker(caller))
        return Which(session_key=(await self._lanes.of(caller)).key)

    async def _spent(self, which: Which) -> Spent:
        return spent(await self._asked.usage.shares(By.TASK, which))

    async def _switched(
        self, lane: Lane, wanted: PastSession, left: SessionEntry, caller: Caller
    ) -> SessionEntry | None:
        """To a session of this conversation; of another one's, to a new session that goes on from it."""
        go = self._store.switch if wanted.session_key == lane.key else self._store.fork
        watermark = caller.origin.position
        return await go(lane.key, SessionId(wanted.session_id), expected=left.session_id, watermark=watermark)


def _brought(ticket: Ticket[Work], caller: Caller) -> bool:
    """Whether it is the place of the very command that asks."""
    message = ticket.said.message
    return (message.user_id, message.position, message.part) == (caller.id, caller.origin.position, "")

"""Everything a turn needs to know, fetched at once."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from app.access.actor import ChannelFacts
from app.agents.prompt import conversation, observed, system_prompt
from app.agents.providers.base import ModelRequest
from app.channel import ThreadMessage
from app.dispatch import wording
from app.dispatch.directives import written
from app.dispatch.resolve import Resolution
from app.dispatch.sharing import NOTHING, Shared
from app.dispatch.work import Progress, Work
from app.sessions.context import build_session_context, session_context_prompt
from app.sessions.entry import SessionEntry, SessionId
from app.sessions.key import KeyRules
from app.sessions.source import ChatType, SessionSource
from app.sessions.ticket import Ticket
from app.sessions.transcript import Kind, TranscriptMessage
from memory.recall import Recall, Recalled
from memory.scope import request_scopes


@dataclass(frozen=True, slots=True)
class Budgets:
    """How much of a conversation a model is given."""

    history_chars: int
    """Of a thread that the bot comes into; what it took part in it keeps itself."""
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Setting:
    """What stays the same in every turn of the bot."""

    organization: str
    budgets: Budgets
    keys: KeyRules
    is_command: Callable[[str], bool]
    """Whether what somebody said was meant for the commands alone."""
    redact_pii: bool = False


@dataclass(frozen=True, slots=True)
class Asking:
    """Who answers."""

    resolution: Resolution
    model: str
    """The provider's own name of it."""
    place: ChannelFacts
    """Where the question was asked, as it was looked up to admit it."""
    advice: str | None = None
    """Wishes of the channel and the person about how to answer."""
    reads: Shared = NOTHING
    """The memory that may be seen beside the channel's and the person's own."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A session as a turn finds it."""

    entry: SessionEntry
    source: SessionSource
    transcript: Sequence[TranscriptMessage]


class Remembers(Protocol):
    """What is needed of ``app.sessions.store.SessionStore``."""

    async def heard(self, session_id: SessionId, positions: Collection[str]) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a turn's model is to know, as far as it had to be looked up."""

    seen: Sequence[TranscriptMessage]
    """Of the thread, what the transcript does not have."""
    recalled: Recalled
    names: Mapping[Ticket[Work], str]


class Provision:
    def __init__(self, memory: Recall, sessions: Remembers, setting: Setting) -> None:
        self._memory = memory
        self._sessions = sessions
        self._setting = setting

    async def gathered(self, progress: Progress, opened: Opened, asking: Asking) -> Found:
        """Everything that has to be waited for. Raises ``ChannelUnavailableError`` and ``StateError``'s tree."""
        message = progress.work.message
        scopes = request_scopes(
            self._setting.organization if asking.reads.org else None,
            user_id=message.user_id,
            channel_id=message.channel_id,
            repo=asking.reads.repo,
        )
        see = partial(self._seen, progress.work, opened, message.received_at)
        recall = partial(self._memory.recall, opened.entry.session_id, scopes, message.text)
        if _is_at_hand(progress, opened):
            # Memory, if anything, is waited for, with nothing beside it, and that takes no tasks.
            seen, recalled, names = await see(), await recall(), await names_of(progress.standing)
        else:
            seen, recalled, names = await asyncio.gather(see(), recall(), names_of(progress.standing))
        return Found(seen, recalled, names)

    def request(self, progress: Progress, opened: Opened, asking: Asking, found: Found) -> ModelRequest:
        """The model call this turn asks for, with what was ``found`` for it: its messages are final now.

        Leaves in ``progress`` what the transcript lacks, and the memory that went into the call.
        """
        setting, names = self._setting, found.names
        context = self._context(opened, asking.place, names[progress.tickets[0]])
        said = [said_line(ticket.said, names[ticket]) for ticket in progress.final()]
        # Of messages that are answered together, the first one says how.
        if directives := written(progress.work.wish):
            said[0] = replace(said[0], directives=directives)
        progress.recalled, progress.lines = found.recalled, [*found.seen, *said]
        return ModelRequest(
            model=asking.model,
            system=system_prompt(found.recalled.block, asking.resolution.agent.prompt, asking.advice, context),
            messages=conversation([*opened.transcript, *progress.lines], is_shared=progress.is_shared),
            max_output_tokens=setting.budgets.output_tokens,
            effort=asking.resolution.effort,
        )

    async def _seen(self, work: Work, opened: Opened, read_at: datetime) -> list[TranscriptMessage]:
        """What was said in the thread that the transcript does not have."""
        budget, since = self._setting.budgets.history_chars, opened.entry.watermark
        if _comes_in(work, opened):
            return observed(await work.chat.history(), budget, read_at)
        if opened.source.chat_type is ChatType.DM:
            # Whatever is said there is said to the bot.
            return []
        known = {line.position for line in opened.transcript}
        # The bot's own words are in the transcript, or answer commands, and are no part of the conversation then.
        others = [
            each
            for each in await work.chat.history(since)
            if not each.by_bot and each.position not in known and not self._setting.is_command(each.text)
        ]
        return observed(await self._unheard(opened.entry.session_id, others), budget, read_at)

    async def _unheard(self, session_id: SessionId, others: Sequence[ThreadMessage]) -> Sequence[ThreadMessage]:
        """Without what the session has had and has no longer: what is taken back does not come in by the thread."""
        heard = await self._sessions.heard(session_id, [each.position for each in others]) if others else ()
        return [each for each in others if each.position not in heard]

    def _context(self, opened: Opened, place: ChannelFacts, name: str) -> str:
        """Where the conversation takes place, in words that do not change from turn to turn."""
        source = replace(opened.source, chat_name=place.name, chat_topic=place.topic, user_name=name)
        context = build_session_context(
            source,
            connected_platforms=(source.platform,),
            home_channels={},
            shared_multi_user_session=self._setting.keys.is_shared(source),
        )
        return session_context_prompt(context, redact_pii=self._setting.redact_pii)


def _comes_in(work: Work, opened: Opened) -> bool:
    """Whether the session knows nothing of the thread yet."""
    return work.message.brings_history or (opened.entry.watermark is None and not opened.transcript)


def _is_at_hand(progress: Progress, opened: Opened) -> bool:
    """Whether nobody has to be asked who speaks, and what was said in the thread."""
    work, is_dm = progress.work, opened.source.chat_type is ChatType.DM
    is_read = not work.message.starts_thread and (not is_dm or _comes_in(work, opened))
    return not is_read and all(ticket.said.chat.knows_asker() for ticket in progress.standing)


async def names_of(tickets: Sequence[Ticket[Work]]) -> dict[Ticket[Work], str]:
    """Whoever says several things that are answered together is one person as a rule, so nothing waits for another."""
    return {ticket: await ticket.said.chat.asker() for ticket in tickets}


def said_line(work: Work, author: str) -> TranscriptMessage:
    message = work.message
    return TranscriptMessage(
        "user",
        message.text or wording.BARE_MENTION,
        message.sent_at,
        Kind.SAID,
        author=author,
        user_id=message.user_id,
        position=work.position,
        files=len(message.files),
    )

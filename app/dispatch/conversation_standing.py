"""How a conversation stands: its session, what it took, what runs in it, and what it was about last."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from app.agents.windows import Windows
from app.dispatch.conversation_lanes import Lanes
from app.dispatch.conversation_recap import recap_of
from app.dispatch.conversation_telling import spent, summary_of
from app.errors import StateError
from app.sessions.entry import SessionEntry
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.usage import By, Usage, Which
from commands.conversations import ConversationStatus, Recap
from commands.preferences import Name
from commands.spec import Caller


@dataclass(frozen=True, slots=True)
class Standing:
    lanes: Lanes
    usage: Usage
    windows: Windows

    async def status(self, caller: Caller, entry: SessionEntry, in_effect: Mapping[Name, str]) -> ConversationStatus:
        key, model, lines = entry.session_key, in_effect[Name.MODEL], self.lanes.lines
        past = await self.lanes.sessions([key])
        session = next(each for each in past if each.session_id == entry.session_id)
        return ConversationStatus(
            session=summary_of(session, is_current=True),
            agent=in_effect[Name.AGENT],
            model=model,
            spent=spent(await self.usage.shares(By.TASK, Which(session_id=entry.session_id))),
            context_tokens=entry.last_prompt_tokens,
            context_limit_tokens=self.windows.known.get(model),
            is_running=lines.turn_of(key) is not None,
            waiting=lines.depth(key),
            recap=await self._recap(caller, entry),
            repo=in_effect[Name.REPO] or None,
        )

    async def _recap(self, caller: Caller, entry: SessionEntry) -> Recap | None:
        """For those alone who have spoken in it. Where what was said cannot be read, the rest is told all the same."""
        if caller.id not in await self.lanes.people(caller):
            return None
        with suppress(TranscriptUnreadableError, StateError):
            return recap_of(await self.lanes.transcripts.load(entry))
        return None

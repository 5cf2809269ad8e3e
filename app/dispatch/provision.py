"""Everything a turn needs to know, fetched at once."""

import asyncio
from dataclasses import dataclass

from app.agents.prompt import conversation, system_prompt
from app.agents.providers.base import ModelRequest
from app.channel import Chat, IncomingMessage
from app.dispatch import wording
from app.dispatch.resolve import Resolution
from memory.recall import recall
from memory.scope import scopes_of
from memory.store import MemoryStore


@dataclass(frozen=True, slots=True)
class Budgets:
    """How much of a conversation a model is given."""

    history_chars: int
    output_tokens: int
    memory_records: int = 8


class Provision:
    def __init__(self, memory: MemoryStore, organization: str, budgets: Budgets) -> None:
        self._memory = memory
        self._organization = organization
        self._budgets = budgets

    async def request(self, message: IncomingMessage, chat: Chat, resolution: Resolution, model: str) -> ModelRequest:
        """The model call this message asks for. Raises ``ChannelUnavailableError``."""
        scopes = tuple(
            scopes_of(organization=self._organization, channel_id=message.channel_id, user_id=message.user_id)
        )
        history, memory, asker = await asyncio.gather(
            chat.history(),
            recall(self._memory, scopes, message.text, self._budgets.memory_records),
            chat.asker(),
        )
        return ModelRequest(
            model=model,
            system=system_prompt(memory, resolution.agent.prompt),
            messages=conversation(history, asker, message.text or wording.BARE_MENTION, self._budgets.history_chars),
            max_output_tokens=self._budgets.output_tokens,
            effort=resolution.effort,
        )

"""Everything a turn needs to know, fetched at once."""

import asyncio
from dataclasses import dataclass

from app.agents.prompt import conversation, system_prompt
from app.agents.providers.base import ModelRequest
from app.channel import Chat, IncomingMessage
from app.dispatch import wording
from app.dispatch.resolve import Resolution
from memory.recall import Recall, Recalled
from memory.scope import request_scopes


@dataclass(frozen=True, slots=True)
class Budgets:
    """How much of a conversation a model is given."""

    history_chars: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Provisioned:
    """A model call, and the memory that went into it."""

    request: ModelRequest
    recalled: Recalled


class Provision:
    def __init__(self, memory: Recall, organization: str, budgets: Budgets) -> None:
        self._memory = memory
        self._organization = organization
        self._budgets = budgets

    async def provide(
        self, message: IncomingMessage, chat: Chat, resolution: Resolution, model: str, *, with_org: bool = True
    ) -> Provisioned:
        """The model call this message asks for; without the organisation's memory for those who may not see it.

        Raises ``ChannelUnavailableError``.
        """
        organization = self._organization if with_org else None
        scopes = request_scopes(organization, user_id=message.user_id, channel_id=message.channel_id)
        history, recalled, asker = await asyncio.gather(
            chat.history(),
            self._memory.recall(message.thread_key, scopes, message.text),
            chat.asker(),
        )
        request = ModelRequest(
            model=model,
            system=system_prompt(recalled.block, resolution.agent.prompt),
            messages=conversation(history, asker, message.text or wording.BARE_MENTION, self._budgets.history_chars),
            max_output_tokens=self._budgets.output_tokens,
            effort=resolution.effort,
        )
        return Provisioned(request, recalled)

"""One accepted message, from its first look to its delivered answer."""

import asyncio
from dataclasses import dataclass

import structlog

from app.access.actor import caller_of
from app.access.authority import Asker
from app.agents.loop import TurnResult
from app.channel import Chat, IncomingMessage, Reply
from app.dispatch import wording
from app.dispatch.entrance import Entrance
from app.dispatch.ports import Limits, Ports
from app.dispatch.resolve import resolve
from app.dispatch.triage import Say, triage
from app.errors import DeliveryError, NotAllowedError, StoppedByUserError, SwitchboardError
from memory.recall import Recalled
from memory.reflection import FinishedTurn

TURN_FAILED = "turn_failed"
TURN_REFUSED = "turn_refused"
DELIVERY_FAILED = "delivery_failed"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a message ended, for the turn's one log line."""

    name: str
    agent: str | None = None
    model: str | None = None
    result: TurnResult | None = None
    recalled: Recalled | None = None


class Answering:
    """The steps of ``Ports`` in order. Holds no state between messages."""

    def __init__(self, ports: Ports, limits: Limits, entrance: Entrance) -> None:
        self._ports = ports
        self._entrance = entrance
        self._limits = limits

    async def answer(self, message: IncomingMessage, chat: Chat) -> Outcome:
        """Every path ends with something visible in the thread, or with a logged delivery failure."""
        decision = triage(message, self._limits.message_chars)
        if isinstance(decision, Say):
            return await self.say(chat, decision.text, decision.outcome)
        if recognised := self._ports.commands.recognise(message.text):
            result = await self._ports.commands.run_text(recognised, caller_of(message))
            return await self.say(chat, result.text, "command")
        return await self._run(message, chat)

    async def say(self, chat: Chat, text: str, outcome: str) -> Outcome:
        """One whole sentence instead of a turn."""
        try:
            await chat.say(text)
        except DeliveryError as fault:
            _log.error(DELIVERY_FAILED, reason=str(fault))
            return Outcome("undelivered")
        return Outcome(outcome)

    async def _run(self, message: IncomingMessage, chat: Chat) -> Outcome:
        ports, status, reply = self._ports, chat.status(), chat.reply()
        try:
            return await self._turn(message, chat, reply)
        except StoppedByUserError:
            return await self.say(chat, wording.STOPPED, "stopped")
        except NotAllowedError as fault:
            _log.info(TURN_REFUSED, reason=str(fault))
            return await self.say(chat, wording.not_allowed(ports.access.admins()), "refused")
        except DeliveryError as fault:
            _log.error(DELIVERY_FAILED, reason=str(fault))
            return Outcome("undelivered")
        except (SwitchboardError, TimeoutError) as fault:
            # No traceback: a vendor's exception behind ours may quote the prompt.
            _log.warning(TURN_FAILED, error=type(fault).__name__, reason=str(fault))
            return await self._close(reply, wording.apology(fault, message.reference), "failed")
        except asyncio.CancelledError:
            await reply.abandon()
            raise
        finally:
            await status.clear()

    async def _turn(self, message: IncomingMessage, chat: Chat, reply: Reply) -> Outcome:
        ports = self._ports
        async with asyncio.timeout(self._limits.turn_s):
            resolution = resolve(ports.agents, ports.defaults)
            model = ports.models.resolve(resolution.model)
            async with self._entrance:
                asker = await self._admitted(message, resolution.agent.name)
                session = await ports.sessions.open(message)
                await chat.status().show(wording.THINKING)
                provided = await ports.provision.provide(
                    message,
                    chat,
                    resolution,
                    model.model,
                    with_org=ports.access.may_recall_org(asker).is_allowed,
                )
            result = await ports.loop.run(model.provider, provided.request, reply)
            await reply.finish()
        await ports.sessions.commit(session, result.text)
        ports.reflection.schedule(FinishedTurn(message.thread_key, message.text, result.text))
        return Outcome("ran", resolution.agent.name, resolution.model, result, provided.recalled)

    async def _admitted(self, message: IncomingMessage, agent: str) -> Asker:
        """The one who asks. Raises ``NotAllowedError`` before any memory is read for somebody who may not ask."""
        access = self._ports.access
        asker = await access.asker(caller_of(message))
        for decision in (access.may_talk(asker), access.may_run_agent(asker, agent)):
            if not decision.is_allowed:
                raise NotAllowedError(decision.reason)
        return asker

    async def _close(self, reply: Reply, note: str, outcome: str) -> Outcome:
        """End a reply that failed with a note below whatever of it is visible."""
        try:
            reply.write(f"\n\n{note}")
            await reply.finish()
        except (DeliveryError, StoppedByUserError) as fault:
            _log.error(DELIVERY_FAILED, reason=str(fault))
            return Outcome("undelivered")
        return Outcome(outcome)

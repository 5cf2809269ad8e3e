"""What people do with a message after they have sent it: they take it back, or say it in other words."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress

from app.channel import Place, UserId
from app.dispatch.directives import Directed, directives
from app.dispatch.journal import MessageId, Waiting
from app.dispatch.ports import Ports
from app.dispatch.work import FOLLOWING, Work
from app.sessions.ticket import Ticket

PARTS = ("", FOLLOWING)
"""Of a message that is taken back, what its command has asked for goes, too."""
REMEMBERED = 500
HEARD_S = 1.0
"""Whoever tells of a message waits for a moment only until that was heard."""


class Revising:
    """What no model has been given is no longer answered, or in its new words; what was answered stays as it is.

    Written down, so that a next process knows it, too, and carried out in the line, without a wait between. From the
    moment on in which a model has a message, other words change nothing, and its being taken back ends the answer only
    if it is the first of those that are answered: the others are then answered without it. Nothing is said about it
    where nothing is visible. Should the process end before an answer is made, the next one makes it without what was
    taken back, and in the new words.
    """

    def __init__(self, ports: Ports, message_chars: int, has_ended: Callable[[Place], bool]) -> None:
        """``has_ended``: whether a message has, which the journal may not know yet."""
        self._has_ended = has_ended
        self._ports = ports
        self._message_chars = message_chars
        self._revised: OrderedDict[MessageId, str | None] = OrderedDict()
        """The latest words, ``None`` for no more: for messages that a model has, or that are not in their line yet."""

    async def withdraw(self, place: Place, author: UserId) -> None:
        """The message at ``place`` was deleted. What a model has of it is answered on unless ``author`` has asked it.

        Raises ``StateError``.
        """
        if not self._running(place) and not self._has_ended(place):
            for gone in await self._ports.journal.withdraw(place, PARTS):
                self._remember(gone, None)
                self._carry_out(self._standing(gone))
        # After the wait, in which its turn may have begun.
        for ticket in self._running(place):
            self._take_back(ticket, author)
            if ticket.is_withdrawn:
                await _left(ticket)

    async def reword(self, place: Place, text: str) -> None:
        """The message at ``place`` says ``text`` by now. What is no question, a command for example, changes nothing.

        Raises ``StateError``.
        """
        if self._asked(text) is None or any(ticket.is_final for ticket in self._running(place)):
            return
        waiting = await self._ports.journal.reword(place, text)
        if waiting is not None:
            self._remember(waiting, text)
            self._carry_out(self._standing(waiting))

    def revised(self, work: Work) -> Work | None:
        """As it is to be answered by now; ``None`` for what was taken back."""
        text = self._revised.get(work.accepted.id, work.message.text)
        return None if text is None else work.saying(text)

    def _take_back(self, ticket: Ticket[Work], author: UserId) -> None:
        """Of a turn that runs. One that is about to end answers all of its messages, and is left to the others."""
        is_others = ticket.is_answered and ticket.carries
        if is_others or (ticket.is_final and ticket.arrival.sender != author):
            return
        taken_along = tuple(ticket.carries)
        self._ports.lines.withdraw(ticket)
        if ticket.is_withdrawn:
            # They are to be given to a model again.
            self._carry_out(taken_along)

    def _carry_out(self, tickets: Sequence[Ticket[Work]]) -> None:
        """What is known to have become of them."""
        for ticket in tickets:
            text = self._revised.get(ticket.said.accepted.id, "")
            if text is None:
                self._ports.lines.withdraw(ticket)
            elif (asked := self._asked(text)) is not None:
                ticket.said = ticket.said.asking(asked)

    def _asked(self, text: str) -> Directed | None:
        ports = self._ports
        if not text.strip() or len(text) > self._message_chars or ports.commands.recognise(text):
            return None
        asked = directives(text, ports.agents, ports.knows_model)
        return asked if isinstance(asked, Directed) else None

    def _running(self, place: Place) -> Sequence[Ticket[Work]]:
        return [ticket for ticket in self._ports.lines.turns() if ticket.said.message.place == place]

    def _standing(self, waiting: Waiting) -> Sequence[Ticket[Work]]:
        tickets = self._ports.lines.revisable(waiting.session_key)
        return [ticket for ticket in tickets if ticket.said.accepted.id == waiting.id]

    def _remember(self, waiting: Waiting, text: str | None) -> None:
        self._revised[waiting.id] = text
        while len(self._revised) > REMEMBERED:
            self._revised.popitem(last=False)


async def _left(ticket: Ticket[Work]) -> None:
    """Return when the turn is written down as over, or takes too long for that.

    Who told of it tells the next process, should this one end before.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(HEARD_S):
            await ticket.left.wait()

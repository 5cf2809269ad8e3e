"""What people do with a message after they have sent it: they take it back, or say it in other words."""

from collections import OrderedDict
from collections.abc import Sequence

from app.channel import Place, UserId
from app.dispatch.directives import Directed, directives
from app.dispatch.journal import MessageId, Waiting
from app.dispatch.ports import Ports
from app.dispatch.work import FOLLOWING, Work
from app.sessions.ticket import Ticket

PARTS = ("", FOLLOWING)
"""Of a message that is taken back, what its command has asked for goes, too."""
REMEMBERED = 500


class Revising:
    """What has not begun is no longer answered, or in its new words; what was answered stays as it is.

    Written down first, so that a next process knows it, too; then carried out in the line, without a wait between.
    What another message's turn has taken along counts as not begun until the model is given it. From then on nothing
    is done and nothing is said about it: whoever asked first still waits for that answer, which holds both. Should the
    process end before that answer is made, the next one makes it without what was taken back, and in the new words.
    """

    def __init__(self, ports: Ports, message_chars: int) -> None:
        self._ports = ports
        self._message_chars = message_chars
        self._revised: OrderedDict[MessageId, str | None] = OrderedDict()
        """The latest words, ``None`` for no more: for messages that have not come to their line yet."""

    async def withdraw(self, place: Place, author: UserId) -> None:
        """The message at ``place`` was deleted. An answer under way is stopped if ``author`` has asked for it.

        Raises ``StateError``.
        """
        if not self._running(place):
            for gone in await self._ports.journal.withdraw(place, PARTS):
                self._remember(gone, None)
                for ticket in self._standing(gone):
                    self._ports.lines.withdraw(ticket)
        # After the wait, in which its turn may have begun.
        for ticket in self._running(place):
            if ticket.arrival.sender == author:
                self._ports.lines.stop_line(ticket.key)

    async def reword(self, place: Place, text: str) -> None:
        """The message at ``place`` says ``text`` by now. What is no question, a command for example, changes nothing.

        Raises ``StateError``.
        """
        asked = self._asked(text)
        if asked is None or self._running(place):
            return
        waiting = await self._ports.journal.reword(place, text)
        if waiting is None:
            return
        self._remember(waiting, text)
        for ticket in self._standing(waiting):
            ticket.said = ticket.said.asking(asked)

    def revised(self, work: Work) -> Work | None:
        """As it is to be answered by now; ``None`` for what was taken back."""
        text = self._revised.get(work.accepted.id, work.message.text)
        return None if text is None else work.saying(text)

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

"""Where a running turn takes along what was said meanwhile."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agents.prompt import words_of
from app.agents.providers.base import ModelRequest, Turn
from app.dispatch.provision import names_of, said_line
from app.dispatch.work import Progress, Work
from app.sessions.ticket import Ticket


class TurnBoundary:
    """Implements ``app.agents.loop.Boundary``: before a model call, the messages that are to steer it go into it."""

    def __init__(self, progress: Progress, ticket: Ticket[Work], take: Callable[[], Sequence[Ticket[Work]]]) -> None:
        self._progress = progress
        self._ticket = ticket
        self._take = take
        ticket.takes_steering = True

    async def before_call(self, request: ModelRequest) -> ModelRequest:
        steering = self._take()
        self._ticket.takes_steering = False
        if not steering:
            return request
        # Before anything is awaited: a turn that is cut from here on ends these messages with its own.
        self._progress.tickets.extend(steering)
        names = await names_of(steering)
        lines = [said_line(ticket.said, names[ticket]) for ticket in self._progress.final() if ticket in names]
        if not lines:
            return request
        self._progress.lines.extend(lines)
        last = request.messages[-1]
        said = [words_of(line, is_shared=self._progress.is_shared) for line in lines]
        return replace(request, messages=(*request.messages[:-1], Turn("user", "\n\n".join([last.text, *said]))))

    def between_calls(self) -> None:
        self._ticket.takes_steering = True

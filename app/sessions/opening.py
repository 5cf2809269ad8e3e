"""The session store port: what a conversation keeps between its turns."""

from dataclasses import dataclass
from typing import Protocol

from app.channel import IncomingMessage, ThreadKey


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, opened for one turn."""

    key: ThreadKey


class SessionStore(Protocol):
    """Adapters: null (the thread itself is the only record)."""

    async def open(self, message: IncomingMessage) -> Session:
        """The session the message belongs to, marked as having a turn under way."""
        ...

    async def commit(self, session: Session, answer: str) -> None:
        """Keep what was answered and take the mark away."""
        ...


class NullSessionStore:
    """Keeps nothing: every turn reads the conversation from the thread itself."""

    async def open(self, message: IncomingMessage) -> Session:
        return Session(message.thread_key)

    async def commit(self, session: Session, answer: str) -> None:
        """Nothing to keep."""

"""What a message asks for before anybody looks at its meaning."""

from dataclasses import dataclass

from app.channel import IncomingMessage
from app.dispatch import wording


@dataclass(frozen=True, slots=True)
class Run:
    """A turn of an agent."""


@dataclass(frozen=True, slots=True)
class Say:
    """A fixed sentence; no model is asked."""

    text: str
    outcome: str


def triage(message: IncomingMessage, max_chars: int) -> Run | Say:
    """Too long and empty messages get a sentence; in a running thread even a bare mention means something.

    What a command has answered was read before, as one message or as several that were answered together.
    """
    if len(message.text) > max_chars and not message.part:
        return Say(wording.too_long(len(message.text), max_chars), "refused")
    if message.text.strip():
        return Run()
    if message.files:
        return Say(wording.FILES_ONLY, "refused")
    return Say(wording.GREETING, "greeted") if message.starts_thread else Run()

"""Which session a message belongs to, as the operator has decided."""

from dataclasses import dataclass

from app.channel import IncomingMessage
from app.sessions.entry import SessionKey
from app.sessions.key import KeyRules, source_of
from app.sessions.source import SessionSource

DEFAULT_RULES = KeyRules()


@dataclass(frozen=True, slots=True)
class Keying:
    """Every path that needs a session key goes through here."""

    rules: KeyRules = DEFAULT_RULES
    dm_top_level_threads_as_sessions: bool = True

    def source(self, message: IncomingMessage) -> SessionSource:
        return source_of(message, dm_top_level_threads_as_sessions=self.dm_top_level_threads_as_sessions)

    def key(self, message: IncomingMessage) -> SessionKey:
        return self.rules.key(self.source(message))

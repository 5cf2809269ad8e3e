"""What can go wrong with sessions, beside the database's own faults.

SessionError(SwitchboardError)
├── TranscriptUnreadableError     a kept line makes no sense; the conversation is not answered as if it were empty
└── TitleTakenError               another session of the conversation has this title
"""

from app.errors import SwitchboardError


class SessionError(SwitchboardError):
    """Something is wrong with one session."""


class TranscriptUnreadableError(SessionError):
    """A line of the transcript cannot be read."""


class TitleTakenError(SessionError):
    """The title is in use."""

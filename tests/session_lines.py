"""Sources, lines and turns for tests of what is kept of a session."""

from collections.abc import Sequence
from datetime import datetime
from itertools import count

from app.channel import ThreadKey
from app.clock import Clock
from app.dispatch.journal import TurnRecord
from app.sessions.entry import Cost, SessionEntry, Tokens
from app.sessions.key import KeyRules
from app.sessions.source import ChatType, SessionSource
from app.sessions.transcript import Kind, TranscriptMessage
from app.sessions.usage import Run
from app.state.engine import Database
from app.state.sessions import StateSessions
from tests.fakes import EPOCH


def thread(root: str = "1.0") -> tuple[SessionSource, ThreadKey]:
    """A thread of a channel: what ``get_or_create`` is given."""
    source = SessionSource("slack", "C1", "general", ChatType.CHANNEL, user_id="U1", user_name="Ann", thread_id=root)
    return source, ThreadKey(f"slack:C1:{root}")


def store_over(database: Database, clock: Clock, rules: KeyRules | None = None) -> StateSessions:
    """Its session ids end in 1, 2, 3 and so on."""
    numbers = count(1)
    return StateSessions(database, clock, rules, suffix=lambda: f"{next(numbers):08x}")


def said(content: str, position: str | None = None, at: datetime = EPOCH) -> TranscriptMessage:
    return TranscriptMessage("user", content, at, author="Ann", user_id="slack:U1", position=position)


def answer(content: str, position: str | None = None) -> TranscriptMessage:
    return TranscriptMessage("assistant", content, EPOCH, position=position)


def observed(content: str, position: str | None = None) -> TranscriptMessage:
    return TranscriptMessage("user", content, EPOCH, Kind.OBSERVED, author="Bo", position=position)


def contents(lines: Sequence[TranscriptMessage]) -> list[str]:
    return [line.content for line in lines]


def turn_record(entry: SessionEntry, said_back: str = "5433") -> TurnRecord:
    """Of a turn that was answered with ``said_back``."""
    run = Run(
        reference="abcd1234",
        session_key=entry.session_key,
        session_id=entry.session_id,
        user_id="slack:U1",
        channel_id="slack:C1",
        outcome="ran",
        tokens=Tokens(1),
        cost=Cost(1),
        started_at=EPOCH,
        ended_at=EPOCH,
    )
    return TurnRecord(run, (said("which port?", "1.1"), answer(said_back)), "1.1", 1, is_success=True)

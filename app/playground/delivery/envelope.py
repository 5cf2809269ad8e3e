"""What travels from Slack to an app, what comes of it, and the record of both."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import uuid4

from app.clock import Clock
from app.playground.model import Json, SlackApp


class EnvelopeKind(StrEnum):
    """Socket Mode's own words."""

    EVENT = "events_api"
    INTERACTIVE = "interactive"
    SLASH = "slash_commands"


@dataclass(frozen=True, slots=True)
class AckTimes:
    """Slack waits three seconds for an acknowledgement and repeats at once, after a minute and after five."""

    timeout_s: float = 3.0
    retry_after_s: tuple[float, ...] = (0.0, 60.0, 300.0)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One attempt to deliver one payload."""

    app: SlackApp
    kind: EnvelopeKind
    payload: Json
    event_id: str | None = None
    attempt: int = 0
    reason: str | None = None
    """Why there was an earlier attempt."""


@dataclass(frozen=True, slots=True)
class Acked:
    payload: Json
    """What the app answered; empty for a plain acknowledgement."""


@dataclass(frozen=True, slots=True)
class NotAcked:
    reason: str
    """Slack's word for ``retry_reason``."""
    is_unreachable: bool = False
    """There was no way to the app at all."""
    is_final: bool = False
    """The app asked not to be tried again."""


Outcome = Acked | NotAcked


@dataclass(slots=True)
class DeliveredEnvelope:
    """One line of the log; times are the clock's monotonic seconds."""

    envelope_id: str
    app_id: str
    event_id: str | None
    type: str
    attempt: int
    payload: Json
    sent_at: float
    acked_at: float | None = None
    answer: Json | None = None

    @property
    def event_type(self) -> str:
        """``message``, ``app_mention``, ``block_actions``, …; the command itself for slash commands."""
        event: Json = self.payload.get("event", {})
        return str(event.get("type") or self.payload.get("type") or self.payload.get("command") or "")

    @property
    def ack_s(self) -> float | None:
        """How long the app took to acknowledge."""
        return None if self.acked_at is None else self.acked_at - self.sent_at


class DeliveryLog:
    """Every attempt in the order it was sent."""

    def __init__(self, on_change: Callable[[], None], clock: Clock) -> None:
        self.entries: list[DeliveredEnvelope] = []
        self._on_change = on_change
        self._clock = clock

    def sent(self, parcel: Parcel) -> DeliveredEnvelope:
        entry = DeliveredEnvelope(
            envelope_id=str(uuid4()),
            app_id=parcel.app.id,
            event_id=parcel.event_id,
            type=parcel.kind.value,
            attempt=parcel.attempt,
            payload=parcel.payload,
            sent_at=self._clock.monotonic(),
        )
        self.entries.append(entry)
        self._on_change()
        return entry

    def acked(self, entry: DeliveredEnvelope, answer: Json) -> None:
        entry.acked_at = self._clock.monotonic()
        entry.answer = answer
        self._on_change()


class Wire(Protocol):
    """One way to an app."""

    async def send(self, parcel: Parcel, timeout_s: float) -> Outcome:
        """Deliver once and wait at most ``timeout_s`` for the acknowledgement; raises nothing."""
        ...


def ack_percentile_s(log: list[DeliveredEnvelope], percent: float) -> float:
    """The acknowledgement time that ``percent`` of the acknowledged deliveries stayed within; 0 for none."""
    times = sorted(entry.ack_s for entry in log if entry.ack_s is not None)
    if not times:
        return 0.0
    return times[min(len(times) - 1, int(len(times) * percent / 100))]

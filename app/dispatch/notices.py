"""What people are shown of what was remembered, and the way to take it back."""

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from app.channel import Chat
from app.clock import Clock
from app.dispatch.unlearning import Erasures, Kind
from app.errors import StateError
from memory.outcome import Outcome, Remembered
from memory.scope import ScopeKind
from memory.store import StoreUnavailableError
from memory.turn import FinishedTurn

KEPT = timedelta(hours=24)
OFFERS = 5_000

GONE = "There is nothing left to take back: it was taken back already, or it is a while ago. `memory list` shows it."
NOT_YOURS = "Only the person who said it can take it back here."
UNREACHABLE = "I could not reach my memory just now. Please try again in a minute."

_WHOSE: Mapping[ScopeKind, str] = {
    ScopeKind.USER: "about you",
    ScopeKind.CHANNEL: "for this channel",
    ScopeKind.REPO: "for the repository",
    ScopeKind.ORG: "for everyone here",
}
_BEYOND = frozenset({ScopeKind.ORG, ScopeKind.REPO})


class NoticeMode(StrEnum):
    """When people are shown that something was remembered."""

    OFF = "off"
    QUIET = "quiet"
    """What governs every answer, and what is told beyond its channel."""
    ON = "on"


class Forgets(Protocol):
    """What taking back needs of ``memory.store.MemoryStore``."""

    async def forget(self, scope_key: str, record_id: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Offer:
    user_id: str
    thread_key: str
    records: tuple[tuple[str, str], ...]
    """Scope key and id."""
    made_at: datetime


class Notices:
    """Shows, and takes back while this process lives. Tokens are opaque, and good for one use by one person."""

    def __init__(self, store: Forgets, mode: NoticeMode, clock: Clock, erasures: Erasures) -> None:
        self._store = store
        self._erasures = erasures
        self._mode = mode
        self._clock = clock
        self._offers: OrderedDict[str, _Offer] = OrderedDict()

    async def tell(self, turn: FinishedTurn, outcome: Outcome, chat: Chat) -> None:
        shown = worth_showing(outcome.remembered, self._mode)
        if not shown or turn.user_id is None:
            return
        token = secrets.token_urlsafe(16)
        records = tuple((each.scope_key, record_id) for each in shown for record_id in each.record_ids)
        self._offers[token] = _Offer(turn.user_id, turn.thread_key, records, self._clock.now())
        while len(self._offers) > OFFERS:
            self._offers.popitem(last=False)
        await chat.notice(sentence(shown), token)

    async def take_back(self, token: str, user_id: str) -> str:
        """Forget what ``token`` offers; the sentence that says what came of it."""
        offer = self._offers.get(token)
        if offer is None or self._clock.now() - offer.made_at > KEPT:
            return GONE
        if offer.user_id != user_id:
            return NOT_YOURS
        del self._offers[token]
        try:
            # A conversation that goes on would else teach the same again by what was said in it before.
            await self._erasures.note(Kind.THREAD, offer.thread_key)
            forgotten = [await self._store.forget(scope_key, record_id) for scope_key, record_id in offer.records]
        except (StateError, StoreUnavailableError):
            self._offers[token] = offer
            return UNREACHABLE
        return f"Forgotten: {_things(sum(forgotten))}." if any(forgotten) else GONE

    def retract(self, scope_key: str) -> None:
        """No button takes a record of that scope back any more."""
        for token, offer in self._offers.items():
            left = tuple(record for record in offer.records if record[0] != scope_key)
            self._offers[token] = replace(offer, records=left)


def worth_showing(remembered: Sequence[Remembered], mode: NoticeMode) -> Sequence[Remembered]:
    """Those with new records that the mode lets people see."""
    new = [each for each in remembered if each.record_ids]
    match mode:
        case NoticeMode.OFF:
            return []
        case NoticeMode.ON:
            return new
        case NoticeMode.QUIET:
            return [each for each in new if each.standing_ids or each.kind in _BEYOND]


def sentence(remembered: Sequence[Remembered]) -> str:
    """How many things, and for whom: ``Remembered 2 things: 1 about you, 1 for everyone here``."""
    total = sum(len(each.record_ids) for each in remembered)
    parts = ", ".join(f"{len(each.record_ids)} {_WHOSE[each.kind]}" for each in remembered)
    return f"Remembered {_things(total)}: {parts}."


def _things(count: int) -> str:
    return "1 thing" if count == 1 else f"{count} things"

"""Which records make a request's block: standing ones, ranked ones, and what the session has been shown already."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.record import MemoryRecord
from memory.render import bullet
from memory.scorer import estimated_tokens, within_budget

STANDING_SHARE = 3
"""Standing records get at most the third part of a budget."""


@dataclass(frozen=True, slots=True)
class Budget:
    """For one request, whatever the number of its scopes (specification, section 6)."""

    limit: int = 8
    max_tokens: int = 800


def cost(record: MemoryRecord) -> int:
    """Estimated tokens of the rendered line, escapes and source included."""
    return estimated_tokens(bullet(record))


def compose(standing: Iterable[MemoryRecord], ranked: Iterable[MemoryRecord], budget: Budget) -> list[MemoryRecord]:
    """Standing records first, newest first, as many as a third of the budget holds; then the ranked ones."""
    governing = _standing(sorted(standing, key=lambda r: r.created_at, reverse=True), budget)
    shown = {record.id for record in governing}
    others = (record for record in ranked if record.id not in shown)
    limit, max_tokens = budget.limit - len(governing), budget.max_tokens - sum(map(cost, governing))
    return [*governing, *within_budget(others, limit=limit, max_tokens=max_tokens, cost=cost)]


def continued(shown: Sequence[MemoryRecord], wanted: Sequence[MemoryRecord], budget: Budget) -> Sequence[MemoryRecord]:
    """The next block of a session whose last one was ``shown``, all of which is still active.

    It stays the same, byte for byte, as long as it holds all that is ``wanted``, so that providers' prompt caches keep
    working; what is new goes to its end while the budget allows, and otherwise the block starts afresh.
    """
    known = {record.id for record in shown}
    longer = [*shown, *(record for record in wanted if record.id not in known)]
    fits = len(longer) <= budget.limit and sum(map(cost, longer)) <= budget.max_tokens
    return longer if fits or len(longer) == len(shown) else wanted


def _standing(records: Iterable[MemoryRecord], budget: Budget) -> list[MemoryRecord]:
    most, tokens = max(1, budget.limit // STANDING_SHARE), budget.max_tokens // STANDING_SHARE
    kept: list[MemoryRecord] = []
    for record in records:
        if len(kept) < most and cost(record) <= tokens:
            tokens -= cost(record)
            kept.append(record)
    return kept

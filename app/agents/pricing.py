"""What tokens cost: prices by kind, sums that never guess, and amounts as people read them.

Amounts are whole microdollars, millionths of a US dollar. Prices are in US dollars per million tokens, which is the
same number as microdollars per token.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

from app.agents.metering import Taken
from app.sessions.entry import Cost, Tokens

ESTIMATED, INCLUDED, UNKNOWN, ACTUAL = "estimated", "included", "unknown", "actual"
AT_LEAST = "at_least"
"""Of calls that ended before all of their tokens were counted: they cost that and more."""

NO_CALL = Cost(0, ESTIMATED)
"""Of a run that asked no model."""
UNCOUNTED = Cost(None, AT_LEAST)
"""Of calls of which nothing was counted: more than nothing, whatever is added to it."""

_MICROUSD = Decimal(1_000_000)
_CENT, _SMALLEST = Decimal("0.01"), Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class Price:
    """What one model's tokens cost, by kind; ``None`` is not known."""

    input_usd: Decimal | None = None
    output_usd: Decimal | None = None
    cache_read_usd: Decimal | None = None
    cache_write_usd: Decimal | None = None
    is_included: bool = False
    """Paid for otherwise: by a subscription, or with one's own machine."""


@dataclass(frozen=True, slots=True)
class Total:
    """What several runs cost. What is known is a sum of its own beside the number of runs that are missing in it."""

    microusd: int = 0
    runs: int = 0
    included: int = 0
    """Runs among them that are paid for otherwise."""
    unknown: int = 0
    """Runs among them whose cost nobody knows."""
    at_least: int = 0
    """Runs among them that cost more than is known, or than nothing: not all of their tokens were counted."""

    def __add__(self, other: "Total") -> "Total":
        return Total(
            self.microusd + other.microusd,
            self.runs + other.runs,
            self.included + other.included,
            self.unknown + other.unknown,
            self.at_least + other.at_least,
        )


def decimal(dollars: float | None) -> Decimal | None:
    """A price as its operator wrote it: 0.1 is a tenth."""
    return None if dollars is None else Decimal(repr(dollars))


def tokens_of(taken: Taken) -> Tokens:
    """What calls took. A provider that counts below zero has not counted."""
    usage = taken.usage
    return Tokens(
        max(0, usage.input_tokens),
        max(0, usage.output_tokens),
        max(0, usage.cache_read_tokens),
        max(0, usage.cache_write_tokens),
        is_partial=taken.is_partial,
    )


def cost(tokens: Tokens, price: Price | None) -> Cost:
    """What ``tokens`` cost, rounded up to a whole microdollar, so that what costs something never shows as free.

    One kind with tokens and without a price makes the whole unknown: a part of a sum looks like the sum. So do no
    tokens at all, because every call has some, and a provider that told of none did not count.
    """
    if price is not None and price.is_included:
        return Cost(0, INCLUDED)
    if price is None or tokens.total == 0:
        return Cost(None, UNKNOWN)
    counted = (
        (tokens.input, price.input_usd),
        (tokens.output, price.output_usd),
        (tokens.cache_read, price.cache_read_usd),
        (tokens.cache_write, price.cache_write_usd),
    )
    total = Decimal(0)
    for count, each_usd in counted:
        if count > 0 and each_usd is None:
            return Cost(None, UNKNOWN)
        total += count * (each_usd or 0)
    return Cost(int(total.to_integral_value(ROUND_CEILING)), AT_LEAST if tokens.is_partial else ESTIMATED)


def added(so_far: Cost | None, more: Cost) -> Cost:
    """One amount for both, as a session's entry keeps it. ``None`` is nothing yet; an unknown part makes it unknown.

    One that nobody counted makes it what it is at least. The sum is as sure as its least sure part that is paid for by
    the token.
    """
    if so_far is None:
        return more
    if UNCOUNTED in (so_far, more):
        other = more if so_far == UNCOUNTED else so_far
        return other if other.microusd is None else Cost(other.microusd, AT_LEAST)
    if so_far.microusd is None or more.microusd is None:
        return Cost(None, UNKNOWN)
    statuses = {so_far.status, more.status}
    status = next(status for status in (UNKNOWN, AT_LEAST, ESTIMATED, ACTUAL, INCLUDED) if status in statuses)
    return Cost(so_far.microusd + more.microusd, status)


def total_of(one: Cost) -> Total:
    """A sum of one run."""
    if one.microusd is None:
        return Total(runs=1, unknown=1)
    return Total(one.microusd, 1, int(one.status == INCLUDED), at_least=int(one.status == AT_LEAST))


def shown(one: Cost) -> str:
    """``$0.42``, ``included`` or ``unknown``."""
    return described(total_of(one))


def described(total: Total) -> str:
    """``$0.42``, ``at least $0.42``, ``$0.42 and 3 runs of unknown cost``, ``included``, ``unknown``."""
    priced = total.runs - total.included - total.unknown
    if (total.unknown and not priced) or (total.at_least and not total.microusd):
        return "unknown"
    if total.included and not priced:
        return "included"
    missing = f" and {_runs(total.unknown)} of unknown cost" if total.unknown else ""
    return f"{'at least ' if total.at_least else ''}{amount(total.microusd)}{missing}"


def amount(microusd: int) -> str:
    """Dollars and cents; below a cent four decimals, so that small things do not look free."""
    dollars = Decimal(microusd) / _MICROUSD
    if 0 < dollars < _SMALLEST:
        return f"under ${_SMALLEST}"
    places = _SMALLEST if 0 < dollars < _CENT else _CENT
    return f"${dollars.quantize(places, ROUND_HALF_UP):,}"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"

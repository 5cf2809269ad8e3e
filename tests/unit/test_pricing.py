"""What tokens cost: a sum is whole or unknown (session lifecycle, section 2: the counters of an entry)."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agents.metering import Taken
from app.agents.pricing import (
    NO_CALL,
    UNCOUNTED,
    Price,
    Total,
    added,
    amount,
    cost,
    decimal,
    described,
    shown,
    tokens_of,
    total_of,
)
from app.agents.providers.base import Usage
from app.agents.windows import ContextUsage, Windows, prompt_tokens
from app.agents.windows import described as context_described
from app.sessions.entry import Cost, Tokens

SONNET = Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
EACH_ONE = Price(Decimal(1), Decimal(1), Decimal(1), Decimal(1))
KINDS = ("input", "output", "cache_read", "cache_write")

counts = st.integers(min_value=0, max_value=10**9)
prices = st.none() | st.decimals(min_value=0, max_value=1_000, places=4)


def test_every_kind_has_its_own_price() -> None:
    assert cost(Tokens(1_000, 100, 10_000, 400), SONNET) == Cost(3_000 + 1_500 + 3_000 + 1_500, "estimated")


@pytest.mark.parametrize("kind", KINDS)
def test_one_kind_without_a_price_makes_the_whole_unknown_unless_it_has_no_tokens(kind: str) -> None:
    without = replace(EACH_ONE, **{f"{kind}_usd": None})
    others = Tokens(*(0 if each == kind else 5 for each in KINDS))
    assert cost(others, without) == Cost(15, "estimated")
    assert cost(Tokens(5, 5, 5, 5), without) == Cost(None, "unknown")


def test_without_prices_the_cost_is_unknown_and_never_zero() -> None:
    assert cost(Tokens(1), None) == Cost(None, "unknown")
    assert cost(Tokens(1), Price()) == Cost(None, "unknown")
    assert shown(cost(Tokens(1), None)) == "unknown"


def test_a_provider_that_counted_nothing_leaves_the_cost_unknown() -> None:
    assert cost(Tokens(), SONNET) == Cost(None, "unknown")
    assert cost(Tokens(), None) == Cost(None, "unknown")


def test_tokens_that_are_not_all_of_them_cost_at_least_what_they_cost_and_none_of_them_is_unknown() -> None:
    assert cost(Tokens(1_000, is_partial=True), SONNET) == Cost(3_000, "at_least")
    assert shown(cost(Tokens(1_000, is_partial=True), SONNET)) == "at least $0.0030"
    assert cost(Tokens(is_partial=True), SONNET) == Cost(None, "unknown")
    assert cost(Tokens(1_000, is_partial=True), None) == Cost(None, "unknown")
    assert cost(Tokens(9, is_partial=True), Price(is_included=True)) == Cost(0, "included")


def test_a_price_of_zero_is_a_price() -> None:
    assert cost(Tokens(9), Price(input_usd=Decimal(0))) == Cost(0, "estimated")


def test_what_a_subscription_pays_is_included() -> None:
    assert cost(Tokens(9, 9), Price(is_included=True)) == Cost(0, "included")
    assert cost(Tokens(), Price(is_included=True)) == Cost(0, "included")


def test_a_fraction_of_a_microdollar_is_rounded_up_once() -> None:
    price = Price(Decimal("0.1"), Decimal("0.1"))
    assert cost(Tokens(1, 1), price) == Cost(1, "estimated")
    assert cost(Tokens(10, 1), price) == Cost(2, "estimated")


def test_prices_are_taken_as_they_were_written() -> None:
    assert decimal(0.1) == Decimal("0.1")
    assert decimal(15) == Decimal(15)
    assert decimal(None) is None
    assert cost(Tokens(cache_read=10), Price(cache_read_usd=decimal(0.1))) == Cost(1, "estimated")


@given(tokens=st.builds(Tokens, counts, counts, counts, counts), price=st.builds(Price, prices, prices, prices, prices))
def test_a_known_cost_is_never_a_part_of_the_sum(tokens: Tokens, price: Price) -> None:
    found = cost(tokens, price)
    pairs = [(getattr(tokens, kind), getattr(price, f"{kind}_usd")) for kind in KINDS]
    if found.microusd is None:
        assert tokens.total == 0 or any(count and each is None for count, each in pairs)
    else:
        exact = sum((count * each for count, each in pairs if count), Decimal(0))
        assert exact <= found.microusd < exact + 1


def test_calls_are_counted_by_kind_and_never_below_zero() -> None:
    assert tokens_of(Taken(Usage(1, 2, 3, 4))) == Tokens(1, 2, 3, 4)
    assert tokens_of(Taken(Usage(-1, 2, -3, 4), is_partial=True)) == Tokens(0, 2, 0, 4, is_partial=True)


@pytest.mark.parametrize(
    ("so_far", "more", "both"),
    [
        (None, Cost(5, "estimated"), Cost(5, "estimated")),
        (None, Cost(), Cost()),
        (Cost(5, "estimated"), Cost(7, "estimated"), Cost(12, "estimated")),
        (Cost(5, "actual"), Cost(7, "estimated"), Cost(12, "estimated")),
        (Cost(0, "included"), Cost(7, "actual"), Cost(7, "actual")),
        (Cost(0, "included"), Cost(0, "included"), Cost(0, "included")),
        (Cost(5, "at_least"), Cost(7, "estimated"), Cost(12, "at_least")),
        (Cost(5, "at_least"), Cost(), Cost(None, "unknown")),
        (Cost(5, "estimated"), Cost(), Cost(None, "unknown")),
        (Cost(), Cost(5, "estimated"), Cost(None, "unknown")),
        (Cost(), Cost(), Cost(None, "unknown")),
        (None, UNCOUNTED, UNCOUNTED),
        (UNCOUNTED, UNCOUNTED, UNCOUNTED),
        (UNCOUNTED, Cost(7, "estimated"), Cost(7, "at_least")),
        (Cost(7, "actual"), UNCOUNTED, Cost(7, "at_least")),
        (Cost(0, "included"), UNCOUNTED, Cost(0, "at_least")),
        (UNCOUNTED, Cost(), Cost(None, "unknown")),
        (Cost(), UNCOUNTED, Cost(None, "unknown")),
    ],
)
def test_unknown_and_anything_is_unknown(so_far: Cost | None, more: Cost, both: Cost) -> None:
    assert added(so_far, more) == both


def test_a_total_keeps_what_is_known_beside_how_much_is_not() -> None:
    runs = [Cost(420_000, "estimated"), Cost(), Cost(), Cost(0, "included"), Cost()]
    total = sum((total_of(run) for run in runs), Total())
    assert total == Total(microusd=420_000, runs=5, included=1, unknown=3)
    assert described(total) == "$0.42 and 3 runs of unknown cost"
    assert total + total_of(Cost(5, "at_least")) == Total(420_005, runs=6, included=1, unknown=3, at_least=1)


@pytest.mark.parametrize(
    ("total", "text"),
    [
        (Total(), "$0.00"),
        (Total(microusd=1_000_000, runs=2), "$1.00"),
        (Total(microusd=1_000_000, runs=2, unknown=1), "$1.00 and 1 run of unknown cost"),
        (Total(microusd=5, runs=2_000, unknown=1_999), "under $0.0001 and 1,999 runs of unknown cost"),
        (Total(runs=2, unknown=2), "unknown"),
        (Total(runs=2, unknown=1, included=1), "unknown"),
        (Total(runs=2, included=2), "included"),
        (Total(microusd=30_000, runs=2, included=1), "$0.03"),
        (Total(microusd=30_000, runs=2, at_least=1), "at least $0.03"),
        (Total(microusd=30_000, runs=3, at_least=1, unknown=1), "at least $0.03 and 1 run of unknown cost"),
        (Total(runs=2, included=1, at_least=1), "unknown"),
    ],
)
def test_a_total_says_what_is_missing_in_it(total: Total, text: str) -> None:
    assert described(total) == text


@pytest.mark.parametrize(
    ("microusd", "text"),
    [
        (0, "$0.00"),
        (1, "under $0.0001"),
        (99, "under $0.0001"),
        (100, "$0.0001"),
        (4_250, "$0.0043"),
        (9_999, "$0.0100"),
        (10_000, "$0.01"),
        (14_999, "$0.01"),
        (15_000, "$0.02"),
        (1_234_567_890, "$1,234.57"),
    ],
)
def test_amounts_below_a_cent_show_four_decimals(microusd: int, text: str) -> None:
    assert amount(microusd) == text


def test_one_cost_is_shown_like_a_total_of_one() -> None:
    assert [shown(each) for each in (Cost(420_000, "estimated"), Cost(0, "included"), Cost(), NO_CALL)] == [
        "$0.42",
        "included",
        "unknown",
        "$0.00",
    ]


def test_a_window_is_the_models_own_or_the_default() -> None:
    windows = Windows({"anthropic/x": 1_000_000}, default=200_000)
    assert (windows.of("anthropic/x"), windows.of("anthropic/y")) == (1_000_000, 200_000)


def test_the_length_of_a_prompt_is_what_the_provider_counted_cached_or_not() -> None:
    """Session lifecycle, section 2: ``last_prompt_tokens``."""
    assert prompt_tokens(Usage(input_tokens=10, output_tokens=99, cache_read_tokens=70, cache_write_tokens=5)) == 85
    assert prompt_tokens(Usage(input_tokens=-10, cache_read_tokens=70)) == 70


def test_how_full_a_window_is_reads_like_a_sentence() -> None:
    assert context_described(ContextUsage(84_120, 200_000)) == "84,120 of 200,000 tokens (42 %)"
    assert context_described(ContextUsage(0, 200_000)) == "unknown (of 200,000 tokens)"

"""The pure parts of the benchmarks: arithmetic, verdicts and tables."""

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.playground.model import Message
from benchmarks import burst, first_text, starting, throughput
from benchmarks.bots import Side
from benchmarks.command import BENCHMARKS, machine, names
from benchmarks.figures import Aim, Floor, median, ms, percentile, ratio
from benchmarks.stub_models import ANSWER
from benchmarks.tables import Table, render
from benchmarks.workspaces import MENTION, Acks, is_right

VALUES = st.lists(st.floats(min_value=0, max_value=1e6), min_size=1, max_size=50)


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1.0), (1, 1.0), (50, 50.0), (50.5, 51.0), (95, 95.0), (99, 99.0), (100, 100.0)]
)
def test_a_percentile_is_the_nearest_rank(percent: float, expected: float) -> None:
    assert percentile([float(each) for each in range(100, 0, -1)], percent) == expected


@given(VALUES, st.floats(min_value=0, max_value=100))
def test_a_percentile_is_one_of_the_values_and_enough_of_them_stay_within(values: list[float], percent: float) -> None:
    found = percentile(values, percent)
    assert found in values
    assert sum(each <= found for each in values) * 100 >= len(values) * percent - 1e-6


@pytest.mark.parametrize("percent", [-1, 101])
def test_what_is_no_percentage_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="no percentage"):
        percentile([1.0], percent)


def test_nothing_measured_has_neither_percentile_nor_median() -> None:
    with pytest.raises(ValueError, match="no percentile"):
        percentile([], 50)
    with pytest.raises(ValueError, match="no median"):
        median([])


@pytest.mark.parametrize(("values", "expected"), [([3.0], 3.0), ([9.0, 1.0, 2.0], 2.0), ([4.0, 1.0, 3.0, 2.0], 2.5)])
def test_the_median_lies_in_the_middle(values: list[float], expected: float) -> None:
    assert median(values) == expected


@given(VALUES)
def test_the_median_parts_the_values_evenly(values: list[float]) -> None:
    middle = median(values)
    assert sum(each < middle for each in values) <= len(values) / 2
    assert sum(each > middle for each in values) <= len(values) / 2


def test_a_ratio_to_nothing_is_left_open() -> None:
    assert ratio(3.0, 2.0) == "1.50x"
    assert ratio(3.0, 0.0) == "-"
    assert ms(0.01234) == "12.3 ms"


@pytest.mark.parametrize(
    ("aim", "value", "verdict"),
    [
        (Aim(10, "ms"), 10.0, "met (aim <= 10 ms)"),
        (Aim(10, "ms"), 10.1, "MISSED (aim <= 10 ms)"),
        (Aim(200, "ms", is_exclusive=True), 199.9, "met (aim < 200 ms)"),
        (Aim(200, "ms", is_exclusive=True), 200.0, "MISSED (aim < 200 ms)"),
        (Aim(0), 0, "met (aim <= 0)"),
        (Aim(0), 1, "MISSED (aim <= 0)"),
    ],
)
def test_an_aim_is_judged_and_told(aim: Aim, value: float, verdict: str) -> None:
    assert aim.verdict(value) == verdict


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.5, "met (aim >= 0.5 x)"), (0.7, "met (aim >= 0.5 x)"), (0.49, "MISSED (aim >= 0.5 x)")]
)
def test_a_floor_is_judged_and_told(value: float, verdict: str) -> None:
    assert Floor(0.5, "x").verdict(value) == verdict


def test_a_table_aligns_names_to_the_left_and_figures_to_the_right() -> None:
    table = Table("Speed", ("", "bare", "ours"), [("median", "3.5 ms", "14.5 ms"), ("p95", "4.0 ms", "")], ("a note",))
    assert render(table).splitlines() == [
        "Speed",
        "            bare     ours",
        "  ------  ------  -------",
        "  median  3.5 ms  14.5 ms",
        "  p95     4.0 ms",
        "  a note",
    ]


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="another width"):
        render(Table("Speed", ("", "bare"), [("median", "3.5 ms", "4.5 ms")]))


def test_the_added_time_is_the_difference_of_the_medians() -> None:
    met = render(first_text.table([0.003, 0.004, 0.005], [0.006, 0.008, 0.020]))
    assert "added at the median: 4.0 ms, met (aim <= 10 ms)" in met
    assert "added at the median: 16.0 ms, MISSED" in render(first_text.table([0.004], [0.020]))


def test_mentions_per_second_are_those_of_the_median_round() -> None:
    def rounds(*seconds: float) -> list[throughput.Round]:
        return [throughput.Round(100, each, bot_cpu_s=0.2, playground_cpu_s=0.1) for each in seconds]

    table = throughput.table(
        {Side.BARE: rounds(0.5, 0.1, 9.0), Side.OURS: rounds(1.0, 1.0, 2.0)}, dict.fromkeys(Side, 0)
    )
    assert table.rows[0] == ("mentions/s, median round", "200", "100", "0.50x")
    assert table.rows[1] == ("bot's CPU ms per mention", "2.00", "2.00", "1.00x")


def acks(p99_s: float, *, redelivered: int = 0, unacknowledged: int = 0) -> dict[Side, Acks]:
    return {Side.BARE: Acks((0.010,)), Side.OURS: Acks((0.010, p99_s), redelivered, unacknowledged)}


def test_a_slow_burst_misses_its_aim_and_the_opening_has_none() -> None:
    rows = burst.table("HTTP", [("opening", acks(0.5)), ("burst", acks(0.2))], burst.FULL, 500).rows
    assert [row[-1] for row in rows] == ["", "", "", "MISSED (aim < 200 ms)"]
    assert rows[3][:6] == ("burst: Switchboard", "10.0 ms", "200.0 ms", "200.0 ms", "0", "20.00x")


@pytest.mark.parametrize("lost", [acks(0.1, redelivered=1), acks(0.1, unacknowledged=1)])
def test_one_lost_or_repeated_event_is_told(lost: dict[Side, Acks]) -> None:
    text = render(burst.table("HTTP", [("opening", lost), ("burst", acks(0.1))], burst.FULL, 500))
    assert "without acknowledgement: 1, MISSED (aim <= 0)" in text


def test_bursts_add_up() -> None:
    assert Acks((0.1,), 1, 2) + Acks((0.2,), 3, 4) == Acks((0.1, 0.2), 4, 6)


@pytest.mark.parametrize("text", [ANSWER, MENTION])
def test_a_right_answer_counts_as_text_and_as_a_block(text: str) -> None:
    blocks = [{"type": "divider"}, {"type": "markdown", "text": text}]
    assert is_right(Message("1.0", "C1", "U1", text))
    assert is_right(Message("1.0", "C1", "U1", "", blocks=blocks))


def test_an_apology_is_no_answer() -> None:
    apology = "Sorry, something went wrong."
    assert not is_right(Message("1.0", "C1", "U1", apology, blocks=[{"type": "markdown", "text": apology}]))


def test_start_and_memory_are_judged_for_the_bot_alone() -> None:
    kinds = [
        starting.Kind("bare Bolt", (), {}, has_aims=False),
        starting.Kind("Switchboard", (), {}),
    ]
    rounds = [[starting.Started(0.2, 40), starting.Started(took, 160)] for took in (0.5, 0.7, 9.0)]
    assert starting.table(kinds, rounds, is_warmed=True).rows == [
        ("bare Bolt", "0.20 s", "", "40 MB", ""),
        ("Switchboard", "0.70 s", "met (aim < 2 s)", "160 MB", "MISSED (aim < 150 MB)"),
    ]


def test_the_machine_is_named_by_cores_and_python() -> None:
    assert "cores" in machine()
    assert "Python" in machine()


def test_benchmarks_are_chosen_by_name() -> None:
    assert names("burst,start") == ["burst", "start"]
    assert set(BENCHMARKS) == {
        "first-text",
        "throughput",
        "burst",
        "start",
        "memory",
        "prompt-cache",
        "commands",
        "redaction",
        "gate",
        "reflection",
        "memory-service",
        "sessions",
    }
    with pytest.raises(argparse.ArgumentTypeError, match="no such benchmark: speed"):
        names("burst,speed")

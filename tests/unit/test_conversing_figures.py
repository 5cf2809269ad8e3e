"""What the benchmark of conversations calls met and missed."""

from dataclasses import replace

from benchmarks import conversing
from benchmarks.bots import Side
from benchmarks.conversing import QUICK, Talked
from benchmarks.conversing_people import Waits
from benchmarks.conversing_records import Costs
from benchmarks.tables import Table, render

GOOD = Waits((0.010, 0.020, 0.200), most_at_once=3, lost=0, doubled=0, reordered=0)


def talked(paced: Waits = GOOD, crowded: Waits = GOOD, together: Waits = GOOD, peak_mb: int = 100) -> Table:
    bare = Talked(GOOD, GOOD, GOOD, cpu_s=1.0, peak_bytes=50_000_000)
    ours = Talked(paced, crowded, together, cpu_s=3.0, peak_bytes=peak_mb * 1_000_000)
    return conversing.talk_table({Side.BARE: bare, Side.OURS: ours}, QUICK)


def test_a_day_without_a_fault_meets_every_aim() -> None:
    text = render(talked())
    assert "MISSED" not in text
    assert text.count("met (aim") == 5
    assert "3.00x" in text


def test_the_median_counts_at_a_pace_in_a_crowd_and_in_one_instant() -> None:
    slow = replace(GOOD, added_s=(0.010, 0.025, 0.030))
    assert render(talked(paced=slow)).count("MISSED (aim < 25 ms)") == 1
    assert render(talked(crowded=slow)).count("MISSED (aim < 25 ms)") == 1
    assert render(talked(together=slow)).count("MISSED (aim < 25 ms)") == 1


def test_one_spoilt_answer_is_told_wherever_it_was() -> None:
    for each in (replace(GOOD, lost=1), replace(GOOD, doubled=1), replace(GOOD, reordered=1)):
        assert "MISSED (aim <= 0)" in render(talked(paced=each))
        assert "MISSED (aim <= 0)" in render(talked(crowded=each))
        assert "MISSED (aim <= 0)" in render(talked(together=each))


def test_too_much_memory_is_told() -> None:
    assert "MISSED (aim < 400 MB)" in render(talked(peak_mb=400))


def test_an_answer_that_never_came_takes_for_ever() -> None:
    assert "inf ms" in render(talked(paced=replace(GOOD, added_s=(float("inf"),), lost=1)))


def test_opening_counts_by_its_slowest_and_accepting_by_its_median() -> None:
    fast, slow = (0.001,) * 99, (0.040,) * 2
    fine = Costs(fast + slow, fast, fast)
    table = conversing.records_table({"SQLite": fine, "PostgreSQL": replace(fine, open_s=fast + slow)}, [0.001])
    assert [row[-1] for row in table.rows] == [
        "met (aim < 5 ms)",
        "",
        "met (aim < 30 ms)",
        "met (aim < 5 ms)",
        "",
        "MISSED (aim < 30 ms)",
        "",
    ]

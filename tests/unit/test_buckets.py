"""Token buckets."""

from app.buckets import KEPT_BUCKETS, Buckets, Rate
from tests.fakes import ManualClock


def test_a_bucket_gives_its_burst_then_says_how_long_to_wait_and_fills_again() -> None:
    clock = ManualClock()
    buckets = Buckets(Rate(burst=2, per_s=0.5), clock)
    assert [buckets.wait_s("a") for _ in range(3)] == [0.0, 0.0, 2.0]
    assert buckets.wait_s("b") == 0.0
    clock.elapsed_s = 1.0
    assert buckets.wait_s("a") == 1.0
    clock.elapsed_s = 2.0
    assert [buckets.wait_s("a") for _ in range(2)] == [0.0, 2.0]


def test_a_bucket_never_holds_more_than_its_burst() -> None:
    clock = ManualClock()
    buckets = Buckets(Rate(burst=1, per_s=10), clock)
    assert buckets.wait_s("a") == 0.0
    clock.elapsed_s = 1_000.0
    assert buckets.wait_s("a") == 0.0
    assert buckets.wait_s("a") > 0.0


def test_buckets_are_forgotten_before_they_fill_the_memory() -> None:
    buckets = Buckets(Rate(burst=1, per_s=0.001), ManualClock())
    for number in range(KEPT_BUCKETS + 1):
        assert buckets.wait_s(f"{number}") == 0.0
    assert buckets.wait_s("0") == 0.0
    assert buckets.wait_s(f"{KEPT_BUCKETS}") > 0.0


async def test_who_waits_as_long_as_they_are_told_finds_a_token() -> None:
    clock = ManualClock()
    buckets = Buckets(Rate(burst=1, per_s=9.0), clock)
    for _ in range(1_000):
        if wait_s := buckets.wait_s("a"):
            await clock.sleep(wait_s)
            assert buckets.wait_s("a") == 0.0

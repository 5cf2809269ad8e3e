"""Conversations at hand between their turns (session lifecycle, section 11)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sessions.cache import IDLE_TTL_S, MAX_SIZE, ConversationCache, size_of
from app.sessions.entry import SessionId, SessionKey
from app.sessions.pressure import Evictable
from app.sessions.transcript import TranscriptMessage
from tests.fakes import EPOCH, ManualClock

NOW = SessionId("20261129_120000_00000001")
LATER = SessionId("20261129_130000_00000002")


def key(number: int) -> SessionKey:
    return SessionKey(f"agent:main:slack:channel:C1:{number}")


def said(*texts: str) -> Sequence[TranscriptMessage]:
    return tuple(TranscriptMessage("user", text, EPOCH) for text in texts)


def cache_of(count: int, *, max_size: int = MAX_SIZE) -> tuple[ConversationCache, ManualClock]:
    """A cache of ``count`` conversations, each used a second after the one before."""
    clock = ManualClock()
    cache = ConversationCache(clock, max_size=max_size)
    for number in range(count):
        cache.put(key(number), NOW, said(f"hello {number}"))
        clock.elapsed_s += 1
    return cache, clock


def kept(cache: ConversationCache) -> list[SessionKey]:
    return [each.key for each in cache.evictables()]


def test_the_defaults_are_the_specifications() -> None:
    assert (MAX_SIZE, IDLE_TTL_S) == (128, 3_600.0)


def test_a_conversation_is_at_hand_until_its_session_changes() -> None:
    cache, _ = cache_of(1)
    assert cache.get(key(0), NOW) == said("hello 0")
    assert cache.get(key(1), NOW) is None
    assert cache.get(key(0), LATER) is None
    assert cache.get(key(0), NOW) is None, "the other session has taken its place"


def test_the_least_recently_used_goes_when_there_are_too_many() -> None:
    cache, _ = cache_of(3, max_size=3)
    cache.get(key(0), NOW)
    cache.put(key(3), NOW, said("new"))
    assert kept(cache) == [key(2), key(0), key(3)]


def test_a_conversation_with_a_turn_under_way_stays_however_many_there_are() -> None:
    cache, _ = cache_of(2, max_size=2)
    with cache.pinned(key(0)), cache.pinned(key(1)):
        with cache.pinned(key(0)):
            cache.put(key(2), NOW, said("new"))
        assert kept(cache) == [key(0), key(1), key(2)], "its other turn runs still, and the newest is about to be used"
        cache.put(key(3), NOW, said("newer"))
        assert kept(cache) == [key(0), key(1), key(3)]
    assert kept(cache) == [key(0), key(3)], "once a turn has ended there are as many as there may be"


def test_what_the_store_does_not_have_yet_is_not_let_go() -> None:
    cache, clock = cache_of(2, max_size=2)
    cache.extend(key(0), NOW, said("question", "answer"))
    cache.extend(key(1), NOW, said("question", "answer"))
    cache.put(key(2), NOW, said("new"))
    clock.elapsed_s += 2 * IDLE_TTL_S
    assert cache.sweep() == 1
    assert kept(cache) == [key(0), key(1)]
    assert cache.let_go([key(0), key(1)]) == 0
    cache.flushed(key(0), NOW, 1)
    assert cache.let_go([key(0)]) == 0, "one of its two lines is missing still"
    cache.flushed(key(0), NOW, 1)
    assert cache.let_go([key(0), key(5)]) == 1
    cache.flushed(key(1), NOW, 5)
    cache.extend(key(1), NOW, said("later"))
    assert cache.let_go([key(1)]) == 0, "nothing is flushed ahead of being there"


def test_lines_of_a_session_that_is_not_at_hand_are_left_to_the_store() -> None:
    cache, _ = cache_of(1)
    cache.extend(key(0), LATER, said("elsewhere"))
    cache.flushed(key(0), LATER, 1)
    cache.extend(key(1), NOW, said("nowhere"))
    assert kept(cache) == [key(0)]
    assert cache.get(key(0), NOW) == said("hello 0")


def test_a_rewritten_transcript_is_forgotten_even_with_unwritten_lines() -> None:
    cache, _ = cache_of(1)
    cache.extend(key(0), NOW, said("undone"))
    cache.invalidate(NOW)
    cache.invalidate(NOW)
    assert cache.get(key(0), NOW) is None


@pytest.mark.parametrize(("silent_s", "expected"), [(IDLE_TTL_S, 0), (IDLE_TTL_S + 0.5, 1), (IDLE_TTL_S + 1.5, 2)])
def test_what_nobody_used_for_an_hour_is_let_go(silent_s: float, expected: int) -> None:
    cache, clock = cache_of(2)
    clock.elapsed_s = silent_s
    assert cache.sweep() == expected
    assert len(cache) == 2 - expected


def test_a_turn_of_any_length_keeps_its_conversation_from_the_sweep() -> None:
    cache, clock = cache_of(1)
    with cache.pinned(key(0)):
        clock.elapsed_s += 2 * IDLE_TTL_S
        assert cache.evictables() == [Evictable(key(0), is_pinned=True)]
        assert cache.sweep() == 0
    assert cache.sweep() == 1


def test_the_size_follows_what_is_kept() -> None:
    cache, _ = cache_of(1)
    before = cache.estimated_bytes
    cache.extend(key(0), NOW, said("x" * 10_000))
    assert 10_000 < cache.estimated_bytes - before < 11_000
    assert size_of(said("日" * 10_000)) > 20_000, "in memory, not as text on a wire"
    cache.invalidate(NOW)
    assert cache.estimated_bytes == 0


@given(
    st.lists(
        st.tuples(st.sampled_from(("put", "get", "extend", "flushed", "sweep", "rest")), st.integers(0, 5)), max_size=60
    )
)
def test_whatever_happens_no_unwritten_line_is_let_go_and_the_limit_holds_for_the_rest(
    steps: list[tuple[str, int]],
) -> None:
    clock = ManualClock()
    cache = ConversationCache(clock, max_size=3, idle_ttl_s=5)
    unwritten: dict[int, int] = {}
    for step, number in steps:
        match step:
            case "put":
                cache.put(key(number), NOW, said("loaded"))
                unwritten.pop(number, None)
            case "get":
                cache.get(key(number), NOW)
            case "extend" if key(number) in kept(cache):
                cache.extend(key(number), NOW, said("new"))
                unwritten[number] = unwritten.get(number, 0) + 1
            case "flushed" if number in unwritten:
                cache.flushed(key(number), NOW, unwritten.pop(number))
            case "rest":
                clock.elapsed_s += number
            case _:
                cache.sweep()
        assert {key(each) for each in unwritten} <= set(kept(cache))
        assert {each.key for each in cache.evictables() if not each.is_flushed} == {key(each) for each in unwritten}
        assert len(cache) <= max(3, len(unwritten) + 1)

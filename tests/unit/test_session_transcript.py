"""What going back takes away (session lifecycle, section 3, ``rewind_session``)."""

from hypothesis import given
from hypothesis import strategies as st

from app.sessions.transcript import Kind, TranscriptMessage, last_turns
from tests.fakes import EPOCH


def lines(script: str) -> list[TranscriptMessage]:
    """``u`` said to the bot, ``a`` said by it, ``o`` read along, ``s`` a summary; each line says its own number."""
    kinds = {"u": ("user", Kind.SAID), "a": ("assistant", Kind.SAID), "o": ("user", Kind.OBSERVED)}
    made: list[TranscriptMessage] = []
    for number, letter in enumerate(script):
        role, kind = kinds.get(letter, ("user", Kind.SUMMARY))
        made.append(TranscriptMessage("user" if role == "user" else "assistant", str(number), EPOCH, kind))
    return made


def back(script: str, turns: int = 1) -> tuple[str, int, str | None]:
    """The numbers of the lines that are gone, how many turns that is, and what was said first."""
    gone, rewound = last_turns(lines(script), turns)
    assert rewound.messages == len(gone)
    return "".join(line.content for line in gone), rewound.turns, rewound.target_text


def test_a_turn_is_what_was_said_what_was_read_along_and_the_answer() -> None:
    assert back("uaua") == ("23", 1, "2")
    assert back("uaooua") == ("2345", 1, "4")
    assert back("uauoua") == ("2345", 1, "2\n4")


def test_an_answer_in_parts_goes_with_its_turn() -> None:
    assert back("uauaa") == ("234", 1, "2")


def test_a_question_without_an_answer_is_a_turn() -> None:
    assert back("uau") == ("2", 1, "2")


def test_an_answer_that_nobody_asked_for_goes_with_the_turn_before() -> None:
    assert back("uaoa") == ("0123", 1, "0")


def test_what_was_read_along_after_the_last_answer_stays() -> None:
    assert back("uauaoo") == ("23", 1, "2")


def test_several_turns_go_at_once_and_no_more_than_there_are() -> None:
    assert back("uauaua", 2) == ("2345", 2, "2")
    assert back("uaua", 9) == ("0123", 2, "0")


def test_nothing_goes_back_behind_a_summary() -> None:
    assert back("uasua", 5) == ("34", 1, "3")
    assert back("uas") == ("", 0, None)


def test_where_nothing_was_said_nothing_goes() -> None:
    assert back("") == back("oo") == back("a") == back("ua", 0) == back("ua", -1) == ("", 0, None)


@given(st.text(alphabet="uaos", max_size=20), st.integers(1, 6))
def test_going_back_by_many_is_going_back_by_one_many_times(script: str, turns: int) -> None:
    at_once, rewound = last_turns(lines(script), turns)
    left, undone = lines(script), 0
    for _ in range(turns):
        gone, once = last_turns(left, 1)
        undone += once.turns
        left = [line for line in left if line not in gone]
    assert [line for line in lines(script) if line not in at_once] == left
    assert rewound.turns == undone

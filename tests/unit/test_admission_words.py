"""What a person is told about where their message stands: what became of it, never what the settings meant."""

import pytest

from app.dispatch import wording
from app.dispatch.conversation_telling import full
from app.sessions.busy import Admission, Held, Interrupts, Joins, Refused, Runs, Steers, Waits


@pytest.mark.parametrize(
    ("admission", "words"),
    [
        (Waits(1), "right after the question before it"),
        (Waits(2), "In line: 1 more message of this conversation comes before it."),
        (Waits(3), "In line: 2 more messages of this conversation come before it."),
        (Steers(), "take this along"),
        (Joins(2), "together with your message before it"),
        (Interrupts(1), "stop what I am writing and turn to this"),
        (Interrupts(2), "stop what I am writing. Now 1 more message of this conversation comes before this."),
    ],
)
def test_where_a_message_stands_is_told_from_what_became_of_it(admission: Admission, words: str) -> None:
    assert words in (wording.admitted(admission) or "")


@pytest.mark.parametrize("admission", [Runs(), Held(), Refused(32)])
def test_where_other_words_are_said_these_are_not(admission: Admission) -> None:
    assert wording.admitted(admission) is None


def test_a_line_without_room_says_how_many_wait() -> None:
    assert wording.line_full(1).startswith("⚠️ 1 message waits in")
    assert wording.line_full(32).startswith("⚠️ 32 messages wait in")
    assert full(1).startswith("1 message waits")
    assert full(1_000).startswith("1,000 messages wait")

"""A recap tells of the last turn, in one line each, and makes nothing up."""

from dataclasses import replace

import pytest

from app.dispatch.conversation_recap import RECAP_CHARS, recap_of
from commands.conversations import Recap
from tests.transcripts import transcript


@pytest.mark.parametrize(
    ("signs", "recap"),
    [
        ("", None),
        ("oo", None),
        ("qa", Recap("q0", "a1")),
        ("qaqa", Recap("q2", "a3")),
        ("qaqaoo", Recap("q2", "a3")),  # what others said since was not said to the bot
        ("qaqqaa", Recap("q2 q3", "a5")),
        ("qaoqa", Recap("q3", "a4")),
        ("qaq", Recap("q2", "")),  # the answer before it is not its answer
        ("qas", None),
        ("sqa", Recap("q1", "a2")),
    ],
)
def test_it_is_the_last_question_and_its_last_answer(signs: str, recap: Recap | None) -> None:
    assert recap_of(transcript(signs)) == recap


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("Yes.\nNo.", "Yes."),
        ("\n\n  Yes,\tindeed.  \nNo.", "Yes, indeed."),
        ("```python\nprint(1)\n```\nThat is it.", "print(1)"),
        ("---\n# Plan\n", "# Plan"),
        ("```", ""),
        ("", ""),
        ("x" * 999, "x" * (RECAP_CHARS - 1) + "…"),
        ("a\x1bb\u2028c", "a b"),
    ],
)
def test_of_the_answer_it_is_the_first_line_with_words(answer: str, first: str) -> None:
    question, line = transcript("qa")
    found = recap_of([question, replace(line, content=answer)])
    assert found == Recap("q0", first)


def test_the_question_is_one_short_line() -> None:
    question, answer = transcript("qa")
    found = recap_of([replace(question, content="why?\n\n" + "y" * 999), answer])
    assert found is not None
    assert found.question == "why? " + "y" * (RECAP_CHARS - 6) + "…"
    assert recap_of([replace(question, content=" \n "), answer]) is None


def test_a_secret_is_not_told_again() -> None:
    question, answer = transcript("qa")
    asked = replace(question, content="our vpn password is bluewhale9, is that safe?")
    found = recap_of([asked, replace(answer, content="bluewhale9 is your password, and not a safe one.")])
    assert found is not None
    assert "bluewhale9" not in found.question + found.answer
    assert found.question.startswith("our vpn password is ")
    assert found.answer.endswith("and not a safe one.")

"""Which turns memory looks at, and what people's words give away."""

import pytest

from memory.cues import agrees, is_greeting, is_question, sentences, teaches, wishes_for_good
from memory.occasion import MANY_TURNS, Unfit, unfit
from memory.turn import FinishedTurn
from tests.reflection_house import a_turn, answered, said

IDLE = {"tool_calls": 0}


def test_a_turn_with_a_tool_call_or_a_long_thread_is_looked_at_and_a_short_chat_is_not() -> None:
    """Specification, section 10."""
    asked = said("what does the linter say about line lengths")
    assert unfit(a_turn(asked)) is None
    assert unfit(a_turn(asked, **IDLE, prior_turns=MANY_TURNS)) is None
    assert unfit(a_turn(asked, **IDLE, prior_turns=MANY_TURNS - 1)) is Unfit.NO_WORK


def test_a_review_is_never_looked_at_however_much_it_did() -> None:
    """Specification, section 10; an agent without a name has the gate of work alone."""
    asked = said("look at this change")
    assert unfit(a_turn(asked, agent="review", tool_calls=9, prior_turns=9)) is Unfit.AGENT
    assert unfit(a_turn(asked, agent="coding")) is None
    assert unfit(a_turn(asked, agent=None)) is None


def test_what_somebody_teaches_is_looked_at_even_in_a_first_message_without_a_tool() -> None:
    taught = (
        "We deploy with Argo.",
        "Merk dir: Wartung ist dienstags.",
        "我们用 Argo 部署。",
        "Answer in German from now on",
    )
    for text in taught:
        assert unfit(a_turn(said(text), **IDLE)) is None, text


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (a_turn(said("We use Argo."), is_command=True), Unfit.COMMAND),
        (a_turn(said("We use Argo."), is_answered=False), Unfit.UNANSWERED),
        (a_turn(said("Hello there!")), Unfit.GREETING),
        (a_turn(said("  ")), Unfit.NOTHING_SAID),
        (a_turn(answered("Good morning, here is my report.")), Unfit.NOTHING_SAID),
        (a_turn(said("We use Argo.", source="file")), Unfit.NOTHING_SAID),
    ],
)
def test_commands_refusals_failures_and_greetings_are_not_looked_at(turn: FinishedTurn, reason: Unfit) -> None:
    """Specification, section 10."""
    assert unfit(turn) is reason


def test_memory_that_is_off_or_in_the_models_hands_looks_at_nothing() -> None:
    """Specification, sections 1 and 10."""
    turn = a_turn(said("We use Argo."))
    assert unfit(turn, is_enabled=False) is Unfit.MEMORY_OFF
    assert unfit(turn, mode="tool") is Unfit.MODE


@pytest.mark.parametrize("text", ["", "hi", "Good morning team, thanks a lot!", "<@U12> hello", "Danke schön!", "谢谢"])
def test_courtesy_alone_is_a_greeting(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize("text", ["hi, we deploy on Tuesdays", "thank you " * 40 + "x", "?"])
def test_anything_more_is_none(text: str) -> None:
    assert not is_greeting(text)


@pytest.mark.parametrize(
    "text", ["Always answer in German", "I prefer tabs", "Antworte immer auf Deutsch", "以后都用中文"]
)
def test_wishes_for_good_are_recognised(text: str) -> None:
    assert wishes_for_good(text)


@pytest.mark.parametrize("text", ["We deploy with Argo", "What is up?", "I always " + "x" * 400])
def test_other_sentences_are_no_wishes(text: str) -> None:
    assert not wishes_for_good(text)


@pytest.mark.parametrize(
    "text",
    [
        "In this repository the tests run with make check",
        "For this repo, squash every merge.",
        "In diesem Repo laufen die Tests mit make check",
        "Dans ce dépôt les tests tournent avec make",
        "En este repositorio las pruebas corren con make",
    ],
)
def test_what_is_said_of_a_place_of_work_teaches(text: str) -> None:
    assert teaches(text)
    assert not teaches(f"{text}?")


def test_a_question_teaches_nothing_unless_it_wishes_something_for_good() -> None:
    assert not teaches("Do we use Argo?")
    assert teaches("Can you always answer in German?")
    assert is_question("Wirklich?")
    assert not is_question("Really.")


def test_agreement_is_a_word_by_itself() -> None:
    assert all(map(agrees, ["Yes.", "Genau, so ist es", "exactly", "对。", "that's right!"]))
    assert not any(map(agrees, ["yes please do", "No, never", "right now", "truly", ""]))


def test_sentences_end_with_their_signs_and_lines() -> None:
    assert sentences("One. Two!\nThree 我们。你们") == ["One.", "Two!", "Three 我们。", "你们"]

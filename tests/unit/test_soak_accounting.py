"""The accounting of a soak finds what it is there to find."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.soaking_accounts import Account, Question, account, answer_text, asked_number, question_text

A, B = "C1:1.0", "D1:2.0"


def asked(*numbers: int, thread: str = A) -> list[Question]:
    """Delivered, acknowledged and accepted in their order."""
    return [Question(number, thread, arrival=float(number), accepted=number) for number in numbers]


def answers(*numbers: int) -> str:
    return "".join(answer_text(number, "and so on ") for number in numbers)


def test_everything_answered_once_and_in_order_is_clean() -> None:
    found = account([*asked(1, 2, 4), *asked(3, thread=B)], {A: answers(1, 2, 4), B: answers(3)})
    assert found == Account((1, 2, 4, 3), (1, 2, 4, 3), (), (), (), ())
    assert found.is_clean


def test_a_question_without_an_answer_is_lost() -> None:
    found = account(asked(1, 2), {A: answers(2)})
    assert (found.lost, found.once) == ((1,), (2,))
    assert not found.is_clean


def test_a_thread_in_which_nothing_was_said_is_lost() -> None:
    assert account(asked(1), {}).lost == (1,)


def test_an_answer_that_breaks_off_is_lost() -> None:
    found = account(asked(1), {A: "begin#1 and so"})
    assert (found.lost, found.once) == ((1,), ())


def test_an_answer_whose_beginning_is_missing_is_lost() -> None:
    assert account(asked(1), {A: "and so on end#1"}).lost == (1,)


def test_what_the_bot_neither_acknowledged_nor_answered_is_not_counted() -> None:
    assert account([Question(1, A)], {A: ""}) == Account((), (), (), (), (), ())


def test_what_was_answered_without_an_acknowledgement_is_accepted() -> None:
    found = account([Question(1, A)], {A: answers(1)})
    assert (found.accepted, found.once) == ((1,), (1,))


def test_a_second_answer_is_doubled() -> None:
    found = account(asked(1, 2), {A: answers(1, 2, 1)})
    assert (found.doubled, found.once, found.lost) == ((1,), (2,), ())
    assert not found.is_clean


def test_a_second_answer_that_breaks_off_is_doubled_too() -> None:
    assert account(asked(1), {A: f"begin#1 and {answers(1)}"}).doubled == (1,)


def test_an_answer_in_another_thread_is_lost_where_it_was_asked() -> None:
    found = account(asked(1), {A: "", B: answers(1)})
    assert (found.lost, found.doubled, found.once) == ((1,), (), ())


def test_an_answer_in_both_threads_is_doubled() -> None:
    assert account(asked(1), {A: answers(1), B: answers(1)}).doubled == (1,)


def test_an_answer_behind_that_of_a_later_question_is_reordered() -> None:
    found = account(asked(1, 2, 3), {A: answers(2, 1, 3)})
    assert (found.reordered, found.late) == ((1,), ())
    assert not found.is_clean


def test_other_threads_may_overtake() -> None:
    assert account([*asked(1), *asked(2, thread=B)], {B: answers(2), A: answers(1)}).reordered == ()


def test_a_question_that_was_delivered_later_is_late_and_not_reordered() -> None:
    first, second = asked(1, 2)
    first = replace(first, arrival=9.0, accepted=3)
    found = account([first, second], {A: answers(2, 1)})
    assert (found.reordered, found.late) == ((), (1,))
    assert found.is_clean


def test_a_question_the_records_had_first_is_reordered_however_late_it_was_acknowledged() -> None:
    first, second = asked(1, 2)
    assert account([replace(first, arrival=9.0), second], {A: answers(2, 1)}).reordered == (1,)


def test_without_records_the_deliveries_decide() -> None:
    first, second = (replace(each, accepted=None) for each in asked(1, 2))
    shown = {A: answers(2, 1)}
    assert account([first, second], shown).reordered == (1,)
    assert account([replace(first, arrival=9.0), second], shown).late == (1,)
    assert account([replace(first, arrival=None), second], shown).late == (1,)
    assert account([first, replace(second, arrival=None)], shown).reordered == (1,)


def test_the_first_of_two_answers_tells_the_place() -> None:
    found = account(asked(1, 2), {A: answers(1, 2, 1)})
    assert (found.doubled, found.reordered) == ((1,), ())


def test_the_last_question_of_a_text_is_the_one_that_is_asked() -> None:
    assert asked_number(f"Alice: {question_text(7)}\n\nBob: {question_text(12)}") == 12
    assert asked_number("hello") is None


@given(st.permutations(range(1, 8)))
def test_an_order_is_clean_only_when_it_is_that_of_the_questions(order: list[int]) -> None:
    found = account(asked(*range(1, 8)), {A: answers(*order)})
    assert (found.reordered == ()) is (order == sorted(order))
    assert len(found.once) == 7

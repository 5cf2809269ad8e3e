"""What calls have taken is known at every moment, and what is not known of it is never taken for nothing."""

import pytest

from app.agents.metering import Meter, Taken
from app.agents.providers.base import Usage
from app.errors import ModelBusyError, ModelError, ModelKeyError, ModelRejectedError, ModelUnreachableError

READ, ALL = Usage(input_tokens=100, output_tokens=1), Usage(input_tokens=100, output_tokens=40)


def test_without_a_call_nothing_was_taken() -> None:
    assert Meter().taken is None


def test_a_call_that_goes_on_has_taken_more_than_was_counted() -> None:
    meter = Meter()
    meter.began()
    assert meter.taken == Taken(Usage(), is_partial=True)
    meter.counted(READ)
    assert meter.taken == Taken(READ, is_partial=True)


def test_each_count_takes_the_place_of_the_one_before_and_the_last_one_is_whole() -> None:
    meter = Meter()
    meter.began()
    meter.counted(READ)
    meter.counted(Usage(100, 20))
    meter.completed(ALL)
    assert meter.taken == Taken(ALL)


def test_calls_add_up_and_one_that_broke_off_makes_the_sum_partial() -> None:
    meter = Meter()
    meter.began()
    meter.completed(ALL)
    meter.began()
    meter.counted(READ)
    meter.failed(ModelUnreachableError("broke off"), has_text=False)
    meter.began()
    meter.completed(ALL)
    assert meter.taken == Taken(ALL + READ + ALL, is_partial=True, calls=3)


@pytest.mark.parametrize("fault", [ModelBusyError("429"), ModelKeyError("401"), ModelRejectedError("400")])
def test_a_call_that_was_turned_away_took_nothing(fault: ModelError) -> None:
    meter = Meter()
    meter.began()
    meter.failed(fault, has_text=False)
    assert meter.taken is None
    meter.began()
    meter.completed(ALL)
    assert meter.taken == Taken(ALL)


def test_a_call_that_was_given_up_after_a_count_took_at_least_that() -> None:
    meter = Meter()
    meter.began()
    meter.counted(READ)
    meter.failed(ModelBusyError("overloaded in mid-stream"), has_text=False)
    assert meter.taken == Taken(READ, is_partial=True)


def test_a_call_that_brought_a_word_took_something_whether_it_was_counted_or_not() -> None:
    meter = Meter()
    meter.began()
    meter.failed(ModelBusyError("overloaded in mid-stream"), has_text=True)
    assert meter.taken == Taken(is_partial=True)


def test_of_a_connection_that_broke_nobody_knows_whether_it_took_something() -> None:
    meter = Meter()
    meter.began()
    meter.failed(ModelUnreachableError("timeout"), has_text=False)
    assert meter.taken == Taken(is_partial=True)

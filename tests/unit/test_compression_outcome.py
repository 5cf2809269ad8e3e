"""What people are told about a compression."""

import pytest

from app.sessions.compression_outcome import TOO_LONG, Outcome, Result, told

MANY = (1_204, 25, 180_000, 41_500)


@pytest.mark.parametrize(
    ("outcome", "begins", "ends"),
    [
        (
            Outcome(Result.SUMMARISED, *MANY),
            "I summarised the earlier part",
            " (1,204 messages became 25, about 138,500 tokens less).",
        ),
        (Outcome(Result.SHORTENED, *MANY), "The model could not summarise", "about 138,500 tokens less)."),
        (
            Outcome(Result.CUT, 1, 1, 10, 12),
            "This conversation no longer fits",
            " (1 message became 1, about 0 tokens less).",
        ),
        (Outcome(Result.CUT, *MANY, fits=False), "This conversation no longer fits", f"tokens less). {TOO_LONG}"),
        (Outcome(Result.NOTHING, 4, 4, 9, 9), "There is nothing to summarise", "yet."),
        (
            Outcome(Result.COOLING_DOWN, 4, 4, 9, 9, retry_in_s=59.6),
            "The last attempt",
            "made in 60 s at the earliest.",
        ),
        (Outcome(Result.COOLING_DOWN, 4, 4, 9, 9), "The last attempt", "made in 1 s at the earliest."),
        (Outcome(Result.FAILED, 4, 4, 9, 9), "The model could not summarise", "trying again may help."),
        (Outcome(Result.OVERTAKEN, 4, 4, 9, 9), "This conversation changed", "please try again."),
        (Outcome(Result.TOO_MUCH_KEPT, 4, 4, 9, 9), "The turns that are to stay", "keep fewer of them."),
    ],
)
def test_every_outcome_is_a_sentence_that_says_what_to_do(outcome: Outcome, begins: str, ends: str) -> None:
    text = told(outcome)
    assert text.startswith(begins)
    assert text.endswith(ends)


def test_only_three_outcomes_change_the_transcript() -> None:
    changed = {result for result in Result if Outcome(result, 1, 1, 1, 1).has_changed}
    assert changed == {Result.SUMMARISED, Result.SHORTENED, Result.CUT}

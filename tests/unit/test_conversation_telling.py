"""How what is kept of conversations becomes what commands tell."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.agents.pricing import Total
from app.channel import ThreadKey
from app.dispatch.conversation_telling import TITLE_TAKEN, answering, begun, compressed, spent, summary_of, undone
from app.errors import ConfigurationError, StateError
from app.sessions.compression_outcome import Outcome, Result
from app.sessions.entry import SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.errors import TitleTakenError, TranscriptUnreadableError
from app.sessions.transcript import PastSession, Rewound
from app.sessions.usage import Share
from app.sessions.usage import Spent as Sum
from app.state.errors import StateBusyError
from commands.conversations import Compressed, Instead, SessionSummary, Spent, TokenCounts, Undone
from commands.errors import CommandError, ConflictError, NotFoundError, UnavailableError
from tests.fakes import EPOCH

LATER = EPOCH + timedelta(minutes=1)


def share(name: str | None, cost: Total, *tokens: int) -> Share:
    return Share(name, Sum(Tokens(*tokens), cost))


def outcome(result: Result) -> Outcome:
    return Outcome(result, 12, 5, 900, 300, retry_in_s=5.0)


@pytest.mark.parametrize(
    ("fault", "answer"),
    [
        (TitleTakenError("x"), ConflictError),
        (TranscriptUnreadableError("x"), UnavailableError),
        (ConfigurationError("x"), UnavailableError),
        (StateError("x"), UnavailableError),
        (StateBusyError("x"), UnavailableError),
    ],
)
def test_the_bots_own_errors_become_sentences(fault: Exception, answer: type[CommandError]) -> None:
    with pytest.raises(answer) as told, answering():
        raise fault
    assert len(str(told.value)) > 20, "never the error's own text"
    assert told.value.__cause__ is fault


def test_answers_and_programming_errors_pass_as_they_are() -> None:
    with pytest.raises(NotFoundError, match="mine"), answering():
        raise NotFoundError("mine")
    with pytest.raises(ZeroDivisionError), answering():
        raise ZeroDivisionError
    with pytest.raises(ConflictError, match=TITLE_TAKEN), answering():
        raise TitleTakenError("theirs")


def test_a_session_is_told_of() -> None:
    past = PastSession("id", "key", "Plan", EPOCH, LATER, None, "hello")
    assert summary_of(past) == SessionSummary("id", EPOCH, LATER, "Plan", "hello")
    assert summary_of(past, is_current=True).is_current
    entry = SessionEntry(SessionKey("key"), SessionId("id"), ThreadKey("slack:C1:1"), EPOCH, LATER)
    assert begun(entry, "Plan") == SessionSummary("id", EPOCH, LATER, "Plan", is_current=True)


def test_what_was_taken_back_is_told_of() -> None:
    assert undone(Rewound(2, 5, "hello")) == Undone(2, 5, "hello")
    assert undone(Rewound(0, 0)) == Undone(0, 0, "")


@pytest.mark.parametrize(
    ("result", "messages", "instead"),
    [
        (Result.SUMMARISED, 8, Instead.SUMMARY),
        (Result.SHORTENED, 8, Instead.BEGINNINGS),
        (Result.CUT, 7, Instead.NOTHING),
        (Result.NOTHING, 0, Instead.NOTHING),
    ],
)
def test_a_compression_tells_how_many_messages_are_gone_and_what_stands_for_them(
    result: Result, messages: int, instead: Instead
) -> None:
    """One of those that are left is the summary, where there is one."""
    assert compressed(outcome(result)) == Compressed(messages, 900, 300, 12 - messages, instead)
    assert not compressed(replace(outcome(result), fits=False)).fits


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (Result.FAILED, UnavailableError),
        (Result.COOLING_DOWN, UnavailableError),
        (Result.OVERTAKEN, ConflictError),
    ],
)
def test_a_compression_that_did_not_come_about_says_why(result: Result, answer: type[CommandError]) -> None:
    with pytest.raises(answer, match="summarise"):
        compressed(outcome(result))


def test_what_was_spent_is_summed_over_tasks() -> None:
    found = spent([share("turn", Total(300, runs=3), 10, 20, 30, 40), share("compression", Total(50, runs=1), 1, 2)])
    assert found == Spent(TokenCounts(11, 22, 30, 40), 350, "estimated", turns=3, compressions=1)


@pytest.mark.parametrize(
    ("total", "told"),
    [
        (Total(), (0, "estimated")),
        (Total(5, runs=2, included=1), (5, "estimated")),
        (Total(0, runs=2, included=2), (0, "included")),
        (Total(5, runs=3, included=1, unknown=1), (None, "unknown")),
        (Total(5, runs=3, included=1, at_least=1), (5, "at_least")),
        (Total(0, runs=2, included=1, at_least=1), (None, "unknown")),
        (Total(5, runs=3, unknown=1, at_least=1), (None, "unknown")),
    ],
)
def test_a_cost_is_as_sure_as_its_least_sure_part(total: Total, told: tuple[int | None, str]) -> None:
    found = spent([share("turn", total)])
    assert (found.cost_microusd, found.cost_status) == told


def test_tasks_that_this_version_does_not_know_are_paid_for_all_the_same() -> None:
    found = spent([share("dreaming", Total(7, runs=1), 5), share(None, Total(1, runs=1), 5)])
    assert found == Spent(TokenCounts(10), 8, "estimated")

"""What is kept of conversations, as commands tell of it; and the house's own faults, as commands answer them."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from app.agents.pricing import AT_LEAST, ESTIMATED, INCLUDED, UNKNOWN, Total
from app.errors import ConfigurationError, SwitchboardError
from app.sessions.compression_outcome import SENTENCES, Foreseen, Outcome, Result, told
from app.sessions.entry import SessionEntry, Tokens
from app.sessions.errors import TitleTakenError, TranscriptUnreadableError
from app.sessions.transcript import PastSession, Rewound
from app.sessions.usage import Share, Task
from commands.conversations import Compressed, Compressible, Instead, SessionSummary, Spent, TokenCounts, Undone
from commands.errors import CommandError, ConflictError, UnavailableError

T = TypeVar("T")

TITLE_TAKEN = "another session of this conversation has this title; choose another one"
_MOVED_ON = "this conversation moved on meanwhile; look at `!resume` and say it again"
_UNREACHABLE = "I cannot reach my own records right now; try again in a minute"
_ANSWERS: tuple[tuple[type[SwitchboardError], type[CommandError], str], ...] = (
    (TitleTakenError, ConflictError, TITLE_TAKEN),
    (
        TranscriptUnreadableError,
        UnavailableError,
        "I cannot read what was said in this conversation, so I leave it as it is; `!new` begins a new one",
    ),
    (
        ConfigurationError,
        UnavailableError,
        "the model in effect here is not set up; choose another one, or ask whoever runs me",
    ),
)


@contextmanager
def answering() -> Generator[None]:
    """Turns the bot's own errors into answers of a command: what is not named is the database's."""
    try:
        yield
    except SwitchboardError as fault:
        found = ((answer, text) for kind, answer, text in _ANSWERS if isinstance(fault, kind))
        answer, text = next(found, (UnavailableError, _UNREACHABLE))
        raise answer(text) from fault


@contextmanager
def cut_short(*, is_told: bool) -> Generator[None]:
    """Around what may fail after an answer was stopped; ``is_told``: without a word of its own."""
    try:
        with answering():
            yield
    except CommandError as fault:
        if not is_told:
            raise
        raise type(fault)(f"{fault} (what I was answering here is stopped)") from fault


def there(found: T | None) -> T:
    """Raises ``ConflictError`` where somebody else was faster."""
    if found is None:
        raise ConflictError(_MOVED_ON)
    return found


def summary_of(past: PastSession, *, is_current: bool = False) -> SessionSummary:
    return SessionSummary(
        past.session_id, past.created_at, past.last_active_at, past.title, past.opening, is_current=is_current
    )


def begun(entry: SessionEntry, title: str | None) -> SessionSummary:
    """Of a session in which nothing has been said yet."""
    return SessionSummary(entry.session_id, entry.created_at, entry.updated_at, title, is_current=True)


def undone(rewound: Rewound) -> Undone:
    return Undone(rewound.turns, rewound.messages, rewound.target_text or "")


def full(waiting: int) -> str:
    """Why a message has no place in a line."""
    wait = "1 message waits" if waiting == 1 else f"{waiting:,} messages wait"
    return f"{wait} in this conversation, and I did not take one more; say it again later"


def compressed(outcome: Outcome) -> Compressed:
    """Raises ``CommandError`` for what did not come about."""
    match outcome.result:
        case Result.FAILED | Result.COOLING_DOWN:
            raise UnavailableError(told(outcome))
        case Result.OVERTAKEN | Result.TOO_MUCH_KEPT:
            raise ConflictError(told(outcome))
        case Result.NOTHING:
            kept, instead = outcome.messages_before, Instead.NOTHING
        case Result.CUT:
            kept, instead = outcome.messages_after, Instead.NOTHING
        case _:
            # What stands for those that are gone is one of those that are left.
            kept = outcome.messages_after - 1
            instead = Instead.SUMMARY if outcome.result is Result.SUMMARISED else Instead.BEGINNINGS
    gone = outcome.messages_before - kept
    return Compressed(gone, outcome.tokens_before, outcome.tokens_after, kept, instead, outcome.fits)


def compressible(foreseen: Foreseen | None) -> Compressible:
    """Raises ``ConflictError`` for what would not come about."""
    if foreseen is None:
        raise ConflictError(SENTENCES[Result.TOO_MUCH_KEPT])
    return Compressible(foreseen.messages, foreseen.tokens, foreseen.kept_messages, foreseen.kept_tokens)


def spent(by_task: Sequence[Share]) -> Spent:
    """The sum of what each kind of task took."""
    total, runs, tokens = Total(), dict.fromkeys(Task, 0), Tokens()
    calls = sum(share.spent.calls for share in by_task)
    for share in by_task:
        total += share.spent.cost
        tokens += share.spent.tokens
        if share.name in runs:
            runs[Task(share.name)] += share.spent.cost.runs
    microusd, status = _cost(total)
    counts = TokenCounts(
        tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, is_partial=tokens.is_partial
    )
    return Spent(counts, microusd, status, runs[Task.TURN], runs[Task.COMPRESSION], calls)


def parts_of(by_model: Sequence[Share]) -> tuple[tuple[str, Spent], ...]:
    """What each model took, runs that came to none left out."""
    return tuple((share.name, spent([share])) for share in by_model if share.name is not None)


def _cost(total: Total) -> tuple[int | None, str]:
    """One run without a price makes the whole unknown: a part of a sum looks like the sum.

    One that was stopped before all of it was counted leaves the sum what it is at least; nothing known is no sum.
    """
    if total.unknown or (total.at_least and not total.microusd):
        return None, UNKNOWN
    if total.at_least:
        return total.microusd, AT_LEAST
    return total.microusd, INCLUDED if total.runs and total.included == total.runs else ESTIMATED

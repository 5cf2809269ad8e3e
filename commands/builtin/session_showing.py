"""How sessions, tokens and costs read: for people as lines, for programs as data with people's words marked."""

from collections.abc import Sequence
from datetime import datetime

from commands.conversations import (
    Compressed,
    Compressible,
    ConversationStatus,
    Instead,
    Recap,
    SessionSummary,
    Spent,
    TokenCounts,
    Used,
    Whose,
)
from commands.quoting import cut, one_line, quotable
from commands.spec import MACHINES, Caller, Json, Reply
from commands.untrusted import untrusted

SHOWN_CHARS = 80
PREVIEW_CHARS = 200
TOO_LITTLE = "There is too little here to compress."
TOO_LONG = "Even so it is too long for the model; `!new` begins a new session."
_MICROS = 1_000_000
_WHOSE = {Whose.CONVERSATION: "This conversation", Whose.ME: "You, everywhere", Whose.CHANNEL: "This channel"}


def sessions_reply(sessions: Sequence[SessionSummary], caller: Caller, hint: str, receipt: str = "") -> Reply:
    """A numbered list with ``hint`` below it."""
    lines = [f"{number}. {_line(session, caller)}" for number, session in enumerate(sessions, start=1)]
    data: list[Json] = [session_data(session, caller) for session in sessions]
    return Reply({"sessions": data}, "\n".join([*lines, "", hint]), receipt=receipt)


def session_data(session: SessionSummary, caller: Caller) -> dict[str, Json]:
    return {
        "id": session.session_id,
        "title": None if session.title is None else for_data(session.title, caller),
        "opening": for_data(session.opening, caller),
        "createdAt": session.created_at.isoformat(),
        "lastActiveAt": session.last_active_at.isoformat(),
        "isCurrent": session.is_current,
    }


def for_data(words: str, caller: Caller) -> str:
    """People's words for a program, which may hand them to a model."""
    return untrusted(words) if words and caller.surface in MACHINES else words


def for_text(words: str, caller: Caller, chars: int = SHOWN_CHARS) -> str:
    """People's words in an answer: in a code span, where nothing in them has a meaning; marked on machines."""
    short = cut(quotable(words), chars)
    return f"\n{untrusted(cut(one_line(words), chars))}\n" if caller.surface in MACHINES else f"`{short}`"


def name_of(session: SessionSummary, caller: Caller) -> str:
    """Its title, or how it began, or its id."""
    words = one_line(session.title or session.opening)
    return for_text(words, caller) if words else f"`{quotable(session.session_id)}`"


def status_reply(status: ConversationStatus, caller: Caller) -> Reply:
    session, spent = status.session, status.spent
    lines = [
        f"- session: `{quotable(session.session_id)}`",
        *([f"- title: {for_text(session.title, caller)}"] if session.title else []),
        f"- begun: {moment(session.created_at)}, last active {moment(session.last_active_at)}",
        f"- agent and model: {quotable(status.agent)}, `{quotable(status.model)}`",
        *([f"- repo: `{quotable(status.repo)}`"] if status.repo else []),
        f"- context: {_context(status)}",
        f"- tokens: {tokens(spent)}",
        f"- cost: {cost(spent)}",
        f"- now: {'a turn is under way' if status.is_running else 'idle'}, {status.waiting} waiting",
        *_recap_lines(status.recap, caller),
    ]
    return Reply(_status_data(status, caller), "\n".join(lines))


def _status_data(status: ConversationStatus, caller: Caller) -> dict[str, Json]:
    return {
        "session": session_data(status.session, caller),
        "agent": status.agent,
        "model": status.model,
        "repo": status.repo,
        "contextTokens": status.context_tokens,
        "contextLimitTokens": status.context_limit_tokens,
        "contextPercent": percent(status),
        "isRunning": status.is_running,
        "waiting": status.waiting,
        "spent": spent_data(status.spent),
        "recap": None if status.recap is None else _recap_data(status.recap, caller),
    }


def _recap_lines(recap: Recap | None, caller: Caller) -> list[str]:
    if recap is None:
        return []
    lines = [f"- last question: {for_text(recap.question, caller, PREVIEW_CHARS)}"]
    return [*lines, f"- answer: {for_text(recap.answer, caller, PREVIEW_CHARS)}"] if recap.answer else lines


def _recap_data(recap: Recap, caller: Caller) -> dict[str, Json]:
    return {"question": for_data(recap.question, caller), "answer": for_data(recap.answer, caller)}


def compressible_reply(found: Compressible) -> Reply:
    data: dict[str, Json] = {
        "messages": found.messages,
        "tokens": found.tokens,
        "keptMessages": found.kept_messages,
        "keptTokens": found.kept_tokens,
    }
    gone = f"{count(found.messages, 'message')} (about {found.tokens:,} tokens) would be summarised"
    left = f"{count(found.kept_messages, 'message')} (about {found.kept_tokens:,} tokens) would stay as they are"
    text = f"🔎 {gone}, {left}. Nothing has changed." if found.messages else TOO_LITTLE
    return Reply({"preview": data}, text, receipt="previewed a compression")


def compressed_reply(done: Compressed) -> Reply:
    """What was done, and with what is left of it."""
    data: dict[str, Json] = {
        "messages": done.messages,
        "kept": done.kept,
        "instead": done.instead.value if done.messages else None,
        "tokensBefore": done.tokens_before,
        "tokensAfter": done.tokens_after,
    }
    if not done.messages:
        return Reply(data, TOO_LITTLE, receipt="compressed nothing")
    gone, size = count(done.messages, "message"), f"about {done.tokens_before:,} tokens became {done.tokens_after:,}"
    rest = f"The rest ({count(done.kept, 'message')}) stays as it is" if done.kept else "Nothing else is left"
    text = {
        Instead.SUMMARY: f"🗜️ A summary stands for {gone} now",
        Instead.BEGINNINGS: f"✂️ The model could not summarise {gone}, so I kept only the beginning of each. {rest}",
        Instead.NOTHING: f"✂️ I have no room for a summary, so I no longer know {gone}. {rest}",
    }[done.instead]
    text = f"{text}: {size}."
    return Reply(data, text if done.fits else f"{text} {TOO_LONG}", receipt=f"compressed {done.messages}")


def usage_reply(used: Used, whose: Whose, days: int | None) -> Reply:
    total = used.total
    period = "since the beginning" if days is None else f"in the last {count(days, 'day')}"
    lines = [
        f"**{_WHOSE[whose]}**, {period}",
        f"- turns: {total.turns:,}, compressions: {total.compressions:,}, model calls: {total.calls:,}",
        f"- tokens: {tokens(total)}",
        f"- cost: {cost(total)}",
        *(f"- of that `{quotable(model)}`: {tokens(part)}; cost: {cost(part)}" for model, part in used.by_model),
    ]
    models: list[Json] = [{"model": model, **taken_data(part)} for model, part in used.by_model]
    return Reply({"of": whose.value, "days": days, **spent_data(total), "models": models}, "\n".join(lines))


def spent_data(spent: Spent) -> dict[str, Json]:
    return {"turns": spent.turns, "compressions": spent.compressions, **taken_data(spent)}


def taken_data(spent: Spent) -> dict[str, Json]:
    return {
        "modelCalls": spent.calls,
        "inputTokens": spent.tokens.input,
        "outputTokens": spent.tokens.output,
        "cacheReadTokens": spent.tokens.cache_read,
        "cacheWriteTokens": spent.tokens.cache_write,
        "tokensArePartial": spent.tokens.is_partial,
        "costMicrousd": spent.cost_microusd,
        "costStatus": spent.cost_status,
    }


def tokens(spent: Spent) -> str:
    kinds = spent.tokens
    cached = f"{kinds.cache_read:,} from and {kinds.cache_write:,} into the cache"
    counts = f"{kinds.input:,} in, {kinds.output:,} out, {cached}"
    return f"at least {counts}; what was stopped is not counted whole" if kinds.is_partial else counts


def cost(spent: Spent) -> str:
    """``$0.0123 (estimated)``, or that it is not known, which is not nothing."""
    if not (spent.turns or spent.compressions or spent.tokens != TokenCounts()):
        return "none yet"
    if spent.cost_microusd is None:
        return "unknown"
    amount = f"${spent.cost_microusd / _MICROS:,.4f}"
    if spent.cost_status == "at_least":
        return f"at least {amount} (estimated)"
    return amount if spent.cost_status == "actual" else f"{amount} ({spent.cost_status})"


def percent(status: ConversationStatus) -> int | None:
    if not status.context_limit_tokens:
        return None
    return round(100 * status.context_tokens / status.context_limit_tokens)


def count(number: int, noun: str) -> str:
    """``1 turn``, ``2 turns``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _context(status: ConversationStatus) -> str:
    if percent(status) is None:
        return f"{status.context_tokens:,} tokens; the model's window is not known"
    return f"{status.context_tokens:,} of {status.context_limit_tokens:,} tokens ({percent(status)} %)"


def _line(session: SessionSummary, caller: Caller) -> str:
    """The id stands last, because it is long and seldom needed."""
    current = ", the current one" if session.is_current else ""
    return f"{name_of(session, caller)} {moment(session.last_active_at)}{current} (`{quotable(session.session_id)}`)"

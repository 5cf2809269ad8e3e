"""Scripted conversations through the real write path: each with a memory of its own and whatever extracts."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app.evaluation.scoring import Result, Score, Stored, score
from app.evaluation.script import BOT, Conversation, Known, Said
from memory.existing import scope_keys
from memory.extracted import Answer, Unusable, read_answer
from memory.extraction import Prompt
from memory.gate import is_noise, looks_like_instruction
from memory.learning import Rules
from memory.outcome import Ending, Outcome
from memory.record import MemoryCandidate, MemoryRecord
from memory.redact import redact
from memory.reflector import Extractor, Reflector
from memory.relevance import RelevanceRanker
from memory.scope import kind_of
from memory.stores.inprocess import InProcessStore
from memory.turn import FinishedTurn, Line

AT = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
"""When every conversation takes place, a Wednesday; expected facts speak of the days before it."""
AT_ONCE = 4
"""Model calls at a time."""
RULES = Rules(redact, is_noise, looks_like_instruction)
"""Those of the bot."""

_IDS = {"ada": "slack:U1", "ben": "slack:U2", "cleo": "slack:U3"}
_EARLIER = timedelta(hours=1)
_MANY = 1_000
_UNANSWERED = frozenset({Ending.SKIPPED, Ending.REJECTED, Ending.FAILED})


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation as its extractor meets it."""

    conversation: Conversation
    turn: FinishedTurn
    ids: Mapping[str, str]
    """Of the known records, by their texts."""


ExtractorOf = Callable[[Case], Extractor]


async def run(
    conversations: Iterable[Conversation], extractor_of: ExtractorOf, rules: Rules = RULES
) -> tuple[Score, ...]:
    """In the order of ``conversations``."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(conversation: Conversation) -> Score:
        async with places:
            return score(conversation, await reflected(conversation, extractor_of, rules))

    return tuple(await asyncio.gather(*map(one, conversations)))


async def reflected(conversation: Conversation, extractor_of: ExtractorOf, rules: Rules = RULES) -> Result:
    """What one pass over ``conversation`` has left in an otherwise fresh memory."""
    store = InProcessStore(ranker=RelevanceRanker(), now=lambda: AT)
    turn = turn_of(conversation)
    known = await _prepared(store, conversation.known, scope_keys(turn))
    ids = {record.text: record.id for record in known}
    recalled = tuple(ids[each.text] for each in conversation.known if each.is_recalled)
    case = Case(conversation, turn_of(conversation, recalled), ids)
    heard = _Heard(extractor_of(case))
    thread = _Before(_lines(conversation.before, AT - _EARLIER))
    outcome = await Reflector(store, heard, RelevanceRanker(), rules, thread=thread).reflect(case.turn)
    return await _result(store, scope_keys(turn), known, heard, outcome)


def turn_of(conversation: Conversation, recalled: Sequence[str] = ()) -> FinishedTurn:
    return FinishedTurn(
        session_key=f"agent:main:slack:{conversation.name}",
        thread_key=f"slack:C1:{conversation.name}",
        run_id=f"evaluation-{conversation.name}",
        started_at=AT,
        ended_at=AT + timedelta(minutes=1),
        lines=_lines(conversation.said, AT),
        organization="acme" if conversation.is_member else None,
        user_id=_IDS[conversation.asker],
        user_name=conversation.asker.capitalize(),
        channel_id="slack:C1",
        visibility=conversation.visibility,
        repo=conversation.repo,
        recalled_ids=tuple(recalled),
        tool_calls=conversation.tool_calls,
        prior_turns=len(conversation.before),
    )


def _lines(said: Sequence[Said], at: datetime) -> tuple[Line, ...]:
    return tuple(_line(each, at + timedelta(seconds=5 * number)) for number, each in enumerate(said))


def _line(said: Said, at: datetime) -> Line:
    if said.who == BOT:
        return Line("assistant", said.text, at, source=said.source)
    return Line("user", said.text, at, said.who.capitalize(), _IDS[said.who], said.source)


async def _prepared(store: InProcessStore, known: Sequence[Known], keys: Sequence[str]) -> Sequence[MemoryRecord]:
    for key in keys:
        own = [each for each in known if each.scope is kind_of(key)]
        await store.write(
            key, [MemoryCandidate("fact", each.text, "slack:C0:1.0", is_standing=each.is_standing) for each in own]
        )
    return await _active(store, keys)


async def _active(store: InProcessStore, keys: Sequence[str]) -> Sequence[MemoryRecord]:
    return [record for key in keys for record in reversed(await store.list(key, _MANY))]


async def _result(
    store: InProcessStore, keys: Sequence[str], known: Sequence[MemoryRecord], heard: "_Heard", outcome: Outcome
) -> Result:
    after = await _active(store, keys)
    before, left = {record.id for record in known}, {record.id for record in after}
    return Result(
        " ".join(filter(None, (outcome.ending, outcome.reason))),
        outcome.ending not in _UNANSWERED,
        heard.named(),
        tuple(
            Stored(kind_of(record.scope_key), record.text, record.kind == "summary")
            for record in after
            if record.id not in before
        ),
        tuple(record.text for record in known if record.id not in left),
    )


@dataclass(slots=True)
class _Heard:
    """Implements ``Extractor``: passes on, and keeps what was answered."""

    extractor: Extractor
    answers: list[Answer] = field(default_factory=list[Answer])

    async def __call__(self, prompt: Prompt) -> Answer:
        answer = await self.extractor(prompt)
        self.answers.append(answer)
        return answer

    def named(self) -> tuple[str, ...]:
        read = [read_answer(answer, (), lambda text: text) for answer in self.answers]
        return tuple(statement.text for each in read if not isinstance(each, Unusable) for statement in each.statements)


@dataclass(frozen=True, slots=True)
class _Before:
    """Implements ``Thread``."""

    lines: Sequence[Line]

    async def before(self, turn: FinishedTurn) -> Sequence[Line]:  # noqa: ARG002 - the port's signature
        return self.lines

"""From what a model extracted to what is written where: gated, grounded, routed, narrowed, one batch per scope.

Specification, sections 13, 14 and 23.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memory.cues import STANDING_CHARS, wishes_for_good
from memory.extracted import Extracted, Statement
from memory.extraction import MOST_FACTS
from memory.grounding import MARK, Ground, Sentence, same_words, telling
from memory.outcome import Batch
from memory.record import MemoryCandidate, MemoryRecord
from memory.routing import Origin, Route, Visibility, route, summary_audience
from memory.scope import ScopeKind, kind_of
from memory.secret_naming import is_secret_word, parts_of
from memory.stopwords import STOP_WORDS
from memory.turn import FinishedTurn

UNSAID = "unsaid"
"""Too little of it is people's own words."""
SAID_BY_OTHERS = "said_by_others"
"""It claims to be about the one who asked, who has not said it."""
SECRET = "secret"  # noqa: S105 - a reason
"""Nothing is left of it but that there is one."""
REPEATED = "repeated"
NO_SCOPE = "no_scope"
SURPLUS = "surplus"

_BESIDE_WORDS = """
access api app auth bearer client code current following former login new old pin private same valid value
lautet la aktuell alt neu neue neues geheimnis schlüssel zugangsdaten actuel clé mot nouveau passe actual
clave contraseña nueva
"""
_BESIDE = frozenset(_BESIDE_WORDS.split())
"""Words that name a secret in other languages, or stand beside such a word and tell no more."""
_WORD = re.compile(r"\w+")

EXTRACTION_S = 60.0
"""No extraction takes longer."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides about texts, purely, and how long an extraction may take."""

    redact: Callable[[str], str]
    is_noise: Callable[[str], str | None]
    """Why a text is not worth remembering, as a token for a log line."""
    looks_like_instruction: Callable[[str], bool]
    """Whether it must wait for a person."""
    extraction_s: float = EXTRACTION_S


@dataclass(frozen=True)
class Known:
    """What a pass knows before the model answers."""

    turn: FinishedTurn
    ground: Ground
    records: Sequence[MemoryRecord] = ()
    """Those the model is shown."""
    summaries: Mapping[str, MemoryRecord] = field(default_factory=dict[str, MemoryRecord])
    """The last summary of this thread, by scope."""

    @cached_property
    def scope_of(self) -> Mapping[str, str]:
        return {record.id: record.scope_key for record in self.records}

    @cached_property
    def recalled(self) -> Sequence[MemoryRecord]:
        return recalled_among(self.records, self.turn)

    @cached_property
    def origin(self) -> Origin:
        turn = self.turn
        is_known = turn.visibility in set(Visibility)
        visibility = Visibility(turn.visibility) if is_known else Visibility.UNKNOWN
        return Origin(visibility, turn.organization, turn.repo, turn.channel_id, turn.user_id)

    def same(self, text: str, scope_key: str) -> MemoryRecord | None:
        """The record of the scope that says ``text`` already, word by word."""
        own = (record for record in self.records if record.scope_key == scope_key)
        return next((record for record in own if same_words(text, record)), None)


def recalled_among(records: Sequence[MemoryRecord], turn: FinishedTurn) -> Sequence[MemoryRecord]:
    """The records that went before the answer, by identity."""
    ids = set(turn.recalled_ids)
    return [record for record in records if record.id in ids]


@dataclass(slots=True)
class Plan:
    """What a pass will write, and what it will not."""

    routed: list[tuple[str, MemoryCandidate]] = field(default_factory=list[tuple[str, MemoryCandidate]])
    held: list[tuple[str, MemoryCandidate]] = field(default_factory=list[tuple[str, MemoryCandidate]])
    """For a person to look at."""
    refused: Counter[str] = field(default_factory=Counter[str])
    narrowed: Counter[str] = field(default_factory=Counter[str])
    restated: int = 0

    def batches(self) -> tuple[Batch, ...]:
        return _batches(self.routed)

    def held_batches(self) -> tuple[Batch, ...]:
        return _batches(self.held)

    def has_news(self) -> bool:
        return any(not candidate.restates for _, candidate in self.routed)


def plan_learning(extracted: Extracted, known: Known, rules: Rules) -> Plan:
    """What becomes of each fact, in the model's order, and then of the summary."""
    plan = Plan()
    earlier: list[str] = []
    for statement in extracted.statements:
        reason = _refusal(statement, known, rules, earlier)
        if reason is None and len(plan.routed) + len(plan.held) >= MOST_FACTS:
            reason = SURPLUS
        if reason is not None:
            plan.refused[reason] += 1
            continue
        earlier.append(statement.text)
        _place(statement, known, rules, plan)
    plan.refused.update({"unusable": extracted.offered - len(extracted.statements)})
    plan.refused = +plan.refused
    if extracted.summary is not None:
        _sum_up(extracted.summary, extracted.statements, known, rules, plan)
    return plan


def _refusal(statement: Statement, known: Known, rules: Rules, earlier: Sequence[str]) -> str | None:
    """Why nobody learns it. What is shaped like an order is not asked whether it is worth keeping: a person is."""
    text = statement.text
    if is_husk(text):
        return SECRET
    if text.casefold() in (each.casefold() for each in earlier):
        return REPEATED
    if not known.ground.supports(text):
        return UNSAID
    own = _ground(statement, known)
    # Who said nearly the same of themselves ("I prefer light mode") has not said what another said.
    if not own.supports(text) or own.share(text) < known.ground.share(text):
        return SAID_BY_OTHERS
    return None if rules.looks_like_instruction(text) else rules.is_noise(text)


def _ground(statement: Statement, known: Known) -> Ground:
    """Whose words count: about a person nobody else's, and neither for what corrects a record of theirs."""
    key = _target(statement, known)
    is_personal = statement.audience is ScopeKind.USER or (key is not None and kind_of(key) is ScopeKind.USER)
    return known.ground.by(known.turn.user_id) if is_personal else known.ground


def _target(statement: Statement, known: Known) -> str | None:
    """The scope of the record that is corrected or restated."""
    return known.scope_of.get(statement.supersedes or statement.restates or "")


def _place(statement: Statement, known: Known, rules: Rules, plan: Plan) -> None:
    if statement.restates in {record.id for record in known.recalled} or _echoes(statement, known):
        plan.restated += 1
        return
    to = route(statement.audience, known.origin, _target(statement, known))
    if to is None:
        plan.refused[NO_SCOPE] += 1
    elif statement.restates and not statement.supersedes and not to.keeps_pointer:
        plan.restated += 1
    else:
        _write_down(statement, to, known, rules, plan)


def _write_down(statement: Statement, to: Route, known: Known, rules: Rules, plan: Plan) -> None:
    if to.is_narrowed:
        plan.narrowed[f"{known.origin.visibility}_{statement.audience}"] += 1
    candidate = _candidate(statement, to, known)
    if rules.looks_like_instruction(statement.text):
        plan.held.append((to.scope_key, candidate))
    else:
        plan.routed.append((to.scope_key, candidate))


def _echoes(statement: Statement, known: Known) -> bool:
    """Whether memory itself said it, word by word, earlier in the conversation."""
    return not statement.supersedes and any(same_words(statement.text, record) for record in known.recalled)


def _candidate(statement: Statement, to: Route, known: Known) -> MemoryCandidate:
    turn = known.turn
    said = _ground(statement, known).source(statement.text)
    supersedes = statement.supersedes if to.keeps_pointer else None
    restates = statement.restates if to.keeps_pointer and not supersedes else None
    same = known.same(statement.text, to.scope_key) if not supersedes and not restates else None
    return MemoryCandidate(
        "fact",
        statement.text,
        turn.thread_key,
        statement.keywords,
        turn.run_id,
        source_user=said.user_id if said else None,
        author=said.author if said else None,
        confidence=statement.confidence,
        supersedes=supersedes,
        restates=same.id if same else restates,
        is_standing=kind_of(to.scope_key) is ScopeKind.USER and _is_standing(statement, said),
    )


def _is_standing(statement: Statement, said: Sentence | None) -> bool:
    """Whether it is a person's wish for every answer: by its words, by theirs, or by the model's hint."""
    is_wish = statement.is_standing or wishes_for_good(statement.text) or (said is not None and said.is_standing)
    return statement.audience is ScopeKind.USER and is_wish and len(statement.text) <= STANDING_CHARS


def _sum_up(text: str, statements: Sequence[Statement], known: Known, rules: Rules, plan: Plan) -> None:
    """One summary for a thread, told anew only when there is news; it goes no wider than any fact of it."""
    audiences = [each.audience for each in statements] + [kind_of(key) for key, _ in plan.routed]
    to = route(summary_audience(audiences), known.origin)
    if to is None or is_husk(text) or not known.ground.supports(text):
        plan.refused["summary"] += 1
        return
    last = known.summaries.get(to.scope_key)
    is_news = plan.has_news() or (last is None and not plan.restated and not plan.routed)
    if not is_news or known.same(text, to.scope_key) is not None:
        return
    if to.is_narrowed:
        plan.narrowed[f"{known.origin.visibility}_summary"] += 1
    turn = known.turn
    candidate = MemoryCandidate(
        "summary", text, turn.thread_key, source_run_id=turn.run_id, supersedes=last.id if last else None
    )
    (plan.held if rules.looks_like_instruction(text) else plan.routed).append((to.scope_key, candidate))


def _batches(routed: Sequence[tuple[str, MemoryCandidate]]) -> tuple[Batch, ...]:
    """One for each scope, in the order they were first named."""
    keys = dict.fromkeys(key for key, _ in routed)
    return tuple(Batch(key, tuple(each for to, each in routed if to == key)) for key in keys)


def is_husk(text: str) -> bool:
    """Whether it says only that there is a secret: ``The password: «password»``."""
    rest, marks = MARK.subn(" ", text)
    if not marks:
        return False
    empty = {term for word in _WORD.findall(rest) if _names_a_secret(word) for term in telling(word)}
    return all(term in empty or term in STOP_WORDS for term in telling(rest))


def _names_a_secret(word: str) -> bool:
    parts = parts_of(word)
    return word.casefold() in _BESIDE or (
        bool(parts) and all(is_secret_word(each) or each in _BESIDE for each in parts)
    )

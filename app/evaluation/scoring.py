"""What memory holds after a conversation, compared with what was expected of it: precision, recall, and whose fault.

A fact that no model named was missed by the model; one that was named and is not kept was lost by the pipeline, and so
is what is kept although it must not be.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.evaluation.script import Category, Conversation, Unwanted, Wanted
from memory.folding import folded
from memory.scope import ScopeKind


@dataclass(frozen=True, slots=True)
class Stored:
    """A record that the conversation has brought."""

    scope: ScopeKind
    text: str
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one conversation."""

    ending: str
    """Of the pass, and why."""
    is_answered: bool
    """A model was asked and its answer was usable."""
    named: tuple[str, ...] = ()
    """The facts the model named."""
    kept: tuple[Stored, ...] = ()
    retired: tuple[str, ...] = ()
    """The texts of known records that are no longer active."""


@dataclass(frozen=True, slots=True)
class Score:
    """One conversation's. The texts are those of the conversation's script, but for ``surplus`` and ``leaked``."""

    conversation: Conversation
    ending: str
    is_answered: bool
    kept: int
    """Facts that are kept."""
    missing: tuple[str, ...] = ()
    """Facts that are not kept where they belong."""
    surplus: tuple[str, ...] = ()
    """Texts that are kept and answer to no expected fact, or to one that another text answers to already."""
    lost: tuple[str, ...] = ()
    """Facts that the model named and that are kept nowhere."""
    let_through: tuple[str, ...] = ()
    """Texts that are kept although it was written down that they must not be."""
    unretired: tuple[str, ...] = ()
    """Known records that should have been corrected."""
    retired_wrongly: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()
    """Texts of records with a secret in them."""
    summary_fault: str | None = None

    @property
    def right(self) -> int:
        return self.due - len(self.missing)

    @property
    def due(self) -> int:
        return len(self.conversation.wanted)

    @property
    def fitting(self) -> int:
        """Kept texts that answer to expected facts; one of them may answer to several."""
        return self.kept - len(self.surplus)

    @property
    def corrections_due(self) -> int:
        return sum(each.corrects is not None for each in self.conversation.wanted)

    @property
    def is_sound(self) -> bool:
        """The pipeline has done its own part, whatever the model named."""
        return not (self.lost or self.let_through or self.leaked)

    @property
    def is_exact(self) -> bool:
        """Everything is as it was written down, as it must be when the model makes no mistake."""
        faults = (self.missing, self.surplus, self.unretired, self.retired_wrongly)
        is_as_asked = self.is_answered == self.conversation.is_asked
        return self.is_sound and is_as_asked and not any(faults) and self.summary_fault is None


@dataclass(frozen=True, slots=True)
class Figures:
    """Several conversations' sums."""

    conversations: int
    due: int
    right: int
    kept: int
    fitting: int

    @property
    def precision(self) -> float | None:
        """The share of what is kept that was expected; ``None`` when nothing is kept."""
        return self.fitting / self.kept if self.kept else None

    @property
    def recall(self) -> float | None:
        """The share of what was expected that is kept; ``None`` when nothing was expected."""
        return self.right / self.due if self.due else None


def score(conversation: Conversation, result: Result) -> Score:
    facts = [each for each in result.kept if not each.is_summary]
    answered, surplus = _answered(conversation.wanted, facts)
    due = {each.corrects for each in conversation.wanted if each.corrects is not None}
    return Score(
        conversation,
        result.ending,
        result.is_answered,
        len(facts),
        missing=tuple(each.text for each in conversation.wanted if each not in answered),
        surplus=tuple(each.text for each in surplus),
        lost=tuple(each.text for each in conversation.wanted if _is_lost(each, result.named, facts)),
        let_through=tuple(each.text for each in surplus if _is_refused(each.text, conversation.unwanted)),
        unretired=tuple(sorted(due - {*result.retired})),
        retired_wrongly=tuple(each for each in result.retired if each not in due),
        leaked=tuple(each.text for each in result.kept if any(secret in each.text for secret in conversation.never)),
        summary_fault=_summary_fault(conversation.summary, [each for each in result.kept if each.is_summary]),
    )


def figures(scores: Iterable[Score]) -> Figures:
    counted = [*scores]
    return Figures(
        len(counted),
        sum(each.due for each in counted),
        sum(each.right for each in counted),
        sum(each.kept for each in counted),
        sum(each.fitting for each in counted),
    )


def by_category(scores: Sequence[Score]) -> dict[Category, Figures]:
    """In the categories' order, without those that no conversation has."""
    found = {each.conversation.category for each in scores}
    return {
        category: figures(each for each in scores if each.conversation.category is category)
        for category in Category
        if category in found
    }


def says(text: str, words: str) -> bool:
    """Whether ``text`` has every one of ``words``, of which ``a|b`` stands for either, as beginnings of words."""
    plain = folded(text).casefold()
    return all(any(_begins(plain, each) for each in word.split("|")) for word in words.split())


def _begins(plain: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(folded(word).casefold())}", plain) is not None


def _answered(wanted: Sequence[Wanted], facts: Sequence[Stored]) -> tuple[list[Wanted], list[Stored]]:
    """The expected facts that are kept where they belong, and the kept texts that are left over.

    A text that says two things answers to both of them.
    """
    answered: list[Wanted] = []
    surplus: list[Stored] = []
    for fact in facts:
        met = [
            each for each in wanted if each not in answered and each.scope is fact.scope and says(fact.text, each.words)
        ]
        answered += met
        if not met:
            surplus.append(fact)
    return answered, surplus


def _is_lost(wanted: Wanted, named: Sequence[str], facts: Sequence[Stored]) -> bool:
    is_named = any(says(text, wanted.words) for text in named)
    return is_named and not any(says(each.text, wanted.words) for each in facts)


def _is_refused(text: str, unwanted: Sequence[Unwanted]) -> bool:
    return any(says(text, each.words) for each in unwanted if not each.is_judgement)


def _summary_fault(wanted: Wanted | None, summaries: Sequence[Stored]) -> str | None:
    """Only a conversation that expects a summary says something about it."""
    if wanted is None:
        return None
    found = [each.scope for each in summaries]
    return None if found == [wanted.scope] else f"summaries in {found}, expected one in {wanted.scope}"

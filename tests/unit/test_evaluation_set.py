"""The scripted conversations, and the write path's own part in them."""

import pytest

from app.evaluation.perfect import Perfect
from app.evaluation.running import RULES, Case, reflected, run
from app.evaluation.scoring import Stored, figures, says, score
from app.evaluation.script import BOT, Category, Conversation
from app.evaluation.scripts import CONVERSATIONS
from memory.extracted import Answer
from memory.extraction import Prompt
from memory.learning import Rules
from memory.reflector import ExtractionError

LEAST = 40
OPEN: dict[str, str] = {}
"""Faults of the write path that the set has found and that are not mended, by conversation, and what they are."""


def by_name(name: str) -> object:
    marks = [pytest.mark.xfail(strict=True, reason=OPEN[name])] if name in OPEN else []
    return pytest.param(next(each for each in CONVERSATIONS if each.name == name), id=name, marks=marks)


@pytest.mark.parametrize("conversation", [by_name(each.name) for each in CONVERSATIONS])
async def test_nothing_that_is_to_be_kept_is_lost_and_nothing_that_is_to_be_refused_is_kept(
    conversation: Conversation,
) -> None:
    """Specification, sections 9 to 14 and 23, with a model that names exactly the one and the other."""
    result = await reflected(conversation, Perfect)
    found = score(conversation, result)
    assert found.is_exact, found
    due = [Stored(each.scope, each.text) for each in conversation.wanted]
    assert sorted(each.text for each in result.kept if not each.is_summary) == sorted(each.text for each in due)
    assert {each for each in result.kept if not each.is_summary} == set(due)


def test_the_set_is_large_covers_everything_and_contradicts_itself_nowhere() -> None:
    assert len(CONVERSATIONS) >= LEAST
    assert {each.category for each in CONVERSATIONS} == set(Category)
    assert len({each.name for each in CONVERSATIONS}) == len(CONVERSATIONS)
    for conversation in CONVERSATIONS:
        known = {each.text for each in conversation.known}
        pointers = [each.corrects for each in (*conversation.wanted, *conversation.unwanted)]
        pointers += [each.restates for each in conversation.unwanted]
        assert {each for each in pointers if each is not None} <= known, conversation.name
        for expected in (*conversation.wanted, *conversation.unwanted):
            assert says(expected.text, expected.words), expected
        for wanted in conversation.wanted:
            assert not any(says(wanted.text, each.words) for each in conversation.unwanted), wanted


def test_several_people_talk_in_one_thread_and_in_three_languages() -> None:
    talking = [{each.who for each in (*one.before, *one.said)} - {BOT} for one in CONVERSATIONS]
    assert max(map(len, talking)) >= 3
    words = " ".join(each.text for one in CONVERSATIONS for each in one.said)
    assert "Wir " in words
    assert "Nous " in words


async def test_without_its_rules_the_same_set_finds_noise_orders_and_secrets_in_memory() -> None:
    """So the exactness above is not the set's."""
    lax = Rules(str, lambda _: None, lambda _: False)
    scores = await run(CONVERSATIONS, Perfect, lax)
    faulty = {each.conversation.category for each in scores if each.let_through or each.leaked}
    assert {Category.NOISE, Category.SAFETY} <= faulty
    assert any(each.leaked for each in scores)
    strict = await run(CONVERSATIONS, Perfect, Rules(RULES.redact, lambda _: "all of it", RULES.looks_like_instruction))
    assert any(each.lost for each in strict)


class Silent:
    """A model that brings no answer."""

    def __init__(self, case: Case) -> None:
        self.case = case

    async def __call__(self, prompt: Prompt) -> Answer:
        raise ExtractionError("busy")


class Babbling(Silent):
    """A model that does not answer what it is asked."""

    async def __call__(self, prompt: Prompt) -> Answer:
        return Answer("I would rather not.")


@pytest.mark.parametrize("extractor", [Silent, Babbling])
async def test_a_model_without_a_usable_answer_keeps_nothing_and_that_is_told(extractor: type[Silent]) -> None:
    scores = await run(CONVERSATIONS, extractor)
    assert figures(scores).kept == 0
    assert not any(each.is_answered for each in scores)
    assert all(each.is_sound for each in scores), "what nobody named the write path cannot lose"

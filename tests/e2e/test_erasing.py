"""What is erased is quoted no more and in no file: one record, all of a person's own, and what a thread taught."""

import asyncio
import re
from pathlib import Path

import pytest

from app.playground.server import Playground
from config.settings import Settings
from tests.e2e.conftest import ADA, ALICE, BOB, GENERAL, MENTION, running
from tests.e2e.test_learning import Talk, learning, settings_of
from tests.fakes import ScriptedProvider
from tests.reflection_house import a_fact, answer_of

SAID = f"{MENTION} We store our invoices in the chartreuse bucket"
QUESTION = f"{MENTION} where do we store our invoices?"
OWN_SAID = f"{MENTION} I always prefer short answers in furlongs"
OWN_QUESTION = f"{MENTION} what do you know about short answers?"


def in_files(playground: Playground) -> Settings:
    """Memory in files, curated by Ada."""
    settings = settings_of(playground, store="sqlite")
    return settings.model_copy(update={"access": settings.access.model_copy(update={"admins": (ADA,)})})


def kept(settings: Settings, word: str) -> set[Path]:
    """The files of memory with the word in them."""
    files = [each for each in (settings.data_dir / "memory").rglob("*") if each.is_file()]
    return {each for each in files if word.encode() in each.read_bytes()}


async def test_an_erased_record_is_quoted_no_more_and_leaves_no_byte(playground: Playground) -> None:
    settings = in_files(playground)
    async with learning(settings) as application:
        talk = Talk(playground, application)
        await talk.says(SAID)
        assert "chartreuse" in await talk.says(QUESTION, user=BOB)
        assert kept(settings, "chartreuse")
        listed = await talk.says(f"{MENTION} memory list org", user=ADA)
        ids = re.findall(r"mem:org:\S+?:\d+", listed)
        assert ids
        assert "needs an admin" in await talk.says(f"{MENTION} memory erase {ids[0]}", user=BOB)
        for record_id in ids:
            told = await talk.says(f"{MENTION} memory erase {record_id}", user=ADA)
            assert "Erased 1 record for good" in told
            assert "chartreuse" not in told
        assert kept(settings, "chartreuse") == set()
        assert "chartreuse" not in await talk.says(QUESTION, user=BOB)
    assert kept(settings, "chartreuse") == set()


async def test_a_person_erases_all_of_their_own_and_nothing_of_others(playground: Playground) -> None:
    settings = in_files(playground)
    async with learning(settings) as application:
        talk = Talk(playground, application)
        await talk.says(OWN_SAID)
        await talk.says(SAID)
        await talk.says(f"{MENTION} I always prefer short answers in parsecs", user=BOB)
        assert "furlongs" in await talk.says(OWN_QUESTION)
        asked = await talk.says(f"{MENTION} memory erase me")
        assert "Nothing has been erased yet" in asked
        assert kept(settings, "furlongs")
        assert f"Erased all of `user:slack:{ALICE}` for good" in await talk.says(f"{MENTION} memory erase me --yes")
        assert kept(settings, "furlongs") == set()
        assert "furlongs" not in await talk.says(OWN_QUESTION)
        assert "parsecs" in await talk.says(OWN_QUESTION, user=BOB)
        assert "chartreuse" in await talk.says(QUESTION)


async def test_what_a_thread_taught_is_erased_from_everybodys_memory(playground: Playground) -> None:
    settings = in_files(playground)
    async with learning(settings) as application:
        talk = Talk(playground, application)
        root = playground.people.say(ALICE, GENERAL, OWN_SAID)
        await playground.answer(GENERAL, root.ts)
        await talk.rest()
        await talk.says(SAID, root=root)
        assert "furlongs" in await talk.says(OWN_QUESTION)
        assert "chartreuse" in await talk.says(QUESTION, user=BOB)
        assert "needs an admin" in await talk.says(f"{MENTION} memory erase thread --yes", root=root)
        told = await talk.says(f"{MENTION} memory erase thread --yes", user=ADA, root=root)
        assert "Erased for good what was learned from this conversation" in told
        assert kept(settings, "furlongs") | kept(settings, "chartreuse") == set()
        assert "furlongs" not in await talk.says(OWN_QUESTION)
        assert "chartreuse" not in await talk.says(QUESTION, user=BOB)


async def test_what_was_erased_is_not_learned_anew_from_what_the_conversation_said_before(
    playground: Playground,
) -> None:
    settings = in_files(playground)
    more = f"{MENTION} We deploy the billing service from the release branch"
    async with learning(settings) as application:
        talk = Talk(playground, application)
        roots = [playground.people.say(ALICE, GENERAL, said) for said in (OWN_SAID, SAID)]
        for root in roots:
            await playground.answer(GENERAL, root.ts)
        await talk.rest()
        await talk.says(f"{MENTION} memory erase me --yes", root=roots[0])
        await talk.says(f"{MENTION} memory erase thread --yes", user=ADA, root=roots[1])
        for root in roots:
            await talk.says(more, root=root)
        assert kept(settings, "furlongs") | kept(settings, "chartreuse") == set()
        assert "release branch" in await talk.says(f"{MENTION} where do we deploy the billing service from?")


@pytest.mark.parametrize("what", ["me", "thread"])
async def test_what_is_just_being_learned_comes_to_nothing(playground: Playground, what: str) -> None:
    settings, looking = in_files(playground), asyncio.Event()
    fact = a_fact("This user always prefers short answers in furlongs", audience="user")
    provider = ScriptedProvider(["Noted."], [looking, answer_of(fact)], ["After."])
    async with running(playground, settings, provider) as bot:
        talk = Talk(playground, bot.application)
        root = playground.people.say(ADA, GENERAL, OWN_SAID)
        await playground.answer(GENERAL, root.ts)
        await playground.wait_for(lambda: len(provider.requests) == 2)
        playground.people.say(ADA, GENERAL, f"{MENTION} memory erase {what} --yes", thread_ts=root.ts)
        await playground.wait_for(lambda: len(talk.answers(root)) == 2)
        assert "There was nothing to erase" in playground.answer_text(GENERAL, root.ts)
        looking.set()
        await talk.rest()
        assert kept(settings, "furlongs") == set()


async def test_what_was_forgotten_or_taken_back_is_not_learned_anew_either(playground: Playground) -> None:
    settings = in_files(playground)
    async with learning(settings) as application:
        talk = Talk(playground, application)
        roots = [playground.people.say(ALICE, GENERAL, said) for said in (OWN_SAID, SAID)]
        for root in roots:
            await playground.answer(GENERAL, root.ts)
        await talk.rest()
        listed = await talk.says(f"{MENTION} memory list me")
        for record_id in re.findall(r"mem:user:\S+?:\d+", listed):
            await talk.says(f"{MENTION} memory forget {record_id}")
        call = await playground.calls.wait_for(
            lambda call: call.method == "chat.postEphemeral" and "everyone here" in str(call.args)
        )
        assert call.answer is not None
        await playground.people.click(ALICE, GENERAL, str(call.answer["message_ts"]), "memory_undo")
        await talk.rest()
        for root in roots:
            await talk.says(f"{MENTION} We deploy the billing service from the release branch", root=root)
        assert "furlongs" not in await talk.says(OWN_QUESTION)
        assert "chartreuse" not in await talk.says(QUESTION, user=BOB)

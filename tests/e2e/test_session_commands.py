"""What people do with a conversation by name, in its thread."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.dispatch import wording
from app.playground.model import Message
from app.playground.server import Playground
from tests.e2e.conftest import ALICE, BOB, BOT, GENERAL, MENTION, Bot, hasty, running, settings_of
from tests.fakes import ScriptedProvider


@pytest.fixture
async def talk(playground: Playground) -> AsyncIterator[Bot]:
    """A bot that says how many questions it was asked."""
    provider = ScriptedProvider(["one"], ["two"], ["three"], ["four"])
    async with running(playground, settings_of(playground, "socket"), provider) as bot:
        yield bot


def prompt(bot: Bot) -> list[str]:
    """What the model was shown of the conversation last."""
    return [turn.text for turn in bot.provider.requests[-1].messages]


async def told(bot: Bot, root: Message, words: str, *, user: str = ALICE) -> str:
    """What the bot answers to ``words`` in the thread."""
    before = len(bot.answers(root))
    text = bot.text(root)
    bot.say(words, user=user, thread_ts=root.ts)
    await bot.rest(lambda: len(bot.answers(root)) > before)
    return bot.text(root).removeprefix(text)


async def test_a_new_session_forgets_what_was_said_and_the_earlier_one_can_be_resumed(talk: Bot) -> None:
    root = talk.say(f"{MENTION} the code is 7")
    await talk.answered(root)
    assert "new session begins" in await told(talk, root, "!new")
    assert await told(talk, root, "what is the code?") == "two"
    assert prompt(talk) == ["alice: what is the code?"]
    listed = await told(talk, root, "!resume")
    assert "the code is 7" in listed
    assert "Back in" in await told(talk, root, "!resume 1")
    await told(talk, root, "and now?")
    assert prompt(talk) == ["alice: the code is 7", "one", "alice: and now?"]


async def test_what_is_taken_back_is_unknown_and_what_is_tried_again_is_answered_anew(talk: Bot) -> None:
    root = talk.say(f"{MENTION} first")
    await talk.answered(root)
    await told(talk, root, "second")
    assert "Took back 1 turn" in await told(talk, root, "!undo")
    await told(talk, root, "third")
    assert prompt(talk) == ["alice: first", "one", "alice: third"]
    before = len(talk.answers(root))
    talk.say("!retry", thread_ts=root.ts)
    await talk.rest(lambda: len(talk.answers(root)) == before + 2)
    assert talk.text(root).endswith("four")
    assert prompt(talk) == ["alice: first", "one", "alice: third"]


async def test_what_is_tried_again_is_asked_as_it_was(talk: Bot) -> None:
    root = talk.say(f"{MENTION} effort:high first")
    await talk.answered(root)
    talk.say("!retry", thread_ts=root.ts)
    await talk.rest(lambda: talk.text(root).endswith("two"))
    assert talk.provider.requests[-1].effort == "high"
    assert prompt(talk) == ["alice: first"]


async def test_what_was_queued_by_name_stands_in_its_place_in_the_next_process(playground: Playground) -> None:
    settings = settings_of(playground, "socket")
    provider = ScriptedProvider([asyncio.Event()], ["first"], ["queued"], ["after"])
    async with running(playground, hasty(settings), provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: len(provider.requests) == 1)
        bot.say("!queue effort:high 2", thread_ts=root.ts)
        await playground.wait_for(lambda: "In line, 1 message before it" in bot.text(root))
        bot.say(f"{MENTION} 3", thread_ts=root.ts)
        await playground.wait_for(lambda: bot.calls("chat.postEphemeral") == 1)
        whisper = str(playground.calls.of("chat.postEphemeral")[-1].args["text"])
        assert whisper == wording.waiting(2)
    async with running(playground, settings, provider) as bot:
        await bot.rest(lambda: bot.text(root).endswith("after"))
        texts = [request.messages[-1].text for request in provider.requests]
        assert texts == [f"alice: {number}" for number in (1, 1, 2, 3)]
        assert provider.requests[2].effort == "high"


async def test_stop_ends_the_answer_and_a_queued_text_is_a_turn_of_its_own(playground: Playground) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()], ["queued"])
    async with running(playground, settings_of(playground, "socket"), provider) as bot:
        root = bot.say(f"{MENTION} first")
        await playground.wait_for(lambda: "Let me think" in bot.text(root))
        bot.say("!queue and then?", thread_ts=root.ts)
        await playground.wait_for(lambda: "In line, 1 message before it" in bot.text(root))
        bot.say("!stop", thread_ts=root.ts)
        await bot.rest(lambda: bot.text(root).endswith("queued"))
        assert "Stopped 1 turn" not in bot.text(root)
        assert bot.text(root).count(wording.STOPPED) == 1, "the answer that was stopped says so, and once is enough"
        assert prompt(bot)[-1].endswith("alice: and then?")


async def test_stop_says_what_it_did_where_the_answer_it_stopped_is_not_seen(playground: Playground) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()])
    async with running(playground, settings_of(playground, "socket"), provider) as bot:
        root = bot.say(f"{MENTION} first")
        await playground.wait_for(lambda: "Let me think" in bot.text(root))
        elsewhere = bot.say(f"{MENTION} !stop")
        await bot.rest(lambda: bot.text(elsewhere) == "🛑 Stopped 1 turn.")
        assert bot.text(root) == f"Let me think{wording.STOPPED}"
        assert await told(bot, elsewhere, "!stop") == "Nothing of yours or of this thread is under way."


async def test_a_new_session_in_mid_answer_stops_it_and_drops_what_waits(playground: Playground) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()], ["fresh"])
    async with running(playground, settings_of(playground, "socket"), provider) as bot:
        root = bot.say(f"{MENTION} first")
        await playground.wait_for(lambda: "Let me think" in bot.text(root))
        bot.say(f"{MENTION} waits", thread_ts=root.ts)
        await playground.wait_for(lambda: bot.calls("chat.postEphemeral") == 1)
        bot.say("!new", thread_ts=root.ts)
        await bot.rest(lambda: "new session begins" in bot.text(root) and wording.CLEARED in bot.text(root))
        shown = bot.text(root).replace(wording.CLEARED, "")
        assert shown.startswith("Let me think🆕 A new session begins here")
        assert shown.endswith("I stopped 1 turn. 1 waiting message will not be answered."), "once is enough"
        assert await told(bot, root, "hello") == "fresh"
        assert prompt(bot) == ["alice: hello"]


async def test_how_a_conversation_stands_and_what_it_took_is_told_without_guessing(talk: Bot) -> None:
    """Acceptance test 20 of a gateway: a cost without a price is unknown, not zero."""
    root = talk.say(f"{MENTION} first")
    await talk.answered(root)
    assert "The launch" in await told(talk, root, "!title The launch")
    status = await told(talk, root, "!status")
    assert "The launch" in status
    assert "unknown" in status
    usage = await told(talk, root, "!usage")
    assert "unknown" in usage
    assert "$0" not in usage


async def test_a_new_session_is_answered_without_the_effort_that_was_set_for_the_one_before(talk: Bot) -> None:
    root = talk.say(f"{MENTION} first")
    await talk.answered(root)
    await told(talk, root, "!config set effort high --layer thread")
    await told(talk, root, "second")
    assert talk.provider.requests[-1].effort == "high"
    assert "No effort is set for this conversation any more." in await told(talk, root, "!new")
    await told(talk, root, "third")
    assert talk.provider.requests[-1].effort != "high"


async def test_all_but_the_last_turn_is_summarised_once_it_was_looked_at(talk: Bot) -> None:
    root = talk.say(f"{MENTION} first")
    await talk.answered(root)
    await told(talk, root, "second")
    looked = await told(talk, root, "!compress here 1 --preview")
    assert "2 messages (about " in looked
    assert "Nothing has changed." in looked
    assert len(talk.provider.requests) == 2
    assert "A summary stands for 2 messages now" in await told(talk, root, "!compress here 1")
    await told(talk, root, "third")
    notes, *after = prompt(talk)
    assert "three" in notes, "what the model has written as the summary"
    assert notes.endswith("alice: second")
    assert after == ["two", "alice: third"]


async def test_a_conversation_that_no_model_can_summarise_is_told_to_go_on_from_how_its_messages_begin(
    talk: Bot,
) -> None:
    root = talk.say(f"{MENTION} first. And more of it.")
    await talk.answered(root)
    await told(talk, root, "second")
    talk.provider.play([""], [""], ["three"])
    assert "Nothing was changed" in await told(talk, root, "!compress here 1")
    done = await told(talk, root, "!compress here 1")
    assert done.startswith("✂️ The model could not summarise 2 messages, so I kept only the beginning of each.")
    assert "The rest (2 messages) stays as it is" in done
    await told(talk, root, "third")
    assert "- alice: first.\n- assistant: one" in prompt(talk)[0]
    assert "And more of it" not in prompt(talk)[0]


async def test_those_who_have_spoken_are_told_what_it_was_about_last(talk: Bot) -> None:
    root = talk.say(f"{MENTION} first", user=ALICE)
    await talk.answered(root)
    status = await told(talk, root, "!status", user=ALICE)
    assert "last question: `first`" in status
    assert "answer: `one`" in status
    assert "last question" not in await told(talk, root, "!status", user=BOB)
    assert "model calls: 1" in await told(talk, root, "!usage", user=BOB)


async def test_only_the_people_of_a_conversation_change_it(talk: Bot) -> None:
    root = talk.say(f"{MENTION} first", user=ALICE)
    await talk.answered(root)
    assert "Ask " in await told(talk, root, "!new", user=BOB) or "people" in talk.text(root)
    await told(talk, root, "second", user=ALICE)
    assert prompt(talk)[0] == "alice: first", "nothing was begun anew"


async def test_a_model_and_an_effort_can_be_asked_for_set_and_cleared(talk: Bot) -> None:
    root = talk.say(f"{MENTION} effort:high first")
    await talk.answered(root)
    assert talk.provider.requests[-1].effort == "high"
    assert prompt(talk) == ["alice: first"]
    assert "effort" in await told(talk, root, "!config set effort low --layer thread")
    await told(talk, root, "second")
    assert talk.provider.requests[-1].effort == "low"
    shown = await told(talk, root, "!config show")
    assert "low" in shown
    assert "set for this conversation" in shown
    await told(talk, root, "!config clear effort --layer thread")
    await told(talk, root, "third")
    assert talk.provider.requests[-1].effort is None
    assert "takes low, medium or high" in await told(talk, root, "effort:extreme fourth")


async def test_a_persons_instructions_are_advice_in_the_prompt(talk: Bot) -> None:
    dm = talk.playground.people.open_dm(ALICE, BOT)
    root = talk.say("!config instructions Answer in German.", channel=dm.id)
    await talk.rest(lambda: len(talk.answers(root)) == 1)
    asked = talk.say(f"{MENTION} hello", channel=GENERAL)
    await talk.answered(asked)
    assert any("Answer in German." in part for part in talk.provider.requests[-1].system)

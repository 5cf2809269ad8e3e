"""Who is answered, where, and once."""

import asyncio

import pytest
import structlog

from app.playground.server import Playground
from app.slack.calls import SlackCalls, web_client
from app.slack.messages import EVENT_MALFORMED
from tests.e2e.conftest import ALICE, BOB, BOT, DEPLOYS, GENERAL, LEADS, MENTION, Bot, running, settings_of
from tests.fakes import ScriptedProvider


async def test_a_mention_is_answered_once_in_its_thread_although_it_arrives_as_two_events(bot: Bot) -> None:
    root = bot.say(f"{MENTION} hello")
    assert await bot.answered(root) == "Hello there."
    assert all(message.thread_ts == root.ts for message in bot.answers(root))
    events = {entry.event_type for entry in bot.playground.delivery.log}
    assert {"app_mention", "message"} <= events
    assert len(bot.provider.requests) == 1


async def test_either_event_of_a_mention_may_come_first(bot: Bot) -> None:
    bot.playground.delivery.reorder_next(2)
    root = bot.say(f"{MENTION} hello")
    assert await bot.answered(root) == "Hello there."
    order = [e.event_type for e in bot.playground.delivery.log if e.payload["event"].get("ts") == root.ts]
    assert order[:2] == ["message", "app_mention"]
    assert len(bot.provider.requests) == 1


async def test_every_message_of_a_dm_is_answered(bot: Bot) -> None:
    dm = bot.playground.people.open_dm(ALICE, BOT)
    first = bot.say("hello", channel=dm.id)
    assert await bot.answered(first) == "Hello there."
    second = bot.say("and again", channel=dm.id)
    assert await bot.answered(second) == "Hello there."
    third = bot.say("in the thread", channel=dm.id, thread_ts=first.ts)
    assert await bot.answered(first, times=2) == "Hello there.Hello there."
    assert third.thread_ts == first.ts


async def test_a_private_channel_is_answered_like_a_public_one(bot: Bot) -> None:
    root = bot.say(f"{MENTION} hello", user=BOB, channel=LEADS)
    assert await bot.answered(root) == "Hello there."


async def test_a_follow_up_needs_no_mention_and_the_model_sees_the_thread(bot: Bot) -> None:
    root = bot.say(f"{MENTION} hello")
    await bot.answered(root)
    bot.say("what about Friday?", user=BOB, thread_ts=root.ts)
    await bot.answered(root, times=2)
    turns = bot.provider.requests[1].messages
    assert [turn.text for turn in turns] == ["alice: hello", "Hello there.", "bob: what about Friday?"]


async def test_a_model_hears_of_files_in_a_thread_it_comes_into(bot: Bot) -> None:
    file = bot.playground.people.upload(BOB, "plan.pdf", b"%PDF")
    root = bot.playground.people.say(BOB, GENERAL, "", files=(file.id,))
    bot.say(f"{MENTION} what does it say?", thread_ts=root.ts)
    await bot.answered(root)
    ((turn,),) = (request.messages for request in bot.provider.requests)
    assert turn.text.startswith("bob: [A file came with this message. You cannot read files")
    assert turn.text.endswith("alice: what does it say?")


async def test_a_follow_up_is_recognised_after_a_restart_from_the_thread_itself(
    playground: Playground, mode: str
) -> None:
    settings = settings_of(playground, mode)
    async with running(playground, settings, ScriptedProvider(["Before."])) as before:
        root = before.say(f"{MENTION} hello")
        await before.answered(root)
    async with running(playground, settings, ScriptedProvider(["After."])) as after:
        after.say("still there?", thread_ts=root.ts)
        assert await after.answered(root, times=2) == "Before.After."


async def test_a_thread_of_other_people_is_left_alone(bot: Bot) -> None:
    root = bot.say("lunch?", user=BOB)
    bot.say("yes!", thread_ts=root.ts)
    probe = bot.say(f"{MENTION} hello")
    await bot.answered(probe)
    await bot.rest(lambda: bot.calls("conversations.replies") >= 1)
    assert bot.answers(root) == []
    assert len(bot.provider.requests) == 1


async def test_a_mention_in_somebody_elses_thread_is_answered_there(bot: Bot) -> None:
    root = bot.say("which day?", user=BOB)
    bot.say(f"{MENTION} do you know?", thread_ts=root.ts)
    assert await bot.answered(root) == "Hello there."
    assert bot.provider.requests[0].messages[0].text == "bob: which day?\n\nalice: do you know?"


async def test_a_redelivered_event_is_answered_once(bot: Bot) -> None:
    """Acceptance test 1 of a gateway."""
    bot.playground.delivery.duplicate_next(2)
    root = bot.say(f"{MENTION} hello")
    await bot.answered(root)
    copies = [e for e in bot.playground.delivery.log if e.payload["event"].get("ts") == root.ts]
    assert len(copies) == 4
    assert len({e.event_id for e in copies}) == 2
    assert bot.text(root) == "Hello there."
    assert len(bot.provider.requests) == 1


async def test_machines_edits_and_deletions_start_nothing(bot: Bot) -> None:
    people = bot.playground.people
    deploybot = SlackCalls(web_client(None, api_url=bot.playground.api_url, token="xoxb-playground-deploybot"))
    await deploybot.call("chat.postMessage", {"channel": DEPLOYS, "text": f"{MENTION} deployed"})
    plain = bot.say("a typo")
    people.edit(ALICE, GENERAL, plain.ts, f"{MENTION} an edit")
    people.delete(ALICE, GENERAL, plain.ts)
    people.react(ALICE, GENERAL, bot.say("react to me").ts, "tada")
    probe = bot.say(f"{MENTION} hello")
    await bot.answered(probe)
    assert len(bot.provider.requests) == 1


async def test_unknown_and_malformed_events_are_acknowledged_and_the_bot_goes_on(bot: Bot) -> None:
    delivery = bot.playground.delivery
    with structlog.testing.capture_logs() as lines:
        unknown = delivery.send_event({"type": "never_heard_of", "event_ts": "1.1"})
        broken = delivery.send_event({"type": "message", "text": "no channel, no ts"})
        typeless = delivery.send_event({"type": None})
        halting = delivery.send_event({"type": "agent_session_stopped", "channel": "C1"})
        revoked = delivery.send_event({"type": "tokens_revoked", "tokens": {"bot": ["U1"]}})

        def acknowledged() -> bool:
            acked = {entry.event_id for entry in delivery.log if entry.acked_at is not None}
            return {unknown, broken, typeless, halting, revoked} <= acked

        await bot.rest(acknowledged)
    malformed = [line for line in lines if line["event"] == EVENT_MALFORMED]
    assert len(malformed) == 2
    assert "slack_withdrew" in {line["event"] for line in lines}
    assert len(malformed[0]["reference"]) == 8
    assert await bot.answered(bot.say(f"{MENTION} hello")) == "Hello there."


async def test_what_people_say_is_known_and_no_warning(bot: Bot) -> None:
    with structlog.testing.capture_logs() as lines:
        await bot.answered(bot.say(f"{MENTION} hello"))
        await bot.rest(lambda: bot.playground.delivery.under_way == 0)
    assert [line for line in lines if line["log_level"] == "warning"] == []


async def test_five_quick_messages_in_one_thread_are_answered_in_order(playground: Playground, mode: str) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(["0", gate], ["1"], ["2"], ["3"], ["4"])
    async with running(playground, settings_of(playground, mode), provider) as bot:
        root = bot.say(f"{MENTION} zero")
        await bot.playground.wait_for(lambda: bot.text(root) == "0")
        for number in ("one", "two", "three", "four"):
            bot.say(f"{MENTION} {number}", thread_ts=root.ts)
        gate.set()
        assert await bot.answered(root, times=5) == "01234"
        asked = [request.messages[-1].text.splitlines()[-1] for request in provider.requests]
    assert asked[0] == "alice: zero"
    assert sorted(asked) == sorted(f"alice: {n}" for n in ("zero", "one", "two", "three", "four"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [(f"{MENTION} " + "x" * 200_000, "200,000 characters"), (MENTION, "Ask me something")],
)
async def test_a_message_that_cannot_be_used_gets_a_sentence(bot: Bot, text: str, expected: str) -> None:
    root = bot.say(text)
    assert expected in await bot.answered(root)
    assert bot.provider.requests == []


async def test_emoji_alone_are_a_message(bot: Bot) -> None:
    dm = bot.playground.people.open_dm(ALICE, BOT)
    assert await bot.answered(bot.say(":tada: :rocket:", channel=dm.id)) == "Hello there."


async def test_status_and_help_are_answered_without_a_model(bot: Bot) -> None:
    status = await bot.answered(bot.say(f"{MENTION} status show"))
    assert "slack: connected" in status
    assert "offline/demo" in status
    assert "memory list" in await bot.answered(bot.say(f"{MENTION} help"))
    assert bot.provider.requests == []
    assert bot.calls("conversations.replies") == 0

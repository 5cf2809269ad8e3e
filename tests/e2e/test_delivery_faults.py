"""Whatever Slack does to the calls of an answer, a person reads it whole and once."""

import asyncio

import pytest
import structlog

from app.errors import ModelKeyError, ModelUnreachableError
from app.playground.faults import Fault, FaultKind
from app.playground.model import Message
from app.playground.server import Playground
from tests.e2e.conftest import ALICE, BOB, BOT, MENTION, Bot, Script, hasty, running, settings_of
from tests.fakes import ScriptedProvider


def fault(method: str, kind: FaultKind, **details: float | str) -> Fault:
    return Fault(method=method, kind=kind, **details)  # pyright: ignore[reportArgumentType] - each test names its own


async def answer_with(bot: Bot, *pieces: str | asyncio.Event) -> tuple[Message, list[asyncio.Event]]:
    """Ask, with a model that says ``pieces``; an event holds it back until set."""
    script: Script = pieces
    bot.provider.play(script)
    root = bot.say(f"{MENTION} hello")
    return root, [piece for piece in pieces if isinstance(piece, asyncio.Event)]


@pytest.mark.parametrize("kind", [FaultKind.DROP_AFTER, FaultKind.DROP_BEFORE, FaultKind.SERVER_ERROR])
@pytest.mark.parametrize(
    "method", ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage", "chat.update"]
)
async def test_a_call_whose_answer_is_lost_neither_loses_nor_doubles_text(
    bot: Bot, method: str, kind: FaultKind
) -> None:
    faults = bot.playground.faults
    if method in ("chat.postMessage", "chat.update"):
        faults.inject(fault("chat.startStream", FaultKind.REFUSED, error="not_allowed_token_type"))
    faults.inject(fault(method, kind))
    gate = asyncio.Event()
    root, _ = await answer_with(bot, "One two ", "three", gate, " four", " five.")
    await bot.playground.wait_for(lambda: bot.text(root).startswith("One two"))
    gate.set()
    assert await bot.answered(root) == "One two three four five."
    await bot.rest(lambda: faults.pending == 0)
    assert len(bot.answers(root)) == 1
    assert bot.text(root) == "One two three four five."


async def test_a_stream_that_expires_in_the_middle_goes_on_in_the_same_message(bot: Bot) -> None:
    gate = asyncio.Event()
    root, _ = await answer_with(bot, "Before", gate, " and after.")
    await bot.playground.wait_for(lambda: bot.text(root) == "Before")
    bot.playground.workspace.expire_streams()
    gate.set()
    await bot.rest(lambda: bot.text(root) == "Before and after.")
    assert len(bot.answers(root)) == 1


async def test_a_rate_limited_append_is_waited_out(bot: Bot) -> None:
    bot.playground.faults.inject(fault("chat.appendStream", FaultKind.RATE_LIMITED, retry_after_s=1))
    gate = asyncio.Event()
    root, _ = await answer_with(bot, "Before", gate, " and after.")
    await bot.playground.wait_for(lambda: bot.text(root) == "Before")
    gate.set()
    assert await bot.answered(root) == "Before and after."
    first, second = bot.playground.calls.of("chat.appendStream")
    assert first.status == 429
    assert second.at - first.at >= 0.95


@pytest.mark.parametrize(
    "error", ["missing_recipient_team_id", "missing_scope", "unknown_method", "team_access_not_granted"]
)
async def test_an_answer_that_may_not_stream_is_posted_and_edited(bot: Bot, error: str) -> None:
    bot.playground.faults.inject(fault("chat.startStream", FaultKind.REFUSED, error=error))
    gate = asyncio.Event()
    root, _ = await answer_with(bot, "Before", gate, " and after.")
    await bot.playground.wait_for(lambda: bot.text(root) == "Before")
    gate.set()
    await bot.rest(lambda: bot.text(root) == "Before and after.")
    assert len(bot.answers(root)) == 1
    assert bot.calls("chat.update") >= 1


async def test_streams_beyond_the_rate_are_ordinary_messages(bot: Bot) -> None:
    bot.playground.faults.inject(fault("chat.startStream", FaultKind.RATE_LIMITED, retry_after_s=30))
    gate = asyncio.Event()
    root, _ = await answer_with(bot, "Before", gate, " and after.")
    await bot.playground.wait_for(lambda: bot.text(root) == "Before")
    gate.set()
    await bot.rest(lambda: bot.text(root) == "Before and after.")
    assert [message.stream for message in bot.answers(root)] == [None]


async def test_a_long_answer_rolls_over_into_further_messages(bot: Bot) -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 150 for number in range(40)]
    text = "\n\n".join(paragraphs)
    root, _ = await answer_with(bot, *(text[start : start + 500] for start in range(0, len(text), 500)))
    said = await bot.answered(root, times=3)
    await bot.rest(lambda: len(bot.answers(root)) >= 3)
    assert said.split() == text.split()
    assert all(len(message.text) <= 12_000 for message in bot.answers(root))


async def test_an_answer_whose_begin_is_lost_takes_no_message_of_the_answer_before_it(bot: Bot) -> None:
    """What was asked while that one was written is older than all of it."""
    long, begun, end = "word " * 5_000, asyncio.Event(), asyncio.Event()
    bot.provider.play(["first: ", begun, long, "the end."], ["second: ", end, "done."])
    root = bot.say(f"{MENTION} hello")
    await bot.playground.wait_for(lambda: bot.text(root) == "first:")
    bot.say(f"{MENTION} and then?", thread_ts=root.ts)
    await bot.playground.wait_for(lambda: bot.application.dispatcher.lines.waiting == 1)
    begun.set()
    await bot.playground.wait_for(lambda: "the end." in bot.text(root))
    bot.playground.faults.inject(fault("chat.startStream", FaultKind.SERVER_ERROR))
    await bot.playground.wait_for(lambda: len(bot.provider.requests) == 2 and not bot.playground.faults.pending)
    end.set()
    await bot.rest(lambda: "done." in bot.text(root))
    assert bot.text(root).split() == ["first:", *long.split(), "the", "end.second:", "done."]


async def test_an_answer_whose_begin_is_lost_takes_no_message_that_is_written_beside_it(playground: Playground) -> None:
    """Several conversations in one thread, each somebody's own."""
    gate, ends = asyncio.Event(), [asyncio.Event(), asyncio.Event()]
    provider = ScriptedProvider([gate, "for bob: ", ends[0], "yes."], ["for alice: ", ends[1], "no."])
    plain = settings_of(playground, "socket")
    sessions = plain.sessions.model_copy(update={"thread_sessions_per_user": True})
    async with running(playground, plain.model_copy(update={"sessions": sessions}), provider) as bot:
        root = bot.say(f"{MENTION} hello", user=BOB)
        await playground.wait_for(lambda: len(provider.requests) == 1)
        bot.say(f"{MENTION} hello", thread_ts=root.ts)
        await playground.wait_for(lambda: bot.text(root) == "for alice:")
        playground.faults.inject(fault("chat.startStream", FaultKind.SERVER_ERROR))
        gate.set()
        await playground.wait_for(lambda: "for bob:" in bot.text(root))
        for end in ends:
            end.set()
        await bot.rest(lambda: "yes." in bot.text(root) and "no." in bot.text(root))
        assert [message.text.strip() for message in bot.answers(root)] == ["for alice: no.", "for bob: yes."]


async def test_stop_ends_the_turn_and_says_so(bot: Bot) -> None:
    root, _ = await answer_with(bot, "Let me think", asyncio.Event())
    await bot.playground.wait_for(lambda: bot.text(root) == "Let me think")
    bot.playground.people.stop(ALICE, root.channel, root.ts)
    await bot.rest(lambda: "Stopped" in bot.text(root))
    assert bot.provider.closed_early == 1
    sessions = bot.playground.workspace.session_status
    await bot.playground.wait_for(lambda: sessions.get((root.channel, root.ts)) == "active")
    bot.provider.play(["Yes."])
    bot.say("are you there?", thread_ts=root.ts)
    assert (await bot.answered(root, times=3)).endswith("Yes.")


async def test_a_channel_that_takes_no_answer_does_not_take_the_bot_down(bot: Bot) -> None:
    faults = bot.playground.faults
    faults.inject(fault("chat.startStream", FaultKind.REFUSED, error="is_archived"))
    faults.inject(fault("chat.postMessage", FaultKind.REFUSED, error="is_archived"))
    root, _ = await answer_with(bot, "Hello", " there.")
    await bot.rest(lambda: faults.pending <= 1 and bot.calls("chat.postMessage") >= 1)
    assert bot.text(root) == ""
    faults.clear()
    assert await bot.answered(bot.say(f"{MENTION} again")) == "Hello there."


async def test_a_crash_in_a_channel_that_takes_no_answer_is_logged_and_survived(bot: Bot) -> None:
    faults = bot.playground.faults
    faults.inject(fault("chat.postMessage", FaultKind.REFUSED, error="restricted_action"))
    bot.provider.play([RuntimeError("a bug")])
    with structlog.testing.capture_logs() as lines:
        bot.say(f"{MENTION} hello")
        await bot.rest(lambda: bot.calls("chat.postMessage") >= 1)
        await bot.rest(lambda: any(line.get("told") == "no" for line in lines))
    bot.provider.play(["Back again."])
    assert await bot.answered(bot.say(f"{MENTION} again")) == "Back again."


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (ModelUnreachableError("connect to 10.1.2.3 failed"), "could not reach the model"),
        (ModelKeyError("key sk-abc is wrong"), "model key"),
        (RuntimeError("secret detail of a bug"), "Something went wrong"),
    ],
)
async def test_a_failure_is_told_in_a_sentence_that_quotes_no_exception(
    bot: Bot, failure: Exception, sentence: str
) -> None:
    bot.provider.play([failure])
    root = bot.say(f"{MENTION} hello")
    said = await bot.answered(root)
    assert sentence in said
    assert "reference `" in said
    assert str(failure) not in said
    bot.provider.play(["Back again."])
    assert await bot.answered(bot.say(f"{MENTION} again")) == "Back again."


async def test_an_unreadable_thread_is_told_after_reading_was_tried_again(bot: Bot) -> None:
    bot.playground.faults.inject(fault("conversations.replies", FaultKind.REFUSED, error="missing_scope"))
    root = bot.say("which day?", user="U0BOB00001")
    bot.say(f"{MENTION} do you know?", thread_ts=root.ts)
    assert "could not read this thread" in await bot.answered(root)


async def test_a_lost_read_is_simply_read_again(bot: Bot) -> None:
    bot.playground.faults.inject(fault("conversations.replies", FaultKind.DROP_AFTER))
    root = bot.say("which day?", user="U0BOB00001")
    bot.say(f"{MENTION} do you know?", thread_ts=root.ts)
    assert await bot.answered(root) == "Hello there."


async def test_the_status_line_shows_while_the_model_thinks(bot: Bot) -> None:
    gate = asyncio.Event()
    root, _ = await answer_with(bot, gate, "Done.")
    status = bot.playground.workspace.thread_status
    await bot.playground.wait_for(lambda: (root.channel, root.ts) in status)
    assert status[root.channel, root.ts].text == "is thinking…"
    gate.set()
    await bot.answered(root)
    await bot.playground.wait_for(
        lambda: (root.channel, root.ts) not in status or status[root.channel, root.ts].text == ""
    )
    assert bot.text(root) == "Done."


async def test_a_status_that_is_refused_changes_nothing(bot: Bot) -> None:
    bot.playground.faults.inject(
        fault("assistant.threads.setStatus", FaultKind.REFUSED, error="missing_scope", times=9)
    )
    root, _ = await answer_with(bot, "Fine.")
    assert await bot.answered(root) == "Fine."


async def test_messages_said_while_the_socket_is_down_are_answered_after_it_is_up_again(playground: Playground) -> None:
    async with running(playground, settings_of(playground, "socket"), ScriptedProvider(["Hello there."])) as bot:
        playground.delivery.drop_sockets()
        root = bot.say(f"{MENTION} hello")
        assert await bot.answered(root, timeout_s=30) == "Hello there."


async def test_a_refreshed_socket_loses_nothing(playground: Playground) -> None:
    async with running(playground, settings_of(playground, "socket"), ScriptedProvider(["Hello there."])) as bot:
        roots = [bot.say(f"{MENTION} one")]
        await playground.delivery.refresh_sockets()
        roots.append(bot.say(f"{MENTION} two"))
        for root in roots:
            assert await bot.answered(root, timeout_s=30) == "Hello there."
        assert len(bot.provider.requests) == 2


async def test_a_bot_that_is_stopped_in_the_middle_says_so(playground: Playground, mode: str) -> None:
    settings = hasty(settings_of(playground, mode))
    async with running(playground, settings, ScriptedProvider(["Let me think", asyncio.Event()])) as bot:
        root = bot.say(f"{MENTION} hello")
        await playground.wait_for(lambda: bot.text(root) == "Let me think")
    said = playground.answer_text(root.channel, root.ts)
    assert said.startswith("Let me think")
    assert "being restarted" in said
    assert not any(m.stream and m.stream.state == "in_progress" for m in playground.thread(root.channel, root.ts))
    assert BOT in {m.user for m in playground.thread(root.channel, root.ts)}

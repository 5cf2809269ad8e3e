"""One message, top to bottom, with fakes at every port."""

import asyncio

import pytest
import structlog
from structlog.testing import LogCapture

from app.access.actor import ActorKind
from app.access.authority import TableAuthority
from app.access.grants import Grants
from app.agents.definitions import GENERAL_PROMPT
from app.agents.providers.base import Completed, StopReason, Turn, Usage
from app.channel import Address, IncomingFile, ThreadMessage
from app.dispatch import wording
from app.dispatch.judging import LOOK_AGAIN_S
from app.errors import (
    ChannelUnavailableError,
    ConfigurationError,
    DeliveryError,
    ModelBusyError,
    ModelKeyError,
    ModelUnreachableError,
    StoppedByUserError,
)
from commands.registry import Registry
from commands.spec import Argument, Caller, Command, Reply, Values
from memory.ranker import KeywordRanker
from memory.record import MemoryCandidate
from memory.stores.inprocess import InProcessStore
from tests.dispatch_house import House
from tests.fakes import (
    EPOCH,
    access_of,
    message,
    until,
)


async def test_a_mention_is_answered_with_the_models_words() -> None:
    house = House()
    await house.handle(message("We deploy with Argo. Which port?"), house.chat)
    assert house.chat.answer.written == "Hello Alice."
    assert house.chat.answer.is_finished
    assert house.chat.card.shown == [wording.THINKING]
    assert house.chat.card.is_cleared
    (turn,) = house.reflections.turns
    assert [(line.role, line.author, line.text) for line in turn.lines] == [
        ("user", "Alice", "We deploy with Argo. Which port?"),
        ("assistant", None, "Hello Alice."),
    ]
    assert (turn.thread_key, turn.organization, turn.visibility) == ("slack:C1:1700000000.000100", "acme", "public")
    assert (turn.user_id, turn.user_name, turn.run_id) == ("slack:U1", "Alice", "abcd1234")


async def test_the_model_sees_the_thread_with_names_and_the_question_last() -> None:
    house = House()
    house.chat.earlier = [
        ThreadMessage("1", "Bob", by_bot=False, text="we ship on Friday"),
        ThreadMessage("2", "Switchboard", by_bot=True, text="Noted."),
        ThreadMessage("3", "Bob", by_bot=False, text="or Monday"),
    ]
    await house.handle(message("which day?", root="1600000000.000100"), house.chat)
    request = house.provider.requests[0]
    assert request.messages == (
        Turn("user", "Bob: we ship on Friday"),
        Turn("assistant", "Noted."),
        Turn("user", "Bob: or Monday\n\nAlice: which day?"),
    )
    context, prompt = request.system
    assert context.splitlines()[0] == "## Current Session Context"
    assert "- Place: channel C1, thread 1600000000.000100" in context
    assert prompt == GENERAL_PROMPT
    assert request.max_output_tokens == 99


async def test_memory_stands_before_the_instructions_and_only_the_askers_own_scopes_are_read() -> None:
    """Specification, sections 7 and 21; criterion "Enabled + seeded store prepends the advisory block"."""
    memory = InProcessStore(ranker=KeywordRanker(), now=lambda: EPOCH)
    for key in ("org:acme", "channel:slack:C1", "user:slack:U1", "user:slack:U2", "channel:slack:C2"):
        await memory.write(key, [MemoryCandidate("fact", f"ports <are> known to {key}", "slack:C9:1.0")])
    house = House(memory=memory)
    await house.handle(message("which ports?"), house.chat)
    block, _, prompt = house.provider.requests[0].system
    assert block.splitlines() == [
        "Background memory for org:acme + channel:slack:C1 + user:slack:U1 (may be outdated — verify before acting):",
        "<background_memory>",
        "- ports &lt;are&gt; known to org:acme (source: slack:C9:1.0)",
        "- ports &lt;are&gt; known to channel:slack:C1 (source: slack:C9:1.0)",
        "- ports &lt;are&gt; known to user:slack:U1 (source: slack:C9:1.0)",
        "</background_memory>",
    ]
    assert prompt == GENERAL_PROMPT


async def test_a_refused_message_touches_no_memory() -> None:
    """Trap 45."""
    memory = InProcessStore(ranker=KeywordRanker(), now=lambda: EPOCH)
    await memory.write("org:acme", [MemoryCandidate("fact", "x marks the spot", "slack:C9:1.0")])
    house = House(memory=memory)
    await house.handle(message("x " * 200), house.chat)
    await House(memory=memory, default_agent="nobody").handle(message("x"), house.chat)
    (record,) = await memory.list("org:acme", 5)
    assert (record.use_count, record.last_used_at) == (0, None)


async def test_a_message_is_claimed_once_by_event_and_by_place() -> None:
    house = House()
    assert await house.dispatcher.accept(message(event="Ev1"))
    assert not await house.dispatcher.accept(message(event="Ev1"))
    assert not await house.dispatcher.accept(message(event="Ev2")), "the same message as another event"
    assert await house.dispatcher.accept(message(event="Ev3", position="1700000001.000100"))


async def test_an_unmentioned_reply_is_answered_only_where_the_bot_takes_part() -> None:
    house = House()
    follow_up = message("and then?", root="1600000000.000100", address=Address.FOLLOW_UP)
    await house.handle(follow_up, house.chat)
    assert house.provider.requests == []
    assert list(house.journal.outcomes.values()) == ["not_meant"]
    house.chat.is_part = True
    again = message(
        "and then?", root="1600000000.000100", position="1700000001.1", address=Address.FOLLOW_UP, event="Ev2"
    )
    await house.handle(again, house.chat)
    assert house.chat.answer.written == "Hello Alice."


async def test_an_unmentioned_reply_in_an_unreadable_thread_is_looked_at_again_and_nobody_told() -> None:
    house = House()
    house.chat.unreadable = ChannelUnavailableError("conversations.replies: timeout")
    await house.handle(message(root="1.0", address=Address.FOLLOW_UP), house.chat)
    assert (house.chat.said, house.chat.answer.written, house.journal.outcomes) == ([], "", {})
    house.chat.unreadable, house.chat.is_part = None, True
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    await until(lambda: house.journal.outcomes == {1: "ran"})
    rounds.cancel()
    assert house.clock.slept[0] == LOOK_AGAIN_S
    assert house.chat.answer.written == "Hello Alice."


async def test_an_unmentioned_reply_whose_thread_stays_unreadable_stays_unanswered() -> None:
    house = House()
    house.chat.unreadable = ChannelUnavailableError("conversations.replies: missing_scope")
    await house.handle(message(root="1.0", address=Address.FOLLOW_UP), house.chat)
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    await until(lambda: house.journal.outcomes == {1: "not_meant"})
    rounds.cancel()
    assert (house.chat.said, house.chat.answer.written) == ([], "")
    assert house.clock.slept == [LOOK_AGAIN_S, 4 * LOOK_AGAIN_S, 20 * LOOK_AGAIN_S]


async def test_replies_that_cannot_be_judged_are_not_kept_beyond_a_number() -> None:
    """Reading all of them again would leave Slack no time for anything else."""
    house = House()
    house.chat.unreadable = ChannelUnavailableError("conversations.replies: ratelimited")
    said = [message(root=f"{n}.0", position=f"{n}.1", event=f"E{n}", address=Address.FOLLOW_UP) for n in range(102)]
    outcomes = [await house.handle(each) for each in said]
    assert outcomes == [*["unread"] * 100, "not_meant", "not_meant"]


async def test_a_mention_in_an_unreadable_thread_is_told_so() -> None:
    house = House()
    house.chat.unreadable = ChannelUnavailableError("conversations.replies: timeout")
    await house.handle(message("hi", root="1.0"), house.chat)
    assert "could not read this thread" in house.chat.answer.written
    assert "abcd1234" in house.chat.answer.written
    assert "timeout" not in house.chat.answer.written


@pytest.mark.parametrize(
    ("text", "root", "files", "expected"),
    [
        ("x" * 201, None, (), "201 characters"),
        ("", None, (), wording.GREETING),
        ("  ", None, (IncomingFile("F1", "a.pdf", "application/pdf", 1),), wording.FILES_ONLY),
    ],
)
async def test_messages_that_need_no_model_get_a_sentence(
    text: str, root: str | None, files: tuple[IncomingFile, ...], expected: str
) -> None:
    house = House()
    await house.handle(message(text, root=root, files=files), house.chat)
    assert len(house.chat.said) == 1
    assert expected in house.chat.said[0]
    assert house.provider.requests == []


async def test_a_bare_mention_in_a_thread_asks_about_the_thread() -> None:
    house = House()
    await house.handle(message("", root="1600000000.000100"), house.chat)
    assert house.provider.requests[0].messages[-1].text == f"Alice: {wording.BARE_MENTION}"


async def test_a_message_of_only_emoji_is_a_message() -> None:
    house = House()
    await house.handle(message(":tada:"), house.chat)
    assert house.chat.answer.written == "Hello Alice."


async def test_a_command_is_answered_without_a_model() -> None:
    async def pong(caller: Caller, values: Values) -> Reply:
        return Reply({}, f"pong {values['words']} for {caller.id} in {caller.origin.channel_id}")

    ping = Command("ping.bot", "Says pong.", "help:read", "read", pong, (Argument("words", "What.", is_rest=True),))
    house = House(commands=Registry([ping], access_of()))
    await house.handle(message("!Ping BOT twice"), house.chat)
    assert house.chat.said == ["pong twice for slack:U1 in slack:C1"]
    assert house.provider.requests == []
    assert house.reflections.turns == []


@pytest.mark.parametrize(
    "access",
    [
        access_of(ActorKind.GUEST, Grants(guests_may_talk=False)),
        access_of(grants=Grants(admins=("U9",), agents={"general": frozenset({"slack:U9"})})),
    ],
)
async def test_somebody_who_may_not_ask_is_told_so_and_touches_no_memory(access: TableAuthority) -> None:
    """Trap 45."""
    memory = InProcessStore(ranker=KeywordRanker(), now=lambda: EPOCH)
    await memory.write("org:acme", [MemoryCandidate("fact", "ports are known", "slack:C9:1.0")])
    house = House(memory=memory, access=access)
    await house.handle(message("which ports?"), house.chat)
    assert house.chat.said[0].startswith("🚫")
    assert house.provider.requests == []
    (record,) = await memory.list("org:acme", 5)
    assert record.use_count == 0


@pytest.mark.parametrize("kind", [ActorKind.GUEST, ActorKind.EXTERNAL, ActorKind.UNKNOWN])
async def test_guests_and_strangers_are_answered_without_the_organisations_memory(kind: ActorKind) -> None:
    memory = InProcessStore(ranker=KeywordRanker(), now=lambda: EPOCH)
    for key in ("org:acme", "channel:slack:C1", "user:slack:U1"):
        await memory.write(key, [MemoryCandidate("fact", f"ports known to {key}", "slack:C9:1.0")])
    house = House(memory=memory, access=access_of(kind))
    await house.handle(message("which ports?"), house.chat)
    assert house.chat.answer.written == "Hello Alice."
    block = "".join(house.provider.requests[0].system)
    assert "org:acme" not in block
    assert "ports known to user:slack:U1" in block


async def test_a_busy_model_is_asked_again_after_the_time_it_names() -> None:
    house = House([ModelBusyError("overloaded", 7.0)], ["There."])
    await house.handle(message(), house.chat)
    assert house.clock.slept == [7.0]
    assert house.chat.answer.written == "There."


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (ModelKeyError("sk-secret is wrong"), "model key"),
        (ModelBusyError("busy", 120.0), "overloaded"),
        (ModelUnreachableError("10.0.0.1 refused"), "could not reach the model"),
    ],
)
async def test_a_failed_model_ends_in_a_sentence_with_a_reference(fault: Exception, sentence: str) -> None:
    house = House([fault])
    await house.handle(message(), house.chat)
    written = house.chat.answer.written
    assert sentence in written
    assert "abcd1234" in written
    assert str(fault) not in written
    assert house.reflections.turns == []


async def test_an_answer_that_breaks_off_is_not_asked_for_again_and_says_so() -> None:
    house = House(["Half an ", ModelUnreachableError("reset")])
    await house.handle(message(), house.chat)
    assert len(house.provider.requests) == 1
    assert house.chat.answer.written.startswith("Half an ")
    assert "could not reach the model" in house.chat.answer.written


@pytest.mark.parametrize(
    ("reason", "note"), [(StopReason.LENGTH, "length limit"), (StopReason.REFUSAL, "declined to answer")]
)
async def test_an_answer_that_did_not_end_by_itself_says_why(reason: StopReason, note: str) -> None:
    house = House(["Part one", Completed(reason, Usage())])
    await house.handle(message(), house.chat)
    assert house.chat.answer.written.startswith("Part one\n\n")
    assert note in house.chat.answer.written


async def test_a_model_without_words_is_not_answered_with_silence() -> None:
    house = House([Completed(StopReason.END, Usage())])
    await house.handle(message(), house.chat)
    assert "nothing to say" in house.chat.answer.written


async def test_a_turn_that_takes_too_long_is_ended_with_a_sentence() -> None:
    house = House(["One moment", asyncio.Event()], turn_s=0.02)
    async with asyncio.timeout(20):
        await house.handle(message(), house.chat)
    assert "took too long" in house.chat.answer.written


async def test_an_unknown_agent_is_an_operators_mistake_and_told_as_one() -> None:
    house = House(default_agent="nobody")
    await house.handle(message(), house.chat)
    assert "not set up correctly" in house.chat.answer.written
    assert ConfigurationError.__name__ not in house.chat.answer.written


async def test_a_reply_that_cannot_be_delivered_is_logged_and_nothing_else_breaks() -> None:
    house = House()
    house.chat.answer.failure = DeliveryError("is_archived")
    with structlog.testing.capture_logs() as lines:
        await house.handle(message(), house.chat)
    assert {"delivery_failed", "turn_finished"} <= {line["event"] for line in lines}
    assert house.reflections.turns == []


async def test_a_refusal_that_cannot_be_delivered_is_logged() -> None:
    house = House()
    house.chat.unspeakable = DeliveryError("is_archived")
    with structlog.testing.capture_logs() as lines:
        await house.handle(message(""), house.chat)
    assert "delivery_failed" in {line["event"] for line in lines}


async def test_a_reply_stopped_in_slack_is_confirmed() -> None:
    house = House()
    house.chat.answer.failure = StoppedByUserError()
    await house.handle(message(), house.chat)
    assert house.chat.said == [wording.STOPPED]


async def test_stop_ends_the_running_turn_and_the_next_one_goes_on() -> None:
    house = House(["Let me see", asyncio.Event()], ["Second."])
    first = message("one", position="1.1", root="1.0", event="Ev1")
    second = message("two", position="1.2", root="1.0", event="Ev2")
    async with asyncio.TaskGroup() as group:
        group.create_task(house.handle(first, house.chat))
        await until(lambda: house.chat.answer.written == "Let me see")
        group.create_task(house.handle(second, house.chat))
        await asyncio.sleep(0)
        assert house.dispatcher.stop(first.thread_key)
    assert house.chat.said == [wording.STOPPED]
    assert house.provider.closed_early == 1
    assert house.chat.answer.written == "Let me seeSecond."
    assert not house.dispatcher.stop(first.thread_key)


async def test_a_turn_cut_short_by_a_restart_says_so_where_it_stands_and_stays_unfinished() -> None:
    """Session lifecycle, section 7: the next process goes on with it."""
    house = House(["Let me see", asyncio.Event()])
    turn = asyncio.create_task(house.handle(message(), house.chat))
    await until(lambda: house.chat.answer.written == "Let me see")
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert house.chat.answer.is_abandoned
    assert house.chat.answer.written == f"Let me see\n\n{wording.UNFINISHED}"
    assert house.journal.outcomes == {}
    assert house.journal.promised == {}
    assert house.dispatcher.conversations == 0


async def test_one_thread_is_answered_in_order_and_threads_side_by_side() -> None:
    gate = asyncio.Event()
    house = House(["A", gate], ["B"], ["C"])
    slow, queued, other = (
        message("a", position="1.1", root="1.0", event="Ev1"),
        message("b", position="1.2", root="1.0", event="Ev2"),
        message("c", position="2.1", root="2.0", event="Ev3"),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(house.handle(slow, house.chat))
        await until(lambda: len(house.provider.requests) == 1)
        assert house.dispatcher.conversations == 1
        group.create_task(house.handle(queued, house.chat))
        group.create_task(house.handle(other, house.chat))
        await until(lambda: len(house.provider.requests) == 2)
        assert house.provider.requests[1].messages[-1].text == "Alice: c"
        gate.set()
    assert house.provider.requests[2].messages[-1].text == "Alice: b"


async def test_every_turn_leaves_one_line_that_counts_and_quotes_nothing() -> None:
    house = House(["SECRETMARKER answer"])
    capture = LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, capture])
    try:
        await house.handle(message("SECRETMARKER question"), house.chat)
    finally:
        structlog.reset_defaults()
    (line,) = [line for line in capture.entries if line["event"] == "turn_finished"]
    assert line["outcome"] == "ran"
    assert line["reference"] == "abcd1234"
    assert (line["input_tokens"], line["output_tokens"]) == (3, 5)
    assert not any("SECRETMARKER" in str(entry) for entry in capture.entries)

"""A question that its author deletes or edits in Slack while it waits, is answered, or was answered."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest

from app.dispatch import wording
from app.playground.faults import Fault, FaultKind
from app.playground.model import Json, Message
from app.playground.server import Playground
from tests.e2e.conftest import ALICE, BOB, BOT, MENTION, Bot, hasty, running, settings_of
from tests.fakes import ScriptedProvider


@dataclass(slots=True)
class Busy:
    """A bot whose first answer is under way until the gate opens, and the two questions behind it."""

    bot: Bot
    gate: asyncio.Event
    root: Message
    waiting: list[Message] = field(default_factory=list[Message])

    async def ask(self, text: str) -> None:
        whispers = self.bot.calls("chat.postEphemeral")
        self.waiting.append(self.bot.say(f"{MENTION} {text}", thread_ts=self.root.ts))
        await self.bot.playground.wait_for(lambda: self.bot.calls("chat.postEphemeral") > whispers)

    async def delete(self, message: Message) -> None:
        self.bot.playground.people.delete(ALICE, message.channel, message.ts)
        await self.heard()

    async def edit(self, message: Message, text: str) -> None:
        self.bot.playground.people.edit(ALICE, message.channel, message.ts, text)
        await self.heard()

    async def heard(self) -> None:
        """The bot has acknowledged every event."""
        delivery = self.bot.playground.delivery
        await self.bot.playground.wait_for(lambda: delivery.under_way == 0)

    @property
    def asked(self) -> list[str]:
        return [request.messages[-1].text for request in self.bot.provider.requests]


@pytest.fixture
async def busy(playground: Playground, mode: str) -> AsyncIterator[Busy]:
    gate = asyncio.Event()
    provider = ScriptedProvider(["one", gate], ["two"], ["three"])
    async with running(playground, settings_of(playground, mode), provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: "one" in bot.text(root))
        yield Busy(bot, gate, root)


async def test_a_question_deleted_while_it_waits_is_not_answered_and_the_next_one_is(busy: Busy) -> None:
    await busy.ask("SECRET")
    await busy.ask("3")
    busy.bot.playground.delivery.duplicate_next()
    await busy.delete(busy.waiting[0])
    busy.gate.set()
    await busy.bot.rest(lambda: len(busy.bot.answers(busy.root)) == 2)
    assert busy.bot.text(busy.root) == "onetwo"
    assert busy.asked == ["alice: 1", "alice: 3"]
    assert "SECRET" not in str(busy.bot.provider.requests)


async def test_a_question_edited_while_it_waits_is_answered_once_in_its_new_words(busy: Busy) -> None:
    await busy.ask("OLD")
    busy.bot.playground.delivery.duplicate_next()
    await busy.edit(busy.waiting[0], f"{MENTION} new & better")
    busy.gate.set()
    await busy.bot.rest(lambda: len(busy.bot.answers(busy.root)) == 2)
    await busy.edit(busy.waiting[0], f"{MENTION} too late")
    await busy.bot.rest(lambda: True)
    assert busy.asked == ["alice: 1", "alice: new & better"]
    assert "OLD" not in str(busy.bot.provider.requests)
    assert busy.bot.text(busy.root) == "onetwo"


async def test_deleting_the_question_stops_its_answer_and_deleting_an_answered_one_nothing(busy: Busy) -> None:
    await busy.ask("2")
    await busy.delete(busy.root)
    await busy.bot.rest(lambda: "two" in busy.bot.text(busy.root))
    assert busy.bot.text(busy.root) == f"one{wording.STOPPED}two"
    await busy.delete(busy.waiting[0])
    await busy.bot.rest(lambda: True)
    assert busy.bot.text(busy.root) == f"one{wording.STOPPED}two"
    assert len(busy.asked) == 2


async def test_a_link_that_is_unfolded_and_an_edited_answer_change_nothing(busy: Busy) -> None:
    await busy.ask("https://example.com")
    workspace = busy.bot.playground.workspace
    question = workspace.message(busy.root.channel, busy.waiting[0].ts)
    workspace.change(question, lambda message: message.attachments.append({"text": "a preview"}))
    await busy.heard()
    busy.gate.set()
    await busy.bot.rest(lambda: len(busy.bot.answers(busy.root)) == 2)
    assert busy.asked == ["alice: 1", "alice: https://example.com"]


async def test_a_restart_knows_what_was_deleted_and_edited_while_it_waited(playground: Playground, mode: str) -> None:
    settings = settings_of(playground, mode)
    provider = ScriptedProvider(["one", asyncio.Event()])
    async with running(playground, hasty(settings), provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: "one" in bot.text(root))
        before = Busy(bot, asyncio.Event(), root)
        await before.ask("SECRET")
        await before.ask("OLD")
        await before.delete(before.waiting[0])
        await before.edit(before.waiting[1], f"{MENTION} new")
    async with running(playground, settings, ScriptedProvider(["again"], ["news"])) as after:
        await after.rest(lambda: "news" in after.text(root))
        asked = [request.messages[-1].text for request in after.provider.requests]
    assert asked == ["alice: 1", "alice: new"]
    assert "SECRET" not in str(after.provider.requests)


@pytest.mark.parametrize("method", ["users.info", "conversations.info"])
async def test_a_question_that_is_revised_while_its_answer_is_prepared_counts_as_it_is_then(
    playground: Playground, mode: str, method: str
) -> None:
    async with running(playground, settings_of(playground, mode), ScriptedProvider(["new"])) as bot:
        slow = Fault(method=method, kind=FaultKind.SLOW, delay_s=1.0)
        playground.faults.inject(slow)
        gone = bot.say(f"{MENTION} SECRET", user=BOB)
        await playground.wait_for(lambda: playground.faults.pending == 0)
        playground.people.delete(BOB, gone.channel, gone.ts)
        await bot.rest(lambda: playground.delivery.under_way == 0)
        assert bot.provider.requests == []
        assert bot.calls("chat.postMessage") + bot.calls("chat.startStream") == 0
        playground.faults.inject(replace(slow, method="users.info"))
        question = bot.say(f"{MENTION} OLD")
        await playground.wait_for(lambda: playground.faults.pending == 0)
        playground.people.edit(ALICE, question.channel, question.ts, f"{MENTION} NEW")
        await bot.rest(lambda: playground.delivery.under_way == 0)
        assert bot.text(question) == "new"
        assert [request.messages[-1].text for request in bot.provider.requests] == ["alice: NEW"]


async def test_a_restart_answers_what_was_joined_to_a_deleted_question_and_not_that(
    playground: Playground,
) -> None:
    settings = hasty(settings_of(playground, "socket"))
    busy = settings.model_copy(update={"sessions": settings.sessions.model_copy(update={"busy_input": "interrupt"})})
    provider = ScriptedProvider(["one", asyncio.Event()], ["both", asyncio.Event()], ["anew", asyncio.Event()])
    async with running(playground, busy, provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: "one" in bot.text(root))
        gone, *_ = [bot.say(f"{MENTION} {text}", thread_ts=root.ts) for text in ("SECRET", "3")]
        await playground.wait_for(lambda: "both" in bot.text(root))
        playground.people.delete(ALICE, gone.channel, gone.ts)
        await playground.wait_for(lambda: "anew" in bot.text(root))
    async with running(playground, settings, ScriptedProvider(["again"])) as after:
        await after.rest(lambda: "again" in after.text(root))
        (request,) = after.provider.requests
        assert request.messages[-1].text == "alice: 3"
        assert after.text(root).count("again") == 1


@pytest.mark.parametrize("thread", [True, False])
async def test_a_question_is_answered_in_its_new_words_or_not_at_all_however_early_they_come(
    busy: Busy, *, thread: bool
) -> None:
    people, delivery = busy.bot.playground.people, busy.bot.playground.delivery
    thread_ts = busy.root.ts if thread else None
    # A mention comes as two events; what became of it comes before both.
    delivery.reorder_next(3)
    gone = busy.bot.say(f"{MENTION} SECRET", thread_ts=thread_ts)
    people.delete(ALICE, gone.channel, gone.ts)
    delivery.reorder_next(3)
    edited = busy.bot.say(f"{MENTION} OLD", thread_ts=thread_ts)
    people.edit(ALICE, edited.channel, edited.ts, f"{MENTION} new")
    await busy.heard()
    busy.gate.set()
    await busy.bot.rest(lambda: "two" in busy.bot.text(edited))
    assert busy.asked == ["alice: 1", "alice: new"]
    assert "SECRET" not in str(busy.bot.provider.requests)


async def test_revisions_that_make_no_sense_are_acknowledged_and_the_bot_goes_on(busy: Busy) -> None:
    await busy.ask("2")
    delivery = busy.bot.playground.delivery
    event: Json = {"type": "message", "channel": busy.root.channel, "ts": "9.9", "event_ts": "9.9"}
    gone = event | {"subtype": "message_deleted"}
    odd: list[Json] = [
        gone,
        gone | {"deleted_ts": "1.1", "previous_message": None},
        gone | {"deleted_ts": [], "previous_message": {"user": BOT}},
        event | {"subtype": "message_changed"},
        event | {"subtype": "message_changed", "message": {"ts": "1.1", "user": ALICE, "text": "x"}},
        event | {"subtype": ["message_changed"]},
    ]
    for each in odd:
        delivery.send_event(each)
    await busy.heard()
    busy.gate.set()
    await busy.bot.rest(lambda: len(busy.bot.answers(busy.root)) == 2)
    assert busy.bot.text(busy.root) == "onetwo"

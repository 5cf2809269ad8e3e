"""A command that says much: one message with a file, or several messages where Slack takes no file."""

import pytest

from app.bootstrap import build
from app.clock import SystemClock
from app.playground.faults import Fault, FaultKind
from app.playground.model import Message
from app.playground.server import Playground
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore
from tests.e2e.conftest import ALICE, BOT, GENERAL, MENTION, settings_of

KEY = f"user:slack:{ALICE}"
FACTS = [f"Alice keeps note number {number} about {'the harbour crane ' * 20}" for number in range(20)]
GET_URL, COMPLETE = "files.getUploadURLExternal", "files.completeUploadExternal"


async def listed(playground: Playground, *faults: Fault, facts: int = len(FACTS)) -> tuple[list[Message], Message]:
    """The bot's messages in answer to ``memory list me``, and the request."""
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    await store.write(KEY, [MemoryCandidate("fact", text, "slack:C0EARLIER1:1.0") for text in FACTS[:facts]])
    for fault in faults:
        playground.faults.inject(fault)
    async with build(settings_of(playground, "socket"), memory=store) as application, application.serving():
        await application.connected()
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} memory list me")
        await playground.wait_for(lambda: _answers(playground, root) != [])
        await playground.wait_for(lambda: not application.dispatcher.conversations)
        return _answers(playground, root), root


def _answers(playground: Playground, root: Message) -> list[Message]:
    return [each for each in playground.thread(GENERAL, root.ts) if each.user == BOT]


def _file(playground: Playground, message: Message) -> str:
    (file_id,) = message.files
    return playground.workspace.files[file_id].content.decode()


async def test_a_long_answer_is_a_file_under_its_first_line(playground: Playground) -> None:
    (message,), _ = await listed(playground)
    content = _file(playground, message)
    assert all(fact.strip() in content for fact in FACTS)
    first, size = message.text.split("\n")
    assert first.strip("*") in content.split("\n")[0].replace("**", "*")
    assert KEY in first
    assert f"{len(content):,} characters" in size


async def test_a_short_answer_is_a_message(playground: Playground) -> None:
    (message,), _ = await listed(playground, facts=2)
    assert not message.files
    assert FACTS[1].strip() in message.text


@pytest.mark.parametrize(
    "fault",
    [
        Fault(GET_URL, FaultKind.REFUSED, error="missing_scope"),
        Fault(COMPLETE, FaultKind.REFUSED, error="not_allowed_token_type"),
        Fault(COMPLETE, FaultKind.DROP_BEFORE),
        Fault(GET_URL, FaultKind.SERVER_ERROR),
    ],
)
async def test_without_a_file_the_whole_text_is_said(playground: Playground, fault: Fault) -> None:
    messages, root = await listed(playground, fault)
    assert all(not message.files for message in messages)
    said = playground.answer_text(GENERAL, root.ts)
    assert [said.count(fact.strip()) for fact in FACTS] == [1] * len(FACTS)


async def test_a_file_whose_confirmation_was_lost_is_not_said_again(playground: Playground) -> None:
    (message,), _ = await listed(playground, Fault(COMPLETE, FaultKind.DROP_AFTER))
    assert FACTS[0].strip() in _file(playground, message)

"""A message that its author takes back, or says in other words, after it was accepted."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.agents.providers.base import Turn
from app.channel import IncomingMessage, Remains, UserId, WorkspaceId
from app.dispatch import wording
from app.dispatch.work import Work
from app.errors import StateError
from app.sessions.busy import BusyInput
from commands.registry import Registry
from commands.spec import Argument, Caller, Command, Followup, Reply, Values
from tests.dispatch_house import House, SlowChat
from tests.fakes import FakeChat, Step, access_of, message, until

ALICE, BOB = UserId("slack:U1"), UserId("slack:U2")
FIRST = message("one", position="1.1", root="1.0", event="Ev1")
SECOND = message("two", position="1.2", root="1.0", event="Ev2")
THIRD = message("three", position="1.3", root="1.0", event="Ev3")


async def put_in_line(_: Caller, values: Values) -> Reply:
    return Reply({}, "In line.", then=Followup(str(values["words"])))


QUEUE = Command(
    "session.queue",
    "Answers the words later.",
    "session:write",
    "write",
    put_in_line,
    (Argument("words", "What.", is_rest=True),),
    leads_on=True,
)


class Talk:
    """One answer that is under way, and what is said behind it, each with a chat of its own."""

    def __init__(
        self,
        group: asyncio.TaskGroup,
        *scripts: Sequence[Step],
        busy_input: BusyInput = BusyInput.QUEUE,
    ) -> None:
        self.gate = asyncio.Event()
        commands = Registry([QUEUE], access_of())
        self.house = House(["Let me see", self.gate], *scripts, busy_input=busy_input, commands=commands)
        self.revising = self.house.dispatcher.revising
        self.chats: dict[str, FakeChat] = {}
        self.tasks: dict[str, asyncio.Task[str]] = {}
        self._group = group

    async def begin(self) -> None:
        await self.say(FIRST)
        await until(lambda: self.chats["one"].answer.written == "Let me see")

    async def say(self, said: IncomingMessage, chat: FakeChat | None = None) -> None:
        self.chats[said.text] = chat or FakeChat()
        self.tasks[said.text] = self._group.create_task(self.house.handle(said, self.chats[said.text]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    @property
    def asked(self) -> list[str]:
        """The last line of each request to the model."""
        return [request.messages[-1].text.rsplit("\n", 1)[-1] for request in self.house.provider.requests]


async def revise(talk: Talk, said: IncomingMessage, text: str | None) -> None:
    if text is None:
        await talk.revising.withdraw(said.place, ALICE)
    else:
        await talk.revising.reword(said.place, text)


async def test_what_is_taken_back_while_it_waits_is_not_answered_and_those_behind_it_move_up() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Third."])
        await talk.begin()
        await talk.say(SECOND)
        await talk.say(THIRD)
        await talk.revising.withdraw(SECOND.place, ALICE)
        await talk.revising.withdraw(SECOND.place, ALICE)
        await until(talk.tasks["two"].done)
        (behind,) = talk.house.dispatcher.lines.unbegun(talk.house.dispatcher.lines.turns()[0].key)
        assert behind.said.message == THIRD
        talk.gate.set()
    assert {text: task.result() for text, task in talk.tasks.items()} == {
        "one": "ran",
        "two": "withdrawn",
        "three": "ran",
    }
    chat = talk.chats["two"]
    assert (chat.said, chat.answer.written, chat.whispered) == ([], "", [wording.waiting(1)])
    assert talk.house.journal.outcomes == {1: "ran", 2: "withdrawn", 3: "ran"}
    assert "two" not in str(talk.house.provider.requests)


@pytest.mark.parametrize(("author", "outcome"), [(ALICE, "stopped"), (BOB, "ran")])
async def test_a_running_answer_is_stopped_for_whoever_has_asked_for_it(author: UserId, outcome: str) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Second."])
        await talk.begin()
        await talk.say(SECOND)
        await talk.revising.withdraw(FIRST.place, author)
        if author == BOB:
            talk.gate.set()
    assert talk.tasks["one"].result() == outcome
    assert talk.chats["one"].said == ([wording.STOPPED] if author == ALICE else [])
    assert talk.tasks["two"].result() == "ran"


async def test_a_turn_that_begins_while_its_message_is_being_taken_back_is_stopped() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Secondly", asyncio.Event()])
        await talk.begin()
        await talk.say(SECOND)
        talk.house.journal.withdrawing = written = asyncio.Event()
        group.create_task(talk.revising.withdraw(SECOND.place, ALICE))
        talk.gate.set()
        await until(lambda: talk.chats["two"].answer.written == "Secondly")
        written.set()
    assert talk.tasks["two"].result() == "stopped"
    assert talk.house.dispatcher.conversations == 0


async def test_what_was_answered_or_never_said_to_the_bot_is_left_alone() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group)
        await talk.begin()
        talk.gate.set()
        await until(talk.tasks["one"].done)
        for place in (
            FIRST.place,
            replace(FIRST.place, position="9.9"),
            replace(FIRST.place, workspace_id=WorkspaceId("slack:T2")),
        ):
            await talk.revising.withdraw(place, ALICE)
            await talk.revising.reword(place, "something else")
    assert talk.house.journal.outcomes == {1: "ran"}
    assert talk.house.journal.reworded == {}
    assert talk.chats["one"].answer.written == "Let me see"
    assert len(talk.house.provider.requests) == 1


async def test_a_message_that_waits_is_answered_in_its_latest_words_and_as_they_ask_for_it() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Second."])
        await talk.begin()
        await talk.say(SECOND)
        await talk.revising.reword(SECOND.place, "zwei")
        await talk.revising.reword(SECOND.place, "effort:high deux")
        await talk.revising.reword(SECOND.place, "effort:high deux")
        talk.gate.set()
    assert talk.asked == ["Alice: one", "Alice: deux"]
    assert talk.house.provider.requests[1].effort == "high"
    assert talk.house.journal.reworded == {2: "effort:high deux"}
    assert [line.content for record in talk.house.journal.records for line in record.lines][2:] == ["deux", "Second."]


@pytest.mark.parametrize("text", ["!session queue it", " ", "x" * 201, "effort:extreme two"])
async def test_words_that_are_no_question_leave_the_one_that_waits_as_it_is(text: str) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Second."])
        await talk.begin()
        await talk.say(SECOND)
        await talk.revising.reword(SECOND.place, text)
        talk.gate.set()
    assert talk.asked[-1] == "Alice: two"
    assert talk.house.journal.reworded == {}


async def test_a_message_that_is_being_answered_is_not_answered_again_in_other_words() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group)
        await talk.begin()
        await talk.revising.reword(FIRST.place, "eins")
        talk.gate.set()
    assert talk.asked == ["Alice: one"]
    assert talk.house.journal.reworded == {}


async def test_what_was_revised_before_it_came_to_its_line_is_found_so_there() -> None:
    house = House()
    first, second = await house.dispatcher.accept(FIRST), await house.dispatcher.accept(SECOND)
    assert first is not None
    assert second is not None
    await house.dispatcher.revising.withdraw(FIRST.place, ALICE)
    await house.dispatcher.revising.reword(SECOND.place, "zwei")
    assert await house.dispatcher.handle(first, house.chat) == "withdrawn"
    assert await house.dispatcher.handle(second, house.chat) == "ran"
    (request,) = house.provider.requests
    assert request.messages == (Turn("user", "Alice: zwei"),)


async def test_what_was_to_steer_an_answer_is_taken_back_or_reworded_before_it_does() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Third."], busy_input=BusyInput.STEER)
        await talk.begin()
        talk.house.dispatcher.lines.turns()[0].takes_steering = True
        await talk.say(SECOND)
        await talk.say(THIRD)
        await talk.revising.withdraw(SECOND.place, ALICE)
        await talk.revising.reword(THIRD.place, "drei")
        talk.gate.set()
    assert talk.tasks["two"].result() == "withdrawn"
    assert talk.asked == ["Alice: one", "Alice: drei"]


@pytest.mark.parametrize("text", [None, "zwei"])
async def test_what_an_answer_has_taken_along_is_taken_back_or_reworded_before_the_model_has_it(
    text: str | None,
) -> None:
    first, second = SlowChat(), SlowChat()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, busy_input=BusyInput.STEER)
        await talk.say(FIRST, first)
        await until(lambda: first.is_asked)
        await talk.say(SECOND, second)
        await talk.say(THIRD)
        first.is_known.set()
        await until(lambda: second.is_asked)
        assert talk.house.dispatcher.lines.turns()[0].carries, "it was taken along"
        await revise(talk, SECOND, text)
        second.is_known.set()
        talk.gate.set()
    said = ["Alice: one", *([] if text is None else [f"Alice: {text}"]), "Alice: three"]
    assert talk.house.provider.requests[0].messages == (Turn("user", "\n\n".join(said)),)
    assert talk.tasks["two"].result() == ("withdrawn" if text is None else "carried")
    assert talk.house.journal.outcomes == {1: "ran", 2: talk.tasks["two"].result(), 3: "carried"}
    kept = [line.content for record in talk.house.journal.records for line in record.lines]
    assert kept == [*(each.removeprefix("Alice: ") for each in said), "Let me see"]


async def test_an_answer_goes_on_without_the_only_message_it_had_taken_along() -> None:
    second = SlowChat()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, busy_input=BusyInput.STEER)
        await talk.say(FIRST, first := SlowChat())
        await until(lambda: first.is_asked)
        await talk.say(SECOND, second)
        first.is_known.set()
        await until(lambda: second.is_asked)
        await revise(talk, SECOND, None)
        second.is_known.set()
        talk.gate.set()
    assert talk.asked == ["Alice: one"]
    assert {text: task.result() for text, task in talk.tasks.items()} == {"one": "ran", "two": "withdrawn"}


@pytest.mark.parametrize("text", [None, "drei"])
async def test_what_is_to_be_answered_together_is_taken_back_or_reworded_while_the_turn_prepares(
    text: str | None,
) -> None:
    second = SlowChat()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Together."], busy_input=BusyInput.INTERRUPT)
        await talk.begin()
        talk.house.journal.ending = ended = asyncio.Event()
        await talk.say(SECOND, second)
        await talk.say(THIRD)
        ended.set()
        await until(lambda: second.is_asked)
        await revise(talk, THIRD, text)
        second.is_known.set()
    said = ["Alice: two", *([] if text is None else [f"Alice: {text}"])]
    assert talk.house.provider.requests[-1].messages[-1] == Turn("user", "\n\n".join(said))
    assert talk.tasks["three"].result() == ("withdrawn" if text is None else "carried")


@pytest.mark.parametrize("text", [None, "zwei"])
async def test_an_answer_whose_model_has_a_message_already_is_left_to_end(text: str | None) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, busy_input=BusyInput.STEER)
        await talk.say(FIRST, first := SlowChat())
        await until(lambda: first.is_asked)
        await talk.say(SECOND)
        first.is_known.set()
        await until(lambda: talk.chats["one"].answer.written == "Let me see")
        await revise(talk, SECOND, text)
        talk.gate.set()
    assert talk.asked == ["Alice: two"]
    assert {text: task.result() for text, task in talk.tasks.items()} == {"one": "ran", "two": "carried"}
    assert talk.house.journal.outcomes == {1: "ran", 2: "carried"}
    assert (talk.chats["one"].said, talk.chats["two"].said) == ([], [])


async def test_what_a_command_has_put_in_line_goes_with_its_command() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group, ["Never."])
        await talk.begin()
        asking = message("!session queue later", position="1.2", root="1.0", event="Ev2")
        await talk.say(asking)
        await until(talk.tasks["!session queue later"].done)
        await talk.revising.reword(asking.place, "other words")
        await talk.revising.withdraw(asking.place, ALICE)
        talk.gate.set()
        await until(lambda: talk.house.dispatcher.conversations == 0)
    assert talk.house.journal.outcomes == {1: "ran", 2: "command", 3: "withdrawn"}
    assert talk.asked == ["Alice: one"]


@pytest.mark.parametrize("text", [None, "effort:high eins"])
async def test_a_message_is_taken_back_or_reworded_while_its_own_turn_prepares(text: str | None) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group)
        await talk.say(FIRST, chat := SlowChat())
        await until(lambda: chat.is_asked)
        assert talk.house.journal.begun == {1}
        await revise(talk, FIRST, text)
        chat.is_known.set()
        talk.gate.set()
    house = talk.house
    assert (chat.said, chat.whispered, house.dispatcher.conversations) == ([], [], 0)
    if text is None:
        assert (house.provider.requests, chat.answer.written) == ([], "")
        assert house.journal.outcomes == {1: "withdrawn"}
        assert [record.lines for record in house.journal.records] == [()]
    else:
        (request,) = house.provider.requests
        assert (request.messages, request.effort) == ((Turn("user", "Alice: eins"),), "high")
        assert house.journal.reworded == {1: text}
        assert [line.content for line in house.journal.records[0].lines] == ["eins", "Let me see"]
        assert chat.answer.written == "Let me see"


async def test_words_that_change_again_while_the_turn_prepares_for_the_last_ones_count() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group)
        await talk.say(FIRST, chat := SlowChat())
        for text in ("eins", "un", "uno"):
            await until(lambda: chat.is_asked)
            await talk.revising.reword(FIRST.place, text)
            chat.is_asked = False
            chat.is_known.set()
            await asyncio.sleep(0)
            chat.is_known.clear()
        chat.is_known.set()
        talk.gate.set()
    assert talk.asked == ["Alice: uno"]


class Together(Talk):
    """An answer to two messages at once, of which the second one is the reason for it to begin anew."""

    def __init__(self, group: asyncio.TaskGroup, *scripts: Sequence[Step]) -> None:
        super().__init__(group, *scripts, busy_input=BusyInput.INTERRUPT)

    async def join(self, first: FakeChat | None = None) -> None:
        await self.begin()
        self.house.journal.ending = ended = asyncio.Event()
        await self.say(SECOND, first)
        await self.say(THIRD)
        ended.set()

    @property
    def kept(self) -> list[list[str]]:
        return [[line.content for line in record.lines] for record in self.house.journal.records[1:]]

    @property
    def results(self) -> tuple[str, str]:
        return self.tasks["two"].result(), self.tasks["three"].result()


async def test_without_the_first_of_those_that_are_to_be_answered_together_the_others_are_answered() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Together(group, ["Third."])
        await talk.join(second := SlowChat())
        await until(lambda: second.is_asked)
        await talk.revising.withdraw(SECOND.place, BOB)
        assert talk.tasks["two"].done(), "whoever tells of it can know that it is written down"
    assert talk.results == ("withdrawn", "ran")
    assert talk.asked[1:] == ["Alice: three"]
    assert talk.house.journal.outcomes == {1: "interrupted", 2: "withdrawn", 3: "ran"}
    assert (second.said, second.answer.written) == ([], "")
    assert talk.chats["three"].answer.written == "Third."
    assert talk.kept == [[], ["three", "Third."]]


async def test_an_answer_to_several_messages_is_begun_anew_without_the_first_one_that_its_author_takes_back() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Together(group, ["Both", asyncio.Event()], ["Third."])
        await talk.join()
        await until(lambda: talk.chats["two"].answer.written == "Both")
        await talk.revising.withdraw(SECOND.place, BOB)
        await talk.revising.withdraw(SECOND.place, ALICE)
    assert talk.results == ("stopped", "ran")
    assert [request.messages[-1] for request in talk.house.provider.requests[1:]] == [
        Turn("user", "Alice: two\n\nAlice: three"),
        Turn("user", "Alice: three"),
    ]
    assert talk.house.journal.outcomes == {1: "interrupted", 2: "stopped", 3: "ran"}
    assert (talk.chats["two"].said, talk.chats["three"].said) == ([wording.STOPPED], [])
    assert talk.chats["two"].others() == []
    assert talk.kept == [["two", "Both"], ["three", "Third."]]


async def test_an_answer_that_is_not_visible_yet_is_begun_anew_without_a_word_and_what_it_took_is_counted() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Together(group, [asyncio.Event()], ["Third."])
        await talk.join()
        await until(lambda: len(talk.house.provider.requests) == 2)
        await talk.revising.withdraw(SECOND.place, ALICE)
    assert talk.results == ("withdrawn", "ran")
    assert (talk.chats["two"].said, talk.chats["two"].answer.written) == ([], "")
    assert [(record.run.outcome, record.run.calls) for record in talk.house.journal.records[1:]] == [
        ("withdrawn", 1),
        ("ran", 1),
    ]
    assert talk.kept == [[], ["three", "Third."]]


async def test_what_became_of_a_message_while_a_model_had_it_counts_when_it_is_to_be_given_to_one_again() -> None:
    for text, asked in ((None, []), ("drei", ["Alice: drei"])):
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            talk = Together(group, ["Both", asyncio.Event()], ["Third."])
            await talk.join()
            await until(lambda talk=talk: talk.chats["two"].answer.written == "Both")
            await revise(talk, THIRD, text)
            assert not talk.tasks["three"].done()
            await talk.revising.withdraw(SECOND.place, ALICE)
        assert talk.results == ("stopped", "withdrawn" if text is None else "ran")
        assert [request.messages[-1].text for request in talk.house.provider.requests[2:]] == asked


async def test_an_answer_that_is_made_is_shown_to_whoever_still_waits_for_it() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Together(group, ["Both."])
        await talk.join()
        talk.house.journal.ending = ended = asyncio.Event()
        await until(lambda: 2 in talk.house.journal.promised)
        await talk.revising.withdraw(SECOND.place, ALICE)
        ended.set()
    assert talk.results == ("ran", "carried")
    assert len(talk.house.provider.requests) == 2
    assert talk.chats["two"].answer.is_finished


async def test_an_answer_whose_end_could_not_be_written_is_kept_though_its_question_is_deleted_meanwhile() -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        talk = Talk(group)
        talk.house.journal.broken_promises = StateError("disk full")
        await talk.begin()
        talk.gate.set()
    talk.house.journal.broken_promises = None
    await talk.revising.withdraw(FIRST.place, ALICE)
    assert talk.house.journal.outcomes == {}, "nothing of it would be kept any more"
    assert await talk.house.dispatcher.outbox.unwritten.write() == 0
    assert talk.house.journal.outcomes == {1: "ran"}
    assert [[line.content for line in record.lines] for record in talk.house.journal.records] == [["one", "Let me see"]]


@pytest.mark.parametrize("is_preparing", [False, True])
async def test_what_an_earlier_process_left_visible_gives_way_to_a_word_when_its_question_is_taken_back(
    *, is_preparing: bool
) -> None:
    house, chat = House(), SlowChat()
    accepted = await house.dispatcher.accept(FIRST)
    assert accepted is not None
    work = Work(accepted, chat, Remains(("9.1",)), is_left_over=True, is_recovered=True)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        if not is_preparing:
            await house.dispatcher.revising.withdraw(FIRST.place, ALICE)
        turn = group.create_task(house.dispatcher.see_to(work))
        if is_preparing:
            await until(lambda: chat.is_asked)
            await house.dispatcher.revising.withdraw(FIRST.place, ALICE)
    assert (turn.result(), house.journal.outcomes) == ("withdrawn", {1: "withdrawn"})
    assert (chat.said, chat.reused, chat.answer.written) == ([wording.STOPPED], ("9.1",), "")
    assert house.provider.requests == []

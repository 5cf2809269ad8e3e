"""A start over what an earlier process left, with fakes at every port (session lifecycle, section 7)."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from app.background import Background
from app.channel import Address, Chat, IncomingMessage, Remains
from app.dispatch import wording
from app.dispatch.journal import Accepted, Boot, Promise, Unfinished
from app.dispatch.recovering import LOOK_AGAIN_S, LOOKS, LOOP_PAUSE_S, RECOVERY_FAILED, START_S, Recovering
from app.errors import ChannelUnavailableError, StateError, SwitchboardError
from app.sessions.restart import GivenUp
from tests.dispatch_house import House
from tests.fakes import EPOCH, FakeChat, message, until


class Restart:
    """A new process that finds ``left_over``."""

    def __init__(self, *scripts: Sequence[str | asyncio.Event], is_reachable: bool = True) -> None:
        self.house = House(*scripts) if scripts else House()
        self.background = Background()
        self.chats: dict[str, FakeChat] = {}
        self.is_reachable = is_reachable
        self.patience_s = START_S

    def reopen(self, said: IncomingMessage, address: str) -> Chat | None:
        assert address == "here"
        return self.chats.setdefault(said.position, FakeChat()) if self.is_reachable else None

    async def left(
        self,
        said: IncomingMessage,
        begins: int = 1,
        promise: str | None = None,
        *,
        is_command: bool = False,
        age: timedelta = timedelta(seconds=5),
    ) -> Unfinished:
        accepted = await self.house.dispatcher.accept(said, "here")
        assert accepted is not None
        earlier = Accepted(accepted.id, said, accepted.session_key, EPOCH - age, "here")
        owed = None if promise is None else Promise(promise, None, 0, EPOCH - age)
        return Unfinished(earlier, begins, is_command, owed)

    async def run(self, *left_over: Unfinished) -> int:
        self.house.journal.left_over = left_over
        journal, dispatcher, clock = self.house.journal, self.house.dispatcher, self.house.clock
        recovering = Recovering(journal, dispatcher, self.reopen, clock, freshness_s=3600.0, patience_s=self.patience_s)
        count = await recovering.run(self.background.spawn)
        await until(lambda: len(self.background) == 0)
        return count

    @property
    def outcomes(self) -> list[str]:
        return [self.house.journal.outcomes[number] for number in sorted(self.house.journal.outcomes)]


async def test_what_was_never_begun_is_answered_in_the_order_in_which_it_came_without_a_mark() -> None:
    restart = Restart(["one"], ["two"])
    first = await restart.left(message("a", root="1.0", position="1.1", event="Ev1"), begins=0)
    second = await restart.left(message("b", root="1.0", position="1.2", event="Ev2"), begins=0)
    assert await restart.run(first, second) == 2
    assert [chat.answer.written for chat in restart.chats.values()] == ["one", "two"]
    assert restart.outcomes == ["ran", "ran"]
    assert not any(chat.whispered for chat in restart.chats.values())


async def test_a_turn_that_was_begun_is_made_again_in_place_of_what_is_visible_of_it() -> None:
    restart = Restart(["whole"])
    restart.chats["1.1"] = FakeChat(left=Remains(("1.15", "1.16")))
    await restart.run(await restart.left(message(position="1.1")))
    chat = restart.chats["1.1"]
    assert chat.reused == ("1.15", "1.16")
    assert chat.answer.written == wording.recovered("whole")
    (record,) = restart.house.journal.records
    assert record.lines[-1].content == "whole", "the mark is not what the model said"


async def test_an_answer_that_was_made_is_shown_and_no_model_asked() -> None:
    restart = Restart()
    await restart.run(await restart.left(message(position="1.1"), promise="I said so."))
    assert restart.chats["1.1"].answer.written == wording.recovered("I said so.")
    assert restart.house.provider.requests == []
    assert restart.outcomes == ["redelivered"]


async def test_an_answer_that_is_whole_already_is_left_alone() -> None:
    restart = Restart()
    restart.chats["1.1"] = FakeChat(left=Remains(("1.15",), is_whole=True))
    assert await restart.run(await restart.left(message(position="1.1"), promise="I said so.")) == 0
    assert restart.chats["1.1"].answer.written == ""
    assert restart.outcomes == ["recovered"]


async def test_an_unmentioned_reply_that_nobody_looked_at_yet_is_looked_at_now() -> None:
    restart = Restart()
    follow_up = message(root="1.0", position="1.1", address=Address.FOLLOW_UP)
    assert await restart.run(await restart.left(follow_up, begins=0)) == 0
    assert restart.outcomes == ["not_meant"]


async def test_an_unmentioned_reply_in_a_thread_that_cannot_be_read_is_looked_at_again_later() -> None:
    """An earlier process may have known already that the bot takes part in it."""
    restart = Restart(["whole"])
    restart.chats["1.1"] = chat = FakeChat(unreadable=ChannelUnavailableError("timeout"), is_part=True)
    follow_up = message(root="1.0", position="1.1", address=Address.FOLLOW_UP)
    assert await restart.run(await restart.left(follow_up, begins=0)) == 0
    assert restart.outcomes == []
    chat.unreadable = None
    rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
    await until(lambda: restart.outcomes == ["ran"])
    rounds.cancel()
    assert chat.answer.written == "whole"


async def test_whoever_gave_a_command_is_told_to_look_whether_it_took_effect() -> None:
    restart = Restart()
    await restart.run(await restart.left(message("!memory forget x", position="1.1"), is_command=True))
    assert restart.chats["1.1"].said == [wording.gave_up(GivenUp.COMMAND)]
    assert restart.outcomes == ["given_up"]


async def test_what_nobody_can_be_told_any_more_is_ended_and_nothing_else_waits_for_it() -> None:
    restart = Restart(is_reachable=False)
    assert await restart.run(await restart.left(message(position="1.1"))) == 0
    assert restart.outcomes == ["abandoned"]


async def test_a_process_that_starts_again_and_again_rests_before_it_resumes() -> None:
    restart = Restart(["whole"])
    restart.house.journal.boot = Boot(was_clean=False, recent_at=(EPOCH, EPOCH, EPOCH))
    resumed = await restart.left(message(position="1.1", event="Ev1"))
    fresh = await restart.left(message(position="2.1", event="Ev2"), begins=0)
    assert await restart.run(resumed, fresh) == 1
    assert "1.1" not in restart.outcomes
    assert restart.chats["1.1"].answer.written == ""
    rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
    await until(lambda: len(restart.house.journal.outcomes) == 2)
    rounds.cancel()
    assert restart.house.clock.slept[0] == LOOP_PAUSE_S
    assert restart.chats["1.1"].answer.written == wording.recovered("whole")


@pytest.mark.parametrize("fault", [ChannelUnavailableError("timeout"), StateError("locked")])
async def test_a_thread_that_cannot_be_read_is_looked_at_again_later_because_answering_could_double(
    fault: SwitchboardError,
) -> None:
    restart = Restart(["whole"])
    restart.chats["1.1"] = chat = FakeChat(unreadable=fault)
    assert await restart.run(await restart.left(message(position="1.1"))) == 0
    assert chat.answer.written == ""
    chat.unreadable = None
    rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
    await until(lambda: bool(restart.house.journal.outcomes))
    rounds.cancel()
    assert restart.house.clock.slept[0] == LOOK_AGAIN_S
    assert chat.answer.written == wording.recovered("whole")


async def beside(restart: Restart, unread: Unfinished) -> asyncio.Task[str]:
    """A message that arrives in the same thread when ``unread`` could not be looked at."""
    assert await restart.run(unread) == 0
    arriving = asyncio.create_task(restart.house.handle(message("later", root="1.0", position="1.2", event="Ev2")))
    await until(lambda: restart.house.dispatcher.lines.waiting == 2)
    return arriving


@pytest.mark.parametrize(("promise", "asked"), [(None, ["earlier", "later"]), ("I said so.", ["later"])])
async def test_what_arrives_meanwhile_stands_behind_a_message_that_could_not_be_looked_at(
    promise: str | None, asked: list[str]
) -> None:
    restart = Restart(["whole"], ["and more"])
    restart.chats["1.1"] = chat = FakeChat(unreadable=ChannelUnavailableError("timeout"))
    earlier = message("earlier", root="1.0", position="1.1", event="Ev1")
    arriving = await beside(restart, await restart.left(earlier, promise=promise))
    chat.unreadable = None
    rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
    assert await arriving == "ran"
    rounds.cancel()
    assert list(restart.house.journal.outcomes) == [1, 2]
    calls = restart.house.provider.requests
    assert [call.messages[-1].text.removeprefix("Alice: ") for call in calls] == asked
    assert restart.house.dispatcher.conversations == 0


async def test_a_start_waits_only_a_moment_for_what_takes_long_to_look_at() -> None:
    class Slow(FakeChat):
        async def remains(self, foreign: Collection[str]) -> Remains:
            await is_read.wait()
            return Remains()

    restart, is_read = Restart(["whole"], ["and more"]), asyncio.Event()
    restart.patience_s = 0.01
    restart.chats["1.1"] = Slow()
    arriving = await beside(restart, await restart.left(message("earlier", root="1.0", position="1.1", event="Ev1")))
    is_read.set()
    rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
    assert await arriving == "ran"
    rounds.cancel()
    assert list(restart.house.journal.outcomes) == [1, 2]


async def test_nobody_stands_for_ever_behind_a_message_that_cannot_be_looked_at() -> None:
    restart = Restart(["whole"])
    restart.chats["1.1"] = FakeChat(unreadable=ChannelUnavailableError("missing_scope"))
    earlier = message("earlier", root="1.0", position="1.1", event="Ev1")
    arriving = await beside(restart, await restart.left(earlier))
    rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
    assert await arriving == "ran"
    rounds.cancel()
    assert len(restart.house.clock.slept) > LOOKS
    assert restart.outcomes == ["ran"]


async def test_a_message_that_cannot_be_looked_at_holds_up_no_other_and_is_left_to_the_next_start() -> None:
    restart = Restart(["whole"])
    restart.chats["1.1"] = chat = FakeChat(unreadable=RuntimeError("a bug"))
    first, second = [message(event=f"E{each}", position=f"{each}.1") for each in (1, 2)]
    with capture_logs() as logs:
        assert await restart.run(await restart.left(first), await restart.left(second)) == 1
    assert (chat.answer.written, chat.said) == ("", [])
    assert restart.chats["2.1"].answer.written == wording.recovered("whole")
    assert list(restart.house.journal.outcomes) == [2]
    assert [line["reference"] for line in logs if line["event"] == RECOVERY_FAILED] == [first.reference]


async def test_a_conversation_that_cannot_be_reopened_holds_up_no_other_and_is_left_to_the_next_start() -> None:
    class Buggy(Restart):
        def reopen(self, said: IncomingMessage, address: str) -> Chat | None:
            if said.position == "1.1":
                raise RuntimeError
            return super().reopen(said, address)

    restart = Buggy(["whole"])
    first, second = [message(event=f"E{each}", position=f"{each}.1") for each in (1, 2)]
    assert await restart.run(await restart.left(first), await restart.left(second)) == 1
    assert list(restart.house.journal.outcomes) == [2]


async def test_a_look_that_is_taken_later_and_fails_is_left_to_the_next_start_with_a_reference_in_the_log() -> None:
    restart = Restart(["whole"])
    restart.chats["1.1"] = chat = FakeChat(unreadable=ChannelUnavailableError("timeout"))
    await restart.run(await restart.left(message(position="1.1")))
    chat.unreadable = RuntimeError("a bug")
    with capture_logs() as logs:
        rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
        await until(lambda: any(line["event"] == RECOVERY_FAILED for line in logs))
        rounds.cancel()
    assert [line["reference"] for line in logs if line["event"] == RECOVERY_FAILED] == [message().reference]
    assert (chat.answer.written, chat.said, restart.house.journal.outcomes) == ("", [], {})

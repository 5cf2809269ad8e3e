"""What a broken-off answer left in a thread is taken by the one message whose it is (session lifecycle, section 7)."""

from collections.abc import Sequence

from app.background import Background
from app.channel import Chat, IncomingMessage, Remains
from app.dispatch import wording
from app.dispatch.journal import Promise, Unfinished
from app.dispatch.recovering import Recovering
from tests.dispatch_house import House
from tests.fakes import EPOCH, FakeChat, message, until

ROOT = "1.0"
UNMARKED = Remains(("1.9",))
"""A stream that the last process began and did not live to note down: whoever looks finds that it is nobody's."""


class Thread:
    """A new process, and one thread in which everybody sees the same."""

    def __init__(self, left: Remains, *scripts: Sequence[str]) -> None:
        self.house = House(*scripts)
        self.left = left
        self.chats: dict[str, FakeChat] = {}

    def reopened(self, said: IncomingMessage, _address: str) -> Chat:
        return self.chats.setdefault(said.position, FakeChat(left=self.left))

    async def unfinished(self, position: str, begins: int, promise: str | None = None) -> Unfinished:
        accepted = await self.house.dispatcher.accept(message(root=ROOT, position=position, event=position), "here")
        assert accepted is not None
        owed = None if promise is None else Promise(promise, None, 0, EPOCH)
        return Unfinished(accepted, begins, is_command=False, promise=owed)

    async def recovered(self, *left_over: Unfinished) -> None:
        self.house.journal.left_over = left_over
        background = Background()
        recovering = Recovering(
            self.house.journal, self.house.dispatcher, self.reopened, self.house.clock, freshness_s=3600.0
        )
        await recovering.run(background.spawn)
        await until(lambda: len(background) == 0)


async def test_a_message_whose_turn_was_not_begun_takes_nothing_of_what_stands_in_the_thread() -> None:
    thread = Thread(UNMARKED, ["one"], ["two"], ["three"])
    begun = await thread.unfinished("1.1", begins=1)
    waiting = [await thread.unfinished(position, begins=0) for position in ("1.2", "1.3")]
    await thread.recovered(begun, *waiting)
    assert [chat.reused for chat in thread.chats.values()] == [("1.9",), (), ()]
    assert [chat.answer.written for chat in thread.chats.values()] == [wording.recovered("one"), "two", "three"]


async def test_an_answer_that_was_made_without_a_turn_takes_the_place_of_its_own_remains() -> None:
    thread = Thread(UNMARKED)
    await thread.recovered(await thread.unfinished("1.1", begins=0, promise="Too long."))
    (chat,) = thread.chats.values()
    assert (chat.reused, chat.answer.written) == (("1.9",), wording.recovered("Too long."))


async def test_a_message_that_was_answered_with_an_apology_before_its_turn_began_is_not_answered_again() -> None:
    thread = Thread(Remains(("1.9",), is_whole=True))
    await thread.recovered(await thread.unfinished("1.1", begins=0))
    assert thread.house.provider.requests == []
    assert list(thread.house.journal.outcomes.values()) == ["recovered"]

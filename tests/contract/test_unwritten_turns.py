"""A turn whose end could not be written is kept once, by this process or by the next one; over every state database."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from app.background import Background
from app.channel import Chat, IncomingMessage, Remains
from app.dispatch import wording
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.journal import Accepted, TurnRecord
from app.dispatch.outbox import PROMISE_AGAIN_S
from app.dispatch.ports import Limits
from app.dispatch.recovering import Recovering
from app.dispatch.work import Made, Work
from app.errors import DeliveryError, StateError, StoppedByUserError
from app.sessions.cache import ConversationCache
from app.sessions.cached_transcripts import CachedTranscripts
from app.sessions.usage import Which
from app.state.engine import Database
from app.state.journal import StateJournal
from app.state.usage import StateUsage
from tests.fakes import FakeChat, ManualClock, OneModel, ScriptedProvider, message, ports_of, until
from tests.session_lines import contents, store_over
from tests.state_databases import database, migrated_url, state_backend

__all__ = ["database", "migrated_url", "state_backend"]

FIRST = message("first?", root="1.0", position="1.1", event="Ev1")
SECOND = message("second?", root="1.0", position="1.2", event="Ev2")
WHOLE = Remains(("1.15",), is_whole=True)
FOR_GOOD = " for good"


class FailingJournal(StateJournal):
    """One step fails, before or after it has reached the disk: once, or for good."""

    fault = ""
    times = 1

    async def promise(
        self, accepted: Accepted, text: str, record: TurnRecord | None = None, carried: Sequence[Accepted] = ()
    ) -> None:
        self._at("before promise")
        await super().promise(accepted, text, record, carried)
        self._at("after promise")

    async def end(self, accepted: Accepted, outcome: str, record: TurnRecord | None = None) -> None:
        self._at("before end")
        await super().end(accepted, outcome, record)
        self._at("after end")

    async def undelivered(self, accepted: Accepted, record: TurnRecord | None) -> int:
        self._at("before undelivered")
        attempts = await super().undelivered(accepted, record)
        self._at("after undelivered")
        return attempts

    def _at(self, step: str) -> None:
        if step == self.fault and self.times:
            self.times -= 1
            raise StateError("disk full")

    def fail(self, fault: str) -> None:
        """``fault``: a step, and “for good” behind it if that lasts as long as anybody tries it in a row."""
        self.fault = fault.removesuffix(FOR_GOOD)
        self.times = 1 + len(PROMISE_AGAIN_S) if fault.endswith(FOR_GOOD) else 1


@dataclass(slots=True)
class Process:
    """A bot over the state database, which may be one of several that follow one another."""

    database: Database
    clock: ManualClock = field(default_factory=ManualClock)
    chats: dict[str, FakeChat] = field(default_factory=dict[str, FakeChat])
    provider: ScriptedProvider = field(default_factory=lambda: ScriptedProvider(["one"], ["two"]))
    journal: FailingJournal = field(init=False)
    dispatcher: Dispatcher = field(init=False)

    def __post_init__(self) -> None:
        self.journal = FailingJournal(self.database, self.clock)
        transcripts = CachedTranscripts(store_over(self.database, self.clock), ConversationCache(self.clock))
        ports = replace(ports_of(OneModel(self.provider), self.clock), journal=self.journal, transcripts=transcripts)
        self.dispatcher = Dispatcher(ports, Limits(60.0, 200))

    def chat(self, said: IncomingMessage, _address: str = "here") -> Chat:
        return self.chats.setdefault(said.position, FakeChat())

    async def answer(self, said: IncomingMessage) -> str:
        accepted = await self.dispatcher.accept(said, "here")
        assert accepted is not None
        outcome = await self.dispatcher.handle(accepted, self.chat(said))
        self.clock.elapsed_s += 1
        return outcome

    async def recover(self) -> None:
        background = Background()
        recovering = Recovering(self.journal, self.dispatcher, self.chat, self.clock, freshness_s=3600.0)
        await recovering.run(background.spawn)
        await until(lambda: len(background) == 0)

    async def transcript(self) -> list[str]:
        store = store_over(self.database, self.clock)
        (entry,) = await store.list_sessions()
        return contents(await store.load(entry.session_id))

    async def runs(self) -> int:
        return (await StateUsage(self.database).total(Which())).cost.runs


UNTOLD = ("ran", "one")
"""The answer is promised in the end, so nothing is lost that anybody would have to be told of."""
TOLD = ("unrecorded", f"one\n\n{wording.UNRECORDED}")


@pytest.mark.parametrize(
    ("fault", "ending"),
    [
        ("before promise", UNTOLD),
        ("before promise for good", TOLD),
        ("after promise", UNTOLD),
        ("after promise for good", TOLD),
        ("before end", UNTOLD),
        ("after end", UNTOLD),
    ],
)
async def test_a_turn_that_could_not_be_written_is_kept_once_before_the_next_one(
    database: Database, fault: str, ending: tuple[str, str]
) -> None:
    process = Process(database)
    process.journal.fail(fault)
    outcome = await process.answer(FIRST)
    assert (outcome, process.chats["1.1"].answer.written) == ending
    assert await process.answer(SECOND) == "ran"
    later = Process(database, chats={each.position: FakeChat(left=WHOLE) for each in (FIRST, SECOND)})
    await later.recover()
    assert await later.transcript() == ["first?", "one", "second?", "two"]
    assert await later.runs() == 2
    assert await later.journal.unfinished() == []
    assert later.provider.requests == []


@pytest.mark.parametrize(
    ("fault", "ending"), [("after promise for good", TOLD), ("before end", UNTOLD), ("after end", UNTOLD)]
)
async def test_a_turn_that_was_promised_and_could_not_be_ended_is_kept_once_by_the_next_process(
    database: Database, fault: str, ending: tuple[str, str]
) -> None:
    process = Process(database)
    process.journal.fail(fault)
    outcome = await process.answer(FIRST)
    assert (outcome, process.chats["1.1"].answer.written) == ending
    later = Process(database, chats={"1.1": FakeChat(left=WHOLE)})
    await later.recover()
    assert await later.answer(SECOND) == "ran"
    assert await later.transcript() == ["first?", "one", "second?", "one"]
    assert await later.runs() == 2


@pytest.mark.parametrize("fault", ["before end", "after end"])
async def test_what_is_taken_back_after_it_could_not_be_ended_does_not_come_back_with_the_next_process(
    database: Database, fault: str
) -> None:
    process = Process(database)
    process.journal.fail(fault)
    await process.answer(FIRST)
    await process.answer(SECOND)
    store = store_over(database, process.clock)
    (entry,) = await store.list_sessions()
    await store.rewind(entry.session_id, 2)
    later = Process(database, chats={"1.1": FakeChat(left=WHOLE)})
    await later.recover()
    assert await later.transcript() == []


@pytest.mark.parametrize("fault", ["before undelivered", "after undelivered"])
async def test_an_answer_that_could_neither_be_shown_nor_written_is_kept_once_and_shown_by_the_next_process(
    database: Database, fault: str
) -> None:
    process = Process(database)
    process.journal.fail(fault)
    process.chats["1.1"] = FakeChat(finish_failure=DeliveryError("is_archived"))
    assert await process.answer(FIRST) == "unrecorded"
    assert await process.answer(SECOND) == "ran"
    later = Process(database)
    await later.recover()
    assert later.chats["1.1"].answer.written == wording.recovered("one")
    assert await later.transcript() == ["first?", "one", "second?", "two"]
    assert await later.runs() == 2
    assert later.provider.requests == []


@pytest.mark.parametrize("fault", ["before promise for good", "after promise for good", "before end", "after end"])
async def test_what_could_not_be_written_is_written_when_the_process_ends_and_once(
    database: Database, fault: str
) -> None:
    process = Process(database)
    process.journal.fail(fault)
    await process.answer(FIRST)
    unwritten = process.dispatcher.outbox.unwritten
    assert (len(unwritten), await unwritten.write(), await unwritten.write()) == (1, 0, 0)
    assert await process.journal.unfinished() == []
    assert await process.transcript() == ["first?", "one"]
    assert await process.runs() == 1


async def test_what_was_answered_along_ends_with_the_turn_that_could_not_be_written(database: Database) -> None:
    process = Process(database)
    first, along = [await process.dispatcher.accept(each, "here") for each in (FIRST, SECOND)]
    assert first is not None
    assert along is not None
    await process.dispatcher.outbox.settle(Work(first, FakeChat()), Made("both", "ran", None), [along])
    assert await process.journal.unfinished() == []


async def test_an_answer_that_its_reader_stopped_is_closed_by_the_next_turn_and_not_shown_again(
    database: Database,
) -> None:
    process = Process(database)
    process.journal.fail("before end")
    process.chats["1.1"] = FakeChat(finish_failure=StoppedByUserError())
    assert await process.answer(FIRST) == "stopped"
    assert process.chats["1.1"].said == [wording.STOPPED]
    assert await process.answer(SECOND) == "ran"
    assert await process.journal.unfinished() == []
    assert await process.transcript() == ["first?", "one", "second?", "two"]

"""The laws of taking back and rewording, over any history of a conversation in any mode.

Every message ends once; what nobody took back is answered or cut off by a person; nobody's words are kept twice; and
what a model is given at last are the latest words.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.channel import UserId
from app.sessions.busy import BusyInput
from tests.dispatch_house import House, SlowChat
from tests.fakes import Step, message, until

SENDERS = (*[UserId("slack:U1")] * 4, UserId("slack:U2"))
MOST = 24
"""Messages, and model calls, of one history."""
CUT = {"interrupted", "stopped"}
ENDS = CUT | {"ran", "carried", "withdrawn"}


@dataclass(frozen=True)
class Say:
    """Some messages, one right after the other."""

    sender: UserId
    count: int
    is_slow: bool
    """Who it is has to be looked up, which takes a while."""


@dataclass(frozen=True)
class Delete:
    which: int | None
    """``None``: the one whose turn runs."""


@dataclass(frozen=True)
class Edit:
    which: int | None
    version: int


@dataclass(frozen=True)
class LookUp:
    """What was slow to be looked up is known."""

    which: int


@dataclass(frozen=True)
class Answer:
    """A model that had begun to answer goes on."""

    which: int


@dataclass(frozen=True)
class Pause:
    steps: int


Act = Say | Delete | Edit | LookUp | Answer | Pause

which = st.integers(0, MOST - 1)
target = st.one_of(st.none(), st.none(), which)
pauses = st.builds(Pause, st.sampled_from((1, 2, 5, 20)))
acts: st.SearchStrategy[Act] = st.one_of(
    st.builds(Say, st.sampled_from(SENDERS), st.integers(1, 3), st.sampled_from((False, False, True))),
    st.builds(Delete, target),
    st.builds(Edit, target, st.integers(1, 9)),
    st.builds(LookUp, which),
    st.builds(Answer, which),
    pauses,
    pauses,
)


class History:
    def __init__(self, mode: BusyInput, group: asyncio.TaskGroup) -> None:
        self.gates = [asyncio.Event() for _ in range(MOST)]
        scripts: list[Sequence[Step]] = [
            ["so far ", gate, "done"] if number % 4 else [gate, "done"] for number, gate in enumerate(self.gates)
        ]
        self.house = House(*scripts, ["done"], busy_input=mode)
        self.group = group
        self.said = [message(f"m{n}v0.", position=f"1.{n:03}", root="1.0", event=f"Ev{n}") for n in range(MOST)]
        self.chats: list[SlowChat] = []
        self.tasks: list[asyncio.Task[str]] = []
        self.words: list[str] = []
        """The latest that are known before a model has the message."""
        self.later: list[set[str]] = []
        """Those that came after it, or while they were written down: a model need not be given them, but may be."""
        self.deleted: set[int] = set()

    async def take(self, act: Act) -> None:
        match act:
            case Say(count=count):
                for number in range(len(self.tasks), min(MOST, len(self.tasks) + count)):
                    self.say(number, act)
            case Delete(which) if self.tasks:
                self.delete(self.target(which))
            case Edit(which, version) if self.tasks:
                await self.edit(self.target(which), version)
            case LookUp(which) if self.tasks:
                self.chats[self.target(which)].is_known.set()
            case Answer(which):
                self.gates[which].set()
            case Pause(steps):
                await self.pause(steps)
            case _:
                pass

    def target(self, which: int | None) -> int:
        if which is not None:
            return which % len(self.tasks)
        turns = self.house.dispatcher.lines.turns()
        return int(turns[0].said.message.position.partition(".")[2]) if turns else len(self.tasks) - 1

    def say(self, number: int, act: Say) -> None:
        chat = SlowChat()
        if not act.is_slow:
            chat.is_known.set()
        self.said[number] = replace(self.said[number], user_id=act.sender)
        self.words.append(self.said[number].text)
        self.later.append(set())
        self.chats.append(chat)
        self.tasks.append(self.group.create_task(self.house.handle(self.said[number], chat)))

    def delete(self, number: int) -> None:
        self.deleted.add(number)
        told = self.said[number]
        self.group.create_task(self.house.dispatcher.revising.withdraw(told.place, told.user_id))

    async def edit(self, number: int, version: int) -> None:
        text, was_open = f"m{number}v{version}.", self.is_open(number)
        await self.house.dispatcher.revising.reword(self.said[number].place, text)
        if was_open and self.is_open(number):
            self.words[number] = text
            self.later[number].clear()
        else:
            self.later[number].add(text)

    def is_open(self, number: int) -> bool:
        """Whether it stands in a line, and no model has it."""
        lines = self.house.dispatcher.lines
        standing = [each for key in lines.keys for each in lines.tickets(key)]
        return any(each.said.message.place == self.said[number].place and not each.is_final for each in standing)

    async def pause(self, steps: int) -> None:
        for _ in range(steps):
            await asyncio.sleep(0)

    async def end(self) -> None:
        for chat in self.chats:
            chat.is_known.set()
        for gate in self.gates:
            gate.set()
        await until(lambda: all(task.done() for task in self.tasks))

    def check(self) -> None:
        journal, asked = self.house.journal, [each.messages[-1].text for each in self.house.provider.requests]
        results = [task.result() for task in self.tasks]
        assert self.house.dispatcher.conversations == 0
        assert sorted(journal.outcomes) == list(range(1, len(self.tasks) + 1))
        for number, result in enumerate(results):
            given = [each for each in asked if f"m{number}v" in each]
            assert result != "withdrawn" or number in self.deleted
            # What a person cut off ends what it had taken along, too.
            is_answered = result == "ran" or (result == "carried" and not CUT & set(results))
            if number in self.deleted or not is_answered:
                # Its last words may have come too late for the model that had it, and in time for one never asked.
                continue
            assert given, "it was lost"
            latest = {self.words[number], *self.later[number]}
            assert any(words in given[-1] for words in latest), "a model was given old words"
        kept = [line.content for record in journal.records for line in record.lines if line.role == "user"]
        names = [words.partition("v")[0] for words in kept]
        assert len(names) == len(set(names)), "words are kept twice"


async def play(mode: BusyInput, history: Sequence[Act]) -> list[str]:
    """How each message ended."""
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        played = History(mode, group)
        for act in history:
            await played.take(act)
        await played.end()
    played.check()
    return [task.result() for task in played.tasks]


@pytest.mark.unfollowed  # a hundred histories go through rooms that other tests reach too
@settings(max_examples=100, deadline=None)
@given(st.sampled_from((*BusyInput, BusyInput.INTERRUPT)), st.lists(acts, min_size=10, max_size=40))
def test_over_any_history_every_message_ends_once_and_is_asked_about_in_its_latest_words(
    mode: BusyInput, history: list[Act]
) -> None:
    assert set(asyncio.run(play(mode, history))) <= ENDS

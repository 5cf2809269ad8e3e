"""People in many threads, and how long they wait beyond the time that the model takes."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from app.playground.happenings import Happening, MessageChanged, MessagePosted
from app.playground.model import Message
from app.playground.seed import ALICE, BOT_ID, BOT_USER, GENERAL
from benchmarks.conversing_bots import MODEL_S
from benchmarks.soaking_accounts import Question, account, answer_text, ended_numbers, question_text
from benchmarks.soaking_people import words
from benchmarks.workspaces import Desk

_QUIET_S = 1.0
"""What would come twice comes within it."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How one round of talk went."""

    added_s: tuple[float, ...]
    """From each question to the whole answer, without the model's time; ``inf`` where none came."""
    most_at_once: int
    """Questions that waited for their answers at the same time."""
    lost: int
    doubled: int
    reordered: int


def pooled(rounds: Sequence[Waits]) -> Waits:
    """Several rounds as one: what a moment does to one of them is not the figure of all."""
    return Waits(
        tuple(added_s for each in rounds for added_s in each.added_s),
        max(each.most_at_once for each in rounds),
        sum(each.lost for each in rounds),
        sum(each.doubled for each in rounds),
        sum(each.reordered for each in rounds),
    )


@dataclass(slots=True)
class _Watch:
    said: dict[int, tuple[Message, float]] = field(default_factory=dict[int, tuple[Message, float]])
    answered_s: dict[int, float] = field(default_factory=dict[int, float])
    most_at_once: int = 0
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def see(self, happening: Happening) -> None:
        match happening:
            case MessagePosted(Message(bot_id=str()) as message) | MessageChanged(Message(bot_id=str()) as message):
                for number in ended_numbers(words(message)):
                    self.answered_s.setdefault(number, time.monotonic())
                self.more.set()
            case _:
                pass

    def note(self, number: int, message: Message, said_s: float) -> None:
        self.said[number] = (message, said_s)
        self.most_at_once = max(self.most_at_once, len(self.said) - len(self.answered_s))

    async def all_answered(self) -> None:
        while len(self.answered_s) < len(self.said):
            self.more.clear()
            await self.more.wait()


@dataclass(frozen=True, slots=True)
class Talk:
    """Questions in ``threads`` threads, one in each before the next one in any.

    ``per_s`` of them come in a second on average, at moments of chance; ``None`` is all of them in one go. With
    ``goes_on`` the later rounds are said in the threads that the first one began; bare Bolt knows nothing of threads,
    so that there every question begins one.
    """

    threads: int
    rounds: int
    per_s: float | None
    goes_on: bool
    timeout_s: float = 60.0

    async def ask(self, desk: Desk) -> Waits:
        """Questions left without an answer at the end of ``timeout_s`` are lost."""
        watch = _Watch()
        unsubscribe = desk.playground.workspace.subscribe(watch.see)
        try:
            await self._talk(desk, watch)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.timeout_s):
                    await watch.all_answered()
        finally:
            unsubscribe()
        await asyncio.sleep(_QUIET_S)
        return _waits(desk, watch)

    async def _talk(self, desk: Desk, watch: _Watch) -> None:
        roots = list[str]()
        for number, due_s in enumerate(self._moments(time.monotonic()), start=1):
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            thread = (number - 1) % self.threads
            root = roots[thread] if self.goes_on and number > self.threads else None
            # Bare Bolt repeats what it hears, so the right answer is in the question; our model gives it by itself.
            text = f"<@{BOT_USER}> {question_text(number)} {answer_text(number)}"
            said_s = time.monotonic()
            message = desk.playground.people.say(ALICE, GENERAL, text, thread_ts=root)
            roots.append(message.root_ts)
            watch.note(number, message, said_s)

    def _moments(self, begin_s: float) -> Iterator[float]:
        chance, due_s = random.Random(1), begin_s
        for _ in range(self.threads * self.rounds):
            yield due_s
            due_s += 0.0 if self.per_s is None else chance.expovariate(self.per_s)


def _waits(desk: Desk, watch: _Watch) -> Waits:
    shown: dict[str, str] = {}
    for message, _ in watch.said.values():
        thread = desk.playground.thread(message.channel, message.root_ts)
        shown[message.root_ts] = "".join(words(each) for each in thread if each.bot_id == BOT_ID)
    questions = [Question(number, message.root_ts, said_s) for number, (message, said_s) in watch.said.items()]
    counted = account(questions, shown)
    never = float("inf")
    return Waits(
        tuple(watch.answered_s.get(number, never) - said_s - MODEL_S for number, (_, said_s) in watch.said.items()),
        watch.most_at_once,
        len(counted.lost),
        len(counted.doubled),
        len(counted.reordered),
    )

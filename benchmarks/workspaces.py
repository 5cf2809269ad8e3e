"""The playground in a process of its own, and what a benchmark may ask it to do and to watch."""

import asyncio
import gc
import time
from contextlib import suppress
from dataclasses import dataclass, field

from app.playground.happenings import Happening, MessagePosted
from app.playground.model import Message
from app.playground.seed import ALICE, BOT_USER, GENERAL
from app.playground.server import Playground, open_playground
from app.slack.manifest import EVENTS_PATH
from benchmarks.children import BenchmarkError, Pipe, answer_questions
from benchmarks.stub_models import ANSWER
from memory.service.process import run

MENTION = f"<@{BOT_USER}> what do we know about the release?"
FOLLOW_UP = "and what about the one after it?"
_STATUS = "assistant.threads.setStatus"
_QUIET_S = 0.2


RIGHT_ANSWERS = (ANSWER, MENTION)
"""The stub model's, and the echo of bare Bolt. An apology comes fast as well, but is no answer."""


@dataclass(slots=True)
class Desk:
    """What the playground's process answers questions with."""

    playground: Playground
    answered_at: dict[str, float] = field(default_factory=dict[str, float])
    """Thread root → the loop's time at which the bot's first message in it appeared."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever a thread is answered for the first time."""
    wrong: list[str] = field(default_factory=list[str])
    """First messages that were no right answer."""
    roots: list[str] = field(default_factory=list[str])

    def see(self, happening: Happening) -> None:
        match happening:
            case MessagePosted(Message(bot_id=str(), root_ts=root) as message) if root not in self.answered_at:
                self.answered_at[root] = time.monotonic()
                self.answered.set()
                if not is_right(message):
                    self.wrong.append(message.text)
            case _:
                pass

    def mention(self) -> str:
        """Say something new to the bot; the ts of the thread that it begins."""
        return self.playground.people.say(ALICE, GENERAL, MENTION).ts

    async def all_answered(self, roots: list[str], timeout_s: float) -> None:
        """Raises ``TimeoutError`` when the bot is silent in one of them, ``BenchmarkError`` when it errs anywhere."""
        async with asyncio.timeout(timeout_s):
            for root in roots:
                while root not in self.answered_at:
                    self.answered.clear()
                    await self.answered.wait()
        if self.wrong:
            raise BenchmarkError(f"got {len(self.wrong)} wrong answers, such as {self.wrong[0]!r}")


def is_right(message: Message) -> bool:
    """Whether the message is the whole of a right answer, as plain text or as a markdown block."""
    marked_down = [str(block["text"]) for block in message.blocks if block.get("type") == "markdown"]
    return any(each in RIGHT_ANSWERS for each in (message.text, *marked_down))


@dataclass(frozen=True, slots=True)
class Connected:
    """The system's monotonic time at which there are that many Socket Mode connections."""

    connections: int = 1
    timeout_s: float = 15.0

    async def ask(self, desk: Desk) -> float:
        delivery = desk.playground.delivery
        await desk.playground.wait_for(lambda: delivery.connections() == self.connections, self.timeout_s)
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class PostTo:
    """Deliver over HTTP from now on."""

    port: int

    async def ask(self, desk: Desk) -> None:
        await desk.playground.delivery.use_http(f"http://127.0.0.1:{self.port}{EVENTS_PATH}")


@dataclass(frozen=True, slots=True)
class OneMention:
    """Seconds from a person's mention to the bot's first message in the thread."""

    timeout_s: float = 10.0

    async def ask(self, desk: Desk) -> float:
        said_at = time.monotonic()
        root = desk.mention()
        await desk.all_answered([root], self.timeout_s)
        return desk.answered_at[root] - said_at


@dataclass(frozen=True, slots=True)
class ManyMentions:
    """Seconds until that many mentions, said without a break in threads of their own, are all answered."""

    count: int
    timeout_s: float

    async def ask(self, desk: Desk) -> float:
        began_at = time.monotonic()
        roots: list[str] = []
        for _ in range(self.count):
            roots.append(desk.mention())
            await asyncio.sleep(0)
        await desk.all_answered(roots, self.timeout_s)
        return max(desk.answered_at[root] for root in roots) - began_at


@dataclass(frozen=True, slots=True)
class Acks:
    """What became of a burst: every acknowledgement's time, and what went wrong."""

    times_s: tuple[float, ...] = ()
    redelivered: int = 0
    unacknowledged: int = 0

    def __add__(self, other: "Acks") -> "Acks":
        return Acks(
            self.times_s + other.times_s,
            self.redelivered + other.redelivered,
            self.unacknowledged + other.unacknowledged,
        )


@dataclass(frozen=True, slots=True)
class Burst:
    """Say it all in one go, and watch the acknowledgements.

    As mentions, each opens a thread and is two events, ``message`` and ``app_mention``; as follow-ups they go into
    the threads that are open, and each is one event.
    """

    messages: int
    follows_up: bool = False
    timeout_s: float = 15.0

    async def ask(self, desk: Desk) -> Acks:
        playground = desk.playground
        before = len(playground.delivery.log)
        if self.follows_up:
            for root in desk.roots[: self.messages]:
                playground.people.say(ALICE, GENERAL, FOLLOW_UP, thread_ts=root)
        else:
            desk.roots += [desk.mention() for _ in range(self.messages)]
        with suppress(TimeoutError):  # what is still under way then counts as unacknowledged
            await playground.wait_for(lambda: playground.delivery.under_way == 0, self.timeout_s)
        attempts = playground.delivery.log[before:]
        return Acks(
            times_s=tuple(entry.ack_s for entry in attempts if entry.ack_s is not None),
            redelivered=sum(entry.attempt > 0 for entry in attempts),
            unacknowledged=sum(entry.ack_s is None for entry in attempts),
        )


@dataclass(frozen=True, slots=True)
class Redeliveries:
    """How many there have been so far."""

    async def ask(self, desk: Desk) -> int:
        return sum(entry.attempt > 0 for entry in desk.playground.delivery.log)


@dataclass(frozen=True, slots=True)
class Quiet:
    """Return once the bot has made no call for a moment, but for the status of whoever waits for a model."""

    timeout_s: float = 30.0

    async def ask(self, desk: Desk) -> None:
        seen = -1
        async with asyncio.timeout(self.timeout_s):
            while (made := sum(call.method != _STATUS for call in desk.playground.calls.calls)) != seen:
                seen = made
                await asyncio.sleep(_QUIET_S)


@dataclass(frozen=True, slots=True)
class EveryThreadAnswered:
    """How many threads the bursts have opened, once each of them is answered."""

    timeout_s: float

    async def ask(self, desk: Desk) -> int:
        await desk.all_answered(desk.roots, self.timeout_s)
        return len(desk.roots)


def workspace(pipe: Pipe) -> None:
    """The main function of a playground's process; its greeting is the address of its Web API.

    It collects no garbage, or its own pauses would count as the bot's, and its loop is the fastest there is, for it
    shares the cores with the bot.
    """
    gc.disable()
    run(_serve(pipe))


async def _serve(pipe: Pipe) -> None:
    """Without rates, which would measure themselves, and with Slack's own patience for acknowledgements."""
    async with open_playground(with_page=False, enforce_rates=False) as playground:
        desk = Desk(playground)
        playground.workspace.subscribe(desk.see)
        await answer_questions(pipe, desk, greeting=playground.api_url)

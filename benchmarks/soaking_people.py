"""What people do during a soak: questions with unique numbers in several threads and DMs, alone and in bursts."""

import asyncio
import random
from dataclasses import dataclass, field

from app.playground.happenings import Happening, MessageChanged, MessagePosted
from app.playground.model import Message
from app.playground.seed import ADA, ALICE, BOB, BOT_USER, DEPLOYS, GENERAL, LEADS
from app.playground.server import Playground
from benchmarks.soaking_accounts import ended_numbers, question_text

PLACES = 12
"""Threads that are talked in at one time."""
THREAD_QUESTIONS = 60
"""After so many, people begin another thread."""
BURST = (4, 15)
BURSTS, OPENINGS, MENTIONS = 0.06, 0.08, 0.4
"""Chances: of a burst instead of one question, of a question that begins a thread, of one that names the bot."""
UNANSWERED_MOST = 400
"""People wait then: a backlog without bound would say nothing about the bot."""


@dataclass(slots=True)
class Place:
    """A thread, and who talks in it."""

    channel: str
    root_ts: str
    people: tuple[str, ...]
    is_dm: bool
    questions: int = 1

    @property
    def key(self) -> str:
        return f"{self.channel}:{self.root_ts}"


@dataclass(slots=True)
class People:
    """``said``: the number of each question → its message."""

    playground: Playground
    chance: random.Random
    said: dict[int, Message] = field(default_factory=dict[int, Message])
    threads: set[str] = field(default_factory=set[str])
    bursts: int = 0
    _unanswered: set[int] = field(default_factory=set[int])
    _places: list[Place] = field(default_factory=list[Place])

    @property
    def unanswered(self) -> int:
        return len(self._unanswered)

    def see(self, happening: Happening) -> None:
        match happening:
            case MessagePosted(Message(bot_id=str()) as message) | MessageChanged(Message(bot_id=str()) as message):
                self._unanswered.difference_update(ended_numbers(words(message)))
            case _:
                pass

    async def talk(self, questions_per_s: float) -> None:
        """Until cancelled."""
        while True:
            asked = self._say_something() if self.unanswered < UNANSWERED_MOST else 1
            await asyncio.sleep(self.chance.expovariate(questions_per_s / asked))

    def _say_something(self) -> int:
        """How many questions it were."""
        if len(self._places) < PLACES or self.chance.random() < OPENINGS:
            self._open()
            return 1
        place = self.chance.choice(self._places)
        count = self.chance.randint(*BURST) if self.chance.random() < BURSTS else 1
        self.bursts += count > 1
        for _ in range(count):
            self._ask_in(place)
        if place.questions >= THREAD_QUESTIONS:
            self._places.remove(place)
        return count

    def _open(self) -> None:
        """A question at the top of a channel or of a DM."""
        where = self.chance.choice((GENERAL, DEPLOYS, LEADS, "dm"))
        people = {LEADS: (ADA, BOB), "dm": (self.chance.choice((ADA, ALICE, BOB)),)}.get(where, (ADA, ALICE, BOB))
        is_dm = where == "dm"
        channel = self.playground.people.open_dm(people[0], BOT_USER).id if is_dm else where
        message = self._say(self.chance.choice(people), channel, is_named=not is_dm)
        if len(self._places) < PLACES:
            self._places.append(Place(channel, message.ts, people, is_dm))

    def _ask_in(self, place: Place) -> None:
        is_named = not place.is_dm and self.chance.random() < MENTIONS
        self._say(self.chance.choice(place.people), place.channel, is_named=is_named, root_ts=place.root_ts)
        place.questions += 1

    def _say(self, user: str, channel: str, *, is_named: bool, root_ts: str | None = None) -> Message:
        number = len(self.said) + 1
        text = f"<@{BOT_USER}> {question_text(number)}" if is_named else question_text(number)
        message = self.playground.people.say(user, channel, text, thread_ts=root_ts)
        self.said[number] = message
        self.threads.add(f"{channel}:{message.root_ts}")
        self._unanswered.add(number)
        return message


def words(message: Message) -> str:
    """What a message of the bot says."""
    if message.stream is not None and message.stream.state == "in_progress":
        return message.stream.markdown
    marked_down = [str(block["text"]) for block in message.blocks if block.get("type") == "markdown"]
    return "\n".join(marked_down) or message.text

"""The memory commands over a store that has one record in each of several scopes."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from commands.builtin import Configuring
from commands.builtin.memory import memory_commands
from commands.errors import UnavailableError
from commands.ports import Lessons
from commands.preferences import Layer, Name, Slot
from commands.receipts import InProcessReceipts
from commands.registry import Registry
from commands.result import Result
from commands.spec import Caller
from memory.relevance import RelevanceRanker
from memory.store import MemoryStore
from memory.stores.inprocess import InProcessStore
from tests.command_house import CHANNEL, MEMBER, OTHER, HouseRules, a_caller, noon
from tests.conversation_house import THREAD, InProcessPreferences, choices
from tests.memory_records import fact

OWN, OTHERS, ORG = f"user:{MEMBER}", f"user:{OTHER}", "org:acme"
ROOM, REPO = f"channel:{CHANNEL}", "repo:acme/web"
FOREIGN_ORG = "org:rival"


@dataclass(slots=True)
class Heard:
    """Implements ``commands.ports.Lessons``: what was dropped, and how many records there were by then."""

    store: MemoryStore
    keys: Sequence[str]
    fault: UnavailableError | None = None
    dropped: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])

    async def pass_over(self, thread_key: str) -> None:
        await self._note("thread passed over", thread_key)

    async def drop_thread(self, thread_key: str, *, by: str) -> None:
        await self._note("thread", thread_key, by)

    async def drop_person(self, person_id: str) -> None:
        await self._note("person", person_id)

    async def _note(self, *what: object) -> None:
        if self.fault is not None:
            raise self.fault
        self.dropped.append((*what, sum([len(await self.store.list(key, 9)) for key in self.keys])))


@dataclass(slots=True)
class House:
    """A registry over a store that has one record in each scope."""

    store: InProcessStore
    rules: HouseRules = field(default_factory=HouseRules)
    preferences: InProcessPreferences = field(default_factory=InProcessPreferences)
    receipts: InProcessReceipts = field(default_factory=InProcessReceipts)
    lessons: Lessons | None = None

    def registry(self) -> Registry:
        config = Configuring(self.preferences, choices())
        commands = memory_commands(self.store, "acme", self.rules, config, self.lessons)
        return Registry(commands, self.rules, now=noon, receipts=self.receipts)

    async def say(self, line: str, caller: Caller | None = None) -> Result:
        return await self.registry().run_line(line, caller or a_caller())

    async def bind(self, repo: str, layer: Layer = Layer.THREAD) -> None:
        """``tests.conversation_house.THREAD``, or its channel."""
        slot = Slot(layer, THREAD if layer is Layer.THREAD else CHANNEL, Name.REPO)
        await self.preferences.set(slot, repo, expected_version=0, by=MEMBER)

    async def write(self, scope_key: str, *texts: str) -> None:
        await self.store.write(scope_key, [fact(text) for text in texts])


@asynccontextmanager
async def opened_house() -> AsyncGenerator[House]:
    store = InProcessStore(ranker=RelevanceRanker(), now=noon)
    house = House(store)
    for key in (OWN, OTHERS, ORG, ROOM, REPO, FOREIGN_ORG):
        await house.write(key, f"secret of {key.replace(':', ' ')}")
    yield house
    await store.aclose()

"""A dispatcher and the fakes around it."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal

from app.access.authority import TableAuthority
from app.agents.pricing import Price
from app.channel import Chat, IncomingMessage
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.ports import Limits
from app.sessions.busy import BusyInput
from commands.registry import Registry
from memory.store import MemoryStore
from memory.turn import FinishedTurn
from tests.fakes import (
    FakeChat,
    FakeJournal,
    FakePreferences,
    FakeUsage,
    ManualClock,
    OneModel,
    ScriptedProvider,
    Step,
    ports_of,
)


class KeptReflections:
    def __init__(self) -> None:
        self.turns: list[FinishedTurn] = []

    def schedule(self, turn: FinishedTurn, chat: Chat) -> None:
        self.turns.append(turn)


class SlowChat(FakeChat):
    """One that takes its time to tell who writes in it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_known = asyncio.Event()
        self.is_asked = False

    async def asker(self) -> str:
        self.is_asked = True
        await self.is_known.wait()
        return await super().asker()

    def knows_asker(self) -> bool:
        return self.is_known.is_set()


class House:
    """A dispatcher and the fakes around it."""

    def __init__(
        self,
        *scripts: Sequence[Step],
        memory: MemoryStore | None = None,
        commands: Registry | None = None,
        turn_s: float = 60.0,
        default_agent: str = "general",
        access: TableAuthority | None = None,
        prices: bool = False,
        busy_input: BusyInput = BusyInput.QUEUE,
    ) -> None:
        self.clock = ManualClock()
        self.provider = ScriptedProvider(*(scripts or (["Hello ", "Alice."],)))
        self.reflections = KeptReflections()
        ports = ports_of(
            OneModel(self.provider),
            self.clock,
            memory=memory,
            commands=commands,
            reflection=self.reflections,
            default_agent=default_agent,
            access=access,
            prices={"test/scripted": Price(Decimal(1), Decimal(2))} if prices else {},
        )
        assert isinstance(ports.preferences, FakePreferences)
        self.preferences = ports.preferences
        assert isinstance(ports.journal, FakeJournal)
        self.journal = ports.journal
        assert isinstance(ports.usage, FakeUsage)
        self.usage = ports.usage
        self.dispatcher = Dispatcher(ports, Limits(turn_s, 200, busy_input))
        self.chat = FakeChat()

    async def handle(self, said: IncomingMessage, chat: FakeChat | None = None) -> str:
        accepted = await self.dispatcher.accept(said)
        assert accepted is not None
        return await self.dispatcher.handle(accepted, chat or self.chat)

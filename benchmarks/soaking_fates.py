"""What happens to the bot during a soak: it is killed, ended in order, started again; its connections are cut."""

import asyncio
import itertools
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.playground.server import Playground
from app.sessions.restart import LOOP_STARTS, LOOP_WINDOW
from benchmarks.bots import bot_environment
from benchmarks.children import BenchmarkError

ROOT = Path(__file__).resolve().parent.parent
START_S = 40.0
ORDERLY_S = 60.0
LIFE_S = (2.0, 30.0)
AWAY_S = (0.0, 3.0)
APART_S = LOOP_WINDOW.total_seconds() + 6.0
"""Closer together, this many starts make a restart loop, and what was interrupted waits five minutes."""
CUT_EVERY_S = (4.0, 12.0)
BROKEN = 0.75
"""Share of the cuts that come without a word."""
ENDS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)
"""In turn."""
ON_THEIR_WAY, AWAIT_S = 4, 3.0
DRAINS_S = ("0.3", "8")
"""An orderly stop that has to break answers off, and one that has not."""


@dataclass(slots=True)
class BotProcess:
    """The soak's bot: one process after the other over one state database."""

    environment: Mapping[str, str]
    log: Path
    started_s: list[float] = field(default_factory=list[float])
    ended: Counter[str] = field(default_factory=Counter[str])
    _process: asyncio.subprocess.Process | None = None

    async def start(self, drain_s: str) -> None:
        settings = {**self.environment, "SWITCHBOARD_LIMITS__DRAIN_S": drain_s, "PYTHONPATH": str(ROOT)}
        self.started_s.append(time.monotonic())
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "benchmarks.soaking_bot",
                env={"PATH": os.defpath, **settings},
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    async def end(self, number: signal.Signals) -> None:
        """Raises ``BenchmarkError`` when it has ended by itself, or does not end."""
        process = self._running()
        process.send_signal(number)
        try:
            async with asyncio.timeout(ORDERLY_S):
                status = await process.wait()
        except TimeoutError as exc:
            raise BenchmarkError(f"the bot did not end within {ORDERLY_S:g} s of {number.name}") from exc
        if status != (-number if number is signal.SIGKILL else 0):
            raise BenchmarkError(f"the bot ended with status {status} on {number.name}")
        self.ended[number.name] += 1
        self._process = None

    async def aclose(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    def is_running(self) -> bool:
        """Raises ``BenchmarkError`` when it has ended by itself."""
        return self._running().returncode is None

    def _running(self) -> asyncio.subprocess.Process:
        process = self._process
        if process is None or process.returncode is not None:
            raise BenchmarkError(f"the bot ended by itself with status {process and process.returncode}")
        return process

    def until_free_to_start_s(self) -> float:
        """How long a start has to wait so as not to look like a restart loop."""
        recent = self.started_s[-(LOOP_STARTS - 1) :]
        is_free = len(recent) < LOOP_STARTS - 1
        return 0.0 if is_free else max(0.0, recent[0] + APART_S - time.monotonic())


@dataclass(slots=True)
class Fate:
    """Ends and starts the bot, and cuts its connections, at moments of chance."""

    playground: Playground
    bot: BotProcess
    chance: random.Random
    cuts: int = 0

    async def start(self) -> None:
        """Returns once it is connected. Raises ``BenchmarkError`` when it is not in time."""
        await self.bot.start(self.chance.choice(DRAINS_S))
        connections = self.playground.delivery.connections
        try:
            await self.playground.wait_for(lambda: self.bot.is_running() and connections() > 0, START_S)
        except TimeoutError as exc:
            raise BenchmarkError(f"the bot was not connected within {START_S:g} s") from exc

    async def restart_until(self, deadline_s: float) -> None:
        """Again and again while there is time; the bot runs when this returns."""
        ends = itertools.cycle(ENDS)
        while True:
            life_s = max(self.chance.uniform(*LIFE_S), self.bot.until_free_to_start_s())
            if time.monotonic() + life_s > deadline_s:
                return
            await asyncio.sleep(life_s)
            await self._some_event_is_on_its_way()
            await self.bot.end(next(ends))
            await asyncio.sleep(self.chance.uniform(*AWAY_S))
            await self.start()

    async def cut_now_and_then(self) -> None:
        """Until cancelled. Slack also asks to connect anew."""
        while True:
            await asyncio.sleep(self.chance.uniform(*CUT_EVERY_S))
            await self._some_event_is_on_its_way()
            if not self.playground.delivery.connections():
                continue
            self.cuts += 1
            if self.chance.random() < BROKEN:
                self.playground.delivery.drop_sockets()
            else:
                await self.playground.delivery.refresh_sockets()

    async def _some_event_is_on_its_way(self) -> None:
        """Or a moment has passed: what is cut then is left without its acknowledgement."""
        delivery = self.playground.delivery
        with suppress(TimeoutError):
            await self.playground.wait_for(lambda: delivery.under_way >= ON_THEIR_WAY, AWAIT_S)


def environment(playground: Playground, folder: Path) -> dict[str, str]:
    return {
        **bot_environment(playground.api_url, "socket", "offline/demo"),
        "SWITCHBOARD_DATA_DIR": str(folder),
        "SWITCHBOARD_STATE__URL": f"sqlite:///{folder / 'state.db'}",
        "SWITCHBOARD_SESSIONS__QUEUE_CAP": "1000",
    }

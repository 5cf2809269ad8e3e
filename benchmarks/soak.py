"""``python -m benchmarks.soak [--minutes 5] [--seed N]``: people talk, the bot is killed, and no message may suffer.

Thousands of questions in several threads and DMs of a playground in this process; the real bot in a process of its
own over one SQLite file, killed, ended in order and started again; its connections cut; its calls answered with 429 and
5xx, or handled by Slack and never answered. It ends by itself, and its exit status is 1 when a question was lost,
answered twice, or answered out of order.
"""

import argparse
import asyncio
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from app.clock import SystemClock
from app.playground.delivery import AckTimes
from app.playground.seed import BOT_ID
from app.playground.server import Playground, open_playground
from benchmarks.children import BenchmarkError
from benchmarks.command import load, machine
from benchmarks.soaking_accounts import Account, Question, account
from benchmarks.soaking_fates import BotProcess, Fate, environment
from benchmarks.soaking_mishaps import met, order_now_and_then
from benchmarks.soaking_people import People, words
from benchmarks.soaking_reports import Soaked, details, summary

QUESTIONS_PER_S = 12.0
TIMES = AckTimes(timeout_s=3.0, retry_after_s=(0.0, 5.0, 15.0))
"""Slack's own patience; its later attempts come sooner than Slack's, so that they fall into the soak."""
SETTLE_S = 240.0
QUIET_S = 5.0
"""After everything has settled, and after one more start: what would come twice comes then."""
PROGRESS_S = 30.0
_LOOK_AGAIN_S = 0.5


@dataclass(frozen=True, slots=True)
class Soak:
    playground: Playground
    people: People
    fate: Fate
    folder: Path
    mishaps: random.Random
    """For what goes wrong with calls to Slack."""

    async def run(self, duration_s: float) -> Soaked:
        """Raises ``BenchmarkError`` where the bot ends by itself or does not start."""
        began_s = time.monotonic()
        await self.fate.start()
        await self._live(duration_s)
        talked_s = time.monotonic() - began_s
        has_settled = await self._settled()
        await asyncio.sleep(QUIET_S)
        await self.fate.bot.end(signal.SIGTERM)
        await self.fate.start()
        await asyncio.sleep(QUIET_S)
        await self.fate.bot.end(signal.SIGTERM)
        return self._soaked(talked_s, time.monotonic() - began_s - talked_s, has_settled=has_settled)

    async def _live(self, duration_s: float) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.fate.restart_until(time.monotonic() + duration_s))
                ending = [
                    group.create_task(work)
                    for work in (
                        self.people.talk(QUESTIONS_PER_S),
                        self.fate.cut_now_and_then(),
                        order_now_and_then(self.playground.faults, self.mishaps, SystemClock()),
                        self._tell(),
                    )
                ]
                await asyncio.sleep(duration_s)
                for task in ending:
                    task.cancel()
        except* BenchmarkError as faults:
            raise BenchmarkError("; ".join(map(str, faults.exceptions))) from faults

    async def _tell(self) -> None:
        while True:
            await asyncio.sleep(PROGRESS_S)
            ended = sum(self.fate.bot.ended.values())
            asked, open_ = len(self.people.said), self.people.unanswered
            print(f"  … {asked} asked, {open_} unanswered, {ended} restarts, {self.fate.cuts} cuts", flush=True)

    async def _settled(self) -> bool:
        """Wait until every question that was taken is answered, and nothing is on its way."""
        deadline_s = time.monotonic() + SETTLE_S
        while time.monotonic() < deadline_s:
            is_quiet = self.fate.bot.is_running() and self.playground.delivery.under_way == 0
            if is_quiet and not self._account().lost:
                return True
            await asyncio.sleep(_LOOK_AGAIN_S)
        return False

    def _soaked(self, talked_s: float, settled_s: float, *, has_settled: bool) -> Soaked:
        kept = _records(self.folder / "state.db")
        deliveries = self.playground.delivery.log
        return Soaked(
            account=self._account(kept),
            threads={number: key_of(message.channel, message.root_ts) for number, message in self.people.said.items()},
            shown=self._shown(),
            bursts=self.people.bursts,
            ended=self.fate.bot.ended,
            cuts=self.fate.cuts,
            mishaps=met(self.playground.calls.calls),
            redelivered=sum(entry.attempt > 0 for entry in deliveries),
            unfinished=kept.unfinished,
            talked_s=talked_s,
            settled_s=settled_s,
            has_settled=has_settled,
            log=(self.folder / "bot.log").read_text(errors="replace"),
        )

    def _account(self, kept: "Records | None" = None) -> Account:
        arrivals = self._arrivals()
        order = {} if kept is None else kept.order
        questions = [
            Question(
                number,
                key_of(message.channel, message.root_ts),
                arrivals.get((message.channel, message.ts)),
                order.get(f"{message.channel}|{message.ts}"),
            )
            for number, message in self.people.said.items()
        ]
        return account(questions, self._shown())

    def _arrivals(self) -> dict[tuple[str, str], float]:
        """When the delivery that was acknowledged first was sent, by channel and ts; a mention comes as two events."""
        arrivals: dict[tuple[str, str], float] = {}
        for entry in self.playground.delivery.log:
            if entry.acked_at is not None:
                event = entry.payload.get("event", {})
                place = (str(event.get("channel")), str(event.get("ts")))
                arrivals[place] = min(arrivals.get(place, entry.sent_at), entry.sent_at)
        return arrivals

    def _shown(self) -> dict[str, str]:
        roots = {key_of(message.channel, message.root_ts): message for message in self.people.said.values()}
        return {
            key: "".join(
                words(each)
                for each in self.playground.thread(message.channel, message.root_ts)
                if each.bot_id == BOT_ID
            )
            for key, message in roots.items()
        }


@dataclass(frozen=True, slots=True)
class Records:
    """What the bot's own records say: the order of acceptance by ``channel|ts``, and what is without an end."""

    order: dict[str, int]
    unfinished: int


def _records(database: Path) -> Records:
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT id, place, state FROM inbox").fetchall()
        (owed,) = connection.execute("SELECT count(*) FROM deliveries WHERE state = 'pending'").fetchone()
    order = {place.partition("|")[2].removeprefix("slack:"): number for number, place, _ in rows}
    return Records(order, owed + sum(state != "ended" for *_, state in rows))


def key_of(channel: str, root_ts: str) -> str:
    return f"{channel}:{root_ts}"


async def soak(duration_s: float, seed: int, folder: Path) -> Soaked:
    chance = random.Random(seed)
    async with open_playground(with_page=False, enforce_rates=False, times=TIMES) as playground:
        people = People(playground, random.Random(chance.random()))
        playground.workspace.subscribe(people.see)
        bot = BotProcess(environment(playground, folder), folder / "bot.log")
        try:
            fate, mishaps = Fate(playground, bot, chance), random.Random(chance.random())
            return await Soak(playground, people, fate, folder, mishaps).run(duration_s)
        finally:
            await bot.aclose()


def main(arguments: Sequence[str]) -> int:
    """The exit status: 0 when nothing was lost, doubled or reordered."""
    options = _parser().parse_args(arguments)
    print(f"{machine()}; seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="switchboard-soak-"))
    try:
        soaked = asyncio.run(soak(options.minutes * 60, options.seed, folder))
    except BenchmarkError as fault:
        print(f"the soak broke off: {fault}; the bot's log is {folder / 'bot.log'}")
        return 1
    except BaseException:
        shutil.rmtree(folder)
        raise
    print(summary(soaked))
    print(f"load now: {load()}")
    if soaked.is_clean:
        shutil.rmtree(folder)
        return 0
    report = folder / "report.txt"
    report.write_text(details(soaked))
    print(f"FAILED: the questions and threads concerned are in {report}, the bot's log and records beside it")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="soak", description="Kill the bot while people talk, and count.")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long people talk")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="of everything left to chance")
    return parser


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)

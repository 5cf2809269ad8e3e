"""Receipts: what a command that changes something leaves behind, however it ends."""

from datetime import timedelta

from commands.errors import NotFoundError
from commands.ports import Receipt
from commands.receipts import InProcessReceipts
from commands.registry import Registry
from commands.spec import Command
from tests.command_house import NOON, HouseRules, Recorder, a_caller, noon, runs_list

MARKER = "hunter2sesame"


def a_stop(handler: Recorder) -> Command:
    return runs_list(handler, id="runs.stop", effect="write")


async def test_a_write_leaves_a_receipt_of_how_it_ended() -> None:
    receipts = InProcessReceipts()
    for fault in (None, NotFoundError(MARKER), KeyError(MARKER)):
        registry = Registry([a_stop(Recorder(fault=fault))], HouseRules(), now=noon, receipts=receipts)
        await registry.run_line("runs stop me", a_caller())
    assert await receipts.latest(5) == [
        Receipt("runs.stop", "slack:U1", False, "internal", NOON),
        Receipt("runs.stop", "slack:U1", False, "not_found", NOON),
        Receipt("runs.stop", "slack:U1", True, "ok", NOON),
    ]


async def test_what_reads_or_never_began_leaves_no_receipt() -> None:
    receipts = InProcessReceipts()
    rules = HouseRules()
    registry = Registry([runs_list(), a_stop(Recorder())], rules, now=noon, receipts=receipts)
    await registry.run_line("runs list me", a_caller())
    await registry.run_line("runs stop", a_caller())
    await registry.run_line("runs stop --help", a_caller())
    rules.closed = frozenset({"runs.stop"})
    await registry.run_line("runs stop me", a_caller())
    assert await receipts.latest(5) == []


async def test_receipts_are_bounded() -> None:
    receipts = InProcessReceipts(most=2)
    for name in "abc":
        await receipts.keep(Receipt(name, "slack:U1", True, "ok", NOON))
    assert [receipt.command_id for receipt in await receipts.latest(5)] == ["c", "b"]
    assert [receipt.command_id for receipt in await receipts.latest(1)] == ["c"]
    assert await receipts.latest(0) == []


async def test_receipts_are_dated_without_a_clock_of_their_own() -> None:
    receipts = InProcessReceipts()
    await Registry([a_stop(Recorder())], HouseRules(), receipts=receipts).run_line("runs stop me", a_caller())
    assert (await receipts.latest(1))[0].at.utcoffset() == timedelta(0)

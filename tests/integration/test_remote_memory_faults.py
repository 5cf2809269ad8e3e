"""The remote store when its service is slow, dead or dying: nobody waits for it longer than must be (section 19)."""

import asyncio
import re

import pytest
import structlog

from memory.record import WriteCounts
from memory.store import Query, Retrieved, StoreDamagedError, StoreUnavailableError
from memory.stores.remote_calls import CONNECTIONS, Call, Patience, Service
from memory.stores.remote_faults import ServiceSilentError
from memory.stores.remote_guard import Guard
from memory.stores.remote_trace import trace_id
from tests.memory_records import ORG, fact
from tests.memory_servers import HandClock, Scripted, answer, dropped, raw, refusal, scripted, silence

FOUND = answer({"records": [], "scores": []})
DONE = answer({"ok": True, "inserted": 1})
HASTE = Patience(call_s=0.1, first_try_s=0.05, probe_s=0.05, thorough_s=0.1)
ASKED = Query("deploys", 8)


async def search(remote: Scripted) -> Retrieved:
    return await remote.store.retrieve(ORG, ASKED)


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with scripted(FOUND) as remote:
        for _ in range(5):
            await search(remote)
        assert remote.service.connections == 1
        for _ in range(3):
            await asyncio.gather(*(search(remote) for _ in range(4)))
        assert remote.service.connections <= 4
        assert len(remote.service.asked) == 17


async def test_a_silent_service_costs_one_timeout_and_then_nothing() -> None:
    async with scripted(silence, patience=HASTE) as remote:
        assert (await search(remote)).is_degraded
        for _ in range(20):
            assert (await search(remote)).is_degraded
            with pytest.raises(StoreUnavailableError, match="left alone"):
                await remote.store.list(ORG, 9)
        assert len(remote.service.asked) == 1


def test_a_request_that_ends_in_a_way_nobody_foresaw_leaves_the_next_one_to_find_out() -> None:
    """Else a service would be left alone for ever, for no request would be let through."""
    clock = HandClock()
    guard = Guard(clock)
    with pytest.raises(ServiceSilentError), guard.watching():
        raise ServiceSilentError("no answer")
    for _ in range(2):
        clock.at_s += 60.0
        with pytest.raises(LookupError), guard.watching() as is_probe:
            raise LookupError
        assert is_probe


async def test_one_request_finds_out_whether_it_is_back() -> None:
    async with scripted(*[refusal(500)] * 4, FOUND) as remote:
        for _ in range(3):
            await search(remote)
        remote.clock.at_s = 0.9
        await search(remote)
        assert len(remote.service.asked) == 3
        remote.clock.at_s = 1.0
        both = await asyncio.gather(search(remote), search(remote))
        assert [each.is_degraded for each in both] == [True, True]
        assert len(remote.service.asked) == 4
        remote.clock.at_s = 2.9
        assert (await search(remote)).is_degraded
        assert len(remote.service.asked) == 4
        remote.clock.at_s = 3.0
        assert not (await search(remote)).is_degraded
        assert not (await search(remote)).is_degraded


async def test_what_finds_out_for_everybody_waits_less() -> None:
    patience = Patience(call_s=0.05, first_try_s=0.05, probe_s=0.01, thorough_s=9)
    async with scripted(silence, patience=patience) as remote:
        await search(remote)
        remote.clock.at_s = 1.0
        with pytest.raises(StoreUnavailableError, match=r"within 0\.01 s"):
            await remote.store.list(ORG, 9)
        remote.clock.at_s = 3.0
        with pytest.raises(StoreUnavailableError, match=r"within 0\.05 s"):
            await remote.store.write(ORG, [fact("one")])


@pytest.mark.parametrize("step", [refusal(500), refusal(503), dropped])
async def test_quick_failures_leave_it_alone_after_the_third(step: object) -> None:
    async with scripted(step) as remote:  # pyright: ignore[reportArgumentType] - one of the steps above
        for _ in range(6):
            with pytest.raises(StoreUnavailableError):
                await remote.store.forget(ORG, "mem:org:acme:1")
        assert len(remote.service.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 413, 507])
async def test_a_refusal_is_an_answer(status: int) -> None:
    """Reading goes on where there is no room to write in, and a wrong setting is told every time."""
    async with scripted(refusal(status)) as remote:
        for _ in range(6):
            with pytest.raises((StoreUnavailableError, ValueError)):
                await remote.store.forget(ORG, "mem:org:acme:1")
        assert len(remote.service.asked) == 6


async def test_a_damaged_scope_is_an_answer_and_no_further_try_is_made() -> None:
    async with scripted(answer({"error": "no", "damaged": True}, 503)) as remote:
        for _ in range(6):
            with pytest.raises(StoreDamagedError):
                await remote.store.records(ORG, 9)
        assert len(remote.service.asked) == 6


async def test_nobody_there_is_a_quick_failure() -> None:
    async with scripted() as remote:
        base_url = remote.service.base_url
    service = Service(base_url, "token")
    try:
        for _ in range(3):
            with pytest.raises(StoreUnavailableError, match="ClientConnectorError"):
                await service.ask(Call("/list", {}, is_read=True))
        with pytest.raises(StoreUnavailableError, match="left alone"):
            await service.ask(Call("/list", {}, is_read=True))
    finally:
        await service.aclose()


async def test_failures_of_one_moment_are_one_failure() -> None:
    async with scripted(refusal(500)) as remote:
        await asyncio.gather(*(search(remote) for _ in range(8)))
        await asyncio.gather(*(search(remote) for _ in range(8)))
        remote.service.play(FOUND)
        assert not (await search(remote)).is_degraded


async def test_a_caller_that_gave_up_after_a_second_has_seen_a_timeout() -> None:
    async with scripted(silence) as remote:
        await _given_up(remote, after_s=0.5)
        assert not remote_is_left_alone(await _asked(remote))
        await _given_up(remote, after_s=1.5)
        assert remote_is_left_alone(await _asked(remote))


async def test_a_write_whose_fate_is_unknown_is_sent_again_with_its_key() -> None:
    async with scripted(dropped, DONE) as remote:
        with structlog.contextvars.bound_contextvars(reference="abcd1234"):
            assert await remote.store.write(ORG, [fact("one")]) == WriteCounts(inserted=1)
        first, second = remote.service.asked
        assert first.body == second.body
        assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
        assert first.headers["traceparent"] != second.headers["traceparent"]
        assert first.headers["traceparent"][:36] == second.headers["traceparent"][:36]


async def test_a_write_that_is_slow_is_sent_again_within_its_time() -> None:
    patience = Patience(call_s=5, first_try_s=0.05)
    async with scripted(silence, DONE, patience=patience) as remote:
        assert await remote.store.write(ORG, [fact("one")], idempotency_key="k") == WriteCounts(inserted=1)
        assert [each.headers["idempotency-key"] for each in remote.service.asked] == ["k", "k"]


async def test_a_write_is_sent_twice_at_most() -> None:
    async with scripted(dropped) as remote:
        with pytest.raises(StoreUnavailableError):
            await remote.store.write(ORG, [fact("one")])
        assert len(remote.service.asked) == 2


async def test_a_read_whose_connection_was_lost_is_asked_again() -> None:
    async with scripted(raw(b"{", declared=99), FOUND) as remote:
        assert not (await search(remote)).is_degraded


async def test_what_has_no_key_and_changes_something_is_sent_once() -> None:
    async with scripted(dropped, DONE) as remote:
        with pytest.raises(StoreUnavailableError):
            await remote.store.erase(ORG)
        assert len(remote.service.asked) == 1


async def test_what_was_sent_over_a_kept_connection_that_is_lost_is_not_sent_again_without_a_key() -> None:
    async with scripted(DONE, dropped, DONE) as remote:
        await remote.store.forget(ORG, "mem:org:acme:1")
        with pytest.raises(StoreUnavailableError, match="ServerDisconnectedError"):
            await remote.store.forget(ORG, "mem:org:acme:1")
        assert (len(remote.service.asked), remote.service.connections) == (2, 1)


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "answered",
    [
        b"hello\r\n\r\n",
        HEAD + b"Content-Length: x\r\n\r\n",
        HEAD + b"X: " + b"x" * 20_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}",
    ],
)
async def test_an_answer_that_is_no_http_is_a_failure(answered: bytes) -> None:
    async def garbled(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answered)

    async with scripted(garbled) as remote:
        with pytest.raises(StoreUnavailableError, match="ClientResponseError"):
            await remote.store.erase(ORG)
        with pytest.raises(StoreUnavailableError, match="ClientResponseError"):
            await remote.store.records(ORG, 9)


async def test_closing_ends_what_waits_for_an_answer_and_what_waits_for_a_connection() -> None:
    async with scripted(silence) as remote:
        waiting = [asyncio.ensure_future(remote.store.list(ORG, 9)) for _ in range(CONNECTIONS + 1)]
        async with asyncio.timeout(20):
            while len(remote.service.asked) < CONNECTIONS:
                await asyncio.sleep(0)
        assert (len(remote.service.asked), remote.service.connections) == (CONNECTIONS, CONNECTIONS)
        await remote.store.aclose()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(each) for each in ended} == {StoreUnavailableError}


@pytest.mark.parametrize("token", ["line\n", "nul\x00", "bell\x07"])
async def test_a_token_that_no_header_may_carry_makes_the_store_unavailable(token: str) -> None:
    async with scripted(DONE) as remote:
        service = Service(remote.service.base_url, token)
        try:
            with pytest.raises(StoreUnavailableError, match="bearer token"):
                await service.ask(Call("/write", {}, key="k"))
        finally:
            await service.aclose()
        assert remote.service.asked == []


async def test_an_answer_that_never_ends_is_a_timeout() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
        await reader.read()

    async with scripted(half, patience=HASTE) as remote:
        with pytest.raises(StoreUnavailableError, match=r"within 0\.1 s"):
            await remote.store.list(ORG, 9)
        remote.clock.at_s = 9
        with pytest.raises(StoreUnavailableError, match=r"within 0\.1 s"):
            await remote.store.records(ORG, 9)


@pytest.mark.parametrize("ending", [b"", b"\n"])
async def test_an_answer_that_is_larger_than_any_is_not_read_to_its_end(ending: bytes) -> None:
    """Else whatever answers at a wrong address could fill the memory of the bot within the seconds it has."""
    told: list[bytes] = []

    async def endless(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        part = b"%x\r\n" % 2**20 + b"{".ljust(2**20 - len(ending)) + ending + b"\r\n"
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(128):
            told.append(part)
            writer.write(part)
            await writer.drain()

    async with scripted(endless) as remote:
        with pytest.raises(StoreUnavailableError, match="too large"):
            await remote.store.list(ORG, 9)
        with pytest.raises(StoreUnavailableError, match="too large"):
            await remote.store.records(ORG, 1_000)
    assert len(told) < 64


async def test_a_request_carries_the_trace_of_its_turn() -> None:
    """Criterion: WorkerMemoryStore.retrieve under a span carries the trace context for the configured host."""
    async with scripted(FOUND) as remote:
        with structlog.contextvars.bound_contextvars(reference="abcd1234"):
            await search(remote)
            await search(remote)
        await search(remote)
        one, two, other = (each.headers["traceparent"] for each in remote.service.asked)
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", each) for each in (one, two, other))
    assert one.split("-")[1] == two.split("-")[1] == trace_id("abcd1234") != other.split("-")[1]
    assert one.split("-")[1].endswith("abcd1234")
    assert one.split("-")[2] != two.split("-")[2]


async def test_a_redirect_is_not_followed() -> None:
    """Nobody but the configured host sees the bearer, the trace or a word."""
    async with scripted(FOUND) as other:
        elsewhere = f"HTTP/1.1 307 Go\r\nLocation: {other.service.base_url}/retrieve\r\nContent-Length: 0\r\n\r\n"

        async def moved(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(elsewhere.encode())

        async with scripted(moved) as remote:
            assert (await search(remote)).is_degraded
        assert other.service.asked == []


def test_a_reference_of_another_shape_has_a_trace_of_its_own() -> None:
    assert trace_id("run-1") == trace_id("run-1") != trace_id("run-2")
    assert re.fullmatch("[0-9a-f]{32}", trace_id("run-1"))


async def _given_up(remote: Scripted, *, after_s: float) -> None:
    asked = len(remote.service.asked)
    waiting = asyncio.ensure_future(search(remote))
    async with asyncio.timeout(20):
        while len(remote.service.asked) == asked:
            await asyncio.sleep(0)
    remote.clock.at_s += after_s
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()


async def _asked(remote: Scripted) -> int:
    """How many requests a search leads to, given that somebody answers."""
    before = len(remote.service.asked)
    remote.service.play(FOUND, silence)
    await search(remote)
    return len(remote.service.asked) - before


def remote_is_left_alone(requests: int) -> bool:
    return requests == 0

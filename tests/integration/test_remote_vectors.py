"""Embeddings through a memory service: what is asked and sent, in which parts, and that numbers stay as they are."""

import asyncio
import json
import random
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory.record import MemoryRecord, Status
from memory.service.wire import MOST_BODY_BYTES, JsonObject, told_record
from memory.store import NoVectorsError, StoreFullError, StoreUnavailableError, VectorKeeper
from memory.stores.sqlite_connections import path_of
from memory.stores.vectors import packed
from tests.memory_records import ORG, Shelf, fact, record, sql
from tests.memory_servers import Step, answer, dropped, raw, refusal, scripted

MODEL = "test/model"
LONGEST = -1.1754943508222875e-38
"""No 32-bit float takes more characters."""
NOT_FOUND = "not found"
"""What a service says to a route it does not know."""


def told(*records: MemoryRecord) -> JsonObject:
    return {"records": [told_record(each) for each in records]}


def kept(count: object) -> Step:
    return answer({"ok": True, "kept": count})


def numbered(count: int, values: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    return {f"mem:org:acme:{number}": values for number in range(count)}


def numbers_of_every_size(count: int) -> tuple[float, ...]:
    """32-bit floats of all lengths, and what has to be rounded to one."""
    chance = random.Random(7)  # noqa: S311 - the same ones every time
    found = list[float]()
    while len(found) < count:
        (each,) = struct.unpack("f", chance.randbytes(4))
        if abs(each) <= 3.4e38:  # nor is it what is no number
            found += [each, chance.uniform(-1, 1) * 10 ** chance.randint(-46, 38)]
    return tuple(found[:count])


async def test_records_without_a_vector_are_asked_for_by_model() -> None:
    newest, oldest, foreign = record(3), record(1), record(2)
    gone = told_record(foreign) | {"status": Status.FORGOTTEN}
    async with scripted(answer({"records": [told_record(newest), gone, 7, told_record(oldest)]})) as remote:
        assert isinstance(remote.store, VectorKeeper)
        found = await remote.store.unembedded(ORG, MODEL, 1_016)
        assert [each.id for each in found] == [newest.id, oldest.id]
        assert (remote.last.route, remote.last.body) == (
            "/base/unembedded",
            {"scopeKey": ORG, "model": MODEL, "limit": 500},
        )
        assert len(await remote.store.unembedded(ORG, MODEL, 1)) == 1
        asked = len(remote.service.asked)
        assert await remote.store.unembedded(ORG, MODEL, 0) == []
        assert len(remote.service.asked) == asked


async def test_vectors_are_sent_as_the_32_bit_floats_that_are_kept() -> None:
    async with scripted(kept(2)) as remote:
        assert await remote.store.keep_vectors(ORG, MODEL, numbered(2, (0.1, -1.0, 3e38))) == 2
    assert remote.routes == ["/base/vectors"]
    values = array("f", [0.1, -1.0, 3e38]).tolist()
    assert remote.last.body == {
        "scopeKey": ORG,
        "model": MODEL,
        "vectors": [{"id": f"mem:org:acme:{number}", "values": values} for number in range(2)],
    }


async def test_what_cannot_be_a_record_of_the_scope_is_not_sent() -> None:
    names = ["none", "", "mem:user:slack:U1:0", "mem:org:acme:x", "x" * 9_000]
    vectors = dict.fromkeys(names, (1.0,))
    async with scripted(kept(0)) as remote:
        assert await remote.store.keep_vectors(ORG, MODEL, vectors) == 0
        assert await remote.store.keep_vectors(ORG, MODEL, {}) == 0
        assert remote.service.asked == []


@pytest.mark.parametrize(
    ("dimension", "parts"),
    [(1, [50, 50, 20]), (384, [50]), (1_536, [13, 3]), (4_096, [5, 5, 5, 1]), (16_384, [1, 1])],
)
async def test_a_batch_goes_in_parts_that_a_service_takes(dimension: int, parts: list[int]) -> None:
    vectors = numbered(sum(parts), (LONGEST,) * dimension)
    async with scripted(kept(1)) as remote:
        assert await remote.store.keep_vectors(ORG, MODEL, vectors) == len(remote.service.asked)
        sent: Sequence[Sequence[JsonObject]] = [each.body["vectors"] for each in remote.service.asked]
        assert [len(part) for part in sent] == parts
        assert [each["id"] for part in sent for each in part] == list(vectors)
        assert all(int(each.headers["content-length"]) <= MOST_BODY_BYTES for each in remote.service.asked)


@pytest.mark.parametrize("vectors", [{"mem:org:acme:0": (1.0,), "mem:org:acme:1": (1.0, 2.0)}, numbered(1, ())])
async def test_what_no_store_would_keep_is_not_sent(vectors: dict[str, tuple[float, ...]]) -> None:
    async with scripted(kept(1)) as remote:
        with pytest.raises(ValueError, match="dimension"):
            await remote.store.keep_vectors(ORG, MODEL, vectors)
        assert remote.service.asked == []


@pytest.mark.parametrize(
    ("step", "fault", "text"),
    [
        (refusal(400, "vectors must have one dimension"), ValueError, "one dimension"),
        (refusal(404, NOT_FOUND), NoVectorsError, "older than vectors"),
        (refusal(503), StoreUnavailableError, "cannot do that now"),
        (refusal(507), StoreFullError, "no room"),
        (answer({"records": 5}), StoreUnavailableError, "not with what was asked for"),
    ],
)
async def test_a_refusal_is_the_ports_own_error(step: Step, fault: type[Exception], text: str) -> None:
    async with scripted(step) as remote:
        with pytest.raises(fault, match=text):
            await remote.store.keep_vectors(ORG, MODEL, numbered(1, (1.0,)))
        with pytest.raises(fault, match=text):
            await remote.store.unembedded(ORG, MODEL, 8)


async def test_a_proxy_whose_service_is_away_is_not_taken_for_an_older_service() -> None:
    async with scripted(raw(b"<html>default backend - 404</html>", 404)) as remote:
        with pytest.raises(StoreUnavailableError, match=r"memory\.worker\.base_url") as raised:
            await remote.store.unembedded(ORG, MODEL, 8)
    assert not isinstance(raised.value, NoVectorsError)


async def test_an_older_service_is_no_broken_one() -> None:
    """Its breaker stays closed: what it does know goes on."""
    async with scripted(refusal(404, NOT_FOUND)) as remote:
        for _ in range(5):
            with pytest.raises(NoVectorsError):
                await remote.store.unembedded(ORG, MODEL, 8)
        remote.service.play(answer(told(record(1))))
        assert len(await remote.store.list(ORG, 1)) == 1


async def test_vectors_whose_fate_is_unknown_are_sent_again() -> None:
    async with scripted(dropped, kept(1)) as remote:
        assert await remote.store.keep_vectors(ORG, MODEL, numbered(1, (1.0,))) == 1
        assert remote.service.asked[0].body == remote.service.asked[1].body


@pytest.mark.parametrize("count", [True, -1, "1", None, 1.5])
async def test_a_count_that_is_none_is_nothing_kept(count: object) -> None:
    async with scripted(kept(count)) as remote:
        assert await remote.store.keep_vectors(ORG, MODEL, numbered(1, (1.0,))) == 0


async def test_numbers_arrive_bit_by_bit_as_a_store_of_this_process_has_them(tmp_path: Path) -> None:
    """So a question is as close to a record through the service as without it."""
    vectors = {f"mem:org:acme:{number}": numbers_of_every_size(2_000)[number * 40 :][:40] for number in range(50)}
    async with Shelf("remote-relevance", tmp_path).open() as store:
        await store.write(ORG, [fact(f"note {number}") for number in range(50)])
        assert await store.keep_vectors(ORG, MODEL, vectors) == 50
    rows = await asyncio.to_thread(sql, path_of(tmp_path, ORG), "SELECT seq, data FROM vectors ORDER BY seq")
    assert [data for _, data in rows] == [packed(values) for values in vectors.values()]
    assert any(len(json.dumps(each)) > 20 for values in vectors.values() for each in values)

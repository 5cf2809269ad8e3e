"""The remote store over real sockets: what it sends, what it makes of the answers (specification, sections 19, 26)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from memory.record import MemoryCandidate, MemoryRecord, Status, WriteCounts
from memory.service.wire import JsonObject, lines_of, told_record
from memory.store import (
    EraseReceipt,
    KeyReusedError,
    MemoryArchive,
    Query,
    RecordConflictError,
    Stats,
    StoreFullError,
    StoreUnavailableError,
    Vector,
)
from memory.stores.remote import MEMORY_DEGRADED
from tests.memory_records import EPOCH, ORG, THREAD, fact, record
from tests.memory_servers import TOKEN, Step, answer, raw, refusal, scripted, streamed

WORD = "zanzibar"
HEALTHY: Sequence[MemoryRecord] = [record(3, "deploys need approval"), record(1, "deploys happen on friday")]
REFUSALS: list[Step] = [
    refusal(500),
    refusal(503),
    refusal(401),
    refusal(400),
    refusal(404),
    answer({}, 302),
    raw(b"<html>Welcome</html>"),
    raw(b"", 204),
    answer({"records": "none"}),
    answer([1]),
    raw(b'{"records": [', declared=9_000),
]


def told(*records: MemoryRecord, **more: object) -> JsonObject:
    return {"records": [told_record(each) for each in records], **more}


def warnings(logs: Sequence[object]) -> list[object]:
    return [each for each in logs if isinstance(each, dict) and each["event"] == MEMORY_DEGRADED]


async def test_a_search_is_one_post_with_the_bearer() -> None:
    """Criterion: WorkerMemoryStore.retrieve: POSTs /retrieve with bearer + body (section 19)."""
    async with scripted(answer(told(*HEALTHY, scores=[0.9, 0.5]))) as remote:
        found = await remote.store.retrieve(ORG, Query("who deploys", 8))
    assert [(hit.record.id, hit.score) for hit in found.hits] == [("mem:org:acme:3", 0.9), ("mem:org:acme:1", 0.5)]
    assert not found.is_degraded
    [asked] = remote.service.asked
    assert asked.route == "/base/retrieve"
    assert asked.body == {"scopeKey": ORG, "query": "who deploys", "limit": 8, "ranker": "relevance"}
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["content-type"] == "application/json"


async def test_what_a_query_has_more_is_sent() -> None:
    query = Query("deploys", 99, Vector("local/minilm", (0.5, -0.5)), standing=60, ranker="keyword")
    standing = replace(HEALTHY[0], is_standing=True)
    async with scripted(answer(told(scores=[], standingRecords=[told_record(standing), 7]))) as remote:
        found = await remote.store.retrieve(ORG, query)
    assert remote.last.body == {
        "scopeKey": ORG,
        "query": "deploys",
        "limit": 50,
        "standing": 50,
        "ranker": "keyword",
        "vector": {"model": "local/minilm", "values": [0.5, -0.5]},
    }
    assert found.standing == (standing,)


@pytest.mark.parametrize(
    "vector",
    [Vector("", (1.0,)), Vector("m" * 201, (1.0,)), Vector("m", ()), Vector("m", (1.0,) * 4_097)]
    + [Vector("m", (1.0, number)) for number in (float("nan"), float("inf"), -1e39)],
)
async def test_a_vector_that_nothing_is_compared_with_is_not_sent(vector: Vector) -> None:
    async with scripted(answer(told(scores=[]))) as remote:
        await remote.store.retrieve(ORG, Query("deploys", 8, vector))
    assert "vector" not in remote.last.body


@pytest.mark.parametrize("key", ["", "with space", "ключ", "k" * 201, "line\r\nX-Other: 1", "\ud800"])
async def test_a_key_that_no_header_may_carry_is_told_by_its_digest(key: str) -> None:
    async with scripted(answer({"ok": True})) as remote:
        for _ in range(2):
            await remote.store.write(ORG, [fact("one")], idempotency_key=key)
        await remote.store.write(ORG, [fact("one")], idempotency_key=f"{key}.")
    first, second, other = (each.headers["idempotency-key"] for each in remote.service.asked)
    assert first == second != other
    assert len(first) == 32


async def test_places_no_record_can_have_are_not_asked_for() -> None:
    async with scripted(answer(told())) as remote:
        await remote.store.list(ORG, 9, before=10**18)
        assert "before" not in remote.last.body
        assert await remote.store.records(ORG, 9, after=10**18) == []
        remote.service.play(streamed(b'{"end":true,"records":0}\n'))
        assert await remote.store.records(ORG, 9, after=-1) == []
        assert "after" not in remote.last.body


async def test_a_search_for_standing_records_alone_finds_nothing_else() -> None:
    async with scripted(answer(told(scores=[]))) as remote:
        await remote.store.retrieve(ORG, Query("deploys", 0, Vector("m", (1.0,)), standing=3))
    assert remote.last.body == {"scopeKey": ORG, "query": "", "limit": 1, "standing": 3, "ranker": "relevance"}


async def test_a_long_query_is_sent_by_its_two_ends() -> None:
    async with scripted(answer(told(scores=[]))) as remote:
        await remote.store.retrieve(ORG, Query("first " + "x" * 9_000 + " last\ud800", 8))
    sent = remote.last.body["query"]
    assert len(sent) == 4_000
    assert (sent[:6], sent[-6:]) == ("first ", " last\ufffd")


async def test_an_older_services_records_are_scored_here_in_its_order() -> None:
    other = record(2, "lunch is at noon")
    async with scripted(answer(told(*HEALTHY, other))) as remote:
        found = await remote.store.retrieve(ORG, Query("who gives approval for deploys", 8))
    assert [hit.record for hit in found.hits] == [*HEALTHY, other]
    best, next_best, least = (hit.score for hit in found.hits)
    assert 1.2 > best > next_best > least > 0


@pytest.mark.parametrize("scores", [[0.9], [0.9, 0], [0.9, True], [0.9, "1"], [0.9, None], "x", [0.9, float("nan")]])
async def test_scores_that_are_none_are_made_here(scores: object) -> None:
    async with scripted(answer(told(*HEALTHY, scores=scores))) as remote:
        found = await remote.store.retrieve(ORG, Query("deploys", 8))
    assert [hit.record for hit in found.hits] == list(HEALTHY)
    assert all(0 < hit.score < 1.2 for hit in found.hits)


async def test_malformed_records_are_dropped_one_by_one_with_their_scores() -> None:
    """Criterion: drops malformed records individually (section 19)."""
    good = told_record(HEALTHY[0])
    malformed: list[object] = [
        7,
        None,
        {},
        good | {"kind": "rumour"},
        good | {"text": None},
        good | {"keywords": "deploys"},
        good | {"createdAt": "yesterday"},
        good | {"createdAt": 10**30},
        good | {"status": "unheard"},
        good | {"id": "mem:org:acme:x"},
        good | {"scopeKey": "user:slack:U2", "id": "mem:user:slack:U2:0"},
    ]
    body = {"records": [*malformed, good], "scores": [*(0.9 for _ in malformed), 0.5]}
    async with scripted(answer(body)) as remote:
        found = await remote.store.retrieve(ORG, Query("deploys", 50))
    assert [(hit.record, hit.score) for hit in found.hits] == [(HEALTHY[0], 0.5)]


@pytest.mark.parametrize("step", REFUSALS)
async def test_reads_degrade_with_one_warning_until_the_service_works_again(step: Step) -> None:
    """Criterion: retrieve degrades to [] + warning on non-2xx / non-JSON / transport failure (section 19)."""
    with capture_logs() as logs:
        async with scripted(step) as remote:
            for _ in range(5):
                found = await remote.store.retrieve(ORG, Query(WORD, 8))
                assert (found.hits, found.is_degraded) == ((), True)
            assert len(warnings(logs)) == 1
            remote.clock.at_s += 60
            remote.service.play(answer(told()), step)
            assert not (await remote.store.retrieve(ORG, Query(WORD, 8))).is_degraded
            assert (await remote.store.retrieve(ORG, Query(WORD, 8))).is_degraded
    assert len(warnings(logs)) == 2
    assert not any(hidden in str(logs) for hidden in (WORD, TOKEN))


@pytest.mark.parametrize("step", REFUSALS)
async def test_what_was_asked_for_raises(step: Step) -> None:
    """Criterion: write, list and forget throw with status/error; never a silent empty list (sections 19, 26)."""
    async with scripted(step) as remote:
        for act in (
            lambda: remote.store.write(ORG, [fact(WORD)]),
            lambda: remote.store.list(ORG, 8),
            lambda: remote.store.forget(ORG, "mem:org:acme:1"),
            lambda: remote.store.sweep(ORG),
            lambda: remote.store.erase(ORG),
            lambda: remote.store.erase_thread(THREAD),
            lambda: remote.store.scope_keys(9),
            lambda: remote.store.records(ORG, 9),
            lambda: remote.store.restore(ORG, HEALTHY),
            lambda: remote.store.unembedded(ORG, "m", 8),
            lambda: remote.store.keep_vectors(ORG, "m", {"mem:org:acme:1": (1.0,)}),
            remote.store.stats,
        ):
            remote.clock.at_s += 60
            with pytest.raises((StoreUnavailableError, ValueError)) as raised:
                await act()
            assert WORD not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (400, ValueError, r"/write.*: no"),
        (401, StoreUnavailableError, r"memory\.worker\.token_env"),
        (404, StoreUnavailableError, r"memory\.worker\.base_url"),
        (409, KeyReusedError, "no"),
        (413, ValueError, "no"),
        (418, StoreUnavailableError, "418"),
        (503, StoreUnavailableError, "no"),
        (507, StoreFullError, "no"),
    ],
)
async def test_each_refusal_is_the_ports_own_error(status: int, kind: type[Exception], text: str) -> None:
    async with scripted(refusal(status)) as remote:
        with pytest.raises(kind, match=text):
            await remote.store.write(ORG, [fact("one")])


async def test_a_write_names_what_it_has_and_counts_what_it_is_told() -> None:
    """Criterion: sends cap on /write when configured; a counter missing from an older service reads 0."""
    whole = MemoryCandidate(
        "summary", "é\x00\ud800", THREAD, ("a",), "run-1", "slack:U7", "Ada", 0.5, "mem:x:1", "", True
    )
    async with scripted(answer({"ok": True, "inserted": 2, "deduped": True, "evicted": 1}), cap=7) as remote:
        counts = await remote.store.write(ORG, [whole, fact("two")], idempotency_key="run-1")
        assert counts == WriteCounts(inserted=2, evicted=1)
        assert remote.last.headers["idempotency-key"] == "run-1"
        assert remote.last.body == {
            "scopeKey": ORG,
            "cap": 7,
            "records": [
                {
                    "kind": "summary",
                    "text": "é\x00\ufffd",
                    "sourceThreadKey": THREAD,
                    "keywords": ["a"],
                    "sourceRunId": "run-1",
                    "sourceUser": "slack:U7",
                    "author": "Ada",
                    "confidence": 0.5,
                    "supersedes": "mem:x:1",
                    "restates": "",
                    "standing": True,
                },
                {"kind": "fact", "text": "two", "sourceThreadKey": THREAD},
            ],
        }
        await remote.store.write(ORG, [fact("three")], cap=3)
        assert remote.last.body["cap"] == 3
        assert len(remote.last.headers["idempotency-key"]) == 32


async def test_without_a_cap_none_is_sent() -> None:
    async with scripted(answer({"ok": True})) as remote:
        await remote.store.write(ORG, [fact("one")])
    assert "cap" not in remote.last.body


async def test_an_empty_batch_and_an_unfit_one_make_no_round_trip() -> None:
    """Criterion: empty batch skips the round trip (section 19)."""
    async with scripted() as remote:
        assert await remote.store.write(ORG, []) == WriteCounts()
        for batch in ([fact("")], [fact("x")] * 51, [fact("\U0001f600" * 4_000)] * 50):
            with pytest.raises(ValueError, match=r"text|at most"):
                await remote.store.write(ORG, batch)
        assert remote.service.asked == []


async def test_a_listing_is_read_page_by_page_and_its_records_have_terms() -> None:
    pages = [[record(number) for number in range(top, top - size, -1)] for top, size in ((99, 50), (49, 20))]
    async with scripted(*(answer(told(*page)) for page in pages)) as remote:
        listed = await remote.store.list(ORG, 500, query="deploys", kind="fact")
    assert [each.sequence for each in listed] == list(range(99, 29, -1))
    assert all("deploy" in each.terms for each in listed)
    first, second = (each.body for each in remote.service.asked)
    assert first == {"scopeKey": ORG, "limit": 50, "query": "deploys", "kind": "fact"}
    assert second == first | {"before": 50}


async def test_a_listing_from_a_service_that_cannot_go_on_ends() -> None:
    same = [record(number) for number in range(99, 49, -1)]
    async with scripted(answer(told(*same))) as remote:
        assert len(await remote.store.list(ORG, 500)) == 50
        assert len(remote.service.asked) == 2
        assert await remote.store.list(ORG, 0) == []
        assert await remote.store.list(ORG, 9, before=0) == []
        assert len(remote.service.asked) == 2


async def test_records_are_fetched_by_their_ids_fifty_at_a_time() -> None:
    ids = [f"mem:{ORG}:{number}" for number in range(60)]
    async with scripted(answer(told(HEALTHY[0])), answer(told(HEALTHY[1]))) as remote:
        assert await remote.store.get(ORG, ["", "no id", *ids, *ids]) == [HEALTHY[1], HEALTHY[0]]
        assert [each.body["ids"] for each in remote.service.asked] == [ids[:50], ids[50:]]
        remote.service.play(answer(told(HEALTHY[0])), refusal(500))
        with pytest.raises(StoreUnavailableError):
            await remote.store.get(ORG, ids)


RETIRED = replace(record(8, "deploys are on monday"), status=Status.FORGOTTEN)


async def test_no_more_is_found_than_was_asked_for_and_nothing_that_was_retired() -> None:
    many = [RETIRED, *HEALTHY, *HEALTHY]
    standing = [told_record(replace(each, is_standing=True)) for each in many]
    everything = told(*many, scores=[0.9, 0.8, 0.7, 0.6, 0.5], standingRecords=standing)
    async with scripted(answer(everything), answer(told(*many))) as remote:
        for _ in range(2):
            found = await remote.store.retrieve(ORG, Query("deploys", 1, standing=1))
            assert [hit.record.sequence for hit in found.hits] == [3]
            assert len(found.standing) <= 1
            assert all(each.status is Status.ACTIVE for each in found.standing)


async def test_no_more_is_listed_than_was_asked_for_and_nothing_that_was_retired() -> None:
    async with scripted(answer(told(RETIRED, *HEALTHY))) as remote:
        assert [each.sequence for each in await remote.store.list(ORG, 1)] == [3]
        assert [each.sequence for each in await remote.store.list(ORG, 3)] == [3, 1]


async def test_only_the_records_asked_for_are_got_in_the_order_of_their_ids() -> None:
    async with scripted(answer(told(*HEALTHY, RETIRED, record(5)))) as remote:
        ids = [f"mem:{ORG}:{number}" for number in (1, 8, 3, 2)]
        assert [each.sequence for each in await remote.store.get(ORG, ids)] == [1, 3]


async def test_people_forget_sweep_and_erase() -> None:
    async with scripted(answer({"ok": True, "forgotten": True}), answer({"ok": True, "forgotten": False})) as remote:
        assert await remote.store.forget(ORG, "mem:org:acme:1") is True
        assert remote.last.body == {"scopeKey": ORG, "id": "mem:org:acme:1"}
        assert await remote.store.forget(ORG, "mem:org:acme:1") is False
        remote.service.play(answer({"ok": True, "swept": 1, "ids": ["a"]}), answer({"ok": True, "swept": 1}))
        assert await remote.store.sweep(ORG) == ["a"]
        assert [each.body.get("dryRun") for each in remote.service.asked[-2:]] == [True, None]
        remote.service.play(answer({"ok": True, "swept": 0, "ids": []}))
        assert await remote.store.sweep(ORG, dry_run=True) == []
        remote.service.play(answer({"ok": True, "records": 4, "scopes": 2}))
        assert await remote.store.erase_thread(THREAD) == EraseReceipt(4, 2)
        assert remote.last.body == {"threadKey": THREAD}
        assert await remote.store.erase(ORG) == EraseReceipt(4, 2)
        assert remote.last.body == {"scopeKey": ORG}
        assert await remote.store.erase(ORG, "mem:org:acme:1") == EraseReceipt(4, 2)
        assert remote.last.body == {"scopeKey": ORG, "id": "mem:org:acme:1"}


async def test_what_nothing_can_be_called_is_not_asked_for() -> None:
    async with scripted() as remote:
        assert await remote.store.forget(ORG, "no id") is False
        assert await remote.store.erase(ORG, "") == EraseReceipt()
        assert await remote.store.erase_thread("x" * 201) == EraseReceipt()
        assert remote.service.asked == []


async def test_everything_can_be_taken_out_and_counted() -> None:
    whole = [replace(record(1, "one\u2028line"), status=Status.FORGOTTEN, last_used_at=EPOCH + timedelta(hours=1))]
    exported = lines_of(whole)
    async with scripted(streamed(exported[:40], exported[40:], b'{"end":true,"records":1}\n')) as remote:
        assert isinstance(remote.store, MemoryArchive)
        [only] = await remote.store.records(ORG, 9, after=0)
        assert only == whole[0]
        assert remote.last.body == {"scopeKey": ORG, "after": 0}
        assert len(await remote.store.records(ORG, 1)) == 1
        assert await remote.store.records(ORG, 0) == []
        remote.service.play(answer({"scopes": [f"user:U{number}" for number in range(500)]}), answer({"scopes": []}))
        assert len(await remote.store.scope_keys(600, after="org:a")) == 500
        assert [each.body for each in remote.service.asked[-2:]] == [
            {"limit": 500, "after": "org:a"},
            {"limit": 100, "after": "user:U499"},
        ]
        remote.service.play(answer({"scopes": 2, "records": {"active": 3, "swept": 0}}))
        assert await remote.store.stats() == Stats(2, {Status.ACTIVE: 3})
        assert remote.last.body == {}
        await remote.store.stats(ORG)
        assert remote.last.body == {"scopeKey": ORG}


async def test_scopes_that_the_service_cannot_look_into_are_told_of_or_missed() -> None:
    """Nobody takes for everything what is less."""
    reasons: list[str] = []
    async with scripted(answer({"scopes": [ORG], "unreadable": 2})) as remote:
        assert await remote.store.scope_keys(9, leave_aside=reasons.append) == [ORG]
        with pytest.raises(StoreUnavailableError, match="its log names"):
            await remote.store.scope_keys(9)
        remote.service.play(answer({"scopes": 1, "records": {"active": 1}, "unreadable": 1}))
        assert await remote.store.stats(leave_aside=reasons.append) == Stats(1, {Status.ACTIVE: 1})
        with pytest.raises(StoreUnavailableError, match="its log names"):
            await remote.store.stats()
    assert len(reasons) == 2


@pytest.mark.parametrize(
    "step",
    [
        streamed(lines_of(HEALTHY)),
        streamed(),
        streamed(lines_of(HEALTHY), b'{"end":true,"records":3}\n'),
        streamed(lines_of(HEALTHY), b'{"end":true,"records":2}'),
        streamed(b'{"id":1}\n', b'{"end":true,"records":1}\n'),
        streamed(lines_of([replace(HEALTHY[0], scope_key="org:b")]), b'{"end":true,"records":1}\n'),
        raw(lines_of(HEALTHY), declared=9_000),
    ],
)
async def test_an_export_that_broke_off_does_not_look_complete(step: Step) -> None:
    async with scripted(step) as remote:
        with pytest.raises(StoreUnavailableError):
            await remote.store.records(ORG, 50)


async def test_records_are_put_back_in_parts_that_fit() -> None:
    many = [record(number) for number in range(60)]
    async with scripted(answer({"ok": True, "changed": 50}), answer({"ok": True, "changed": 3})) as remote:
        assert await remote.store.restore(ORG, many) == 53
        assert [len(each.body["records"]) for each in remote.service.asked] == [50, 10]
        assert remote.last.body["records"][-1] == told_record(many[-1]) | {"keywords": []}
        assert await remote.store.restore(ORG, []) == 0
        large = [record(number, "\U0001f600" * 4_000) for number in range(40)]
        remote.service.play(answer({"ok": True, "changed": 1}))
        assert await remote.store.restore(ORG, large) == 2
        remote.service.play(refusal(409))
        with pytest.raises(RecordConflictError):
            await remote.store.restore(ORG, many)


async def test_a_closed_store_raises_on_everything_and_closes_twice() -> None:
    async with scripted() as remote:
        await remote.store.aclose()
        await remote.store.aclose()
        for act in (
            lambda: remote.store.retrieve(ORG, Query("x", 1)),
            lambda: remote.store.get(ORG, []),
            lambda: remote.store.write(ORG, []),
            lambda: remote.store.list(ORG, 0),
            lambda: remote.store.forget(ORG, ""),
            lambda: remote.store.sweep(ORG),
            lambda: remote.store.erase(ORG, ""),
            lambda: remote.store.erase_thread(""),
            lambda: remote.store.scope_keys(0),
            lambda: remote.store.records(ORG, 0),
            lambda: remote.store.restore(ORG, []),
            lambda: remote.store.unembedded(ORG, "m", 0),
            lambda: remote.store.keep_vectors(ORG, "m", {}),
            remote.store.stats,
        ):
            with pytest.raises(StoreUnavailableError):
                await act()

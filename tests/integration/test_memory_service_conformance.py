"""The memory service from outside: what it keeps and finds (specification, validation criteria "Worker: …").

Everything is asked over HTTP of a service that was started by its command, over SQLite files and over PostgreSQL.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.memory_services import THREAD, Json, ServedMemory, fact, new_scope, served_over, texts
from tests.state_databases import PostgresServer

RELEASES = fact("Releases go out on Tuesdays.", keywords=["release", "tuesday"], sourceRunId="r1", confidence=0.9)
SUMMARY = {"kind": "summary", "text": "Release rhythm was discussed and fixed.", "sourceThreadKey": THREAD}
NOTHING = {"ok": True, "inserted": 0, "deduped": 0, "restated": 0, "superseded": 0, "evicted": 0}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def service(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _servers: Callable[[], PostgresServer],
) -> Iterator[ServedMemory]:
    with served_over(request.param, tmp_path_factory.mktemp("served"), lambda: _servers().new()) as served:
        yield served


def test_the_examples_of_the_wire_contract_are_answered_as_it_says(service: ServedMemory) -> None:
    """Reference 33.1 to 33.4 and 7.6: write, the same again, retrieve, supersede, list, forget twice."""
    scope = new_scope()
    assert service.write(scope, RELEASES, SUMMARY, cap=500) == NOTHING | {"inserted": 2}
    assert service.write(scope, RELEASES, SUMMARY, cap=500) == NOTHING | {"deduped": 2}
    found = service.retrieve(scope, "when is the next release")
    first = found[0]
    times = {first.pop("createdAt"), first.pop("lastUsedAt")}
    assert all(isinstance(each, int) and each > 1_700_000_000_000 for each in times)
    assert first == RELEASES | {"id": f"mem:{scope}:0", "scopeKey": scope, "useCount": 2, "status": "active"}

    thursday = fact("Releases go out on Thursdays.", confidence=0.8, supersedes=f"mem:{scope}:0")
    assert service.write(scope, thursday) == NOTHING | {"inserted": 1, "superseded": 1}
    newest = service.listed(scope, limit=20)[0]
    assert (newest["id"], newest["supersedes"]) == (f"mem:{scope}:2", f"mem:{scope}:0")
    assert texts(service.listed(scope, limit=20, query="thursdays", kind="fact")) == ["Releases go out on Thursdays."]
    forget = {"scopeKey": scope, "id": f"mem:{scope}:2"}
    assert service.ask("/forget", **forget) == {"ok": True, "forgotten": True}
    assert service.ask("/forget", **forget) == {"ok": True, "forgotten": False}


def test_a_record_carries_its_provenance_and_nothing_that_is_absent(service: ServedMemory) -> None:
    """Worker: write -> retrieve round trip mints mem:<scope>:<seq> records with provenance (7.6: never null)."""
    scope = new_scope()
    service.write(scope, fact("deploys need approval"), fact("gateway port 8443", sourceUser="U1", author="Mara"))
    plain, told = sorted(service.listed(scope), key=lambda record: record["id"])
    assert plain["keywords"] == ["deploys", "need", "approval"]
    assert set(plain) == {
        *("id", "scopeKey", "kind", "text", "keywords", "sourceThreadKey", "createdAt", "useCount", "status")
    }
    assert (told["id"], told["sourceThreadKey"]) == (f"mem:{scope}:1", THREAD)
    assert (told["sourceUser"], told["author"]) == ("U1", "Mara")


def test_the_shared_ranking_decides_by_whole_words(service: ServedMemory) -> None:
    """Worker: ranked by the shared engine; whole-token matching."""
    scope = new_scope()
    service.write(scope, fact("deploys need approval"), fact("the deploy needs a green build"), fact("redeployment"))
    assert texts(service.retrieve(scope, "deploy build")) == ["the deploy needs a green build"]
    best = fact("alpha beta gamma")
    service.write(scope, fact("alpha alone"), best, fact("alpha beta"))
    assert texts(service.retrieve(scope, "alpha beta gamma")) == ["alpha beta gamma", "alpha beta", "alpha alone"]


def test_only_what_is_returned_counts_as_used(service: ServedMemory) -> None:
    """Worker: limit + usage bump only on returned rows; 7.7: the answer already shows the bumped values."""
    scope = new_scope()
    service.write(scope, *[fact(f"deploy number {each}") for each in range(5)])
    found = service.retrieve(scope, "deploy", limit=2)
    assert [(record["useCount"], "lastUsedAt" in record) for record in found] == [(1, True), (1, True)]
    used = {record["id"]: record["useCount"] for record in service.listed(scope)}
    assert sorted(used.values()) == [0, 0, 0, 1, 1]
    assert {used[record["id"]] for record in found} == {1}


def test_as_many_as_may_be_asked_for_are_used_at_once(service: ServedMemory) -> None:
    """Worker: Retrieve's usage bump works at MAX_LIMIT (50 ids in one statement)."""
    scope = new_scope()
    service.write(scope, *[fact(f"deploy number {each}") for each in range(50)])
    assert len(service.retrieve(scope, "deploy", limit=50)) == 50
    assert {record["useCount"] for record in service.listed(scope, limit=50)} == {1}


def test_scopes_are_apart(service: ServedMemory) -> None:
    """Worker: scope isolation; a foreign-scope id is false; even keys that look alike."""
    one, other = new_scope(), new_scope()
    service.write(one, fact("deploys need approval"))
    service.write(other, fact("deploys are free"))
    assert texts(service.retrieve(one, "deploys")) == ["deploys need approval"]
    assert service.ask("/forget", scopeKey=other, id=f"mem:{one}:0")["forgotten"] is False
    assert service.ask("/get", scopeKey=other, ids=[f"mem:{one}:0"])["records"] == []
    for alike in (one.upper(), f"{one}%", f"{one[:-1]}_", f"{one}/../x", f"{one}'--"):
        assert service.listed(alike) == []
    assert texts(service.listed(one)) == ["deploys need approval"]


@pytest.mark.parametrize(
    "query",
    ['"', "deploys OR *", "NEAR(deploys, 2)", "text:deploys", "deploys AND (", "'; DROP TABLE records; --", "-"],
)
def test_a_query_is_never_syntax(service: ServedMemory, query: str) -> None:
    """Worker: FTS syntax in queries is inert."""
    scope = new_scope()
    service.write(scope, fact("deploys need approval"))
    expected = ["deploys need approval"] if "deploys" in query else []
    assert texts(service.retrieve(scope, query)) == expected
    assert texts(service.listed(scope, query=query)) == expected
    assert len(service.listed(scope)) == 1


def test_an_empty_batch_does_nothing_and_a_query_without_words_finds_nothing(service: ServedMemory) -> None:
    """Worker: empty batch no-op; 7.7 and 32.33: no query tokens -> []."""
    scope = new_scope()
    assert service.write(scope) == NOTHING
    service.write(scope, fact("deploys need approval"))
    for query in ("", "  ", "?!…"):
        assert service.retrieve(scope, query) == []
        assert service.listed(scope, query=query) == []


def test_any_letters_are_kept_and_found_by_their_plain_words(service: ServedMemory) -> None:
    """Worker: non-ASCII record text stored and retrievable by its ASCII tokens; accented queries inert."""
    scope = new_scope()
    strange = 'Büro 7 öffnet früh: "naïve" \\ 日本語 🚀 \u2028 \u0007 gateway'
    service.write(scope, fact(strange, keywords=["schlüssel", "日本"]))
    record = service.retrieve(scope, "gateway")[0]
    assert (record["text"], record["keywords"]) == (strange, ["schlüssel", "日本"])
    for query in ("früh", "日本語 🚀 é", "\u2028\u0007", "ÖFFNET"):
        answer = service.post("/retrieve", {"scopeKey": scope, "query": query, "limit": 5, "ranker": "keyword"})
        assert answer.status_code == 200, query


def test_half_a_character_is_replaced_and_not_refused(service: ServedMemory) -> None:
    """JSON can spell a lone surrogate; no store can keep one, and every text is a legal text."""
    scope = new_scope()
    content = json.dumps({"scopeKey": scope, "records": [fact("half \ud83d a deploy")]})
    assert "\\ud83d" in content
    answer = service.client.post("/write", content=content)
    assert answer.status_code == 200
    assert texts(service.listed(scope)) == ["half \ufffd a deploy"]


def test_the_same_words_are_counted_and_not_kept_twice(service: ServedMemory) -> None:
    """Worker: dedup bumps (case/whitespace-insensitive); 2.12: useCount only."""
    scope = new_scope()
    service.write(scope, fact("Deploys need approval"))
    assert service.write(scope, fact("  deploys \t NEED\napproval "))["deduped"] == 1
    (record,) = service.listed(scope)
    assert (record["useCount"], "lastUsedAt" in record) == (1, False)


def test_a_batch_sees_its_own_earlier_records(service: ServedMemory) -> None:
    """Worker: a later candidate dedups against the same batch's earlier insert."""
    scope = new_scope()
    counts = service.write(scope, fact("deploys need approval"), fact("DEPLOYS need approval"), fact("other"))
    assert (counts["inserted"], counts["deduped"]) == (2, 1)


def test_a_correction_hides_what_it_corrects(service: ServedMemory) -> None:
    """Worker: supersede soft-deletes and hides the old row; superseded rows are not dedup targets."""
    scope = new_scope()
    service.write(scope, fact("releases go out on tuesdays"))
    service.write(scope, fact("releases go out on thursdays", supersedes=f"mem:{scope}:0"))
    assert (
        texts(service.retrieve(scope, "releases")) == texts(service.listed(scope)) == ["releases go out on thursdays"]
    )
    assert service.write(scope, fact("releases go out on tuesdays"))["inserted"] == 1


def test_a_correction_of_what_there_is_not_is_only_added(service: ServedMemory) -> None:
    """Worker: unknown id supersedes nothing."""
    scope = new_scope()
    counts = service.write(scope, fact("deploys need approval", supersedes=f"mem:{scope}:77"))
    assert (counts["inserted"], counts["superseded"]) == (1, 0)


def test_a_correction_is_not_swallowed_by_an_unrelated_equal_text(service: ServedMemory) -> None:
    """Worker: collision guard; duplicate-norm dedup bumps the earliest seq."""
    scope = new_scope()
    service.write(scope, fact("the port is 8443"), fact("the port is 9000"))
    counts = service.write(scope, fact("the port is 8443", supersedes=f"mem:{scope}:1"))
    assert (counts["inserted"], counts["superseded"]) == (1, 1)
    service.write(scope, fact("The port is 8443"))
    assert {record["id"]: record["useCount"] for record in service.listed(scope)} == {
        f"mem:{scope}:0": 1,
        f"mem:{scope}:2": 0,
    }


def test_an_empty_correction_means_none(service: ServedMemory) -> None:
    """Worker: an empty supersedes: "" still dedups against the whole active set."""
    scope = new_scope()
    service.write(scope, fact("deploys need approval"))
    assert service.write(scope, fact("deploys need approval", supersedes=""))["deduped"] == 1


def test_a_restatement_confirms_a_record(service: ServedMemory) -> None:
    """Reference 2.12 [B] and 32.11: restate bumps both and may raise confidence."""
    scope = new_scope()
    service.write(scope, fact("deploys need approval", confidence=0.6))
    again = fact("an approval is needed to deploy", confidence=0.9, restates=f"mem:{scope}:0")
    assert service.write(scope, again) == NOTHING | {"restated": 1}
    (record,) = service.listed(scope)
    assert (record["useCount"], record["confidence"], "lastUsedAt" in record) == (1, 0.9, True)


def test_what_was_forgotten_is_nowhere_and_may_be_learned_again(service: ServedMemory) -> None:
    """Worker: /forget soft-deletes (hidden from list/retrieve/dedup, row kept, second call false)."""
    scope = new_scope()
    service.write(scope, fact("deploys need approval"))
    assert service.ask("/forget", scopeKey=scope, id=f"mem:{scope}:0")["forgotten"] is True
    assert service.listed(scope) == service.retrieve(scope, "deploys") == []
    assert service.write(scope, fact("deploys need approval"))["inserted"] == 1
    assert service.ask("/stats", scopeKey=scope)["records"] == {"active": 1, "forgotten": 1}


def test_a_list_is_newest_first_limited_and_counts_as_no_use(service: ServedMemory) -> None:
    """Worker: /list newest first, limited, no usage bump; `before` goes on where a page ended."""
    scope = new_scope()
    service.write(scope, *[fact(f"note {each}") for each in range(7)])
    assert texts(service.listed(scope, limit=3)) == ["note 6", "note 5", "note 4"]
    assert texts(service.listed(scope, limit=3, before=4)) == ["note 3", "note 2", "note 1"]
    assert {record["useCount"] for record in service.listed(scope)} == {0}


def test_a_list_can_be_filtered(service: ServedMemory) -> None:
    """Worker /list with query: whole-token filter over text or keywords, limit after filter, no forgotten ones."""
    scope = new_scope()
    service.write(
        scope,
        fact("deploy on monday"),
        fact("nothing here", keywords=["deploy"]),
        fact("deployment of nothing"),
        {"kind": "summary", "text": "a deploy was discussed", "sourceThreadKey": THREAD},
        *[fact(f"filler {each}") for each in range(5)],
    )
    expected = ["a deploy was discussed", "nothing here", "deploy on monday"]
    assert texts(service.listed(scope, query="deploy")) == expected
    assert texts(service.listed(scope, limit=2, query="DEPLOY")) == expected[:2]
    assert texts(service.listed(scope, query="deploy", kind="fact")) == expected[1:]
    service.ask("/forget", scopeKey=scope, id=f"mem:{scope}:0")
    assert texts(service.listed(scope, query="deploy")) == expected[:2]
    assert {record["useCount"] for record in service.listed(scope)} == {0}


def test_what_told_how_far_work_had_come_is_swept(service: ServedMemory) -> None:
    """Reference 7.11: dryRun tells ids and changes nothing; facts only; a second sweep finds nothing."""
    scope = new_scope()
    status = "PR #12 is in review"
    summary = {"kind": "summary", "text": "PR #13 is in review", "sourceThreadKey": THREAD}
    service.write(scope, fact(status), fact("deploys need approval"), summary)
    assert service.ask("/sweep", scopeKey=scope, dryRun=True) == {"ok": True, "swept": 1, "ids": [f"mem:{scope}:0"]}
    assert len(service.listed(scope)) == 3
    assert service.ask("/sweep", scopeKey=scope) == {"ok": True, "swept": 1}
    assert service.ask("/sweep", scopeKey=scope) == {"ok": True, "swept": 0}
    assert texts(service.listed(scope)) == ["PR #13 is in review", "deploys need approval"]


def test_a_full_scope_gives_up_what_was_used_longest_ago(service: ServedMemory) -> None:
    """Worker: over-cap /write evicts LRU inside the transaction, hides evicted rows; absent cap -> default."""
    scope = new_scope()
    service.write(scope, *[fact(f"note {each}") for each in range(3)])
    assert texts(service.retrieve(scope, "0")) == ["note 0"]
    assert service.write(scope, fact("note 3"), cap=3) == NOTHING | {"inserted": 1, "evicted": 1}
    assert texts(service.listed(scope)) == ["note 3", "note 2", "note 0"]
    assert service.retrieve(scope, "1") == []
    assert service.write(scope, fact("note 1"))["inserted"] == 1, "an evicted record is no dedup target"
    fillers = [[fact(f"filler {batch * 50 + each}") for each in range(50)] for batch in range(10)]
    assert [service.write(scope, *batch)["evicted"] for batch in fillers] == [0] * 9 + [4]
    assert service.ask("/stats", scopeKey=scope)["records"]["active"] == 500


def test_an_old_record_that_matches_best_is_found_among_hundreds(service: ServedMemory) -> None:
    """Worker retrieve: a relevant-but-old record beyond the 500 most recently used still returns first."""
    scope = new_scope()
    service.write(scope, fact("rotating the gateway certificate needs the vault key"), cap=10_000)
    for batch in range(11):
        service.write(
            scope, *[fact(f"the gateway was looked at {batch * 50 + each}") for each in range(50)], cap=10_000
        )
    found = service.retrieve(scope, "rotating gateway certificate vault", limit=3)
    assert found[0]["id"] == f"mem:{scope}:0"


def test_a_small_scope_is_ranked_whole(service: ServedMemory) -> None:
    """Candidate floor: every matching row (<= 50) reaches the engine, which alone decides the order."""
    scope = new_scope()
    service.write(scope, fact("alpha beta"), *[fact("alpha " * 5 + f"{each}") for each in range(49)])
    assert service.retrieve(scope, "alpha beta", limit=1)[0]["id"] == f"mem:{scope}:0"


def test_a_query_of_many_words_finds_by_the_long_ones(service: ServedMemory) -> None:
    """MATCH term cap: a record matched by a kept token of a >24-token query is found."""
    scope = new_scope()
    service.write(scope, fact("certificates are rotated"))
    query = " ".join([f"w{each}" for each in range(30)] + ["certificates"])
    assert texts(service.retrieve(scope, query)) == ["certificates are rotated"]


@pytest.mark.parametrize("ranker", ["keyword", "relevance"])
def test_a_query_of_many_words_does_not_find_by_the_shortest(service: ServedMemory, ranker: str) -> None:
    """MATCH term cap: one matched only by the dropped shortest is not (documented trade); <= 24 are unaffected."""
    scope = new_scope()
    service.write(scope, fact("ox"), fact("elsewhere"))
    long = [f"heron{first}{second}" for first in "abcd" for second in "bdghkt"]
    assert texts(service.retrieve(scope, " ".join(["ox", *long]), ranker=ranker)) == []
    assert "ox" in texts(service.retrieve(scope, " ".join(["ox", *long[1:]]), ranker=ranker))


def test_writers_at_the_same_time_lose_nothing(service: ServedMemory) -> None:
    """Worker: 5 concurrent write batches to one scope -> all succeed, 10 unique ids (no seq collision)."""
    scope = new_scope()

    def write(number: int) -> Json:
        return service.write(scope, fact(f"one of {number}"), fact(f"two of {number}"))

    with ThreadPoolExecutor(5) as pool:
        assert [counts["inserted"] for counts in pool.map(write, range(5))] == [2] * 5
    assert sorted(record["id"] for record in service.listed(scope)) == sorted(f"mem:{scope}:{n}" for n in range(10))


def test_ids_grow_on_inserts_only(service: ServedMemory) -> None:
    """Reference 7.8: sequence = highest in the scope + 1, starting at 0; a scope key of 200 characters is one."""
    scope = "org:" + "k" * (200 - len("org:") - 6) + new_scope()[-6:].rjust(6, "0")
    service.write(scope, fact("a"), fact("b"))
    service.write(scope, fact("a"))
    service.ask("/forget", scopeKey=scope, id=f"mem:{scope}:1") if len(f"mem:{scope}:1") <= 200 else None
    service.write(scope, fact("c"))
    assert service.listed(scope)[0]["id"] == f"mem:{scope}:2"


@pytest.mark.parametrize("ranker", ["relevance", "keyword"])
def test_standing_records_come_along_when_they_are_asked_for(service: ServedMemory, ranker: str) -> None:
    scope = new_scope()
    service.write(scope, fact("answer in german", standing=True), fact("deploys need approval"))
    body = {"scopeKey": scope, "query": "deploys", "limit": 5, "ranker": ranker}
    assert "standingRecords" not in service.ask("/retrieve", **body)
    assert service.ask("/retrieve", **body, standing=0)["standingRecords"] == []
    answer = service.ask("/retrieve", **body, standing=5)
    (standing,) = answer["standingRecords"]
    assert (standing["text"], standing["standing"], standing["useCount"]) == ("answer in german", True, 0)
    assert texts(answer["records"]) == ["deploys need approval"]
    assert all(0 < score <= 1.5 for score in answer["scores"])


def test_the_ranker_may_be_chosen(service: ServedMemory) -> None:
    scope = new_scope()
    service.write(scope, fact("deployments need approval"))
    body = {"scopeKey": scope, "query": "the deployment", "limit": 5}
    assert service.ask("/retrieve", **body, ranker="keyword")["records"] == []
    assert texts(service.ask("/retrieve", **body, ranker="relevance")["records"]) == ["deployments need approval"]
    vector = {"model": "some/model", "values": [0.5, -1, 3.0]}
    assert len(service.ask("/retrieve", **body, vector=vector)["records"]) == 1


def test_records_without_a_vector_are_told_until_they_have_one(service: ServedMemory) -> None:
    """Of one model: another one's vector takes the place of the first. Asking counts as no use."""
    scope = new_scope()
    service.write(scope, fact("the car belongs to the physician"), fact("lunch is at noon"), fact("bob likes chess"))
    asked = {"scopeKey": scope, "model": "test/one", "limit": 2}
    assert texts(service.ask("/unembedded", **asked)["records"]) == ["bob likes chess", "lunch is at noon"]
    ids = [f"mem:{scope}:{number}" for number in range(3)]
    service.ask("/forget", scopeKey=scope, id=ids[2])
    vectors = [{"id": each, "values": [1, 0.5]} for each in (*ids, f"mem:{scope}:9", "mem:org:other:0", "none", "\0")]
    for _ in range(2):
        assert service.ask("/vectors", scopeKey=scope, model="test/one", vectors=vectors) == {"ok": True, "kept": 2}
        assert service.ask("/unembedded", **asked)["records"] == []
    other = [{"id": ids[0], "values": [1, 2, 3]}]
    assert service.ask("/vectors", scopeKey=scope, model="test/other", vectors=other)["kept"] == 1
    assert [each["id"] for each in service.ask("/unembedded", **asked)["records"]] == [ids[0]]
    assert {record["useCount"] for record in service.listed(scope)} == {0}


def test_a_vector_that_was_handed_in_finds_its_record_without_a_word_of_it(service: ServedMemory) -> None:
    scope = new_scope()
    said = ["the car belongs to the physician", "lunch is at noon", "bob likes chess"]
    service.write(scope, *map(fact, said))
    vectors = [
        {"id": f"mem:{scope}:{place}", "values": [float(place == each) for each in range(3)]} for place in range(3)
    ]

    def found(model: str) -> list[str]:
        vector = {"model": model, "values": [1, 0.01, 0]}
        return texts(service.retrieve(scope, "who owns an automobile", ranker="relevance", vector=vector))

    assert found("test/one") == []
    service.ask("/vectors", scopeKey=scope, model="test/one", vectors=vectors)
    assert found("test/one") == said[:1]
    assert found("test/two") == []


def test_vectors_of_another_dimension_are_refused_and_none_is_kept(service: ServedMemory) -> None:
    scope = new_scope()
    service.write(scope, fact("one"), fact("two"))
    body = {"scopeKey": scope, "model": "test/one"}
    service.ask("/vectors", **body, vectors=[{"id": f"mem:{scope}:0", "values": [1, 2]}])
    for dimensions in ([3, 3], [2, 3]):
        unlike = [{"id": f"mem:{scope}:{place}", "values": [7.25] * size} for place, size in enumerate(dimensions)]
        reason = service.refusal("/vectors", body | {"vectors": unlike})
        assert reason == "vectors must have one dimension, that of those that are kept of the model"
    assert texts(service.ask("/unembedded", **body, limit=9)["records"]) == ["two"]

"""The pure parts of the memory service's figures: ratios and verdicts, what is asked, and the load's own accounts."""

import json
from itertools import islice
from random import Random

import pytest

from benchmarks import serving_first_text, serving_rates, serving_scopes
from benchmarks.made_up_words import QUESTION_WORDS, made_up_words, sentence
from benchmarks.serving_first_text import Memory
from benchmarks.serving_load import Loaded, post
from benchmarks.serving_questions import LIMIT, NEW_RECORDS, any_of, batches, questions
from benchmarks.serving_rates import BARE, Kind, Round, Route
from benchmarks.serving_scopes import Timed, Visits
from benchmarks.tables import render
from memory.service.requests import RetrieveBody, WriteBody


def chance() -> Random:
    return Random(1)  # noqa: S311 - made-up data needs no cryptographic randomness


def rounds(*per_s: float, cpu_s: float = 0.01) -> list[Round]:
    """Rounds of ten requests that took as long as each other."""
    return [Round(Loaded([1 / each] * 10, 10 / each, 0.001, 35_000), cpu_s) for each in per_s]


def rates(sqlite: float) -> dict[Kind, list[Round]]:
    return {
        Kind(name, Route.RETRIEVE, connections): rounds(1.0, per_s, 9_999.0)
        for connections in (1, 32)
        for name, per_s in ((BARE, 1_000.0), ("SQLite", sqlite), ("PostgreSQL", 100.0))
    }


def test_a_request_says_how_long_its_body_is() -> None:
    request = post("/retrieve", b"{}", [("Authorization", "Bearer t")])
    assert request.startswith(b"POST /retrieve HTTP/1.1\r\n")
    assert b"\r\nContent-Length: 2\r\n" in request
    assert request.endswith(b"\r\nAuthorization: Bearer t\r\n\r\n{}")


def test_requests_a_second_are_those_of_the_time_all_of_them_took() -> None:
    assert Loaded([0.5, 0.5, 0.5, 0.5], 1.0, 0.1, 0).per_s == 4


@pytest.mark.parametrize(("sqlite", "verdict"), [(500.0, "met (aim >= 0.5)"), (499.0, "MISSED (aim >= 0.5)")])
def test_retrieval_from_files_is_judged_by_the_bare_route_of_the_median_round(sqlite: float, verdict: str) -> None:
    rows = serving_rates.table(rates(sqlite), 3_500).rows
    judged = [row for row in rows if row[-1]]
    assert [row[0] for row in judged] == ["/retrieve, 1 connection: SQLite", "/retrieve, 32 connections: SQLite"]
    assert {row[-1] for row in judged} == {verdict}
    assert {row[5] for row in rows if "PostgreSQL" in row[0]} == {"0.10x"}


def test_each_request_costs_its_share_of_the_server() -> None:
    text = render(serving_rates.table(rates(600.0), 3_500))
    assert "1000 µs" in text
    assert "answers 3500 bytes" in text


def test_every_question_is_one_the_service_reads() -> None:
    random = chance()
    words = made_up_words(random)
    for request in questions(["org:a", "org:b"] * 10, words, random):
        body = RetrieveBody.model_validate_json(request.partition(b"\r\n\r\n")[2])
        assert len(body.query.split()) == QUESTION_WORDS
        assert (body.limit, body.standing, body.ranker) == (LIMIT, None, "relevance")


def test_scopes_of_chance_are_all_visited() -> None:
    assert set(islice(any_of(["org:a", "org:b", "org:c"], chance()), 100)) == {"org:a", "org:b", "org:c"}


def test_batches_go_to_the_scopes_in_turn_and_never_repeat_a_record() -> None:
    random = chance()
    sent = list(islice(batches(["org:a", "org:b"], made_up_words(random), random), 40))
    bodies = [WriteBody.model_validate(json.loads(each.partition(b"\r\n\r\n")[2]), by_alias=True) for each in sent]
    assert [body.scope_key for body in bodies] == ["org:a", "org:b"] * 20
    assert len({record.text for body in bodies for record in body.records}) == 40 * NEW_RECORDS
    assert len({each.partition(b"Idempotency-Key: ")[2][:32] for each in sent}) == 40


def test_some_words_are_said_far_more_often_than_others() -> None:
    random = chance()
    words = made_up_words(random)
    said = sentence(words, random, 1_000).split()
    assert said.count(words[0]) > 5 * said.count(words[10])
    assert set(said) <= set(words)


def visits(few_s: float, many_s: float) -> Visits:
    """The last round is a disturbed one."""
    any_scope = Timed([[few_s] * 100] * 2 + [[0.001] * 100], [[many_s] * 100] * 2 + [[9.0] * 100])
    return Visits(first=Timed([[0.004] * 10], [[0.005] * 10]), any_scope=any_scope)


def test_many_scopes_are_judged_by_the_median_round() -> None:
    scale = serving_scopes.Scale(10_000, 1, 1, 3, 100)
    measured = {"SQLite": visits(0.010, 0.013), "PostgreSQL": visits(0.010, 0.014)}
    rows = serving_scopes.table(measured, dict.fromkeys(measured, 2_000_000), scale).rows
    assert rows == [
        ("SQLite: p50", "10.0 ms", "13.0 ms", "1.30x", ""),
        ("SQLite: p99", "10.0 ms", "13.0 ms", "1.30x", "met (aim <= 1.3)"),
        ("SQLite, never asked before: p50", "4.0 ms", "5.0 ms", "1.25x", ""),
        ("PostgreSQL: p50", "10.0 ms", "14.0 ms", "1.40x", ""),
        ("PostgreSQL: p99", "10.0 ms", "14.0 ms", "1.40x", "MISSED (aim <= 1.3)"),
        ("PostgreSQL, never asked before: p50", "4.0 ms", "5.0 ms", "1.25x", ""),
    ]


@pytest.mark.parametrize(("scopes", "is_told"), [(serving_scopes.FULL.scopes, False), (300, True)])
def test_fewer_scopes_than_the_aim_is_about_are_told(*, scopes: int, is_told: bool) -> None:
    scale = serving_scopes.Scale(scopes, 1, 1, 1, 100)
    text = render(serving_scopes.table({"SQLite": visits(0.01, 0.01)}, {"SQLite": 1}, scale))
    assert ("the full size has 10,000 scopes" in text) is is_told


def test_what_a_store_can_have_at_hand_is_told() -> None:
    sizes = {"SQLite": 2_000_000_000, "PostgreSQL": 1}
    text = render(serving_scopes.table({"SQLite": visits(0.01, 0.01)}, sizes, serving_scopes.FULL))
    assert "SQLite: 56 files stay open, 56% of the few scopes and 0.6% of the many; 2,000 MB" in text
    assert "10,000 records stay in the service's memory, 100% of the few scopes and 1.0% of the many" in text


@pytest.mark.parametrize(
    ("remote_s", "verdict"), [(0.0139, "9.9 ms, met (aim < 10 ms)"), (0.0141, "10.1 ms, MISSED (aim < 10 ms)")]
)
def test_what_remembering_adds_is_the_difference_of_the_medians(remote_s: float, verdict: str) -> None:
    times_s = {Memory.NONE: [0.003, 0.004, 0.9], Memory.REMOTE: [0.010, remote_s, 0.020]}
    assert f"added at the median: {verdict}" in render(serving_first_text.table(times_s))

"""The pure parts of the memory service's figures: ratios and verdicts, what is asked, and the load's own accounts."""

import json
from itertools import islice
from random import Random

import pytest

from benchmarks import serving_rates
from benchmarks.made_up_words import QUESTION_WORDS, made_up_words, sentence
from benchmarks.serving_load import Loaded, post
from benchmarks.serving_questions import LIMIT, NEW_RECORDS, batches, questions
from benchmarks.serving_rates import BARE, Kind, Round, Route
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
    for request in islice(questions(["org:a", "org:b"], words, random), 20):
        body = RetrieveBody.model_validate_json(request.partition(b"\r\n\r\n")[2])
        assert len(body.query.split()) == QUESTION_WORDS
        assert (body.limit, body.standing, body.ranker) == (LIMIT, None, "relevance")


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

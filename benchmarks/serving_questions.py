"""What the memory service is filled with and asked in benchmarks: made-up records, questions and batches."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, cycle
from random import Random

from benchmarks.made_up_words import QUESTION_WORDS, RECORD_WORDS, sentence
from benchmarks.serving_load import post
from benchmarks.serving_services import TOKEN
from memory.record import MemoryCandidate
from memory.service.wire import KEY_HEADER, told_candidate

LIMIT = 8
NEW_RECORDS = 5
"""Of one request that writes."""
QUESTIONS = 500
_TRACE = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
_BEARER = ("Authorization", f"Bearer {TOKEN}")


def candidates(words: Sequence[str], random: Random, number: int, records: int) -> list[MemoryCandidate]:
    """Of which none says what another one says; the conversations they come from have some in each batch."""
    return [
        MemoryCandidate(
            "fact", f"{sentence(words, random, RECORD_WORDS)} {number} {each}", f"slack:C1:{each}.0", author="Alice"
        )
        for each in range(records)
    ]


def questions(scope_keys: Iterable[str], words: Sequence[str], random: Random) -> Iterator[bytes]:
    """Requests for each of the scopes, the questions different ones for a long time."""
    asked = cycle([sentence(words, random, QUESTION_WORDS) for _ in range(QUESTIONS)])
    for key in scope_keys:
        yield retrieval(key, next(asked))


def any_of(scope_keys: Sequence[str], random: Random) -> Iterator[str]:
    """For ever, each as likely as the others."""
    while True:
        yield random.choice(scope_keys)


def retrieval(scope_key: str, query: str) -> bytes:
    body = {"scopeKey": scope_key, "query": query, "limit": LIMIT, "ranker": "relevance"}
    return post("/retrieve", _content(body), (_BEARER, _TRACE))


def batches(scope_keys: Sequence[str], words: Sequence[str], random: Random) -> Iterator[bytes]:
    """Requests for ever, each with new records for the next of the scopes, with a key as the client sends one."""
    scopes = cycle(scope_keys)
    for number in count():
        records = [told_candidate(each) for each in candidates(words, random, number, NEW_RECORDS)]
        body = {"scopeKey": next(scopes), "records": records}
        yield post("/write", _content(body), (_BEARER, _TRACE, (KEY_HEADER, f"{random.getrandbits(128):032x}")))


def _content(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

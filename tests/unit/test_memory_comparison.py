"""When two records are the same for a copy, and how many go into one request."""

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.comparison import Batch, Compared, Outcome, outcome, told
from memory.record import Status
from memory.service.wire import MOST_BODY_BYTES, MOST_RECORDS, told_record
from tests.memory_records import EPOCH, record

PLAIN = record(1)


def test_terms_and_parts_of_a_millisecond_make_no_difference() -> None:
    derived = replace(PLAIN, terms=frozenset({"deploy"}), created_at=EPOCH + timedelta(microseconds=999))
    assert outcome(told(PLAIN), told(derived)) is Outcome.SAME


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "other"},
        {"kind": "summary"},
        {"keywords": ("k",)},
        {"source_thread_key": "slack:C2:1.0"},
        {"created_at": EPOCH + timedelta(milliseconds=1)},
        {"source_run_id": "r"},
        {"source_user": "U1"},
        {"author": "Ada"},
        {"last_used_at": EPOCH},
        {"use_count": 1},
        {"confidence": 0.5},
        {"supersedes": "mem:org:acme:0"},
        {"status": Status.SWEPT},
        {"is_standing": True},
    ],
)
def test_everything_else_does(changes: dict[str, object]) -> None:
    assert outcome(told(PLAIN), told(replace(PLAIN, **changes))) is Outcome.DIFFERENT  # pyright: ignore[reportArgumentType] - one field at a time


def test_a_record_on_one_side_only_is_missing_or_extra() -> None:
    assert outcome(told(PLAIN), None) is Outcome.MISSING
    assert outcome(None, told(PLAIN)) is Outcome.EXTRA


def test_a_target_is_whole_that_has_everything_and_more() -> None:
    assert Compared(Counter({Outcome.SAME: 3, Outcome.EXTRA: 2})).is_whole
    assert not Compared(Counter({Outcome.SAME: 3, Outcome.MISSING: 1})).is_whole
    assert not (Compared() + Compared(Counter({Outcome.DIFFERENT: 1}))).is_whole


@given(st.lists(st.tuples(st.sampled_from(["a", "é", "東", "😀", '"', "\x01"]), st.integers(1, 4_000)), max_size=130))
def test_every_batch_fits_into_a_request_and_none_is_lost(sizes: list[tuple[str, int]]) -> None:
    batch, batches = Batch(), list[list[str]]()
    for number, (mark, size) in enumerate(sizes):
        one = record(number, mark * size)
        if not batch.has_room_for(told(one)):
            batches.append([each.id for each in check(batch)])
        batch.add(one, told(one))
    batches.append([each.id for each in check(batch)])
    assert [each for part in batches for each in part] == [f"mem:org:acme:{number}" for number in range(len(sizes))]
    assert all(batches[:-1])


def check(batch: Batch):  # noqa: ANN201
    records = batch.taken()
    body = {"scopeKey": "k" * 200, "records": [told_record(each) for each in records]}
    assert len(records) <= MOST_RECORDS
    assert len(json.dumps(body).encode()) < MOST_BODY_BYTES
    assert batch.taken() == []
    return records

"""Everything in a memory service, whatever its status: counted, taken out, and put back as it was."""

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from memory.engine import put_back
from memory.record import MemoryRecord, Status
from memory.service.wire import MOST_BODY_BYTES, MOST_RECORDS, JsonObject, read_object, read_record, told_record
from memory.store import LeaveAside, Stats, StoreUnavailableError
from memory.stores.remote_answers import count_in, done, texts_in
from memory.stores.remote_calls import Call, Service
from memory.stores.remote_faults import unfit
from memory.stores.remote_questions import LARGEST_SEQUENCE

MOST_SCOPES = 500
_ENVELOPE_BYTES = 4_096
"""What an import says beside its records, at most."""
_UNREADABLE = "the memory service cannot look into all of its scopes; its log names those that it has left aside"


async def scope_keys(service: Service, limit: int, after: str | None, leave_aside: LeaveAside | None) -> list[str]:
    found: list[str] = []
    while len(found) < limit:
        asked = min(limit - len(found), MOST_SCOPES)
        body: JsonObject = {"limit": asked} if after is None else {"limit": asked, "after": after}
        answer = await service.ask(Call("/scopes", body, is_read=True, is_thorough=True))
        keys = texts_in(answer, "scopes")
        if keys is None:
            raise unfit("/scopes")
        _leave_aside(answer, leave_aside)
        found.extend(keys)
        if len(keys) < asked:
            break
        after = keys[-1]
    return found


async def records(service: Service, scope_key: str, limit: int, after: int | None) -> list[MemoryRecord]:
    """Raises ``StoreUnavailableError`` for an export that broke off, and for a line that is no record."""
    if limit <= 0 or (after is not None and after > LARGEST_SEQUENCE):
        return []
    body: JsonObject = {"scopeKey": scope_key}
    if after is not None and after >= 0:
        body["after"] = after
    lines = await service.lines(Call("/export", body, is_read=True), limit)
    found = [record for line in lines if (record := _exported(line)) is not None]
    if len(found) < limit and (not lines or not _is_whole(lines[-1], len(found))):
        raise StoreUnavailableError("the memory service's export broke off")
    if any(record.scope_key != scope_key for record in found):
        raise unfit("/export")
    return found


async def restore(service: Service, scope_key: str, given: Sequence[MemoryRecord]) -> int:
    """All or nothing for what fits into one request; a longer one goes in parts, of which the earlier ones stay."""
    changed = 0
    for part in _parts([told_record(put_back(scope_key, record)) for record in given]):
        body: JsonObject = {"scopeKey": scope_key, "records": part}
        answer = await service.ask(Call("/import", body, is_read=True, is_thorough=True))
        changed += count_in(done(answer, "/import"), "changed")
    return changed


async def stats(service: Service, scope_key: str | None, leave_aside: LeaveAside | None) -> Stats:
    body: JsonObject = {} if scope_key is None else {"scopeKey": scope_key}
    answer = await service.ask(Call("/stats", body, is_read=True, is_thorough=True))
    counted = answer.get("records")
    if not isinstance(counted, Mapping):
        raise unfit("/stats")
    _leave_aside(answer, leave_aside)
    told = {status: count_in(answer["records"], status.value) for status in Status}
    return Stats(count_in(answer, "scopes"), {status: count for status, count in told.items() if count})


def _leave_aside(answer: Mapping[str, Any], leave_aside: LeaveAside | None) -> None:
    """Raises ``StoreUnavailableError`` for what is not all there is to somebody who wants all of it."""
    if count_in(answer, "unreadable"):
        if leave_aside is None:
            raise StoreUnavailableError(_UNREADABLE)
        leave_aside(_UNREADABLE)


def _exported(line: bytes) -> MemoryRecord | None:
    """``None`` for the line that ends an export."""
    value: Mapping[str, Any] = read_object(line)
    if value.get("end") is True:
        return None
    record = read_record(value)
    if record is None:
        raise StoreUnavailableError("the memory service's export has a line that is no record")
    return record


def _is_whole(line: bytes, count: int) -> bool:
    value = read_object(line)
    return value.get("end") is True and value.get("records") == count


def _parts(told: Sequence[JsonObject]) -> Generator[list[JsonObject]]:
    part: list[JsonObject] = []
    room = MOST_BODY_BYTES - _ENVELOPE_BYTES
    for each in told:
        size = len(json.dumps(each, ensure_ascii=False).encode())
        if part and (len(part) == MOST_RECORDS or size > room):
            yield part
            part, room = [], MOST_BODY_BYTES - _ENVELOPE_BYTES
        part.append(each)
        room -= size
    if part:
        yield part

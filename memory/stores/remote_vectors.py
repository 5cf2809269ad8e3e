"""Embeddings in a memory service: which records have none yet, and vectors for them in requests it can take."""

from array import array
from collections.abc import Generator, Mapping

from memory.record import MemoryRecord
from memory.service.wire import MOST_BODY_BYTES, MOST_EXPORTED, MOST_RECORDS, JsonObject
from memory.stores.remote_answers import count_in, done, own_records, values_in
from memory.stores.remote_calls import Call, Service
from memory.stores.rows import sequence_in
from memory.stores.vectors import packed_alike

_NUMBER_BYTES = 24
"""The longest 32-bit float as JSON, and the comma behind it."""
_AROUND_BYTES = 1_024
"""What stands around the numbers of one vector, at most."""
_ENVELOPE_BYTES = 4_096
"""What a request says beside its vectors, at most."""


async def unembedded(service: Service, scope_key: str, model: str, limit: int) -> list[MemoryRecord]:
    if limit <= 0:
        return []
    body: JsonObject = {"scopeKey": scope_key, "model": model, "limit": min(limit, MOST_EXPORTED)}
    answer = await service.ask(Call("/unembedded", body, is_read=True))
    return own_records(values_in(answer, "/unembedded"), scope_key)[:limit]


async def keep_vectors(service: Service, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
    """In parts when they are too many for one request; the earlier ones stay when a later one fails."""
    kept = 0
    for part in _parts(packed_alike(vectors, None), scope_key):
        body: JsonObject = {"scopeKey": scope_key, "model": model, "vectors": part}
        # Kept twice is as good as once, so it may be sent again like a read.
        answer = await service.ask(Call("/vectors", body, is_read=True))
        kept += count_in(done(answer, "/vectors"), "kept")
    return kept


def _parts(packed: Mapping[str, bytes], scope_key: str) -> Generator[list[JsonObject]]:
    """Without what cannot be a record of the scope. The numbers are the 32-bit floats that every store keeps."""
    told: list[tuple[str, array[float]]] = [
        (record_id, array("f", data))
        for record_id, data in packed.items()
        if sequence_in(scope_key, record_id) is not None
    ]
    if not told:
        return
    size = _AROUND_BYTES + _NUMBER_BYTES * len(told[0][1])
    at_once = max(1, min(MOST_RECORDS, (MOST_BODY_BYTES - _ENVELOPE_BYTES) // size))
    for start in range(0, len(told), at_once):
        yield [{"id": each, "values": values.tolist()} for each, values in told[start : start + at_once]]

"""What the memory service is asked, within the bounds of its fields (specification, section 16)."""

import re
from hashlib import blake2b
from secrets import token_hex

from memory.record import ID_CHARS, Kind
from memory.service.wire import MOST_RECORDS, QUERY_CHARS, JsonObject
from memory.store import Query, RankerName, Vector
from memory.text import storable

MOST_DIMENSIONS = 4_096
LARGEST_FLOAT32 = 3.4e38
LARGEST_SEQUENCE = 10**18 - 1
"""No record has a larger number."""
_FIT_KEY = re.compile(r"[!-~]{1,200}")


def search(scope_key: str, query: Query, ranker: RankerName) -> JsonObject:
    """A limit of 0 is a search for nothing: the service has no lower limit than 1, and nothing matches no words."""
    body: JsonObject = {
        "scopeKey": scope_key,
        "query": text_of(query.text) if query.limit > 0 else "",
        "limit": min(max(query.limit, 1), MOST_RECORDS),
        "ranker": ranker,
    }
    if query.standing > 0:
        body["standing"] = min(query.standing, MOST_RECORDS)
    if query.vector is not None and query.limit > 0 and _is_comparable(query.vector):
        body["vector"] = {"model": query.vector.model, "values": query.vector.values}
    return body


def listing(scope_key: str, limit: int, query: str, kind: Kind | None, before: int | None) -> JsonObject:
    """What is not asked for is not named."""
    body: JsonObject = {"scopeKey": scope_key, "limit": limit}
    if query:
        body["query"] = text_of(query)
    if kind is not None:
        body["kind"] = kind
    if before is not None and before <= LARGEST_SEQUENCE:
        body["before"] = before
    return body


def text_of(text: str) -> str:
    """``text`` as it may be sent: of one that is too long the beginning and the end, where a question stands."""
    whole = storable(text)
    half = QUERY_CHARS // 2
    return whole if len(whole) <= QUERY_CHARS else f"{whole[: half - 1]}\n{whole[-half:]}"


def key_of(idempotency_key: str | None) -> str:
    """The key as a header may carry it: one of the caller's own, else one that nobody else has."""
    if idempotency_key is None:
        return token_hex(16)
    if _FIT_KEY.fullmatch(idempotency_key):
        return idempotency_key
    return blake2b(idempotency_key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_id(text: str) -> bool:
    """Whether a record can have that id; the service refuses to look for anything else."""
    return 0 < len(text) <= ID_CHARS and text.isprintable() and " " not in text


def _is_comparable(vector: Vector) -> bool:
    """Whether any record can have a vector that this one is compared with."""
    is_named = 0 < len(vector.model) <= ID_CHARS
    return is_named and 0 < len(vector.values) <= MOST_DIMENSIONS and all(map(_is_float32, vector.values))


def _is_float32(number: float) -> bool:
    return -LARGEST_FLOAT32 <= number <= LARGEST_FLOAT32

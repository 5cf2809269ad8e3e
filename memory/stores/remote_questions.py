"""What the memory service is asked, within the bounds of its fields (specification, section 16)."""

from memory.record import ID_CHARS, Kind
from memory.service.wire import MOST_RECORDS, QUERY_CHARS, JsonObject
from memory.store import Query, RankerName
from memory.text import storable

MOST_DIMENSIONS = 4_096


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
    if query.vector is not None and query.limit > 0 and len(query.vector.values) <= MOST_DIMENSIONS:
        body["vector"] = {"model": query.vector.model, "values": query.vector.values}
    return body


def listing(scope_key: str, limit: int, query: str, kind: Kind | None, before: int | None) -> JsonObject:
    """What is not asked for is not named."""
    body: JsonObject = {"scopeKey": scope_key, "limit": limit}
    if query:
        body["query"] = text_of(query)
    if kind is not None:
        body["kind"] = kind
    if before is not None:
        body["before"] = before
    return body


def text_of(text: str) -> str:
    """``text`` as it may be sent: of one that is too long the beginning and the end, where a question stands."""
    whole = storable(text)
    half = QUERY_CHARS // 2
    return whole if len(whole) <= QUERY_CHARS else f"{whole[: half - 1]}\n{whole[-half:]}"


def is_id(text: str) -> bool:
    """Whether a record can have that id; the service refuses to look for anything else."""
    return 0 < len(text) <= ID_CHARS and text.isprintable() and " " not in text

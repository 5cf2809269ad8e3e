"""What each route does with a checked body: one call of the store, and what to answer and to note of it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic_core import to_json

from memory.record import MemoryRecord
from memory.service.exporting import LeftAside, exported, with_first
from memory.service.fences import RefusedError
from memory.service.reading import read
from memory.service.requests import (
    LARGEST_SEQUENCE,
    EraseBody,
    ExportBody,
    ForgetBody,
    GetBody,
    ImportBody,
    ListBody,
    Request,
    RetrieveBody,
    ScopesBody,
    StatsBody,
    SweepBody,
    UnembeddedBody,
    VectorsBody,
    WriteBody,
)
from memory.service.wire import (
    JsonObject,
    array_of,
    candidate_of,
    forget_said,
    record_of,
)
from memory.store import (
    Hit,
    KeyReusedError,
    MemoryArchive,
    MemoryStore,
    Query,
    RecordConflictError,
    StoreUnavailableError,
    Vector,
    VectorKeeper,
)

_BEYOND = "the records are beyond what can be kept"
_UNLIKE = "vectors must have one dimension, that of those that are kept of the model"

BodyType = TypeVar("BodyType", bound=Request)


class WholeStore(MemoryStore, VectorKeeper, MemoryArchive, Protocol):
    """What the service needs of a store."""


@dataclass(frozen=True, slots=True)
class Done:
    """The answer, and the ids and counts that are noted of it; ``lines`` that follow one by one are in its place."""

    answer: bytes
    noted: Mapping[str, object] = field(default_factory=dict[str, object])
    lines: AsyncIterator[bytes] | None = None


@dataclass(frozen=True, slots=True)
class Operation(Generic[BodyType]):
    """A route: how its body reads, and what it does. Called with the content of a request and its key."""

    body_type: type[BodyType]
    run: Callable[[WholeStore, BodyType, str | None], Awaitable[Done]]
    is_change: bool = False
    """Whether it may change what is kept."""

    def __call__(self, store: WholeStore, content: bytes, key: str | None) -> Awaitable[Done]:
        """Raises ``RefusedError``, and what the store raises."""
        return self.run(store, read(self.body_type, content), key)


async def _retrieve(store: WholeStore, body: RetrieveBody, _key: str | None) -> Done:
    vector = None if body.vector is None else Vector(body.vector.model, tuple(body.vector.values))
    query = Query(body.query, body.limit, vector, body.standing or 0, body.ranker)
    found = await store.retrieve(body.scope_key, query)
    if found.is_degraded:
        raise StoreUnavailableError("the scope could not be looked at")
    told = [b'{"records":', array_of(hit.record for hit in found.hits), b',"scores":', _numbers(found.hits)]
    if body.standing is not None:
        told += [b',"standingRecords":', array_of(found.standing)]
    return Done(b"".join([*told, b"}"]), {"scope": body.scope_key, "records": len(found.hits)})


def _numbers(hits: Iterable[Hit]) -> bytes:
    return f"[{','.join([repr(hit.score) for hit in hits])}]".encode()


async def _write(store: WholeStore, body: WriteBody, key: str | None) -> Done:
    candidates = [candidate_of(each) for each in body.records]
    try:
        counts = await store.write(body.scope_key, candidates, idempotency_key=key, cap=body.cap)
    except KeyReusedError:
        raise RefusedError(409, "the idempotency key was used for another batch") from None
    except ValueError:
        raise RefusedError(400, _BEYOND) from None
    noted: JsonObject = {"scope": body.scope_key, "candidates": len(candidates)}
    answer: JsonObject = {"ok": True, **asdict(counts)}
    return _done(answer, noted | ({"evicted": counts.evicted} if counts.evicted else {}))


async def _list(store: WholeStore, body: ListBody, _key: str | None) -> Done:
    if body.query is not None and not body.query:
        # A query without a token lists nothing; the port's own default means that none was given.
        return _found(body.scope_key, ())
    found = await store.list(
        body.scope_key, body.limit, query=body.query or "", kind=body.kind, before=_clamped(body.before)
    )
    return _found(body.scope_key, found)


def _found(scope_key: str, records: Sequence[MemoryRecord]) -> Done:
    return Done(b'{"records":' + array_of(records) + b"}", {"scope": scope_key, "records": len(records)})


def _done(answer: JsonObject, noted: JsonObject) -> Done:
    return Done(to_json(answer), noted)


def _clamped(sequence: int | None) -> int | None:
    """A number that stores can compare with theirs."""
    return None if sequence is None else min(sequence, LARGEST_SEQUENCE)


async def _get(store: WholeStore, body: GetBody, _key: str | None) -> Done:
    found = await store.get(body.scope_key, body.ids)
    return _found(body.scope_key, found)


async def _forget(store: WholeStore, body: ForgetBody, _key: str | None) -> Done:
    forgotten = await store.forget(body.scope_key, body.id)
    return _done({"ok": True, "forgotten": forgotten}, {"scope": body.scope_key, "id": body.id, "forgotten": forgotten})


async def _sweep(store: WholeStore, body: SweepBody, _key: str | None) -> Done:
    ids = await store.sweep(body.scope_key, dry_run=body.dry_run)
    answer: JsonObject = {"ok": True, "swept": len(ids)}
    noted: JsonObject = {"scope": body.scope_key, "swept": len(ids), "dry_run": body.dry_run}
    return _done(answer | ({"ids": ids} if body.dry_run else {}), noted)


async def _erase(store: WholeStore, body: EraseBody, _key: str | None) -> Done:
    noted: JsonObject
    try:
        if body.scope_key is not None:
            receipt = await store.erase(body.scope_key, body.id)
            noted = {"scope": body.scope_key, "id": body.id}
        else:
            receipt = await store.erase_thread(body.thread_key or "")
            noted = {"thread": body.thread_key}
    finally:
        forget_said()
    counts: JsonObject = {"records": receipt.records, "scopes": receipt.scopes}
    return _done({"ok": True} | counts, noted | counts)


async def _import(store: WholeStore, body: ImportBody, _key: str | None) -> Done:
    try:
        records = [record_of(each) for each in body.records]
        changed = await store.restore(body.scope_key, records)
    except RecordConflictError:
        raise RefusedError(409, "the scope has the words of a record under another id") from None
    except ValueError:
        raise RefusedError(400, _BEYOND) from None
    return _done({"ok": True, "changed": changed}, {"scope": body.scope_key, "changed": changed})


async def _scopes(store: WholeStore, body: ScopesBody, _key: str | None) -> Done:
    aside = LeftAside()
    keys = await store.scope_keys(body.limit, after=body.after, leave_aside=aside)
    return _done({"scopes": keys} | aside.told(), {"scopes": len(keys)})


async def _stats(store: WholeStore, body: StatsBody, _key: str | None) -> Done:
    aside = LeftAside()
    stats = await store.stats(body.scope_key, leave_aside=aside)
    counts = {str(status): count for status, count in stats.records.items()}
    answer: JsonObject = {"scopes": stats.scopes, "records": counts}
    return _done(answer | aside.told(), {"scope": body.scope_key, "scopes": stats.scopes})


async def _export(store: WholeStore, body: ExportBody, _key: str | None) -> Done:
    """Reads the first part before it answers, so that a store that cannot be read is told by the status."""
    lines = exported(store, body.scope_key, _clamped(body.after))
    return Done(b"", {"scope": body.scope_key}, with_first(await anext(lines), lines))


async def _unembedded(store: WholeStore, body: UnembeddedBody, _key: str | None) -> Done:
    found = await store.unembedded(body.scope_key, body.model, body.limit)
    return _found(body.scope_key, found)


async def _vectors(store: WholeStore, body: VectorsBody, _key: str | None) -> Done:
    vectors = {each.id: tuple(each.values) for each in body.vectors}
    try:
        kept = await store.keep_vectors(body.scope_key, body.model, vectors)
    except ValueError:
        raise RefusedError(400, _UNLIKE) from None
    return _done({"ok": True, "kept": kept}, {"scope": body.scope_key, "vectors": len(vectors), "kept": kept})


OPERATIONS: Mapping[str, Operation[Any]] = {
    "/retrieve": Operation(RetrieveBody, _retrieve),
    "/write": Operation(WriteBody, _write, is_change=True),
    "/list": Operation(ListBody, _list),
    "/get": Operation(GetBody, _get),
    "/forget": Operation(ForgetBody, _forget, is_change=True),
    "/sweep": Operation(SweepBody, _sweep, is_change=True),
    "/erase": Operation(EraseBody, _erase, is_change=True),
    "/export": Operation(ExportBody, _export),
    "/import": Operation(ImportBody, _import, is_change=True),
    "/scopes": Operation(ScopesBody, _scopes),
    "/stats": Operation(StatsBody, _stats),
    "/unembedded": Operation(UnembeddedBody, _unembedded),
    "/vectors": Operation(VectorsBody, _vectors, is_change=True),
}

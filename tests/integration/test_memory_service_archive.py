"""The memory service from outside: what it offers beyond the reference: get, erase, export, import, scopes, stats."""

import json
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.memory_services import Json, ServedMemory, fact, new_scope, served_over, texts
from tests.state_databases import PostgresServer


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def service(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _servers: Callable[[], PostgresServer],
) -> Iterator[ServedMemory]:
    with served_over(request.param, tmp_path_factory.mktemp("served"), lambda: _servers().new()) as served:
        yield served


def exported(service: ServedMemory, **body: object) -> Sequence[Json]:
    """The records of a whole export."""
    answer = service.post("/export", body)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    *records, end = map(json.loads, answer.text.splitlines())
    assert end == {"end": True, "records": len(records)}
    return records


def test_records_are_read_by_their_ids(service: ServedMemory) -> None:
    """Active ones, in the order asked, and no use is counted."""
    scope = new_scope()
    service.write(scope, *[fact(f"note {each}") for each in range(4)])
    service.ask("/forget", scopeKey=scope, id=f"mem:{scope}:1")
    ids = [f"mem:{scope}:{each}" for each in (3, 1, 0, 99)] + ["", "no id", f"mem:{scope}:3"]
    assert texts(service.ask("/get", scopeKey=scope, ids=ids)["records"]) == ["note 3", "note 0"]

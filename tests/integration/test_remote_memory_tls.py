"""The remote store over TLS: whom it trusts, and what those hear whom it does not."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from structlog.testing import capture_logs

from memory.store import Query, StoreUnavailableError
from memory.stores.remote import MEMORY_DEGRADED, RemoteStore, open_remote
from memory.stores.remote_trust import Credentials
from tests.command_runs import finished, start
from tests.memory_records import EPOCH, ORG, Shelf, fact
from tests.memory_services import TOKEN, ServedMemory, served_memory
from tests.tls_front import in_front_of, vouching

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServedMemory]:
    folder = tmp_path_factory.mktemp("served")
    with served_memory(folder, "--data-dir", str(folder)) as served:
        yield served


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def contexts(authority: trustme.CA) -> Mapping[str, ssl.SSLContext]:
    """Of servers, by what there is to know about their certificate."""
    return {
        "good": vouching(authority.issue_cert("127.0.0.1")),
        "someone else's": vouching(trustme.CA().issue_cert("127.0.0.1")),
        "another host's": vouching(authority.issue_cert("memory.example")),
        "expired": vouching(authority.issue_cert("127.0.0.1", not_after=LONG_AGO)),
    }


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trust") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


@asynccontextmanager
async def remote(url: str, ca_file: Path | None) -> AsyncGenerator[RemoteStore]:
    store = await open_remote(url, Credentials(TOKEN, ca_file), ranker="relevance", now=lambda: EPOCH, cap=None)
    try:
        yield store
    finally:
        await store.aclose()


async def test_a_service_that_a_named_authority_vouches_for_is_asked(
    service: ServedMemory, contexts: Mapping[str, ssl.SSLContext], ca_file: Path
) -> None:
    async with in_front_of(service.port, contexts["good"]) as front, remote(front.url, ca_file) as store:
        counts = await store.write(ORG, [fact("deploys need approval")])
        found = await store.retrieve(ORG, Query("who approves deploys", 8))
    assert (counts.inserted, found.is_degraded) == (1, False)
    assert [hit.record.text for hit in found.hits] == ["deploys need approval"]
    assert TOKEN.encode() in front.heard


@pytest.mark.parametrize(
    ("shown", "is_named", "reason"),
    [
        ("good", False, "unable to get local issuer certificate"),
        ("someone else's", True, "unable to get local issuer certificate"),
        ("another host's", True, "IP address mismatch"),
        ("expired", True, "certificate has expired"),
    ],
)
async def test_whoever_is_not_trusted_hears_no_token_and_memory_does_without(
    service: ServedMemory,
    contexts: Mapping[str, ssl.SSLContext],
    ca_file: Path,
    shown: str,
    is_named: bool,  # noqa: FBT001 - a parameter of the test
    reason: str,
) -> None:
    async with (
        in_front_of(service.port, contexts[shown]) as front,
        remote(front.url, ca_file if is_named else None) as store,
    ):
        with capture_logs() as logs:
            for _ in range(2):
                assert (await store.retrieve(ORG, Query("deploys", 8))).is_degraded
        with pytest.raises(StoreUnavailableError, match="certificate is not trusted"):
            await store.write(ORG, [fact("never heard")])
    (warning,) = [line for line in logs if line["event"] == MEMORY_DEGRADED]
    assert reason in warning["reason"]
    assert "memory.worker.ca_file" in warning["reason"]
    assert front.heard == b""
    assert TOKEN not in str(logs)


@pytest.mark.parametrize("variable", ["SWITCHBOARD_MEMORY__WORKER__CA_FILE", "SSL_CERT_FILE"])
async def test_an_operator_names_the_authority_for_the_service_or_for_the_whole_process(
    tmp_path: Path, service: ServedMemory, contexts: Mapping[str, ssl.SSLContext], ca_file: Path, variable: str
) -> None:
    async with Shelf("sqlite-relevance", tmp_path / "kept").open() as store:
        await store.write(ORG, [fact("deploys need approval")])
    environ = {"MEMORY_TOKEN": TOKEN, variable: str(ca_file)}
    async with in_front_of(service.port, contexts["good"]) as front, asyncio.timeout(50):
        # What is named for the whole process may be read as early as by an import.
        process = await start(tmp_path, "memory", "copy", "--from", "kept", "--to", front.url, environ=environ)
        done = await finished(process)
    assert done.status == 0, done.err

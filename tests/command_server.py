"""Runs our programs in processes that are forked: ``python -m tests.command_server FD``.

What they import is imported here, once: ours as well, for a module does nothing but define. What is imported on first
use is left to them. On the socket ``FD`` come command lines, each with a socket for what becomes of it (first its
process's id, in the end its exit status), its standard input, its standard output and its standard error. When ``FD``
is closed at the other end, this ends.
"""

import inspect
import json
import os
import runpy
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import NoReturn

import coverage

OTHERS = (
    *("alembic.command", "httpx", "psycopg_pool", "pydantic_settings", "rich.console", "snowballstemmer", "structlog"),
    *("sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite", "starlette.applications", "typer"),
    *("aiohttp", "slack_bolt.async_app", "slack_sdk.socket_mode.aiohttp", "uvicorn", "uvloop", "yaml"),
)
OURS = (
    *("app.bootstrap", "app.bootstrap_state", "app.cli", "app.cli_commands", "app.doctor", "app.play", "app.moving"),
    *("config.loading", "memory.service.starting", "memory.stores.postgres", "memory.stores.sqlite"),
)
REQUEST_BYTES = 65_536
HANDED = 4


@dataclass(frozen=True, slots=True)
class CommandLine:
    folder: str
    module: str
    arguments: Sequence[str]
    environ: Mapping[str, str]

    def run(self) -> NoReturn:
        """As ``python -m`` does, from its start to its end."""
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environ)
        sys.argv[1:], sys.path[0] = self.arguments, self.folder
        coverage.process_startup()
        runpy.run_module(self.module, run_name="__main__", alter_sys=True)
        sys.exit()


def serve(requests: socket.socket) -> None:
    """Until nobody asks any more; each command ends a process of its own."""
    while True:
        message, handed, _, _ = socket.recv_fds(requests, REQUEST_BYTES, HANDED)
        if not message:
            return
        if os.fork() == 0:
            _begin(*handed)
            CommandLine(**json.loads(message)).run()
        for each in handed:
            os.close(each)
        _reap()


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _begin(answers: int, *given: int) -> None:
    """Comes back in a process of its own, whose parent tells its end and holds nothing else of what it has."""
    process = os.fork()
    if not process:
        for standard, each in enumerate(given):
            os.dup2(each, standard)
    for each in given:
        os.close(each)
    if process:
        with socket.socket(fileno=answers) as told, suppress(BrokenPipeError):
            told.send(str(process).encode())
            told.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
        os._exit(0)
    os.close(answers)


def _prepare() -> None:
    for name in (*OTHERS, *OURS):
        import_module(name)
    inspect.stack()  # what measures coverage asks for it, and the first time it goes through every module


if __name__ == "__main__":
    _prepare()
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        serve(listening)
    _reap()

"""Runs our programs in processes that are forked: ``python -m tests.command_server FD``.

What others wrote is imported here, once; what is ours, each process imports anew, as when a person starts it. On the
socket ``FD`` come command lines, each with its standard output, its standard error and a socket for what becomes of it:
first its process's id, in the end its exit status. When ``FD`` is closed at the other end, this ends.
"""

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
REQUEST_BYTES = 65_536


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
        sys.argv[1:] = self.arguments
        coverage.process_startup()
        runpy.run_module(self.module, run_name="__main__", alter_sys=True)
        sys.exit()


def serve(requests: socket.socket) -> None:
    """Until nobody asks any more; each command ends a process of its own."""
    while True:
        message, handed, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 3)
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


def _begin(out: int, err: int, answers: int) -> None:
    """Comes back in a process of its own, whose parent tells its end."""
    if process := os.fork():
        with socket.socket(fileno=answers) as told, suppress(BrokenPipeError):
            told.send(str(process).encode())
            told.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
        os._exit(0)
    for given, standard in ((out, 1), (err, 2)):
        os.dup2(given, standard)
    for each in (out, err, answers):
        os.close(each)


if __name__ == "__main__":
    for name in OTHERS:
        import_module(name)
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        serve(listening)
    _reap()

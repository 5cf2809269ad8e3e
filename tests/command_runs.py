"""Running `switchboard` as a process of its own, with nothing of the test's environment but what it takes."""

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[1]
WAIT_S = 30.0
_ANSWER_BYTES = 64


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    status: int | None
    out: str
    err: str

    @property
    def complaints(self) -> list[str]:
        return self.err.splitlines()


def given(environ: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of a process; whatever measures coverage goes on in it."""
    measuring = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    return {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "COLUMNS": "100"} | measuring | dict(environ or {})


async def start_python(
    folder: Path, *arguments: str, environ: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    """Python with ``arguments`` in ``folder``."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=folder,
        env=given(environ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def start(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> asyncio.subprocess.Process:
    return await start_python(folder, "-m", "app", *arguments, environ=environ)


async def finished(process: asyncio.subprocess.Process) -> Finished:
    """Wait for the end, which comes by force after ``WAIT_S``."""
    try:
        async with asyncio.timeout(WAIT_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Finished(process.returncode, out.decode(), err.decode())


async def switchboard(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    return await ran(folder, "app", *arguments, environ=environ)


async def ran(folder: Path, module: str, *arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    """To its end, which comes by force after ``WAIT_S``; started quicker than by ``start``, a process all the same."""
    command = {"folder": str(folder), "module": module, "arguments": arguments, "environ": given(environ)}
    return await asyncio.to_thread(_forked, _command_server(), command)


def _forked(server: socket.socket, command: Mapping[str, object]) -> Finished:
    answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with answers, TemporaryFile() as out, TemporaryFile() as err:
        with theirs:
            handed = [out.fileno(), err.fileno(), theirs.fileno()]
            socket.send_fds(server, [json.dumps(command).encode()], handed)
        answers.settimeout(WAIT_S)
        process = int(answers.recv(_ANSWER_BYTES))
        try:
            status = int(answers.recv(_ANSWER_BYTES))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            status = int(answers.recv(_ANSWER_BYTES))
        out.seek(0)
        err.seek(0)
        return Finished(status, out.read().decode(), err.read().decode())


@cache
def _command_server() -> socket.socket:
    """Where command lines are sent; it ends with this process."""
    requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = [sys.executable, "-m", "tests.command_server", str(theirs.fileno())]
    environ = {name: value for name, value in given(None).items() if not name.startswith("COVERAGE_")}
    server = subprocess.Popen(program, cwd=ROOT, env=environ, pass_fds=[theirs.fileno()])  # noqa: S603 - our own program
    theirs.close()

    def end() -> None:
        requests.close()
        server.wait(WAIT_S)

    atexit.register(end)
    return requests

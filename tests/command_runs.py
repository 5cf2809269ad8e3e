"""Running `switchboard` as a process of its own, with nothing of the test's environment but what it takes."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from tests.forked_processes import ROOT, WAIT_S, forked


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
    with _interruptible():
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            cwd=folder,
            env=given(environ),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )


@contextmanager
def _interruptible() -> Generator[None]:
    """A process inherits that Ctrl+C is ignored, as it is for tests that a shell runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
    return await asyncio.to_thread(_ran, folder, [module, *arguments], given(environ))


def _ran(folder: Path, command: Sequence[str], environ: Mapping[str, str]) -> Finished:
    with TemporaryFile() as out, TemporaryFile() as err:
        process = forked(folder, command, environ, out=out.fileno(), err=err.fileno())
        try:
            process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
        status = process.wait(WAIT_S)
        out.seek(0)
        err.seek(0)
        return Finished(status, out.read().decode(), err.read().decode())

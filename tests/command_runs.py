"""Running `switchboard` as a process of its own, with nothing of the test's environment but what it takes."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    status: int | None
    out: str
    err: str

    @property
    def complaints(self) -> list[str]:
        return self.err.splitlines()


async def start_python(
    folder: Path, *arguments: str, environ: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    """Python with ``arguments`` in ``folder``; whatever measures coverage goes on in it."""
    measuring = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    given = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "COLUMNS": "100"} | measuring | dict(environ or {})
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=folder,
        env=given,
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
    return await finished(await start(folder, *arguments, environ=environ))

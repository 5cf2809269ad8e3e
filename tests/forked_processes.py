"""Our programs as processes that ``tests.command_server`` forks, at a tenth of the cost of a start.

How a program starts when nothing is imported yet is for tests that start Python itself.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
WAIT_S = 30.0
_ANSWER_BYTES = 64


@dataclass(slots=True)
class Forked:
    """What ``subprocess.Popen`` is, as far as it is asked here."""

    pid: int
    _answers: socket.socket
    returncode: int | None = None

    def wait(self, timeout_s: float = WAIT_S) -> int:
        """The exit status; ``subprocess.TimeoutExpired`` when there is none by then."""
        if self.returncode is None:
            self._answers.settimeout(timeout_s)
            try:
                self.returncode = int(self._answers.recv(_ANSWER_BYTES))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(str(self.pid), timeout_s) from None
            self._answers.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Nothing happens to one that has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def forked(
    folder: Path, command: Sequence[str], environ: Mapping[str, str], *, out: int, err: int = 2, told: int | None = None
) -> Forked:
    """What ``python -m`` makes of ``command`` in ``folder``; it reads ``told``, if that is given."""
    module, *arguments = command
    line = {"folder": str(folder), "module": module, "arguments": arguments, "environ": dict(environ)}
    answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ExitStack() as held:
        held.enter_context(answers)
        with theirs, Path(os.devnull).open("rb") as nothing:
            handed = [theirs.fileno(), nothing.fileno() if told is None else told, out, err]
            socket.send_fds(_server(), [json.dumps(line).encode()], handed)
        answers.settimeout(WAIT_S)
        process = Forked(int(answers.recv(_ANSWER_BYTES)), answers)
        held.pop_all()
    return process


@cache
def _server() -> socket.socket:
    """Where command lines are sent; it ends with this process."""
    requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = [sys.executable, "-m", "tests.command_server", str(theirs.fileno())]
    environ = {"PYTHONPATH": str(ROOT), "PATH": os.defpath}
    server = subprocess.Popen(program, cwd=ROOT, env=environ, pass_fds=[theirs.fileno()])  # noqa: S603 - our own program
    theirs.close()

    def end() -> None:
        requests.close()
        server.wait(WAIT_S)

    atexit.register(end)
    return requests

"""Processes of the benchmarks' own: started, asked questions over a pipe, and always ended."""

import asyncio
import multiprocessing
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

START_S = 20.0
_LEAVE_S = 5.0
_SPAWNING = multiprocessing.get_context("spawn")

Host = TypeVar("Host")
Host_contra = TypeVar("Host_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)
Answer = TypeVar("Answer")
Parameters = ParamSpec("Parameters")


class BenchmarkError(Exception):
    """A benchmark could not run."""


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """Travels back in place of an answer."""

    reason: str


class Pipe(Protocol):
    """What is used of a ``multiprocessing`` connection."""

    def send(self, obj: Any, /) -> None: ...

    def recv(self) -> Any: ...

    def poll(self, timeout: float, /) -> bool: ...

    def close(self) -> None: ...


class Question(Protocol[Host_contra, Answer_co]):
    """Travels to a child, is answered there with the child's host in hand, and its answer travels back.

    May raise ``TimeoutError``, and ``BenchmarkError`` for what spoils the measurement.
    """

    async def ask(self, host: Host_contra, /) -> Answer_co: ...


class Child(Generic[Host]):
    """The near end of a process whose questions are answered by a ``Host``."""

    def __init__(self, name: str, pipe: Pipe) -> None:
        self._name = name
        self._pipe = pipe

    def ask(self, question: Question[Host, Answer], timeout_s: float = START_S) -> Answer:
        """Raises ``BenchmarkError`` when there is no answer in time, or the process has ended."""
        with suppress(ConnectionError):  # that the process is gone is told by the next line
            self._pipe.send(question)
        answer = self._next_word(timeout_s)
        if isinstance(answer, _Unanswered):
            raise BenchmarkError(f"{self._name} {answer.reason}")
        return cast("Answer", answer)

    def greeting(self) -> Any:
        """What the process says when it is ready. Raises ``BenchmarkError`` as ``ask`` does."""
        return self._next_word(START_S)

    def _next_word(self, timeout_s: float) -> object:
        try:
            if not self._pipe.poll(timeout_s):
                raise BenchmarkError(f"{self._name} gave no answer within {timeout_s:g} s")
            return self._pipe.recv()
        except (EOFError, ConnectionError) as exc:
            raise BenchmarkError(f"{self._name} ended by itself; what it said is above") from exc


@contextmanager
def child(
    main: Callable[Concatenate[Pipe, Parameters], None], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Generator["Child[Any]"]:
    """Run ``main`` in a process of its own, which begins with a greeting; yields the near end at once.

    Its end of the pipe closes when the block ends or this process dies, upon which ``answer_questions`` returns.
    """
    near, far = _SPAWNING.Pipe()
    process = _SPAWNING.Process(target=main, args=(far, *args), kwargs=kwargs, daemon=True)
    # Ctrl-C reaches every process of the terminal; this one alone decides what it means.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    process.start()
    signal.signal(signal.SIGINT, before)
    far.close()
    try:
        yield Child[Any](main.__name__, near)
    finally:
        near.close()
        process.join(_LEAVE_S)
        process.terminate()
        process.join(_LEAVE_S)
        process.kill()
        process.join()


async def answer_questions(pipe: Pipe, host: object, *, greeting: object) -> None:
    """Say that the host is ready, and answer with it until the other side hangs up or is gone."""
    with suppress(EOFError, ConnectionError):
        pipe.send(greeting)
        while True:
            question: Question[object, object] = await asyncio.to_thread(pipe.recv)
            try:
                answer = await question.ask(host)
            except TimeoutError:
                answer = _Unanswered(f"waited in vain: {question}")
            except BenchmarkError as fault:
                answer = _Unanswered(str(fault))
            pipe.send(answer)

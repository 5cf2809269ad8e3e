"""What of a fault a log may hold: where it happened and what kind it is, never the text that was at work there."""

import traceback
from collections.abc import Iterator
from typing import cast

from structlog.typing import ExcInfo

_OURS = frozenset({"app", "commands", "config", "memory"})
"""Errors of these packages tell in sentences of their own, which repeat nothing of what people wrote."""


def traced(fault: BaseException) -> str:
    """The trace of ``fault`` and of what led to it, with the lines of code.

    Others' errors are named only: a database's tells the row it refused, a validator's the value. What the operating
    system says of a file or a socket is theirs to read.
    """
    return "".join(_traced(fault)).rstrip("\n")


def exception_text(exc_info: ExcInfo) -> str:
    """``traced`` for structlog's ``ExceptionRenderer``."""
    return traced(exc_info[1])


def _traced(fault: BaseException) -> Iterator[str]:
    cause = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    if cause is not None:
        yield from _traced(cause)
        yield "then\n"
    yield from traceback.format_tb(fault.__traceback__)
    yield f"{_named(fault)}\n"
    if isinstance(fault, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", fault).exceptions:
            yield "among them\n"
            yield from _traced(each)


def _named(fault: BaseException) -> str:
    kind = type(fault)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    is_told = isinstance(fault, OSError) or kind.__module__.partition(".")[0] in _OURS
    return f"{name}: {fault}" if is_told and str(fault) else name

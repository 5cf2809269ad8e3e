"""Logs as one stream of events: pretty on a terminal, JSON anywhere else, and never with a token in them."""

import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType
from typing import Literal, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from memory.redact import redact
from memory.tracing import exception_text

LogFormat = Literal["auto", "pretty", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

_SECRETS = re.compile(
    r"(?P<token>xoxe\.xox[a-z]-|xox[a-z]-|xapp-|\bsk-)[A-Za-z0-9_-]{3,}"
    r"|(?P<scheme>\bBearer\s+)[A-Za-z0-9._~+/=-]{6,}"
    r"|(?P<parameter>\b(?:ticket|token|api_key|client_secret|signing_secret)=)[^&\s\"']{3,}",
    re.IGNORECASE,
)
OWN_NAME = re.compile(r"[0-9a-f]{8}|slack:[CDGUW][A-Z0-9]{4,14}(?::[0-9]{10}\.[0-9]{6})?")
"""A reference, a person, a channel, a thread: every line has new ones, and there is no room for a secret in them."""
_MASK = "***"
_SHORT_CHARS = 80
_PLAIN = (int, float, NoneType)
"""What can be no secret; bool is an int."""


def configure(log_format: LogFormat, level: LogLevel, *, stream: TextIO) -> None:
    """Send every log line of this process to ``stream``, the libraries' warnings and errors included."""
    is_pretty = log_format == "pretty" or (log_format == "auto" and stream.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.StackInfoRenderer(),
        structlog.processors.ExceptionRenderer(exception_text),
        mask_secrets,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    final = _renderer(is_pretty=is_pretty, colors=stream.isatty())
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, final],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    _adopt_libraries(shared, final, stream, max(threshold, logging.WARNING))


def mask(text: str) -> str:
    """``text`` with what looks like a secret replaced, its kind left readable.

    Beginnings of tokens go first, from shorter rests on than anywhere else; then whatever is a secret in any text.
    """
    return redact(_SECRETS.sub(_masked_rest, text))


def _masked_rest(found: re.Match[str]) -> str:
    return f"{found['token'] or found['scheme'] or found['parameter']}{_MASK}"


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A structlog processor; anything that is no plain value is turned into text first, so nothing slips by."""
    return {key: _masked(value) for key, value in event.items()}


def _masked(value: object) -> object:
    if isinstance(value, str):
        return _masked_text(value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {mask(str(key)): _masked(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_masked(each) for each in cast("list[object]", value)]
    return _masked_text(repr(value))


def _masked_text(text: str) -> str:
    if OWN_NAME.fullmatch(text):
        return text
    return _masked_often(text) if len(text) <= _SHORT_CHARS else mask(text)


_masked_often = lru_cache(maxsize=1_024)(mask)
"""Names of events, routes and scopes come with every line of a busy server, and looking through them takes longer
than all the rest of it."""


def _renderer(*, is_pretty: bool, colors: bool) -> Processor:
    if is_pretty:
        return structlog.dev.ConsoleRenderer(
            colors=colors, exception_formatter=structlog.dev.plain_traceback, pad_event_to=0
        )
    return structlog.processors.JSONRenderer(ensure_ascii=False)


class _LibraryHandler(logging.StreamHandler[TextIO]):
    """Ours among the root logger's handlers, so that configuring again replaces it and no other one."""


def _adopt_libraries(shared: list[Processor], final: Processor, stream: TextIO, threshold: int) -> None:
    """Route what libraries log through the standard library into the same chain."""
    handler = _LibraryHandler(stream)
    plain = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    chain = [structlog.stdlib.add_logger_name, plain, *shared]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=chain, processors=[final]))
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, _LibraryHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(threshold)

"""Logs of a service that runs without the bot: one JSON object a line, secrets masked."""

import logging
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from memory.redact import redact
from memory.tracing import exception_text


def configure(level: str, *, stream: TextIO) -> None:
    """Send every log line of this process to ``stream``, the libraries' warnings and errors included."""
    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.ExceptionRenderer(exception_text),
        _redacted,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    final = structlog.processors.JSONRenderer(ensure_ascii=False)
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, final],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(stream),
    )
    handler = logging.StreamHandler(stream)
    plain = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[plain, final]))
    logging.basicConfig(level=max(threshold, logging.WARNING), handlers=[handler], force=True)


def _redacted(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {key: redact(value) if isinstance(value, str) else value for key, value in event.items()}

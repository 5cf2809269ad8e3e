"""Accounting for model calls that have been made, whether or not the records can be reached."""

import structlog

from app.errors import StateError
from app.sessions.usage import Run, Usage

RUN_UNACCOUNTED = "run_unaccounted"

_log = structlog.stdlib.get_logger(__name__)


async def account(usage: Usage, run: Run) -> None:
    """Write down what ``run`` took; where that is not possible it was taken all the same, and the log has it."""
    try:
        await usage.record(run)
    except StateError as fault:
        _log.error(RUN_UNACCOUNTED, reference=run.reference, reason=str(fault))

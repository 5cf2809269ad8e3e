"""The one canonical line of a turn in the log: how it ended, how long it took, and what it took."""

import structlog

from app.agents.pricing import tokens_of
from app.dispatch.work import Outcome

TURN_FINISHED = "turn_finished"

_log = structlog.stdlib.get_logger(__name__)


def tell(outcome: Outcome, waited_s: float, took_s: float) -> None:
    """``waited_s``: in line; ``took_s``: apart from that."""
    _log.info(
        TURN_FINISHED,
        outcome=outcome.name,
        waited_ms=round(waited_s * 1000),
        took_ms=round(took_s * 1000),
        **_asked(outcome),
        **_counted(outcome),
        **_brought(outcome),
    )


def _asked(outcome: Outcome) -> dict[str, object]:
    if outcome.agent is None:
        return {}
    return {"agent": outcome.agent, "model": outcome.model}


def _counted(outcome: Outcome) -> dict[str, object]:
    """The numbers that are kept of its run, whatever ended it."""
    if outcome.taken is None:
        return {}
    tokens = tokens_of(outcome.taken)
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "tokens_are_partial": tokens.is_partial,
    }


def _brought(outcome: Outcome) -> dict[str, object]:
    if outcome.result is None or outcome.recalled is None:
        return {}
    result, recalled = outcome.result, outcome.recalled
    return {
        "stop_reason": result.stop_reason.value,
        "memory_records": len(recalled.records),
        "memory_degraded": recalled.is_degraded,
        "first_text_ms": None if result.first_text_s is None else round(result.first_text_s * 1000),
    }

"""What a turn does next after its model call ended or failed."""

from dataclasses import dataclass

from app.agents.providers.base import StopReason
from app.errors import ModelBusyError, ModelError, ModelUnreachableError

ATTEMPTS = 3
LONGEST_WAIT_S = 30.0
"""Nobody watches an empty thread for longer; the person is told instead."""


@dataclass(frozen=True, slots=True)
class Retry:
    after_s: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    pass


def after_failure(error: ModelError, attempt: int, *, has_text: bool) -> Retry | GiveUp:
    """Whether to call again. ``attempt`` counts from 1; with text already shown a second call would repeat it."""
    if has_text or attempt >= ATTEMPTS or not isinstance(error, ModelBusyError | ModelUnreachableError):
        return GiveUp()
    wished = error.retry_after_s if isinstance(error, ModelBusyError) else None
    wait_s = wished if wished is not None else 0.5 * 2 ** (attempt - 1)
    return Retry(wait_s) if wait_s <= LONGEST_WAIT_S else GiveUp()


def closing_note(stop_reason: StopReason, *, has_text: bool) -> str:
    """What is added below an answer that did not end by itself."""
    if stop_reason is StopReason.LENGTH:
        return "_My answer reached its length limit here. Reply “continue” and I go on._"
    if stop_reason is StopReason.REFUSAL:
        return "_The model declined to answer this. Rephrasing the question may help._"
    return "" if has_text else "_The model had nothing to say to this. Try asking in other words._"

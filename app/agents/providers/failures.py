"""What a provider's failure means to the bot: one table over every vendor's statuses, types, codes and wordings."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from app.agents.providers.base import ModelRequest
from app.errors import (
    ModelBusyError,
    ModelError,
    ModelKeyError,
    ModelRejectedError,
    ModelUnreachableError,
    PromptTooLongError,
)

ERROR_STATUSES = range(400, 600)
CLIENT_FAULT_STATUSES = range(400, 500)
KEY_STATUSES = frozenset({401, 402, 403})
KEY_NAMES = frozenset({"authentication_error", "permission_error", "invalid_api_key", "account_deactivated"})
MONEY_NAMES = frozenset(
    {
        "billing_error",
        "insufficient_quota",
        "billing_hard_limit_reached",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "linked_organization_spend_limit_reached",
    }
)
MONEY_WORDING = re.compile(r"credit balance|insufficient (?:credits|balance|funds)", re.IGNORECASE)

TOO_LONG_STATUSES = frozenset({413})
TOO_LONG_NAMES = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "request_too_large",
        "request_body_too_large_after_decoding",
    }
)
TOO_LONG_WORDING = re.compile(
    r"prompt is too long"
    r"|exceeds? (?:the |this model's )?(?:available |maximum )?context"
    r"|maximum context length|context window|request too large|input is too long",
    re.IGNORECASE,
)
NO_PROMPT_FAULT_STATUSES = frozenset({401, 402, 403, 404})

BUSY_STATUSES = frozenset({429, 503, 529})
BUSY_NAMES = frozenset(
    {
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_overloaded",
        "engine_overloaded",
        "slow_down",
    }
)
REJECTED_NAMES = frozenset({"invalid_request_error", "not_found_error", "model_not_found", "badrequesterror"})
UNREACHABLE_STATUSES = frozenset({408, 425, 499})

NAME_CHARS = 60
QUOTE_CHARS = 200
ECHO_CHARS = 16


@dataclass(frozen=True, slots=True)
class Failure:
    """What a provider said instead of an answer."""

    provider: str
    """The provider as the operator named it."""
    status: int | None
    """The HTTP status of an error; None when the error came inside a stream that had begun well."""
    kind: str = ""
    """The error's ``type``."""
    code: str = ""
    message: str = ""
    """The provider's own wording. It may repeat what it refuses."""
    retry_after_s: float | None = None


def failure_error(failure: Failure, private: tuple[str, ...]) -> ModelError:
    """The error to raise for ``failure``. Its text is for logs and repeats nothing of the ``private`` texts."""
    status = _status(failure)
    said = _said(failure, private)
    names = {failure.kind.lower(), failure.code.lower()}
    if names & MONEY_NAMES or MONEY_WORDING.search(failure.message):
        return ModelKeyError(f"{_what(failure)}: the account has no credit left or reached its spending limit")
    if _is_too_long(failure, status, names):
        return PromptTooLongError(f"{said}: the request is too long for the model")
    if status in KEY_STATUSES or names & KEY_NAMES:
        return ModelKeyError(f"{_what(failure)}: the key is wrong or lacks rights")
    if status in BUSY_STATUSES or names & BUSY_NAMES:
        return ModelBusyError(said, failure.retry_after_s)
    if names & REJECTED_NAMES or _is_client_fault(status):
        return ModelRejectedError(said)
    return ModelUnreachableError(said)


def _status(failure: Failure) -> int | None:
    """The failure's HTTP status; inside a stream, compatible servers put it into ``code``."""
    if failure.status is None and re.fullmatch(r"[45]\d\d", failure.code):
        return int(failure.code)
    return failure.status


def _is_too_long(failure: Failure, status: int | None, names: set[str]) -> bool:
    if status in TOO_LONG_STATUSES or names & TOO_LONG_NAMES:
        return True
    return status not in NO_PROMPT_FAULT_STATUSES and TOO_LONG_WORDING.search(failure.message) is not None


def _is_client_fault(status: int | None) -> bool:
    return status in CLIENT_FAULT_STATUSES and status not in UNREACHABLE_STATUSES


def _what(failure: Failure) -> str:
    where = f"HTTP {failure.status}" if failure.status is not None else "in mid-stream"
    names = (name[:NAME_CHARS] for name in (failure.kind, failure.code) if name)
    return f"{failure.provider} answered with an error ({', '.join((where, *names))})"


def private_texts(request: ModelRequest, api_key: str | None) -> tuple[str, ...]:
    """What no error's text may repeat: some servers echo the input that they refuse, and errors reach the log."""
    return (*request.system, *(turn.text for turn in request.messages), api_key or "")


def _said(failure: Failure, private: tuple[str, ...]) -> str:
    line = " ".join(failure.message.split())[:QUOTE_CHARS]
    if not line or any(_echoes(line, " ".join(text.split())) for text in private):
        return _what(failure)
    return f"{_what(failure)}: {line}"


def _echoes(line: str, secret: str) -> bool:
    if len(secret) < ECHO_CHARS:
        return bool(secret) and re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", line) is not None
    return line in secret or any(line[at : at + ECHO_CHARS] in secret for at in range(len(line) - ECHO_CHARS + 1))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long a response asks to wait, never negative; None if it does not say or cannot be understood.

    ``retry-after-ms`` goes first: it is finer. A date (RFC 9110, 10.2.3) counts from the response's own ``date``,
    so that a wrong clock on either side does no harm.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return seconds if seconds is not None else _seconds_between(headers.get("date"), value)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _seconds_between(start: str | None, end: str | None) -> float | None:
    try:
        span = parsedate_to_datetime(end or "") - parsedate_to_datetime(start or "")
    except (ValueError, TypeError):
        return None
    return max(0.0, span.total_seconds())

"""What it means when the memory service refuses or fails: each status as the port's own error."""

from collections.abc import Mapping
from typing import Any

from memory.store import (
    KeyReusedError,
    NoVectorsError,
    RecordConflictError,
    StoreDamagedError,
    StoreFullError,
    StoreUnavailableError,
)

REASON_CHARS = 200


class ServiceFaultError(StoreUnavailableError):
    """The service gave no answer, or one that says that it is broken."""


class ServiceSilentError(ServiceFaultError):
    """It did not answer in time. Whether a change was made is not known; the next call of the kind tells."""


class ScopeFaultError(ServiceFaultError):
    """It works and could not look into one scope."""


class ServiceRestingError(StoreUnavailableError):
    """It failed a moment ago and is left alone; it was not asked."""


_LEAST_BROKEN = 500
_OF_VECTORS = frozenset({"/unembedded", "/vectors"})
_KINDS: Mapping[int, tuple[type[StoreUnavailableError], str]] = {
    401: (StoreUnavailableError, "refused the bearer token; check the variable that memory.worker.token_env names"),
    404: (StoreUnavailableError, "does not know what it was asked; check memory.worker.base_url"),
    405: (StoreUnavailableError, "does not know what it was asked; check memory.worker.base_url"),
    503: (ScopeFaultError, "cannot do that now"),
    507: (StoreFullError, "has no room left"),
}


def fault_of(route: str, status: int, answer: Mapping[str, Any]) -> StoreUnavailableError | ValueError:
    """What to raise for an answer that is not a success. ``ValueError`` is the caller's fault, anything else is not."""
    told = _told(answer)
    if answer.get("damaged") is True:
        return StoreDamagedError(f"the memory service cannot read the scope ({route}){told}")
    if status == 404 and told and route in _OF_VECTORS:  # noqa: PLR2004 - Not Found
        # Whoever has a reason to tell is a service, and no proxy whose service is away.
        return NoVectorsError(f"the memory service is older than vectors and keeps none ({route}){told}")
    if status in {400, 413}:
        return ValueError(f"the memory service refused {route}{told}")
    if status == 409:  # noqa: PLR2004 - Conflict
        is_import = route == "/import"
        return RecordConflictError(f"{route} was refused{told}") if is_import else KeyReusedError(f"{route}{told}")
    other = ServiceFaultError if status >= _LEAST_BROKEN else StoreUnavailableError
    kind, text = _KINDS.get(status, (other, f"answered {status}"))
    return kind(f"the memory service {text} ({route}){told}")


def unfit(route: str) -> StoreUnavailableError:
    """For a success that does not say what it must."""
    return StoreUnavailableError(f"the memory service answered {route} with 200 and not with what was asked for")


def _told(answer: Mapping[str, Any]) -> str:
    """The service's reason, on one line; it names fields and no values."""
    reason = answer.get("error")
    return f": {' '.join(reason.split())[:REASON_CHARS]}" if isinstance(reason, str) and reason.strip() else ""

"""Faults that tests order for the Web API: which calls fail, in which way and how often."""

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """The ways in which a call to Slack goes wrong."""

    RATE_LIMITED = "rate_limited"
    """HTTP 429 with ``Retry-After``."""
    SERVER_ERROR = "server_error"
    """An HTTP error status with a page instead of JSON."""
    REFUSED = "refused"
    """``{"ok": false, "error": …}``; nothing was done."""
    DROP_BEFORE = "drop_before"
    """The connection closes and nothing was done."""
    DROP_AFTER = "drop_after"
    """The request is processed, then the connection closes without an answer."""
    SLOW = "slow"
    """The answer comes ``delay_s`` late."""
    HANG_AFTER = "hang_after"
    """The request is processed, but no answer comes within ``delay_s``."""


ANY_METHOD = "*"


@dataclass(frozen=True, slots=True)
class Fault:
    """One ordered fault; it applies to ``times`` calls after letting ``skip`` matching ones pass."""

    method: str
    """The exact Web API method, or ``*`` for every one."""
    kind: FaultKind
    times: int = 1
    retry_after_s: int = 1
    status: int = 503
    error: str = "internal_error"
    delay_s: float = 0.0
    skip: int = 0


@dataclass(slots=True)
class _Order:
    fault: Fault
    to_skip: int
    left: int


class Faults:
    """The faults in force, in the order in which they were injected."""

    def __init__(self) -> None:
        self._orders: list[_Order] = []

    def inject(self, fault: Fault) -> None:
        self._orders.append(_Order(fault, fault.skip, fault.times))

    def clear(self) -> None:
        self._orders.clear()

    @property
    def pending(self) -> int:
        """How many uses are still to come."""
        return sum(order.left for order in self._orders)

    def take(self, method: str) -> Fault | None:
        """The fault this call meets, using it up; a fault that still lets calls pass counts this one."""
        for order in self._orders:
            if order.fault.method not in (method, ANY_METHOD):
                continue
            if order.to_skip > 0:
                order.to_skip -= 1
                continue
            order.left -= 1
            if order.left <= 0:
                self._orders.remove(order)
            return order.fault
        return None

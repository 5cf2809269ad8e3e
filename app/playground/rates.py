"""Rate limits: a token bucket for each method and token, for posting also for each channel."""

import math
from dataclasses import dataclass

from app.clock import Clock, SystemClock
from app.playground.tiers import POSTS_IN_A_CHANNEL, POSTS_IN_THE_WORKSPACE, Allowance, tier_of

_SECONDS_PER_MINUTE = 60.0


@dataclass(slots=True)
class _Bucket:
    allowance: Allowance
    filled: float
    filled_at: float

    def refill(self, now: float) -> None:
        gained = (now - self.filled_at) * self.allowance.per_minute / _SECONDS_PER_MINUTE
        self.filled = min(float(self.allowance.burst), self.filled + gained)
        self.filled_at = now

    @property
    def wait_s(self) -> int:
        """Whole seconds until one call fits; 0 when it fits now."""
        missing = 1 - self.filled
        return 0 if missing <= 0 else math.ceil(missing * _SECONDS_PER_MINUTE / self.allowance.per_minute)


class RateGate:
    """Off (``enabled=False``) it lets everything pass; it can be switched at any time."""

    def __init__(self, *, enabled: bool = True, clock: Clock | None = None) -> None:
        self.enabled = enabled
        self._clock: Clock = clock or SystemClock()
        self._buckets: dict[tuple[str, ...], _Bucket] = {}

    def admit(self, method: str, token: str, channel: str = "") -> int:
        """0 and the call is counted, or the seconds to wait (``Retry-After``) and it is not."""
        if not self.enabled:
            return 0
        buckets = [self._bucket(key, allowance) for key, allowance in _applicable(method, token, channel)]
        wait_s = max(bucket.wait_s for bucket in buckets)
        if wait_s == 0:
            for bucket in buckets:
                bucket.filled -= 1
        return wait_s

    def _bucket(self, key: tuple[str, ...], allowance: Allowance) -> _Bucket:
        now = self._clock.monotonic()
        bucket = self._buckets.setdefault(key, _Bucket(allowance, float(allowance.burst), now))
        bucket.refill(now)
        return bucket


def _applicable(method: str, token: str, channel: str) -> list[tuple[tuple[str, ...], Allowance]]:
    if method == "chat.postMessage":
        return [
            ((method, token, channel), POSTS_IN_A_CHANNEL),
            ((method, token), POSTS_IN_THE_WORKSPACE),
        ]
    return [((method, token), tier_of(method).value)]

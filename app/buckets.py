"""Token buckets: how often something may be done, by whoever it is done for."""

from collections import OrderedDict
from dataclasses import dataclass

from app.clock import Clock

KEPT_BUCKETS = 10_000
_ROUNDING = 1e-9
"""Of a token: who waited as long as they were told finds one."""


@dataclass(frozen=True, slots=True)
class Rate:
    """``burst`` at once, refilled by ``per_s`` a second."""

    burst: int
    per_s: float


class Buckets:
    """One token bucket for each key; of too many, those that waited longest are full again and forgotten."""

    def __init__(self, rate: Rate, clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """Take one token, giving 0; or, with none left, how long until there is one."""
        now_s = self._clock.monotonic()
        level, seen_s = self._levels.get(key, (float(self._rate.burst), now_s))
        level = min(float(self._rate.burst), level + (now_s - seen_s) * self._rate.per_s)
        is_free = level >= 1 - _ROUNDING
        self._levels[key] = (level - 1 if is_free else level, now_s)
        self._levels.move_to_end(key)
        while len(self._levels) > KEPT_BUCKETS:
            self._levels.popitem(last=False)
        return 0.0 if is_free else (1 - level) / self._rate.per_s

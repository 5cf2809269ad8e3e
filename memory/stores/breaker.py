"""When a service that does not answer is left alone, and when it is asked again: a state machine without a clock."""

from dataclasses import dataclass, replace

FAILURES = 3
"""Quick failures in a row that open it; a timeout opens it at once, for each of them costs somebody seconds."""
FIRST_REST_S = 1.0
LONGEST_REST_S = 30.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """Closed while ``rest_s`` is 0. Open, it lets one request through after each rest, to find out.

    Whoever is let through notes ``moment`` and says what became of the request: ``answered``, ``failed`` or ``left``.
    """

    moment: int = 0
    """Grows with every failure that counts. Failures of requests from before it are the same failure."""
    failures: int = 0
    """In a row."""
    rest_s: float = 0.0
    """How long nothing is asked."""
    since_s: float = 0.0
    """When the rest began."""
    is_probing: bool = False

    @property
    def is_open(self) -> bool:
        return self.rest_s > 0

    def admits(self, now_s: float) -> bool:
        """Whether a request may be sent now."""
        return not self.is_open or (not self.is_probing and now_s >= self.since_s + self.rest_s)

    def admitted(self) -> "Breaker":
        """A request is sent; while open, no other one until it has ended."""
        return replace(self, is_probing=self.is_open)

    def answered(self) -> "Breaker":
        """The service works, whenever that request was sent."""
        return Breaker(self.moment)

    def failed(self, moment: int, now_s: float, *, is_timeout: bool) -> "Breaker":
        """A request that noted ``moment`` was not answered."""
        if moment != self.moment:
            return self
        failures = self.failures + 1
        if self.is_open:
            rest_s = min(2 * self.rest_s, LONGEST_REST_S)
        else:
            rest_s = FIRST_REST_S if is_timeout or failures >= FAILURES else 0.0
        return Breaker(moment + 1, failures, rest_s, now_s)

    def left(self, moment: int) -> "Breaker":
        """Whoever sent that request stopped waiting before anything could be known; another one may find out."""
        return replace(self, is_probing=False) if moment == self.moment else self

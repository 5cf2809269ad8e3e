"""What every part of the workspace stands on: the clock, fresh timestamps and the feed of happenings."""

from collections.abc import Callable

from app.clock import Clock, SystemClock
from app.playground.happenings import Happening
from app.playground.ids import IdMint
from app.playground.triggers import Triggers

_TS_STEP_US = 100


class Feed:
    """Listeners are called synchronously, in the order they subscribed."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or SystemClock()
        self.ids = IdMint()
        self.triggers = Triggers(self.clock)
        self._listeners: list[Callable[[Happening], None]] = []
        self._last_ts_us = 0

    def subscribe(self, listener: Callable[[Happening], None]) -> Callable[[], None]:
        """Returns the function that ends the subscription; calling it twice is harmless."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def emit(self, happening: Happening) -> None:
        for listener in tuple(self._listeners):
            listener(happening)

    def next_ts(self) -> str:
        """A fresh message timestamp; unique and increasing even while the clock stands still."""
        now_us = int(self.clock.now().timestamp() * 1_000_000)
        self._last_ts_us = max(now_us, self._last_ts_us + _TS_STEP_US)
        return f"{self._last_ts_us // 1_000_000}.{self._last_ts_us % 1_000_000:06d}"

    def epoch_s(self) -> int:
        return int(self.clock.now().timestamp())

"""Keeps a memory service that does not answer from costing everybody their patience: the breaker, and a clock."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

from memory.store import StoreUnavailableError
from memory.stores.breaker import Breaker
from memory.stores.remote_faults import ServiceFaultError, ServiceRestingError, ServiceSilentError

GIVEN_UP_S = 1.0
"""A request that its caller gave up after this long was a timeout: recall has a deadline of its own."""


class Guard:
    """Lets requests through while the service answers, and one now and then while it does not."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._breaker = Breaker()

    @contextmanager
    def watching(self) -> Generator[bool]:
        """Around one request; tells whether it finds out for everybody. Raises ``ServiceRestingError`` at once."""
        began_s = self._monotonic()
        if not self._breaker.admits(began_s):
            raise ServiceRestingError("the memory service did not answer a moment ago and is left alone")
        moment, is_probe = self._breaker.moment, self._breaker.is_open
        self._breaker = self._breaker.admitted()
        try:
            yield is_probe
        except ServiceFaultError as fault:
            self._failed(moment, is_timeout=isinstance(fault, ServiceSilentError))
            raise
        except asyncio.CancelledError:
            self._given_up(moment, self._monotonic() - began_s)
            raise
        except (StoreUnavailableError, ValueError):
            self._breaker = self._breaker.answered()
            raise
        else:
            self._breaker = self._breaker.answered()
        finally:
            # Changes nothing but after what nobody foresaw: the next request finds out then.
            self._breaker = self._breaker.left(moment)

    def _failed(self, moment: int, *, is_timeout: bool) -> None:
        self._breaker = self._breaker.failed(moment, self._monotonic(), is_timeout=is_timeout)

    def _given_up(self, moment: int, waited_s: float) -> None:
        if waited_s > GIVEN_UP_S:
            self._failed(moment, is_timeout=True)
        else:
            self._breaker = self._breaker.left(moment)

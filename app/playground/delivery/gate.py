"""What tests do to the flow of events: hold it, double it, turn it round."""

from collections.abc import Callable
from dataclasses import replace

from app.playground.delivery.envelope import Parcel


class Gate:
    """Every event passes here before it is sent."""

    def __init__(self, pass_on: Callable[[Parcel], None]) -> None:
        self._pass_on = pass_on
        self._held: list[Parcel] | None = None
        self._turning: list[Parcel] = []
        self._to_turn = 0
        self._to_double = 0

    def offer(self, parcel: Parcel) -> None:
        if self._held is not None:
            self._held.append(parcel)
        elif self._to_turn:
            self._turn(parcel)
        else:
            self._let_through(parcel)

    def double_next(self, n: int) -> None:
        """The next ``n`` events come twice, the second time as a redelivery with the same event_id."""
        self._to_double = n

    def turn_next(self, n: int) -> None:
        """The next ``n`` events are kept until they are complete and then come in reverse order."""
        self._to_turn = n

    def hold(self) -> None:
        """Keep everything back until ``release``."""
        self._held = self._held if self._held is not None else []

    def release(self) -> None:
        held, self._held = self._held or [], None
        for parcel in held:
            self.offer(parcel)

    def _turn(self, parcel: Parcel) -> None:
        self._turning.append(parcel)
        self._to_turn -= 1
        if self._to_turn == 0:
            turned, self._turning = self._turning[::-1], []
            for each in turned:
                self._let_through(each)

    def _let_through(self, parcel: Parcel) -> None:
        self._pass_on(parcel)
        if self._to_double:
            self._to_double -= 1
            self._pass_on(replace(parcel, attempt=1, reason="timeout"))

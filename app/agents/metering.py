"""What the model calls of one piece of work have taken so far, known at every moment, whatever ends them."""

from dataclasses import dataclass

from app.agents.providers.base import Usage
from app.errors import ModelBusyError, ModelError, ModelKeyError, ModelRejectedError

NOTHING = Usage()

_TURNED_AWAY = (ModelBusyError, ModelKeyError, ModelRejectedError)
"""The provider's own word that it did not take the call up; of a connection that broke nobody knows."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What was counted of some calls."""

    usage: Usage = NOTHING
    is_partial: bool = False
    """A call among them ended, or still goes on, before its provider had counted all of it: they took more."""
    calls: int = 1
    """How many."""

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(self.usage + other.usage, self.is_partial or other.is_partial, self.calls + other.calls)


_BEGUN = Taken(is_partial=True)
"""By a call that nothing is counted of yet."""


class Meter:
    """Read by whoever has to account for calls, told of by whoever makes them, one after another.

    A call that nobody says more of, because it was cancelled, stays as it was counted last.
    """

    def __init__(self) -> None:
        self._before: Taken | None = None
        self._call: Taken | None = None

    @property
    def taken(self) -> Taken | None:
        """Of all calls, the one that goes on included; ``None`` when no model took up any."""
        if self._before is None or self._call is None:
            return self._before or self._call
        return self._before + self._call

    def began(self) -> None:
        """A call goes out; how much it takes is not known from now on."""
        self._before, self._call = self.taken, _BEGUN

    def counted(self, usage: Usage) -> None:
        """The provider's count of the call so far, in place of an earlier one."""
        self._call = Taken(usage, is_partial=True)

    def completed(self, usage: Usage) -> None:
        self._call = Taken(usage)

    def failed(self, fault: ModelError, *, has_text: bool) -> None:
        """A call that was turned away before it brought a word or a count took nothing."""
        if isinstance(fault, _TURNED_AWAY) and not has_text and self._call == _BEGUN:
            self._call = None

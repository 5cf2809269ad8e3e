"""Where words stand in a text in any case, found without a pattern: a long text without them costs little."""

from collections.abc import Iterable


def places_of(needles: Iterable[str], text: str) -> list[int]:
    """Where any of ``needles``, which are lower-case, begins in ``text``, in order."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A letter that becomes two when it is lowered stays, or every place behind it would be wrong.
        lowered = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    return sorted(at for needle in needles for at in _places(needle, lowered))


def _places(needle: str, lowered: str) -> Iterable[int]:
    at = lowered.find(needle)
    while at >= 0:
        yield at
        at = lowered.find(needle, at + len(needle))

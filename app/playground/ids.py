"""Ids in Slack's form, counted up so that a run reads the same each time."""

from collections import Counter


class IdMint:
    """``mint("F")`` gives ``F0PLAY00001``, then ``F0PLAY00002``, …; each prefix counts for itself."""

    def __init__(self) -> None:
        self._minted: Counter[str] = Counter()

    def mint(self, prefix: str) -> str:
        self._minted[prefix] += 1
        return f"{prefix}0PLAY{self._minted[prefix]:05d}"

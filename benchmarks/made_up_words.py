"""Words and sentences that nobody ever said, as often repeated and as seldom as those of speech."""

from collections.abc import Sequence
from random import Random

WORDS = 4_000
RECORD_WORDS, QUESTION_WORDS = 14, 8
"""How long sentences of either kind are."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def made_up_words(random: Random) -> list[str]:
    """The first are used far more often than the last, as in speech."""
    return ["".join(random.choices(_LETTERS, k=random.randint(4, 9))) for _ in range(WORDS)]


def sentence(words: Sequence[str], random: Random, length: int) -> str:
    return " ".join(words[min(int(random.paretovariate(0.6)), len(words)) - 1] for _ in range(length))

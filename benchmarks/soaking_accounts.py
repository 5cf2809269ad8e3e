"""What became of every question of a soak, counted from the questions and from what is visible in the threads.

Pure: the same questions and the same words give the same account.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_BEGIN = re.compile(r"begin#(\d+)")
_END = re.compile(r"end#(\d+)")
_ASKED = re.compile(r"ask#(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """One message of a person, by its number; numbers count up in the order in which they were said."""

    number: int
    thread: str
    arrival: float | None = None
    """When the delivery that was acknowledged first was sent; ``None`` when none was acknowledged."""
    accepted: int | None = None
    """Its place in the order of acceptance by the bot's own records; ``None`` when they do not have it."""


@dataclass(frozen=True, slots=True)
class Account:
    """Numbers of questions. ``accepted``: acknowledged, or answered without that."""

    accepted: tuple[int, ...]
    once: tuple[int, ...]
    """Answered once, from the first word to the last."""
    lost: tuple[int, ...]
    """Accepted, and without a whole answer in their thread."""
    doubled: tuple[int, ...]
    """With more than one answer, whole or not, in their thread or in another one."""
    reordered: tuple[int, ...]
    """Answered behind a later question of their thread, although they came to the bot before it."""
    late: tuple[int, ...]
    """Answered behind a later question of their thread because they came to the bot after it."""

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.reordered)


def question_text(number: int) -> str:
    return f"ask#{number} what do we know about this?"


def asked_number(text: str) -> int | None:
    """The last question in ``text``."""
    found = _ASKED.findall(text)
    return int(found[-1]) if found else None


def answer_text(number: int, filling: str = "") -> str:
    return f"begin#{number} {filling}end#{number}"


def ended_numbers(text: str) -> list[int]:
    """The questions whose answers end in ``text``."""
    return [int(found) for found in _END.findall(text)]


def account(questions: Sequence[Question], shown: Mapping[str, str]) -> Account:
    """``shown`` has all the bot's words in each thread, in the order in which they stand there."""
    begun = {thread: [int(found) for found in _BEGIN.findall(text)] for thread, text in shown.items()}
    ended = {thread: set(ended_numbers(text)) for thread, text in shown.items()}
    times = Counter(number for numbers in begun.values() for number in numbers)
    accepted = [each for each in questions if each.arrival is not None or times[each.number]]
    whole = {each.number for each in accepted if _is_whole(each, begun, ended)}
    reordered, late = _out_of_order(accepted, begun)
    return Account(
        accepted=tuple(each.number for each in accepted),
        once=tuple(each.number for each in accepted if each.number in whole and times[each.number] == 1),
        lost=tuple(each.number for each in accepted if each.number not in whole),
        doubled=tuple(each.number for each in accepted if times[each.number] > 1),
        reordered=tuple(reordered),
        late=tuple(late),
    )


def _is_whole(question: Question, begun: Mapping[str, list[int]], ended: Mapping[str, set[int]]) -> bool:
    number, thread = question.number, question.thread
    return number in begun.get(thread, ()) and number in ended.get(thread, ())


def _out_of_order(accepted: Iterable[Question], begun: Mapping[str, list[int]]) -> tuple[list[int], list[int]]:
    """The reordered and the late ones."""
    threads: dict[str, list[Question]] = {}
    for each in accepted:
        threads.setdefault(each.thread, []).append(each)
    reordered: list[int] = []
    late: list[int] = []
    for thread, asked in threads.items():
        places = {number: place for place, number in reversed(list(enumerate(begun.get(thread, ()))))}
        answered = [each for each in asked if each.number in places]
        for each in answered:
            overtaking = [
                other for other in answered if other.number > each.number and places[other.number] < places[each.number]
            ]
            if any(_came_first(each, other) for other in overtaking):
                reordered.append(each.number)
            elif overtaking:
                late.append(each.number)
    return sorted(reordered), sorted(late)


def _came_first(earlier: Question, later: Question) -> bool:
    """Whether the bot had ``earlier`` before ``later``: by the deliveries, or by its own records.

    What was delivered without an acknowledgement may have come or not, which the records alone can tell.
    """
    if earlier.accepted is not None and later.accepted is not None and earlier.accepted < later.accepted:
        return True
    if earlier.arrival is None or later.arrival is None:
        return earlier.arrival is not None
    return earlier.arrival <= later.arrival

"""Numbers of payment cards: the right beginning, length, grouping and check digit; other long numbers stay."""

import re
from collections.abc import Iterator

from memory.secret_marks import Found, begins_here

_GAP = r"[ \t\u00a0\u2007\u2009\u202f._\u2010-\u2013-]"
_FIRST_FOUR = re.compile(r"[2-6]\d{3}(?:(?<!\d\d{4})(?<!\d[.,]\d{4})|(?<=%[0-9A-Fa-f]{2}\d{4}))", re.ASCII)
"""Not inside a longer number or a fraction."""
_END = r"(?!\w)(?![.,]\d)"
_LAYOUTS = tuple(
    re.compile(layout + _END, re.ASCII)
    for layout in (
        r"\d{13,19}+",
        rf"\d{{4}}{_GAP}\d{{6}}{_GAP}\d{{4,5}}+",
        rf"\d{{4}}(?:{_GAP}\d{{4}}){{3}}{_GAP}\d{{1,3}}+",
        rf"\d{{4}}(?:{_GAP}\d{{4}}){{3}}",
        rf"\d{{4}}(?:{_GAP}\d{{4}}){{2}}{_GAP}\d{{1,3}}+",
    )
)
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720|220[0-4])\d{12}"
    r"|3[47]\d{13}"
    r"|3(?:0[0-5]|09|[689]\d)\d{11,16}"
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"
    r"|6(?:011|4[4-9]\d|5\d\d|2\d\d)\d{12,15}"
    r"|(?:50(?:18|20|38)|5893|63(?:04|90)|67(?:59|6[1-3]|71))\d{9,15}",
    re.ASCII,
)
"""Visa; Mastercard and Mir; American Express; Diners; JCB; Discover and UnionPay; Maestro. ISO/IEC 7812 ranges."""


def card_numbers(text: str) -> Iterator[Found]:
    at = 0
    while start := _FIRST_FOUR.search(text, at):
        at = _end_of_card(text, start.start())
        if at:
            yield Found(start.start(), at, "card-number")
        at = at or start.end()


def _end_of_card(text: str, start: int) -> int:
    """0 when no card number begins there."""
    if not begins_here(text, start):
        return 0
    for layout in _LAYOUTS:
        found = layout.match(text, start)
        if found and _is_issued(re.sub(r"\D", "", found[0])):
            return found.end()
    return 0


def _is_issued(digits: str) -> bool:
    return _ISSUERS.fullmatch(digits) is not None and _checks(digits)


def _checks(digits: str) -> bool:
    """Luhn's sum over the digits from the right, every second one doubled (ISO/IEC 7812-1, annex B)."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0

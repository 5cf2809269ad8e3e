"""Dates as terms: a day, a month and a year are found however they were written."""

import re
from datetime import date

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" if month[3:] else month for month in MONTHS)
_DAY_FIRST = re.compile(
    rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{_MONTH})\b\.?,?(?: (?P<y>\d{{4}})\b)?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<m>{_MONTH})\b\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:),?(?: (?P<y>\d{{4}})\b)?", re.IGNORECASE
)
_MONTH_OF_YEAR = re.compile(rf"\b(?P<m>{_MONTH})\b\.?,? (?:of )?(?P<y>\d{{4}})\b", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(?<![\d./-])(?P<y>\d{4})([-./])(?P<m>\d\d?)\2(?P<d>\d\d?)(?![\d/-])")
_DIGIT = re.compile(r"\d")
_IN_MAY = re.compile(
    r"\b(?i:in|of|since|until|till|by|last|this|next|during|before|after|from|for)(?: early| mid| late)? May\b"
)
"""The month, not the verb, which is a stop word."""


def day_terms(day: date) -> set[str]:
    """``2023-05-08``, ``2023-05``, ``05-08``, the year, and the English names of month and weekday."""
    named = {MONTHS[day.month - 1], WEEKDAYS[day.weekday()], f"{day.year:04}"}
    return {day.isoformat(), f"{day.year:04}-{day.month:02}", f"{day.month:02}-{day.day:02}", *named}


def dates_named(text: str) -> set[str]:
    """The same numeric terms for each date that ``text`` writes out, as far as it says day, month and year."""
    found = {"may"} if "May" in text and _IN_MAY.search(text) else set[str]()
    if not _DIGIT.search(text):
        return found
    for pattern in (_DAY_FIRST, _MONTH_FIRST, _MONTH_OF_YEAR, _YEAR_FIRST):
        for match in pattern.finditer(text):
            found |= _numeric(match.groupdict())
    return found


def _numeric(parts: dict[str, str | None]) -> set[str]:
    year, month, day = parts.get("y"), parts["m"] or "", parts.get("d")
    number = f"{int(month) if month.isdigit() else _month_number(month):02}"
    terms = {f"{year}-{number}"} if year else set[str]()
    if day:
        terms.add(f"{number}-{int(day):02}")
    if day and year:
        terms.add(f"{year}-{number}-{int(day):02}")
    return terms


def _month_number(name: str) -> int:
    return next(place for place, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3]))

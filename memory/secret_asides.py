"""Secrets whose name stands behind them or is only hinted at: "swordfish is the password", "PIN 4711", "admin / …"."""

import re
from collections.abc import Iterator

from memory.secret_marks import Found
from memory.secret_needles import places_of
from memory.secret_remarks import is_remark
from memory.secret_sentences import ends_clause, told_at
from memory.secret_values import Value

_NAMES = ("password", "passwort", "kennwort", "passphrase", "passcode")
_NAMES_BEGIN = ("pass", "kennwort")
_NAME_AT_END = re.compile(
    rf"(?i:{'|'.join(_NAMES)})(?![\w»-]|[*_`\"']?[ \t]{{1,4}}(?!(?i:for|of|on|to|in|at|f[üu]r|vo[nm])\b)\w)"
)
"""With nothing behind it, or what it is for: no "password manager"."""
_OURS = r"(?i:the|our|my|your|das|unser|mein|dein)"
_OPEN, _CLOSED = r"[\"'`“„*_]{0,2}", r"[\"'`“”*_]{0,2}"
_KIND_OF = r"(?:[ \t][\w.-]{1,30}){0,3}[ \t][\w-]{0,20}\Z"
_BEFORE = (
    re.compile(
        rf"(?:\A|[.!?:;,(>\n][ \t]{{0,4}}|\b(?i:that|and|think|dass|und)[ \t]){_OPEN}"
        rf"(?P<value>[^\s\"'`“”„.,:;!?()*]{{4,60}}){_CLOSED}[ \t](?i:is|was|ist|war)[ \t]{_OURS}{_KIND_OF}"
    ),
    re.compile(rf"[\"`“„](?P<value>[^\"`“”„\n]{{1,60}})[\"`“”][ \t](?i:is|was|ist|war)[ \t]{_OURS}{_KIND_OF}"),
    re.compile(
        rf"\b(?i:use|using|try|enter|type|verwendet?|nimm|nutzt?)[ \t]{_OPEN}(?P<value>[^\s\"'`“”„*]{{4,60}}){_CLOSED}"
        rf"[ \t](?i:as|als)(?:[ \t](?:{_OURS}|an?))?{_KIND_OF}"
    ),
)
"""What ends where the name begins: "swordfish is the root password", "use swordfish as the password"."""
_JOINTS = re.compile(r"[ \t](?i:is|was|ist|war|as|als)[ \t]")
_NEAR_CHARS = 80
_BEFORE_CHARS = 160

_PAIRS = ("cred", "zugangsdaten", "identifiants", "login", "log in", "logged in", "sign in")
_USER = r"(?i:admin(?:istrator)?|root|user|test|demo|guest|sa|postgres|deploy|[\w.+-]{1,60}@[\w.-]{1,60})"
_PAIR = re.compile(
    r"(?i:credentials?|creds|zugangsdaten|identifiants)(?:[ \t](?i:are|is|sind|lauten|sont))?:?[ \t]{1,4}"
    r"(?:[^\s/:«]{2,60}|«[a-z-]{1,20}»)[ \t]/[ \t]"
    r"|(?i:credentials?|creds|zugangsdaten|log in|logged in|sign in|login)(?:[ \t](?i:as|is|are|with|mit|als))?:?"
    rf"[ \t]{{1,4}}{_USER}(?:[ \t]?/[ \t]?|:(?!//))"
)
"""A user, and with a stroke between them the password."""

_CODE = re.compile(
    r"(?:(?<!\w)PIN(?:[ -]?(?i:code))?|(?i:code))(?!\w)"
    r"(?:[ \t](?i:for|of|to|at|f[üu]r|vom?)(?:[ \t][\w.-]{1,30}){1,5}?)?"
    r"(?::|[ \t](?i:is|was|ist|war|lautet)(?:[ \t](?i:now|still|jetzt|noch))?:?|[ \t]?=)?"
    r"[ \t]{1,4}[*_~`\"']{0,2}(?P<value>\d{4,10})(?![\w:-]|[.,]\d)"
)
_WHAT_OPENS = re.compile(
    r"\b(?:pin|door|gate|alarm|entry|access|security|unlock|t[üu]r|zugangs?)[ -]?\Z", re.IGNORECASE
)
"""In front of "code": an exit code and an error code are no secrets."""
_FOR_WHAT_OPENS = re.compile(
    r"code[ \t](?:for|of|to)[ \t](?:the[ \t]|our[ \t])?(?:\w{1,20}[ \t])?(?:door|gate|alarm|safe|garage|lift)\b",
    re.IGNORECASE,
)
_WHAT_OPENS_CHARS = 12

_UNSPACED_NAMES = ("密码", "密碼", "口令", "パスワード", "비밀번호")
_UNSPACED = re.compile(
    r"(?:密码|密碼|口令|パスワード|비밀번호)[ \t]?(?:是|为|為|は|는|은|：|:|=)[ \t]?[「『“\"']?"  # noqa: RUF001
    r"(?P<value>[A-Za-z0-9][A-Za-z0-9!#$%&*+./?@^_~-]{3,60})"
)


def asides(text: str) -> Iterator[Found]:
    yield from _before_names(text)
    yield from _beside_users(text)
    yield from _codes(text)
    yield from _without_spaces(text)


def _before_names(text: str) -> Iterator[Found]:
    for at in places_of(_NAMES_BEGIN, text):
        is_joined = _JOINTS.search(text, max(0, at - _NEAR_CHARS), at) is not None
        if not is_joined or not _NAME_AT_END.match(text, at):
            continue
        begin = max(0, at - _BEFORE_CHARS)
        before = text[begin:at]
        for found in filter(None, (pattern.search(before) for pattern in _BEFORE)):
            value = Value(begin + found.start("value"), begin + found.end("value"), is_quoted=False)
            if not is_remark(text, value, "password"):
                yield Found(value.start, value.end, "password")


def _beside_users(text: str) -> Iterator[Found]:
    end = 0
    for at in places_of(_PAIRS, text):
        pair = _PAIR.match(text, at) if at >= end else None
        value = told_at(text, pair.end(), "password") if pair else None
        if value and ends_clause(text, value.end):
            end = value.end
            yield Found(value.start, end, "password")


def _codes(text: str) -> Iterator[Found]:
    for at in places_of(("pin", "code"), text):
        code = _CODE.match(text, at)
        if code and (text[at] == "P" or _opens_something(text, at)):
            yield Found(code.start("value"), code.end("value"), "password")


def _opens_something(text: str, at: int) -> bool:
    before = text[max(0, at - _WHAT_OPENS_CHARS) : at]
    return _WHAT_OPENS.search(before) is not None or _FOR_WHAT_OPENS.match(text, at) is not None


def _without_spaces(text: str) -> Iterator[Found]:
    for at in places_of(_UNSPACED_NAMES, text):
        told = _UNSPACED.match(text, at)
        if told:
            yield Found(told.start("value"), told.end("value"), "password")

"""The value beside a name: where it begins and ends, and whether it is a secret or only says something about one."""

import re
from dataclasses import dataclass

from memory.secret_marks import MARK, Kind, stands_for_one
from memory.secret_naming import is_secret_word, parts_of
from memory.stopwords import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Value:
    """A value at ``text[start:end]``, without its quotes."""

    start: int
    end: int
    is_quoted: bool


_QUOTED = re.compile(
    r"(?:(?:[\w.]{0,20}Secret(?:Str|Bytes)?\()?[fbruFBRU]{0,2}(?=[\"'])|)(?:"
    r"(?P<slash>\\{1,7})(?P<inner>[\"'])(?P<escaped>(?:(?!(?P=slash)(?P=inner))[^\r\n])*+)"
    r"|\"(?P<double>(?:[^\"\\\r\n]|\\[^\r\n])*+)|'(?P<single>(?:[^'\\\r\n]|\\[^\r\n])*+)"
    r"|`(?P<code>[^`\r\n]*+)"
    r"|[“„](?P<curly>[^”“\r\n]*+)|‘(?P<curled>[^’\r\n]*+)"  # noqa: RUF001
    rf"|(?P<angled>«(?!{MARK[1:]})[^«»\r\n]{{1,200}}+»|»[^«»\r\n]{{1,200}}+«)"
    r"|<(?P<link>(?:http://|mailto:|tel:)(?P<word>[^\s<>|]++)\|(?P=word))(?=>)"
    r")"
)
"""Quotes of code, of JSON inside JSON, of chat; and a word Slack made a link of. An open quote ends with its line."""
_PLAIN = re.compile(
    r"(?:[^\s\"'`<>|,;&)}\]\\]"
    r"|[,;&)}\]](?!(?<=[)}\]])[.:]|[\s\"'`<>|]|\Z|[,;)}\]]{1,4}(?:[\s\"'`<>|.:]|\Z)|(?:lt|gt|quot);|(?:amp;)?[\w.-]{1,40}=)"
    r"|\\(?![nrt\"'\\])){4,}+"
)
"""Up to white space, a quote or a bracket; commas and the like end it only when something else begins there."""

_CODE = re.compile(
    r"(?:await|new|lambda|async|yield|function|fn|not|typeof|include|lookup)\b|[A-Za-z_][A-Za-z_.]{0,60}+[(\[]|\{{1,2}[\"'\w]{1,40}:|\["
    r"|(?:self|this|settings|config|cfg|args|kwargs|options|opts|process|os|env|environ|ctx|context|request|req|response|res"
    r"|resp|user|account|data|params|props|state|app|secrets|vars|var|local|module|event|payload|credentials|auth|session"
    r"|client|form|input|body|result|entry|row|record|node|import|obj|item|creds|headers|steps|inputs|github)\.[A-Za-z_]"
)
_PLACE = re.compile(
    r"(?:~|\.{1,2})?/(?:run|etc|var|home|usr|opt|tmp|secrets|mnt|app|root|Users|vault|dev|proc|srv|data)/|\.{1,2}/|~/"
    r"|(?:op|vault|file|https|http(?!://[^\s|]{1,200}\|))://|(?:arn|ssm|vault|secretsmanager|sops|keyring|file|env):|projects/[\w-]{1,60}/secrets/"
    r"|\d{4}-\d\d-\d\d(?!\w)"
)
"""Where a secret is kept, or until when."""
_WORD = re.compile(r"[A-Za-z][a-z']*+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_.-]*+")
_GOES_ON = re.compile(r"[.,;]?[ \t]+[a-z]{2}")
_STATES = """
absent any ask base basic bearer bool boolean bytes cannot changed check choose contains copied copy create created
default denied digest disabled empty enabled encrypted enter example expected expired expires fail failed false
found generate generated given handled hashed hidden inherit integer keep kept leaked long longer managed masked
missing needed never nil nobody none null number oauth object omitted optional pass passed paste placeholder present
provided read redacted removed renewed required reset revoked rotate rotated rotates rotating sent shared short
store stored str string text todo true unchanged undefined unknown unset update updated used using valid value
values version write wrong yes
"""
_ABOUT_ONE = STOP_WORDS.union(_STATES.split())
_SHORTEST = 4
_LETTERS_OF_WORDS = 3
_ONE_WORD = frozenset({"token", "session", "cookie"})
_SPACES_OF_SENTENCE = 4
_RUN = re.compile(r"[A-Za-z0-9]{6,}+")
_MIXED = re.compile(r"(?=[A-Za-z]*+\d)(?=\d*+[A-Za-z])")
_ORDINARY = re.compile(
    r"[CDGUWTBAEFS][A-Z0-9]{8,11}|\d{8}T\d{4,6}Z?|v\d+\w*|\d+(?:ms|sec|secs|min|mins|minutes|hours|days|bytes|pixels)"
    r"|(?i:(?:sha|aes|rsa|ed|curve|oauth|base|utf|argon|bcrypt|pbkdf|http|python|node|ipv|ecdsa|blake|xchacha|chacha)\d{1,5}"
    r"[a-z]{0,6}\d{0,5})"
)
"""Ids of Slack, times, versions, amounts, algorithms."""


def value_at(text: str, at: int, limit: int) -> Value | None:
    """The value between ``at`` and at most ``limit``: a quoted one whole, another one from four characters on."""
    quoted = _QUOTED.match(text, at, limit)
    if quoted:
        inside = next(place for place in quoted.regs[3:] if place[0] >= 0)
        return Value(*inside, is_quoted=True) if inside[0] < inside[1] else None
    plain = _PLAIN.match(text, at, limit)
    if plain is None:
        return None
    end = plain.start() + len(plain[0].rstrip(".…"))
    return Value(plain.start(), end, is_quoted=False) if end - plain.start() >= _SHORTEST else None


def is_said_about_one(text: str, value: Value, kind: Kind) -> bool:
    """Whether ``value`` is no secret but a slot, a variable, a call, a path, a date, or a word of a sentence.

    A password may be a plain word in front of others, a token is none.
    """
    said = text[value.start : value.end]
    if stands_for_one(text, value.start) or _PLACE.match(said) or _is_variable(said) or said.lower() in _ABOUT_ONE:
        return True
    if value.is_quoted:
        return kind in _ONE_WORD and said.count(" ") >= _SPACES_OF_SENTENCE and not looks_random(said)
    if _CODE.match(text, value.start) or (said.endswith("=") and stands_for_one(text, value.end)):
        return True
    return kind != "password" and (_is_name(said) or _is_in_sentence(text, value))


def _is_in_sentence(text: str, value: Value) -> bool:
    is_word = _WORD.fullmatch(text, value.start, value.end) is not None
    return is_word and _GOES_ON.match(text, value.end) is not None


def _is_name(said: str) -> bool:
    """Whether a value is put together from words: a variable, a type, as in ``session_id: SessionId``."""
    parts = parts_of(said) if _NAME.fullmatch(said) else []
    return len(parts) > 1 and min(map(len, parts)) > 1 and sum(map(len, parts)) >= _LETTERS_OF_WORDS * len(parts)


def _is_variable(said: str) -> bool:
    """Whether a value is only the name of another secret: slack_token, dbPassword, API_KEY."""
    parts = parts_of(said) if _NAME.fullmatch(said) else []
    return bool(parts) and is_secret_word(parts[-1])


def looks_random(said: str) -> bool:
    """Letters and digits mixed in one run, as nobody writes a word."""
    return any(_MIXED.match(run) and not _ORDINARY.fullmatch(run) for run in _RUN.findall(said))

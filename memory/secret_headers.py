"""Credentials in the headers of HTTP: Authorization, a bearer's token by itself, Basic, Cookie and Set-Cookie."""

import re
from base64 import b64decode
from collections.abc import Iterator

from memory.secret_marks import Found, stands_for_one

_SCHEMES = "bearer|basic|token|api-?key|key|jwt|bot|splunk|ssws|geniekey|oauth|negotiate|ntlm"
_AUTHORIZATION = re.compile(
    r"[aA](?i:uthorization)(?:\\{0,3}[\"'`]\]?(?:\s{0,4},)?|[*_]{1,2}|\])?\s{0,4}(?:(?<=,)|=>|[:=]|%3A)[*_]{0,2}"
    r"(?:\s|%20|\+){0,4}(?:\\{0,3}[fbr]?[\"'`])?"
)
_SIGNED = "aws4-hmac-sha256|digest|hawk|oauth|signature"
_PARAMETERS = re.compile(rf"(?i:{_SIGNED}|token(?=[ \t]token=))[ \t]{{1,4}}([a-zA-Z][\w-]{{0,30}}+=[^\r\n]++)")
"""Schemes that sign: their parameters have quotes and commas, so all of them go, to the end of the line."""
_VALUE = r"[^\s\"'`<>|,;\\)\]]{8,}+"
_CREDENTIALS = re.compile(rf"(?i:{_SCHEMES})(?:[ \t]{{1,4}}|%20|\+)({_VALUE})")
_OTHER_CREDENTIALS = re.compile(
    rf"(?!(?i:{_SIGNED}|{_SCHEMES})[ \t])(?:[A-Za-z][A-Za-z0-9-]{{1,30}}+[ \t]{{1,4}}(?={_VALUE}))?"
    rf"(?![A-Za-z]?[a-z.-]*+(?![^\s\"'`<>|,;\\)\]]))({_VALUE})"
)
"""Of a scheme nobody knows, or of none: no plain word."""
_PROSE = re.compile(r"[A-Za-z]?[a-z-]++[.:]?(?=[ \t]+[a-z])")
_HANDED_OVER = (_PARAMETERS, _CREDENTIALS, _OTHER_CREDENTIALS)
_BEARER = re.compile(
    r"[bB](?i:earer)(?<![A-Za-z0-9_].{6})(?:\s{1,4}|%20|\+|:\s?)[\"']?([A-Za-z0-9._~+/=-]{12,}+)", re.DOTALL
)
_ABOUT_BEARERS = re.compile(r"(?:auth|cert|cred|instr|token|scheme|capab|secur|middle|valid|protect|respon)[a-z.-]*+\Z")
_BASIC = re.compile(r"[bB]asic\s{1,4}([A-Za-z0-9+/]{8,400}+={0,2})")
_USER_AND_PASSWORD = re.compile(rb"[\x20-\x39\x3b-\x7e]*+:[\x20-\x7e]++")
_COOKIE = re.compile(
    r"[cC](?i:ookie)(?:\\{0,3}[\"'])?\s{0,4}:[*_]{0,2}\s{0,4}(?:\\{0,3}([\"']))?(?=[^\s=;,\"'{}<>«»]{1,128}+=)"
)
_LINE = {
    "": re.compile(r"(?:[^\r\n\\]|\\(?![rn]))++"),
    '"': re.compile(r"(?:[^\r\n\\\"]|\\(?![rn\"]))++"),
    "'": re.compile(r"(?:[^\r\n\\']|\\(?![rn']))++"),
}
"""The rest of a line by the quote that the header stands in; an escaped line end is one as well."""


def secret_headers(text: str) -> Iterator[Found]:
    named = _named_in(text)
    if "uthorization" in named:
        yield from _authorizations(text)
    if "ookie" in named:
        yield from _cookies(text)
    if "earer" in named:
        yield from _bearers(text)
    if "asic" in named:
        yield from _basics(text)


def _named_in(text: str) -> frozenset[str]:
    """Which of the words are in ``text``: to find none of one in it is much faster than by a pattern."""
    lowered = text.lower()
    return frozenset(word for word in ("uthorization", "ookie", "earer", "asic") if word in lowered)


def _bearers(text: str) -> Iterator[Found]:
    for found in _BEARER.finditer(text):
        if not _ABOUT_BEARERS.match(found[1]):
            yield Found(found.start(1), found.end(1), "authorization")


def _basics(text: str) -> Iterator[Found]:
    for found in _BASIC.finditer(text):
        if _is_basic(found[1]):
            yield Found(found.start(1), found.end(1), "authorization")


def _authorizations(text: str) -> Iterator[Found]:
    at = 0
    while header := _AUTHORIZATION.search(text, at):
        at = header.end()
        found = next(filter(None, (pattern.match(text, at) for pattern in _HANDED_OVER)), None)
        if found:
            at = found.end()
            if not stands_for_one(text, found.start(1)) and not _PROSE.match(text, found.start(1)):
                yield Found(found.start(1), at, "authorization")


def _is_basic(coded: str) -> bool:
    digits = coded.rstrip("=")
    whole = digits[:-1] if len(digits) % 4 == 1 else digits
    return _USER_AND_PASSWORD.fullmatch(b64decode(whole + "=" * (-len(whole) % 4))) is not None


def _cookies(text: str) -> Iterator[Found]:
    at = 0
    while header := _COOKIE.search(text, at):
        at = header.end()
        quote = header[1] or _quote_before(text, header.start())
        value = _LINE[quote].match(text, at)
        if value and not _is_slot(value[0]):
            at = value.end()
            yield Found(header.end(), at, "cookie")


def _quote_before(text: str, at: int) -> str:
    """The quote in which the whole header stands, as on a command line."""
    name = at - len("set-") if text[max(0, at - len("set-")) : at].lower() == "set-" else at
    before = text[name - 1 : name] if name else ""
    return before if before in _LINE else ""


def _is_slot(value: str) -> bool:
    """Whether a cookie is only described: one name, and what is to be put there."""
    name, _, rest = value.partition("=")
    return "=" not in rest and stands_for_one(value, len(name) + 1)

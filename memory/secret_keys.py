r"""Private keys in any wrapping: on lines, with ``\n`` for line ends, indented, quoted, in base64, cut off."""

import re
from base64 import b64decode
from collections.abc import Iterator

from memory.secret_marks import Found

_LONGEST_BLOCK = 65_536
"""Between the two lines of a key of a reasonable size, wrapped or not."""
_SPACE = r"(?:[ _+]|%20)"
_HEADER = re.compile(
    rf"-----?{_SPACE}?BEGIN(?:{_SPACE}[A-Za-z0-9]{{1,12}}){{0,4}}?{_SPACE}"
    rf"(?:PRIVATE{_SPACE}KEY(?:{_SPACE}BLOCK)?|Static{_SPACE}key{_SPACE}V1){_SPACE}?-{{4,5}}+"
)
_END = re.compile(r"----(?:[ _+]|%20)?END")
_FOOTER = re.compile(r"[^-\n\\]{0,80}+-{4,5}+")
_WRAP = r"(?:\s|\\++[nrt]?|%0[AaDd]|<br ?/?>|[>|\"'`,;+*#:-])"
"""What stands between the lines of a key: line ends in many spellings, indents, quotes, marks of a changed line."""
_HEAD_LINE = r"(?:Proc-Type|DEK-Info|Comment|Version|Charset|Hash):[^\n\\]{0,200}+"
_REST_OF_KEY = re.compile(
    rf"(?:{_WRAP}*+(?:{_HEAD_LINE}|[A-Za-z0-9/+=%_]{{16,}}+))*+(?:{_WRAP}++[A-Za-z0-9/+=]{{1,63}}+(?={_WRAP}*+\Z))?+"
)
"""Of a key without its last line: as long as lines look like one, and what is left of the line in which it was cut."""
_IN_BASE64 = re.compile(r"LS0t(?:LS1CRUdJTi|LUJFR0lOI|QkVHSU4g)")
"""``-----BEGIN`` in base64, at each of its three places in a group of four characters."""
_BASE64_LINES = re.compile(r"[A-Za-z0-9+/_-]++=*+(?:(?:\s|\\++[nr]|[>|\"'`+#]){1,40}+[A-Za-z0-9+/_-]{16,}+=*+)*+")
_NOT_BASE64 = re.compile(r"\\++[nr]|[^A-Za-z0-9+/]")
_URL_SAFE = str.maketrans("-_", "+/")
_PRIVATE = re.compile(rb"PRIVATE KEY|Static key")
_PUTTY = re.compile(r"Private-Lines:[ \t]{0,4}\d{1,4}+(?:(?:\s|\\++[nr]){1,8}+[A-Za-z0-9+/=]{20,}+)++")
_JWK = re.compile(r'\\{0,3}"(?:d|k|p|q|dp|dq|qi)\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"([A-Za-z0-9_-]{20,}+)')


def private_keys(text: str) -> Iterator[Found]:
    if "BEGIN" in text:
        yield from _pem(text)
    if "LS0t" in text:
        yield from _pem_in_base64(text)
    if "Private-Lines" in text:
        yield from (Found(found.start(), found.end(), "private-key") for found in _PUTTY.finditer(text))
    if '"kty' in text or "kty\\" in text:
        yield from (Found(found.start(1), found.end(1), "private-key") for found in _JWK.finditer(text))


def _pem(text: str) -> Iterator[Found]:
    """Whole blocks; a key without its last line as far as it goes; and a first line that stands alone."""
    begin, footer = _HEADER.search(text), 0
    while begin:
        following = _HEADER.search(text, begin.end())
        if 0 <= footer < begin.end():
            footer = _next_footer(text, begin.end())
        limit = min(following.start() if following else len(text), begin.end() + _LONGEST_BLOCK)
        if 0 <= footer < limit:
            last = _FOOTER.match(text, footer)
            end = last.end() if last else footer
        else:
            rest = _REST_OF_KEY.match(text, begin.end(), limit)
            end = rest.end() if rest else begin.end()
        yield Found(begin.start(), end, "private-key")
        begin = following


def _next_footer(text: str, at: int) -> int:
    """-1 when there is none, which then holds for the rest of the text."""
    footer = _END.search(text, at)
    return footer.start() if footer else -1


def _pem_in_base64(text: str) -> Iterator[Found]:
    at = 0
    while begin := _IN_BASE64.search(text, at):
        lines = _BASE64_LINES.match(text, begin.start())
        at = lines.end() if lines else begin.end()
        if _holds_private_key(text[begin.start() : at]):
            yield Found(begin.start(), at, "private-key")


def _holds_private_key(wrapped: str) -> bool:
    digits = _NOT_BASE64.sub("", wrapped.translate(_URL_SAFE))
    return _PRIVATE.search(b64decode(digits[: len(digits) // 4 * 4])) is not None

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
_FOOTER = re.compile(r"----(?:[ _+]|%20)?END[^-\n\\]{0,80}+-{0,5}+")
_WRAP = r"(?:\s|\\++[nrt]?|%0[AaDd]|<br ?/?>|&gt;|[>|\"'`,;+*#:-])"
"""What stands between the lines of a key: line ends in many spellings, indents, quotes, marks of a changed line."""
_HEAD_LINE = r"(?:Proc-Type|DEK-Info|Comment|Version|Charset|Hash):[^\n\\]{0,200}+"
_REST_OF_KEY = re.compile(
    rf"(?:{_WRAP}*+(?:{_HEAD_LINE}|[A-Za-z0-9/+=%_]{{16,}}+))*+"
    rf"(?:{_WRAP}++[A-Za-z0-9/+=]{{1,63}}+(?={_WRAP}*+(?:<b?r?|&g?t?)?\Z))?+"
)
"""Of a key without its last line: as long as lines look like one, and what is left of the line in which it was cut."""
_GAP = r"(?:\s|\\++[nr]|&gt;|[>|\"'`+#]){1,40}+"
_IN_BASE64 = re.compile(
    rf"LS0t(?:LS1CRUdJTi|LUJFR0lOI|QkVHSU4g)[A-Za-z0-9+/_-]*+=*+(?:{_GAP}[A-Za-z0-9+/_-]{{16,}}+=*+)*+"
)
"""``-----BEGIN`` in base64, at each of its three places in a group of four characters, and what goes on from there."""
_CUT_LINE = re.compile(rf"{_GAP}[A-Za-z0-9+/_-]{{1,15}}+(?=\s*+\Z)")
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
    begin, footer = _HEADER.search(text), _FOOTER.search(text)
    while begin:
        following = _HEADER.search(text, begin.end())
        if footer and footer.start() < begin.end():
            footer = _FOOTER.search(text, begin.end())
        limit = min(following.start() if following else len(text), begin.end() + _LONGEST_BLOCK)
        last = footer if footer and footer.start() < limit else _REST_OF_KEY.match(text, begin.end(), limit)
        yield Found(begin.start(), last.end() if last else begin.end(), "private-key")
        begin = following


def _pem_in_base64(text: str) -> Iterator[Found]:
    for found in _IN_BASE64.finditer(text):
        inside = _from_base64(found[0])
        if _PRIVATE.search(inside):
            cut = None if b"-----END" in inside else _CUT_LINE.match(text, found.end())
            yield Found(found.start(), cut.end() if cut else found.end(), "private-key")


def _from_base64(wrapped: str) -> bytes:
    digits = _NOT_BASE64.sub("", wrapped.translate(_URL_SAFE))
    return b64decode(digits[: len(digits) // 4 * 4])

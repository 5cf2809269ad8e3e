"""Secrets that stand where one is handed over: in addresses, connection strings and the options of a command."""

import re
from collections.abc import Iterator

from memory.secret_marks import Found, Kind, stands_for_one

_PART = r"[^\s/\"'<>|`]"
_USER = r"[^\s/:@\"'<>|`\\]*+"
_NO_PORT = r"(?!\d{1,5}+(?:[/?#,\s]|\Z))"
_BY_GROUP: tuple[tuple[Kind, str, re.Pattern[str]], ...] = (
    # Up to the last @ before the next slash. Outside the web a password may have slashes, but then no colon.
    ("password", "@", re.compile(rf":\\?/\\?/{_USER}:{_NO_PORT}({_PART}+)@")),
    ("password", "@", re.compile(rf":(?<!http:)(?<!https:)(?<!ws:)\\?/\\?/{_USER}:{_NO_PORT}([^\s:\"'<>|`]+)@")),
    # Slack takes what follows the colon for a mail address and makes a link of it.
    ("password", "<mailto:", re.compile(rf":\\?/\\?/{_USER}:<mailto:([^\s@<>|]++)@[^\s<>|]*+\|([^\s@<>|]++)@")),
    (
        "password",
        "%40",
        re.compile(
            r"%3[Aa]%2[Ff]%2[Ff](?:[^\s&%\"'<>|]|%(?!3[Aa]|40|2[Ff]))*+%3[Aa]((?:[^\s&%\"'<>|]|%(?!40|2[Ff]))++)%40"
        ),
    ),
    ("token", "@", re.compile(r":\\?/\\?/(?=[A-Za-z_.~-]*+\d)([A-Za-z0-9_.~-]{20,}+)(?=:[^\s/@]{0,200}+@|@)")),
    ("token", "x-access-token:", re.compile(r"x-access-token:([A-Za-z0-9_.~%-]{4,}+)")),
    ("password", "(", re.compile(r":([^\s:@\"'/<>|]++)@(?:tcp|udp|unix)\(")),
    (
        "token",
        "=",
        re.compile(r"[?&;#](?i:(?:x-(?:amz|goog)-)?(?:sig|signature|ticket|jwt|assertion)=)([^\s&#\"'<>|`\\]{6,}+)"),
    ),
    ("token", "code=", re.compile(r"[?&;#]code=([^\s&#\"'<>|`\\]{20,}+)")),
    ("password", "login", re.compile(r"login\s{1,8}[^\s]{1,128}+\s{1,8}password\s{1,8}([^\s]++)")),
    ("password", "'", re.compile(r"[iIpP](?i:dentified\s{1,4}by|assword)\s{1,4}'([^'\n]{1,200}+)'")),
    ("password", "sshpass", re.compile(r"sshpass\s{1,4}-p\s{0,4}[\"']?([^\s\"']++)")),
)
"""The kind, what every such text contains, and a pattern whose groups are the secrets."""

_BY_COMMAND = (
    (
        re.compile(
            r"-(?:[uU]|-(?:proxy-)?user)(?:[ \t=]{1,4}|(?=[^\s=-]))"
            r"(?:\"[^\s:\"]{0,64}+:([^\"\n]++)|'[^\s:']{0,64}+:([^'\n]++)|[^\s:\"'=]{0,64}+:([^\s\"'`<>|]++))"
        ),
        ("curl", "wget", "http "),
    ),
    (re.compile(r"-p[\"']?([^\s\"'`<>|]{4,}+)"), ("mysql", "mariadb")),
    (re.compile(r"-a[ \t]{1,4}[\"']?([^\s\"'`<>|]{4,}+)"), ("redis-cli",)),
)
"""Short options that mean a password to some commands and something else to others."""
_COMMAND_CHARS = 500


def secret_places(text: str) -> Iterator[Found]:
    for kind, needle, pattern in _BY_GROUP:
        if needle in text:
            yield from (each for found in pattern.finditer(text) for each in _groups(found, kind))
    for pattern, commands in _BY_COMMAND:
        if any(command in text for command in commands):
            yield from _options(pattern, commands, text)


def _options(pattern: re.Pattern[str], commands: tuple[str, ...], text: str) -> Iterator[Found]:
    for found in pattern.finditer(text):
        at = found.start()
        begins = at > 0 and text[at - 1].isspace()
        if begins and any(text.rfind(command, max(0, at - _COMMAND_CHARS), at) >= 0 for command in commands):
            yield from _groups(found, "password")


def _groups(found: re.Match[str], kind: Kind) -> Iterator[Found]:
    for start, end in found.regs[1:]:
        if start >= 0 and not stands_for_one(found.string, start):
            yield Found(start, end, kind)

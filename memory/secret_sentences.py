"""Secrets that people tell in plain sentences: "the root password for db-3 is …", "das Passwort lautet …"."""

import re
from collections.abc import Iterator

from memory.secret_marks import Found, Kind
from memory.secret_naming import tells_of_failure
from memory.secret_needles import places_of
from memory.secret_remarks import is_remark, is_word_of_remark
from memory.secret_values import Value, looks_random, value_at

_NEEDLES = ("pass", "kennwort", "wachtwoord", "contrase", "senha", "парол", "pw", "token", "secret", " key", "-key")
_NAME = re.compile(
    r"(?i:(?P<password>pass(?:[ ]?(?:word|phrase|code)|wort|wd)|(?<=mot de )passe|(?<=wifi )pass|(?<=wlan )pass"
    r"|kennwort|wachtwoord|contrase[ñn]a|senha|парол[ья]|(?<![\w.$-])pwd?)|(?P<token>token)|(?P<secret>secret)"
    r"|(?:(?<=api)|(?<=access)|(?<=private)|(?<=signing)|(?<=licen[cs]e))[ -](?P<key>key))"
    r"(?![\w$(»-]|\.\w)(?:['\"]?(?=[ \t:=])|[*_~`]{0,2})"
)
"""What is named, also at the end of a longer word; not where the word goes on, as in "passwords". Nobody makes a token,
a key or a secret of words, so that theirs have to look like one by themselves."""
_BEGUN = re.compile(r"[\w$-]*\Z")
"""What a name that is put together begins with."""
_NAME_CHARS = 64
_OF = (
    r"(?:for|of|on|to|in|at|from|that|which|we|i|you|they|f[üu]r(?:['’]?s)?|vo[nm]|am|auf|zu[mr]?|des|der"  # noqa: RUF001
    r"|del?|du|da|do|pour|para|sur|от|для|на|к)"
)
_WHOSE = rf"(?:[ \t]{{1,4}}(?i:{_OF})(?:[ \t]{{1,4}}[^\s:=,;!?]{{0,39}}[^\s.:=,;!?]){{1,8}}?)?"
"""What it belongs to: "for the printer on the third floor", "we use here"."""
_STILL = (
    r"(?:[ \t]{1,4}(?i:now|still|just|currently|again|always|also|actually|simply|literally|no longer"
    r"|the word|all lowercase|jetzt|nun|noch|aktuell|wieder|weiterhin|immer noch|maintenant|toujours"
    r"|encore|ahora|agora)){0,2}"
)
_CHANGED = r"(?i:changed|set|reset|updated|rotated|switched|defaulted|defaults)(?:[ \t](?i:back))?[ \t]{1,4}(?i:to)"
_IS = (
    r"[ \t]{1,4}(?i:is|was|are|will be|should be|must be|becomes?|became|has been|had been|remains|used to be"
    r"|ist|war|wurde auf|lautete?|hei(?:ß|ss)t|est|es|é|è)|,?[ \t]c['’]est"  # noqa: RUF001
    r"|['’]s(?=[ \t](?i:now|still|been)\b)(?:[ \t]been)?"  # noqa: RUF001
    r"|(?=[ \t]{1,4}(?i:now|changed|set|reset|updated|rotated|switched|defaults)\b)"
)
_STATED = re.compile(
    rf"{_WHOSE}(?:(?:{_IS}){_STILL}(?:[ \t]{{1,4}}{_CHANGED}{_STILL})?:?(?=[ \t])"
    r"|[ \t]{0,4}(?P<sign>={1,2}|:(?![:/])|->|→)|[ \t]{1,4}(?P<dash>[–—-])(?=[ \t]))[ \t]{1,8}[*_~(]{0,3}(?![-*|])"  # noqa: RUF001
)
_TO = re.compile(rf"{_WHOSE}[ \t]{{1,4}}(?i:to|into|auf|en|por){_STILL}[ \t]{{1,4}}[*_~]{{0,2}}")
_BESIDE = re.compile(r"[ \t]{1,4}[(*_~]{0,3}")
_USER_BEFORE = re.compile(
    r"\b(?i:user(?:name)?|login|log in as|benutzer(?:name)?|utilisateur|usuario):?[ \t]{1,4}"
    r"(?!(?i:and|or|und|et|y|with|is|ist)\b)[^\s,;/]{1,60},?[ \t]{1,4}"
    r"(?:(?i:and|with|und|mit|et|y)[ \t]{1,4})?(?:(?i:the|dem|das)[ \t])?\Z"
    r"|[\w.-]{1,40}@[\w.-]{1,60},?[ \t]{1,4}(?:(?i:and|with)[ \t]{1,4})?(?:(?i:the)[ \t])?\Z"
)
"""In front of "password …": whose it is."""
_SHARED = re.compile(r"\b(?i:client|shared|signing|webhook|hmac|jwt)[ -](?i:secret)\W{0,2}\Z")
"""Secrets that programs share are chosen as passwords are."""
_WORD = re.compile(r"[^\W\d_]+")
_CHANGES_WORDS = """
cambiado cambiamos cambié change changed changer changing changé habe haben hat reset resetting rotate rotated set
setting setze setzen switch switched update updated wurde ändere ändern
"""
_CHANGES = frozenset(_CHANGES_WORDS.split())
"""In front of the name: "we set the root password to …"; behind it the word for "to" is enough."""
_CLAUSE_CHARS = 80
_CLAUSE_END = re.compile(r"[.!?;](?=\s)|\n")
_ENDS = re.compile(
    r"[!?*_~\"'`»”)]{0,3}[ \t]{0,4}(?:[.,;!?)(\r\n]|\Z|[–—-][ \t]"  # noqa: RUF001
    r"|(?i:and|und|et|y|or|but|for|on|in|until|since|because|as|so|now|please|today|yesterday|everywhere|again|f[üu]r|bis|seit|ge\w{2,12}|um\w{2,12}|zurück\w{2,12})\b)"
)
_NEXT_OF_PHRASE = re.compile(r"[ \t]([^\W\d_][^\W\d_’'-]{0,40}+)(?=[\s.,;!?)\"*_~»]|\Z)")  # noqa: RUF001
_NO_PHRASE = frozenset("user username login host port server thanks thank thx pls danke bitte merci gracias".split())  # noqa: SIM905
_QUOTES = {'"': re.compile('"'), "'": re.compile(r"(?<!\w)'|'(?!\w)"), "`": re.compile("`")}
"""An apostrophe within a word opens nothing."""
_LINE_END = re.compile(r"[\r\n]")
_MOST_WORDS = 8
_JUDGED_CHARS = 200


def told_values(text: str) -> Iterator[Found]:
    end = 0
    for at in places_of(_NEEDLES, text):
        name = _NAME.match(text, at) if at >= end else None
        if name is None or tells_of_failure(_BEGUN.findall(text, max(0, at - _NAME_CHARS), at)[0]):
            continue
        kind: Kind = name.lastgroup  # pyright: ignore[reportAssignmentType] - the groups are named after kinds
        value = _stated(text, name.end(), kind) or _changed(text, name, kind) or _beside(text, name, kind)
        end = value.end if value else name.end()
        if value:
            yield Found(value.start, value.end, kind)


def told_at(text: str, at: int, kind: Kind, *, is_sure: bool = False) -> Value | None:
    """The secret that begins at ``at``, where something before it has said that one stands there.

    ``is_sure``: it may be a word, as a password may.
    """
    judged = value_at(text, at, at + _JUDGED_CHARS)
    if judged is None or _closes_quote(text, at) or is_remark(text, judged, kind):
        return None
    if kind != "password" and not is_sure and not looks_random(text[judged.start : judged.end]):
        return None
    return value_at(text, at, len(text))


def ends_clause(text: str, at: int) -> bool:
    return _ENDS.match(text, at) is not None


def _closes_quote(text: str, at: int) -> bool:
    """Whether the quote at ``at`` is the end of one in which the name stands, as in ``getpass("Password: ")``."""
    quote = text[at : at + 1]
    if quote not in _QUOTES:
        return False
    before = _LINE_END.split(text[max(0, at - _JUDGED_CHARS) : at])[-1]
    return len(_QUOTES[quote].findall(before)) % 2 == 1


def _stated(text: str, at: int, kind: Kind) -> Value | None:
    joint = _STATED.match(text, at)
    is_sure = _SHARED.search(text, max(0, at - _CLAUSE_CHARS), at) is not None
    value = told_at(text, joint.end(), kind, is_sure=is_sure) if joint else None
    if joint is None or value is None or value.is_quoted:
        return value
    if joint["dash"] and not ends_clause(text, value.end):
        return None
    return value if joint["sign"] and "=" in joint["sign"] else _phrase(text, value)


def _changed(text: str, name: re.Match[str], kind: Kind) -> Value | None:
    joint = _TO.match(text, name.end())
    if joint is None or _CHANGES.isdisjoint(_WORD.findall(_clause_before(text, name.start()).casefold())):
        return None
    value = told_at(text, joint.end(), kind)
    return value if value and (value.is_quoted or ends_clause(text, value.end)) else None


def _beside(text: str, name: re.Match[str], kind: Kind) -> Value | None:
    """What stands right behind its name: any word where a user was named before, else a quoted one or a random one."""
    gap = _BESIDE.match(text, name.end())
    value = told_at(text, gap.end(), kind) if gap else None
    if value is None or value.is_quoted or looks_random(text[value.start : value.end]):
        return value
    is_users = kind == "password" and _USER_BEFORE.search(_clause_before(text, name.start())) is not None
    return value if is_users and ends_clause(text, value.end) else None


def _clause_before(text: str, at: int) -> str:
    return _CLAUSE_END.split(text[max(0, at - _CLAUSE_CHARS) : at])[-1]


def _phrase(text: str, value: Value) -> Value:
    """The whole of a phrase of plain words, as far as no word of it belongs to the sentence."""
    end = value.end
    if not _WORD.fullmatch(text, value.start, end):
        return value
    for _ in range(_MOST_WORDS):
        following = None if ends_clause(text, end) else _NEXT_OF_PHRASE.match(text, end)
        if following is None or following[1].casefold() in _NO_PHRASE or is_word_of_remark(following[1]):
            break
        end = following.end()
    return Value(value.start, end, is_quoted=False)

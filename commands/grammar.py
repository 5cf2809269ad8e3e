"""How a command is typed: one tokenizer and one grammar for chat, slash commands and argv."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from commands.coercion import text_label, there_are, values_of
from commands.errors import InvalidInputError
from commands.spec import Command, Option, Value

LINE_CHARS = 8_000
"""The longest command."""
HELP_WORDS = frozenset({"--help", "-h"})

_STRAIGHT = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f", '"') | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
)
_PIECE = re.compile(r"""(?P<gap>\s+)|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<open>["'])|(?P<bare>[^\s"']+)""")
_JOINED_DASHES = re.compile(r"[\u2013\u2014](?=[a-z])")
"""What phones make of ``--``."""
_LINK = re.compile(r"<(https?://[^<>|\s]+)(?:\|[^<>]*)?>")
_SPAN = re.compile(r"""(?<!\S)`([^\s`"']{1,300}+)`(?!\S)""")
"""A word as answers show it, and as people give it back."""
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_NEGATIVE = re.compile(r"-[0-9]+(?:\.[0-9]+)?")
_KEY = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_WORD = "[A-Za-z][A-Za-z0-9]{0,31}+"
"""Bounded like the gaps, so that the longest text is told from a command as fast as the shortest."""
_LEADING = re.compile(r"""\s*+((?:"[^"]*"|'[^']*'|[^\s"'])++)(?!\S)""")
"""One token before a raw text."""
_DASHES = ("--", "-h", "\u2013", "\u2014")
_QUOTED = re.compile(r"""(["'])((?:(?!\1).)*)\1""", re.DOTALL)
_RECORD = re.compile(r"\s{1,64}+[`\"']?(?:mem|held):[^\s`\"']{1,300}+[`\"']?\s{0,64}+")
_SPOKEN = re.compile(rf"\s{{0,64}}+(?P<mark>!?)(?P<group>{_WORD})(?:\s{{1,64}}+(?P<verb>{_WORD}))?(?!\S)")


@dataclass(frozen=True, slots=True)
class Spoken:
    """The first two words of a text, where they could name a command."""

    group: str
    verb: str
    """Empty when there is but one word."""
    is_marked: bool
    """A ``!`` stands before it: this wants to be a command."""
    tail: str
    behind_first: str
    """After ``!``, all that follows the first word."""

    @property
    def is_of_a_record(self) -> bool:
        """Whether nothing but a record's id follows: whatever the verb, nobody says that to a model."""
        return bool(self.verb) and _RECORD.fullmatch(self.tail) is not None


def spoken(text: str) -> Spoken | None:
    """How ``text`` could name a command, decided from its start alone.

    After ``!`` words come in any case, else as they stand. Without ``!``, a single word counts only if nothing follows.
    """
    found = _SPOKEN.match(text)
    if found is None:
        return None
    is_marked = bool(found["mark"])
    group, verb = found["group"], found["verb"] or ""
    if is_marked:
        return Spoken(group.lower(), verb.lower(), True, text[found.end() :], text[found.end("group") :])
    if not verb:
        return None if text[found.end() :].strip() else Spoken(group, "", False, "", "")
    return Spoken(group, verb, False, text[found.end() :], "")


def tokenize(text: str) -> list[str]:
    """Tokens of a typed line. Raises ``InvalidInputError`` for an open quote or more than ``LINE_CHARS``.

    Curly quotes are straight ones. A quote may open anywhere in a token, has no escapes, and holds its content as it
    is; an empty one is a token.
    """
    _check_length(len(text))
    tokens: list[str] = []
    pieces: list[str] = []
    for found in _PIECE.finditer(text.translate(_STRAIGHT)):
        if found["open"]:
            raise InvalidInputError("a quote is not closed (text with an apostrophe goes into double quotes)")
        if not found["gap"]:
            pieces.append(found["double"] or found["single"] or _dashed(found["bare"] or "", is_first=not pieces))
        elif pieces:
            tokens.append("".join(pieces))
            pieces.clear()
    return [*tokens, "".join(pieces)] if pieces else tokens


def tokens_of(command: Command, tail: str) -> list[str]:
    """Tokens of what was typed behind the verb. Raises ``InvalidInputError``.

    Where the command takes a raw text, options may stand before it and nothing of it is changed; quotes around the
    whole of it are taken off, so that it can be written as in a shell, or be empty.
    """
    if not command.takes_raw:
        return tokenize(_SPAN.sub(r"\1", without_links(tail)))
    _check_length(len(tail))
    options, text = _leading_options(command, tail)
    raw = text.strip()
    is_quoted = _QUOTED.fullmatch(raw.translate(_STRAIGHT)) is not None
    return [*options, *(["--", raw[1:-1] if is_quoted else raw] if raw else [])]


def without_links(text: str) -> str:
    """Slack's ``<url|label>`` of web addresses undone: the label dropped, the three entities restored."""
    return _LINK.sub(_address, text)


def wants_help(tokens: Sequence[str]) -> bool:
    """Whether ``--help`` or ``-h`` stands anywhere among the options."""
    end = tokens.index("--") if "--" in tokens else len(tokens)
    return not HELP_WORDS.isdisjoint(tokens[:end])


def bind(command: Command, tokens: Sequence[str]) -> dict[str, Value]:
    """Values of what stands behind the verb. Raises ``InvalidInputError`` that tells all problems at once."""
    _check_length(sum(map(len, tokens)))
    reading = _Reading(command)
    reading.read(deque(tokens))
    return values_of(command, reading.given, text_label, reading.problems)


def _check_length(length: int) -> None:
    if length > LINE_CHARS:
        raise InvalidInputError(f"a command may have at most {LINE_CHARS:,} characters")


def _leading_options(command: Command, tail: str) -> tuple[list[str], str]:
    """The options that stand before a raw text, and the text."""
    with_value = {option.flag for option in command.options if option.type != "boolean"}
    options: list[str] = []
    is_value = False
    while (is_value or _has_dashes(tail)) and (found := _LEADING.match(tail)):
        word = "".join(tokenize(found[1]))
        if not (is_value or word.startswith("--") or word in HELP_WORDS):
            break
        tail = tail[found.end() :]
        if word == "--":
            break
        options.append(word)
        is_value = not is_value and word in with_value
    return options, tail


def _has_dashes(text: str) -> bool:
    return text.lstrip().lstrip("\"'").startswith(_DASHES)


def _dashed(bare: str, *, is_first: bool) -> str:
    return _JOINED_DASHES.sub("--", bare, count=1) if is_first and _JOINED_DASHES.match(bare) else bare


def _address(link: re.Match[str]) -> str:
    address = link[1]
    for escaped, character in _ESCAPES:
        address = address.replace(escaped, character)
    return address


def _is_positional(word: str) -> bool:
    return not word.startswith("-") or word == "-" or _NEGATIVE.fullmatch(word) is not None


@dataclass(slots=True)
class _Reading:
    """One pass over the tokens, collecting what was given by name and what is wrong with it."""

    command: Command
    given: dict[str, object] = field(default_factory=dict[str, object])
    problems: list[str] = field(default_factory=list[str])

    def read(self, queue: deque[str]) -> None:
        positionals: list[str] = []
        has_ended = False
        while queue:
            word = queue.popleft()
            if has_ended or _is_positional(word):
                positionals.append(word)
            elif word == "--":
                has_ended = True
            elif word.startswith("--"):
                self._take_option(word[2:], queue)
            else:
                self.problems.append(self._unknown())
        self._take_arguments(positionals)

    def _take_arguments(self, positionals: list[str]) -> None:
        left = deque(positionals)
        for argument in self.command.arguments:
            if argument.is_rest and left:
                self.given[argument.name] = " ".join(left)
                left.clear()
            elif left:
                self.given[argument.name] = left.popleft()
        if left:
            takes_some = bool(self.command.arguments)
            self.problems.append("there are too many arguments" if takes_some else "it takes no arguments")

    def _take_option(self, written: str, queue: deque[str]) -> None:
        key, equals, text = written.partition("=")
        option, is_negated = self._named(key)
        if not _KEY.fullmatch(key):
            self.problems.append("an option is written --like-this")
        elif option is None:
            self.problems.append(self._unknown())
        else:
            value = self._value(option, text if equals else None, queue, is_negated=is_negated)
            if option.name in self.given:
                self.problems.append(f"{option.flag} is given twice")
            elif value is not None:
                self.given[option.name] = value

    def _value(self, option: Option, text: str | None, queue: deque[str], *, is_negated: bool) -> str | bool | None:
        if is_negated and text is not None:
            self.problems.append(f"--no-{option.flag[2:]} takes no value")
            return None
        if option.type == "boolean":
            return (not is_negated) if text is None else text
        if text is not None:
            return text
        if queue and _is_positional(queue[0]):
            return queue.popleft()
        self.problems.append(f"{option.flag} needs a value")
        return None

    def _named(self, key: str) -> tuple[Option | None, bool]:
        """The option of a key, and whether the key negates it."""
        options = {option.flag[2:]: option for option in self.command.options}
        affirmed = options.get(key.removeprefix("no-"))
        if key in options or affirmed is None or affirmed.type != "boolean":
            return options.get(key), False
        return affirmed, True

    def _unknown(self) -> str:
        flags = [option.flag for option in self.command.options]
        return f"an unknown option was given ({there_are(flags)})" if flags else "it takes no options"

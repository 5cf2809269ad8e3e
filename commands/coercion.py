"""From what was handed in by name to the values a handler gets, the same for text and for JSON."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from commands.errors import InvalidInputError
from commands.spec import Argument, Command, Option, Value

TEXT_CHARS = 4_000
"""The longest text of one argument or option."""

Part = Argument | Option
Label = Callable[[Part], str]

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NO_TEXT = re.compile(r"[\x00\ud800-\udfff]")
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Misfit:
    """What a value should have been."""

    expectation: str


def text_label(part: Part) -> str:
    """``--since-ms`` or ``<id>``: as people type it."""
    return part.flag if isinstance(part, Option) else f"<{part.name}>"


def field_label(part: Part) -> str:
    """``sinceMs``: as it stands in JSON."""
    return part.name


def values_of(
    command: Command, given: Mapping[str, object], label: Label, problems: Sequence[str] = ()
) -> dict[str, Value]:
    """Every argument and option with its value, its default, or ``None``.

    ``given`` has only names of the command. Raises ``InvalidInputError`` that tells all problems at once, those found
    before included.
    """
    found = list(problems)
    values: dict[str, Value] = {}
    for part in (*command.arguments, *command.options):
        raw = given.get(part.name)
        fitted = _absent(part) if raw is None else _fitted(part, raw)
        if isinstance(fitted, Misfit):
            found.append(f"{label(part)} {fitted.expectation}")
        else:
            values[part.name] = fitted
    if found:
        raise InvalidInputError("; ".join(dict.fromkeys(found)))
    return values


def from_fields(command: Command, fields: Mapping[str, object]) -> dict[str, Value]:
    """Values of a JSON object. Raises ``InvalidInputError``, for names the command does not have too."""
    names = [part.name for part in (*command.arguments, *command.options)]
    given = {name: fields[name] for name in names if name in fields}
    problems = [] if len(given) == len(fields) else [_unknown("field", names)]
    return values_of(command, given, field_label, problems)


def from_query(command: Command, pairs: Sequence[tuple[str, str]]) -> dict[str, Value]:
    """Values of a query string, whose names may be ``since-ms`` or ``sinceMs``. Raises ``InvalidInputError``."""
    names = [part.name for part in (*command.arguments, *command.options)]
    by_name = {name: name for name in names} | {option.flag[2:]: option.name for option in command.options}
    given: dict[str, object] = {}
    problems: list[str] = []
    for key, text in pairs:
        name = by_name.get(key)
        if name is None:
            problems.append(_unknown("parameter", names))
        elif name in given:
            problems.append(f"{name} is given twice")
        else:
            given[name] = text
    return values_of(command, given, field_label, problems)


def expectation(option: Option) -> str:
    """What a value of the option must be, in words; empty where any text will do."""
    if option.type == "integer":
        return f"a whole number{_range(option)}"
    if option.type == "boolean":
        return "true or false"
    if option.choices:
        return f"one of {', '.join(option.choices)}"
    return option.expectation


def there_are(names: Sequence[str]) -> str:
    """All that could have been meant, in words."""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"


def _range(option: Option) -> str:
    match option.least, option.most:
        case None, None:
            return ""
        case least, None:
            return f", {least} at least"
        case None, most:
            return f", {most} at most"
        case _:
            return f" from {option.least} to {option.most}"


def _unknown(noun: str, names: Sequence[str]) -> str:
    return f"an unknown {noun} was given ({there_are(names)})"


def _absent(part: Part) -> Value | Misfit:
    if isinstance(part, Option):
        return part.default
    return Misfit("is missing") if part.is_required else None


def _fitted(part: Part, raw: object) -> Value | Misfit:
    if isinstance(part, Argument):
        return _chosen(part, raw)
    if part.type == "integer":
        return _integer(part, raw)
    if part.type == "boolean":
        return _boolean(part, raw)
    return _worded(part, raw)


def _chosen(argument: Argument, raw: object) -> str | Misfit:
    text = _text(raw)
    if isinstance(text, Misfit) or not argument.choices or text.lower() in argument.choices:
        return text
    return Misfit(f"must be one of {', '.join(argument.choices)}")


def _text(raw: object) -> str | Misfit:
    if not isinstance(raw, str):
        return Misfit("must be text")
    if len(raw) > TEXT_CHARS:
        return Misfit(f"may have at most {TEXT_CHARS:,} characters")
    return Misfit("contains characters that are no text") if _NO_TEXT.search(raw) else raw


def _worded(option: Option, raw: object) -> str | Misfit:
    text = _text(raw)
    if isinstance(text, Misfit):
        return text
    is_choice = not option.choices or text in option.choices
    is_shaped = option.pattern is None or re.fullmatch(option.pattern, text) is not None
    return text if is_choice and is_shaped else Misfit(f"must be {expectation(option)}")


def _integer(option: Option, raw: object) -> int | Misfit:
    number = _number(raw)
    too_small = number is not None and option.least is not None and number < option.least
    too_big = number is not None and option.most is not None and number > option.most
    return Misfit(f"must be {expectation(option)}") if number is None or too_small or too_big else number


def _number(raw: object) -> int | None:
    """JSON knows one kind of number, so 10.0 is the integer 10."""
    match raw:
        case bool():
            return None
        case int():
            return raw
        case float():
            return int(raw) if raw.is_integer() else None
        case str():
            return int(raw) if _INTEGER.fullmatch(raw) else None
        case _:
            return None


def _boolean(option: Option, raw: object) -> bool | Misfit:
    word = _WORDS.get(raw.lower()) if isinstance(raw, str) else raw
    return word if isinstance(word, bool) else Misfit(f"must be {expectation(option)}")

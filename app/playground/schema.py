"""PURE. A small language for the shape of JSON: a rule looks at a value and names what is wrong, with a pointer."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from app.playground.model import Json

Rule = Callable[[Any, str], Iterator[str]]
"""Called with a value and its JSON pointer; yields one sentence for each problem, none when all is well."""


def problem(sentence: str, pointer: str) -> str:
    return f"[ERROR] {sentence} [json-pointer:{pointer}]"


def anything(_value: Any, _pointer: str) -> Iterator[str]:
    return iter(())


def string(longest: int | None = None, shortest: int = 1) -> Rule:
    """Lengths in characters."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield problem("must be a string", pointer)
        elif len(value) < shortest:
            yield problem(f"must be more than {shortest - 1} characters", pointer)
        elif longest is not None and len(value) > longest:
            yield problem(f"must be less than {longest + 1} characters", pointer)

    return check


def one_of(*allowed: str) -> Rule:
    def check(value: Any, pointer: str) -> Iterator[str]:
        if value not in allowed:
            yield problem(f"must be a valid enum value: {', '.join(allowed)}", pointer)

    return check


def flag(value: Any, pointer: str) -> Iterator[str]:
    if not isinstance(value, bool):
        yield problem("must be a boolean", pointer)


def items(rule: Rule, most: int, fewest: int = 1) -> Rule:
    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield problem("must provide an array", pointer)
            return
        elements = cast("list[Any]", value)
        if len(elements) > most:
            yield problem(f"no more than {most} items allowed", pointer)
        if len(elements) < fewest:
            yield problem(f"no fewer than {fewest} items allowed", pointer)
        for index, element in enumerate(elements):
            yield from rule(element, f"{pointer}/{index}")

    return check


def shape(required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None) -> Rule:
    """An object; fields that are in neither mapping pass, so that Slack's newer ones do."""
    known = {**required, **(optional or {})}

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield problem("must provide an object", pointer)
            return
        fields = cast("Json", value)
        for name in required:
            if fields.get(name) is None:
                yield problem(f"missing required field: {name}", pointer)
        for name, rule in known.items():
            if fields.get(name) is not None:
                yield from rule(fields[name], f"{pointer}/{name}")

    return check


def by_type(rules: Mapping[str, Rule]) -> Rule:
    """An object whose ``type`` says which rule holds."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield problem("must provide an object", pointer)
            return
        kind = cast("Json", value).get("type")
        if kind is None:
            yield problem("missing required field: type", pointer)
        elif kind not in rules:
            yield problem(f"unsupported type: {kind}", f"{pointer}/type")
        else:
            yield from rules[kind](value, pointer)

    return check


def either(fields: tuple[str, ...], rule: Rule) -> Rule:
    """At least one of the fields must be there, besides what the rule asks."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if isinstance(value, dict) and not any(cast("Json", value).get(name) for name in fields):
            yield problem(f"must provide at least one of: {', '.join(fields)}", pointer)
        yield from rule(value, pointer)

    return check


def plain_text(longest: int) -> Rule:
    return shape({"type": one_of("plain_text"), "text": string(longest)}, {"emoji": flag})


def any_text(longest: int) -> Rule:
    return shape({"type": one_of("plain_text", "mrkdwn"), "text": string(longest)}, {"emoji": flag})

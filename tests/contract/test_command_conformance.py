"""What every command promises on every surface it declares, derived from the registry.

A command added to the built-in list fails here until ``RIGHT`` (in ``tests/command_house.py``) says how it is given.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from commands.builtin import builtin_commands
from commands.grammar import bind
from commands.registry import Registry, schema, usage
from commands.result import Code, Result
from commands.spec import Command, Option, Surface
from tests.command_house import RIGHT, Calm, HouseRules, Recorder, a_caller

SECRET = "hunter2sesame"

COMMANDS = {command.id: command for command in builtin_commands(None, "acme", HouseRules(), Calm())}
GIVEN = [(command, surface) for command in COMMANDS.values() for surface in sorted(command.surfaces)]
WITH_OPTION = [(command, surface, option) for command, surface in GIVEN for option in command.options]
each_given = pytest.mark.parametrize(("command", "surface"), GIVEN, ids=lambda value: getattr(value, "id", None))
each_option = pytest.mark.parametrize(
    ("command", "surface", "option"), WITH_OPTION, ids=lambda value: getattr(value, "id", getattr(value, "name", None))
)


def recorded(command: Command, rules: HouseRules | None = None) -> tuple[Registry, Recorder]:
    """A registry of every command, of which this one only notes what it is called with."""
    recorder = Recorder()
    others = [each for each in COMMANDS.values() if each.id != command.id]
    return Registry([replace(command, handler=recorder), *others], rules or HouseRules()), recorder


def typed(command: Command, values: Mapping[str, object]) -> list[str]:
    """Tokens as a person would type them, the options first."""
    flags = {option.name: option.flag for option in command.options}
    options = [f"{flags[name]}={value}" for name, value in values.items() if name in flags]
    return options + [f"{values[argument.name]}" for argument in command.arguments if argument.name in values]


def line_of(command: Command, values: Mapping[str, object]) -> str:
    return " ".join([command.group, command.verb, *(f'"{word}"' for word in typed(command, values))])


async def give(registry: Registry, surface: Surface, command: Command, values: Mapping[str, object]) -> Result:
    """Give the command the way ``surface`` gives it."""
    caller = a_caller(surface)
    match surface:
        case Surface.CHAT:
            recognised = registry.recognise(line_of(command, values))
            assert recognised is not None
            return await registry.run_text(recognised, caller)
        case Surface.SLASH:
            return await registry.run_line(line_of(command, values), caller)
        case Surface.CLI:
            return await registry.run_tokens([command.group, command.verb, *typed(command, values)], caller)
        case Surface.HTTP:
            by_query = await registry.run_query(
                command.id, [(key, f"{value}") for key, value in values.items()], caller
            )
            by_body = await registry.run_values(command.id, values, caller)
            assert by_query == by_body
            return by_body
        case Surface.MCP:
            return await registry.run_values(command.id, values, caller)


def required(command: Command) -> dict[str, object]:
    names = [argument.name for argument in command.arguments if argument.is_required]
    return {name: RIGHT[command.id][name] for name in names}


def wrong_values(option: Option) -> list[object]:
    if option.type == "boolean":
        return [SECRET]
    if option.type == "integer":
        beyond = [None if option.least is None else option.least - 1, None if option.most is None else option.most + 1]
        return [SECRET, "1.5", "", *(number for number in beyond if number is not None)]
    return ["x" * 4_001, SECRET] if option.choices or option.pattern else ["x" * 4_001]


def test_every_command_says_how_it_is_given_right() -> None:
    assert set(RIGHT) == set(COMMANDS)
    for command in COMMANDS.values():
        parts = {part.name for part in (*command.arguments, *command.options)}
        assert set(RIGHT[command.id]) == parts, command.id


def test_every_surface_is_declared_by_some_command() -> None:
    assert {surface for _, surface in GIVEN} == set(Surface)


@each_given
async def test_a_command_gets_the_same_values_on_every_surface(command: Command, surface: Surface) -> None:
    registry, recorder = recorded(command)
    assert (await give(registry, surface, command, RIGHT[command.id])).is_ok
    assert recorder.values == RIGHT[command.id]


@each_given
async def test_a_command_needs_no_more_than_it_requires(command: Command, surface: Surface) -> None:
    registry, recorder = recorded(command)
    assert (await give(registry, surface, command, required(command))).is_ok
    options = {option.name: option.default for option in command.options}
    arguments = {argument.name: None for argument in command.arguments}
    assert recorder.values == options | arguments | required(command)


@each_given
async def test_what_is_missing_or_too_much_is_refused(command: Command, surface: Surface) -> None:
    registry, recorder = recorded(command)
    for name in required(command):
        result = await give(registry, surface, command, {})
        assert result.code is Code.INVALID_INPUT
        assert f"{name}" in result.message
        assert "is missing" in result.message
    if surface in {Surface.HTTP, Surface.MCP}:
        result = await registry.run_values(command.id, required(command) | {SECRET: "x"}, a_caller(surface))
    else:
        result = await registry.run_tokens([command.group, command.verb, f"--{SECRET}=x"], a_caller(surface))
    assert result.code is Code.INVALID_INPUT
    assert SECRET not in f"{result}"
    assert recorder.calls == []


@each_option
async def test_an_option_given_right_arrives(command: Command, surface: Surface, option: Option) -> None:
    registry, recorder = recorded(command)
    right = RIGHT[command.id][option.name]
    assert (await give(registry, surface, command, required(command) | {option.name: right})).is_ok
    assert recorder.values[option.name] == right


@each_option
async def test_an_option_given_wrong_is_named_and_its_value_is_not(
    command: Command, surface: Surface, option: Option
) -> None:
    registry, recorder = recorded(command)
    for wrong in wrong_values(option):
        result = await give(registry, surface, command, required(command) | {option.name: wrong})
        assert result.code is Code.INVALID_INPUT
        assert (option.name if surface in {Surface.HTTP, Surface.MCP} else option.flag) in result.message
        assert SECRET not in f"{result}"
    assert recorder.calls == []


@each_given
async def test_who_may_not_is_refused_before_anything_is_read(command: Command, surface: Surface) -> None:
    registry, recorder = recorded(command, HouseRules(closed=frozenset({command.id})))
    result = await give(registry, surface, command, {})
    assert (result.code, result.decided_by) == (Code.UNAUTHORIZED, "registry")
    assert recorder.calls == []


@each_given
async def test_a_command_has_help_where_it_can_be_given(command: Command, surface: Surface) -> None:
    registry, caller = Registry(COMMANDS.values(), HouseRules()), a_caller(surface)
    words = [command.group, command.verb]
    if surface in {Surface.HTTP, Surface.MCP}:
        asked = [await registry.run_values("help.show", {"topic": command.id}, caller)]
    else:
        asked = [await registry.run_tokens(tokens, caller) for tokens in ([*words, "--help"], ["help", *words])]
    for result in asked:
        assert result.is_ok
        assert f"Usage: `{usage(command)}`" in result.text
        assert all(option.flag in result.text for option in command.options)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_schema_names_everything_and_nothing_else(command: Command) -> None:
    stated = schema(command)
    assert stated["additionalProperties"] is False
    properties = stated["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == [part.name for part in (*command.arguments, *command.options)]
    assert stated["required"] == list(required(command))
    assert bind(command, typed(command, RIGHT[command.id])) == RIGHT[command.id]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_chat_command_is_recognised_with_and_without_its_mark(command: Command) -> None:
    registry, _ = recorded(command)
    for text in (f"{command.group} {command.verb} x", f"!{command.group.upper()} {command.verb} x"):
        found = registry.recognise(text)
        assert (found is not None) is (Surface.CHAT in command.surfaces)
        assert found is None or found.words == (command.group, command.verb)

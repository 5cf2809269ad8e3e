"""What a command takes, as JSON Schema: for MCP tools and for whoever calls the HTTP interface."""

from commands.coercion import TEXT_CHARS
from commands.spec import Argument, Command, Json, Option


def schema(command: Command) -> dict[str, Json]:
    """An object schema without further properties."""
    properties: dict[str, Json] = {argument.name: _argument(argument) for argument in command.arguments}
    properties.update({option.name: _option(option) for option in command.options})
    return {
        "type": "object",
        "properties": properties,
        "required": [argument.name for argument in command.arguments if argument.is_required],
        "additionalProperties": False,
    }


def _argument(argument: Argument) -> dict[str, Json]:
    stated: dict[str, Json] = {"type": "string", "description": argument.description, "maxLength": TEXT_CHARS}
    return stated | ({"enum": list(argument.choices)} if argument.choices else {})


def _option(option: Option) -> dict[str, Json]:
    stated: dict[str, Json] = {
        "type": {"text": "string", "integer": "integer", "boolean": "boolean"}[option.type],
        "description": option.description,
        "enum": list(option.choices) or None,
        "minimum": option.least,
        "maximum": option.most,
        "maxLength": TEXT_CHARS if option.type == "text" else None,
        "pattern": None if option.pattern is None else f"^(?:{option.pattern})$",
        "default": option.default,
    }
    return {key: value for key, value in stated.items() if value is not None}

"""The arguments of a call: from query, form or JSON body alike, and read by type."""

import json
from collections.abc import Mapping
from typing import Any, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from app.playground.limits import refusal_of
from app.playground.model import Json
from app.playground.refusal import SlackRefusal

_TRUE = ("1", "true", "True")


async def read_arguments(request: web.Request) -> Json:
    """Query and body merged, the body first. Refuses ``invalid_json``, ``json_not_object``, ``invalid_form_data``."""
    merged: Json = dict(request.query)
    if request.method != "POST" or not request.can_read_body:
        return merged
    if request.content_type == "application/json":
        return merged | _json_object(await request.text())
    try:
        form = await request.post()
    except (ValueError, HttpProcessingError) as exc:
        raise SlackRefusal("invalid_form_data") from exc
    return merged | {name: value for name, value in form.items() if isinstance(value, str)}


def _json_object(body: str) -> Json:
    try:
        parsed: Any = json.loads(body) if body else {}
    except json.JSONDecodeError as exc:
        raise SlackRefusal("invalid_json") from exc
    if not isinstance(parsed, dict):
        raise SlackRefusal("json_not_object")
    return cast("Json", parsed)


class Arguments:
    """Values as sent: a number may be a string, a list a comma-separated one, an object JSON in a string."""

    def __init__(self, sent: Mapping[str, Any]) -> None:
        self.sent: Json = dict(sent)

    def __contains__(self, name: str) -> bool:
        return self.sent.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        value = self.sent.get(name)
        return default if value is None else str(value)

    def required(self, name: str) -> str:
        """Refuses ``invalid_arguments`` and names what is missing."""
        value = self.text(name)
        if not value:
            raise refusal_of("invalid_arguments", [f"[ERROR] missing required field: {name}"])
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.sent.get(name)
        return default if value is None else value is True or str(value) in _TRUE

    def limit(self, default: int, most: int, name: str = "limit") -> int:
        """A page size; more than ``most`` is cut to it. Refuses ``invalid_limit``."""
        if not self.text(name):
            return default
        try:
            wanted = int(self.text(name))
        except ValueError as exc:
            raise SlackRefusal("invalid_limit") from exc
        if wanted < 0:
            raise SlackRefusal("invalid_limit")
        return min(wanted or default, most)

    def names(self, name: str) -> list[str]:
        """A list, or a comma-separated string."""
        value = self.sent.get(name)
        parts = cast("list[Any]", value) if isinstance(value, list) else str(value or "").split(",")
        return [str(part).strip() for part in parts if str(part).strip()]

    def parsed(self, name: str, refusal: str) -> Any:
        """A JSON value, sent as it is or as a string; ``None`` when absent or an empty string."""
        value = self.sent.get(name)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            return json.loads(value)
        except json.JSONDecodeError as exc:
            raise SlackRefusal(refusal) from exc

    def objects(self, name: str, refusal: str) -> list[Json] | None:
        """A list of JSON objects, or ``None`` when absent."""
        value = self.parsed(name, refusal)
        if value is None:
            return None
        if not isinstance(value, list):
            raise SlackRefusal(refusal)
        elements = cast("list[Any]", value)
        if not all(isinstance(element, dict) for element in elements):
            raise SlackRefusal(refusal)
        return cast("list[Json]", elements)

    def json_object(self, name: str, refusal: str) -> Json | None:
        value = self.parsed(name, refusal)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise SlackRefusal(refusal)
        return cast("Json", value)

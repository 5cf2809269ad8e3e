"""How people and token subjects are named in settings, and how commands are."""

import re
from collections.abc import Callable, Sequence
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

_SLACK_ID = re.compile(r"(?:slack:)?(?P<id>[UW][A-Z0-9]{2,40})")
_SUBJECT = re.compile(r"(?:http|mcp):[^\s:,]\S*")
_COMMAND = re.compile(r"(?P<group>[a-z][a-z0-9]*)[._](?P<verb>[a-z][a-z0-9]*)")


def _listed(value: object) -> Sequence[object]:
    """The entries of a list, or of what stands for one where there are no lists: text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]


def _all_of(value: object, read: Callable[[str], str | None]) -> tuple[str, ...] | None:
    """What ``read`` makes of each entry, each once; ``None`` when it makes nothing of one."""
    found = [read(entry) if isinstance(entry, str) else None for entry in _listed(value)]
    whole = [entry for entry in found if entry is not None]
    return tuple(dict.fromkeys(whole)) if len(whole) == len(found) else None


def _slack_id(entry: str) -> str | None:
    found = _SLACK_ID.fullmatch(entry)
    return None if found is None else found["id"]


def _actor_id(entry: str) -> str | None:
    slack_id = _slack_id(entry)
    if slack_id is not None:
        return f"slack:{slack_id}"
    return entry if _SUBJECT.fullmatch(entry) else None


def _slack_ids(value: object) -> tuple[str, ...]:
    found = _all_of(value, _slack_id)
    if found is None:
        raise PydanticCustomError(
            "slack_ids", "must be a list of Slack member ids, such as U0123ABCD (in Slack: Profile, Copy member ID)"
        )
    return found


def _actor_ids(value: object) -> tuple[str, ...]:
    found = _all_of(value, _actor_id)
    if found is None:
        raise PydanticCustomError(
            "actor_ids", "must be a list of Slack member ids (U0123ABCD) and token subjects (http:name, mcp:name)"
        )
    return found


def _command(name: str) -> str:
    found = _COMMAND.fullmatch(name)
    if found is None:
        raise PydanticCustomError("command_name", "the name must be a command's, such as memory.forget")
    return f"{found['group']}.{found['verb']}"


SlackIds = Annotated[tuple[str, ...], BeforeValidator(_slack_ids)]
"""``U…`` or ``W…``, each once; in a variable separated by commas."""
ActorIds = Annotated[tuple[str, ...], BeforeValidator(_actor_ids)]
"""``slack:U…``, ``http:<subject>``, ``mcp:<subject>``; a plain Slack id stands for a ``slack:`` one."""
CommandName = Annotated[str, AfterValidator(_command)]
"""``<group>.<verb>``; ``<group>_<verb>`` stands for it where a name has no dots, as in a variable."""

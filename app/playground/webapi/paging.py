"""Cursors: opaque to the caller, a plain mark inside."""

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from app.playground.model import Json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call

_Item = TypeVar("_Item")


def cursor_of(mark: str) -> str:
    return base64.b64encode(f"next:{mark}".encode()).decode() if mark else ""


def mark_of(cursor: str) -> str:
    """Refuses ``invalid_cursor``."""
    if not cursor:
        return ""
    try:
        decoded = base64.b64decode(cursor, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as exc:
        raise SlackRefusal("invalid_cursor") from exc
    if not decoded.startswith("next:"):
        raise SlackRefusal("invalid_cursor")
    return decoded.removeprefix("next:")


def page_of(call: Call, everything: Sequence[_Item], default: int, most: int) -> tuple[Sequence[_Item], Json]:
    """One page of a list, and the ``response_metadata`` that leads to the next."""
    mark = mark_of(call.args.text("cursor"))
    if mark and not mark.isdigit():
        raise SlackRefusal("invalid_cursor")
    start = int(mark or "0")
    end = start + call.args.limit(default, most)
    following = cursor_of(str(end)) if end < len(everything) else ""
    return everything[start:end], {"response_metadata": {"next_cursor": following}}

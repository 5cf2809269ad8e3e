"""PURE. What a block may be: every kind Slack knows, with its limits, for messages and for views."""

from collections.abc import Iterator
from typing import Any, cast

from app.playground.element_rules import (
    ACTION_ELEMENT,
    BUTTON,
    CONTEXT_ACTION,
    CONTEXT_ELEMENT,
    IMAGE,
    INPUT_ELEMENT,
    SECTION_ACCESSORY,
)
from app.playground.model import Json
from app.playground.schema import (
    Rule,
    any_text,
    anything,
    by_type,
    either,
    flag,
    items,
    one_of,
    plain_text,
    problem,
    shape,
    string,
)

MESSAGE_BLOCKS_MAX = 50
VIEW_BLOCKS_MAX = 100
MARKDOWN_MAX = 12_000
_TABLE_ROWS_MAX, _TABLE_COLUMNS_MAX, _TABLE_TEXT_MAX = 100, 20, 10_000

_ID: dict[str, Rule] = {"block_id": string(255)}
_RICH_TEXT = by_type({"rich_text": shape({"elements": items(anything, 1000, 0)}, _ID)})
_TASK_STATUS = one_of("pending", "in_progress", "complete", "error")
_CELL = by_type(
    {
        "raw_text": shape({"text": string(shortest=0)}),
        "raw_number": shape({"value": anything}),
        "rich_text": shape({"elements": items(anything, 1000, 0)}),
    }
)
_TASK_CARD = shape(
    {"task_id": string(255), "title": string(256)},
    {
        **_ID,
        "status": _TASK_STATUS,
        "details": _RICH_TEXT,
        "output": _RICH_TEXT,
        "sources": items(anything, 50, 0),
    },
)
_CARD = either(
    ("hero_image", "title", "actions", "body"),
    shape(
        {},
        {
            **_ID,
            "title": any_text(150),
            "subtitle": any_text(150),
            "body": any_text(200),
            "hero_image": anything,
            "actions": items(BUTTON, 3, 0),
        },
    ),
)


def _table(value: Any, pointer: str) -> Iterator[str]:
    rows = items(items(_CELL, _TABLE_COLUMNS_MAX), _TABLE_ROWS_MAX)
    yield from shape({"rows": rows}, _ID)(value, pointer)
    if _text_in(value) > _TABLE_TEXT_MAX:
        yield problem(f"table must be less than {_TABLE_TEXT_MAX + 1} characters", pointer)


def _text_in(value: Any) -> int:
    """Characters of all ``text`` values, however deep."""
    if isinstance(value, list):
        return sum(_text_in(element) for element in cast("list[Any]", value))
    if not isinstance(value, dict):
        return 0
    fields = cast("Json", value)
    own = len(fields["text"]) if isinstance(fields.get("text"), str) else 0
    return own + sum(_text_in(element) for element in fields.values())


_EVERYWHERE: dict[str, Rule] = {
    "section": either(
        ("text", "fields"),
        shape(
            {},
            {
                **_ID,
                "text": any_text(3000),
                "fields": items(any_text(2000), 10),
                "accessory": SECTION_ACCESSORY,
                "expand": flag,
            },
        ),
    ),
    "divider": shape({}, _ID),
    "image": either(
        ("image_url", "slack_file"),
        shape({"alt_text": string(2000)}, {**_ID, "image_url": string(3000), "title": plain_text(2000)}),
    ),
    "actions": shape({"elements": items(ACTION_ELEMENT, 25)}, _ID),
    "context": shape({"elements": items(CONTEXT_ELEMENT, 10)}, _ID),
    "header": shape({"text": plain_text(150)}, _ID),
    "rich_text": _RICH_TEXT,
    "input": shape(
        {"label": plain_text(2000), "element": INPUT_ELEMENT},
        {**_ID, "hint": plain_text(2000), "optional": flag, "dispatch_action": flag},
    ),
    "video": shape(
        {
            "alt_text": string(),
            "title": plain_text(199),
            "thumbnail_url": string(3000),
            "video_url": string(3000),
        },
        {**_ID, "author_name": string(49)},
    ),
    "alert": shape({"text": any_text(200)}, {**_ID, "level": one_of("default", "info", "warning", "error", "success")}),
    "card": _CARD,
    "carousel": shape({"elements": items(by_type({"card": _CARD}), 10)}, _ID),
}
_IN_MESSAGES: dict[str, Rule] = {
    "markdown": shape({"text": string()}, _ID),
    "context_actions": shape({"elements": items(CONTEXT_ACTION, 5)}, _ID),
    "task_card": _TASK_CARD,
    "plan": shape({"title": string(256)}, {**_ID, "tasks": items(by_type({"task_card": _TASK_CARD}), 50, 0)}),
    "table": _table,
    "file": shape({"external_id": string(), "source": one_of("remote")}, _ID),
    "auth_provider": shape({}, {**_ID, "value": string(150), "name": string(75)}),
    "data_table": anything,
    "data_visualization": anything,
}


def _container(value: Any, pointer: str) -> Iterator[str]:
    children = by_type(_EVERYWHERE | _IN_MESSAGES)
    rule = either(
        ("title", "rich_text_title"),
        shape(
            {"child_blocks": items(children, 10)},
            {
                **_ID,
                "title": plain_text(150),
                "subtitle": any_text(150),
                "icon": IMAGE,
                "width": one_of("narrow", "standard", "wide", "full"),
                "is_collapsible": flag,
            },
        ),
    )
    yield from rule(value, pointer)


MESSAGE_BLOCK = by_type({**_EVERYWHERE, **_IN_MESSAGES, "container": _container})
VIEW_BLOCK = by_type(_EVERYWHERE)
TASK_STATUS = _TASK_STATUS

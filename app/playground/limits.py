"""PURE. How long and how many: what Slack takes in messages, blocks, views and stream chunks, and what it says."""

import json
from collections.abc import Sequence
from typing import Any, cast

from app.playground.block_rules import (
    MARKDOWN_MAX,
    MESSAGE_BLOCK,
    MESSAGE_BLOCKS_MAX,
    TASK_STATUS,
    VIEW_BLOCK,
    VIEW_BLOCKS_MAX,
)
from app.playground.model import Json
from app.playground.refusal import SlackRefusal
from app.playground.schema import anything, by_type, flag, items, one_of, plain_text, problem, shape, string

POST_TEXT_MAX = 40_000
UPDATE_TEXT_MAX = 4_000
ATTACHMENTS_MAX = 100
STREAM_BLOCKS_MAX = 50
"""As chunks; as many again may come with chat.stopStream."""
VIEW_BYTES_MAX = 250_000

_CHUNK = by_type(
    {
        "markdown_text": shape({"text": string(shortest=0)}),
        "task_update": shape(
            {"id": string(255), "title": string(256), "status": TASK_STATUS},
            {"details": anything, "output": anything, "sources": items(anything, 50, 0)},
        ),
        "plan_update": shape({"title": string(256)}),
        "blocks": shape({"blocks": items(MESSAGE_BLOCK, STREAM_BLOCKS_MAX)}),
    }
)
_HOME = shape(
    {"type": one_of("home"), "blocks": items(VIEW_BLOCK, VIEW_BLOCKS_MAX, 0)},
    {"private_metadata": string(3000, 0), "callback_id": string(255, 0), "external_id": string(255, 0)},
)
_MODAL = shape(
    {"type": one_of("modal"), "title": plain_text(24), "blocks": items(VIEW_BLOCK, VIEW_BLOCKS_MAX, 0)},
    {
        "submit": plain_text(24),
        "close": plain_text(24),
        "private_metadata": string(3000, 0),
        "callback_id": string(255, 0),
        "external_id": string(255, 0),
        "clear_on_close": flag,
        "notify_on_close": flag,
        "submit_disabled": flag,
    },
)


def refusal_of(error: str, problems: Sequence[str]) -> SlackRefusal:
    """The form in which Slack lists problems."""
    return SlackRefusal(error, {"response_metadata": {"messages": list(problems)}})


def block_problems(blocks: Any, pointer: str = "/blocks") -> list[str]:
    """Everything wrong with the blocks of a message, except their markdown's length."""
    problems = list(items(MESSAGE_BLOCK, MESSAGE_BLOCKS_MAX, 0)(blocks, pointer))
    if problems:
        return problems
    return [*_id_problems(blocks, pointer), *_table_problems(blocks, pointer)]


def check_blocks(blocks: list[Json]) -> None:
    """Refuses ``invalid_blocks`` with the list of problems, ``msg_blocks_too_long`` for too much markdown."""
    if problems := block_problems(blocks):
        raise refusal_of("invalid_blocks", problems)
    if markdown_length(blocks) > MARKDOWN_MAX:
        raise SlackRefusal("msg_blocks_too_long")


def markdown_length(blocks: Sequence[Json]) -> int:
    """Characters of all markdown blocks together, containers included."""
    total = 0
    for block in blocks:
        if block.get("type") == "markdown":
            total += len(block.get("text", ""))
        total += markdown_length(cast("list[Json]", block.get("child_blocks") or []))
    return total


def _id_problems(blocks: Sequence[Json], pointer: str) -> list[str]:
    problems: list[str] = []
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        block_id = block.get("block_id")
        if block_id and block_id in seen:
            problems.append(problem(f"block_id already exists: {block_id}", f"{pointer}/{index}/block_id"))
        seen.add(block_id or "")
        action_ids = [element["action_id"] for element in elements_of(block) if element.get("action_id")]
        repeated = sorted({each for each in action_ids if action_ids.count(each) > 1})
        problems += [problem(f"action_id already exists: {each}", f"{pointer}/{index}/elements") for each in repeated]
    return problems


def elements_of(block: Json) -> list[Json]:
    """The elements a person can use: of an actions or context_actions block, an accessory, an input."""
    candidates: list[Any] = [*(block.get("elements") or []), block.get("accessory"), block.get("element")]
    return [cast("Json", each) for each in candidates if isinstance(each, dict)]


def _table_problems(blocks: Sequence[Json], pointer: str) -> list[str]:
    tables = sum(block.get("type") == "table" for block in blocks)
    return [problem("only_one_table_allowed", pointer)] if tables > 1 else []


def check_chunks(chunks: Any) -> None:
    """Refuses ``invalid_chunks`` with the list of problems; lengths over all of a stream are the stream's."""
    if problems := list(items(_CHUNK, 100, 0)(chunks, "/chunks")):
        raise refusal_of("invalid_chunks", problems)


def view_problems(view: Any) -> list[str]:
    if not isinstance(view, dict):
        return [problem("must provide an object", "/view")]
    fields = cast("Json", view)
    kind = fields.get("type")
    if kind not in ("modal", "home"):
        return [problem("must be a valid enum value: modal, home", "/view/type")]
    problems = list((_HOME if kind == "home" else _MODAL)(fields, "/view"))
    if problems:
        return problems
    blocks = cast("list[Json]", fields["blocks"])
    if kind == "modal" and not fields.get("submit") and any(block["type"] == "input" for block in blocks):
        problems.append(problem("missing required field: submit", "/view"))
    return [*problems, *_id_problems(blocks, "/view/blocks")]


def check_view(view: Any, kind: str) -> None:
    """Refuses ``invalid_arguments`` with the list of problems, ``view_too_large``."""
    if problems := view_problems(view):
        raise refusal_of("invalid_arguments", problems)
    if view["type"] != kind:
        raise refusal_of("invalid_arguments", [problem(f"must be a valid enum value: {kind}", "/view/type")])
    if len(json.dumps(view).encode()) > VIEW_BYTES_MAX:
        raise SlackRefusal("view_too_large")


def check_metadata(metadata: Json | None) -> None:
    """Refuses ``invalid_metadata_format``: an event type and an object are asked for."""
    if metadata is None:
        return
    typed = isinstance(metadata.get("event_type"), str) and metadata["event_type"]
    if not typed or not isinstance(metadata.get("event_payload"), dict):
        raise SlackRefusal("invalid_metadata_format")

"""What blocks, views, chunks and metadata may be, limit by limit."""

from collections.abc import Sequence
from typing import Any

import pytest

from app.playground.limits import (
    block_problems,
    check_blocks,
    check_chunks,
    check_metadata,
    check_view,
    elements_of,
    markdown_length,
    view_problems,
)
from app.playground.model import Json
from app.playground.refusal import SlackRefusal


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def button(**fields: Any) -> Json:
    return {"type": "button", "text": plain("Go"), "action_id": "go"} | fields


def option(value: str = "v") -> Json:
    return {"text": plain("Option"), "value": value}


def feedback(text: str = "Good", value: str = "up") -> Json:
    answer = {"text": plain(text), "value": value}
    return {"type": "feedback_buttons", "positive_button": answer, "negative_button": answer}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def rich(text: str) -> Json:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]}


def table(rows: int, columns: int, text: str = "x") -> Json:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns] * rows}


CARD: Json = {"type": "card", "title": plain("t" * 150), "body": mrkdwn("b" * 200), "actions": [button()] * 3}

FINE: list[Json] = [
    {"type": "section", "text": mrkdwn("x" * 3000), "accessory": button()},
    {"type": "section", "fields": [mrkdwn("x" * 2000)] * 10},
    {"type": "divider", "block_id": "b" * 255},
    {"type": "header", "text": plain("x" * 150) | {"emoji": True}},
    {"type": "image", "image_url": "https://a.example/i.png", "alt_text": "x" * 2000, "title": plain("t")},
    {"type": "context", "elements": [mrkdwn("x"), plain("y")] * 5},
    {"type": "markdown", "text": "# heading"},
    {"type": "rich_text", "elements": []},
    actions(*(button(action_id=f"go_{number}", value="v" * 2000) for number in range(25))),
    actions({"type": "static_select", "action_id": "s", "options": [option()] * 100}),
    actions({"type": "overflow", "action_id": "o", "options": [option()] * 5}),
    actions({"type": "multi_users_select", "action_id": "m"}, {"type": "datepicker", "action_id": "d"}),
    {"type": "input", "label": plain("Name"), "element": {"type": "plain_text_input", "action_id": "n"}},
    {
        "type": "context_actions",
        "elements": [feedback("x" * 75), {"type": "icon_button", "icon": "trash", "text": plain("x")}],
    },
    {"type": "task_card", "task_id": "t1", "title": "Search", "status": "complete", "output": rich("done")},
    {"type": "plan", "title": "Plan", "tasks": [{"type": "task_card", "task_id": "t", "title": "T"}]},
    table(100, 20),
    {"type": "alert", "text": mrkdwn("x" * 200), "level": "warning"},
    CARD,
    {"type": "carousel", "elements": [CARD] * 10},
    {"type": "container", "title": plain("x" * 150), "child_blocks": [{"type": "divider"}] * 10, "width": "wide"},
]

WRONG: list[tuple[Json, str]] = [
    ({"type": "hologram"}, "unsupported type: hologram [json-pointer:/blocks/0/type]"),
    ({}, "missing required field: type"),
    ({"type": "section"}, "must provide at least one of: text, fields"),
    ({"type": "section", "text": mrkdwn("x" * 3001)}, "less than 3001"),
    ({"type": "section", "text": mrkdwn("")}, "must be more than 0 characters"),
    ({"type": "section", "text": "bare"}, "must provide an object"),
    ({"type": "section", "fields": [mrkdwn("x")] * 11}, "no more than 10 items"),
    ({"type": "section", "fields": [mrkdwn("x" * 2001)]}, "less than 2001"),
    ({"type": "section", "text": mrkdwn("x"), "accessory": {"type": "plain_text_input"}}, "unsupported type"),
    ({"type": "divider", "block_id": "b" * 256}, "less than 256"),
    ({"type": "header", "text": plain("x" * 151)}, "less than 151"),
    ({"type": "header", "text": mrkdwn("x")}, "must be a valid enum value: plain_text"),
    ({"type": "image", "image_url": "https://a.example/i.png"}, "missing required field: alt_text"),
    ({"type": "image", "alt_text": "x"}, "at least one of: image_url, slack_file"),
    ({"type": "context", "elements": [mrkdwn("x")] * 11}, "no more than 10 items"),
    ({"type": "context", "elements": [button()]}, "unsupported type: button"),
    ({"type": "markdown", "text": ""}, "must be more than 0 characters"),
    ({"type": "markdown"}, "missing required field: text"),
    ({"type": "markdown", "text": 7}, "must be a string"),
    ({"type": "header", "text": plain("x") | {"emoji": "yes"}}, "must be a boolean"),
    ({"type": "context", "elements": "none"}, "must provide an array"),
    (actions(*[button()] * 26), "no more than 25 items"),
    (actions(), "no fewer than 1 items"),
    (actions(button(text=plain("x" * 76))), "less than 76"),
    (actions(button(value="v" * 2001)), "less than 2001"),
    (actions(button(url="u" * 3001)), "less than 3001"),
    (actions(button(action_id="a" * 256)), "less than 256"),
    (actions(button(style="loud")), "valid enum value: primary, danger"),
    (actions(button(agent_prompt="p" * 4001)), "less than 4001"),
    (actions(button(), button()), "action_id already exists: go"),
    (actions({"type": "static_select", "action_id": "s", "options": [option()] * 101}), "no more than 100"),
    (actions({"type": "static_select", "action_id": "s"}), "at least one of: options, option_groups"),
    (actions({"type": "overflow", "options": [option()] * 6}), "no more than 5 items"),
    (actions({"type": "radio_buttons", "options": [option("v" * 151)]}), "less than 151"),
    ({"type": "input", "label": plain("x")}, "missing required field: element"),
    ({"type": "input", "label": plain("x"), "element": button()}, "unsupported type: button"),
    ({"type": "context_actions", "elements": [feedback()] * 6}, "no more than 5 items"),
    ({"type": "context_actions", "elements": [feedback("x" * 76)]}, "less than 76"),
    ({"type": "context_actions", "elements": [feedback(value="v" * 2001)]}, "less than 2001"),
    ({"type": "context_actions", "elements": [button()]}, "unsupported type: button"),
    ({"type": "task_card", "task_id": "t", "title": "T", "status": "done"}, "valid enum value: pending"),
    ({"type": "plan", "title": "P", "tasks": [{"type": "task_card"}]}, "missing required field: task_id"),
    (table(101, 1), "no more than 100 items"),
    (table(1, 21), "no more than 20 items"),
    (table(2, 2, "x" * 2501), "table must be less than 10001 characters"),
    ({"type": "alert", "text": mrkdwn("x" * 201)}, "less than 201"),
    ({"type": "alert", "text": mrkdwn("x"), "level": "panic"}, "valid enum value: default"),
    ({"type": "card"}, "at least one of: hero_image, title, actions, body"),
    (CARD | {"title": plain("t" * 151)}, "less than 151"),
    (CARD | {"body": mrkdwn("b" * 201)}, "less than 201"),
    (CARD | {"actions": [button()] * 4}, "no more than 3 items"),
    ({"type": "carousel", "elements": [CARD] * 11}, "no more than 10 items"),
    ({"type": "carousel", "elements": [{"type": "divider"}]}, "unsupported type: divider"),
    ({"type": "container", "child_blocks": [{"type": "divider"}]}, "at least one of: title, rich_text_title"),
    ({"type": "container", "title": plain("x"), "child_blocks": [{"type": "divider"}] * 11}, "no more than 10"),
]


@pytest.mark.parametrize("block", FINE, ids=lambda block: str(block["type"]))
def test_blocks_at_their_limits_pass(block: Json) -> None:
    assert block_problems([block]) == []


@pytest.mark.parametrize(("block", "complaint"), WRONG)
def test_blocks_beyond_a_limit_are_named(block: Json, complaint: str) -> None:
    problems = block_problems([block])
    assert any(complaint in each for each in problems), problems
    assert all("[json-pointer:/blocks" in each for each in problems)


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        ("no list", "must provide an array"),
        (["no object"], "must provide an object"),
        ([{"type": "divider"}] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
        ([{"type": "divider", "block_id": "b"}] * 2, "block_id already exists: b"),
        ([table(1, 1)] * 2, "only_one_table_allowed"),
    ],
)
def test_what_a_list_of_blocks_may_not_be(blocks: Any, complaint: str) -> None:
    assert any(complaint in each for each in block_problems(blocks))


def test_markdown_counts_over_all_blocks_containers_included() -> None:
    inner: Json = {"type": "container", "title": plain("x")}
    blocks: list[Json] = [
        {"type": "markdown", "text": "m" * 7000},
        inner | {"child_blocks": [{"type": "markdown", "text": "m" * 5000}]},
    ]
    assert markdown_length(blocks) == 12_000
    check_blocks(blocks)
    with pytest.raises(SlackRefusal, match="msg_blocks_too_long"):
        check_blocks([*blocks, {"type": "markdown", "text": "m"}])


def test_the_elements_of_a_block_are_all_a_person_can_use() -> None:
    section: Json = {"type": "section", "text": mrkdwn("x"), "accessory": button()}
    given: Sequence[Json] = (section, actions(button(), button()), {"type": "divider"})
    assert [len(elements_of(block)) for block in given] == [1, 2, 0]


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "markdown_text"},
        {"type": "task_update", "id": "1", "title": "t" * 257, "status": "complete"},
        {"type": "task_update", "id": "1", "title": "t"},
        {"type": "plan_update"},
        {"type": "blocks", "blocks": [{"type": "divider"}] * 51},
        {"type": "blocks", "blocks": [{"type": "nope"}]},
        "text",
    ],
)
def test_what_a_chunk_may_not_be(chunk: Any) -> None:
    with pytest.raises(SlackRefusal) as refused:
        check_chunks([chunk])
    assert refused.value.error == "invalid_chunks"
    assert refused.value.details["response_metadata"]["messages"]


def test_chunks_of_every_kind_pass() -> None:
    sources = [{"type": "url", "url": "https://a.example", "text": "a"}]
    task: Json = {"type": "task_update", "id": "1", "title": "t", "status": "pending", "sources": sources}
    blocks: Json = {"type": "blocks", "blocks": [{"type": "divider"}]}
    check_chunks([{"type": "markdown_text", "text": "m"}, task, {"type": "plan_update", "title": "p"}, blocks])
    with pytest.raises(SlackRefusal, match="invalid_chunks"):
        check_chunks("text")


def test_a_modal_with_inputs_needs_a_submit_button() -> None:
    name: Json = {"type": "input", "label": plain("Name"), "element": {"type": "plain_text_input"}}
    modal: Json = {"type": "modal", "title": plain("Hi"), "blocks": [name]}
    assert view_problems(modal) == ["[ERROR] missing required field: submit [json-pointer:/view]"]
    assert view_problems(modal | {"submit": plain("Send")}) == []
    assert view_problems([]) == ["[ERROR] must provide an object [json-pointer:/view]"]
    with pytest.raises(SlackRefusal, match="invalid_arguments"):
        check_view(modal | {"submit": plain("x" * 25)}, "modal")


def test_metadata_has_a_type_and_a_payload() -> None:
    check_metadata(None)
    check_metadata({"event_type": "turn", "event_payload": {}})
    malformed: list[Json] = [{}, {"event_type": "turn"}, {"event_type": "", "event_payload": {}}]
    for wrong in malformed:
        with pytest.raises(SlackRefusal, match="invalid_metadata_format"):
            check_metadata(wrong)

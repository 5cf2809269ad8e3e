"""Interactive elements: what is found, what is reported, what the state of a view holds."""

from typing import Any

import pytest

from app.playground.elements import ElementPick, Entered, chosen, find, missing, placed_elements, state_values, used
from app.playground.refusal import SlackRefusal

Json = dict[str, Any]
OPTIONS: list[Json] = [
    {"text": {"type": "plain_text", "text": each.title()}, "value": each} for each in ("red", "blue")
]


def element(kind: str, **more: Any) -> Json:
    return {"type": kind, "action_id": "entry", **more}


def placed_input(kind: str, *, optional: bool = False, **more: Any) -> Json:
    return {"type": "input", "block_id": "field", "optional": optional, "element": element(kind, **more)}


@pytest.mark.parametrize(
    ("kind", "entered", "expected"),
    [
        ("static_select", "red", {"selected_option": OPTIONS[0]}),
        ("radio_buttons", "blue", {"selected_option": OPTIONS[1]}),
        ("overflow", "red", {"selected_option": OPTIONS[0]}),
        ("checkboxes", ["red", "blue"], {"selected_options": OPTIONS}),
        ("multi_static_select", "red", {"selected_options": OPTIONS[:1]}),
        ("users_select", "U1", {"selected_user": "U1"}),
        ("multi_users_select", ["U1", "U2"], {"selected_users": ["U1", "U2"]}),
        ("conversations_select", "C1", {"selected_conversation": "C1"}),
        ("channels_select", ["C1"], {"selected_channel": "C1"}),
        ("datepicker", "2026-11-29", {"selected_date": "2026-11-29"}),
        ("timepicker", "10:30", {"selected_time": "10:30"}),
        ("datetimepicker", "1764410000", {"selected_date_time": 1764410000}),
        ("plain_text_input", "text", {"value": "text"}),
        ("static_select", None, {"selected_option": None}),
        ("button", None, {}),
    ],
)
def test_each_kind_of_element_has_its_own_field(kind: str, entered: Entered, expected: Json) -> None:
    assert chosen(element(kind, options=OPTIONS), entered) == expected


def test_options_are_found_in_groups_too() -> None:
    grouped = element("static_select", option_groups=[{"label": {}, "options": OPTIONS}])
    assert chosen(grouped, "blue") == {"selected_option": OPTIONS[1]}


def test_an_option_that_is_not_offered_is_refused() -> None:
    with pytest.raises(SlackRefusal, match="option_not_found"):
        chosen(element("static_select", options=OPTIONS), "green")


def test_an_external_menu_offers_anything() -> None:
    selected = chosen(element("external_select"), "green")["selected_option"]
    assert selected["value"] == "green"


def test_elements_are_found_however_deep_they_stand() -> None:
    blocks: list[Json] = [
        {"type": "section", "block_id": "one", "accessory": element("button", value="1")},
        {"type": "container", "child_blocks": [{"type": "actions", "elements": [element("button", value="2")]}]},
    ]
    assert [(each.block_id, each.element["value"]) for each in placed_elements(blocks)] == [
        ("one", "1"),
        ("block-1", "2"),
    ]
    assert find(blocks, ElementPick("entry", value="2")).block_id == "block-1"
    assert find(blocks, ElementPick("entry", block_id="one")).element["value"] == "1"
    with pytest.raises(SlackRefusal, match="action_not_found"):
        find(blocks, ElementPick("entry", block_id="one", value="2"))


def test_an_action_carries_what_the_element_shows_and_what_was_chosen() -> None:
    blocks = [placed_input("static_select", options=OPTIONS, placeholder={"type": "plain_text", "text": "Colour"})]
    pick = ElementPick("entry")
    assert used(find(blocks, pick), pick, "red", "1.2") == {
        "type": "static_select",
        "action_id": "entry",
        "block_id": "field",
        "placeholder": {"type": "plain_text", "text": "Colour"},
        "selected_option": OPTIONS[0],
        "action_ts": "1.2",
    }


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        ("plain_text_input", {"initial_value": "as before"}, {"value": "as before"}),
        ("plain_text_input", {}, {"value": None}),
        ("static_select", {"options": OPTIONS, "initial_option": OPTIONS[1]}, {"selected_option": OPTIONS[1]}),
        ("checkboxes", {"options": OPTIONS}, {"selected_options": []}),
        ("users_select", {"initial_user": "U1"}, {"selected_user": "U1"}),
        ("datetimepicker", {"initial_date_time": 5}, {"selected_date_time": 5}),
    ],
)
def test_an_untouched_element_has_its_initial_state(kind: str, more: Json, expected: Json) -> None:
    assert state_values([placed_input(kind, **more)], {}) == {"field": {"entry": {"type": kind, **expected}}}


def test_buttons_have_no_state() -> None:
    assert state_values([{"type": "actions", "block_id": "a", "elements": [element("button")]}], {}) == {}


def test_an_entry_in_slacks_own_form_is_taken_as_it_is() -> None:
    entry: Json = {"type": "plain_text_input", "value": "exactly"}
    values = state_values([placed_input("plain_text_input")], {"field": {"entry": entry}})
    assert values["field"]["entry"] == entry


@pytest.mark.parametrize(
    ("optional", "value", "complains"), [(False, "", True), (False, "x", False), (True, "", False)]
)
def test_a_required_field_must_be_filled(*, optional: bool, value: str, complains: bool) -> None:
    blocks = [placed_input("plain_text_input", optional=optional)]
    errors = missing(blocks, state_values(blocks, {"field": {"entry": value}}))
    assert bool(errors) == complains
    assert errors.keys() <= {"field"}

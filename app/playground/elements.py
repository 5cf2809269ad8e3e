"""Interactive elements: finding one in blocks, and what Slack reports about it once a person used it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from app.playground.model import Json
from app.playground.refusal import SlackRefusal

Entered = str | Sequence[str] | None
"""What a person chose or typed: text, a date, one option value or id, or several of them."""

_CHOICE: Mapping[str, str] = {
    "static_select": "selected_option",
    "external_select": "selected_option",
    "overflow": "selected_option",
    "radio_buttons": "selected_option",
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "checkboxes": "selected_options",
    "multi_users_select": "selected_users",
    "multi_conversations_select": "selected_conversations",
    "multi_channels_select": "selected_channels",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "plain_text_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "number_input": "value",
}
"""Element type → the field that carries the person's choice, in actions and in ``state.values``."""

_COPIED = ("text", "value", "style", "placeholder", "confirm", "url", "icon")
_SWITCHES = ("feedback_buttons", "overflow")
"""Elements that have no state of their own."""


@dataclass(frozen=True, slots=True)
class ElementPick:
    """Which element is meant; ``block_id`` and ``value`` tell apart those with one ``action_id``."""

    action_id: str
    block_id: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """An element and the block it stands in."""

    block_id: str
    element: Json
    is_required: bool = False
    """In an input block that is not optional."""


def placed_elements(blocks: Sequence[Json]) -> Iterator[Placed]:
    """Every interactive element in reading order, however deep it stands."""
    for index, block in enumerate(blocks):
        block_id = str(block.get("block_id") or f"block-{index}")
        is_required = block.get("type") == "input" and not block.get("optional")
        for element in _elements(block):
            yield Placed(block_id, element, is_required)


def _elements(node: Json) -> Iterator[Json]:
    for value in node.values():
        children = cast("list[object]", value) if isinstance(value, list) else [value]
        for child in children:
            if not isinstance(child, dict):
                continue
            element = cast("Json", child)
            if "action_id" in element:
                yield element
            else:
                yield from _elements(element)


def find(blocks: Sequence[Json], pick: ElementPick) -> Placed:
    """The element that is meant; refuses ``action_not_found`` when a person could not see such a thing."""
    for placed in placed_elements(blocks):
        if placed.element["action_id"] != pick.action_id or pick.block_id not in (None, placed.block_id):
            continue
        if pick.value is None or pick.value in _values(placed.element):
            return placed
    raise SlackRefusal("action_not_found")


def _values(element: Json) -> set[str]:
    buttons = [element, element.get("positive_button", {}), element.get("negative_button", {})]
    return {button["value"] for button in buttons if "value" in button}


def used(placed: Placed, pick: ElementPick, entered: Entered, action_ts: str) -> Json:
    """One entry of ``actions`` in a block_actions payload."""
    element = placed.element
    action: Json = {"type": element["type"], "action_id": element["action_id"], "block_id": placed.block_id}
    if element["type"] == "feedback_buttons":
        action |= _feedback(element, pick)
    else:
        action |= {name: element[name] for name in _COPIED if name in element}
        action |= chosen(element, entered)
    return action | {"action_ts": action_ts}


def _feedback(element: Json, pick: ElementPick) -> Json:
    buttons: list[Json] = [element["positive_button"], element["negative_button"]]
    button = next((button for button in buttons if button.get("value") == pick.value), buttons[0])
    return {"text": button["text"], "value": button.get("value")}


def chosen(element: Json, entered: Entered) -> Json:
    """The field that carries the choice, empty for buttons; refuses ``option_not_found``."""
    field = _CHOICE.get(element["type"])
    if field is None:
        return {}
    if field.endswith("s"):
        several = [entered] if isinstance(entered, str) else list(entered or ())
        return {field: [_option(element, one) for one in several] if field == "selected_options" else several}
    one = entered if isinstance(entered, str) or entered is None else next(iter(entered), None)
    if one is None or field == "value":
        return {field: one}
    if field == "selected_date_time":
        return {field: int(one)}
    return {field: _option(element, one) if field == "selected_option" else one}


def _option(element: Json, value: str) -> Json:
    options: list[Json] = list(element.get("options", ()))
    for group in element.get("option_groups", ()):
        options += group["options"]
    for option in options:
        if option.get("value") == value:
            return option
    if element["type"].endswith("external_select"):
        return {"text": {"type": "plain_text", "text": value, "emoji": True}, "value": value}
    raise SlackRefusal("option_not_found")


def state_values(blocks: Sequence[Json], entered: Mapping[str, Mapping[str, object]]) -> Json:
    """``state.values``: every stateful element with what was entered, or else its initial value.

    An entry may also be given in Slack's own form (an object with a ``type``), and is then taken as it is.
    """
    values: Json = {}
    for placed in placed_elements(blocks):
        element = placed.element
        if element["type"] not in _CHOICE or element["type"] in _SWITCHES:
            continue
        given = entered.get(placed.block_id, {})
        entry = _entry(element, given) if element["action_id"] in given else initial(element)
        values.setdefault(placed.block_id, {})[element["action_id"]] = entry
    return values


def _entry(element: Json, given: Mapping[str, object]) -> Json:
    value = given[element["action_id"]]
    if isinstance(value, dict):
        return cast("Json", value)
    return {"type": element["type"]} | chosen(element, cast("Entered", value))


def initial(element: Json) -> Json:
    """The state of an element nobody touched."""
    field = _CHOICE[element["type"]]
    value = element.get("initial_" + field.removeprefix("selected_"))
    return {"type": element["type"], field: [] if value is None and field.endswith("s") else value}


def missing(blocks: Sequence[Json], values: Json) -> Json:
    """Slack's own complaint, by block_id, about required inputs that were left empty."""
    return {
        placed.block_id: "Please complete this required field."
        for placed in placed_elements(blocks)
        if placed.is_required and _is_empty(values.get(placed.block_id, {}).get(placed.element["action_id"]))
    }


def _is_empty(entry: Json | None) -> bool:
    return entry is not None and not any(value for name, value in entry.items() if name != "type")

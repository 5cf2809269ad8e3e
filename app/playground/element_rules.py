"""PURE. The interactive elements of Block Kit and their limits, as Slack's reference gives them."""

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
    shape,
    string,
)

_ACTION_ID = {"action_id": string(255)}
_URL = string(3000)
_CONFIRM = shape(
    {"title": plain_text(100), "text": any_text(300), "confirm": plain_text(30), "deny": plain_text(30)},
    {"style": one_of("primary", "danger")},
)
_OPTION = shape({"text": any_text(75), "value": string(150)}, {"description": any_text(75), "url": _URL})
_OPTION_GROUP = shape({"label": plain_text(75), "options": items(_OPTION, 100)})
_PLACEHOLDER: dict[str, Rule] = {**_ACTION_ID, "placeholder": plain_text(150), "focus_on_load": flag}
_MENU: dict[str, Rule] = {**_PLACEHOLDER, "confirm": _CONFIRM}
_IMAGE = shape({"alt_text": string(2000)}, {"image_url": _URL, "slack_file": anything})

_BUTTON = shape(
    {"text": plain_text(75)},
    {
        **_ACTION_ID,
        "url": _URL,
        "value": string(2000, 0),
        "style": one_of("primary", "danger"),
        "confirm": _CONFIRM,
        "accessibility_label": string(75),
        "agent_prompt": string(4000),
    },
)
_FEEDBACK_BUTTON = shape({"text": plain_text(75), "value": string(2000)}, {"accessibility_label": string(75)})
_FEEDBACK_BUTTONS = shape({"positive_button": _FEEDBACK_BUTTON, "negative_button": _FEEDBACK_BUTTON}, _ACTION_ID)
_ICON_BUTTON = shape(
    {"icon": one_of("trash"), "text": plain_text(75)},
    {
        **_ACTION_ID,
        "value": string(2000),
        "confirm": _CONFIRM,
        "accessibility_label": string(75),
        "visible_to_user_ids": items(string(), 100),
    },
)
_STATIC_MENU = either(
    ("options", "option_groups"),
    shape({}, {**_MENU, "options": items(_OPTION, 100), "option_groups": items(_OPTION_GROUP, 100)}),
)
_CHOICES = shape({"options": items(_OPTION, 10)}, {**_ACTION_ID, "confirm": _CONFIRM, "focus_on_load": flag})
_OVERFLOW = shape({"options": items(_OPTION, 5)}, {**_ACTION_ID, "confirm": _CONFIRM})
_DYNAMIC_MENU = shape({}, _MENU)
_TYPED = shape({}, _PLACEHOLDER)
_TEXT_INPUT = shape({}, {**_PLACEHOLDER, "multiline": flag, "initial_value": string(3000, 0)})

_MENUS: dict[str, Rule] = {
    "static_select": _STATIC_MENU,
    "multi_static_select": _STATIC_MENU,
    **{
        f"{prefix}{source}_select": _DYNAMIC_MENU
        for prefix in ("", "multi_")
        for source in ("external", "users", "conversations", "channels")
    },
}
_PICKERS: dict[str, Rule] = {
    "datepicker": _DYNAMIC_MENU,
    "timepicker": _DYNAMIC_MENU,
    "datetimepicker": _DYNAMIC_MENU,
    "checkboxes": _CHOICES,
    "radio_buttons": _CHOICES,
}
_BUTTONS: dict[str, Rule] = {
    "button": _BUTTON,
    "workflow_button": shape({"text": plain_text(75), "workflow": anything}, _ACTION_ID),
    "overflow": _OVERFLOW,
}
_TYPED_INPUTS: dict[str, Rule] = {
    "plain_text_input": _TEXT_INPUT,
    "email_text_input": _TYPED,
    "url_text_input": _TYPED,
    "number_input": shape({"is_decimal_allowed": flag}, _PLACEHOLDER),
    "rich_text_input": _TYPED,
    "file_input": shape({}, _ACTION_ID),
}

IMAGE = _IMAGE
BUTTON = by_type({"button": _BUTTON})
SECTION_ACCESSORY = by_type({**_BUTTONS, **_MENUS, **_PICKERS, "image": _IMAGE})
ACTION_ELEMENT = by_type({**_BUTTONS, **_MENUS, **_PICKERS, "rich_text_input": _TYPED})
INPUT_ELEMENT = by_type({**_MENUS, **_PICKERS, **_TYPED_INPUTS})
CONTEXT_ELEMENT = by_type({"image": _IMAGE, "plain_text": any_text(3000), "mrkdwn": any_text(3000)})
CONTEXT_ACTION = by_type({"feedback_buttons": _FEEDBACK_BUTTONS, "icon_button": _ICON_BUTTON})

"""Modals, the Home tab and shortcuts in the playground, answered by a real Bolt app over Socket Mode."""

from typing import Any

from app.playground.model import View
from app.playground.seed import ALICE, BOT_USER, GENERAL
from app.playground.server import Playground
from tests.bolt_bots import (
    Listener,
    Register,
    all_of,
    on_action,
    on_event,
    on_shortcut,
    on_view,
    on_view_closed,
    playing,
    taking,
)

Json = dict[str, Any]
MODAL: Json = {
    "type": "modal",
    "callback_id": "edit",
    "private_metadata": "kept",
    "title": {"type": "plain_text", "text": "Edit"},
    "submit": {"type": "plain_text", "text": "Save"},
    "notify_on_close": True,
    "blocks": [
        {
            "type": "input",
            "block_id": "name",
            "label": {"type": "plain_text", "text": "Name"},
            "element": {"type": "plain_text_input", "action_id": "entry"},
        },
        {
            "type": "input",
            "block_id": "note",
            "optional": True,
            "label": {"type": "plain_text", "text": "Note"},
            "element": {"type": "plain_text_input", "action_id": "entry", "initial_value": "as before"},
        },
    ],
}
SECOND: Json = MODAL | {"callback_id": "second", "blocks": MODAL["blocks"][1:]}
HOME: Json = {
    "type": "home",
    "blocks": [
        {
            "type": "actions",
            "block_id": "settings",
            "elements": [{"type": "button", "action_id": "reset", "text": {"type": "plain_text", "text": "Reset"}}],
        }
    ],
}


def opening(view: Json = MODAL) -> Register:
    async def open_it(ack: Any, body: Json, client: Any) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    return on_shortcut("edit_shortcut", open_it)


def submitted(bodies: list[Json], **answer: Any) -> Listener:
    async def submit(ack: Any, body: Json) -> None:
        bodies.append(body)
        await ack(**answer)

    return submit


async def shown_modal(playground: Playground) -> View:
    await playground.people.shortcut(ALICE, "edit_shortcut")
    await playground.wait_for(lambda: playground.workspace.views)
    return next(iter(playground.workspace.views.values()))


async def test_a_shortcut_opens_a_modal_with_its_trigger() -> None:
    async with playing(opening()) as playground:
        view = await shown_modal(playground)
        payload = playground.delivery.log[0].payload
    assert (payload["type"], payload["callback_id"]) == ("shortcut", "edit_shortcut")
    assert view.user == ALICE
    assert view.payload["callback_id"] == "edit"


async def test_a_submission_carries_what_was_entered_and_closes_the_modal() -> None:
    bodies: list[Json] = []
    async with playing(all_of(opening(), on_view("edit", submitted(bodies)))) as playground:
        view = await shown_modal(playground)
        errors = await playground.people.submit_view(ALICE, view.id, {"name": {"entry": "Ada"}})
        remaining = dict(playground.workspace.views)
    assert errors is None
    assert remaining == {}
    assert bodies[0]["view"]["private_metadata"] == "kept"
    assert bodies[0]["view"]["state"]["values"] == {
        "name": {"entry": {"type": "plain_text_input", "value": "Ada"}},
        "note": {"entry": {"type": "plain_text_input", "value": "as before"}},
    }


async def test_errors_of_the_app_keep_the_modal_open() -> None:
    bodies: list[Json] = []
    refusing = submitted(bodies, response_action="errors", errors={"name": "taken"})
    async with playing(all_of(opening(), on_view("edit", refusing))) as playground:
        view = await shown_modal(playground)
        errors = await playground.people.submit_view(ALICE, view.id, {"name": {"entry": "Ada"}})
        still_open = view.id in playground.workspace.views
    assert errors == {"name": "taken"}
    assert still_open


async def test_an_empty_required_field_is_refused_before_the_app_is_asked() -> None:
    bodies: list[Json] = []
    async with playing(all_of(opening(), on_view("edit", submitted(bodies)))) as playground:
        view = await shown_modal(playground)
        errors = await playground.people.submit_view(ALICE, view.id, {})
    assert errors is not None
    assert errors.keys() == {"name"}
    assert bodies == []


async def test_a_submission_may_update_the_modal() -> None:
    updating = submitted([], response_action="update", view=SECOND)
    async with playing(all_of(opening(), on_view("edit", updating))) as playground:
        view = await shown_modal(playground)
        assert await playground.people.submit_view(ALICE, view.id, {"name": {"entry": "Ada"}}) is None
        shown = playground.workspace.views[view.id]
    assert shown.payload["callback_id"] == "second"


async def test_a_submission_may_push_a_modal_and_the_next_one_clear_them_all() -> None:
    pushing = submitted([], response_action="push", view=SECOND)
    clearing = submitted([], response_action="clear")
    register = all_of(opening(), on_view("edit", pushing), on_view("second", clearing))
    async with playing(register) as playground:
        view = await shown_modal(playground)
        await playground.people.submit_view(ALICE, view.id, {"name": {"entry": "Ada"}})
        stack = list(playground.workspace.views.values())
        await playground.people.submit_view(ALICE, stack[1].id, {})
        remaining = dict(playground.workspace.views)
    assert [each.payload["callback_id"] for each in stack] == ["edit", "second"]
    assert stack[1].previous_id == view.id
    assert remaining == {}


async def test_closing_a_modal_is_told_to_an_app_that_asked_for_it() -> None:
    bodies: list[Json] = []
    async with playing(all_of(opening(), on_view_closed("edit", taking(bodies)))) as playground:
        view = await shown_modal(playground)
        await playground.people.close_view(ALICE, view.id)
        await playground.wait_for(lambda: bodies)
        remaining = dict(playground.workspace.views)
    assert remaining == {}
    assert bodies[0]["view"]["id"] == view.id
    assert bodies[0]["is_cleared"] is False


async def test_the_home_tab_is_published_opened_again_with_its_view_and_clicked() -> None:
    opened: list[Json] = []
    clicks: list[Json] = []

    async def publish(event: Json, client: Any) -> None:
        opened.append(event)
        await client.views_publish(user_id=event["user"], view=HOME)

    register = all_of(on_event("app_home_opened", publish), on_action("reset", taking(clicks)))
    async with playing(register) as playground:
        playground.people.open_home(ALICE)
        await playground.wait_for(lambda: ALICE in playground.workspace.home_views)
        playground.people.open_home(ALICE)
        await playground.wait_for(lambda: len(opened) == 2)
        view = playground.workspace.home_views[ALICE]
        await playground.people.click_in_view(ALICE, view.id, "reset")
        await playground.wait_for(lambda: clicks)
    assert "view" not in opened[0]
    assert opened[1]["view"]["type"] == "home"
    assert clicks[0]["container"] == {"type": "view", "view_id": view.id}
    assert clicks[0]["actions"][0]["block_id"] == "settings"


async def test_the_messages_tab_is_told_without_a_view() -> None:
    opened: list[Json] = []

    async def take(event: Json) -> None:
        opened.append(event)

    async with playing(on_event("app_home_opened", take)) as playground:
        playground.people.open_home(ALICE, tab="messages")
        await playground.wait_for(lambda: opened)
        dm = playground.people.open_dm(ALICE, BOT_USER)
    assert (opened[0]["tab"], opened[0]["channel"]) == ("messages", dm.id)
    assert "view" not in opened[0]


async def test_a_message_shortcut_carries_the_message() -> None:
    bodies: list[Json] = []
    async with playing(on_shortcut("ask_about", taking(bodies))) as playground:
        message = playground.people.say(ALICE, GENERAL, "what is this?")
        await playground.people.message_shortcut(ALICE, GENERAL, message.ts, "ask_about")
        await playground.wait_for(lambda: bodies)
    assert (bodies[0]["type"], bodies[0]["message_ts"]) == ("message_action", message.ts)
    assert bodies[0]["message"]["text"] == "what is this?"
    assert bodies[0]["channel"] == {"id": GENERAL, "name": "general"}

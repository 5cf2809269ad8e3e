"""Field for field: every event and interaction payload the playground sends has the fields Slack's have."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from app.playground.modals import open_modal
from app.playground.model import Message
from app.playground.seed import ALICE, APP_ID, BOB, BOT_ID, BOT_USER, GENERAL, RANDOM
from app.playground.server import Playground, open_playground
from app.playground.workspace import PostOptions
from tests.bolt_bots import ephemerals, recording, slack_api

Json = dict[str, Any]

OUTER = (
    "token:str team_id:str context_team_id:str context_enterprise_id:None api_app_id:str event:dict type:str"
    " event_id:str event_time:int authorizations:list is_ext_shared_channel:bool event_context:str"
)
AUTHORIZATION = "enterprise_id:None team_id:str user_id:str is_bot:bool is_enterprise_install:bool"
SAID = "type:str user:str text:str ts:str team:str client_msg_id:str blocks:list"
MESSAGE = f"{SAID} channel:str event_ts:str channel_type:str"
REPLY = f"{MESSAGE} thread_ts:str parent_user_id:str"
HIDDEN = "type:str subtype:str channel:str hidden:bool ts:str event_ts:str channel_type:str"
EVENTS = {
    "app_mention": f"{SAID} channel:str event_ts:str",
    "message": MESSAGE,
    "reply": REPLY,
    "thread_broadcast": f"{REPLY} subtype:str root:dict",
    "file_share": f"{MESSAGE} subtype:str files:list upload:bool display_as_bot:bool",
    "bot message": "type:str user:str text:str ts:str team:str bot_id:str app_id:str bot_profile:dict"
    " channel:str event_ts:str channel_type:str",
    "message_changed": f"{HIDDEN} message:dict previous_message:dict",
    "message_deleted": f"{HIDDEN} deleted_ts:str previous_message:dict",
    "reaction_added": "type:str user:str reaction:str item:dict item_user:str event_ts:str",
    "reaction_removed": "type:str user:str reaction:str item:dict item_user:str event_ts:str",
    "member_joined_channel": "type:str user:str channel:str channel_type:str team:str event_ts:str inviter:str",
    "member_left_channel": "type:str user:str channel:str channel_type:str team:str event_ts:str",
    "channel_left": "type:str channel:str event_ts:str",
    "file_shared": "type:str file_id:str user_id:str file:dict channel_id:str event_ts:str",
    "app_home_opened": "type:str user:str channel:str tab:str event_ts:str view:dict",
    "agent_session_stopped": "type:str channel:str user:str thread_ts:str streaming_message_ts:list event_ts:str",
}
INSIDE = {
    "message_changed.message": f"{SAID} edited:dict source_team:str user_team:str",
    "message_changed.previous_message": SAID,
    "message_deleted.previous_message": f"{SAID} edited:dict",
    "reaction_added.item": "type:str channel:str ts:str",
    "file_shared.file": "id:str",
    "thread_broadcast.root": "type:str user:str text:str ts:str thread_ts:str reply_count:int reply_users:list"
    " reply_users_count:int latest_reply:str is_locked:bool subscribed:bool",
}
INTERACTION = "type:str user:dict api_app_id:str token:str team:dict enterprise:None is_enterprise_install:bool"
INTERACTIONS = {
    "message click": f"{INTERACTION} container:dict trigger_id:str channel:dict message:dict state:dict"
    " response_url:str actions:list",
    "ephemeral click": f"{INTERACTION} container:dict trigger_id:str channel:dict state:dict response_url:str"
    " actions:list",
    "view click": f"{INTERACTION} container:dict trigger_id:str view:dict state:dict actions:list",
    "view_submission": f"{INTERACTION} trigger_id:str view:dict response_urls:list",
    "view_closed": f"{INTERACTION} view:dict is_cleared:bool",
    "shortcut": f"{INTERACTION} callback_id:str trigger_id:str action_ts:str",
    "message_action": f"{INTERACTION} callback_id:str trigger_id:str action_ts:str message_ts:str channel:dict"
    " message:dict response_url:str",
    "slash": "token:str team_id:str team_domain:str channel_id:str channel_name:str user_id:str user_name:str"
    " command:str text:str api_app_id:str is_enterprise_install:str response_url:str trigger_id:str",
}
VIEW = (
    "id:str team_id:str type:str blocks:list private_metadata:str callback_id:str state:dict hash:str title:dict"
    " clear_on_close:bool notify_on_close:bool close:None submit:None submit_disabled:bool previous_view_id:None"
    " root_view_id:str app_id:str external_id:str app_installed_team_id:str bot_id:str"
)
BUTTON: Json = {"type": "button", "action_id": "yes", "text": {"type": "plain_text", "text": "Yes"}, "value": "y"}
BLOCKS: list[Json] = [{"type": "actions", "block_id": "choice", "elements": [BUTTON]}]
MODAL: Json = {
    "type": "modal",
    "callback_id": "edit",
    "title": {"type": "plain_text", "text": "Edit"},
    "notify_on_close": True,
    "blocks": BLOCKS,
}


def shape(payload: Json) -> set[str]:
    return {f"{name}:{'None' if value is None else type(value).__name__}" for name, value in payload.items()}


def table(fields: str) -> set[str]:
    return set(fields.split())


@pytest.fixture
async def playground() -> AsyncGenerator[Playground]:
    async with open_playground(with_page=False, enforce_rates=False) as opened:
        app = opened.workspace.apps[APP_ID]
        app.events |= {"member_left_channel", "channel_left"}
        yield opened


async def everything_that_happens(playground: Playground) -> None:
    people = playground.people
    root = people.say(ALICE, GENERAL, f"<@{BOT_USER}> hello")
    reply = people.say(BOB, GENERAL, "a reply", thread_ts=root.ts)
    people.say(BOB, GENERAL, "for all", thread_ts=root.ts, broadcast=True)
    lone = people.say(ALICE, GENERAL, "a remark")
    people.edit(ALICE, GENERAL, lone.ts, "a better remark")
    people.delete(ALICE, GENERAL, lone.ts)
    people.react(ALICE, GENERAL, reply.ts, "eyes")
    people.unreact(ALICE, GENERAL, reply.ts, "eyes")
    people.say(ALICE, GENERAL, "a file", files=[people.upload(ALICE, "a.txt", b"text").id])
    author = PostOptions(bot_id=BOT_ID, app_id=APP_ID)
    playground.workspace.post(GENERAL, BOT_USER, "I am a bot", options=author)
    people.invite(ALICE, RANDOM, BOT_USER)
    people.leave(BOB, RANDOM)
    playground.workspace.leave(RANDOM, BOT_USER)
    people.stop(ALICE, GENERAL, root.ts)
    await slack_api(playground).views_publish(user_id=ALICE, view={"type": "home", "blocks": []})
    people.open_home(ALICE)


def named(events: list[Json]) -> dict[str, Json]:
    """Each event under what tells it apart."""
    found: dict[str, Json] = {}
    for event in events:
        name = str(event["type"])
        if name == "message":
            plain = "bot message" if "bot_id" in event else "reply" if "thread_ts" in event else "message"
            name = str(event.get("subtype") or plain)
        found.setdefault(name, event)
    return found


async def test_every_event_has_slacks_fields(playground: Playground) -> None:
    async with recording(playground) as payloads:
        await everything_that_happens(playground)
        await playground.wait_for(lambda: playground.delivery.under_way == 0)
    events = named([payload["event"] for payload in payloads])
    assert {name: shape(events[name]) for name in EVENTS} == {name: table(EVENTS[name]) for name in EVENTS}
    assert events.keys() - EVENTS.keys() <= {"channel_join", "channel_leave", "bot_add"}
    for path, fields in INSIDE.items():
        name, _, field = path.partition(".")
        assert shape(events[name][field]) == table(fields), path


async def test_every_event_comes_in_slacks_envelope(playground: Playground) -> None:
    async with recording(playground) as payloads:
        await everything_that_happens(playground)
        await playground.wait_for(lambda: playground.delivery.under_way == 0)
    assert len({payload["event_id"] for payload in payloads}) == len(payloads)
    for payload in payloads:
        assert shape(payload) == table(OUTER)
        assert [shape(each) for each in payload["authorizations"]] == [table(AUTHORIZATION)]
        assert payload["authorizations"][0]["user_id"] == BOT_USER
        assert payload["type"] == "event_callback"


async def every_interaction(playground: Playground) -> None:
    people, workspace = playground.people, playground.workspace
    seen = ephemerals(playground)
    message = playground_message(playground)
    await slack_api(playground).chat_postEphemeral(channel=GENERAL, user=ALICE, text="choose", blocks=BLOCKS)
    await people.click(ALICE, GENERAL, message.ts, "yes")
    await people.click(ALICE, GENERAL, seen[0].ts, "yes")
    view = open_modal(workspace, ALICE, APP_ID, MODAL)
    await people.click_in_view(ALICE, view.id, "yes")
    await people.submit_view(ALICE, view.id)
    await people.close_view(ALICE, open_modal(workspace, ALICE, APP_ID, MODAL).id)
    await people.shortcut(ALICE, "edit")
    await people.message_shortcut(ALICE, GENERAL, message.ts, "ask")
    await people.slash(ALICE, GENERAL, "/memory", "list")


def playground_message(playground: Playground) -> Message:
    options = PostOptions(bot_id=BOT_ID, app_id=APP_ID, blocks=BLOCKS)
    return playground.workspace.post(GENERAL, BOT_USER, "choose", options=options)


async def test_every_interaction_has_slacks_fields(playground: Playground) -> None:
    async with recording(playground):
        await every_interaction(playground)
        await playground.wait_for(lambda: playground.delivery.under_way == 0)
    sent = [entry.payload for entry in playground.delivery.log if entry.type != "events_api"]
    assert [shape(payload) for payload in sent] == [table(fields) for fields in INTERACTIONS.values()]
    views = [payload["view"] for payload in sent if "view" in payload]
    assert [shape(view) for view in views] == [table(VIEW)] * 3


PARTS: list[tuple[Callable[[Json], Json], str]] = [
    (lambda click: click["user"], "id:str username:str name:str team_id:str"),
    (lambda click: click["team"], "id:str domain:str"),
    (lambda click: click["channel"], "id:str name:str"),
    (lambda click: click["container"], "type:str message_ts:str channel_id:str is_ephemeral:bool"),
    (lambda click: click["actions"][0], "type:str action_id:str block_id:str text:dict value:str action_ts:str"),
    (lambda click: click["state"], "values:dict"),
]


@pytest.mark.parametrize(("part", "fields"), PARTS)
async def test_the_parts_of_a_click_have_slacks_fields(
    playground: Playground, part: Callable[[Json], Json], fields: str
) -> None:
    async with recording(playground):
        message = playground_message(playground)
        await playground.people.click(ALICE, GENERAL, message.ts, "yes")
    click = next(entry.payload for entry in playground.delivery.log if entry.type == "interactive")
    assert shape(part(click)) == table(fields)

"""What people do on the page, over real sockets: every action, and how bad ones are refused."""

import base64
from typing import Any

import pytest

from app.playground.modals import open_modal, publish_home
from app.playground.model import Json
from app.playground.page_state import PageShortcut, PageState
from app.playground.seed import ADA, ALICE, APP_ID, BOB, BOT_ID, BOT_USER, GENERAL, RANDOM, SECRET
from app.playground.talk import PostOptions
from tests.page_client import PageClient, page_client, socket_app

BUTTON: Json = {"type": "button", "action_id": "go", "value": "now", "text": {"type": "plain_text", "text": "Go"}}
INPUT: Json = {
    "type": "input",
    "block_id": "fact",
    "label": {"type": "plain_text", "text": "Fact"},
    "element": {"type": "plain_text_input", "action_id": "text"},
}
MODAL: Json = {
    "type": "modal",
    "callback_id": "remember",
    "title": {"type": "plain_text", "text": "Remember"},
    "submit": {"type": "plain_text", "text": "Save"},
    "blocks": [INPUT],
}


def _messages(client: PageClient, channel: str) -> list[str]:
    return [message.text for message in client.playground.workspace.messages.get(channel, {}).values()]


async def test_saying_editing_reacting_and_deleting() -> None:
    async with page_client() as client:
        said = await client.act("say", ALICE, channel=GENERAL, text=f"hi <@{BOT_USER}>")
        ts = said["ts"]
        await client.act("edit", ALICE, channel=GENERAL, ts=ts, text="hello")
        await client.act("react", BOB, channel=GENERAL, ts=ts, name="eyes")
        message = client.playground.workspace.message(GENERAL, ts)
        assert (message.text, message.reactions) == ("hello", {"eyes": [BOB]})
        await client.act("unreact", BOB, channel=GENERAL, ts=ts, name="eyes")
        assert message.reactions == {}
        assert (await client.act("delete", ALICE, channel=GENERAL, ts=ts))["status"] == 200
        assert _messages(client, GENERAL) == []


async def test_replying_in_a_thread_and_to_the_channel_as_well() -> None:
    async with page_client() as client:
        root = await client.act("say", ALICE, channel=GENERAL, text="root")
        await client.act("say", BOB, channel=GENERAL, text="reply", thread_ts=root["ts"], broadcast=True)
        state = await client.state(ADA)
    reply = state["messages"][GENERAL][1]
    assert (reply["thread_ts"], reply["is_broadcast"]) == (root["ts"], True)


async def test_joining_leaving_inviting_and_creating_channels() -> None:
    async with page_client() as client:
        workspace = client.playground.workspace
        await client.act("leave", BOB, channel=RANDOM)
        assert BOB not in workspace.channels[RANDOM].members
        await client.act("join", BOB, channel=RANDOM)
        await client.act("invite", BOB, channel=RANDOM, invited=BOT_USER)
        assert {BOB, BOT_USER} <= workspace.channels[RANDOM].members
        created = await client.act("create_channel", BOB, name="plan-budget", private=True)
        assert workspace.channels[created["channel"]].members == {BOB}


async def test_writing_to_one_person_and_to_several() -> None:
    async with page_client() as client:
        one = await client.act("open_dm", ALICE, others=[BOT_USER])
        several = await client.act("open_dm", ALICE, others=[BOB, ADA])
        channels = client.playground.workspace.channels
        assert channels[one["channel"]].members == {ALICE, BOT_USER}
        assert channels[several["channel"]].members == {ALICE, BOB, ADA}


async def test_an_uploaded_file_is_shared_and_read_by_those_who_see_the_channel() -> None:
    async with page_client() as client:
        content = base64.b64encode(b"a,b\n1,2\n").decode()
        file = (await client.act("upload", ALICE, name="figures.csv", content_base64=content))["file"]
        url = f"{client.playground.base_url}/playground/files/{file}"
        async with client.session.get(url, params={"user": ADA}) as unshared:
            assert unshared.status == 404
        await client.act("say", ALICE, channel=SECRET, text="the figures", files=[file])
        async with client.session.get(url, params={"user": ADA}) as shared:
            assert await shared.read() == b"a,b\n1,2\n"
        async with client.session.get(url, params={"user": BOB}) as elsewhere:
            assert elsewhere.status == 404
        state = await client.state(ADA)
    assert state["messages"][SECRET][0]["files"][0]["name"] == "figures.csv"


@pytest.mark.parametrize(
    ("name", "disposition", "kind"),
    [("a.png", "inline", "image/png"), ("a.svg", "attachment", "application/octet-stream")],
)
async def test_only_harmless_files_open_in_the_browser(name: str, disposition: str, kind: str) -> None:
    async with page_client() as client:
        content = base64.b64encode(b"<svg onload=alert(1)>").decode()
        file = (await client.act("upload", ALICE, name=name, content_base64=content))["file"]
        url = f"{client.playground.base_url}/playground/files/{file}"
        async with client.session.get(url, params={"user": ALICE}) as answer:
            assert (answer.headers["Content-Disposition"], answer.content_type) == (disposition, kind)
            assert "sandbox" in answer.headers["Content-Security-Policy"]


async def test_uploads_may_be_larger_than_other_requests() -> None:
    async with page_client() as client:
        content = base64.b64encode(bytes(3_000_000)).decode()
        answer = await client.act("upload", ALICE, name="big.bin", content_base64=content)
        assert client.playground.workspace.files[answer["file"]].size == 3_000_000


async def test_clicks_commands_shortcuts_and_the_home_reach_the_app() -> None:
    async with page_client() as client, socket_app(client) as app:
        blocks: list[Json] = [{"type": "actions", "block_id": "b", "elements": [BUTTON]}]
        options = PostOptions(bot_id=BOT_ID, app_id=APP_ID, blocks=blocks)
        ts = client.playground.workspace.post(GENERAL, BOT_USER, "?", options=options).ts
        view = publish_home(client.playground.workspace, ALICE, APP_ID, {"type": "home", "blocks": blocks})
        place: Json = {"channel": GENERAL, "ts": ts}
        answers = [
            await client.act("click", ALICE, **place, action_id="go", block_id="b", value="now"),
            await client.act("click_in_view", ALICE, view_id=view.id, action_id="go", block_id="b", value="now"),
            await client.act("slash", ALICE, channel=GENERAL, command="/memory", text="list"),
            await client.act("shortcut", ALICE, callback_id="new_memory"),
            await client.act("message_shortcut", ALICE, **place, callback_id="remember_this"),
            await client.act("open_home", ALICE, app_id=APP_ID),
        ]
        clicks = app.interactions("block_actions")
        await client.playground.wait_for(lambda: len(app.heard) >= 6)
    assert [answer["status"] for answer in answers] == [200] * 6
    assert [click["actions"][0]["value"] for click in clicks] == ["now", "now"]
    assert "view" in clicks[1]
    assert app.interactions("shortcut")[0]["callback_id"] == "new_memory"
    assert app.interactions("message_action")[0]["message"]["ts"] == ts
    assert [one["payload"]["command"] for one in app.heard if one["type"] == "slash_commands"] == ["/memory"]


async def test_a_modal_shows_the_errors_of_the_app_and_closes_without_any() -> None:
    async with page_client() as client, client.following(ALICE) as alice, socket_app(client) as app:
        view = open_modal(client.playground.workspace, ALICE, APP_ID, MODAL)
        assert (await alice.next_of("modal"))["view"]["id"] == view.id
        assert [shown["id"] for shown in (await client.state(ALICE))["modals"]] == [view.id]
        empty = await client.act("submit_view", ALICE, view_id=view.id, values={"fact": {"text": None}})
        app.answer = {"response_action": "errors", "errors": {"fact": "Too vague."}}
        vague = await client.act("submit_view", ALICE, view_id=view.id, values={"fact": {"text": "things"}})
        app.answer = {}
        good = await client.act("submit_view", ALICE, view_id=view.id, values={"fact": {"text": "Tuesdays"}})
        assert (await alice.next_of("modal_closed"))["view_id"] == view.id
    assert list(empty["errors"]) == ["fact"]
    assert vague["errors"] == {"fact": "Too vague."}
    assert good["errors"] is None


async def test_a_cancelled_modal_is_gone() -> None:
    async with page_client() as client:
        view = open_modal(client.playground.workspace, ALICE, APP_ID, MODAL)
        assert (await client.act("close_view", BOB, view_id=view.id))["status"] == 409
        assert (await client.act("close_view", ALICE, view_id=view.id))["status"] == 200
        assert (await client.state(ALICE))["modals"] == []


async def test_stop_reaches_every_page_that_shows_the_thread() -> None:
    async with page_client() as client, client.following(BOB) as bob:
        root = await client.act("say", ALICE, channel=GENERAL, text="work")
        client.playground.workspace.set_session_status(GENERAL, root["ts"], "processing")
        assert (await bob.next_of("session_status"))["status"] == "processing"
        state = await client.state(BOB)
        assert state["session_status"] == [{"channel": GENERAL, "thread_ts": root["ts"], "status": "processing"}]
        await client.act("stop", ALICE, channel=GENERAL, thread_ts=root["ts"])
        assert (await bob.next_of("session_stopped"))["thread_ts"] == root["ts"]


async def test_how_far_somebody_has_read_is_kept_and_only_moves_on() -> None:
    async with page_client() as client:
        for ts in ("5.000001", "3.000001"):
            await client.act("mark_read", ALICE, channel=GENERAL, ts=ts)
        assert (await client.state(ALICE))["read"][GENERAL] == "5.000001"
        assert (await client.state(BOB))["read"][GENERAL] == ""


async def test_shortcuts_of_the_manifest_are_offered() -> None:
    async with page_client() as client:
        shortcut = PageShortcut("Ask about this", "ask_about", is_for_messages=True)
        state = PageState(client.playground.workspace, [shortcut])
        alice = state.person(ALICE)
        assert alice is not None
        seen = state.seen_by(alice)
    assert seen["shortcuts"] == [{"name": "Ask about this", "callback_id": "ask_about", "is_for_messages": True}]


@pytest.mark.parametrize(
    ("kind", "user", "details", "sentence"),
    [
        ("say", BOB, {"channel": SECRET, "text": "let me in"}, "You are not a member of this channel."),
        ("say", BOB, {"channel": "C0NOWHERE1", "text": "?"}, "This channel does not exist, or you are not in it."),
        ("edit", BOB, {"channel": GENERAL, "text": "mine now"}, "You can edit your own messages only."),
        ("delete", BOB, {"channel": GENERAL}, "You can delete your own messages only."),
        ("unreact", BOB, {"channel": GENERAL, "name": "eyes"}, "You had not added this reaction."),
        ("slash", BOB, {"channel": GENERAL, "command": "/nothing"}, "No app in this workspace knows this command."),
        ("slash", BOB, {"channel": GENERAL, "command": "/memory"}, "The app did not hear of it: it is not connected."),
        ("create_channel", BOB, {"name": "general"}, "A channel of this name exists already."),
    ],
)
async def test_what_slack_refuses_is_said_in_a_sentence(kind: str, user: str, details: Json, sentence: str) -> None:
    async with page_client() as client:
        ts = (await client.act("say", ALICE, channel=GENERAL, text="alice's"))["ts"]
        needs_ts = kind in {"edit", "delete", "unreact"}
        answer = await client.act(kind, user, **details, **({"ts": ts} if needs_ts else {}))
    assert (answer["status"], answer["ok"], answer["message"]) == (409, False, sentence)


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ({"type": "say", "user": ALICE, "channel": GENERAL}, 400),
        ({"type": "fly", "user": ALICE}, 400),
        ({"type": "say", "user": ALICE, "channel": GENERAL, "text": "x", "as": "ada"}, 400),
        ({"type": "upload", "user": ALICE, "name": "a", "content_base64": "?!"}, 400),
        ({"type": "create_channel", "user": ALICE, "name": "No Spaces"}, 400),
        ([], 400),
        ({"type": "say", "user": BOT_USER, "channel": GENERAL, "text": "I am a bot"}, 403),
        ({"type": "say", "user": "U0NOBODY01", "channel": GENERAL, "text": "x"}, 403),
    ],
)
async def test_what_makes_no_sense_is_refused_and_changes_nothing(action: Any, status: int) -> None:
    async with page_client() as client:
        url = f"{client.playground.base_url}/playground/actions"
        async with client.session.post(url, json=action) as answer:
            body = await answer.json()
        assert (answer.status, body["ok"]) == (status, False)
        assert body["message"].endswith(".")
        assert _messages(client, GENERAL) == []


async def test_a_form_that_a_foreign_page_could_send_is_refused() -> None:
    async with page_client() as client:
        url = f"{client.playground.base_url}/playground/actions"
        text = f'{{"type": "say", "user": "{ALICE}", "channel": "{GENERAL}", "text": "x"}}'
        async with client.session.post(url, data=text, headers={"Content-Type": "text/plain"}) as answer:
            assert answer.status == 415
        assert _messages(client, GENERAL) == []

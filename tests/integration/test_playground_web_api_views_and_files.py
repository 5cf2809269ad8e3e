"""views.*, files.*, assistant.*, agents.sessions.* and blocks.validate over real sockets."""

from collections.abc import AsyncGenerator

import pytest
from aiohttp import FormData

from app.playground.happenings import (
    FileShared,
    Happening,
    HomePublished,
    MessagePosted,
    ModalShown,
    SessionStatus,
    SuggestedPrompts,
    ThreadStatus,
    ThreadTitle,
)
from app.playground.model import Json
from app.playground.seed import ALICE, BOB, BOT_TOKEN, DEPLOY_BOT_TOKEN, DEPLOYS, GENERAL, RANDOM, SECRET
from app.playground.workspace import PostOptions
from tests.fakes import ManualClock
from tests.playground_api import Api, open_api

MODAL: Json = {"type": "modal", "title": {"type": "plain_text", "text": "Hi"}, "blocks": []}
HOME: Json = {"type": "home", "blocks": [{"type": "divider"}]}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def api(clock: ManualClock) -> AsyncGenerator[Api]:
    async with open_api(clock=clock) as opened:
        yield opened


def heard(api: Api) -> list[Happening]:
    seen: list[Happening] = []
    api.workspace.subscribe(seen.append)
    return seen


async def test_a_trigger_opens_one_modal_within_three_seconds(api: Api, clock: ManualClock) -> None:
    seen = heard(api)
    trigger = api.workspace.triggers.issue(ALICE)
    view = (await api.slack.views_open(trigger_id=trigger, view=MODAL))["view"]
    assert (view["type"], view["root_view_id"], view["app_id"]) == ("modal", view["id"], api.app.id)
    assert [each.view.user for each in seen if isinstance(each, ModalShown)] == [ALICE]
    assert await api.error("views.open", trigger_id=trigger, view=MODAL) == "exchanged_trigger_id"
    late = api.workspace.triggers.issue(ALICE)
    clock.elapsed_s += 3.1
    assert await api.error("views.open", trigger_id=late, view=MODAL) == "expired_trigger_id"
    assert await api.error("views.open", trigger_id="made.up", view=MODAL) == "invalid_trigger_id"


async def test_a_modal_is_updated_with_its_hash_and_stacked_three_high(api: Api) -> None:
    def trigger() -> str:
        return api.workspace.triggers.issue(ALICE)

    named = MODAL | {"external_id": "mine"}
    first = (await api.call("views.open", trigger_id=trigger(), view=named))["view"]
    updated = await api.call("views.update", external_id="mine", hash=first["hash"], view=MODAL)
    assert updated["view"]["id"] == first["id"]
    assert updated["view"]["hash"] != first["hash"]
    stale: Json = {"view_id": first["id"], "hash": first["hash"], "view": MODAL}
    assert await api.error("views.update", **stale) == "hash_conflict"
    assert await api.error("views.update", view_id="V0NOTHING1", view=MODAL) == "not_found"
    assert await api.error("views.update", view_id=first["id"], view=HOME) == "invalid_arguments"
    second = (await api.call("views.push", trigger_id=trigger(), view=MODAL))["view"]
    assert (second["previous_view_id"], second["root_view_id"]) == (first["id"], first["id"])
    assert (await api.call("views.push", trigger_id=trigger(), view=MODAL))["ok"] is True
    assert await api.error("views.push", trigger_id=trigger(), view=MODAL) == "push_limit_reached"
    again = await api.error("views.open", trigger_id=trigger(), view=named)
    assert again == "duplicate_external_id"


async def test_a_home_is_published_and_replaced_for_each_person(api: Api) -> None:
    seen = heard(api)
    first = (await api.slack.views_publish(user_id=ALICE, view=HOME))["view"]
    again = (await api.slack.views_publish(user_id=ALICE, view=HOME, hash=first["hash"]))["view"]
    other = (await api.call("views.publish", user_id=BOB, view=HOME))["view"]
    assert first["id"] == again["id"] != other["id"]
    assert len([each for each in seen if isinstance(each, HomePublished)]) == 3
    nobody = await api.call("views.publish", user_id="U0NOBODY01", view=HOME)
    assert nobody["response_metadata"]["messages"] == ["[ERROR] invalid `user_id`"]
    stale: Json = {"user_id": ALICE, "view": HOME, "hash": first["hash"]}
    assert await api.error("views.publish", **stale) == "hash_conflict"


@pytest.mark.parametrize(
    ("method", "view", "complaint"),
    [
        ("views.publish", MODAL, "must be a valid enum value: home"),
        ("views.publish", None, "missing required field: view"),
        ("views.publish", {"type": "card"}, "must be a valid enum value: modal, home"),
        ("views.open", {"type": "modal", "blocks": []}, "missing required field: title"),
        ("views.open", MODAL | {"private_metadata": "p" * 3001}, "must be less than 3001 characters"),
        ("views.open", MODAL | {"blocks": [{"type": "divider"}] * 101}, "no more than 100 items allowed"),
        ("views.open", MODAL | {"blocks": [{"type": "markdown", "text": "m"}]}, "unsupported type: markdown"),
    ],
)
async def test_what_a_view_may_not_be(api: Api, method: str, view: Json | None, complaint: str) -> None:
    trigger = api.workspace.triggers.issue(ALICE)
    answer = await api.call(method, trigger_id=trigger, user_id=ALICE, view=view)
    assert answer["error"] == "invalid_arguments"
    assert any(complaint in message for message in answer["response_metadata"]["messages"])


async def test_a_view_beyond_250_kilobytes_is_too_large(api: Api) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3000}}
    view = HOME | {"blocks": [section] * 90}
    assert await api.error("views.publish", user_id=ALICE, view=view) == "view_too_large"


async def test_slacks_own_client_uploads_a_file_into_a_thread(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "report?")
    seen = heard(api)
    done = await api.slack.files_upload_v2(
        channel=GENERAL, thread_ts=root.ts, filename="report.md", content="# Report", initial_comment="here"
    )
    file_id = done["file"]["id"]
    posted = next(each.message for each in seen if isinstance(each, MessagePosted))
    assert (posted.text, posted.files, posted.thread_ts) == ("here", [file_id], root.ts)
    assert [each.file_id for each in seen if isinstance(each, FileShared)] == [file_id]
    info = (await api.slack.files_info(file=file_id))["file"]
    assert info["shares"]["public"][GENERAL][0]["ts"] == posted.ts
    assert done["file"]["shares"] == {}
    assert (info["mimetype"], info["size"], info["title"]) == ("text/markdown", 8, "report.md")
    history = await api.slack.conversations_replies(channel=GENERAL, ts=root.ts)
    assert history["messages"][1]["files"][0]["id"] == file_id


async def test_several_files_in_several_channels_are_one_message_in_each(api: Api) -> None:
    await api.slack.files_upload_v2(
        channels=[GENERAL, DEPLOYS],
        file_uploads=[{"filename": "a.txt", "content": "a"}, {"filename": "b.txt", "content": "bb"}],
    )
    for channel in (GENERAL, DEPLOYS):
        assert [len(message.files) for message in api.workspace.messages[channel].values()] == [2]
    listed = await api.call("files.list", channel=GENERAL, count=1)
    assert (len(listed["files"]), listed["paging"]["total"], listed["paging"]["pages"]) == (1, 2, 2)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"filename": "a.txt", "length": 0}, "invalid_arguments"),
        ({"length": 3}, "invalid_arguments"),
        ({"filename": "a.txt", "length": 3, "alt_txt": "x" * 1001}, "alt_txt_too_large"),
        ({"filename": "a.txt", "length": 10**7, "snippet_type": "python"}, "snippet_too_large"),
    ],
)
async def test_what_upload_cannot_be_announced(api: Api, args: Json, error: str) -> None:
    assert await api.error("files.getUploadURLExternal", **args) == error


async def test_an_upload_is_completed_only_by_its_app_with_all_bytes_and_where_the_bot_is(api: Api) -> None:
    announced = await api.call("files.getUploadURLExternal", filename="a.txt", length=3)
    files = [{"id": announced["file_id"]}]
    complete = "files.completeUploadExternal"
    assert await api.error(complete, files=files) == "file_not_found"
    async with api.session.post(announced["upload_url"], data=b"toolong") as response:
        assert response.status == 400
    no_file = FormData({"comment": "abc"}, default_to_multipart=True)
    async with api.session.post(announced["upload_url"], data=no_file) as response:
        assert response.status == 400
    headers = {"Content-Type": "multipart/form-data"}
    async with api.session.post(announced["upload_url"], data=b"abc", headers=headers) as response:
        assert (response.status, await response.text()) == (400, "Malformed form")
    form = FormData()
    form.add_field("file", b"abc", filename="a.txt")
    async with api.session.post(announced["upload_url"], data=form) as response:
        assert (response.status, await response.text()) == (200, "OK - 3")
    async with api.session.post(announced["upload_url"], data=b"abc") as response:
        assert response.status == 404
    assert await api.error(complete, files=[]) == "invalid_arguments"
    assert await api.error(complete, files=files, channels=[GENERAL] * 101) == "too_many_channels"
    assert await api.error(complete, files=files, channel_id=RANDOM) == "not_in_channel"
    assert await api.error(complete, files=files, channel_id=SECRET) == "channel_not_found"
    api.workspace.apps["A0DEPLOY01"].scopes.add("files:write")
    assert await api.error(complete, token=DEPLOY_BOT_TOKEN, files=files) == "file_not_found"
    assert (await api.call(complete, files=files))["files"][0]["id"] == announced["file_id"]
    assert api.workspace.files[announced["file_id"]].content == b"abc"


async def test_a_file_is_downloaded_with_a_bearer_token_and_else_a_login_page_comes(api: Api) -> None:
    file = api.workspace.add_file("photo.png", b"\x89PNG", ALICE)
    api.workspace.post(GENERAL, ALICE, "look", options=PostOptions(files=(file.id,)))
    url = (await api.call("files.info", file=file.id))["file"]["url_private_download"]
    async with api.session.get(url, headers={"Authorization": f"Bearer {BOT_TOKEN}"}) as response:
        assert (response.content_type, await response.read()) == ("image/png", b"\x89PNG")
    for headers in ({}, {"Authorization": "Bearer xoxb-wrong"}):
        async with api.session.get(url, headers=headers) as response:
            assert (response.status, response.content_type) == (200, "text/html")
    api.app.scopes.discard("files:read")
    async with api.session.get(url, headers={"Authorization": f"Bearer {BOT_TOKEN}"}) as response:
        assert response.content_type == "text/html"


async def test_a_file_in_a_channel_the_bot_cannot_see_does_not_exist_for_it(api: Api) -> None:
    file = api.workspace.add_file("salaries.csv", b"1,2", ALICE)
    api.workspace.post(SECRET, ALICE, "", options=PostOptions(files=(file.id,)))
    assert await api.error("files.info", file=file.id) == "file_not_found"
    url = api.origin.file_url(file.id, file.name)
    async with api.session.get(url, headers={"Authorization": f"Bearer {BOT_TOKEN}"}) as response:
        assert response.status == 404


async def test_a_bot_deletes_its_own_files_and_no_others(api: Api) -> None:
    done = await api.slack.files_upload_v2(channel=GENERAL, filename="a.txt", content="a")
    assert (await api.call("files.delete", file=done["file"]["id"]))["ok"] is True
    assert [message.files for message in api.workspace.messages[GENERAL].values()] == [[]]
    theirs = api.workspace.add_file("b.txt", b"b", ALICE)
    api.workspace.post(GENERAL, ALICE, "", options=PostOptions(files=(theirs.id,)))
    assert await api.error("files.delete", file=theirs.id) == "cant_delete_file"


async def test_a_thread_status_is_cleared_by_the_apps_message_and_after_two_minutes(
    api: Api, clock: ManualClock
) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    thread: Json = {"channel_id": GENERAL, "thread_ts": root.ts}
    seen = heard(api)
    await api.slack.assistant_threads_setStatus(**thread, status="is thinking…", loading_messages=["a", "b"])
    assert api.workspace.thread_status[(GENERAL, root.ts)].loading_messages == ("a", "b")
    await api.call("chat.postMessage", channel=GENERAL, thread_ts=root.ts, text="answer")
    assert (GENERAL, root.ts) not in api.workspace.thread_status
    await api.call("assistant.threads.setStatus", **thread, status="is thinking…")
    clock.elapsed_s += 120
    api.workspace.lapse()
    texts = [each.text for each in seen if isinstance(each, ThreadStatus)]
    assert texts == ["is thinking…", "", "is thinking…", ""]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"thread_ts": "1.2"}, "invalid_thread_ts"),
        ({"channel_id": "C0NOWHERE1"}, "channel_not_found"),
        ({"username": "Slackbot"}, "reserved_username"),
        ({"loading_messages": ["x"] * 11}, "invalid_arguments"),
    ],
)
async def test_what_a_status_may_not_be(api: Api, args: Json, error: str) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    given = {"channel_id": GENERAL, "thread_ts": root.ts, "status": "is thinking…"} | args
    assert await api.error("assistant.threads.setStatus", **given) == error


async def test_prompts_and_titles_reach_the_workspace(api: Api) -> None:
    channel = api.workspace.dm_of(ALICE, api.app).id
    root = api.workspace.post(channel, ALICE, "hi")
    seen = heard(api)
    prompts = [{"title": "One", "message": "Do one"}]
    await api.slack.assistant_threads_setSuggestedPrompts(channel_id=channel, prompts=prompts, title="Try")
    await api.slack.assistant_threads_setTitle(channel_id=channel, thread_ts=root.ts, title="A talk")
    assert seen == [
        SuggestedPrompts(channel, None, "Try", tuple(prompts)),
        ThreadTitle(channel, root.ts, "A talk"),
    ]
    five: Json = {"channel_id": channel, "prompts": prompts * 5}
    assert await api.error("assistant.threads.setSuggestedPrompts", **five) == "invalid_arguments"


async def test_agent_sessions_have_a_status_and_a_title(api: Api, clock: ManualClock) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    session: Json = {"channel_id": GENERAL, "thread_ts": root.ts}
    seen = heard(api)
    begun = await api.slack.agents_sessions_setStatus(**session, status="processing", title="Research")
    await api.slack.agents_sessions_rename(**session, title="Deep research")
    assert "warning" not in begun
    clock.elapsed_s += 3600
    api.workspace.lapse()
    assert [each.status for each in seen if isinstance(each, SessionStatus)] == ["processing", "active"]
    assert api.workspace.thread_titles[(GENERAL, root.ts)] == "Deep research"
    assert await api.error("agents.sessions.setStatus", **session, status="busy") == "invalid_arguments"
    too_long = await api.error("agents.sessions.rename", **session, title="t" * 201)
    assert too_long == "invalid_arguments"
    api.app.events.discard("agent_session_stopped")
    warned = await api.call("agents.sessions.setStatus", **session, status="processing")
    assert warned["warning"] == "missing_agent_session_stopped_event_subscription"
    api.app.scopes.discard("assistant:write")
    assert await api.error("agents.sessions.setStatus", **session, status="active") == "not_authorized"


async def test_blocks_are_validated_without_a_token(api: Api) -> None:
    fine = await api.call("blocks.validate", token=None, blocks=[{"type": "divider"}])
    assert fine == {"ok": True}
    wrong = await api.slack.blocks_validate(blocks=[{"type": "divider"}], token=BOT_TOKEN)
    assert wrong["ok"] is True
    bad = await api.call("blocks.validate", token=None, message={"blocks": [{"type": "header"}]})
    assert bad["response_metadata"]["messages"] == [
        "[ERROR] missing required field: text [json-pointer:/message/blocks/0]"
    ]
    assert await api.error("blocks.validate", token=None, view={"type": "home"}) == "invalid_blocks"
    assert await api.error("blocks.validate", token=None) == "invalid_arguments"

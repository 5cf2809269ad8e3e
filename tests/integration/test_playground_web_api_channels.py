"""conversations.*, users.*, reactions.* and pins.* over real sockets."""

import base64
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from app.playground.model import Json
from app.playground.seed import ADA, ALICE, BOB, BOT_USER, DEPLOYS, GENERAL, LEADS, RANDOM, SECRET
from tests.fakes import ManualClock
from tests.playground_api import Api, open_api

MANAGING = ("channels:manage", "groups:write", "mpim:write", "channels:join")


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with open_api(clock=ManualClock()) as opened:
        yield opened


def texts(answer: Json) -> list[str]:
    return [message["text"] for message in answer["messages"]]


async def test_history_shows_the_channel_newest_first_page_by_page(api: Api) -> None:
    for number in range(5):
        api.workspace.post(GENERAL, ALICE, str(number))
    first = await api.call("conversations.history", channel=GENERAL, limit=2)
    assert (texts(first), first["has_more"]) == (["4", "3"], True)
    cursor = first["response_metadata"]["next_cursor"]
    api.workspace.post(GENERAL, ALICE, "later")
    second = await api.call("conversations.history", channel=GENERAL, limit=2, cursor=cursor)
    assert texts(second) == ["2", "1"]
    last = await api.call(
        "conversations.history",
        channel=GENERAL,
        limit=2,
        cursor=second["response_metadata"]["next_cursor"],
    )
    assert (texts(last), last["has_more"]) == (["0"], False)
    assert "response_metadata" not in last


async def test_history_holds_roots_and_broadcast_replies_but_no_other_replies(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "root")
    api.workspace.post(GENERAL, BOB, "hidden", thread_ts=root.ts)
    await api.call("chat.postMessage", channel=GENERAL, text="shown", thread_ts=root.ts, reply_broadcast=1)
    answer = await api.call("conversations.history", channel=GENERAL)
    assert texts(answer) == ["shown", "root"]
    told = answer["messages"][1]
    assert (told["reply_count"], told["reply_users"], told["reply_users_count"]) == (2, [BOB, BOT_USER], 2)
    assert told["latest_reply"] == answer["messages"][0]["ts"]


async def test_history_between_two_moments_with_and_without_the_ends(api: Api) -> None:
    stamps = [api.workspace.post(GENERAL, ALICE, str(number)).ts for number in range(4)]
    span: Json = {"channel": GENERAL, "oldest": stamps[0], "latest": stamps[3]}
    assert texts(await api.call("conversations.history", **span)) == ["2", "1"]
    inclusive = await api.call("conversations.history", **span, inclusive=True)
    assert texts(inclusive) == ["3", "2", "1", "0"]
    whole_seconds = stamps[0].split(".")[0]
    since = await api.call("conversations.history", channel=GENERAL, oldest=whole_seconds, inclusive=True)
    assert len(since["messages"]) == 4
    assert await api.error("conversations.history", channel=GENERAL, oldest="soon") == "invalid_ts_oldest"
    assert await api.error("conversations.history", channel=GENERAL, latest="now") == "invalid_ts_latest"


async def test_replies_come_oldest_first_with_the_root_on_the_first_page_only(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "root")
    replies = [api.workspace.post(GENERAL, BOB, str(number), thread_ts=root.ts) for number in range(4)]
    first = await api.call("conversations.replies", channel=GENERAL, ts=root.ts, limit=3)
    assert (texts(first), first["has_more"]) == (["root", "0", "1"], True)
    cursor = first["response_metadata"]["next_cursor"]
    second = await api.call("conversations.replies", channel=GENERAL, ts=root.ts, limit=3, cursor=cursor)
    assert (texts(second), second["has_more"]) == (["2", "3"], False)
    delta = await api.call("conversations.replies", channel=GENERAL, ts=root.ts, oldest=replies[1].ts)
    assert texts(delta) == ["root", "2", "3"]
    single = await api.call("conversations.replies", channel=GENERAL, ts=replies[0].ts)
    assert texts(single) == ["0"]
    assert await api.error("conversations.replies", channel=GENERAL, ts="1.2") == "thread_not_found"


@pytest.mark.parametrize("method", ["conversations.history", "conversations.replies"])
async def test_a_bot_reads_only_where_it_is_a_member(api: Api, method: str) -> None:
    assert await api.error(method, channel=RANDOM, ts="1.2") == "not_in_channel"
    assert await api.error(method, channel=SECRET, ts="1.2") == "channel_not_found"
    assert await api.error(method, channel="C0NOWHERE1", ts="1.2") == "channel_not_found"


async def test_paging_with_nonsense_is_refused(api: Api) -> None:
    assert await api.error("conversations.history", channel=GENERAL, cursor="?!") == "invalid_cursor"
    assert await api.error("conversations.history", channel=GENERAL, cursor="YWJj") == "invalid_cursor"
    of_history = base64.b64encode(b"next:1.2").decode()
    assert await api.error("users.list", cursor=of_history) == "invalid_cursor"
    assert await api.error("conversations.members", channel=GENERAL, limit="many") == "invalid_limit"
    assert await api.error("users.list", limit=-1) == "invalid_limit"


async def test_channels_are_listed_by_kind_as_the_bot_sees_them(api: Api) -> None:
    api.workspace.dm_of(ALICE, api.app)
    api.workspace.open_dm((ALICE, BOB))
    public = await api.call("conversations.list")
    assert {channel["id"] for channel in public["channels"]} == {GENERAL, RANDOM, DEPLOYS}
    assert {each["id"]: each["is_member"] for each in public["channels"]}[RANDOM] is False
    private = await api.call("conversations.list", types="private_channel,im")
    assert sorted(channel.get("name", "") for channel in private["channels"]) == ["", "leads"]
    page = await api.call("conversations.list", limit=2)
    rest = await api.call("conversations.list", cursor=page["response_metadata"]["next_cursor"])
    assert (len(page["channels"]), len(rest["channels"])) == (2, 1)
    assert rest["response_metadata"]["next_cursor"] == ""
    assert await api.error("conversations.list", types="rooms") == "invalid_types"
    mine = await api.call("users.conversations", types="public_channel,private_channel")
    assert {channel["id"] for channel in mine["channels"]} == {GENERAL, DEPLOYS, LEADS}
    theirs = await api.call("users.conversations", user=ALICE, types="private_channel")
    assert theirs["channels"] == []


async def test_channel_facts_and_members(api: Api) -> None:
    info = await api.call("conversations.info", channel=LEADS, include_num_members=True)
    assert info["channel"]["is_private"] is True
    assert info["channel"]["num_members"] == 3
    assert await api.error("conversations.info", channel=SECRET) == "channel_not_found"
    dm = api.workspace.dm_of(ALICE, api.app)
    shown = (await api.call("conversations.info", channel=dm.id))["channel"]
    assert (shown["is_im"], shown["user"]) == (True, ALICE)
    members = await api.call("conversations.members", channel=LEADS, limit=2)
    assert members["members"] == sorted([ADA, BOB, BOT_USER])[:2]
    assert members["response_metadata"]["next_cursor"]


async def test_a_dm_is_opened_once(api: Api) -> None:
    first = await api.call("conversations.open", users=ALICE)
    again = await api.call("conversations.open", users=ALICE, return_im=True)
    assert first["channel"] == {"id": again["channel"]["id"]}
    assert (again["already_open"], again["channel"]["user"]) == (True, ALICE)
    assert "already_open" not in first
    api.grant("mpim:write")
    group = await api.call("conversations.open", users=f"{ALICE},{BOB}", return_im=True)
    assert group["channel"]["is_mpim"] is True
    reopened = await api.call("conversations.open", channel=group["channel"]["id"])
    assert reopened["channel"]["id"] == group["channel"]["id"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, "users_list_not_supplied"),
        ({"users": "U0NOBODY01"}, "user_not_found"),
        ({"users": [f"U{number}" for number in range(9)]}, "too_many_users"),
        ({"users": f"{ALICE},{BOB}"}, "missing_scope"),
        ({"channel": GENERAL}, "method_not_supported_for_channel_type"),
    ],
)
async def test_what_dm_cannot_be_opened(api: Api, args: Json, error: str) -> None:
    assert await api.error("conversations.open", **args) == error


async def test_a_channel_from_creation_to_archive(api: Api) -> None:
    api.grant(*MANAGING)
    channel = (await api.call("conversations.create", name="project-x"))["channel"]["id"]
    assert (await api.call("conversations.invite", channel=channel, users=f"{ALICE},{BOB}"))["ok"] is True
    assert (await api.call("conversations.kick", channel=channel, user=BOB))["ok"] is True
    topic = await api.call("conversations.setTopic", channel=channel, topic="Plans")
    purpose = await api.call("conversations.setPurpose", channel=channel, purpose="Why")
    renamed = await api.call("conversations.rename", channel=channel, name="project-y")
    assert topic["channel"]["topic"]["value"] == "Plans"
    assert purpose["purpose"] == "Why"
    assert renamed["channel"]["name"] == "project-y"
    assert (await api.call("conversations.mark", channel=channel, ts="1.2"))["ok"] is True
    assert api.workspace.channels[channel].members == {ALICE, BOT_USER}
    assert (await api.call("conversations.archive", channel=channel))["ok"] is True
    assert await api.error("conversations.archive", channel=channel) == "already_archived"
    assert await api.error("conversations.rename", channel=channel, name="z") == "is_archived"
    listed = await api.call("conversations.list", exclude_archived=True)
    assert channel not in {each["id"] for each in listed["channels"]}


async def test_a_dm_is_no_channel_to_manage(api: Api) -> None:
    api.grant(*MANAGING)
    dm = api.workspace.dm_of(ALICE, api.app).id
    for method, args in (("setTopic", {"topic": "t"}), ("kick", {"user": ALICE}), ("archive", {})):
        error = await api.error(f"conversations.{method}", channel=dm, **args)
        assert error == "method_not_supported_for_channel_type"


async def test_a_bot_joins_and_leaves_public_channels(api: Api) -> None:
    api.grant(*MANAGING)
    joined = await api.call("conversations.join", channel=RANDOM)
    again = await api.call("conversations.join", channel=RANDOM)
    assert joined["channel"]["is_member"] is True
    assert again["warning"] == "already_in_channel"
    assert (await api.call("conversations.leave", channel=RANDOM))["ok"] is True
    assert (await api.call("conversations.leave", channel=RANDOM))["not_in_channel"] is True


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("create", {"name": ""}, "invalid_name_required"),
        ("create", {"name": "x" * 81}, "invalid_name_maxlength"),
        ("create", {"name": "Über uns"}, "invalid_name_specials"),
        ("create", {"name": "general"}, "name_taken"),
        ("rename", {"channel": DEPLOYS, "name": "random"}, "name_taken"),
        ("join", {"channel": LEADS}, "method_not_supported_for_channel_type"),
        ("join", {"channel": SECRET}, "channel_not_found"),
        ("leave", {"channel": GENERAL}, "cant_leave_general"),
        ("archive", {"channel": GENERAL}, "cant_archive_general"),
        ("archive", {"channel": RANDOM}, "not_in_channel"),
        ("invite", {"channel": DEPLOYS}, "no_user"),
        ("invite", {"channel": DEPLOYS, "users": ALICE}, "already_in_channel"),
        ("invite", {"channel": DEPLOYS, "users": BOT_USER}, "cant_invite_self"),
        ("invite", {"channel": DEPLOYS, "users": "U0NOBODY01"}, "user_not_found"),
        ("invite", {"channel": DEPLOYS, "users": ["U0NOBODY01"] * 101}, "too_many_users"),
        ("kick", {"channel": DEPLOYS, "user": BOT_USER}, "cant_kick_self"),
        ("kick", {"channel": GENERAL, "user": ALICE}, "cant_kick_from_general"),
        ("kick", {"channel": DEPLOYS, "user": "U0NOBODY01"}, "user_not_found"),
        ("setTopic", {"channel": DEPLOYS, "topic": "x" * 251}, "too_long"),
        ("mark", {"channel": DEPLOYS, "ts": "soon"}, "invalid_timestamp"),
        ("create", {"name": "secret", "is_private": "true"}, "missing_scope"),
    ],
)
async def test_what_cannot_be_done_to_channels(api: Api, method: str, args: Json, error: str) -> None:
    api.grant("channels:manage", "channels:join")
    assert await api.error(f"conversations.{method}", **args) == error


async def test_people_are_found_by_id_and_email(api: Api) -> None:
    info = await api.call("users.info", user=ADA, include_locale=True)
    assert (info["user"]["is_admin"], info["user"]["locale"]) == (True, "en-US")
    assert "email" not in info["user"]["profile"]
    assert await api.error("users.info", user="U0NOBODY01") == "user_not_found"
    assert await api.error("users.lookupByEmail", email="ada@acme.example") == "missing_scope"
    api.grant("users:read.email", "users.profile:read")
    found = await api.call("users.lookupByEmail", email="ADA@acme.example")
    assert (found["user"]["id"], found["user"]["profile"]["email"]) == (ADA, "ada@acme.example")
    assert await api.error("users.lookupByEmail", email="no@acme.example") == "users_not_found"
    profile = await api.call("users.profile.get", user=BOT_USER)
    assert profile["profile"]["bot_id"] == api.app.bot_id
    assert (await api.call("users.getPresence", user=ADA))["presence"] == "active"
    everybody = await api.call("users.list")
    assert {member["id"] for member in everybody["members"]} == set(api.workspace.members)


async def test_reactions_are_added_read_listed_and_removed(api: Api) -> None:
    message = api.workspace.post(GENERAL, ALICE, "nice")
    item: Json = {"channel": GENERAL, "timestamp": message.ts}
    assert (await api.call("reactions.add", **item, name="eyes"))["ok"] is True
    assert await api.error("reactions.add", **item, name="eyes") == "already_reacted"
    assert await api.error("reactions.add", **item, name=":eyes:") == "invalid_name"
    api.workspace.react(GENERAL, message.ts, BOB, "eyes")
    got = await api.call("reactions.get", **item)
    assert got["message"]["reactions"] == [{"name": "eyes", "users": [BOT_USER, BOB], "count": 2}]
    listed = await api.call("reactions.list", user=BOB)
    assert [each["message"]["ts"] for each in listed["items"]] == [message.ts]
    assert (await api.call("reactions.remove", **item, name="eyes"))["ok"] is True
    assert await api.error("reactions.remove", **item, name="eyes") == "no_reaction"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"channel": GENERAL}, "no_item_specified"),
        ({"timestamp": "1.2"}, "no_item_specified"),
        ({"channel": GENERAL, "timestamp": "1.2"}, "message_not_found"),
        ({"channel": RANDOM, "timestamp": "1.2"}, "not_in_channel"),
        ({"channel": SECRET, "timestamp": "1.2"}, "channel_not_found"),
    ],
)
@pytest.mark.parametrize("method", ["reactions.add", "reactions.remove", "reactions.get"])
async def test_what_cannot_be_reacted_to(api: Api, method: str, args: Json, error: str) -> None:
    assert await api.error(method, **args, name="eyes") == error


async def test_no_message_takes_more_than_23_different_reactions(api: Api) -> None:
    message = api.workspace.post(GENERAL, ALICE, "popular")
    for number in range(23):
        api.workspace.react(GENERAL, message.ts, BOB, f"emoji_{number}")
    item: dict[str, Any] = {"channel": GENERAL, "timestamp": message.ts}
    assert await api.error("reactions.add", **item, name="one_more") == "too_many_reactions"


async def test_messages_are_pinned_and_unpinned(api: Api) -> None:
    api.grant("pins:read", "pins:write", "bookmarks:read", "emoji:read", "usergroups:read")
    message = api.workspace.post(GENERAL, ALICE, "remember this")
    item: Json = {"channel": GENERAL, "timestamp": message.ts}
    assert (await api.call("pins.add", **item))["ok"] is True
    assert await api.error("pins.add", **item) == "already_pinned"
    pins = await api.call("pins.list", channel=GENERAL)
    assert [(pin["created_by"], pin["message"]["text"]) for pin in pins["items"]] == [(BOT_USER, "remember this")]
    assert (await api.call("pins.remove", **item))["ok"] is True
    assert await api.error("pins.remove", **item) == "not_pinned"

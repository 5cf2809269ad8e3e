"""chat.* over real sockets: what is stored, what comes back, what is refused."""

from collections.abc import AsyncGenerator

import pytest

from app.playground.happenings import EphemeralPosted, Happening, MessageChanged, MessageDeleted, MessagePosted
from app.playground.model import Json
from app.playground.seed import ALICE, BOB, BOT_ID, BOT_USER, DEPLOY_BOT_TOKEN, DEPLOYS, GENERAL, LEADS, RANDOM, SECRET
from tests.playground_api import Api, open_api


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with open_api() as opened:
        yield opened


async def test_a_posted_message_is_stored_as_given_and_announced(api: Api) -> None:
    seen: list[Happening] = []
    api.workspace.subscribe(seen.append)
    answer = await api.call("chat.postMessage", channel=GENERAL, text="1 < 2 & <@U0ALICE001>")
    stored = api.workspace.messages[GENERAL][answer["ts"]]
    assert stored.text == "1 < 2 & <@U0ALICE001>"
    assert (stored.user, stored.bot_id) == (BOT_USER, BOT_ID)
    assert seen == [MessagePosted(stored)]


async def test_a_message_can_go_to_a_channel_name_or_to_a_person(api: Api) -> None:
    by_name = await api.call("chat.postMessage", channel="#general", text="hi")
    to_person = await api.call("chat.postMessage", channel=ALICE, text="hi")
    assert by_name["channel"] == GENERAL
    assert api.workspace.channels[to_person["channel"]].members == {ALICE, BOT_USER}


@pytest.mark.parametrize(
    ("channel", "error"),
    [
        (RANDOM, "not_in_channel"),
        (SECRET, "channel_not_found"),
        ("#hiring", "channel_not_found"),
        ("C0NOWHERE1", "channel_not_found"),
        ("", "channel_not_found"),
    ],
)
async def test_where_the_bot_may_not_post(api: Api, channel: str, error: str) -> None:
    assert await api.error("chat.postMessage", channel=channel, text="hi") == error


async def test_with_chat_write_public_a_bot_posts_to_any_public_channel(api: Api) -> None:
    api.grant("chat:write.public")
    assert (await api.call("chat.postMessage", channel=RANDOM, text="hi"))["ok"] is True
    assert await api.error("chat.postMessage", channel=SECRET, text="hi") == "channel_not_found"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, "no_text"),
        ({"text": "  "}, "no_text"),
        ({"markdown_text": "# a", "text": "a"}, "markdown_text_conflict"),
        ({"markdown_text": "# a", "blocks": [{"type": "divider"}]}, "markdown_text_conflict"),
        ({"markdown_text": "m" * 12_001}, "msg_too_long"),
        ({"blocks": [{"type": "markdown", "text": "m" * 6_001}] * 2}, "msg_blocks_too_long"),
        ({"blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"blocks": "nonsense"}, "invalid_blocks_format"),
        ({"attachments": [{"text": "a"}] * 101}, "too_many_attachments"),
        ({"text": "a", "metadata": {"event_type": "x"}}, "invalid_metadata_format"),
        ({"text": "a", "thread_ts": "1.000001"}, "thread_not_found"),
        ({"text": "a", "username": "Someone"}, "missing_scope"),
    ],
)
async def test_what_a_post_may_not_be(api: Api, args: Json, error: str) -> None:
    assert await api.error("chat.postMessage", channel=GENERAL, **args) == error


async def test_the_longest_allowed_contents_pass(api: Api) -> None:
    contents: list[Json] = [
        {"markdown_text": "m" * 12_000},
        {"blocks": [{"type": "markdown", "text": "m" * 6_000}] * 2},
        {"blocks": [{"type": "divider"}] * 50},
        {"text": "t" * 40_000},
    ]
    for args in contents:
        answer = await api.call("chat.postMessage", channel=GENERAL, **args)
        assert answer["ok"] is True
        assert "warning" not in answer


async def test_text_beyond_40000_characters_is_cut_with_a_warning(api: Api) -> None:
    answer = await api.call("chat.postMessage", channel=GENERAL, text="t" * 40_001)
    assert answer["warning"] == "message_truncated"
    assert answer["response_metadata"]["warnings"] == ["message_truncated"]
    assert len(api.workspace.messages[GENERAL][answer["ts"]].text) == 40_000


async def test_markdown_is_kept_as_text_and_as_a_markdown_block(api: Api) -> None:
    answer = await api.call("chat.postMessage", channel=GENERAL, markdown_text="**hi**")
    message = answer["message"]
    assert message["text"] == "**hi**"
    assert [(block["type"], block["text"]) for block in message["blocks"]] == [("markdown", "**hi**")]
    assert message["blocks"][0]["block_id"]


async def test_invalid_blocks_name_each_problem_with_its_place(api: Api) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}, {"type": "nope"}]
    answer = await api.call("chat.postMessage", channel=GENERAL, blocks=blocks, text="t")
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
        "[ERROR] unsupported type: nope [json-pointer:/blocks/1/type]",
    ]


async def test_a_reply_belongs_to_its_thread_and_can_be_broadcast(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    answer = await api.call("chat.postMessage", channel=GENERAL, text="answer", thread_ts=root.ts, reply_broadcast=True)
    message = answer["message"]
    assert (message["thread_ts"], message["parent_user_id"]) == (root.ts, ALICE)
    assert message["subtype"] == "thread_broadcast"
    assert message["root"]["reply_count"] == 1
    assert [each.text for each in api.workspace.thread(GENERAL, root.ts)] == ["question", "answer"]


async def test_a_reply_to_a_reply_is_refused(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    reply = api.workspace.post(GENERAL, BOB, "reply", thread_ts=root.ts)
    error = await api.error("chat.postMessage", channel=GENERAL, text="x", thread_ts=reply.ts)
    assert error == "cannot_reply_to_message"


async def test_another_name_needs_the_customize_scope_and_makes_a_bot_message(api: Api) -> None:
    api.grant("chat:write.customize")
    answer = await api.call("chat.postMessage", channel=GENERAL, text="x", username="Oracle", icon_emoji=":owl:")
    message = answer["message"]
    assert (message["subtype"], message["username"]) == ("bot_message", "Oracle")
    assert message["icons"] == {"emoji": ":owl:"}
    assert "user" not in message


async def test_metadata_comes_back_only_when_asked_for(api: Api) -> None:
    metadata = {"event_type": "turn", "event_payload": {"nonce": "n1"}}
    posted = await api.call("chat.postMessage", channel=GENERAL, text="x", metadata=metadata)
    plain = await api.call("conversations.history", channel=GENERAL)
    full = await api.call("conversations.history", channel=GENERAL, include_all_metadata=True)
    assert posted["message"]["metadata"] == metadata
    assert "metadata" not in plain["messages"][0]
    assert full["messages"][0]["metadata"] == metadata


async def test_an_ephemeral_message_reaches_one_person_and_is_kept_nowhere(api: Api) -> None:
    seen: list[Happening] = []
    api.workspace.subscribe(seen.append)
    answer = await api.call("chat.postEphemeral", channel=GENERAL, user=ALICE, text="psst")
    assert [(each.user, each.ts) for each in seen if isinstance(each, EphemeralPosted)] == [
        (ALICE, answer["message_ts"])
    ]
    assert api.workspace.messages.get(GENERAL, {}) == {}
    outside = await api.error("chat.postEphemeral", channel=LEADS, user=ALICE, text="psst")
    assert outside == "user_not_in_channel"


async def test_a_new_text_takes_the_place_of_old_blocks_and_is_marked_as_edited(api: Api) -> None:
    posted = await api.call("chat.postMessage", channel=GENERAL, markdown_text="first")
    answer = await api.call("chat.update", channel=GENERAL, ts=posted["ts"], text="second")
    assert answer["text"] == "second"
    assert "blocks" not in answer["message"]
    assert answer["message"]["edited"]["user"] == BOT_USER


async def test_an_update_with_blocks_shows_no_edited_mark_and_keeps_attachments(api: Api) -> None:
    posted = await api.call("chat.postMessage", channel=GENERAL, text="a", attachments=[{"text": "kept"}])
    answer = await api.call("chat.update", channel=GENERAL, ts=posted["ts"], blocks=[{"type": "divider"}])
    assert "edited" not in answer["message"]
    assert answer["message"]["text"] == "a"
    assert answer["message"]["attachments"] == [{"text": "kept"}]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"text": "t" * 4_001}, "msg_too_long"),
        ({"markdown_text": "m" * 12_001}, "msg_too_long"),
        ({}, "no_text"),
        ({"text": "t", "ts": "1.000001"}, "message_not_found"),
    ],
)
async def test_what_an_update_may_not_be(api: Api, args: Json, error: str) -> None:
    posted = await api.call("chat.postMessage", channel=GENERAL, text="a")
    assert await api.error("chat.update", **({"channel": GENERAL, "ts": posted["ts"]} | args)) == error


async def test_updates_pass_at_their_limits_and_tell_what_was_before(api: Api) -> None:
    posted = await api.call("chat.postMessage", channel=GENERAL, text="before")
    seen: list[Happening] = []
    api.workspace.subscribe(seen.append)
    assert (await api.call("chat.update", channel=GENERAL, ts=posted["ts"], text="t" * 4_000))["ok"]
    assert (await api.call("chat.update", channel=GENERAL, ts=posted["ts"], markdown_text="m" * 12_000))["ok"]
    changes = [each for each in seen if isinstance(each, MessageChanged)]
    assert [len(change.previous.text) for change in changes] == [len("before"), 4_000]


async def test_only_own_messages_can_be_changed_or_deleted(api: Api) -> None:
    theirs = api.workspace.post(GENERAL, ALICE, "mine")
    foreign = await api.call("chat.postMessage", token=DEPLOY_BOT_TOKEN, channel=DEPLOYS, text="v1")
    for channel, ts in ((GENERAL, theirs.ts), (DEPLOYS, foreign["ts"])):
        assert await api.error("chat.update", channel=channel, ts=ts, text="x") == "cant_update_message"
        assert await api.error("chat.delete", channel=channel, ts=ts) == "cant_delete_message"


async def test_a_deleted_message_is_gone_but_a_root_with_replies_leaves_a_tombstone(api: Api) -> None:
    single = await api.call("chat.postMessage", channel=GENERAL, text="single")
    root = await api.call("chat.postMessage", channel=GENERAL, text="root")
    api.workspace.post(GENERAL, ALICE, "reply", thread_ts=root["ts"])
    seen: list[Happening] = []
    api.workspace.subscribe(seen.append)
    for ts in (single["ts"], root["ts"]):
        assert (await api.call("chat.delete", channel=GENERAL, ts=ts))["ts"] == ts
    assert [each.message.text for each in seen if isinstance(each, MessageDeleted)] == ["single", "root"]
    history = await api.call("conversations.history", channel=GENERAL)
    assert [message.get("subtype") for message in history["messages"]] == ["tombstone"]
    assert await api.error("chat.delete", channel=GENERAL, ts=single["ts"]) == "message_not_found"


async def test_a_permalink_names_channel_message_and_thread(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    reply = api.workspace.post(GENERAL, BOB, "reply", thread_ts=root.ts)
    answer = await api.call("chat.getPermalink", channel=GENERAL, message_ts=reply.ts)
    expected = f"/archives/{GENERAL}/p{reply.ts.replace('.', '')}?thread_ts={root.ts}&cid={GENERAL}"
    assert answer["permalink"] == api.origin.base_url + expected
    assert await api.error("chat.getPermalink", channel=GENERAL, message_ts="1.2") == "message_not_found"


async def test_me_messages_and_unfurls(api: Api) -> None:
    me = await api.call("chat.meMessage", channel=GENERAL, text="waves")
    assert api.workspace.messages[GENERAL][me["ts"]].subtype == "me_message"
    api.grant("links:write")
    link = api.workspace.post(GENERAL, ALICE, "see https://acme.example/1")
    unfurls = {"https://acme.example/1": {"text": "One"}}
    assert await api.error("chat.unfurl", channel=GENERAL, ts=link.ts) == "missing_unfurls"
    assert (await api.call("chat.unfurl", channel=GENERAL, ts=link.ts, unfurls=unfurls))["ok"] is True
    assert link.attachments[0]["from_url"] == "https://acme.example/1"
    wrong = {"https://other.example": {"text": "Two"}}
    error = await api.error("chat.unfurl", channel=GENERAL, ts=link.ts, unfurls=wrong)
    assert error == "cannot_unfurl_url"


async def test_an_archived_channel_takes_no_messages(api: Api) -> None:
    api.workspace.channels[GENERAL].is_archived = True
    assert await api.error("chat.postMessage", channel=GENERAL, text="x") == "is_archived"
    assert await api.error("chat.postEphemeral", channel=GENERAL, user=ALICE, text="x") == "is_archived"


async def test_metadata_attachments_and_files_can_be_updated_alone(api: Api) -> None:
    done = await api.slack.files_upload_v2(channel=GENERAL, filename="a.txt", content="a")
    ts = next(iter(api.workspace.messages[GENERAL]))
    metadata = {"event_type": "turn", "event_payload": {"n": 1}}
    first = await api.call("chat.update", channel=GENERAL, ts=ts, metadata=metadata, attachments=[{"text": "a"}])
    assert (first["message"]["metadata"], first["message"]["attachments"]) == (metadata, [{"text": "a"}])
    assert [file["id"] for file in first["message"]["files"]] == [done["file"]["id"]]
    second = await api.call("chat.update", channel=GENERAL, ts=ts, text="no files", file_ids="")
    assert "files" not in second["message"]


async def test_arguments_of_the_wrong_kind_are_refused_by_name(api: Api) -> None:
    post = {"channel": GENERAL, "text": "x"}
    assert await api.error("chat.postMessage", **post, blocks={"type": "divider"}) == "invalid_blocks_format"
    assert await api.error("chat.postMessage", **post, blocks=["divider"]) == "invalid_blocks_format"
    assert await api.error("chat.postMessage", **post, metadata=[1]) == "invalid_metadata_format"
    assert (await api.call("chat.postMessage", **post, blocks=" ", metadata=""))["ok"] is True
    assert await api.error("api.test", error="my_error") == "my_error"

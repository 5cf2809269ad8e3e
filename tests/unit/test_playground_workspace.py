"""The workspace itself: posting, threads, edits, deletions, membership, DMs, streams and the feed."""

import pytest

from app.playground.happenings import (
    ChannelCreated,
    Happening,
    MemberJoined,
    MemberLeft,
    MessageChanged,
    MessageDeleted,
    MessagePosted,
    ReactionAdded,
    ReactionRemoved,
)
from app.playground.message_objects import message_json
from app.playground.model import ChannelKind, Member
from app.playground.origin import Origin
from app.playground.refusal import SlackRefusal
from app.playground.seed import (
    ADA,
    ALICE,
    APP_ID,
    APP_TOKEN,
    BOB,
    BOT_TOKEN,
    BOT_USER,
    DEPLOYS,
    GENERAL,
    LEADS,
    RANDOM,
    SECRET,
    default_workspace,
)
from app.playground.streams import Content, start
from app.playground.talk import TOMBSTONE
from app.playground.workspace import PostOptions, Workspace
from tests.fakes import ManualClock


@pytest.fixture
def workspace() -> Workspace:
    return default_workspace(ManualClock())


def heard(workspace: Workspace) -> list[Happening]:
    seen: list[Happening] = []
    workspace.subscribe(seen.append)
    return seen


def refusal(error: str) -> pytest.RaisesExc[SlackRefusal]:
    return pytest.RaisesExc(SlackRefusal, match=f"^{error}$")


def test_the_seed_has_its_people_channels_and_bots(workspace: Workspace) -> None:
    assert workspace.channels[GENERAL].members == {ALICE, BOB, ADA, BOT_USER}
    assert BOT_USER not in workspace.channels[RANDOM].members
    assert BOT_USER not in workspace.channels[SECRET].members
    assert workspace.channels[LEADS].members == {ADA, BOB, BOT_USER}
    assert len(workspace.channels[DEPLOYS].members) == 5
    assert {member.id for member in workspace.members.values() if member.is_admin} == {ADA}


def test_apps_are_found_by_token_and_bot_user(workspace: Workspace) -> None:
    app = workspace.apps[APP_ID]
    assert workspace.app_by_token(BOT_TOKEN) is app
    assert workspace.app_by_token(APP_TOKEN) is app
    assert workspace.app_by_token("xoxb-other") is None
    assert workspace.app_by_bot_user(BOT_USER) is app
    assert workspace.app_by_bot_user(ALICE) is None


def test_timestamps_are_unique_and_sort_as_text_while_the_clock_stands_still(workspace: Workspace) -> None:
    stamps = [workspace.next_ts() for _ in range(200)]
    assert stamps == sorted(set(stamps))
    assert {len(stamp) for stamp in stamps} == {17}


def test_listeners_are_called_in_order_until_they_unsubscribe(workspace: Workspace) -> None:
    calls: list[str] = []
    leave = workspace.subscribe(lambda _: calls.append("first"))
    workspace.subscribe(lambda _: calls.append("second"))
    workspace.post(GENERAL, ALICE, "a")
    leave()
    leave()
    workspace.post(GENERAL, ALICE, "b")
    assert calls == ["first", "second", "second"]


def test_a_thread_is_its_root_and_its_replies_by_time(workspace: Workspace) -> None:
    root = workspace.post(GENERAL, ALICE, "root")
    assert (root.thread_ts, workspace.thread(GENERAL, root.ts)) == (None, [root])
    replies = [workspace.post(GENERAL, BOB, str(number), thread_ts=root.ts) for number in range(3)]
    assert workspace.thread(GENERAL, root.ts) == [root, *replies]
    assert root.thread_ts == root.ts == replies[0].thread_ts == replies[0].root_ts
    assert workspace.timeline(GENERAL) == [root.ts]


def test_posting_is_refused_where_one_is_not(workspace: Workspace) -> None:
    for channel, error in ((RANDOM, "not_in_channel"), (SECRET, "channel_not_found"), ("C1", "channel_not_found")):
        with refusal(error):
            workspace.post(channel, BOT_USER, "hi")
    with refusal("user_not_found"):
        workspace.post(GENERAL, "U0NOBODY01", "hi")
    with refusal("thread_not_found"):
        workspace.post(GENERAL, ALICE, "hi", thread_ts="1.2")
    assert workspace.messages == {}


def test_nobody_can_reply_to_a_notice_of_joining(workspace: Workspace) -> None:
    workspace.join(RANDOM, BOT_USER)
    notice = next(iter(workspace.messages[RANDOM].values()))
    with refusal("cannot_reply_to_message"):
        workspace.post(RANDOM, ALICE, "welcome", thread_ts=notice.ts)
    assert list(workspace.messages[RANDOM]) == [notice.ts]


def test_posts_of_any_length_are_kept_whole(workspace: Workspace) -> None:
    assert len(workspace.post(GENERAL, ALICE, "x" * 100_000).text) == 100_000


def test_an_edit_is_marked_and_tells_what_was_before(workspace: Workspace) -> None:
    message = workspace.post(GENERAL, ALICE, "old", options=PostOptions(blocks=[{"type": "divider"}]))
    seen = heard(workspace)
    workspace.edit(GENERAL, message.ts, ALICE, "new")
    assert (message.text, message.blocks, message.edited_by) == ("new", [], ALICE)
    (change,) = seen
    assert isinstance(change, MessageChanged)
    assert (change.previous.text, change.previous.blocks) == ("old", [{"type": "divider"}])
    with refusal("cant_update_message"):
        workspace.edit(GENERAL, message.ts, BOB, "mine now")
    with refusal("message_not_found"):
        workspace.edit(GENERAL, "1.2", ALICE, "x")


def test_a_deleted_reply_leaves_its_thread_and_the_last_one_makes_the_root_single(workspace: Workspace) -> None:
    root = workspace.post(GENERAL, ALICE, "root")
    reply = workspace.post(GENERAL, BOB, "reply", thread_ts=root.ts, options=PostOptions(broadcast=True))
    assert workspace.timeline(GENERAL) == [root.ts, reply.ts]
    seen = heard(workspace)
    workspace.delete(GENERAL, reply.ts)
    assert workspace.thread(GENERAL, root.ts) == [root]
    assert root.thread_ts is None
    assert workspace.timeline(GENERAL) == [root.ts]
    assert [each.deleted_ts for each in seen if isinstance(each, MessageDeleted)] == [reply.ts]


def test_a_tombstone_stays_until_its_last_reply_goes(workspace: Workspace) -> None:
    root = workspace.post(GENERAL, ALICE, "root")
    reply = workspace.post(GENERAL, BOB, "reply", thread_ts=root.ts)
    workspace.delete(GENERAL, root.ts)
    assert workspace.messages[GENERAL][root.ts].subtype == TOMBSTONE
    with refusal("message_not_found"):
        workspace.delete(GENERAL, root.ts)
    workspace.delete(GENERAL, reply.ts)
    assert workspace.messages[GENERAL] == {}
    assert workspace.timeline(GENERAL) == []


def test_reactions_come_and_go_and_are_told(workspace: Workspace) -> None:
    message = workspace.post(GENERAL, ALICE, "nice")
    seen = heard(workspace)
    workspace.react(GENERAL, message.ts, BOB, "thumbsup::skin-tone-3")
    workspace.react(GENERAL, message.ts, ADA, "thumbsup::skin-tone-3")
    workspace.unreact(GENERAL, message.ts, BOB, "thumbsup::skin-tone-3")
    assert message.reactions == {"thumbsup::skin-tone-3": [ADA]}
    workspace.unreact(GENERAL, message.ts, ADA, "thumbsup::skin-tone-3")
    assert message.reactions == {}
    assert [type(each) for each in seen] == [ReactionAdded] * 2 + [ReactionRemoved] * 2
    with refusal("no_reaction"):
        workspace.unreact(GENERAL, message.ts, ADA, "eyes")
    with refusal("invalid_name"):
        workspace.react(GENERAL, message.ts, ADA, "not a name")


def test_joining_is_told_once_and_said_in_the_channel(workspace: Workspace) -> None:
    seen = heard(workspace)
    workspace.join(RANDOM, BOT_USER, ALICE)
    workspace.join(RANDOM, BOT_USER, ALICE)
    joined, notice = seen
    assert isinstance(joined, MemberJoined)
    assert joined.inviter == ALICE
    assert isinstance(notice, MessagePosted)
    assert notice.message.subtype == "channel_join"


def test_leaving_is_told_and_cannot_be_done_twice(workspace: Workspace) -> None:
    seen = heard(workspace)
    workspace.leave(RANDOM, BOB)
    assert [type(each) for each in seen] == [MemberLeft]
    with refusal("not_in_channel"):
        workspace.leave(RANDOM, BOB)


def test_a_dm_is_the_same_for_the_same_people_in_any_order(workspace: Workspace) -> None:
    seen = heard(workspace)
    first = workspace.open_dm((ALICE, BOT_USER))
    assert workspace.open_dm((BOT_USER, ALICE)) is first is workspace.dm_of(ALICE, workspace.apps[APP_ID])
    group = workspace.open_dm((ALICE, BOB, BOT_USER))
    assert (first.kind, group.kind) == ("im", "mpim")
    assert group.name == "mpdm-alice--bob--switchboard-1"
    assert [type(each) for each in seen] == [ChannelCreated] * 2
    for users, error in (((ALICE,), "not_enough_users"), ((ALICE, "U1"), "user_not_found")):
        with refusal(error):
            workspace.open_dm(users)
    with refusal("method_not_supported_for_channel_type"):
        workspace.join(first.id, BOB)
    with refusal("method_not_supported_for_channel_type"):
        workspace.leave(first.id, ALICE)


def test_a_channel_belongs_to_its_creator_and_its_name_to_it(workspace: Workspace) -> None:
    channel = workspace.create_channel("project", ALICE, private=True)
    assert (channel.kind, channel.members) == ("group", {ALICE})
    with refusal("name_taken"):
        workspace.create_channel("project", BOB)
    channel.is_archived = True
    for action in (lambda: workspace.join(channel.id, BOB), lambda: workspace.post(channel.id, ALICE, "x")):
        with refusal("is_archived"):
            action()


def test_a_file_is_shared_by_the_message_that_carries_it_and_goes_when_removed(workspace: Workspace) -> None:
    file = workspace.add_file("notes.md", b"# Notes", ALICE)
    assert (file.mimetype, file.size, file.title) == ("text/markdown", 7, "notes.md")
    assert workspace.add_file("mystery", b"?", ALICE).mimetype == "application/octet-stream"
    message = workspace.post(GENERAL, ALICE, "", options=PostOptions(files=(file.id,)))
    assert message.subtype == "file_share"
    assert (file.channels, file.shares) == ([GENERAL], {GENERAL: [message.ts]})
    again = workspace.post(GENERAL, ALICE, "", options=PostOptions(files=(file.id,)))
    assert (file.channels, file.shares) == ([GENERAL], {GENERAL: [message.ts, again.ts]})
    workspace.delete(GENERAL, again.ts)
    seen = heard(workspace)
    workspace.remove_file(file.id)
    assert message.files == []
    (before,) = [each.previous for each in seen if isinstance(each, MessageChanged)]
    shown = message_json(workspace, before, Origin("http://127.0.0.1:1"))
    assert shown["files"] == [{"id": file.id, "mode": "tombstone"}]


def test_visible_are_the_public_channels_and_those_one_is_in(workspace: Workspace) -> None:
    assert SECRET not in workspace.visible_channels(BOT_USER)
    assert {RANDOM, LEADS} <= set(workspace.visible_channels(BOT_USER))
    assert workspace.visible_channels("U0NOBODY01") == [GENERAL, RANDOM, DEPLOYS]


def test_stopping_is_for_members_and_touches_only_the_threads_own_streams(workspace: Workspace) -> None:
    here, there = (workspace.post(GENERAL, ALICE, text) for text in ("here", "there"))
    streaming = [
        start(workspace, (GENERAL, root.ts), BOT_USER, Content(markdown_text="a"), PostOptions())
        for root in (here, there)
    ]
    workspace.stop_streams(GENERAL, here.ts, ALICE)
    workspace.end_stream(streaming[0], "expired")
    assert [message.stream and message.stream.state for message in streaming] == ["stopped", "in_progress"]
    with refusal("not_in_channel"):
        workspace.stop_streams(RANDOM, here.ts, BOT_USER)


def test_dms_are_for_up_to_nine(workspace: Workspace) -> None:
    for number in range(9):
        user = f"U0EXTRA{number:03d}"
        workspace.members[user] = Member(user, f"extra{number}", f"Extra {number}")
    with refusal("too_many_users"):
        workspace.open_dm([ALICE, *(user for user in workspace.members if user.startswith("U0EXTRA"))])
    assert not any(channel.kind is ChannelKind.GROUP_DM for channel in workspace.channels.values())


def test_a_message_as_apps_see_it(workspace: Workspace) -> None:
    origin = Origin("http://127.0.0.1:1")
    assert origin.ws_base_url == "ws://127.0.0.1:1"
    foreign = workspace.post(GENERAL, ALICE, "x", options=PostOptions(bot_id="B0GONE", app_id="A0GONE"))
    shown = message_json(workspace, foreign, origin)
    assert (shown["bot_id"], "bot_profile" in shown) == ("B0GONE", False)
    root = workspace.post(GENERAL, ALICE, "root")
    reply = workspace.post(GENERAL, BOB, "reply", thread_ts=root.ts)
    assert message_json(workspace, reply, origin)["parent_user_id"] == ALICE
    workspace.delete(GENERAL, root.ts)
    workspace.delete(GENERAL, reply.ts)
    assert message_json(workspace, reply, origin)["thread_ts"] == root.ts
    assert "parent_user_id" not in message_json(workspace, reply, origin)

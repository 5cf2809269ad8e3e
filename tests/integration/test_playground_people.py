"""What people do in the playground, what Slack's client would not let them do, and how tests watch the bot."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from app.playground.model import ChannelKind
from app.playground.refusal import SlackRefusal
from app.playground.seed import ADA, ALICE, APP_ID, BOB, BOT_ID, BOT_USER, GENERAL, LEADS, RANDOM, SECRET
from app.playground.server import Playground, open_playground
from app.playground.workspace import PostOptions
from tests.bolt_bots import all_of, bolt_app, connected, on_event, slack_api

Json = dict[str, Any]


@pytest.fixture
async def playground() -> AsyncGenerator[Playground]:
    async with open_playground(with_page=False, enforce_rates=False) as opened:
        yield opened


async def test_a_message_is_stored_with_the_blocks_slacks_client_makes(playground: Playground) -> None:
    message = playground.people.say(ALICE, GENERAL, f"<@{BOT_USER}> see https://example.com & smile :tada:")
    assert message.text == f"<@{BOT_USER}> see <https://example.com> &amp; smile :tada:"
    elements = message.blocks[0]["elements"][0]["elements"]
    assert [element["type"] for element in elements] == ["user", "text", "link", "text", "emoji"]
    assert elements[3]["text"] == " & smile "
    assert message.client_msg_id


async def test_people_write_only_where_they_are_members(playground: Playground) -> None:
    for user, channel in ((ALICE, LEADS), (BOB, SECRET)):
        with pytest.raises(SlackRefusal) as refused:
            playground.people.say(user, channel, "let me in")
        assert refused.value.error == "not_in_channel"


async def test_a_reply_belongs_to_its_thread_and_may_be_shown_in_the_channel(playground: Playground) -> None:
    root = playground.people.say(ALICE, GENERAL, "root")
    reply = playground.people.say(BOB, GENERAL, "reply", thread_ts=root.ts)
    shown = playground.people.say(BOB, GENERAL, "for all", thread_ts=root.ts, broadcast=True)
    assert [message.text for message in playground.thread(GENERAL, root.ts)] == ["root", "reply", "for all"]
    assert (reply.subtype, shown.subtype) == (None, "thread_broadcast")


async def test_people_change_only_their_own_messages(playground: Playground) -> None:
    message = playground.people.say(ALICE, GENERAL, "first")
    playground.people.edit(ALICE, GENERAL, message.ts, "second")
    assert message.text == "second"
    assert message.blocks[0]["elements"][0]["elements"] == [{"type": "text", "text": "second"}]
    with pytest.raises(SlackRefusal) as edit_refused:
        playground.people.edit(BOB, GENERAL, message.ts, "mine now")
    with pytest.raises(SlackRefusal) as delete_refused:
        playground.people.delete(BOB, GENERAL, message.ts)
    assert (edit_refused.value.error, delete_refused.value.error) == ("cant_update_message", "cant_delete_message")
    playground.people.delete(ALICE, GENERAL, message.ts)
    assert message.ts not in playground.workspace.messages[GENERAL]


async def test_reactions_come_and_go(playground: Playground) -> None:
    message = playground.people.say(ALICE, GENERAL, "hello")
    playground.people.react(BOB, GENERAL, message.ts, ":eyes:")
    assert message.reactions == {"eyes": [BOB]}
    playground.people.unreact(BOB, GENERAL, message.ts, "eyes")
    assert message.reactions == {}


async def test_only_public_channels_are_joined_without_an_invitation(playground: Playground) -> None:
    people, channels = playground.people, playground.workspace.channels
    people.leave(ALICE, RANDOM)
    assert ALICE not in channels[RANDOM].members
    people.join(ALICE, RANDOM)
    assert ALICE in channels[RANDOM].members
    with pytest.raises(SlackRefusal) as refused:
        people.join(ALICE, LEADS)
    assert refused.value.error == "channel_not_found"
    people.invite(BOB, LEADS, ALICE)
    assert ALICE in channels[LEADS].members


async def test_a_dm_is_opened_once_and_more_people_share_a_group_dm(playground: Playground) -> None:
    people = playground.people
    first, again = people.open_dm(ALICE, BOB), people.open_dm(BOB, ALICE)
    group = people.open_dm(ALICE, BOB, ADA)
    assert first.id == again.id
    assert (first.kind, group.kind) == (ChannelKind.DM, ChannelKind.GROUP_DM)


async def test_a_shared_file_reaches_the_app_with_its_bytes(playground: Playground) -> None:
    heard: list[Json] = []

    async def hear(event: Json) -> None:
        heard.append(event)

    async with connected(playground, with_listeners(playground, hear)):
        file = playground.people.upload(ALICE, "notes.txt", b"remember the milk")
        playground.people.say(ALICE, GENERAL, "see here", files=[file.id])
        await playground.wait_for(lambda: len(heard) == 2)
    assert [event["type"] for event in heard] == ["message", "file_shared"]
    assert heard[0]["subtype"] == "file_share"
    assert heard[0]["files"][0]["name"] == "notes.txt"
    assert heard[0]["files"][0]["url_private_download"].startswith(playground.base_url)
    assert heard[1]["file_id"] == file.id


def with_listeners(playground: Playground, hear: Any) -> Any:
    app = bolt_app(playground)
    names = ("message", "file_shared", "member_joined_channel", "agent_session_stopped", "app_mention")
    all_of(*(on_event(name, hear) for name in names))(app)
    return app


async def test_an_edit_that_adds_a_mention_is_a_mention(playground: Playground) -> None:
    message = playground.people.say(ALICE, GENERAL, "hello")
    playground.delivery.hold()
    heard: list[Json] = []

    async def hear(event: Json) -> None:
        heard.append(event)

    async with connected(playground, with_listeners(playground, hear)):
        playground.people.edit(ALICE, GENERAL, message.ts, f"<@{BOT_USER}> hello")
        playground.people.edit(ALICE, GENERAL, message.ts, f"<@{BOT_USER}> hello there")
        playground.delivery.release()
        await playground.wait_for(lambda: len(heard) == 4)
    assert [event["type"] for event in heard].count("app_mention") == 1
    mention = next(event for event in heard if event["type"] == "app_mention")
    assert mention["edited"]["user"] == ALICE


async def test_an_invited_bot_hears_that_it_joined(playground: Playground) -> None:
    heard: list[Json] = []

    async def hear(event: Json) -> None:
        heard.append(event)

    async with connected(playground, with_listeners(playground, hear)):
        playground.people.invite(ALICE, RANDOM, BOT_USER)
        await playground.wait_for(lambda: heard)
    assert (heard[0]["user"], heard[0]["inviter"], heard[0]["channel"]) == (BOT_USER, ALICE, RANDOM)


async def test_a_stream_makes_one_event_at_its_start_and_one_at_its_end(playground: Playground) -> None:
    """Bolt drops an app's own messages, so the log of deliveries is what counts."""
    root = playground.people.say(ALICE, GENERAL, "tell me")
    api = slack_api(playground)
    started = await api.chat_startStream(
        channel=GENERAL,
        thread_ts=root.ts,
        recipient_user_id=ALICE,
        recipient_team_id=playground.workspace.team.id,
        markdown_text="One ",
    )
    for text in ("two ", "three "):
        await api.chat_appendStream(channel=GENERAL, ts=started["ts"], markdown_text=text)
    await api.chat_stopStream(channel=GENERAL, ts=started["ts"], markdown_text="four")
    assert playground.answer_text(GENERAL, root.ts) == "One two three four"
    assert playground.delivery.under_way == 3

    async with connected(playground, bolt_app(playground)):
        await playground.wait_for(lambda: len(playground.delivery.log) == 3)
    events = [entry.payload["event"] for entry in playground.delivery.log]
    assert [event.get("subtype") for event in events] == [None, None, "message_changed"]
    assert events[1]["bot_id"] == BOT_ID
    assert "four" in events[2]["message"]["text"]


async def test_stop_ends_the_streams_of_the_thread_and_is_told_to_the_app(playground: Playground) -> None:
    heard: list[Json] = []

    async def hear(event: Json) -> None:
        heard.append(event)

    root = playground.people.say(ALICE, GENERAL, "tell me")
    api = slack_api(playground)
    started = await api.chat_startStream(
        channel=GENERAL,
        thread_ts=root.ts,
        recipient_user_id=ALICE,
        recipient_team_id=playground.workspace.team.id,
        markdown_text="On and on ",
    )
    async with connected(playground, with_listeners(playground, hear)):
        playground.people.stop(ALICE, GENERAL, root.ts)
        await playground.wait_for(lambda: [each for each in heard if each["type"] == "agent_session_stopped"])
    stopped = next(each for each in heard if each["type"] == "agent_session_stopped")
    assert stopped["streaming_message_ts"] == [started["ts"]]
    assert (stopped["user"], stopped["thread_ts"]) == (ALICE, root.ts)


async def test_the_answer_is_what_the_bot_said_in_the_thread_and_nobody_else(playground: Playground) -> None:
    root = playground.people.say(ALICE, GENERAL, "question")
    api = slack_api(playground)
    await api.chat_postMessage(channel=GENERAL, thread_ts=root.ts, text="First. ")
    playground.people.say(BOB, GENERAL, "I know too", thread_ts=root.ts)
    await api.chat_postMessage(channel=GENERAL, thread_ts=root.ts, markdown_text="**Second.**")
    assert playground.answer_text(GENERAL, root.ts) == "First. **Second.**"


async def test_waiting_ends_with_the_first_answer_or_in_time(playground: Playground) -> None:
    async def later() -> None:
        await asyncio.sleep(0.01)
        playground.people.say(ALICE, GENERAL, "now")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(later())
        messages = await playground.wait_for(lambda: list(playground.workspace.messages.get(GENERAL, {}).values()))
    assert messages[0].text == "now"
    with pytest.raises(TimeoutError):
        await playground.wait_for(lambda: None, timeout_s=0.05)


async def test_a_message_of_another_app_reaches_the_bot(playground: Playground) -> None:
    options = PostOptions(bot_id="B0DEPLOY01", app_id="A0DEPLOY01")
    playground.workspace.post("C0DEPLOYS1", "U0DEPLOY01", "released", options=options)
    assert playground.delivery.under_way == 1
    assert playground.workspace.apps[APP_ID].bot_user_id == BOT_USER


async def test_an_answer_is_complete_when_its_stream_has_ended(playground: Playground) -> None:
    root = playground.people.say(ALICE, GENERAL, "tell me")
    api, team = slack_api(playground), playground.workspace.team.id

    async def reply() -> None:
        await api.assistant_threads_setStatus(channel_id=GENERAL, thread_ts=root.ts, status="is thinking…")
        started = await api.chat_startStream(
            channel=GENERAL, thread_ts=root.ts, recipient_user_id=ALICE, recipient_team_id=team, markdown_text="One "
        )
        await api.chat_appendStream(channel=GENERAL, ts=started["ts"], markdown_text="two ")
        await api.chat_stopStream(channel=GENERAL, ts=started["ts"], markdown_text="three")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(reply())
        answer = await playground.answer(GENERAL, root.ts)
    assert answer == "One two three"
    with pytest.raises(TimeoutError):
        await playground.answer(GENERAL, playground.people.say(ALICE, GENERAL, "and?").ts, timeout_s=0.05)

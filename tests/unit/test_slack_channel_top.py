"""What is read at the top of a channel that is one conversation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.channel import Remains
from app.errors import ChannelUnavailableError
from app.slack.calls import SlackCalls, SlackLostError, web_client
from app.slack.marks import mark
from app.slack.names import Names
from app.slack.payloads import Identity, SlackMessage, message_event
from app.slack.posting import Begun, Posting, Thread
from app.slack.reading import EVERYTHING_PAGES, PAGE_MESSAGES, PAGES, newest_of_channel
from app.slack.steps import Post, Start
from app.slack.thread import SlackThread
from tests.fakes import ManualClock

ME = "UBOT"
TOP = Thread("C1", None, "T1", "U1", "5.0", turn="mine")
THREAD = replace(TOP, root_ts="5.0")
READ_AT_ONCE = PAGES * PAGE_MESSAGES


class Channel(SlackCalls):
    """What reads over a list of messages, oldest first: of the channel, or of its one thread."""

    def __init__(self, messages: list[dict[str, Any]], *, is_away: bool = False) -> None:
        super().__init__(web_client(None, api_url="http://127.0.0.1:1/", token=None))
        self.messages = messages
        self.is_away = is_away
        self.pages = 0

    async def call(self, method: str, arguments: Mapping[str, object], *, as_query: bool = False) -> Mapping[str, Any]:
        if method == "users.info":
            return {"user": {"name": str(arguments["user"]).lower(), "profile": {}}}
        if method == "chat.startStream":
            return {"ts": self.messages[-1]["ts"]}
        if method == "chat.postMessage":
            made = said(f"9.{len(self.messages)}", ME, metadata=arguments["metadata"])
            self.messages.append(made)
            return {"ts": made["ts"]}
        assert as_query
        is_thread = {"conversations.history": False, "conversations.replies": True}[method]
        if self.is_away:
            raise SlackLostError("away")
        self.pages += 1
        oldest, latest = float(str(arguments.get("oldest") or 0)), float(str(arguments.get("latest") or 9e9))
        found = [each for each in self.messages if oldest < float(each["ts"]) < latest]
        if not is_thread:
            found.reverse()
        start, limit = int(str(arguments.get("cursor") or 0)), int(str(arguments["limit"]))
        following = f"{start + limit}" if start + limit < len(found) else ""
        return {"messages": found[start : start + limit], "response_metadata": {"next_cursor": following}}


def said(ts: str, user: str = "U1", **more: object) -> dict[str, Any]:
    return {"ts": ts, "user": user, "text": f"text {ts}", **more}


def marked(ts: str, turn: str, *, is_last: bool = False) -> dict[str, Any]:
    return said(ts, ME, **mark(turn, is_last=is_last))


def reading(channel: Channel, ts: str = "5.0") -> SlackThread:
    event = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "ts": ts, "text": "hi"}
    message: SlackMessage = message_event({"event_id": "Ev1", "team_id": "T1", "event": event})
    return SlackThread(channel, Names(channel, ManualClock()), Identity(ME, "BBOT", "T1"), message, in_channel=True)


async def test_the_newest_before_the_message_are_read_oldest_first_without_joins_and_topics() -> None:
    lines = [said("1.0"), said("2.0", subtype="channel_join"), said("3.0", ME), said("4.0", "U2"), said("6.0")]
    history = await reading(Channel(lines)).history(10)
    assert [(each.position, each.author, each.by_bot) for each in history] == [
        ("1.0", "u1", False),
        ("3.0", "ubot", True),
        ("4.0", "u2", False),
    ]
    assert [each.position for each in await reading(Channel(lines)).history(1)] == ["4.0"]
    assert [each.position for each in await reading(Channel(lines)).history(10, "3.0")] == ["4.0"]


async def test_a_channel_that_cannot_be_read_is_not_an_empty_one() -> None:
    with pytest.raises(ChannelUnavailableError):
        await reading(Channel([], is_away=True)).history(10)


async def test_pages_are_read_until_there_are_enough() -> None:
    channel = Channel([said(f"{number}.0") for number in range(1, 2 * PAGE_MESSAGES + 2)])
    assert len(await newest_of_channel(channel, "C1", {}, PAGE_MESSAGES)) == PAGE_MESSAGES
    assert channel.pages == 1
    whole = await newest_of_channel(channel, "C1", {}, 3 * PAGE_MESSAGES)
    assert [each["ts"] for each in whole] == [each["ts"] for each in channel.messages]
    assert channel.pages == 4


@pytest.mark.parametrize("where", [TOP, THREAD])
async def test_what_is_left_of_an_answer_is_found_however_much_was_said_after_and_before_it(where: Thread) -> None:
    """What is overlooked would be said a second time."""
    chat = [said(f"{number}.5", "U2") for number in range(6, 3 * READ_AT_ONCE)]
    answer = marked("3000.7", "mine", is_last=True)
    channel = Channel(sorted([*chat, answer], key=lambda each: float(each["ts"])))
    assert await Posting(channel, where, ME).remains(frozenset()) == Remains(("3000.7",), is_whole=True)


async def test_a_stream_that_this_process_has_begun_is_left_of_the_turn_that_it_belongs_to() -> None:
    """Whether or not that is noted down by now."""
    begun, channel = Begun(), Channel([said("5.3", ME)])
    mine, another = THREAD, replace(THREAD, turn="another")
    await Posting(channel, another, ME, begun).make(Start("hello"), "nonce")
    assert await Posting(channel, mine, ME, begun).remains(frozenset()) == Remains()
    assert await Posting(channel, another, ME, begun).remains(frozenset()) == Remains(("5.3",))


class Uploading(SlackCalls):
    """Takes a file and says which name it was given."""

    def __init__(self) -> None:
        super().__init__(web_client(None, api_url="http://127.0.0.1:1/", token=None))
        self.name = ""

    async def call(self, method: str, arguments: Mapping[str, object], *, as_query: bool = False) -> Mapping[str, Any]:
        self.name = str(arguments.get("filename") or self.name)
        return {"upload_url": "", "file_id": "F1", "messages": []}

    async def upload(self, url: str, content: bytes) -> None:
        """It is there."""


@pytest.mark.parametrize("where", [TOP, THREAD])
async def test_a_file_is_the_end_of_the_answer_that_it_was_made_for_and_of_no_other(where: Thread) -> None:
    """Whether or not it could be noted down: Slack may show it later than it is asked for it."""
    mine, another = replace(where, turn="Ev1"), replace(where, turn="Ev1+")
    uploading = Uploading()
    assert await Posting(uploading, another, ME).attach("answer.md", "content", "comment") is None
    channel = Channel([said("5.3", ME, files=[{"id": "F1", "name": uploading.name}])])
    assert await Posting(channel, mine, ME).remains(frozenset()) == Remains()
    assert await Posting(channel, another, ME).remains(frozenset()) == Remains(("5.3",), is_whole=True)


@pytest.mark.parametrize("where", [TOP, THREAD])
async def test_messages_that_were_answered_together_have_one_answer_and_its_end_tells_so(where: Thread) -> None:
    channel, others = Channel([]), ["5.1", "5.2"]
    posting = Posting(channel, where, ME, others=lambda: others)
    for call in (Post("one"), Post("two", is_last=True)):
        await posting.make(call, "nonce")
    for ts, is_known in (("5.1", True), ("5.2", True), ("5.3", False), ("5", False)):
        left = await Posting(channel, replace(where, turn="its own", after_ts=ts), ME).remains(frozenset())
        assert left == (Remains(("9.1",), is_whole=True) if is_known else Remains())


async def test_what_is_too_much_to_read_is_not_taken_for_read() -> None:
    lines = [said(f"{number}.5", "U2") for number in range(6, 8 + EVERYTHING_PAGES * PAGE_MESSAGES)]
    with pytest.raises(SlackLostError):
        await Posting(Channel(lines), TOP, ME).remains(frozenset())


async def test_only_what_is_marked_as_the_turns_own_is_left_of_it_and_files_that_nobody_claims() -> None:
    """At the top of a channel the bot may have said anything."""
    lines = [
        said("4.0", ME),
        said("5.1", ME),
        marked("5.2", "another"),
        marked("5.3", "mine"),
        said("5.4", ME, files=[{"id": "F1"}]),
        said("5.5", "U2"),
    ]
    posting = Posting(Channel(lines), TOP, ME)
    assert not posting.can_stream
    assert await posting.remains(frozenset({"5.4"})) == Remains(("5.3",), is_whole=False)
    assert await posting.remains(frozenset()) == Remains(("5.3", "5.4"), is_whole=True)
    assert await Posting(Channel([marked("5.3", "mine", is_last=True)]), TOP, ME).remains(frozenset()) == Remains(
        ("5.3",), is_whole=True
    )

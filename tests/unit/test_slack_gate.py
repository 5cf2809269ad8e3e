"""Whether a message is for the bot."""

from typing import Any

import pytest

from app.channel import Address, Visibility
from app.slack.gate import Considered, Ignored, belongs_to_channel, decide, is_own, visibility
from app.slack.payloads import Identity, MalformedEventError, is_message, message_event, stop_event

ME = Identity("UBOT", "BBOT", "T1")


def body(**event: Any) -> dict[str, Any]:
    fields = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "ts": "1.1", "text": "hi"}
    return {"event_id": "Ev1", "team_id": "T1", "event": fields | event}


def decided(**event: Any) -> Ignored | Considered:
    return decide(message_event(body(**event)), ME)


@pytest.mark.parametrize(
    ("event", "address"),
    [
        ({"channel_type": "im"}, Address.DIRECT),
        ({"channel_type": "im", "thread_ts": "1.0", "ts": "1.1"}, Address.DIRECT),
        ({"text": "<@UBOT> hi"}, Address.MENTION),
        ({"text": "hi <@UBOT|bot>", "thread_ts": "1.0"}, Address.MENTION),
        ({"type": "app_mention", "channel_type": None, "text": "<@UBOT> hi"}, Address.MENTION),
        ({"thread_ts": "1.0"}, Address.FOLLOW_UP),
        ({"thread_ts": "1.0", "subtype": "thread_broadcast"}, Address.FOLLOW_UP),
        ({"channel_type": "im", "subtype": "file_share"}, Address.DIRECT),
        ({"channel_type": "im", "subtype": "me_message"}, Address.DIRECT),
        ({"channel_type": "mpim", "text": "<@UBOT>"}, Address.MENTION),
        # An app_mention of a thread reply that does not name the bot is an ordinary reply.
        ({"type": "app_mention", "channel_type": None, "thread_ts": "1.0"}, Address.FOLLOW_UP),
        (
            {"text": "", "blocks": [{"elements": [{"elements": [{"type": "user", "user_id": "UBOT"}]}]}]},
            Address.MENTION,
        ),
    ],
)
def test_what_is_said_to_the_bot_is_considered(event: dict[str, Any], address: Address) -> None:
    assert decided(**event) == Considered(address)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({}, Ignored.NOT_ADDRESSED),
        ({"thread_ts": "1.1"}, Ignored.NOT_ADDRESSED),
        ({"channel_type": "mpim"}, Ignored.NOT_ADDRESSED),
        ({"user": "UBOT", "channel_type": "im"}, Ignored.OWN),
        ({"user": "UBOT", "bot_id": "BBOT", "channel_type": "im"}, Ignored.OWN),
        ({"bot_id": "BOTHER", "text": "<@UBOT>"}, Ignored.MACHINE),
        ({"user": None, "subtype": "bot_message", "text": "<@UBOT>"}, Ignored.MACHINE),
        ({"user": "USLACKBOT", "channel_type": "im"}, Ignored.MACHINE),
        ({"user": None, "subtype": "message_changed", "hidden": True}, Ignored.NOT_SPEECH),
        ({"user": None, "subtype": "message_deleted", "hidden": True}, Ignored.NOT_SPEECH),
        ({"subtype": "channel_join", "text": "<@UBOT> has joined"}, Ignored.NOT_SPEECH),
        ({"hidden": True, "channel_type": "im"}, Ignored.NOT_SPEECH),
        ({"type": "app_mention", "text": "<@UBOT>", "edited": {"user": "U1", "ts": "1.2"}}, Ignored.NOT_SPEECH),
        (
            {"blocks": [{"type": "rich_text_quote", "elements": [{"type": "user", "user_id": "UBOT"}]}]},
            Ignored.NOT_ADDRESSED,
        ),
    ],
)
def test_what_is_not_said_to_the_bot_is_ignored(event: dict[str, Any], reason: Ignored) -> None:
    assert decided(**event) == reason


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"user": "UBOT", "bot_id": "BBOT"}, True),
        ({"user": "U1", "bot_id": "BBOT"}, True),
        ({"user": "U1"}, False),
        ({"subtype": "message_changed", "message": {"user": "UBOT"}}, False),
    ],
)
def test_the_bots_own_words_are_known_before_anything_else_is_looked_at(
    event: dict[str, Any], *, expected: bool
) -> None:
    assert is_own(event, ME) is expected


def test_nothing_is_answered_before_the_bot_knows_who_it_is() -> None:
    assert decide(message_event(body(channel_type="im")), None) == Ignored.IDENTITY_UNKNOWN


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"channel_type": "channel"}, Visibility.PUBLIC),
        ({"channel_type": "group"}, Visibility.PRIVATE),
        ({"channel_type": "mpim"}, Visibility.DM),
        ({"channel_type": "im"}, Visibility.DM),
        ({"channel_type": "app_home"}, Visibility.UNKNOWN),
        ({"channel_type": None}, Visibility.UNKNOWN),
        ({"channel_type": None, "channel": "D1"}, Visibility.DM),
        ({"channel_type": None, "channel": "G1"}, Visibility.PRIVATE),
    ],
)
def test_who_can_see_a_channel(event: dict[str, Any], expected: Visibility) -> None:
    assert visibility(message_event(body(**event))) == expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"type": "event_callback", "event": {"type": "message"}}, True),
        ({"type": "event_callback", "event": {"type": "app_mention"}}, True),
        ({"type": "event_callback", "event": {"type": "app_home_opened"}}, False),
        ({"type": "event_callback", "event": "message"}, False),
        ({"type": "event_callback"}, False),
        ({"type": "block_actions", "event": {"type": "message"}}, False),
        ({}, False),
    ],
)
def test_messages_are_told_from_everything_else_that_slack_sends(payload: dict[str, Any], *, expected: bool) -> None:
    assert is_message(payload) is expected


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"event_id": "Ev1"},
        {"event_id": "Ev1", "event": {"channel": "C1"}},
        {"event_id": "Ev1", "event": {"channel": "C1", "ts": "secret text"}},
        {"event_id": "Ev1", "event": {"channel": 7, "ts": "1.1"}},
        {"event": {"channel": "C1", "ts": "1.1"}},
    ],
)
def test_a_malformed_event_is_refused_without_quoting_it(broken: dict[str, Any]) -> None:
    with pytest.raises(MalformedEventError) as refusal:
        message_event(broken)
    assert "secret" not in str(refusal.value)


def test_people_are_named_anywhere_in_rich_text_but_in_code_and_quotes() -> None:
    def named(user: object) -> dict[str, object]:
        return {"type": "user", "user_id": user}

    listed = {"type": "rich_text_list", "elements": [{"type": "rich_text_section", "elements": [named("U2")]}]}
    code = {"type": "rich_text_preformatted", "elements": [named("U3")]}
    odd = {"type": "rich_text_section", "elements": {"type": "user", "user_id": "U4", "elements": ["U5", None, 7]}}
    elements = [named("U1"), listed, code, odd, named(7), {"type": ["user"]}]
    message = message_event(body(blocks=[{"type": "rich_text", "elements": elements}, {}]))
    assert message.mentioned_users == {"U1", "U2", "U4"}


def test_a_forwarded_message_and_files_come_along() -> None:
    message = message_event(
        body(
            attachments=[{"text": "the forwarded part"}, {"fallback": "a preview"}],
            files=[{"id": "F1", "name": "plan.pdf", "mimetype": "application/pdf", "size": 12}, {"id": "F2"}],
        )
    )
    assert message.text == "hi\nthe forwarded part\na preview"
    assert [(file.name, file.media_type, file.size_bytes) for file in message.files] == [
        ("plan.pdf", "application/pdf", 12),
        ("F2", "application/octet-stream", 0),
    ]


@pytest.mark.parametrize(
    ("event", "is_channels"),
    [
        ({}, True),
        ({"channel": "G1", "channel_type": "mpim"}, True),
        ({"type": "app_mention", "channel_type": None}, True),
        ({"thread_ts": "1.1"}, True),
        ({"thread_ts": "1.0"}, False),
        ({"channel": "D1", "channel_type": "im"}, False),
    ],
)
def test_the_top_of_a_channel_is_one_conversation_where_the_settings_say_so(
    event: dict[str, Any], *, is_channels: bool
) -> None:
    """A thread_ts that equals ts is no reply."""
    said = message_event(body(**event))
    assert belongs_to_channel(said, reply_in_thread=False) is is_channels
    assert not belongs_to_channel(said, reply_in_thread=True)


def test_a_stop_names_its_thread() -> None:
    stop = stop_event({"event_id": "Ev1", "event": {"channel": "C1", "thread_ts": "1.0", "user": "U1"}})
    assert (stop.channel, stop.thread_ts) == ("C1", "1.0")
    with pytest.raises(MalformedEventError):
        stop_event({"event_id": "Ev1", "event": {"channel": "C1"}})

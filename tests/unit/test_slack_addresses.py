"""A conversation is found again by the address of the message that it answers."""

import json
from typing import Any

import pytest

from app.background import Background
from app.slack.addresses import address_of, reopened
from app.slack.chat import SlackChat
from app.slack.payloads import message_event
from tests.fakes import message
from tests.unbuilt_bolt import unconnected_workspace

WORDS = {
    "text": "a secret plan",
    "blocks": [{"type": "rich_text", "elements": [{"type": "user", "user_id": "U7"}]}],
    "files": [{"id": "F1", "name": "plan.pdf"}],
}


def addressed(**fields: Any) -> str:
    event = {"type": "message", "channel": "C1", "ts": "2.5", "thread_ts": "1.5", "user": "U1"} | WORDS | fields
    return address_of(message_event({"event_id": "Ev1", "team_id": "T1", "event": event}))


def found(address: str) -> SlackChat | None:
    chat = reopened(unconnected_workspace(Background()), message(), address)
    assert chat is None or isinstance(chat, SlackChat)
    return chat


def test_an_address_leads_back_to_its_thread_and_holds_no_words() -> None:
    chat = found(addressed())
    assert chat is not None
    assert (chat.thread.channel, chat.thread.root_ts, chat.thread.after_ts) == ("C1", "1.5", "2.5")
    assert (chat.thread.recipient_user, chat.thread.turn) == ("U1", "Ev1")
    assert not {"text", "mentioned_users", "files"} & json.loads(addressed()).keys()


def test_an_address_with_room_for_words_is_understood_too() -> None:
    address = json.dumps(json.loads(addressed()) | {"text": "", "mentioned_users": [], "files": []})
    before, now = found(address), found(addressed())
    assert before is not None
    assert now is not None
    assert before.thread == now.thread


@pytest.mark.parametrize("address", ["", "no json", "{}", '{"channel": "C1"}'])
def test_what_is_no_address_leads_nowhere(address: str) -> None:
    assert found(address) is None


def test_an_address_of_another_workspace_leads_nowhere() -> None:
    elsewhere = json.dumps(json.loads(addressed()) | {"team_id": "T2"})
    assert found(elsewhere) is None

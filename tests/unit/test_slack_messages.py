"""What people say, from the event to the records."""

import asyncio
from dataclasses import replace
from typing import Any

from app.background import Background
from app.channel import IncomingMessage
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.journal import Accepted
from app.dispatch.ports import Limits
from app.sessions.key import SessionKey
from app.slack.messages import Messages
from tests.fakes import FakeJournal, OneModel, ScriptedProvider, ports_of
from tests.unbuilt_bolt import unconnected_workspace


class BusyJournal(FakeJournal):
    """Counts what asks to be written down, lets others come in between, and has known all of it before."""

    asked = 0

    async def accept(self, message: IncomingMessage, key: SessionKey, address: str | None) -> Accepted | None:
        self.asked += 1
        await asyncio.sleep(0)
        return None


def told(kind: str, event_id: str, ts: str = "1.1") -> dict[str, Any]:
    event = {"type": kind, "user": "U1", "channel": "C1", "ts": ts, "text": "<@UBOT> hello", "channel_type": "channel"}
    return {"type": "event_callback", "event_id": event_id, "team_id": "T1", "event": event}


def hearing() -> tuple[Messages, BusyJournal]:
    background = Background()
    workspace = unconnected_workspace(background)
    journal = BusyJournal(workspace.clock)
    ports = replace(ports_of(OneModel(ScriptedProvider([])), workspace.clock), journal=journal)
    return Messages(workspace, Dispatcher(ports, Limits(1.0, 1)), background), journal


async def test_a_mention_that_comes_as_two_events_asks_the_records_once() -> None:
    messages, journal = hearing()
    await asyncio.gather(messages.take(told("message", "Ev1")), messages.take(told("app_mention", "Ev2")))
    await messages.take(told("message", "Ev1"))
    assert journal.asked == 1


async def test_two_messages_ask_twice_and_the_bots_own_words_never() -> None:
    messages, journal = hearing()
    await messages.take(told("message", "Ev1"))
    await messages.take(told("message", "Ev2", ts="1.2"))
    own = told("message", "Ev3", ts="1.3")
    own["event"] |= {"user": "UBOT", "bot_id": "BBOT"}
    await messages.take(own)
    assert journal.asked == 2

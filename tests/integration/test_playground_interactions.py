"""Clicks, modals, commands and shortcuts in the playground, answered by a real Bolt app over Socket Mode."""

import logging
from typing import Any

import aiohttp
import pytest

from app.playground.delivery import AckTimes
from app.playground.model import Message
from app.playground.refusal import SlackRefusal
from app.playground.seed import ALICE, BOB, BOT_USER, GENERAL, LEADS
from app.playground.server import Playground, open_playground
from app.playground.workspace import PostOptions
from tests.bolt_bots import all_of, ephemerals, nothing, on_action, on_command, playing, recording, slack_api, taking

Json = dict[str, Any]
BUTTONS: list[Json] = [
    {
        "type": "actions",
        "block_id": "choice",
        "elements": [
            {"type": "button", "action_id": "yes", "text": {"type": "plain_text", "text": "Yes"}, "value": "y"},
            {
                "type": "static_select",
                "action_id": "colour",
                "placeholder": {"type": "plain_text", "text": "Colour"},
                "options": [
                    {"text": {"type": "plain_text", "text": "Red"}, "value": "red"},
                    {"text": {"type": "plain_text", "text": "Blue"}, "value": "blue"},
                ],
            },
        ],
    },
    {
        "type": "context_actions",
        "block_id": "rating",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "feedback",
                "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "good"},
                "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "bad"},
            }
        ],
    },
]


async def post_buttons(playground: Playground) -> Message:
    posted = await slack_api(playground).chat_postMessage(channel=GENERAL, text="choose", blocks=BUTTONS)
    return playground.workspace.messages[GENERAL][str(posted["ts"])]


async def test_a_click_on_a_button_arrives_as_block_actions() -> None:
    bodies: list[Json] = []
    async with playing(on_action("yes", taking(bodies))) as playground:
        message = await post_buttons(playground)
        await playground.people.click(ALICE, GENERAL, message.ts, "yes")
        await playground.wait_for(lambda: bodies)
    body = bodies[0]
    assert body["container"] == {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": GENERAL,
        "is_ephemeral": False,
    }
    action = body["actions"][0]
    assert (action["type"], action["block_id"], action["value"]) == ("button", "choice", "y")
    assert body["message"]["blocks"][0]["block_id"] == "choice"
    assert body["state"]["values"]["choice"]["colour"] == {"type": "static_select", "selected_option": None}


async def test_a_choice_in_a_menu_is_kept_as_the_messages_state() -> None:
    bodies: list[Json] = []

    register = all_of(on_action("colour", taking(bodies)), on_action("yes", taking(bodies)))
    async with playing(register) as playground:
        message = await post_buttons(playground)
        await playground.people.click(ALICE, GENERAL, message.ts, "colour", selected="blue")
        await playground.people.click(ALICE, GENERAL, message.ts, "yes")
        await playground.wait_for(lambda: len(bodies) == 2)
    assert bodies[0]["actions"][0]["selected_option"]["value"] == "blue"
    assert bodies[1]["state"]["values"]["choice"]["colour"]["selected_option"]["value"] == "blue"
    assert "yes" not in bodies[1]["state"]["values"]["choice"]


@pytest.mark.parametrize(("value", "text"), [("good", "Good"), ("bad", "Bad")])
async def test_feedback_buttons_tell_which_of_the_two_was_pressed(value: str, text: str) -> None:
    bodies: list[Json] = []
    async with playing(on_action("feedback", taking(bodies))) as playground:
        message = await post_buttons(playground)
        await playground.people.click(ALICE, GENERAL, message.ts, "feedback", value=value)
        await playground.wait_for(lambda: bodies)
    action = bodies[0]["actions"][0]
    assert (action["value"], action["text"]["text"]) == (value, text)


async def test_only_what_a_person_can_see_can_be_clicked() -> None:
    async with playing(nothing) as playground:
        message = await post_buttons(playground)
        for action_id, error in (("no-such-button", "action_not_found"), ("colour", "option_not_found")):
            with pytest.raises(SlackRefusal) as refused:
                await playground.people.click(ALICE, GENERAL, message.ts, action_id, selected="green")
            assert refused.value.error == error


async def test_a_click_nobody_acknowledges_times_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    async with playing(nothing, timeout_s=0.3) as playground:
        message = await post_buttons(playground)
        with pytest.raises(SlackRefusal) as refused:
            await playground.people.click(ALICE, GENERAL, message.ts, "yes")
    assert refused.value.error == "operation_timeout"


async def test_a_command_fails_when_no_app_is_connected() -> None:
    times = AckTimes(timeout_s=0.05, retry_after_s=())
    async with open_playground(with_page=False, enforce_rates=False, times=times) as playground:
        with pytest.raises(SlackRefusal) as refused:
            await playground.people.slash(ALICE, GENERAL, "/memory", "list")
    assert refused.value.error == "dispatch_failed"


async def test_a_response_url_answers_replaces_and_deletes() -> None:
    async def act(ack: Any, respond: Any) -> None:
        await ack()
        await respond("for you alone")
        await respond("for all", response_type="in_channel")
        await respond("done", replace_original=True)
        await respond(delete_original=True)

    async with playing(on_action("yes", act)) as playground:
        seen = ephemerals(playground)
        message = await post_buttons(playground)
        await playground.people.click(ALICE, GENERAL, message.ts, "yes")
        await playground.wait_for(lambda: message.ts not in playground.workspace.messages[GENERAL])
        texts = [each.text for each in playground.workspace.messages[GENERAL].values()]
    assert [(each.text, each.user) for each in seen] == [("for you alone", ALICE)]
    assert message.text == "done"
    assert texts == ["for all"]


async def test_a_response_url_is_used_up_after_five_answers() -> None:
    bodies: list[Json] = []
    async with playing(on_action("yes", taking(bodies))) as playground:
        message = await post_buttons(playground)
        await playground.people.click(ALICE, GENERAL, message.ts, "yes")
        await playground.wait_for(lambda: bodies)
        async with aiohttp.ClientSession() as session:
            answers: list[tuple[int, str]] = []
            for _ in range(6):
                async with session.post(bodies[0]["response_url"], json={"text": "again"}) as response:
                    answers.append((response.status, await response.text()))
    assert answers[:5] == [(200, "ok")] * 5
    assert answers[5][0] == 404
    assert "used_url" in answers[5][1]


async def test_an_ephemeral_message_can_be_clicked_and_replaced_by_its_reader_only() -> None:
    async def act(ack: Any, respond: Any) -> None:
        await ack()
        await respond("thank you", replace_original=True)

    async with playing(on_action("yes", act)) as playground:
        seen = ephemerals(playground)
        await slack_api(playground).chat_postEphemeral(channel=GENERAL, user=ALICE, text="choose", blocks=BUTTONS)
        with pytest.raises(SlackRefusal) as refused:
            await playground.people.click(BOB, GENERAL, seen[0].ts, "yes")
        await playground.people.click(ALICE, GENERAL, seen[0].ts, "yes")
        await playground.wait_for(lambda: len(seen) == 2)
        payload = playground.delivery.log[-1].payload
    assert refused.value.error == "message_not_found"
    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload
    assert (seen[1].ts, seen[1].text) == (seen[0].ts, "thank you")


async def test_a_slash_command_is_answered_by_its_acknowledgement() -> None:
    async def command(ack: Any, body: Json) -> None:
        await ack(f"you said {body['text']}")

    async with playing(on_command("/memory", command)) as playground:
        seen = ephemerals(playground)
        await playground.people.slash(ALICE, GENERAL, "/memory", "list all")
        payload = playground.delivery.log[-1].payload
    assert [(each.text, each.user, each.channel) for each in seen] == [("you said list all", ALICE, GENERAL)]
    assert (payload["channel_name"], payload["user_name"]) == ("general", "alice")


async def test_a_slash_command_may_answer_the_channel_and_later_by_response_url() -> None:
    async def command(ack: Any, respond: Any) -> None:
        await ack(text="for all", response_type="in_channel")
        await respond("and later")

    async with playing(on_command("/memory", command)) as playground:
        seen = ephemerals(playground)
        await playground.people.slash(ALICE, GENERAL, "/memory")
        await playground.wait_for(lambda: seen)
        posted = list(playground.workspace.messages[GENERAL].values())
    assert [(each.text, each.user) for each in posted] == [("for all", BOT_USER)]
    assert seen[0].text == "and later"


async def test_an_unknown_command_is_refused() -> None:
    async with playing(nothing) as playground:
        with pytest.raises(SlackRefusal) as refused:
            await playground.people.slash(ALICE, GENERAL, "/unknown")
    assert refused.value.error == "command_not_found"


async def test_a_click_in_a_thread_carries_the_thread() -> None:
    async with open_playground(with_page=False, enforce_rates=False) as playground, recording(playground):
        root = playground.people.say(ALICE, GENERAL, "root")
        posted = await slack_api(playground).chat_postMessage(
            channel=GENERAL, thread_ts=root.ts, text="choose", blocks=BUTTONS
        )
        await playground.people.click(ALICE, GENERAL, posted["ts"], "yes")
        payload = playground.delivery.log[-1].payload
    assert payload["container"]["thread_ts"] == root.ts
    assert payload["message"]["thread_ts"] == root.ts


async def test_dms_and_private_channels_are_named_by_their_kind() -> None:
    async with open_playground(with_page=False, enforce_rates=False) as playground, recording(playground):
        dm = playground.people.open_dm(BOB, BOT_USER)
        for channel in (dm.id, LEADS, GENERAL):
            await playground.people.slash(BOB, channel, "/memory", "list")
        names = [entry.payload["channel_name"] for entry in playground.delivery.log]
    assert names == ["directmessage", "privategroup", "general"]


async def test_what_belongs_to_no_app_cannot_be_clicked() -> None:
    async with open_playground(with_page=False) as playground:
        options = PostOptions(blocks=BUTTONS)
        message = playground.workspace.post(GENERAL, ALICE, "mine", options=options)
        with pytest.raises(SlackRefusal, match="action_not_found"):
            await playground.people.click(ALICE, GENERAL, message.ts, "yes")

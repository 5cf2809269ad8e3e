"""Streamed messages over real sockets: the states a stream goes through and what is refused in each."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from app.playground.happenings import Happening, SessionStatus, SessionStopped
from app.playground.model import Json
from app.playground.seed import ALICE, BOT_USER, DEPLOY_BOT_TOKEN, DEPLOYS, GENERAL, TEAM_ID
from tests.fakes import ManualClock
from tests.playground_api import Api, open_api, refusal_of

RECIPIENT = {"recipient_team_id": TEAM_ID, "recipient_user_id": ALICE}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def api(clock: ManualClock) -> AsyncGenerator[Api]:
    async with open_api(clock=clock) as opened:
        yield opened


async def started(api: Api, **args: Any) -> Json:
    """A stream in a thread that Alice began in #general."""
    root = api.workspace.post(GENERAL, ALICE, "question")
    answer = await api.call("chat.startStream", channel=GENERAL, thread_ts=root.ts, **RECIPIENT, **args)
    assert answer["ok"] is True, answer
    return {"channel": GENERAL, "ts": answer["ts"]}


def text_chunk(text: str) -> Json:
    return {"type": "markdown_text", "text": text}


def task(task_id: str, status: str) -> Json:
    return {"type": "task_update", "id": task_id, "title": f"Task {task_id}", "status": status}


async def test_text_grows_with_each_append_and_is_complete_after_stop(api: Api) -> None:
    stream = await started(api, markdown_text="one ")
    await api.call("chat.appendStream", **stream, markdown_text="two ")
    message = api.workspace.messages[GENERAL][stream["ts"]]
    assert (message.text, message.stream and message.stream.state) == ("one two ", "in_progress")
    answer = await api.call("chat.stopStream", **stream, markdown_text="three", blocks=[{"type": "divider"}])
    shown = answer["message"]
    assert shown["text"] == "one two three"
    assert [block["type"] for block in shown["blocks"]] == ["markdown", "divider"]
    assert shown["streaming_state"] == "completed"
    assert shown["user"] == BOT_USER


async def test_task_updates_with_one_id_become_one_card_where_it_began(api: Api) -> None:
    stream = await started(api, chunks=[text_chunk("a"), task("t1", "in_progress")])
    await api.call("chat.appendStream", **stream, chunks=[text_chunk("b"), task("t1", "complete")])
    blocks = api.workspace.messages[GENERAL][stream["ts"]].blocks
    assert [block["type"] for block in blocks] == ["markdown", "task_card", "markdown"]
    assert blocks[1]["status"] == "complete"


async def test_a_task_shows_details_output_and_sources_as_blocks_do(api: Api) -> None:
    source = {"type": "url", "url": "https://a.example", "text": "a"}
    shown = task("t1", "complete") | {"details": "looked it up", "output": "found", "sources": [source]}
    stream = await started(api, chunks=[shown])
    rich: Json = {"type": "rich_text", "elements": []}
    again = task("t1", "complete") | {"output": rich}
    await api.call("chat.appendStream", **stream, chunks=[again, text_chunk("")])
    (card,) = api.workspace.messages[GENERAL][stream["ts"]].blocks
    assert card["details"]["elements"][0]["elements"] == [{"type": "text", "text": "looked it up"}]
    assert (card["output"], card["sources"]) == (rich, [source])


async def test_deleting_a_live_stream_ends_it(api: Api) -> None:
    stream = await started(api, markdown_text="a")
    assert (await api.call("chat.delete", **stream))["ok"] is True
    assert api.workspace.live_streams == {}
    assert await api.error("chat.appendStream", **stream, markdown_text="b") == "message_not_found"


async def test_in_plan_mode_tasks_are_gathered_in_one_plan_on_top(api: Api) -> None:
    stream = await started(api, task_display_mode="plan", chunks=[text_chunk("a"), task("t1", "complete")])
    chunks = [task("t2", "pending"), {"type": "plan_update", "title": "Research"}]
    await api.call("chat.appendStream", **stream, chunks=chunks)
    plan, text = api.workspace.messages[GENERAL][stream["ts"]].blocks
    assert (plan["type"], plan["title"], text["type"]) == ("plan", "Research", "markdown")
    assert [card["task_id"] for card in plan["tasks"]] == ["t1", "t2"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"recipient_team_id": ""}, "missing_recipient_team_id"),
        ({"recipient_user_id": ""}, "missing_recipient_user_id"),
        ({"thread_ts": ""}, "invalid_arguments"),
        ({"thread_ts": "1.000001"}, "thread_not_found"),
        ({"channel": "C0NOWHERE1"}, "channel_not_found"),
        ({"task_display_mode": "fancy"}, "invalid_arguments"),
        ({"markdown_text": "m" * 12_001}, "msg_too_long"),
        ({"markdown_text": "m", "chunks": [text_chunk("c")]}, "markdown_text_conflict"),
        ({"chunks": [{"type": "unheard_of"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "task_update", "id": "t", "title": "T", "status": "odd"}]}, "invalid_chunks"),
        ({"chunks": "nonsense"}, "invalid_chunks"),
    ],
)
async def test_what_a_start_may_not_be(api: Api, args: Json, error: str) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    given = {"channel": GENERAL, "thread_ts": root.ts, **RECIPIENT} | args
    assert await api.error("chat.startStream", **given) == error
    assert api.workspace.live_streams == {}


async def test_in_a_dm_no_recipient_is_needed(api: Api) -> None:
    channel = api.workspace.dm_of(ALICE, api.app).id
    root = api.workspace.post(channel, ALICE, "question")
    answer = await api.call("chat.startStream", channel=channel, thread_ts=root.ts, markdown_text="a")
    assert answer["ok"] is True


async def test_a_stream_takes_only_the_kind_of_content_it_began_with(api: Api) -> None:
    of_text = await started(api, markdown_text="a")
    of_chunks = await started(api, chunks=[text_chunk("a")])
    for method in ("chat.appendStream", "chat.stopStream"):
        assert await api.error(method, **of_text, chunks=[text_chunk("b")]) == "streaming_mode_mismatch"
        assert await api.error(method, **of_chunks, markdown_text="b") == "streaming_mode_mismatch"
    bare = await started(api)
    assert (await api.call("chat.appendStream", **bare, chunks=[text_chunk("b")]))["ok"] is True
    assert await api.error("chat.appendStream", **bare, markdown_text="c") == "streaming_mode_mismatch"


async def test_an_append_brings_something_and_never_too_much(api: Api) -> None:
    stream = await started(api, chunks=[text_chunk("m" * 8_000)])
    assert await api.error("chat.appendStream", **stream) == "no_text"
    too_long = await api.error("chat.appendStream", **stream, chunks=[text_chunk("m" * 4_001)])
    assert too_long == "msg_too_long"
    dividers = {"type": "blocks", "blocks": [{"type": "divider"}] * 50}
    assert (await api.call("chat.appendStream", **stream, chunks=[dividers]))["ok"] is True
    one_more = {"type": "blocks", "blocks": [{"type": "divider"}]}
    assert await api.error("chat.appendStream", **stream, chunks=[one_more]) == "msg_blocks_too_many"
    assert (await api.call("chat.stopStream", **stream, blocks=[{"type": "divider"}] * 50))["ok"] is True
    assert len(api.workspace.messages[GENERAL][stream["ts"]].blocks) == 101


async def test_a_refused_append_leaves_the_stream_as_it_was(api: Api) -> None:
    stream = await started(api, chunks=[text_chunk("kept")])
    both = [text_chunk("x"), text_chunk("m" * 12_000)]
    assert await api.error("chat.appendStream", **stream, chunks=both) == "msg_too_long"
    message = api.workspace.messages[GENERAL][stream["ts"]]
    assert (message.text, len(message.stream.chunks if message.stream else [])) == ("kept", 1)


async def test_a_stream_closes_five_minutes_after_its_start_even_with_appends(api: Api, clock: ManualClock) -> None:
    stream = await started(api, markdown_text="a")
    clock.elapsed_s += 299
    assert (await api.call("chat.appendStream", **stream, markdown_text="b"))["ok"] is True
    clock.elapsed_s += 1
    for method in ("chat.appendStream", "chat.stopStream"):
        assert await api.error(method, **stream, markdown_text="c") == "message_not_in_streaming_state"
    message = api.workspace.messages[GENERAL][stream["ts"]]
    assert (message.text, message.stream and message.stream.state) == ("ab", "expired")
    assert (await api.call("chat.update", channel=GENERAL, ts=stream["ts"], text="whole"))["ok"] is True


async def test_after_stop_a_stream_takes_nothing_more(api: Api) -> None:
    stream = await started(api, markdown_text="a")
    await api.call("chat.stopStream", **stream)
    for method in ("chat.appendStream", "chat.stopStream"):
        assert await api.error(method, **stream, markdown_text="b") == "message_not_in_streaming_state"


async def test_a_person_can_stop_a_stream_and_the_app_hears_of_it(api: Api) -> None:
    stream = await started(api, markdown_text="a")
    root_ts = api.workspace.messages[GENERAL][stream["ts"]].root_ts
    seen: list[Happening] = []
    api.workspace.subscribe(seen.append)
    api.workspace.stop_streams(GENERAL, root_ts, ALICE)
    stopped = next(each for each in seen if isinstance(each, SessionStopped))
    assert (stopped.user, stopped.streaming_ts) == (ALICE, (stream["ts"],))
    for method in ("chat.appendStream", "chat.stopStream"):
        assert await api.error(method, **stream, markdown_text="b") == "stopped_by_user"


async def test_a_live_stream_cannot_be_updated_and_the_refusal_does_no_harm(api: Api) -> None:
    stream = await started(api, markdown_text="a")
    assert await api.error("chat.update", **stream, text="x") == "streaming_state_conflict"
    assert (await api.call("chat.appendStream", **stream, markdown_text="b"))["ok"] is True


async def test_a_stream_belongs_to_the_app_that_started_it(api: Api) -> None:
    root = api.workspace.post(DEPLOYS, ALICE, "question")
    answer = await api.call("chat.startStream", channel=DEPLOYS, thread_ts=root.ts, **RECIPIENT, markdown_text="a")
    given = {"channel": DEPLOYS, "ts": answer["ts"], "markdown_text": "b"}
    error = await api.error("chat.appendStream", token=DEPLOY_BOT_TOKEN, **given)
    assert error == "message_not_owned_by_app"
    assert await api.error("chat.appendStream", **(given | {"ts": "1.2"})) == "message_not_found"
    plain = await api.call("chat.postMessage", channel=DEPLOYS, text="plain")
    error = await api.error("chat.appendStream", **(given | {"ts": plain["ts"]}))
    assert error == "message_not_in_streaming_state"


async def test_a_session_is_processing_while_streaming_and_then_what_stop_says(api: Api) -> None:
    seen: list[Happening] = []
    api.workspace.subscribe(seen.append)
    stream = await started(api, markdown_text="a")
    await api.call("chat.stopStream", **stream, session_status="suspended")
    statuses = [each.status for each in seen if isinstance(each, SessionStatus)]
    assert statuses == ["processing", "suspended"]
    other = await started(api)
    assert await api.error("chat.stopStream", **other, session_status="odd") == "invalid_arguments"


async def test_slacks_own_stream_helper_runs_from_start_to_stop(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    stream = await api.slack.chat_stream(
        channel=GENERAL, thread_ts=root.ts, buffer_size=4, task_display_mode="plan", **RECIPIENT
    )
    await stream.append(markdown_text="hello ")
    await stream.append(chunks=[task("t1", "complete")])
    await stream.append(markdown_text="wo")
    await stream.stop(markdown_text="rld", session_status="active", blocks=[{"type": "divider"}])
    message = api.workspace.messages[GENERAL][str(stream.ts)]
    assert message.text == "hello world"
    assert [block["type"] for block in message.blocks] == ["plan", "markdown", "divider"]
    assert message.stream is not None
    assert message.stream.state == "completed"


async def test_slacks_own_stream_helper_hears_of_an_expired_stream(api: Api) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    stream = await api.slack.chat_stream(channel=GENERAL, thread_ts=root.ts, buffer_size=1, **RECIPIENT)
    await stream.append(markdown_text="hello")
    api.workspace.expire_streams()
    refused = await refusal_of(stream.append(markdown_text="more"))
    assert refused["error"] == "message_not_in_streaming_state"

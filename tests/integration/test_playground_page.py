"""The page's backend over real sockets: files, state, feed, and who is refused."""

import asyncio
import re
from pathlib import Path

import pytest

from app.playground import page as page_module
from app.playground.happenings import EphemeralPosted, SuggestedPrompts, ThreadStatus
from app.playground.modals import publish_home
from app.playground.model import Json, Stream
from app.playground.seed import (
    ADA,
    ALICE,
    APP_TOKEN,
    BOB,
    BOT_ID,
    BOT_TOKEN,
    BOT_USER,
    DEPLOYS,
    GENERAL,
    LEADS,
    SECRET,
    SIGNING_SECRET,
)
from app.playground.talk import PostOptions
from tests.page_client import page_client

STATIC = Path(page_module.__file__).parent / "static"
EVIL = "https://evil.example"


def _imported() -> list[str]:
    """What the page's modules import, as names under ``static/``."""
    return sorted(
        {
            (module.parent / target).resolve().relative_to(STATIC.resolve()).as_posix()
            for module in STATIC.rglob("*.js")
            for target in re.findall(r'from "(\.[^"]+)"', module.read_text())
        }
    )


IMPORTED = _imported()


async def test_the_page_and_all_it_refers_to_are_served_with_a_strict_policy() -> None:
    async with page_client() as client:
        async with client.session.get(f"{client.playground.base_url}/") as answer:
            page = await answer.text()
            assert answer.content_type == "text/html"
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        references = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
        assert len(references) > 5
        for reference in references:
            async with client.session.get(client.playground.base_url + reference) as answer:
                assert answer.status == 200, reference


async def test_every_module_of_the_page_imports_only_modules_that_are_there() -> None:
    async with page_client() as client:
        for target in IMPORTED:
            async with client.session.get(f"{client.playground.base_url}/static/{target}") as answer:
                assert (answer.status, answer.content_type) == (200, "text/javascript"), target


def test_the_page_never_writes_html_and_fetches_nothing_from_elsewhere() -> None:
    for file in [*STATIC.rglob("*.js"), *STATIC.rglob("*.css"), STATIC / "index.html"]:
        text = file.read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), file.name
        assert not re.search(r"(?:src|href)=[\"']https?:|@import|url\(\s*[\"']?https?:", text), file.name


@pytest.mark.parametrize("name", ["../page.py", "js/../../page.py", "%2e%2e/page.py", "js", "nothing.js"])
async def test_no_other_file_can_be_read(name: str) -> None:
    async with page_client() as client, client.session.get(f"{client.playground.base_url}/static/{name}") as answer:
        assert answer.status == 404


async def test_a_member_sees_their_channels_and_the_public_ones_and_no_secrets() -> None:
    async with page_client() as client:
        client.playground.people.say(ALICE, GENERAL, "hello *all*")
        client.playground.people.say(ADA, SECRET, "about a candidate")
        theirs = client.playground.people.open_dm(BOB, BOT_USER)
        state = await client.state(ALICE)
        raw = str(state)
        seen = {channel["id"] for channel in state["channels"]}
    assert {GENERAL, DEPLOYS, SECRET} <= seen
    assert not {LEADS, theirs.id} & seen
    assert state["messages"][GENERAL][0]["text"] == "hello *all*"
    assert state["messages"][GENERAL][0]["blocks"][0]["block_id"]
    assert state["people"] == [ALICE, BOB, ADA]
    assert not [secret for secret in (BOT_TOKEN, APP_TOKEN, SIGNING_SECRET) if secret in raw]


@pytest.mark.parametrize(("user", "status"), [("", 200), ("U0NOBODY01", 404), (BOT_USER, 404)])
async def test_nobody_and_bots_have_no_page_and_are_told_who_has(user: str, status: int) -> None:
    async with page_client() as client:
        url = f"{client.playground.base_url}/playground/state"
        async with client.session.get(url, params={"user": user}) as answer:
            assert answer.status == status
            assert (await answer.json())["people"] == [ALICE, BOB, ADA]
        async with client.session.get(f"{client.playground.base_url}/playground/feed", params={"user": user}) as answer:
            assert answer.status == 404


async def test_what_is_said_arrives_numbered_in_order_at_everybody_who_may_see_it() -> None:
    async with page_client() as client, client.following(BOB) as bob, client.following(ALICE) as alice:
        client.playground.people.say(ADA, LEADS, "leads only")
        client.playground.people.say(ADA, GENERAL, "for all")
        seen_by_bob = [await bob.next(), await bob.next()]
        seen_by_alice = await alice.next()
    assert [notice["message"]["text"] for notice in seen_by_bob] == ["leads only", "for all"]
    assert seen_by_bob[0]["seq"] + 1 == seen_by_bob[1]["seq"]
    assert seen_by_alice["message"]["text"] == "for all"


async def test_a_feed_is_resumed_where_it_broke_off() -> None:
    async with page_client() as client:
        people = client.playground.people
        state = await client.state(ALICE)
        async with client.feed(ALICE, state["boot"], state["seq"]) as follower:
            message = people.say(ALICE, GENERAL, "one")
            first = await follower.next()
        people.react(BOB, GENERAL, message.ts, "eyes")
        people.edit(ALICE, GENERAL, message.ts, "one and a half")
        async with client.feed(ALICE, state["boot"], first["seq"]) as follower:
            reacted, edited = await follower.next(), await follower.next()
    assert reacted["message"]["reactions"] == [{"name": "eyes", "users": [BOB]}]
    assert reacted["message"]["text"] == "one"
    assert (edited["message"]["text"], edited["message"]["edited"]) == ("one and a half", True)


@pytest.mark.parametrize(("boot", "after"), [("another", 0), (None, 99)])
async def test_a_feed_that_cannot_be_resumed_says_so_and_ends(boot: str | None, after: int) -> None:
    async with page_client() as client:
        state = await client.state(ALICE)
        async with client.feed(ALICE, boot or state["boot"], after) as follower:
            assert await follower.next() == {"type": "resync"}
            assert await follower.closed()


async def test_what_is_for_one_person_reaches_nobody_else() -> None:
    async with page_client() as client, client.following(BOB) as bob, client.following(ALICE) as alice:
        client.playground.workspace.emit(EphemeralPosted(GENERAL, ALICE, "1.000001", "only you"))
        client.playground.people.say(ADA, GENERAL, "for all")
        assert (await bob.next())["message"]["text"] == "for all"
        notice = await alice.next()
    assert (notice["type"], notice["message"]["text"]) == ("ephemeral", "only you")


async def test_the_one_who_left_a_private_channel_hears_it_and_sees_no_more_of_it() -> None:
    async with page_client() as client, client.following(ALICE) as alice:
        client.playground.people.leave(ALICE, SECRET)
        notice = await alice.next_of("channel")
        client.playground.people.say(ADA, SECRET, "now we are alone")
        client.playground.people.say(ADA, GENERAL, "for all")
        assert (await alice.next())["message"]["text"] == "for all"
        state = await client.state(ALICE)
    assert ALICE not in notice["channel"]["members"]
    assert SECRET not in {channel["id"] for channel in state["channels"]}


async def test_a_deleted_root_with_replies_stays_as_a_tombstone_and_a_reply_goes() -> None:
    async with page_client() as client, client.following(BOB) as bob:
        people = client.playground.people
        root = people.say(ALICE, GENERAL, "root")
        reply = people.say(BOB, GENERAL, "reply", thread_ts=root.ts)
        people.delete(ALICE, GENERAL, root.ts)
        people.delete(BOB, GENERAL, reply.ts)
        notices = [await bob.next() for _ in range(4)]
    assert notices[2]["message"]["subtype"] == "tombstone"
    assert notices[3] | {"seq": 0} == {"seq": 0, "type": "message_deleted", "channel": GENERAL, "ts": reply.ts}


async def test_a_message_of_the_bot_names_its_app() -> None:
    async with page_client() as client, client.following(BOB) as bob:
        options = PostOptions(bot_id=BOT_ID, app_id="A0SWITCH01")
        client.playground.workspace.post(GENERAL, BOT_USER, "hi", options=options)
        message = (await bob.next())["message"]
    assert (message["bot_id"], message["app_id"], message["stream"]) == (BOT_ID, "A0SWITCH01", None)


@pytest.mark.parametrize("path", ["/", "/static/js/main.js", f"/playground/state?user={ALICE}", "/playground/files/F1"])
async def test_a_request_under_a_foreign_name_is_refused(path: str) -> None:
    async with page_client() as client:
        url = client.playground.base_url + path
        async with client.session.get(url, headers={"Host": "evil.example"}) as answer:
            assert answer.status == 403


async def test_another_page_can_neither_act_nor_follow() -> None:
    async with page_client() as client:
        base_url = client.playground.base_url
        action: Json = {"type": "say", "user": ALICE, "channel": GENERAL, "text": "not me"}
        async with client.session.post(f"{base_url}/playground/actions", json=action, headers={"Origin": EVIL}) as no:
            assert no.status == 403
        params = {"user": ALICE, "boot": "x", "after": "0"}
        async with client.session.get(f"{base_url}/playground/feed", params=params, headers={"Origin": EVIL}) as no:
            assert no.status == 403
        async with client.session.post(
            f"{base_url}/playground/actions", json=action, headers={"Origin": base_url}
        ) as yes:
            assert yes.status == 200
        assert [message["text"] for message in (await client.state(ALICE))["messages"][GENERAL]] == ["not me"]


async def test_a_position_that_is_no_number_is_refused() -> None:
    async with page_client() as client:
        url = f"{client.playground.base_url}/playground/feed"
        async with client.session.get(url, params={"user": ALICE, "after": "soon"}) as answer:
            assert answer.status == 400


async def test_open_pages_do_not_hold_up_the_end_of_the_playground() -> None:
    async with asyncio.timeout(20):
        async with page_client() as client:
            state = await client.state(ALICE)
            async with client.session.ws_connect(
                f"{client.playground.base_url}/playground/feed",
                params={"user": ALICE, "boot": state["boot"], "after": str(state["seq"])},
                autoclose=False,
            ) as socket:
                ended = socket.closed
    assert not ended


async def test_what_an_agent_says_about_its_work_is_in_the_feed_and_in_the_state() -> None:
    async with page_client() as client, client.following(ALICE) as alice:
        workspace = client.playground.workspace
        root = client.playground.people.say(ALICE, GENERAL, "work")
        place = {"channel": GENERAL, "thread_ts": root.ts}
        workspace.set_thread_status(ThreadStatus(GENERAL, root.ts, "is thinking…", ("Reading…",)))
        workspace.set_prompts(SuggestedPrompts(GENERAL, root.ts, "Try", ({"title": "T", "message": "M"},)))
        workspace.set_title(GENERAL, root.ts, "About work")
        notices = [await alice.next() for _ in range(4)][1:]
        state = await client.state(ALICE)
        theirs = await client.state(BOB)
    status = {**place, "text": "is thinking…", "loading_messages": ["Reading…"]}
    prompts = {**place, "title": "Try", "prompts": [{"title": "T", "message": "M"}]}
    assert [state["thread_status"], state["prompts"]] == [[status], [prompts]]
    assert state["titles"] == theirs["titles"] == [{**place, "title": "About work"}]
    expected = [("thread_status", status), ("prompts", prompts), ("thread_title", {**place, "title": "About work"})]
    for notice, (kind, content) in zip(notices, expected, strict=True):
        assert notice == {"seq": notice["seq"], "type": kind, **content}


async def test_a_streaming_message_says_that_it_goes_on_until_it_is_stopped() -> None:
    async with page_client() as client, client.following(ALICE) as alice:
        workspace = client.playground.workspace
        root = client.playground.people.say(ALICE, GENERAL, "work")
        stream = Stream(workspace.clock.monotonic(), task_display_mode="plan")
        options = PostOptions(bot_id=BOT_ID, app_id="A0SWITCH01", stream=stream)
        answer = workspace.post(GENERAL, BOT_USER, "", thread_ts=root.ts, options=options)
        workspace.live_streams[GENERAL, answer.ts] = answer
        workspace.stop_streams(GENERAL, root.ts, ALICE)
        _, started, stopped = [await alice.next_of("message") for _ in range(3)]
    assert started["message"]["stream"] == {"state": "in_progress", "mode": "plan"}
    assert stopped["message"]["stream"] == {"state": "stopped", "mode": "plan"}


async def test_a_file_that_is_gone_keeps_its_place_in_the_message() -> None:
    async with page_client() as client:
        people = client.playground.people
        file = people.upload(ALICE, "notes.txt", b"hello")
        people.say(ALICE, GENERAL, "see", files=[file.id])
        del client.playground.workspace.files[file.id]
        (message,) = (await client.state(BOB))["messages"][GENERAL]
    assert [(shown["id"], shown["is_gone"]) for shown in message["files"]] == [(file.id, True)]


async def test_a_published_home_reaches_its_person() -> None:
    async with page_client() as client, client.following(ALICE) as alice:
        home: Json = {"type": "home", "blocks": [{"type": "divider"}]}
        publish_home(client.playground.workspace, ALICE, "A0SWITCH01", home)
        notice = await alice.next_of("home")
        state = await client.state(ALICE)
    assert notice["view"]["payload"] == home
    assert state["home"] == notice["view"]

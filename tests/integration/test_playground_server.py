"""The playground as a whole server: it starts with and without its page and ends promptly, whoever is connected."""

import asyncio
import socket

import aiohttp
import pytest

from app.playground.happenings import MessagePosted
from app.playground.model import Message
from app.playground.seed import ALICE, GENERAL
from app.playground.server import open_playground
from tests.bolt_bots import recording


async def test_the_page_is_served_only_when_it_is_wanted() -> None:
    statuses: list[int] = []
    for with_page in (True, False):
        async with (
            open_playground(with_page=with_page) as playground,
            aiohttp.ClientSession() as session,
            session.get(f"{playground.base_url}/playground/state", params={"user": ALICE}) as response,
        ):
            statuses.append(response.status)
    assert statuses == [200, 404]


async def test_it_ends_promptly_although_clients_are_still_connected() -> None:
    async with asyncio.timeout(20), aiohttp.ClientSession() as session:
        async with open_playground() as playground:
            boot = await session.get(f"{playground.base_url}/playground/state", params={"user": ALICE})
            facts = await boot.json()
            feed = await session.ws_connect(
                f"{playground.base_url}/playground/feed",
                params={"user": ALICE, "boot": facts["boot"], "after": str(facts["seq"])},
                headers={"Origin": playground.base_url},
            )
            stack = recording(playground)
            await stack.__aenter__()
        assert (await feed.receive()).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED}
        await feed.close()
        await stack.__aexit__(None, None, None)


async def test_a_given_port_is_used_and_a_taken_one_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            async with open_playground(port=port, with_page=False):
                pass
    async with open_playground(port=port, with_page=False) as playground:
        assert playground.base_url == f"http://127.0.0.1:{port}"


async def test_a_fault_of_the_playground_itself_is_not_swallowed() -> None:
    """A message in a channel that is not there cannot come from anybody."""
    with pytest.raises(KeyError):
        async with open_playground(with_page=False) as playground:
            playground.workspace.emit(MessagePosted(Message("1.0", "C0NOWHERE", ALICE, "hello")))


async def test_two_playgrounds_stand_side_by_side() -> None:
    async with open_playground(with_page=False) as one, open_playground(with_page=False) as other:
        one.people.say(ALICE, GENERAL, "only here")
        assert one.base_url != other.base_url
        assert other.workspace.messages.get(GENERAL, {}) == {}

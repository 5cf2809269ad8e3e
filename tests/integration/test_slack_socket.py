"""Socket Mode's connection: refused tokens, a Slack that is away, a connection that stays dead."""

import asyncio

import pytest

from app.background import beside
from app.clock import SystemClock
from app.errors import ConfigurationError
from app.slack.socket import SlackSocket
from tests.fakes import ManualClock, until
from tests.small_slack import SmallSlack, open_small_slack
from tests.unbuilt_bolt import unconnected_bolt


def socket_to(slack: SmallSlack, clock: SystemClock | ManualClock | None = None) -> SlackSocket:
    url = f"{slack.address}/api/"
    return SlackSocket(unconnected_bolt(), app_token="xapp-x", api_url=url, clock=clock or SystemClock())


async def test_a_refused_app_token_ends_the_start() -> None:
    async with open_small_slack() as slack:
        slack.open_error = "invalid_auth"
        with pytest.raises(ConfigurationError, match=r"slack\.app_token \(invalid_auth\)"):
            await socket_to(slack).check_token()


@pytest.mark.parametrize("error", ["ratelimited", "internal_error"])
async def test_a_slack_that_is_busy_is_tried_again_later(error: str) -> None:
    async with open_small_slack() as slack:
        slack.open_error = error
        await socket_to(slack).check_token()
        assert [method for method, _ in slack.calls] == ["apps.connections.open"]


async def test_the_first_endpoint_is_used_and_no_second_one_is_asked_for() -> None:
    async with open_small_slack() as slack, asyncio.timeout(10):
        socket = socket_to(slack)
        assert not socket.is_connected
        await socket.check_token()
        async with beside(socket.run(), name="socket"):
            await socket.connected()
            assert socket.is_connected
        assert not socket.is_connected
        assert [method for method, _ in slack.calls] == ["apps.connections.open"]


async def test_a_connection_that_stays_dead_is_built_anew() -> None:
    """The SDK heals most breaks by itself; what it does not heal within its own patience is replaced."""
    clock = ManualClock()
    async with open_small_slack() as slack, asyncio.timeout(20):
        slack.hangs_up = True
        socket = socket_to(slack, clock)
        async with beside(socket.run(), name="socket"):
            await until(lambda: len(slack.calls) >= 3, timeout_s=15)
    assert clock.elapsed_s > 40

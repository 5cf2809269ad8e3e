"""The one HTTP surface: health, and a port that is taken."""

import asyncio
import socket
from collections.abc import AsyncIterator

import httpx
import pytest

from app.errors import ConfigurationError
from app.http.surface import serving, surface
from app.slack.routes import BODY_BYTES, slack_routes
from tests.unbuilt_bolt import unconnected_bolt


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    app = surface(lambda: False, slack_routes(unconnected_bolt("secret")))
    async with (
        serving(app, "127.0.0.1", 0) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        yield client


async def test_a_living_process_that_hears_nothing_is_healthy_but_not_ready(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"ok": True}
    answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"ready": False})


async def test_unsigned_and_oversized_posts_are_refused_before_anything_reads_them(client: httpx.AsyncClient) -> None:
    assert (await client.post("/slack/events", json={"type": "event_callback"})).status_code == 401
    large = b"x" * (BODY_BYTES + 1)
    assert (await client.post("/slack/events", content=large)).status_code == 413

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * (BODY_BYTES // 2)

    assert (await client.post("/slack/events", content=chunks())).status_code == 413


async def test_there_is_no_way_in_but_slacks_post(
    client: httpx.AsyncClient,
) -> None:
    assert (await client.get("/slack/events")).status_code == 405
    for path in ("/slack/install", "/slack/oauth_redirect", "/"):
        assert (await client.get(path)).status_code == 404


async def test_client_credentials_in_the_environment_open_no_oauth_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_CLIENT_ID", "1.2")
    monkeypatch.setenv("SLACK_CLIENT_SECRET", "s")
    app = surface(lambda: True, slack_routes(unconnected_bolt("secret")))
    async with (
        serving(app, "127.0.0.1", 0) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        assert (await client.get("/slack/install")).status_code == 404
        assert (await client.get("/slack/events")).status_code == 405


async def test_a_port_that_is_taken_is_an_operators_matter() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"127\.0\.0\.1:{port}"):
            async with asyncio.timeout(20), serving(surface(lambda: True), "127.0.0.1", port):
                pass

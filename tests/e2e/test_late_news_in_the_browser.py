"""What people do on the page before it has heard of everything, and what it shows once it has."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Route, WebSocketRoute, expect

from tests.e2e.conftest import BOB
from tests.e2e.test_product import needs_browser, shown

ACTIONS, FEED, STATE = "**/playground/actions", "**/playground/feed*", "**/playground/state*"
AS_SOMEBODY_ELSE = """action => fetch("/playground/actions", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(action),
})"""


@pytest.mark.browser
@needs_browser
async def test_who_is_looked_for_before_the_page_knows_anybody_is_found_once_it_does(tmp_path: Path) -> None:
    told = asyncio.Event()

    async def tell_late(route: Route) -> None:
        await told.wait()
        await route.continue_()

    async with shown(tmp_path) as page:
        await page.route(STATE, tell_late)
        await page.reload()
        await expect(page.get_by_test_id("timeline")).to_be_hidden()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("switchb")
        await expect(page.get_by_test_id("quick-switch")).to_be_visible()
        await expect(page.get_by_test_id("no-match")).to_be_hidden()
        await page.keyboard.press("Enter")
        told.set()
        await expect(page.get_by_test_id("channel-title")).to_have_text("Switchboard")
        await expect(page.get_by_test_id("quick-switch")).to_have_count(0)


@pytest.mark.browser
@needs_browser
async def test_a_conversation_begun_before_the_feed_is_open_is_the_one_that_opens(tmp_path: Path) -> None:
    opened = asyncio.Event()

    async def open_late(feed: WebSocketRoute) -> None:
        await opened.wait()
        feed.connect_to_server()

    async with shown(tmp_path) as page:
        await page.route_web_socket(FEED, open_late)
        await page.reload()
        await expect(page.get_by_test_id("workspace-name")).to_be_visible()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("switchb")
        async with page.expect_response(ACTIONS):
            await page.keyboard.press("Enter")
        opened.set()
        await expect(page.get_by_test_id("quick-switch")).to_have_count(0)
        await expect(page.get_by_test_id("channel-title")).to_have_text("Switchboard")


@pytest.mark.browser
@needs_browser
async def test_a_list_that_is_open_shows_what_others_do_meanwhile(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        await expect(page.get_by_test_id("workspace-name")).to_be_visible()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("launch")
        await expect(page.get_by_test_id("no-match")).to_be_visible()
        launch = {"type": "create_channel", "user": BOB, "name": "launch", "private": False}
        await page.evaluate(AS_SOMEBODY_ELSE, launch)
        await expect(page.get_by_test_id("no-match")).to_be_hidden()
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("channel-title")).to_have_text("launch")

"""The product as a newcomer starts it: one command, one address, one page."""

import asyncio
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, WebSocketRoute, async_playwright, expect

from app.playground.seed import APP_TOKEN, BOT_TOKEN
from app.playground.server import Playground
from tests.command_runs import given, start
from tests.e2e.conftest import ALICE, GENERAL, MENTION
from tests.forked_processes import forked

ADDRESS = re.compile(rb"Open (http://127\.0\.0\.1:\d+)")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WAIT_MS = 20_000
expect.set_options(timeout=WAIT_MS)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@asynccontextmanager
async def playing(folder: Path, **environ: str) -> AsyncGenerator[tuple[str, asyncio.subprocess.Process]]:
    """``switchboard play`` on a free port: the address it prints, and its process, ended as an operator ends it."""
    process = await start(folder, "play", "--port", "0", environ=environ)
    try:
        async with asyncio.timeout(50):
            yield await _address(process), process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            await process.communicate()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async for line in process.stdout:
        if found := ADDRESS.search(line):
            return found[1].decode()
    raise AssertionError("the process ended without printing an address")


@asynccontextmanager
async def shown(folder: Path, width: int = 1280, height: int = 860) -> AsyncGenerator[Page]:
    """The page of a ``switchboard play`` whose process was forked, which is how it starts quickest."""
    with (folder / "said").open("w+b") as said:
        process = forked(folder, ["app", "play", "--port", "0"], given(None), out=said.fileno(), err=said.fileno())
        try:
            while not (address := ADDRESS.search((folder / "said").read_bytes())):
                with suppress(subprocess.TimeoutExpired):
                    raise AssertionError(f"ended without printing an address: {process.wait(0)}")
                await asyncio.sleep(0.02)
            async with browsing(address[1].decode(), width, height) as page:
                yield page
        finally:
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait, 20)


@asynccontextmanager
async def browsing(address: str, width: int = 1280, height: int = 860) -> AsyncGenerator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = await browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(WAIT_MS)
        await page.goto(address)
        yield page
        await browser.close()


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_one_command_serves_the_page_and_a_bot_that_ends_when_told(tmp_path: Path, mode: str) -> None:
    async with playing(tmp_path, SWITCHBOARD_SLACK__MODE=mode) as (address, process):
        async with httpx.AsyncClient(trust_env=False) as client:
            page = await client.get(address)
        assert page.status_code == 200
        assert "Switchboard" in page.text
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_the_bot_runs_by_tokens_alone_as_it_does_in_a_real_workspace(
    tmp_path: Path, playground: Playground
) -> None:
    environ = {
        "SLACK_API_URL": playground.api_url,
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        # Bolt would switch OAuth on by itself if these were left to it.
        "SLACK_CLIENT_ID": "1.2",
        "SLACK_CLIENT_SECRET": "s",
        "SWITCHBOARD_ORGANIZATION": "acme",
        "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo",
        "SWITCHBOARD_HTTP__PORT": "0",
    }
    process = await start(tmp_path, "run", environ=environ)
    try:
        await playground.wait_connected(timeout_s=20)
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} hello")
        assert "demo model" in await playground.answer(GENERAL, root.ts)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert (process.returncode, err) == (0, b"")
    assert b"turn_finished" in out
    assert b"warning" not in out


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install Debian's package chromium")


@pytest.mark.browser
@needs_browser
async def test_a_member_asks_in_a_channel_and_reads_the_streamed_answer(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        await page.get_by_test_id("channel-C0GENERAL1").click()
        composer = page.get_by_test_id("composer")
        await composer.click()
        await page.keyboard.type("@switch", delay=5)
        await page.keyboard.press("Enter")
        await page.keyboard.type("show me a table please", delay=2)
        await page.keyboard.press("Enter")
        asked = page.get_by_test_id("timeline").get_by_test_id("message").last
        await expect(asked).to_contain_text("show me a table please")
        await asked.get_by_test_id("thread-summary").click()
        thread = page.get_by_test_id("thread-panel")
        await expect(thread).to_contain_text("demo model")
        await expect(thread.locator("table")).to_be_visible()
        await page.get_by_test_id("thread-composer").click()
        await page.keyboard.type("thank you", delay=2)
        await page.keyboard.press("Enter")
        await expect(thread.get_by_test_id("message")).to_have_count(4)


@pytest.mark.browser
@needs_browser
async def test_a_conversation_begun_while_the_feed_lags_is_the_one_that_opens(tmp_path: Path) -> None:
    """What the page knows comes by the feed, which may be slower than the answer to what it did."""

    def lag(feed: WebSocketRoute) -> None:
        server = feed.connect_to_server()
        server.on_message(lambda notice: asyncio.get_running_loop().call_later(0.4, feed.send, notice))

    async with shown(tmp_path) as page:
        await page.route_web_socket("**/playground/feed*", lag)
        await page.reload()
        await expect(page.get_by_test_id("timeline")).to_be_visible()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("switchb")
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("quick-switch")).to_have_count(0)
        await page.keyboard.type("hello")
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("channel-title")).to_have_text("Switchboard")
        await expect(page.get_by_test_id("thread-panel")).to_contain_text("hello")


@pytest.mark.browser
@needs_browser
async def test_the_page_is_usable_on_a_telephone(tmp_path: Path) -> None:
    async with shown(tmp_path, 390, 844) as page:
        await expect(page.get_by_test_id("timeline")).to_be_visible()
        overflow = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert overflow is False


@pytest.mark.browser
@needs_browser
async def test_the_keyboard_alone_leads_to_a_first_conversation_with_the_bot(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        await expect(page.get_by_test_id("timeline")).to_be_visible()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("nobody of that name")
        await expect(page.get_by_test_id("no-match")).to_be_visible()
        await page.keyboard.press("Control+a")
        await page.keyboard.type("switchb")
        await expect(page.get_by_test_id("no-match")).to_be_hidden()
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("quick-switch")).to_have_count(0)
        await page.get_by_test_id("composer").focus()
        await page.keyboard.type("hello")
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("timeline")).to_contain_text("1 reply")

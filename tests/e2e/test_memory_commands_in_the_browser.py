"""People in control of what is kept, as they do it: in the page, by slash command and in a thread."""

import re

import pytest
from playwright.async_api import Page, expect

from app.bootstrap import build
from app.clock import SystemClock
from app.playground.server import open_playground
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore
from tests.e2e.conftest import ADA, ALICE, GENERAL, settings_of
from tests.e2e.test_product import browsing, needs_browser

ORG, ALICES = "org:playground", f"user:slack:{ALICE}"


async def say(page: Page, text: str, composer: str = "composer") -> None:
    await page.get_by_test_id(composer).click()
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")


async def become(page: Page, address: str, user: str) -> None:
    await page.goto(f"{address}/#user={user}&channel={GENERAL}")
    await page.reload()
    await expect(page.get_by_test_id("timeline")).to_be_visible()


async def answer_in_a_thread(page: Page, question: str) -> str:
    """Ask in the channel, open the thread, and read the bot's finished answer."""
    await say(page, question)
    asked = page.get_by_test_id("timeline").get_by_test_id("message").last
    await expect(asked).to_contain_text(question.removeprefix("@switchboard "))
    await asked.get_by_test_id("thread-summary").click()
    answer = page.get_by_test_id("thread-panel").get_by_test_id("message").nth(1)
    await expect(answer).to_have_attribute("data-stream", re.compile("completed"))
    return await answer.inner_text()


@pytest.mark.browser
@needs_browser
async def test_members_and_admins_forget_what_is_theirs_to_forget() -> None:
    """Specification, sections 24 and 25."""
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    await store.write(ORG, [MemoryCandidate("fact", "The staging port is 5433.", "slack:C9:1.0")])
    await store.write(
        ALICES, [MemoryCandidate("fact", text, "slack:C9:1.0") for text in ("I like tea.", "I like rye.")]
    )
    async with open_playground() as playground:
        settings = settings_of(playground, "socket")
        async with build(settings, memory=store) as bot, bot.serving(), browsing(playground.base_url) as page:
            await bot.connected()
            await become(page, playground.base_url, ALICE)
            assert "5433" in await answer_in_a_thread(page, "@switchboard what is the staging port?")

            await say(page, "/memory list --scope me")
            listed = page.get_by_test_id("ephemeral").last.locator("xpath=ancestor::*[@data-testid='message'][1]")
            await expect(listed).to_contain_text("I like tea.")
            await expect(listed).to_contain_text(f"mem:{ALICES}:0")

            await say(page, f"/memory forget mem:{ALICES}:0")
            await expect(page.get_by_test_id("timeline")).to_contain_text("🧹")
            assert [record.text for record in await store.list(ALICES, 5)] == ["I like rye."]

            await say(page, f"!memory forget mem:{ALICES}:1", "thread-composer")
            await expect(page.get_by_test_id("thread-panel")).to_contain_text("🧹")
            assert list(await store.list(ALICES, 5)) == []

            await say(page, f"!memory forget mem:{ORG}:0", "thread-composer")
            await expect(page.get_by_test_id("thread-panel")).to_contain_text("🚫")
            assert len(await store.list(ORG, 5)) == 1

            await become(page, playground.base_url, ADA)
            await say(page, f"/memory forget mem:{ORG}:0")
            await expect(page.get_by_test_id("timeline")).to_contain_text("🧹")
            assert "5433" not in await answer_in_a_thread(page, "@switchboard and what is the staging port now?")

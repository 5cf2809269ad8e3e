"""What a person meets before the first question: Home, prompts, commands nobody has."""

from app.playground.happenings import EphemeralPosted, SuggestedPrompts
from app.slack.home import PROMPTS
from tests.e2e.conftest import ALICE, BOT, GENERAL, MENTION, Bot


async def test_opening_the_home_tab_fills_it(bot: Bot) -> None:
    bot.playground.people.open_home(ALICE)
    view = await bot.playground.wait_for(lambda: bot.playground.workspace.home_views.get(ALICE))
    assert BOT in str(view.payload["blocks"])
    assert "`help`" in str(view.payload["blocks"])


async def test_opening_the_messages_tab_offers_prompts(bot: Bot) -> None:
    offered: list[SuggestedPrompts] = []
    bot.playground.workspace.subscribe(lambda h: offered.append(h) if isinstance(h, SuggestedPrompts) else None)
    bot.playground.people.open_home(ALICE, tab="messages")
    await bot.playground.wait_for(lambda: offered)
    assert [prompt["title"] for prompt in offered[0].prompts] == [prompt["title"] for prompt in PROMPTS]


async def test_a_home_that_slack_refuses_changes_nothing(bot: Bot) -> None:
    bot.playground.workspace.apps["A0SWITCH01"].scopes -= {"assistant:write", "chat:write.public"}
    bot.playground.people.open_home(ALICE, tab="messages")
    await bot.rest(lambda: bot.calls("assistant.threads.setSuggestedPrompts") == 1)
    assert await bot.answered(bot.say(f"{MENTION} hello")) == "Hello there."


async def test_a_command_that_nobody_answers_is_declined_in_a_sentence(bot: Bot) -> None:
    seen: list[EphemeralPosted] = []
    bot.playground.workspace.subscribe(lambda h: seen.append(h) if isinstance(h, EphemeralPosted) else None)
    bot.playground.workspace.apps["A0SWITCH01"].commands += ("/elsewhere",)
    await bot.playground.people.slash(ALICE, GENERAL, "/elsewhere", "list")
    await bot.playground.wait_for(lambda: seen)
    assert "no command /elsewhere" in seen[0].text
    assert seen[0].user == ALICE

"""The process ends while others wait behind the turn: each is answered once after it, in the order of arrival.

Session lifecycle, sections 7 and 8.
"""

import pytest

from app.playground.server import Playground
from tests.e2e.conftest import ALICE, BOB, GENERAL, MENTION, running, settings_of
from tests.e2e.test_restarts import WHOLE, ended, mortal_bot
from tests.fakes import ScriptedProvider


@pytest.mark.parametrize(
    "step", ["after begin", "after the first words are visible", "after promise", "before end", "after end"]
)
async def test_killed_with_others_in_line_everybody_is_answered_once_and_in_order(
    playground: Playground, step: str
) -> None:
    settings = settings_of(playground, "socket")
    assert settings.state.url is not None
    async with mortal_bot(playground, settings.state.url.get_secret_value(), step) as process:
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} which port?")
        playground.people.say(BOB, GENERAL, f"{MENTION} which host?", thread_ts=root.ts)
        playground.people.say(ALICE, GENERAL, f"{MENTION} which name?", thread_ts=root.ts)
        await ended(process)
    whole = step in {"after promise", "before end", "after end"}
    scripts = (["It is db1."], ["It is main."]) if whole else ([WHOLE], ["It is db1."], ["It is main."])
    async with running(playground, settings, ScriptedProvider(*scripts)) as bot:
        await bot.rest(lambda: bot.text(root).count("It is main.") == 1)
        text = bot.text(root)
        assert [text.count(words) for words in (WHOLE, "It is db1.", "It is main.")] == [1, 1, 1]
        assert text.index(WHOLE) < text.index("It is db1.") < text.index("It is main.")
        assert [request.messages[-1].text for request in bot.provider.requests][-2:] == [
            "bob: which host?",
            "alice: which name?",
        ]

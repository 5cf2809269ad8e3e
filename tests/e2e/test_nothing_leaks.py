"""What people and models say stays out of the log, at its most talkative."""

import pytest

from tests.e2e.conftest import MENTION, Bot

QUESTION, ANSWER = "ZEBRAQUESTION", "ZEBRAANSWER"


async def test_no_log_line_of_a_whole_turn_quotes_a_word_of_it(bot: Bot, capsys: pytest.CaptureFixture[str]) -> None:
    bot.provider.play([f"{ANSWER} one ", "two."])
    root = bot.say(f"{MENTION} {QUESTION} please")
    await bot.answered(root)
    bot.provider.play([RuntimeError("a bug")])
    bot.say(f"{MENTION} {QUESTION} again", thread_ts=root.ts)
    await bot.answered(root, times=2)
    shown = len(bot.answers(root))
    bot.say("!status", thread_ts=root.ts)
    await bot.rest(lambda: len(bot.answers(root)) > shown)
    assert f"last question: `{QUESTION} please`" in bot.text(root)
    written = capsys.readouterr()
    assert "turn_finished" in written.out
    assert "turn_crashed" in written.out
    for marker in (QUESTION, ANSWER, "xoxb-", "xapp-playground"):
        assert marker not in written.out + written.err

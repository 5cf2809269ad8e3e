"""Several messages at once in one conversation: queued, steered, interrupting, refused, each with a visible outcome.

Session lifecycle, section 8; acceptance tests 4 and 5 of a gateway.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.agents.providers.base import Completed, StopReason, Usage
from app.dispatch import wording
from app.errors import ModelBusyError, PromptTooLongError
from app.play import with_state
from app.playground.faults import Fault, FaultKind
from app.playground.model import Message
from app.playground.server import Playground
from config.settings import Settings
from tests.e2e.conftest import ALICE, BOB, BOT, MENTION, Bot, running, settings_of
from tests.fakes import ScriptedProvider


def with_sessions(settings: Settings, **changes: object) -> Settings:
    return settings.model_copy(update={"sessions": settings.sessions.model_copy(update=changes)})


@asynccontextmanager
async def talking(playground: Playground, provider: ScriptedProvider, **changes: object) -> AsyncGenerator[Bot]:
    async with running(playground, with_sessions(settings_of(playground, "socket"), **changes), provider) as bot:
        yield bot


def whispers(bot: Bot) -> list[str]:
    """What single people were told out of the others' sight."""
    return [str(call.args["text"]) for call in bot.playground.calls.of("chat.postEphemeral") if call.ok]


async def under_way(bot: Bot, root: Message, words: str) -> None:
    await bot.playground.wait_for(lambda: words in bot.text(root))


async def test_five_quick_messages_have_five_visible_outcomes_in_their_order(playground: Playground) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(["one", gate], ["two"], ["three"], ["four"], ["five"])
    async with talking(playground, provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await under_way(bot, root, "one")
        for number in (2, 3, 4, 5):
            bot.say(f"{MENTION} {number}", thread_ts=root.ts)
            await playground.wait_for(lambda number=number: len(whispers(bot)) == number - 1)
        gate.set()
        await bot.rest(lambda: len(bot.answers(root)) == 5)
        assert bot.text(root) == "onetwothreefourfive"
        assert whispers(bot) == [wording.waiting(place) for place in (1, 2, 3, 4)]
        asked = [request.messages[-1].text for request in provider.requests]
        assert [text.rsplit(maxsplit=1)[-1] for text in asked] == ["1", "2", "3", "4", "5"]


async def test_a_start_whose_answer_is_lost_takes_over_no_answer_before_it(playground: Playground) -> None:
    """The answer before it may be younger than the question."""
    unsaid, unfinished, begun = asyncio.Event(), asyncio.Event(), asyncio.Event()
    provider = ScriptedProvider([unsaid, "one", unfinished], ["t", begun, "wo"])
    async with talking(playground, provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: len(provider.requests) == 1)
        bot.say(f"{MENTION} 2", thread_ts=root.ts)
        await playground.wait_for(lambda: len(whispers(bot)) == 1)
        unsaid.set()
        await under_way(bot, root, "one")
        playground.faults.inject(Fault(method="chat.startStream", kind=FaultKind.DROP_AFTER))
        unfinished.set()
        await playground.wait_for(lambda: playground.faults.pending == 0)
        begun.set()
        await bot.rest(lambda: "two" in bot.text(root))
        assert bot.text(root) == "onetwo"


async def test_a_full_line_refuses_in_a_sentence_and_what_waits_is_answered(playground: Playground) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(["one", gate], ["two"])
    async with talking(playground, provider, queue_cap=1) as bot:
        root = bot.say(f"{MENTION} 1")
        await under_way(bot, root, "one")
        bot.say(f"{MENTION} 2", thread_ts=root.ts)
        await playground.wait_for(lambda: len(whispers(bot)) == 1)
        bot.say(f"{MENTION} 3", thread_ts=root.ts)
        await playground.wait_for(lambda: "did not take" in bot.text(root))
        gate.set()
        await bot.rest(lambda: len(bot.answers(root)) == 3)
        assert "two" in bot.text(root)
        assert len(provider.requests) == 2


async def test_a_message_may_end_the_answer_under_way_and_quick_ones_of_one_person_become_one_turn(
    playground: Playground,
) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()], ["both"])
    async with talking(playground, provider, busy_input="interrupt") as bot:
        root = bot.say(f"{MENTION} 1")
        await under_way(bot, root, "Let me think")
        bot.say(f"{MENTION} 2", thread_ts=root.ts)
        bot.say(f"{MENTION} 3", thread_ts=root.ts)
        await bot.rest(lambda: "both" in bot.text(root))
        assert bot.text(root) == f"Let me think{wording.INTERRUPTED}both"
        last = provider.requests[-1].messages
        assert "Let me think" in "".join(turn.text for turn in last), "what was visible of the answer is remembered"
        assert wording.INTERRUPTING in whispers(bot)


async def test_messages_that_were_answered_together_are_tried_again_and_taken_back_together(
    playground: Playground,
) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()], ["both"], ["again"], ["without"])
    async with talking(playground, provider, busy_input="interrupt") as bot:
        root = bot.say(f"{MENTION} 1")
        await under_way(bot, root, "Let me think")
        bot.say(f"{MENTION} 2", thread_ts=root.ts)
        bot.say(f"{MENTION} 3", thread_ts=root.ts)
        await bot.rest(lambda: "both" in bot.text(root))
        bot.say("!retry", thread_ts=root.ts)
        await bot.rest(lambda: "again" in bot.text(root))
        assert provider.requests[-1].messages[-1].text == "alice: 2\n  3"
        bot.say("!undo", thread_ts=root.ts)
        await bot.rest(lambda: "Took back" in bot.text(root))
        bot.say(f"{MENTION} 4", thread_ts=root.ts)
        await bot.rest(lambda: "without" in bot.text(root))
        assert [turn.text for turn in provider.requests[-1].messages] == ["alice: 1", "Let me think", "alice: 4"]


@pytest.mark.parametrize("visible", ["", "Both"])
async def test_deleting_the_first_of_messages_that_are_answered_together_leaves_the_answer_to_the_others(
    playground: Playground, visible: str
) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()], [visible, asyncio.Event()], ["three and four"])
    async with talking(playground, provider, busy_input="interrupt") as bot:
        root = bot.say(f"{MENTION} 1")
        await under_way(bot, root, "Let me think")
        second, *_ = [bot.say(f"{MENTION} {number}", thread_ts=root.ts) for number in (2, 3, 4)]
        await playground.wait_for(lambda: len(provider.requests) == 2 and visible in bot.text(root))
        playground.people.delete(ALICE, second.channel, second.ts)
        await bot.rest(lambda: "three and four" in bot.text(root))
        stopped = f"{visible}{wording.STOPPED}" if visible else ""
        assert bot.text(root) == f"Let me think{wording.INTERRUPTED}{stopped}three and four"
        asked = [request.messages[-1].text for request in provider.requests]
        assert len(asked) == 3
        assert asked[-1].endswith("alice: 3\n\nalice: 4")
        bot.say(f"{MENTION} 5", thread_ts=root.ts)
        await bot.rest(lambda: len(provider.requests) == 4)
        transcript = "\n".join(turn.text for turn in provider.requests[-1].messages)
        assert [transcript.count(number) for number in "2345"] == [1 if visible else 0, 1, 1, 1]


async def test_whoever_says_how_to_be_answered_is_not_answered_along_with_another_message(
    playground: Playground,
) -> None:
    busy = ModelBusyError("overloaded", retry_after_s=1.0)
    provider = ScriptedProvider([busy], ["one"], ["two"])
    async with talking(playground, provider, busy_input="steer") as bot:
        root = bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: len(provider.requests) == 1)
        bot.say(f"{MENTION} effort:high 2", thread_ts=root.ts)
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        assert whispers(bot) == [wording.waiting(1)]
        assert [request.effort for request in provider.requests] == [None, None, "high"]


async def test_a_message_steers_the_answer_that_has_not_begun_to_be_written(playground: Playground) -> None:
    busy = ModelBusyError("overloaded", retry_after_s=1.0)
    provider = ScriptedProvider([busy], ["in French: oui "])
    async with talking(playground, provider, busy_input="steer") as bot:
        root = bot.say(f"{MENTION} is it ready?")
        await playground.wait_for(lambda: len(provider.requests) == 1)
        bot.say(f"{MENTION} answer in French", thread_ts=root.ts)
        await bot.rest(lambda: "oui" in bot.text(root))
        assert len(bot.answers(root)) == 1
        assert provider.requests[-1].messages[-1].text == "alice: is it ready?\n\nalice: answer in French"
        assert whispers(bot) == [wording.STEERED]
        bot.say(f"{MENTION} and then?", thread_ts=root.ts)
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        assert provider.requests[-1].messages[0].text == "alice: is it ready?\n\nalice: answer in French"


async def test_a_message_that_steered_an_answer_ends_with_it_when_a_person_stops_it(
    playground: Playground, tmp_path: Path
) -> None:
    settings = with_state(with_sessions(settings_of(playground, "socket"), busy_input="steer"), tmp_path)
    busy = ModelBusyError("overloaded", retry_after_s=1.0)
    provider = ScriptedProvider([busy], ["in French", asyncio.Event()], ["not again"])
    async with running(playground, settings, provider) as bot:
        root = bot.say(f"{MENTION} is it ready?")
        await playground.wait_for(lambda: len(provider.requests) == 1)
        bot.say(f"{MENTION} answer in French", thread_ts=root.ts)
        await under_way(bot, root, "in French")
        bot.say("!stop", thread_ts=root.ts)
        await bot.rest(lambda: wording.STOPPED in bot.text(root))
    async with running(playground, settings, provider) as bot:
        following = bot.say(f"{MENTION} and now?")
        await bot.rest(lambda: "not again" in bot.text(following))
        assert "not again" not in bot.text(root), "a stopped question is not asked again by the next process"
        assert len(provider.requests) == 3


async def test_a_steering_message_that_comes_too_late_is_the_next_turn(playground: Playground) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(["one", gate], ["two"])
    async with talking(playground, provider, busy_input="steer") as bot:
        root = bot.say(f"{MENTION} 1")
        await under_way(bot, root, "one")
        bot.say(f"{MENTION} 2", thread_ts=root.ts)
        await playground.wait_for(lambda: len(whispers(bot)) == 1)
        gate.set()
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        assert whispers(bot) == [wording.waiting(1)]
        assert bot.text(root) == "onetwo"


@pytest.mark.parametrize("busy_input", ["steer", "interrupt"])
async def test_what_somebody_else_says_meanwhile_waits_and_they_are_told_so(
    playground: Playground, busy_input: str
) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider([gate, "to alice"], ["to bob"])
    async with talking(playground, provider, busy_input=busy_input) as bot:
        root = bot.say(f"{MENTION} is it ready?")
        await playground.wait_for(lambda: len(provider.requests) == 1)
        bot.say(f"{MENTION} stop that", user=BOB, thread_ts=root.ts)
        await playground.wait_for(lambda: len(whispers(bot)) == 1)
        gate.set()
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        assert whispers(bot) == [wording.waiting(1)]
        assert bot.text(root) == "to aliceto bob"


async def test_whoever_ends_their_answer_hears_who_comes_before_the_next_one(playground: Playground) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()], ["to bob"], ["to alice"])
    async with talking(playground, provider, busy_input="interrupt") as bot:
        root = bot.say(f"{MENTION} 1")
        await under_way(bot, root, "Let me think")
        bot.say(f"{MENTION} 2", user=BOB, thread_ts=root.ts)
        await playground.wait_for(lambda: len(whispers(bot)) == 1)
        bot.say(f"{MENTION} 3", thread_ts=root.ts)
        await bot.rest(lambda: "to alice" in bot.text(root))
        assert bot.text(root) == f"Let me think{wording.INTERRUPTED}to bobto alice"
        assert whispers(bot) == [wording.waiting(1), wording.interrupting(2)]


async def test_people_in_one_thread_are_told_apart_and_the_system_prompt_does_not_change(
    playground: Playground,
) -> None:
    provider = ScriptedProvider(["ok "])
    async with talking(playground, provider) as bot:
        root = bot.say(f"{MENTION} which port?", user=ALICE)
        await bot.answered(root)
        bot.say("and the host?", user=BOB, thread_ts=root.ts)
        await bot.answered(root, times=2)
        first, second = provider.requests
        assert [turn.text.strip() for turn in second.messages] == ["alice: which port?", "ok", "bob: and the host?"]
        assert first.system == second.system
        assert not any("alice" in part or "bob" in part for part in second.system)


async def test_people_who_talk_in_threads_of_one_channel_do_not_share_a_conversation(playground: Playground) -> None:
    provider = ScriptedProvider(["ok "])
    async with talking(playground, provider) as bot:
        first = bot.say(f"{MENTION} the launch code is 7", user=ALICE)
        await bot.answered(first)
        second = bot.say(f"{MENTION} what is the launch code?", user=BOB)
        await bot.answered(second)
        assert [turn.text for turn in provider.requests[-1].messages] == ["bob: what is the launch code?"]


async def test_each_person_has_a_conversation_of_their_own_in_a_thread_where_settings_say_so(
    playground: Playground,
) -> None:
    provider = ScriptedProvider(["first "], ["second "])
    async with talking(playground, provider, thread_sessions_per_user=True) as bot:
        root = bot.say(f"{MENTION} one", user=ALICE)
        await bot.answered(root)
        bot.say(f"{MENTION} two", user=BOB, thread_ts=root.ts)
        await bot.answered(root, times=2)
        assert "alice: one" in provider.requests[-1].messages[0].text, "what is said in the thread is read all the same"


async def test_what_was_said_in_the_thread_meanwhile_is_read_along_once(playground: Playground) -> None:
    provider = ScriptedProvider(["ok "])
    async with talking(playground, provider) as bot:
        root = bot.say(f"{MENTION} which port?")
        await bot.answered(root)
        dm = playground.people.open_dm(BOB, BOT)
        bot.say("hello", user=BOB, channel=dm.id)
        bot.say("it moved to 5433", user=BOB, thread_ts=root.ts)
        await bot.answered(root, times=2)
        bot.say("so?", thread_ts=root.ts)
        await bot.answered(root, times=3)
        said = [turn.text.strip() for turn in provider.requests[-1].messages]
        assert said == ["alice: which port?", "ok", "bob: it moved to 5433", "ok", "alice: so?"]


async def test_a_conversation_near_its_models_window_is_summarised_once_under_the_same_session(
    playground: Playground,
) -> None:
    """Session lifecycle, section 6; acceptance test 12 of a gateway."""
    near = Completed(StopReason.END, Usage(input_tokens=1_900, output_tokens=5))
    words = "word " * 300
    provider = ScriptedProvider([words], [words], [words, near], ["The notes: three long answers."], ["after "])
    settings = settings_of(playground, "socket")
    compression = settings.sessions.compression.model_copy(
        update={"context_tokens": 2_000, "protect_first": 1, "protect_last": 1}
    )
    async with talking(playground, provider, compression=compression) as bot:
        root = bot.say(f"{MENTION} 1")
        await bot.answered(root)
        for number in (2, 3, 4):
            bot.say(f"{MENTION} {number}", thread_ts=root.ts)
            await bot.answered(root, times=number)
        asked = provider.requests
        assert len(asked) == 5
        assert "Write the notes" in asked[3].system[0]
        last = "\n".join(turn.text for turn in asked[4].messages)
        assert "The notes: three long answers." in last
        assert last.count("word") < 900
        assert last.endswith("alice: 4")


async def test_a_message_does_not_end_an_answer_whose_conversation_is_being_summarised(playground: Playground) -> None:
    near, words, gate = (
        Completed(StopReason.END, Usage(input_tokens=1_900, output_tokens=5)),
        "word " * 300,
        asyncio.Event(),
    )
    provider = ScriptedProvider([words], [words], [words, near], [gate, "The notes."], ["four "], ["five "])
    compression = settings_of(playground, "socket").sessions.compression.model_copy(
        update={"context_tokens": 2_000, "protect_first": 1, "protect_last": 1}
    )
    async with talking(playground, provider, busy_input="interrupt", compression=compression) as bot:
        root = bot.say(f"{MENTION} 1")
        await bot.answered(root)
        for number in (2, 3):
            bot.say(f"{MENTION} {number}", thread_ts=root.ts)
            await bot.answered(root, times=number)
        bot.say(f"{MENTION} 4", thread_ts=root.ts)
        await playground.wait_for(lambda: len(provider.requests) == 4)
        bot.say(f"{MENTION} 5", thread_ts=root.ts)
        await playground.wait_for(lambda: bool(whispers(bot)))
        gate.set()
        await bot.answered(root, times=5)
        assert whispers(bot) == [wording.waiting(1)]
        assert bot.text(root).endswith("fourfive")
        assert len(provider.requests) == 6, "it was summarised once"


async def test_a_prompt_that_the_provider_refuses_as_too_long_is_summarised_and_asked_again(
    playground: Playground,
) -> None:
    words = "word " * 300
    provider = ScriptedProvider([words], [words], [words], [PromptTooLongError("too long")], ["The notes."], ["after"])
    settings = settings_of(playground, "socket")
    compression = settings.sessions.compression.model_copy(
        update={"context_tokens": 2_000, "protect_first": 1, "protect_last": 1}
    )
    async with talking(playground, provider, compression=compression) as bot:
        root = bot.say(f"{MENTION} 1")
        await bot.answered(root)
        for number in (2, 3):
            bot.say(f"{MENTION} {number}", thread_ts=root.ts)
            await bot.answered(root, times=number)
        bot.say(f"{MENTION} 4", thread_ts=root.ts)
        await bot.rest(lambda: bot.text(root).endswith("after"))
        assert "The notes." in "\n".join(turn.text for turn in provider.requests[-1].messages)
        assert provider.requests[-1].messages[-1].text.endswith("alice: 4")


async def test_a_prompt_that_cannot_be_made_shorter_is_told_of(playground: Playground) -> None:
    provider = ScriptedProvider([PromptTooLongError("too long")])
    async with talking(playground, provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await bot.rest(lambda: "too long for the model" in bot.text(root))
        assert len(provider.requests) == 1, "there was nothing to summarise"

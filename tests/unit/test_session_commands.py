"""The session commands: what each does to the conversation it is given in, and what it says."""

from dataclasses import replace
from typing import cast

import pytest

from commands.conversations import Compressed, Compressing, Instead, Recap, Spent, TokenCounts, Whose
from commands.preferences import Name
from commands.result import Code
from commands.spec import Caller, Followup, Json, Origin, Replaced, Surface
from commands.untrusted import OPEN, untrusted
from tests.command_house import ADMIN, ADMINS, MEMBER, OTHER
from tests.conversation_house import THREAD, FakeConversations, TalkHouse, in_thread, on_slash, session

TITLED = session(2, title="Release plan")
ELSEWHERE = "slack:C1:7.0"


@pytest.fixture
def house() -> TalkHouse:
    talk = FakeConversations(
        sessions={THREAD: [session(1, is_current=True), TITLED, session(3)], ELSEWHERE: [session(7, title="Budget")]},
        people={THREAD: frozenset({MEMBER}), ELSEWHERE: frozenset({OTHER})},
    )
    return TalkHouse(talk)


@pytest.mark.parametrize("line", ["!new Q3: what's next?", "session new Q3: what's next?", "!reset Q3: what's next?"])
async def test_a_new_session_begins_under_its_title(house: TalkHouse, line: str) -> None:
    result = await house.say(line)
    assert result.text == (
        "🆕 A new session begins here, titled `Q3: what's next?`. "
        "What was said before is kept: `!resume` goes back to it."
    )
    assert house.talk.asked == [("reset", "Q3: what's next?")]
    assert [receipt.summary for receipt in await house.receipts.latest(5)] == ["began a new session"]


async def test_a_new_session_tells_what_it_cost_others(house: TalkHouse) -> None:
    house.talk.running[THREAD] = OTHER
    house.talk.ahead = 2
    assert (await house.say("!new")).text.endswith(" I stopped 1 turn. 2 waiting messages will not be answered.")
    assert house.talk.asked == [("reset", None)]


async def test_a_new_session_tells_what_is_not_set_any_more(house: TalkHouse) -> None:
    house.talk.own = (Name.EFFORT, Name.MODEL, Name.REPO)
    result = await house.say("!new")
    assert result.text.endswith("goes back to it. No effort, model or repo is set for this conversation any more.")
    assert result.reply is not None
    assert result.reply.data["cleared"] == ["effort", "model", "repo"]
    again = await house.say("!new")
    assert again.text.endswith("goes back to it.")
    assert again.reply is not None
    assert again.reply.data["cleared"] == []


async def test_a_title_is_one_visible_line_and_its_conversations_only_one(house: TalkHouse) -> None:
    assert (await house.say("!title  the\n big\x1b  `plan`")).text == "🏷️ This session is `the big 'plan'` now."
    taken = await house.say("!title Release plan")
    assert (taken.code, taken.message) == (Code.CONFLICT, "another session of this conversation has this title")
    for wrong in ("!title " + "x" * 101, '!title " "', "!title 3", "!new 3"):
        assert (await house.say(wrong)).code is Code.INVALID_INPUT
    assert house.talk.asked == [("title", "the big `plan`")]


async def test_stop_ends_the_turn_of_the_thread_whoever_says_it(house: TalkHouse) -> None:
    house.talk.running[THREAD] = MEMBER
    here = await house.say("!stop", in_thread(OTHER))
    assert (here.text, here.reply and here.reply.is_told) == ("🛑 Stopped 1 turn.", True)
    nothing = await house.say("!stop")
    assert (nothing.text, nothing.reply and nothing.reply.is_told) == (
        "Nothing of yours or of this thread is under way.",
        False,
    )


async def test_stop_by_slash_ends_the_persons_own_turns_in_the_channel(house: TalkHouse) -> None:
    house.talk.running |= {THREAD: MEMBER, ELSEWHERE: OTHER, "slack:C2:1.0": MEMBER}
    assert (await house.give("session stop", on_slash())).text == "🛑 Stopped 1 turn."
    assert set(house.talk.running) == {ELSEWHERE, "slack:C2:1.0"}


async def test_resume_lists_earlier_sessions_with_their_numbers(house: TalkHouse) -> None:
    result = await house.say("!resume")
    assert result.text == (
        "1. `Release plan` 2026-11-29 10:00 UTC (`20261129_120000_00000002`)\n"
        "2. `question 3` 2026-11-29 09:00 UTC (`20261129_120000_00000003`)\n"
        "\n"
        "`!resume <number>` goes on with one, as does its id or title."
    )
    house.talk.sessions[THREAD] = [session(1)]
    assert (await house.say("!resume")).text == "There is no earlier session to go back to."


async def test_resume_lists_ten_at_most(house: TalkHouse) -> None:
    house.talk.sessions[THREAD] = [session(number) for number in range(15)]
    assert "10. `question 10`" in (await house.say("!resume")).text
    assert "question 11" not in (await house.say("!resume")).text
    assert (await house.say("!resume 11")).code is Code.NOT_FOUND
    assert (await house.say(f"!resume {session(14).session_id}")).is_ok


@pytest.mark.parametrize("which", ["1", TITLED.session_id, "release PLAN", '"Release plan"'])
async def test_resume_goes_by_number_then_id_then_title(house: TalkHouse, which: str) -> None:
    assert (await house.say(f"!resume {which}")).text == "↩️ Back in `Release plan`. I know again what was said in it."
    assert house.talk.asked == [("resume", TITLED.session_id)]


async def test_a_number_goes_before_a_title_and_an_id_does_too(house: TalkHouse) -> None:
    house.talk.sessions[THREAD] = [session(1), session(4), session(2, title="1"), session(3, title="4")]
    house.talk.sessions[THREAD].append(session(5, title=session(4).session_id))
    await house.say("!resume 1")
    await house.say(f"!resume {session(4).session_id}")
    await house.say("!resume 4")
    assert house.talk.asked[:2] == [("resume", session(4).session_id)] * 2
    assert house.talk.asked[2] == ("resume", session(5).session_id)


@pytest.mark.parametrize("which", ["3", "0", "Budget", session(7).session_id, "9" * 12, "-1"])
async def test_no_name_reaches_a_session_of_another_conversation(house: TalkHouse, which: str) -> None:
    """Neither by number nor by id nor by title, and the words do not tell whether there is such a session."""
    result = await house.say(f"!resume {which}")
    assert (result.code, result.message) == (
        Code.NOT_FOUND,
        "there is no such session; `!resume` lists those that there are",
    )
    assert house.talk.asked == []


async def test_only_admins_go_on_with_sessions_of_the_whole_channel(house: TalkHouse) -> None:
    refused = await house.say("!resume --all Budget")
    assert (refused.code, house.talk.asked) == (Code.UNAUTHORIZED, [])
    assert refused.text.endswith(f"Ask {ADMINS}.")
    assert "Budget" in (await house.say("!resume --all", in_thread(ADMIN))).text
    assert (await house.say("!resume --all Budget", in_thread(ADMIN))).is_ok
    assert house.talk.asked == [("resume", session(7).session_id)]


async def test_list_shows_this_conversation_and_finds_by_words(house: TalkHouse) -> None:
    assert "2026-11-29 11:00 UTC, the current one (" in (await house.say("session list")).text
    found = (await house.say("session list question 3")).text
    assert "question 3" in found
    assert "question 1" not in found
    assert (await house.say("session list xyzzy")).text == "No sessions have these words."
    assert (await house.say("session list", in_thread(thread="slack:C1:9.0"))).text == "There are no sessions yet."
    house.talk.sessions[THREAD] = [session(number) for number in range(30)]
    assert "The latest 20 are shown" in (await house.say("session list")).text


async def test_list_by_slash_shows_conversations_the_person_took_part_in(house: TalkHouse) -> None:
    shown = (await house.give("session list", on_slash(OTHER))).text
    assert "Budget" in shown
    assert "Release plan" not in shown


async def test_retry_asks_again_in_the_same_words_at_once(house: TalkHouse) -> None:
    result = await house.say("!retry")
    assert result.text == "🔁 Once more."
    assert result.reply is not None
    words = "what did we decide?\n\n  really"
    assert result.reply.then == Followup(words, Replaced("the session", words))
    house.talk.last = None
    assert (await house.say("!retry")).code is Code.NOT_FOUND


async def test_queue_takes_the_text_as_it_stands_for_a_turn_of_its_own(house: TalkHouse) -> None:
    house.talk.ahead = 1
    for text in ('!queue what\'s "this"?\n\n  then that', '!q what\'s "this"?\n\n  then that'):
        result = await house.say(text)
        assert result.text == "📥 In line, 1 message before it."
        assert result.reply is not None
        assert result.reply.then == Followup('what\'s "this"?\n\n  then that')


async def test_queue_says_so_when_the_line_is_full_and_queues_nothing(house: TalkHouse) -> None:
    """What is said comes from what happened, not from what was meant to happen."""
    house.talk.ahead = house.talk.room
    result = await house.say("!queue more")
    assert (result.code, result.reply) == (Code.BUSY, None)
    house.talk.ahead = 0
    assert (await house.say("!queue more")).text == "📥 In line, nothing before it."
    assert (await house.say('!queue " "')).code is Code.INVALID_INPUT


async def test_undo_takes_back_turns_and_shows_how_they_began(house: TalkHouse) -> None:
    assert (await house.say("!undo")).text == (
        "↶ Took back 1 turn; I no longer know of it. It began with: `what did we decide? really`"
    )
    house.talk.last = "x" * 999
    result = await house.say("!undo 3")
    assert f"`{'x' * 199}…`" in result.text
    assert house.talk.asked == [("undo", 1), ("undo", 3)]
    house.talk.last = ""
    assert (await house.say("!undo")).text == "↶ Took back 1 turn; I no longer know of it."
    house.talk.last = None
    assert (await house.say("!undo")).message == "there is no turn to take back"


@pytest.mark.parametrize("turns", ["0", "51", "-1", "two", "1.5", "9" * 12, "000000001999"])
async def test_undo_takes_a_number_of_turns(house: TalkHouse, turns: str) -> None:
    result = await house.say(f"!undo {turns}")
    assert (result.code, result.message) == (Code.INVALID_INPUT, "<turns> must be a whole number from 1 to 50")
    assert house.talk.asked == []


async def test_compress_keeps_what_must_not_get_lost(house: TalkHouse) -> None:
    result = await house.say("!compress the port's number\nand why")
    assert result.text == ("🗜️ A summary stands for 12 messages now: about 80,000 tokens became 9,000.")
    house.talk.compressed = 0
    assert (await house.say("!compress")).text == "There is too little here to compress."
    words = "the port's number\nand why"
    assert house.talk.asked == [("compress", Compressing(words)), ("compress", Compressing())]


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (
            Compressed(12, 900, 90, 5, Instead.BEGINNINGS),
            (
                "✂️ The model could not summarise 12 messages, so I kept only the beginning of each. "
                "The rest (5 messages) stays as it is: about 900 tokens became 90."
            ),
        ),
        (
            Compressed(1, 900, 90, 0, Instead.NOTHING, fits=False),
            (
                "✂️ I have no room for a summary, so I no longer know 1 message. Nothing else is left: "
                "about 900 tokens became 90. Even so it is too long for the model; `!new` begins a new session."
            ),
        ),
    ],
)
async def test_compress_says_when_no_summary_stands_for_what_is_gone(
    house: TalkHouse, done: Compressed, told: str
) -> None:
    house.talk.done = done
    result = await house.say("!compress")
    assert result.text == told
    assert result.reply is not None
    assert result.reply.data == {
        "messages": done.messages,
        "kept": done.kept,
        "instead": done.instead.value,
        "tokensBefore": 900,
        "tokensAfter": 90,
    }


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("!compress here", Compressing(keep_turns=2)),
        ("!compress Here  5", Compressing(keep_turns=5)),
        ("session compress here 50", Compressing(keep_turns=50)),
        ("!compress here we talk about ports", Compressing("here we talk about ports")),
        ("!compress the --preview of it", Compressing("the --preview of it")),
    ],
)
async def test_compress_keeps_the_last_turns_as_they_are(house: TalkHouse, line: str, how: Compressing) -> None:
    assert (await house.say(line)).is_ok
    assert house.talk.asked == [("compress", how)]


@pytest.mark.parametrize("turns", ["0", "51", "-1", "two", "1.5", "9" * 12, "²"])
async def test_compress_takes_a_number_of_turns(house: TalkHouse, turns: str) -> None:
    for line in (f"!compress here {turns}", f"!compress --preview here {turns}"):
        result = await house.say(line)
        assert (result.code, result.message) == (
            Code.INVALID_INPUT,
            "behind `here` stands how many turns are kept, a whole number from 1 to 50",
        )
    assert house.talk.asked == []


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("!compress --preview", Compressing()),
        ("!compress --preview here 3", Compressing(keep_turns=3)),
        ("!compress here 3 --preview", Compressing(keep_turns=3)),
        ("!compress here \u2014preview", Compressing(keep_turns=2)),
        ("!compress the port\n--preview", Compressing("the port")),
    ],
)
async def test_a_preview_tells_what_compressing_would_do_and_does_nothing(
    house: TalkHouse, line: str, how: Compressing
) -> None:
    """Wherever the word stands: taken for a part of the text, it would change what was only to be looked at."""
    result = await house.say(line)
    assert result.text == (
        "🔎 12 messages (about 71,000 tokens) would be summarised, "
        "4 messages (about 9,000 tokens) would stay as they are. Nothing has changed."
    )
    assert result.reply is not None
    assert result.reply.data == {"preview": {"messages": 12, "tokens": 71_000, "keptMessages": 4, "keptTokens": 9_000}}
    assert house.talk.asked == [("compressible", how)]
    house.talk.compressed = 0
    assert (await house.say(line)).text == "There is too little here to compress."


async def test_status_says_how_the_conversation_stands(house: TalkHouse) -> None:
    house.talk.running[THREAD] = MEMBER
    house.talk.sessions[THREAD][0] = replace(house.talk.sessions[THREAD][0], title="Plan `B`")
    result = await house.say("!status")
    assert result.text == (
        "- session: `20261129_120000_00000001`\n"
        "- title: `Plan 'B'`\n"
        "- begun: 2026-11-29 12:00 UTC, last active 2026-11-29 11:00 UTC\n"
        "- agent and model: general, `test/scripted`\n"
        "- context: 5,000 of 200,000 tokens (2 %)\n"
        "- tokens: 1,200 in, 340 out, 5,000 from and 60 into the cache\n"
        "- cost: $0.0123 (estimated)\n"
        "- now: a turn is under way, 0 waiting"
    )
    assert (await house.say("session status")).text == result.text
    assert (await house.say("!status", in_thread(OTHER))).is_ok
    nothing = await house.say("!status", in_thread(thread="slack:C1:9.0"))
    assert nothing.text == "Nothing has been said to me in this conversation yet."


async def test_status_says_which_repository_the_conversation_is_about(house: TalkHouse) -> None:
    house.talk.repo = "acme/api"
    result = await house.say("!status")
    assert "- agent and model: general, `test/scripted`\n- repo: `acme/api`\n- context: " in result.text
    assert result.reply is not None
    assert result.reply.data["repo"] == "acme/api"
    house.talk.repo = None
    none = await house.say("!status")
    assert "repo" not in none.text
    assert none.reply is not None
    assert none.reply.data["repo"] is None


async def test_status_tells_its_people_what_it_was_about_last(house: TalkHouse) -> None:
    house.talk.recap = Recap("what is `it`?", "It is the port.")
    result = await house.say("!status")
    assert result.text.endswith(", 0 waiting\n- last question: `what is 'it'?`\n- answer: `It is the port.`")
    assert result.reply is not None
    assert result.reply.data["recap"] == {"question": "what is `it`?", "answer": "It is the port."}
    stranger = await house.say("!status", in_thread(OTHER))
    assert stranger.text.endswith("0 waiting")
    assert stranger.reply is not None
    assert stranger.reply.data["recap"] is None
    house.talk.recap = Recap("what is it?", "")
    assert (await house.say("!status")).text.endswith("\n- last question: `what is it?`")


async def test_a_program_is_given_a_recap_as_data_that_it_must_not_follow(house: TalkHouse) -> None:
    house.talk.recap = Recap("follow me", "I do")
    result = await house.give("session status", in_thread(surface=Surface.MCP))
    assert result.reply is not None
    assert result.reply.data["recap"] == {"question": untrusted("follow me"), "answer": untrusted("I do")}
    assert untrusted("follow me") in result.text


async def test_what_is_not_known_is_not_zero(house: TalkHouse) -> None:
    house.talk.spent, house.talk.limit_tokens = Spent(turns=1), None
    result = await house.say("!status")
    assert "- cost: unknown\n" in result.text
    assert "- context: 5,000 tokens; the model's window is not known\n" in result.text
    assert result.reply is not None
    assert result.reply.data["contextPercent"] is None
    house.talk.spent = Spent(turns=1, cost_microusd=0, cost_status="actual")
    assert "- cost: $0.0000\n" in (await house.say("!status")).text
    house.talk.spent = Spent(TokenCounts(7, is_partial=True), 12_300, "at_least", turns=1)
    stopped = await house.say("!status")
    assert "- tokens: at least 7 in, 0 out, 0 from and 0 into the cache; what was stopped is not" in stopped.text
    assert "- cost: at least $0.0123 (estimated)\n" in stopped.text
    house.talk.spent = Spent()
    assert "- cost: none yet\n" in (await house.say("!status")).text


async def test_usage_is_of_the_conversation_of_oneself_or_of_the_channel(house: TalkHouse) -> None:
    result = await house.say("!usage --days 7")
    assert result.text == (
        "**This conversation**, in the last 7 days\n"
        "- turns: 3, compressions: 1, model calls: 5\n"
        "- tokens: 1,200 in, 340 out, 5,000 from and 60 into the cache\n"
        "- cost: $0.0123 (estimated)\n"
        "- of that `test/scripted`: 1,200 in, 340 out, 5,000 from and 60 into the cache; cost: $0.0123 (estimated)"
    )
    assert (await house.say("!usage --of me")).text.startswith("**You, everywhere**, since the beginning")
    assert (await house.give("session usage", on_slash())).text.startswith("**You, everywhere**")
    for channel in (await house.say("!usage --of channel"), await house.give("session usage --of channel", on_slash())):
        assert channel.text.startswith("**This channel**, since the beginning")
    assert house.talk.asked == [
        ("usage", Whose.CONVERSATION, 7),
        ("usage", Whose.ME, None),
        ("usage", Whose.ME, None),
        ("usage", Whose.CHANNEL, None),
        ("usage", Whose.CHANNEL, None),
    ]


async def test_usage_tells_how_often_models_were_called(house: TalkHouse) -> None:
    result = await house.say("!usage")
    assert "\n- turns: 3, compressions: 1, model calls: 5\n" in result.text
    assert result.reply is not None
    assert [result.reply.data[name] for name in ("turns", "compressions", "modelCalls")] == [3, 1, 5]


async def test_a_program_reads_each_models_part_as_numbers(house: TalkHouse) -> None:
    caller = in_thread("http:one", Surface.HTTP, "http:default:default", "http:default")
    reply = (await house.give("session usage", caller)).reply
    assert reply is not None
    [part] = cast("list[dict[str, Json]]", reply.data["models"])
    assert (part["model"], part["inputTokens"], part["costMicrousd"]) == ("test/scripted", 1_200, 12_300)


async def test_usage_of_a_channel_needs_one(house: TalkHouse) -> None:
    nowhere = Caller(id=MEMBER, surface=Surface.CLI, origin=Origin())
    assert "no channel" in (await house.give("session usage --of channel", nowhere)).message


async def test_what_was_cut_off_before_any_turn_ended_is_not_called_nothing(house: TalkHouse) -> None:
    house.talk.spent = Spent(TokenCounts(input=40, is_partial=True), 80, "at_least")
    assert "- cost: at least $0.0001 (estimated)" in (await house.say("!usage")).text


CHANGES = ["!new", "!reset", "!resume", "!retry", "!undo", "!compress", "!title plan"]


@pytest.mark.parametrize("line", CHANGES)
async def test_a_conversation_is_changed_by_its_people_and_admins_alone(house: TalkHouse, line: str) -> None:
    refused = await house.say(line, in_thread(OTHER))
    word = line.split(maxsplit=1)[0].removeprefix("!")
    assert (refused.code, refused.text, house.talk.asked) == (
        Code.UNAUTHORIZED,
        f"🚫 `session {word}`: only people who have spoken with me in this conversation can do that. Ask {ADMINS}.",
        [],
    )
    assert (await house.say(line, in_thread(MEMBER))).is_ok
    assert (await house.say(line, in_thread(ADMIN))).is_ok


@pytest.mark.parametrize("line", CHANGES)
async def test_where_nobody_has_spoken_there_is_nothing_to_guard(house: TalkHouse, line: str) -> None:
    assert (await house.say(line, in_thread(OTHER, thread="slack:C1:9.0"))).is_ok


@pytest.mark.parametrize("line", [*CHANGES, "!queue x", "!status", "!usage --of conversation"])
async def test_where_slack_has_no_thread_the_answer_says_where_to_write_what(house: TalkHouse, line: str) -> None:
    word = line.split(maxsplit=1)[0].removeprefix("!")
    named = "new" if word == "reset" else word
    for written in (f"session {line.removeprefix('!')}", line) if word != "status" else ("session status",):
        result = await house.give(written, on_slash())
        assert result.message == (
            f"this is about one thread, where Slack takes no slash commands: write `!{named}` in it"
        )
    assert house.talk.asked == []


@pytest.mark.parametrize("surface", [Surface.HTTP, Surface.MCP, Surface.CLI])
async def test_programs_act_on_their_own_thread(house: TalkHouse, surface: Surface) -> None:
    caller = in_thread(f"{surface}:one", surface, f"{surface}:default:default", f"{surface}:default")
    assert (await house.give("session new Nightly", caller)).is_ok
    for line, shown in (("session retry", "!retry"), ("session queue x", "!queue <text>")):
        way = f"`switchboard ask '{shown}'`" if surface is Surface.CLI else f"say `{shown}` in a message"
        assert way in (await house.give(line, caller)).message
    with_turns = replace(caller, origin=replace(caller.origin, takes_turns=True))
    assert (await house.give("session retry", with_turns)).is_ok
    assert (await house.give("session queue x", with_turns)).is_ok
    nowhere = replace(caller, origin=Origin())
    assert "none belongs to this call" in (await house.give("session new", nowhere)).message


async def test_a_shell_is_in_no_thread(house: TalkHouse) -> None:
    assert (await house.say("session list")).text.endswith("`!resume` in the thread goes back to an earlier one.")
    listed = await house.give("session list", in_thread(MEMBER, Surface.CLI))
    assert listed.text.endswith("`!resume` goes back to an earlier one.")


async def test_words_of_people_are_marked_for_programs(house: TalkHouse) -> None:
    caller = in_thread(MEMBER, Surface.MCP)
    result = await house.give("session list", caller)
    assert untrusted("Release plan") in result.text
    assert result.reply is not None
    assert untrusted("Release plan") in f"{result.reply.data}".replace("\\n", "\n")
    undone = await house.give("session undo", caller)
    assert untrusted("what did we decide? really") in undone.text
    assert OPEN not in (await house.say("session list")).text


async def test_without_conversations_every_command_says_so(house: TalkHouse) -> None:
    house.talk = None  # type: ignore[assignment] - what a process without conversations hands in
    for line in (*CHANGES, "!stop", "!status", "!usage", "!queue x", "session list"):
        result = await house.say(line)
        assert (result.code, result.message) == (
            Code.UNAVAILABLE,
            "conversations are kept by the bot that is running; there are none in this process",
        )


def test_what_leads_to_an_answer_stands_in_line(house: TalkHouse) -> None:
    registry = house.registry()
    leading: set[str] = set()
    for command in registry.commands():
        recognised = registry.recognise(f"{command.group} {command.verb}")
        assert recognised is not None
        if registry.leads_on(recognised):
            leading.add(command.id)
    assert leading == {"session.retry", "session.queue"}
    helping = registry.recognise("help")
    assert helping is not None
    assert not registry.leads_on(helping)

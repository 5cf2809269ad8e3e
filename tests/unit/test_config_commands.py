"""The config commands: who sets what for whom, what is checked, and what is shown."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from commands.builtin.config_list import config_commands
from commands.preferences import Layer, Name, Setting, Slot, Subjects, subjects_of
from commands.registry import Registry
from commands.result import Code
from commands.schema import schema
from commands.spec import Caller, Origin, Surface
from commands.untrusted import untrusted
from tests.command_house import ADMIN, ADMINS, CHANNEL, MEMBER, OTHER, HouseRules
from tests.conversation_house import THREAD, InProcessPreferences, TalkHouse, in_thread, on_slash

MARKER = "hunter2sesame"
OPTIONS = "[--layer user|thread|channel] [--version <n>]"
SET = f"Usage: `config set agent|model|effort|repo <value> {OPTIONS}`"
CLEAR = f"Usage: `config clear agent|model|effort|repo|instructions {OPTIONS}`"
MINE = Slot(Layer.USER, MEMBER, Name.EFFORT)
ADVICE = "Answer in French,\nit's <b>shorter</b>."


@pytest.fixture
def house() -> TalkHouse:
    house = TalkHouse()
    house.talk.people[THREAD] = frozenset({MEMBER})
    return house


def kept(house: TalkHouse, layer: Layer, subject: str, name: Name) -> str | None:
    row = house.preferences.rows.get(Slot(layer, subject, name))
    return None if row is None else row.value


async def test_what_is_set_for_oneself_is_in_effect_and_says_where_it_comes_from(house: TalkHouse) -> None:
    assert (await house.say("config set effort HIGH")).text == "⚙️ effort is `high` for you now."
    assert (await house.say("config set agent coder --layer thread")).text == (
        "⚙️ agent is `coder` for this conversation now."
    )
    assert (await house.say("config show")).text == (
        "**In effect for your messages here**\n"
        "- agent: `coder` (set for this conversation)\n"
        "- model: `test/code` (the agent's own)\n"
        "- effort: `high` (set by you)\n"
        "- repo: none (the default)\n"
        "\n"
        "**Set**\n"
        "- agent, set for this conversation: `coder` (version 1)\n"
        "- effort, set by you: `high` (version 1)"
    )
    assert (await house.say("config show", in_thread(OTHER, thread="slack:C1:9.0"))).text == (
        "**In effect for your messages here**\n"
        "- agent: `general` (the default)\n"
        "- model: `test/scripted` (the default)\n"
        "- effort: the model's own (the default)\n"
        "- repo: none (the default)"
    )
    assert [receipt.summary for receipt in await house.receipts.latest(5)] == [
        "set agent of thread",
        "set effort of user",
    ]


async def test_programs_get_every_setting_with_its_layer_and_version(house: TalkHouse) -> None:
    caller = in_thread(MEMBER, Surface.MCP)
    await house.say("config set model test/big")
    await house.say(f"config instructions {ADVICE}")
    result = await house.give("config show", caller)
    assert result.reply is not None
    assert result.reply.data == {
        "effective": {
            "agent": {"value": "general", "layer": "defaults"},
            "model": {"value": "test/big", "layer": "user"},
            "effort": {"value": None, "layer": "defaults"},
            "repo": {"value": None, "layer": "defaults"},
        },
        "settings": [
            {"layer": "user", "name": "instructions", "value": untrusted(ADVICE), "version": 1},
            {"layer": "user", "name": "model", "value": "test/big", "version": 1},
        ],
    }
    assert untrusted(ADVICE) in (await house.give("config instructions", caller)).text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"config set {MARKER} x", f"<name> must be one of agent, model, effort, repo. {SET}"),
        (f"config set {MARKER}", f"<name> must be one of agent, model, effort, repo; <value> is missing. {SET}"),
        ("config set instructions x", f"<name> must be one of agent, model, effort, repo. {SET}"),
        (f"config clear {MARKER}", f"<name> must be one of agent, model, effort, repo, instructions. {CLEAR}"),
        (f"config set agent {MARKER}", "there is no such agent; there are coder, general"),
        (f"config set model {MARKER}", "a model is written `<provider>/<model>`; the providers are test"),
        (f"config set model test/{'x' * 200}", "a model is written `<provider>/<model>`; the providers are test"),
        (f"config set model {MARKER}/x", "no provider of that name is set up; there is test"),
        (f"config set effort {MARKER}", "an effort is one of low, medium, high"),
        (
            f"config set repo {MARKER}",
            "a repository is written `owner/name`, such as `acme/api`; `none` is for no repository",
        ),
        (
            f"config set repo https://github.com/{MARKER}/x/y",
            "a repository is written `owner/name`, such as `acme/api`; `none` is for no repository",
        ),
        (f"config instructions {MARKER * 200}", "instructions may have at most 2,000 characters"),
    ],
)
async def test_only_what_there_is_can_be_set_and_no_refusal_repeats_it(
    house: TalkHouse, line: str, message: str
) -> None:
    result = await house.say(line)
    assert (result.code, result.message) == (Code.INVALID_INPUT, message)
    assert MARKER not in result.text
    assert house.preferences.rows == {}


async def test_a_name_is_one_of_what_there_is_in_any_case(house: TalkHouse) -> None:
    assert (await house.say("config set Effort low")).is_ok
    command = house.registry().get("config.set")
    assert command is not None
    assert '"enum": ["agent", "model", "effort", "repo"]' in json.dumps(schema(command)["properties"])


async def test_what_holds_for_a_channel_is_set_by_admins(house: TalkHouse) -> None:
    for line in ("config set effort low --layer channel", "config instructions --layer channel Be brief."):
        refused = await house.say(line)
        assert (refused.code, refused.text.endswith(f"Ask {ADMINS}.")) == (Code.UNAUTHORIZED, True)
        assert house.preferences.rows == {}
    for line in ("config set effort low --layer channel", "config instructions --layer channel Be brief."):
        assert (await house.say(line, in_thread(ADMIN))).is_ok
    assert kept(house, Layer.CHANNEL, CHANNEL, Name.EFFORT) == "low"
    assert kept(house, Layer.CHANNEL, CHANNEL, Name.INSTRUCTIONS) == "Be brief."
    cleared = await house.say("config clear effort --layer channel")
    assert cleared.code is Code.UNAUTHORIZED


async def test_what_holds_for_a_conversation_is_set_by_its_people(house: TalkHouse) -> None:
    line = "config set effort low --layer thread"
    assert (await house.say(line, in_thread(OTHER))).code is Code.UNAUTHORIZED
    assert house.preferences.rows == {}
    assert (await house.say(line)).is_ok
    assert (await house.say("config clear effort --layer thread", in_thread(ADMIN))).is_ok
    assert (await house.say(line, in_thread(OTHER, thread="slack:C1:9.0"))).is_ok


async def test_a_repository_is_set_for_the_conversation_unless_a_layer_is_named(house: TalkHouse) -> None:
    assert (await house.say("config set repo Acme/API")).text == "⚙️ repo is `acme/api` for this conversation now."
    assert kept(house, Layer.THREAD, THREAD, Name.REPO) == "acme/api"
    assert "- repo: `acme/api` (set for this conversation)" in (await house.say("config show")).text
    assert (await house.say("config set repo acme/web --layer channel", in_thread(ADMIN))).is_ok
    elsewhere = await house.say("config show", in_thread(OTHER, thread="slack:C1:9.0"))
    assert "- repo: `acme/web` (set for this channel)" in elsewhere.text
    assert (await house.say("config clear repo")).text == "🧹 No repo is set for this conversation any more."
    assert "- repo: `acme/web` (set for this channel)" in (await house.say("config show")).text
    assert (await house.say("config set repo acme/api", in_thread(OTHER))).code is Code.UNAUTHORIZED


async def test_a_conversation_can_be_about_no_repository_in_a_channel_that_is_about_one(house: TalkHouse) -> None:
    assert (await house.say("config set repo acme/web --layer channel", in_thread(ADMIN))).is_ok
    assert (await house.say("config set repo none")).text == "⚙️ repo is `none` for this conversation now."
    assert "- repo: none (set for this conversation)" in (await house.say("config show")).text
    assert (await house.say("config clear repo")).is_ok
    assert "- repo: `acme/web` (set for this channel)" in (await house.say("config show")).text


@pytest.mark.parametrize(
    ("line", "caller", "message"),
    [
        (
            "config set repo acme/api --layer user",
            in_thread(),
            "a repository is a conversation's or a channel's, not a person's: `--layer thread` or `--layer channel`",
        ),
        (
            "config clear repo --layer user",
            in_thread(),
            "a repository is a conversation's or a channel's, not a person's: `--layer thread` or `--layer channel`",
        ),
        (
            "config set repo acme/api",
            on_slash(ADMIN),
            "this is said in no thread; `--layer channel` sets it for the channel",
        ),
        (
            "config set repo acme/api",
            in_thread(ADMIN, thread=CHANNEL),
            "this is said in no thread; `--layer channel` sets it for the channel",
        ),
        (
            "config set repo acme/api --layer channel",
            Caller(ADMIN, Surface.CHAT, Origin()),
            "this surface has no channel to set it for",
        ),
    ],
)
async def test_a_repository_that_has_no_place_is_refused_with_what_to_type(
    house: TalkHouse, line: str, caller: Caller, message: str
) -> None:
    result = await house.give(line, caller)
    assert (result.code, result.message) == (Code.INVALID_INPUT, message)
    assert house.preferences.rows == {}


async def test_without_conversations_only_admins_set_what_holds_for_one(house: TalkHouse) -> None:
    house.talk = None  # type: ignore[assignment] - what a process without conversations hands in
    line = "config set effort low --layer thread"
    assert (await house.say(line)).code is Code.UNAUTHORIZED
    assert (await house.say(line, in_thread(ADMIN))).is_ok


async def test_whoever_may_not_change_their_own_may_not_set_it(house: TalkHouse) -> None:
    house.rules = HouseRules(unreadable=frozenset({f"user:{MEMBER}"}))
    assert (await house.say("config set effort low")).text.startswith("🚫 `config set`: you may not change settings.")
    nameless = await house.give("config set effort low", Caller("no body", Surface.SLASH, Origin(CHANNEL)))
    assert nameless.code is Code.UNAUTHORIZED
    assert house.preferences.rows == {}


@pytest.mark.parametrize(
    ("caller", "layer", "message"),
    [
        (on_slash(ADMIN), "thread", "this is said in no thread"),
        (Caller(ADMIN, Surface.CHAT, Origin()), "channel", "this surface has no channel"),
        (Caller("", Surface.CHAT, Origin()), "user", "nobody is known to be asking"),
    ],
)
async def test_a_layer_that_is_not_there_cannot_be_set(
    house: TalkHouse, caller: Caller, layer: str, message: str
) -> None:
    result = await house.give(f"config set effort low --layer {layer}", caller)
    assert (result.code, result.message.startswith(message)) == (Code.INVALID_INPUT, True)


async def test_a_channel_whose_id_makes_no_scope_has_no_admins(house: TalkHouse) -> None:
    caller = Caller(ADMIN, Surface.CHAT, Origin("slack: C1", THREAD))
    assert (await house.say("config set effort low --layer channel", caller)).code is Code.UNAUTHORIZED


async def test_a_slash_command_sets_things_for_oneself(house: TalkHouse) -> None:
    assert (await house.give("config set effort low", on_slash())).is_ok
    assert kept(house, Layer.USER, MEMBER, Name.EFFORT) == "low"


async def test_a_setting_is_taken_back_and_its_version_goes_on(house: TalkHouse) -> None:
    await house.say("config set effort low")
    assert (await house.say("config clear EFFORT")).text == "🧹 No effort is set for you any more."
    assert house.preferences.rows[MINE] == Setting(MINE, None, 2)
    nothing = await house.say("config clear effort")
    assert (nothing.code, nothing.message) == (Code.NOT_FOUND, "no effort is set for you")
    assert "Set**" not in (await house.say("config show")).text
    assert (await house.say("config set effort high")).is_ok
    assert house.preferences.rows[MINE] == Setting(MINE, "high", 3)


@pytest.mark.parametrize("line", ["config set effort high", "config clear effort", "config instructions Be brief."])
async def test_what_changed_meanwhile_is_not_overwritten(house: TalkHouse, line: str) -> None:
    await house.say("config set effort low")
    await house.say("config instructions Be long.")
    command, _, tail = line.partition(" ")[2].partition(" ")
    behind = await house.say(f"config {command} --version 0 {tail}")
    assert (behind.code, behind.reply) == (Code.CONFLICT, None)
    assert {row.version for row in house.preferences.rows.values()} == {1}
    assert (await house.say(f"config {command} --version 1 {tail}")).is_ok


class Contested(InProcessPreferences):
    """Somebody else changes what was looked at, so many times, before it is changed."""

    times = 1

    async def get(self, subjects: Subjects) -> Sequence[Setting]:
        seen = await super().get(subjects)
        for row in seen if self.times else ():
            self.rows[row.slot] = replace(row, value="low", version=row.version + 1)
        self.times = max(0, self.times - 1)
        return seen


@pytest.mark.parametrize("line", ["config set effort high", "config instructions Be brief.", "config clear effort"])
async def test_without_a_version_whoever_speaks_last_counts(line: str) -> None:
    advice = Slot(Layer.USER, MEMBER, Name.INSTRUCTIONS)
    rows = {MINE: Setting(MINE, "medium", 4), advice: Setting(advice, "Be long.", 4)}
    changed = advice if "instructions" in line else MINE
    house = TalkHouse(preferences=Contested(rows))
    assert (await house.say(line)).is_ok
    assert house.preferences.rows[changed].version == 6


async def test_what_changes_all_the_time_is_told_of() -> None:
    contested = Contested({MINE: Setting(MINE, "medium", 4)})
    contested.times = 2
    assert (await TalkHouse(preferences=contested).say("config set effort high")).code is Code.CONFLICT


async def test_instructions_are_kept_as_they_were_written(house: TalkHouse) -> None:
    assert (await house.say("config instructions")).text == "No instructions are set for you."
    said = await house.say(f"config instructions {ADVICE}")
    assert said.text == f"⚙️ From now on I am given these {len(ADVICE)} characters as advice for you."
    assert kept(house, Layer.USER, MEMBER, Name.INSTRUCTIONS) == ADVICE
    assert (await house.say("config instructions")).text == (
        "Instructions for you (version 1), which I am given as advice:\n> Answer in French,\n> it's <b>shorter</b>."
    )
    assert f"- instructions, set by you: {len(ADVICE)} characters (version 1)" in (await house.say("config show")).text
    assert (await house.say('config instructions ""')).text == "🧹 No instructions are set for you any more."
    nothing = await house.say('config instructions ""')
    assert nothing.text == "⚠️ `config instructions`: no instructions are set for you"
    assert (await house.say("config instructions")).text == "No instructions are set for you."
    assert (await house.say("config instructions --layer thread x")).code is Code.INVALID_INPUT


async def test_without_settings_every_command_says_so(house: TalkHouse) -> None:
    bare = [command for command in house.registry().commands() if command.group != "config"]
    registry = Registry([*bare, *config_commands(None, None, house.rules)], house.rules)
    for line in ("config show", "config set effort low", "config clear effort", "config instructions"):
        result = await registry.run_line(line, in_thread())
        assert (result.code, result.message) == (
            Code.UNAVAILABLE,
            "there are no settings of people and channels in this process",
        )


def test_a_request_has_the_layers_its_place_has() -> None:
    assert subjects_of(in_thread()) == {Layer.THREAD: THREAD, Layer.USER: MEMBER, Layer.CHANNEL: CHANNEL}
    at_the_top = in_thread(thread=CHANNEL)
    assert subjects_of(at_the_top) == subjects_of(on_slash()), "what holds for a whole channel is the channel's"
    assert subjects_of(on_slash()) == {Layer.USER: MEMBER, Layer.CHANNEL: CHANNEL}
    assert subjects_of(Caller("http:ci", Surface.HTTP)) == {Layer.USER: "http:ci"}

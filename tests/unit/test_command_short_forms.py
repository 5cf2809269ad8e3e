"""Short forms (``!new``), raw texts, and how both are told from speech."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.errors import InvalidInputError
from commands.grammar import LINE_CHARS, bind, tokens_of, wants_help
from commands.registry import DuplicateCommandError, Recognised, Registry
from commands.spec import Argument, Caller, Command, Option, Origin, Surface
from tests.command_house import HouseRules, Recorder, a_caller, runs_list
from tests.conversation_house import TalkHouse

RAW = (Argument("words", "words", is_required=False, is_rest=True, is_raw=True),)
OPTIONS = (Option("mode", "how", choices=("soft", "hard")), Option("quiet", "say less", type="boolean"))


def a_note(handler: Recorder | None = None, **changes: Any) -> Command:
    """A command that takes a raw text, with two short forms."""
    made: dict[str, Any] = {"id": "notes.add", "arguments": RAW, "options": OPTIONS, "shorts": ("note", "n")}
    made |= changes
    return runs_list(handler or Recorder(), **made)


def words_of(tail: str) -> str | None:
    words = bind(a_note(), tokens_of(a_note(), tail))["words"]
    assert words is None or isinstance(words, str)
    return words


@pytest.mark.parametrize(
    ("text", "words", "tail"),
    [
        ("!note", ("notes", "add"), ""),
        (" !NOTE Some Title", ("notes", "add"), " Some Title"),
        ("!n it's\n  this", ("notes", "add"), " it's\n  this"),
        ("!note --quiet x", ("notes", "add"), " --quiet x"),
        ("!notes add x", ("notes", "add"), " x"),
        ("!runs list x", ("runs", "list"), " x"),
        ("!runs", ("runs", "top"), ""),
        ("!runs --help", ("runs", "top"), " --help"),
        ("!runs lost", ("runs", "top"), " lost"),
        ("!runs help", ("runs", "help"), ""),
    ],
)
def test_a_marked_short_form_is_its_command(text: str, words: tuple[str, str], tail: str) -> None:
    """A word that is a group, too, is one as soon as a verb of it follows."""
    top = runs_list(id="runs.top", arguments=(), shorts=("runs",))
    registry = Registry([a_note(), runs_list(), top], HouseRules())
    assert registry.recognise(text) == Recognised(words, tail)


async def test_a_refusal_shows_the_usage_of_the_form_that_was_typed() -> None:
    registry = Registry([a_note(), runs_list(id="runs.top", arguments=(), options=(), shorts=("runs",))], HouseRules())
    for text, usage in (
        ("!N --loud", "!n [<words>…] [--mode soft|hard] [--quiet]"),
        ("!notes add --loud", "notes add [<words>…] [--mode soft|hard] [--quiet]"),
    ):
        recognised = registry.recognise(text)
        assert recognised
        result = await registry.run_text(recognised, a_caller())
        assert result.text.endswith(f"an unknown option was given (there are --mode, --quiet). Usage: `{usage}`")


@pytest.mark.parametrize(
    "text", ["note", "note this", "n", "!notebook", "!note, please", "please !note", "! note", "!no"]
)
def test_everything_else_is_speech(text: str) -> None:
    assert Registry([a_note()], HouseRules()).recognise(text) is None


def test_a_short_form_counts_in_chat_only_for_commands_of_chat() -> None:
    hidden = a_note(surfaces=frozenset({Surface.CLI}))
    assert Registry([hidden], HouseRules()).recognise("!note x") is None


@pytest.mark.parametrize(
    "more",
    [
        runs_list(shorts=("note",)),
        runs_list(shorts=("help",)),
        runs_list(shorts=("notes",)),
        runs_list(shorts=("runs",)),
        runs_list(shorts=("x", "x")),
    ],
)
def test_a_short_form_that_could_mean_something_else_is_refused(more: Command) -> None:
    with pytest.raises(DuplicateCommandError, match=r"^!"):
        Registry([a_note(), more], HouseRules())


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"shorts": ("New",)}, "a short form is no word"),
        ({"shorts": ("two words",)}, "a short form is no word"),
        ({"arguments": (Argument("a", "b", is_raw=True),)}, "a raw argument is not the only one, or no rest"),
        ({"arguments": (Argument("a", "b"), *RAW)}, "a raw argument is not the only one, or no rest"),
    ],
)
def test_a_definition_that_contradicts_itself_is_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        a_note(**changes)


@pytest.mark.parametrize("line", ["note it's  this", "!note it's  this", "N it's  this", "notes add it's  this"])
async def test_a_line_of_a_slash_command_may_be_a_short_form(line: str) -> None:
    recorder = Recorder()
    result = await Registry([a_note(recorder)], HouseRules()).run_line(line, a_caller(Surface.SLASH))
    assert result.is_ok
    assert recorder.values["words"] == "it's  this"


async def test_help_shows_short_forms() -> None:
    registry, caller = Registry([a_note(summary="keeps a note")], HouseRules()), a_caller()
    assert "- `notes add` (`!note` or `!n`): keeps a note" in (await registry.run_line("help", caller)).text
    for line in ("help note", "help !n", "!note --help", "note -h", "help notes add"):
        result = await registry.run_line(line, caller)
        assert "\nIn a thread: `!note` or `!n`\n" in result.text
        assert result.reply is not None
        assert result.reply.data["shorts"] == ["note", "n"]
    assert "there is no such command" in (await registry.run_line("help nothing", caller)).text


@pytest.mark.parametrize(
    ("tail", "words"),
    [
        ("", None),
        (" \n ", None),
        (' it\'s "so" ', 'it\'s "so"'),
        (" one\n\n  two\t", "one\n\n  two"),
        (" 'it is' so", "'it is' so"),
        (" 'it is'", "it is"),
        (' "it\'s <https://a.example|so>"', "it's <https://a.example|so>"),
        (" \u201cit is\u201d", "it is"),
        (" \u201cit\u2019s", "\u201cit\u2019s"),
        (' ""', ""),
        (" -- --quiet", "--quiet"),
        (" --mode=soft it's", "it's"),
        (" --mode 'soft' it's", "it's"),
        (' "--quiet" it\'s', "it's"),
        (" \u2014quiet it's", "it's"),
        (" \u2014 it's", "\u2014 it's"),
        (" -5 degrees", "-5 degrees"),
        (" run it with --quiet", "run it with --quiet"),
        (" --mode soft --no-quiet -- -h", "-h"),
    ],
)
def test_a_raw_text_is_taken_as_it_stands(tail: str, words: str | None) -> None:
    """Options may stand before it; quotes around the whole of it are taken off."""
    assert words_of(tail) == words


@given(text=st.text(min_size=1, max_size=60))
def test_any_text_behind_two_dashes_is_itself(text: str) -> None:
    stripped = text.strip()
    is_quoted = len(stripped) > 1 and stripped[0] in "\"'\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b"
    if stripped and not is_quoted:
        assert tokens_of(a_note(), f" -- {text}") == ["--", stripped]


@given(text=st.text(max_size=60))
def test_no_raw_text_breaks_the_grammar(text: str) -> None:
    """Only what looks like an option is ever refused."""
    try:
        words = words_of(text)
    except InvalidInputError:
        assert text.lstrip().lstrip("\"'").startswith(("-", "\u2013", "\u2014")) or "\x00" in text
    else:
        assert words is None or words in text


@pytest.mark.parametrize("tail", [" --mode", " --mode extreme x", " --what x", " --quiet=maybe x"])
def test_a_wrong_option_before_a_raw_text_is_told(tail: str) -> None:
    with pytest.raises(InvalidInputError):
        words_of(tail)


def test_help_is_asked_for_before_the_text_and_not_in_it() -> None:
    for tail, wanted in ((" --help", True), (" -h", True), (" --quiet --help", True), (" how does --help work", False)):
        assert wants_help(tokens_of(a_note(), tail)) is wanted
    with pytest.raises(InvalidInputError, match="at most 8,000"):
        tokens_of(a_note(), "x" * (LINE_CHARS + 1))


def test_only_chat_and_messages_lead_to_turns() -> None:
    assert a_caller(Surface.CHAT).takes_turns
    assert not a_caller(Surface.SLASH).takes_turns
    assert Caller("http:ci", Surface.HTTP, Origin(takes_turns=True)).takes_turns


SHORTS = ["new", "reset", "stop", "resume", "list", "retry", "undo", "compress", "queue", "status", "usage", "title"]


@pytest.mark.parametrize("word", SHORTS)
def test_the_house_knows_its_short_forms(word: str) -> None:
    registry = TalkHouse().registry()
    assert registry.recognise(f"!{word}") == Recognised(("session", word), "")
    assert registry.recognise(word) is None
    assert registry.recognise(f"{word} it") is None


def test_a_status_in_a_thread_is_the_sessions_and_the_bots_stays_reachable() -> None:
    registry = TalkHouse().registry()
    assert registry.recognise("!q what's next") == Recognised(("session", "queue"), " what's next")
    assert registry.recognise("!status show") == Recognised(("status", "show"), "")
    assert registry.recognise("!status x") == Recognised(("session", "status"), " x")
    assert registry.recognise("!title Status show") == Recognised(("session", "title"), " Status show")

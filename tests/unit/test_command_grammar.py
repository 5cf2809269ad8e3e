"""How commands are typed: tokens, binding, and that nothing typed breaks anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.coercion import TEXT_CHARS
from commands.errors import InvalidInputError
from commands.grammar import LINE_CHARS, bind, spoken, tokenize, wants_help, without_links
from commands.spec import Argument, Command, Option, Value
from tests.command_house import RUNS_LIST, outcome, runs_list

NOTHING: dict[str, Value] = {"words": None, "sinceMs": 20, "mode": None, "quiet": None, "repo": None}
SECRET = "hunter2sesame"


def refusal(line: str, command: Command = RUNS_LIST) -> str:
    with pytest.raises(InvalidInputError) as caught:
        bind(command, tokenize(line))
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("  a \t b\nc ", ["a", "b", "c"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        ("pre'a b'post", ["prea bpost"]),
        ('--x="a b"', ["--x=a b"]),
        ("'' \"\"", ["", ""]),
        ("a''", ["a"]),
        ('"it\'s" \'say "x"\'', ["it's", 'say "x"']),
        ("\u201ca b\u201d \u2018c d\u2019 \u201ee f\u201d", ["a b", "c d", "e f"]),
        (r"a\ b '\'", ["a\\", "b", "\\"]),
        ("\u2014limit 5 \u2013 a\u2014b '\u2014x'", ["--limit", "5", "\u2013", "a\u2014b", "\u2014x"]),
    ],
)
def test_a_line_is_cut_into_tokens(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize("text", ["'a", 'a "b', "don't", "\u201ca", "don\u2019t"])
def test_an_open_quote_is_told(text: str) -> None:
    with pytest.raises(InvalidInputError, match="quote is not closed"):
        tokenize(text)


def test_a_command_of_40_kb_is_too_long_however_it_comes() -> None:
    with pytest.raises(InvalidInputError, match="at most 8,000"):
        tokenize("a " * 20_000)
    with pytest.raises(InvalidInputError, match="at most 8,000"):
        bind(RUNS_LIST, ["a"] * 40_000)
    assert "<name> may have at most 4,000" in refusal("a" * (TEXT_CHARS + 1))
    assert tokenize("a" * LINE_CHARS) == ["a" * LINE_CHARS]


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("me", {"name": "me"}),
        ("me a  'b  c' d", {"name": "me", "words": "a b  c d"}),
        ("me --since-ms 5", {"name": "me", "sinceMs": 5}),
        ("--since-ms=5 me", {"name": "me", "sinceMs": 5}),
        ("me --since-ms -5", {"name": "me", "sinceMs": -5}),
        ("me -- --mode -x", {"name": "me", "words": "--mode -x"}),
        ("- -5 -1.5", {"name": "-", "words": "-5 -1.5"}),
        ("me --quiet a", {"name": "me", "words": "a", "quiet": True}),
        ("me --no-quiet", {"name": "me", "quiet": False}),
        ("me --quiet=false", {"name": "me", "quiet": False}),
        ("me --quiet=TRUE --mode hard", {"name": "me", "quiet": True, "mode": "hard"}),
        ("me --repo a/b", {"name": "me", "repo": "a/b"}),
        ("''", {"name": ""}),
    ],
)
def test_tokens_are_bound(tail: str, expected: dict[str, Value]) -> None:
    assert bind(RUNS_LIST, tokenize(tail)) == NOTHING | expected


@pytest.mark.parametrize(
    ("tail", "problem"),
    [
        ("", "<name> is missing"),
        ("me --since-ms", "--since-ms needs a value"),
        ("me --since-ms --quiet", "--since-ms needs a value"),
        ("me --since-ms 1 --since-ms 2", "--since-ms is given twice"),
        ("me --quiet --no-quiet", "--quiet is given twice"),
        ("me --no-quiet=1", "--no-quiet takes no value"),
        ("me --quiet=perhaps", "--quiet must be true or false"),
        ("me --no-mode", "an unknown option was given (there are --since-ms, --mode, --quiet, --repo)"),
        ("me --other", "an unknown option was given"),
        ("me -x", "an unknown option was given"),
        ("me --sinceMs 5", "an option is written --like-this"),
        ("me --=5", "an option is written --like-this"),
        ("me --mode loud", "--mode must be one of soft, hard"),
        ("me --repo a", "--repo must be like owner/name"),
        ("me --repo=", "--repo must be like owner/name"),
        ("me\x00", "<name> contains characters that are no text"),
        ("me \ud83d", "<words> contains characters that are no text"),
    ],
)
def test_a_wrong_tail_is_told_by_name(tail: str, problem: str) -> None:
    assert problem in refusal(tail)


@pytest.mark.parametrize("value", ["-11", "51", "ten", "1.5", "", "1e1", "٣", "0x1", "9" * 5_000, " 5", "--5"])
def test_a_number_must_be_whole_and_in_range(value: str) -> None:
    assert refusal(f"me --since-ms='{value}'") == "--since-ms must be a whole number from -10 to 50"


def test_several_problems_are_told_at_once_and_each_once() -> None:
    told = refusal("--since-ms ten --mode loud -x -y")
    assert told.split("; ") == [
        "an unknown option was given (there are --since-ms, --mode, --quiet, --repo)",
        "<name> is missing",
        "--since-ms must be a whole number from -10 to 50",
        "--mode must be one of soft, hard",
    ]


@pytest.mark.parametrize("tail", ["a b", "a --x", "-x"])
def test_what_takes_one_argument_takes_no_more(tail: str) -> None:
    command = runs_list(arguments=(Argument("name", "whose"),), options=())
    told = refusal(tail, command)
    assert "too many arguments" in told or "it takes no options" in told


def test_what_takes_nothing_says_so() -> None:
    command = runs_list(arguments=(), options=())
    assert refusal("a --x b", command) == "it takes no options; it takes no arguments"


def test_an_option_that_begins_with_no_is_itself() -> None:
    command = runs_list(
        arguments=(), options=(Option("cache", "c", type="boolean"), Option("noCache", "n", type="boolean"))
    )
    assert bind(command, ["--no-cache"]) == {"cache": None, "noCache": True}


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (Option("n", "n", type="integer"), "a whole number"),
        (Option("n", "n", type="integer", least=1), "a whole number, 1 at least"),
        (Option("n", "n", type="integer", most=9), "a whole number, 9 at most"),
    ],
)
def test_a_range_is_told_as_far_as_there_is_one(option: Option, words: str) -> None:
    assert refusal("--n x", runs_list(arguments=(), options=(option,))) == f"--n must be {words}"


@pytest.mark.parametrize(
    ("tokens", "wanted"), [(["--help"], True), (["a", "-h", "b"], True), (["--", "-h"], False), (["help"], False)]
)
def test_help_may_be_asked_for_anywhere_among_the_options(tokens: list[str], *, wanted: bool) -> None:
    assert wants_help(tokens) is wanted


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("see <https://a.example/x?a=1&amp;b=2|label> end", "see https://a.example/x?a=1&b=2 end"),
        ("<http://a.example>", "http://a.example"),
        ("<mailto:a@b.example|a> <@U1> a < b > c", "<mailto:a@b.example|a> <@U1> a < b > c"),
    ],
)
def test_links_of_slack_are_undone(text: str, plain: str) -> None:
    assert without_links(text) == plain


@pytest.mark.parametrize(
    "tail",
    [
        f"me --since-ms {SECRET}",
        f"me --mode={SECRET}",
        f"me --{SECRET}",
        f"me --{SECRET}=1",
        f"me -{SECRET}",
        f"me --quiet={SECRET}",
        f"me --repo {SECRET}",
        f"me --{SECRET.upper()}",
    ],
)
def test_what_was_typed_is_never_repeated(tail: str) -> None:
    assert SECRET not in refusal(tail).lower()


@given(st.text(max_size=300) | st.text("ab '\"-=\u2014\u201c\u2019\n", max_size=60))
def test_any_line_is_tokens_or_our_own_refusal(text: str) -> None:
    assert outcome(lambda: bind(RUNS_LIST, tokenize(without_links(text))))


@given(
    st.lists(
        st.text(st.characters(exclude_characters="'\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\""), max_size=20),
        max_size=6,
    ),
    st.sampled_from("'\""),
)
def test_quoted_tokens_come_back_as_they_were(tokens: list[str], quote: str) -> None:
    assert tokenize(" ".join(f"{quote}{token}{quote}" for token in tokens)) == tokens


@given(
    st.lists(st.text(max_size=12) | st.sampled_from(["--", "-", "--quiet", "--since-ms", "--mode=soft"]), max_size=8)
)
def test_any_argv_is_values_or_our_own_refusal(tokens: list[str]) -> None:
    assert outcome(lambda: bind(RUNS_LIST, tokens))


@given(st.text(max_size=200))
def test_any_text_is_speech_or_two_words(text: str) -> None:
    found = spoken(text)
    assert found is None or found.group.isalnum()

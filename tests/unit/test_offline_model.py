"""What the demo model answers, how it streams, and what it extracts."""

import asyncio
import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agents.providers import offline_summary
from app.agents.providers.base import Completed, Counted, ModelEvent, ModelRequest, StopReason, TextDelta, Turn, Usage
from app.agents.providers.offline import OfflineProvider
from app.agents.providers.offline_answers import INTRODUCTION, MAX_WORDS, demo_answer, memories, prose, said
from app.agents.providers.offline_extraction import EXTRACTION_MARKER, Fact, extraction_answer, facts, is_extraction
from app.sessions import summary
from tests.model_servers import read

MEMORY = """Background memory for org:acme (may be outdated — verify before acting):
<background_memory>
- We use Postgres for billing &amp; reports. (source: slack:C1:1.0)
- A &lt;b&gt; is not a tag.
</background_memory>"""


def asking(text: str, *before: Turn, system: tuple[str, ...] = ("Be kind.",), limit: int = 20_000) -> ModelRequest:
    return ModelRequest("demo", system, (*before, Turn("user", text)), limit)


def answer(text: str) -> str:
    """The answer in a conversation that has had its introduction."""
    return demo_answer(asking(text, Turn("user", "Ann: hi"), Turn("assistant", "Hello.")))


async def streamed(request: ModelRequest) -> tuple[list[ModelEvent], list[float]]:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    provider = OfflineProvider(pause_s=0.25, sleep=sleep)
    events = [event async for event in provider.stream(request)]
    return events, pauses


async def test_every_word_is_a_piece_with_a_pause_before_it() -> None:
    request = asking("Ann: Is it late?")
    events, pauses = await streamed(request)
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == demo_answer(request)
    assert len(pieces) == len(demo_answer(request).split())
    assert pauses == [0.25] * len(pieces)


@pytest.mark.parametrize("marker", [EXTRACTION_MARKER, summary.SUMMARY_MARKER])
async def test_what_nobody_watches_comes_without_pauses(marker: str) -> None:
    _, pauses = await streamed(asking("Ann: we use Postgres for billing", system=(marker,)))
    assert pauses
    assert set(pauses) == {0}


async def test_usage_counts_four_characters_as_a_token() -> None:
    request = asking("x" * 90, system=("y" * 9,))
    events, _ = await streamed(request)
    output_tokens = -(-len(demo_answer(request)) // 4)
    assert events[0] == Counted(Usage(input_tokens=25))
    assert events[-1] == Completed(StopReason.END, Usage(input_tokens=25, output_tokens=output_tokens))


async def test_an_answer_over_the_limit_is_cut_there() -> None:
    request = asking("Ann: write 500 words", limit=10)
    events, _ = await streamed(request)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == demo_answer(request)[:40]
    assert events[-1] == Completed(StopReason.LENGTH, Usage(input_tokens=7, output_tokens=10))


async def test_the_real_pause_can_be_cancelled_at_once() -> None:
    async with asyncio.timeout(20):
        reading = asyncio.create_task(read(OfflineProvider(pause_s=60), asking("Hi")))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading


def test_only_the_first_answer_says_what_is_talking() -> None:
    assert demo_answer(asking("Ann: Is it late?")).startswith(INTRODUCTION)
    assert INTRODUCTION not in answer("Ann: Is it late?")


def test_what_memory_holds_is_quoted_as_it_was_written() -> None:
    shown = demo_answer(asking("Ann: Is it late?", system=(MEMORY, "Be kind.")))
    assert "> We use Postgres for billing & reports.\n> A <b> is not a tag.\n" in shown
    assert "source:" not in shown


def test_without_a_memory_block_nothing_is_recalled() -> None:
    assert "From memory" not in demo_answer(asking("Ann: Is it late?", system=("- no memory",)))


def test_only_bullets_inside_the_fence_are_memories() -> None:
    outside = f"- before\n{MEMORY}\n- after\n<background_memory>\nprose\n- last\n</background_memory>"
    assert memories((outside, "- another part")) == [
        "We use Postgres for billing & reports.",
        "A <b> is not a tag.",
        "last",
    ]


def test_many_memories_are_counted_rather_than_repeated() -> None:
    bullets = "\n".join(f"- fact {number}" for number in range(11))
    shown = demo_answer(asking("Hi", system=(f"<background_memory>\n{bullets}\n</background_memory>",)))
    assert "> fact 7\n> … and 3 more" in shown
    assert "fact 8" not in shown


@pytest.mark.parametrize(
    ("turn", "name", "text"),
    [
        ("Ann Lee: hello", "Ann Lee", "hello"),
        ("Ann: see https://x.test/a: b", "Ann", "see https://x.test/a: b"),
        ("Bob: first\n\nAnn: second\nline", "Ann", "second\nline"),
        ("no name here", "", "no name here"),
        ("Bob: first\n\n  Ann: not Ann's", "Bob", "first\n\n  Ann: not Ann's"),
        ("(without a question: help)", "", "(without a question: help)"),
        ("what is it?\n\n[A note: more]", "", "what is it?\n\n[A note: more]"),
    ],
)
def test_the_last_speaker_is_the_one_who_asks(turn: str, name: str, text: str) -> None:
    assert said(turn) == (name, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann: Hello there", "Hello Ann!"),
        ("good morning", "Hello!"),
        ("Ann: thank you", "You are welcome."),
        ("Ann: what can you do", "**table**"),
        ("Ann: Is it late?", "You asked:\n\n> Is it late?"),
        ("Ann: It is\nlate", "You wrote:\n\n> It is late"),
        ("Ann: give me a list", "\n   - it grows word by word"),
        ("Ann: a table please", "| --- | :---: | --- |"),
        ("Ann: show me code", "```python\ndef answer("),
    ],
)
def test_each_kind_of_message_has_its_kind_of_answer(text: str, expected: str) -> None:
    assert expected in answer(text)


def test_several_shapes_come_in_one_answer() -> None:
    both = answer("Ann: a table and some code")
    assert "| --- |" in both
    assert "```python" in both


def test_a_long_message_is_quoted_in_part() -> None:
    assert f"> {'x' * 279}…" in answer("Ann: " + "x" * 5000)


@pytest.mark.parametrize(
    ("wish", "words"),
    [("write 250 words", 250), ("a 1,200-word story", 1200), ("write 99999 words", MAX_WORDS), ("a long text", 600)],
)
def test_long_answers_have_as_many_words_as_were_wished(wish: str, words: int) -> None:
    assert len(answer(f"Ann: {wish}").split()) == words


@given(st.integers(1, 2000))
def test_prose_has_exactly_the_number_of_words(words: int) -> None:
    assert len(prose(words).split()) == words


def test_paragraphs_are_numbered_without_a_gap() -> None:
    paragraphs = prose(1000).split("\n\n")
    assert [paragraph.split()[0] for paragraph in paragraphs] == [f"**{n}.**" for n in range(1, 13)]


@given(st.text(min_size=1), st.lists(st.text()))
def test_any_text_gets_an_answer(text: str, system: list[str]) -> None:
    assert demo_answer(asking(text, system=tuple(system))).strip()


def test_a_system_prompt_with_the_marker_asks_for_facts() -> None:
    assert is_extraction(asking("x", system=("Role.", f"{EXTRACTION_MARKER}.")))
    assert not is_extraction(asking(EXTRACTION_MARKER))


@pytest.mark.parametrize(
    ("line", "text", "audience"),
    [
        ("We use Postgres for billing.", "We use Postgres for billing.", "org"),
        ("we host our production database in Frankfurt", "We host our production database in Frankfurt.", "org"),
        ("so, our deploy day is Tuesday", "Our deploy day is Tuesday.", "org"),
        ("Grafana runs on port 3000!", "Grafana runs on port 3000.", "org"),
        ("the staging database is db-2", "The staging database is db-2.", "org"),
        ("Always rebase before merging", "Always rebase before merging.", "org"),
        ("always answer in German", "Always answer in German.", "user"),
        ("I prefer short answers", "This user prefers short answers.", "user"),
        ("i never use tabs", "This user never uses tabs.", "user"),
        ("my timezone is CET", "This user's timezone is CET.", "user"),
        ("please remember that lunch is at noon", "Lunch is at noon.", "org"),
        ("Remember: I like tea", "This user likes tea.", "user"),
        ("this is it. We use ruff in this repository.", "We use ruff in this repository.", "repo"),
        ("we keep this channel for releases", "We keep this channel for releases.", "channel"),
        ("In this repository the tests run with make", "In this repository the tests run with make.", "repo"),
        ("for this repo, squash every merge", "For this repo, squash every merge.", "repo"),
        ("In this channel alerts come first", "In this channel alerts come first.", "channel"),
    ],
)
def test_simple_sentences_become_facts(line: str, text: str, audience: str) -> None:
    found = list(facts(f"Ann: {line}"))
    assert [(fact.text, fact.audience) for fact in found] == [(text, audience)]


@pytest.mark.parametrize(
    "conversation",
    [
        "",
        "Ann: Hello, how are you",
        "Ann: do we use Postgres for billing?",
        "Assistant: We use Postgres for billing.\nOur day is Tuesday.",
        "switchboard: I prefer tea",
        "Ann: In this repository how do the tests run?",
        "Ann: In this repository again",
    ],
)
def test_questions_small_talk_and_the_bots_own_words_are_no_facts(conversation: str) -> None:
    assert list(facts(conversation)) == []


def test_what_people_say_after_the_bot_counts_again() -> None:
    found = list(facts("user: hi\nassistant: We use Oracle.\nuser: no\n- we use Postgres"))
    assert found == [Fact("We use Postgres.", ["postgres"], "org")]


def test_keywords_are_the_telling_words() -> None:
    (fact,) = facts("Ann: Our deploys run on GitHub Actions, on the node-pool of the runner")
    assert fact.keywords == ["deploys", "github", "actions", "node-pool", "runner"]


def test_the_answer_is_one_json_object_without_repetitions_and_with_five_facts_at_most() -> None:
    lines = ["we use X", "We use X.", *(f"we use tool-{number} for builds" for number in range(9))]
    found = cast("dict[str, list[dict[str, object]]]", json.loads(extraction_answer(asking("\n".join(lines)))))
    assert found.keys() == {"facts", "summary"}
    assert found["summary"] is None
    assert [fact["text"] for fact in found["facts"]][:2] == ["We use X.", "We use tool-0 for builds."]
    assert len(found["facts"]) == 5
    assert found["facts"][0] == {"text": "We use X.", "keywords": [], "audience": "org", "confidence": 0.9}


async def test_an_extraction_is_streamed_like_any_answer() -> None:
    request = asking("Ann: we use Postgres", system=(EXTRACTION_MARKER,))
    events, _ = await streamed(request)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == extraction_answer(request)
    assert json.loads(text)["facts"][0]["text"] == "We use Postgres."


async def test_nothing_to_remember_is_an_empty_list() -> None:
    assert json.loads(extraction_answer(asking("Ann: hello"))) == {"facts": [], "summary": None}


def test_a_summary_is_recognised_and_holds_the_newest_entries_cut_short() -> None:
    """The marker is the one that summaries are really asked for with."""
    assert offline_summary.SUMMARY_MARKER == summary.SUMMARY_MARKER
    entries = [f"Ann: point {number} {'x' * 200}" for number in range(offline_summary.LINES + 3)]
    material = "\n".join(["<conversation>", *entries, "</conversation>"])
    request = asking(material, system=(f"{summary.SUMMARY_MARKER}.",))
    assert offline_summary.is_summary(request)
    first, *lines = offline_summary.summary_answer(request).splitlines()
    assert first == "Notes of the demo model:"
    assert [line.split()[3] for line in lines] == [str(number) for number in range(3, offline_summary.LINES + 3)]
    assert all(len(line) <= offline_summary.LINE_CHARS + 2 for line in lines)
    assert not offline_summary.is_summary(asking("hello"))
    assert offline_summary.summary_answer(asking("no material")) == first


async def test_the_demo_model_summarises_when_it_is_asked_to() -> None:
    events, _ = await streamed(asking("<conversation>\nAnn: hi\n</conversation>", system=(summary.SUMMARY_MARKER,)))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)).endswith("- Ann: hi")


def test_a_correction_names_the_record_that_it_corrects() -> None:
    asked = """<records>
- mem:org:acme:1 [fact]: We store our invoices in the blue bucket.
- mem:org:acme:2 [fact, recalled]: We deploy on Tuesdays.
</records>
<conversation>
Ann: Correction: we store our invoices in the green bucket
Ann: Correction: our office is in Bern
</conversation>"""
    found = json.loads(extraction_answer(asking(asked)))["facts"]
    assert [(fact["text"], fact.get("supersedes")) for fact in found] == [
        ("We store our invoices in the green bucket.", "mem:org:acme:1"),
        ("Our office is in Bern.", None),
    ]

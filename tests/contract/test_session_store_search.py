"""Finding what was said, over every database: any text is a legal query."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from app.sessions.entry import SessionId, SessionKey
from app.sessions.transcript import Found, Kind, TranscriptMessage
from app.state.engine import Database
from app.state.searching import QUERY_WORDS
from app.state.sessions import StateSessions
from tests.fakes import EPOCH, ManualClock
from tests.session_lines import answer, contents, observed, said, store_over, thread

KEY = SessionKey("agent:main:slack:channel:C1:1.0")
ODD = {
    "empty": "",
    "blank": " \t\n",
    "nul": "release\x00date",
    "lone surrogate": "release \ud83d",
    "controls": "".join(map(chr, range(32))),
    "one long word": "w" * 4_000,
    "many long words": " ".join(["v" * 4_000, "u" * 2_047, "t" * 501]),
    "many words": " ".join(f"w{number}" for number in range(5_000)),
    "fts syntax": 'a AND (b OR "c*") NOT d NEAR(e f, 3) ^g {h i}: - + content:x',
    "half a quote": 'say "hello',
    "quotes": """'; DROP TABLE transcript; -- " ' ` ""\"""",
    "tsquery": "a & b | !c <-> (d:* & 'e')",
    "like": "% _ \\ \\\\",
    "punctuation": "!!! ??? --- :)",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈",
    "right to left": "שלום مرحبا \u202e abc",
    "no spaces": "東京都で会議があります",
    "combining": "e" + "\u0301" * 500,
    "parameters": ":words %s %(words)s ? $1",
}


@pytest.fixture
def store(database: Database) -> StateSessions:
    return store_over(database, ManualClock())


@pytest.fixture
async def session(store: StateSessions) -> SessionId:
    return (await store.get_or_create(*thread())).session_id


def found(results: Sequence[Found]) -> list[str]:
    return contents([result.message for result in results])


async def test_every_word_has_to_be_in_the_line(store: StateSessions, session: SessionId) -> None:
    await store.append(
        session, [said("the release date moved"), answer("which release?"), observed("our date is friday")]
    )
    assert found(await store.search("release DATE", [KEY])) == ["the release date moved"]
    assert sorted(found(await store.search("date", [KEY]))) == ["our date is friday", "the release date moved"]
    assert found(await store.search("release friday", [KEY])) == []
    [hit] = await store.search("friday", [KEY])
    assert hit.session_id == session
    assert (hit.message.kind, hit.message.author, hit.message.role) == (Kind.OBSERVED, "Bo", "user")
    assert hit.message.id is not None


async def test_only_the_conversations_asked_about_are_looked_at(store: StateSessions, session: SessionId) -> None:
    other = await store.get_or_create(*thread("2.0"))
    await store.append(session, [said("secret plan of one")])
    await store.append(other.session_id, [said("secret plan of two")])
    assert found(await store.search("secret", [KEY])) == ["secret plan of one"]
    assert len(await store.search("secret", [KEY, other.session_key])) == 2
    assert await store.search("secret", []) == []
    assert await store.search("secret", [SessionKey("agent:main")]) == []


async def test_sessions_that_ended_are_found_as_well(store: StateSessions, session: SessionId) -> None:
    await store.append(session, [said("the blue door")])
    await store.reset(KEY)
    [hit] = await store.search("blue", [KEY])
    assert hit.session_id == session


async def test_the_better_line_comes_first_and_the_newer_of_equals(store: StateSessions, session: SessionId) -> None:
    filler = " ".join(f"filler{number}" for number in range(300))
    await store.append(session, [said("door door door"), said(f"door {filler}")])
    assert found(await store.search("door", [KEY]))[0] == "door door door"
    later = EPOCH + timedelta(seconds=1)
    await store.append(session, [said("window", at=EPOCH), said("window", at=later)])
    assert [hit.message.at for hit in await store.search("window", [KEY])] == [later, EPOCH]
    assert [hit.message.at for hit in await store.search("window", [KEY], limit=1)] == [later]
    assert await store.search("window", [KEY], limit=0) == []


async def test_what_was_compressed_is_found_once_and_what_was_taken_back_is_not(
    store: StateSessions, session: SessionId
) -> None:
    await store.append(session, [said("slip of the tongue"), answer("?")])
    await store.rewind(session)
    await store.append(session, [said("tongue twister"), answer("a"), said("tongue tied", "1.9")])
    summary = TranscriptMessage("user", "in short", EPOCH, Kind.SUMMARY)
    await store.rewrite(session, [summary, said("tongue tied", "1.9")])
    assert sorted(found(await store.search("tongue", [KEY]))) == ["tongue tied", "tongue twister"]
    active = {line.id for line in await store.load(session)}
    [tied] = await store.search("tied", [KEY])
    assert tied.message.id in active


@pytest.mark.parametrize("name", ODD)
async def test_any_text_is_a_legal_query(store: StateSessions, session: SessionId, name: str) -> None:
    await store.append(session, [said("plain anchor"), said(ODD[name] or "empty")])
    await store.search(ODD[name], [KEY])
    assert found(await store.search("anchor", [KEY])) == ["plain anchor"]


@pytest.mark.parametrize("name", ["fts syntax", "quotes", "tsquery", "parameters", "half a quote", "nul"])
async def test_syntax_is_only_words(store: StateSessions, session: SessionId, name: str) -> None:
    """A line is found by its own text, and one that lacks a word of it is not."""
    await store.append(session, [said(ODD[name]), said("a b c"), said("release"), said("hello")])
    assert found(await store.search(ODD[name], [KEY])) == contents([(await store.load(session))[0]])


async def test_nothing_is_found_by_nothing(store: StateSessions, session: SessionId) -> None:
    await store.append(session, [said("plain anchor"), said("!!! ??? --- :)")])
    for name in ("empty", "blank", "controls", "punctuation", "one long word", "many long words"):
        assert await store.search(ODD[name], [KEY]) == [], name


async def test_a_word_too_long_for_any_index_does_not_hide_the_others(store: StateSessions, session: SessionId) -> None:
    await store.append(session, [said("plain anchor")])
    assert found(await store.search("anchor " + "w" * 4_000, [KEY])) == ["plain anchor"]


async def test_only_the_first_words_of_an_endless_query_count(store: StateSessions, session: SessionId) -> None:
    words = [f"w{number}" for number in range(QUERY_WORDS)]
    await store.append(session, [said(" ".join(words))])
    assert len(await store.search(" ".join([*words, "absent"]), [KEY])) == 1
    assert await store.search(" ".join(["absent", *words]), [KEY]) == []


async def test_a_line_of_endless_different_words_is_kept_and_found_by_its_beginning(
    store: StateSessions, session: SessionId
) -> None:
    line = " ".join(f"word{number}" for number in range(200_000))
    await store.append(session, [said(line)])
    assert found(await store.search("word7", [KEY])) == [line]

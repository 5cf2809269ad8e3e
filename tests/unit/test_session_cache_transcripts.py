"""Transcripts through the cache say what the store says, and ask it once (session lifecycle, section 11)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from app.channel import ThreadKey
from app.sessions.cache import ConversationCache
from app.sessions.cached_transcripts import CachedTranscripts, Keep
from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.transcript import TranscriptMessage
from app.state.errors import StateFullError
from tests.fakes import EPOCH, ManualClock, until

KEY = SessionKey("agent:main:slack:channel:C1:1.0")


def entry(number: int = 1) -> SessionEntry:
    session_id = SessionId(f"20261129_120000_0000000{number}")
    return SessionEntry(KEY, session_id, ThreadKey("slack:C1:1.0"), EPOCH, EPOCH)


def said(text: str, position: str | None = None) -> TranscriptMessage:
    return TranscriptMessage("user", text, EPOCH, position=position)


@dataclass
class Shelf:
    """A store of transcripts that counts how often it is read and can be full or slow."""

    lines: dict[SessionId, list[TranscriptMessage]] = field(default_factory=dict[SessionId, list[TranscriptMessage]])
    reads: int = 0
    is_full: bool = False
    gate: asyncio.Event | None = None

    async def append(self, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None:
        if self.is_full:
            raise StateFullError("no room")
        self.lines.setdefault(session_id, []).extend(messages)

    def keeping(self, messages: Sequence[TranscriptMessage]) -> Keep:
        return lambda: self.append(entry().session_id, messages)

    async def load(self, session_id: SessionId) -> Sequence[TranscriptMessage]:
        self.reads += 1
        found = tuple(self.lines.get(session_id, ()))
        if self.gate is not None:
            await self.gate.wait()
        return found


def transcripts() -> tuple[CachedTranscripts, Shelf, ConversationCache]:
    shelf, cache = Shelf({entry().session_id: [said("hello")]}), ConversationCache(ManualClock())
    return CachedTranscripts(shelf, cache), shelf, cache


async def test_a_conversation_is_read_once_and_followed_from_there() -> None:
    kept, shelf, cache = transcripts()
    assert list(await kept.load(entry())) == [said("hello")]
    await shelf.append(entry().session_id, [said("more")])
    kept.extend(entry(), [said("more")])
    assert list(await kept.load(entry())) == shelf.lines[entry().session_id] == [said("hello"), said("more")]
    assert shelf.reads == 1
    assert cache.let_go([KEY]) == 1
    assert list(await kept.load(entry())) == [said("hello"), said("more")]
    assert shelf.reads == 2


async def test_another_session_of_the_conversation_is_read_anew() -> None:
    kept, shelf, _ = transcripts()
    await kept.load(entry())
    assert await kept.load(entry(2)) == ()
    assert list(await kept.load(entry())) == [said("hello")]
    assert shelf.reads == 3


async def test_what_was_rewritten_is_read_anew() -> None:
    kept, shelf, _ = transcripts()
    await kept.load(entry())
    shelf.lines[entry().session_id] = [said("summary")]
    kept.forget(entry().session_id)
    assert list(await kept.load(entry())) == [said("summary")]


async def test_what_is_rewritten_while_it_is_read_is_not_kept_at_hand() -> None:
    kept, shelf, cache = transcripts()
    shelf.gate = asyncio.Event()
    async with asyncio.timeout(2), asyncio.TaskGroup() as group:
        reading = group.create_task(kept.load(entry()))
        await until(lambda: shelf.reads == 1)
        shelf.lines[entry().session_id] = [said("summary")]
        kept.forget(entry().session_id)
        shelf.gate.set()
    assert list(reading.result()) == [said("hello")]
    assert len(cache) == 0
    assert list(await kept.load(entry())) == [said("summary")]


async def test_lines_that_could_not_be_written_stay_at_hand_and_are_written_before_the_next_turn() -> None:
    kept, shelf, cache = transcripts()
    await kept.load(entry())
    shelf.is_full = True
    lines = [said("question"), said("answer")]
    kept.extend(entry(), lines, shelf.keeping(lines))
    with pytest.raises(StateFullError):
        await kept.load(entry())
    assert cache.let_go([KEY]) == 0
    shelf.is_full = False
    assert list(await kept.load(entry())) == [said("hello"), said("question"), said("answer")]
    assert [line.content for line in shelf.lines[entry().session_id]] == ["hello", "question", "answer"]
    assert shelf.reads == 1
    assert cache.let_go([KEY]) == 1


@pytest.mark.parametrize("is_forgotten", [False, True])
async def test_unwritten_lines_outlive_the_cache(*, is_forgotten: bool) -> None:
    kept, shelf, _ = transcripts()
    if is_forgotten:
        await kept.load(entry())
    kept.extend(entry(), [said("question")], shelf.keeping([said("question")]))
    kept.extend(entry(), [], shelf.keeping([said("nothing")]))
    if is_forgotten:
        kept.forget(entry().session_id)
    assert list(await kept.load(entry())) == [said("hello"), said("question")]
    assert list(await kept.load(entry())) == shelf.lines[entry().session_id]


async def test_turns_are_written_down_in_their_order_and_as_far_as_it_goes() -> None:
    kept, shelf, _ = transcripts()
    await kept.load(entry())
    faults = [StateFullError("no room")]

    async def keep() -> None:
        if faults:
            raise faults.pop()
        await shelf.append(entry().session_id, [said("two")])

    kept.extend(entry(), [said("one")], shelf.keeping([said("one")]))
    kept.extend(entry(), [said("two")], keep)
    with pytest.raises(StateFullError):
        await kept.load(entry())
    assert shelf.lines[entry().session_id] == [said("hello"), said("one")]
    assert list(await kept.load(entry())) == [said("hello"), said("one"), said("two")]
    assert list(await kept.load(entry())) == shelf.lines[entry().session_id]


async def test_two_that_load_at_once_both_find_what_could_not_be_written() -> None:
    kept, shelf, _ = transcripts()
    gate, tries = asyncio.Event(), list[str]()

    async def keep() -> None:
        tries.append("tried")
        await gate.wait()
        shelf.lines[entry().session_id] = [said("hello"), said("question")]

    kept.extend(entry(), [said("question")], keep)
    async with asyncio.timeout(2), asyncio.TaskGroup() as group:
        loads = [group.create_task(kept.load(entry())) for _ in range(2)]
        await until(lambda: len(tries) == 2)
        gate.set()
    assert [list(load.result()) for load in loads] == 2 * [[said("hello"), said("question")]]


async def test_a_message_that_is_there_already_is_not_at_hand_twice() -> None:
    kept, shelf, cache = transcripts()
    shelf.lines[entry().session_id] = [said("hello", "1.0")]
    await kept.load(entry())
    kept.extend(entry(), [said("hello", "1.0"), said("answer"), said("again", "2.0")])
    assert list(await kept.load(entry())) == [said("hello", "1.0"), said("answer"), said("again", "2.0")]
    assert cache.let_go([KEY]) == 1

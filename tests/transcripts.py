"""Transcripts for tests: written as short words, kept by a store that remembers what was done to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.transcript import Kind, TranscriptMessage
from tests.fakes import EPOCH

SIGNS = {
    "q": ("user", Kind.SAID),
    "o": ("user", Kind.OBSERVED),
    "a": ("assistant", Kind.SAID),
    "s": ("user", Kind.SUMMARY),
}


def transcript(signs: str, content: str = "{sign}{number}") -> tuple[TranscriptMessage, ...]:
    """One message for each letter: q(uestion), o(bserved), a(nswer), s(ummary)."""
    return tuple(
        TranscriptMessage(
            role="assistant" if SIGNS[sign][0] == "assistant" else "user",
            content=content.format(sign=sign, number=number),
            at=EPOCH + timedelta(seconds=number),
            kind=SIGNS[sign][1],
            author="Ada" if sign in "qo" else None,
            id=number + 1,
        )
        for number, sign in enumerate(signs)
    )


def signs_of(messages: Sequence[TranscriptMessage]) -> str:
    kinds = {pair: sign for sign, pair in SIGNS.items()}
    return "".join(kinds[message.role, message.kind] for message in messages)


@dataclass(slots=True)
class OneTranscript:
    """What a compression needs of the session store, for one session."""

    messages: tuple[TranscriptMessage, ...]
    entry: SessionEntry | None = None
    rewritten: int = 0

    async def get(self, key: SessionKey) -> SessionEntry | None:
        return self.entry if self.entry is not None and self.entry.session_key == key else None

    async def update(self, key: SessionKey, *, last_prompt_tokens: int | None = None) -> None:
        assert self.entry is not None
        assert self.entry.session_key == key
        self.entry = replace(self.entry, last_prompt_tokens=last_prompt_tokens or 0)

    async def load(self, session_id: SessionId) -> Sequence[TranscriptMessage]:
        return self.messages

    async def rewrite(self, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None:
        self.rewritten += 1
        self.messages = tuple(messages)


@dataclass(slots=True)
class Offered:
    """A ``BeforeLoss`` that remembers, and fails if it is told to."""

    fault: Exception | None = None
    lost: list[TranscriptMessage] = field(default_factory=list[TranscriptMessage])

    async def __call__(self, key: SessionKey, messages: Sequence[TranscriptMessage]) -> None:
        self.lost.extend(messages)
        if self.fault is not None:
            raise self.fault

"""What happens in the workspace, numbered and kept for a while, so that every open page can follow it."""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from app.playground.happenings import Happening
from app.playground.model import Json
from app.playground.page_notices import notice_of
from app.playground.workspace import Workspace

KEPT_NOTICES = 2000
"""A page that was away for longer than this many notices reads the whole state again."""
RESYNC = '{"type": "resync"}'


@dataclass(frozen=True, slots=True)
class Notice:
    seq: int
    audience: frozenset[str]
    text: str
    """The JSON that goes to the page; written at once, because messages change under our hands."""


class PageFeed:
    """One subscription to the workspace, shared by all open pages."""

    def __init__(self, workspace: Workspace) -> None:
        self.boot = secrets.token_hex(4)
        """Names this run: sequence numbers of another run mean nothing here."""
        self.seq = 0
        self._workspace = workspace
        self._kept: deque[Notice] = deque(maxlen=KEPT_NOTICES)
        self._followers: set[asyncio.Event] = set()
        self._is_closed = False
        self._unsubscribe = workspace.subscribe(self._on_happening)

    def close(self) -> None:
        """End every follower and the subscription."""
        self._unsubscribe()
        self._is_closed = True
        self._wake()

    async def follow(self, user: str, boot: str, after: int) -> AsyncGenerator[str, None]:
        """Everything ``user`` may see that came after number ``after``, as JSON texts, until the feed closes.

        A follower that cannot be brought up to date gets ``RESYNC`` and the end.
        """
        news = asyncio.Event()
        self._followers.add(news)
        try:
            while not self._is_closed:
                news.clear()
                if boot != self.boot or self._has_lost(after):
                    yield RESYNC
                    return
                for notice in [notice for notice in self._kept if notice.seq > after]:
                    after = notice.seq
                    if user in notice.audience:
                        yield notice.text
                if after == self.seq:
                    await news.wait()
        finally:
            self._followers.discard(news)

    def last_for(self, user: str) -> int:
        """The number of the last kept notice that ``user`` gets; 0 if there is none."""
        return next((notice.seq for notice in reversed(self._kept) if user in notice.audience), 0)

    def _has_lost(self, after: int) -> bool:
        return after > self.seq or after < self.seq - len(self._kept)

    def _on_happening(self, happening: Happening) -> None:
        notice = notice_of(self._workspace, happening)
        if notice is None:
            return
        self.seq += 1
        payload: Json = {"seq": self.seq, **notice.payload}
        self._kept.append(Notice(self.seq, notice.audience, json.dumps(payload)))
        self._wake()

    def _wake(self) -> None:
        for news in self._followers:
            news.set()

"""A model that needs no key and no network: it follows simple rules and says so."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable

from app.agents.providers.base import Completed, Counted, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.agents.providers.offline_answers import demo_answer
from app.agents.providers.offline_extraction import extraction_answer, is_extraction
from app.agents.providers.offline_summary import is_summary, summary_answer

PAUSE_S = 0.015
CHARS_PER_TOKEN = 4
"""A rough average of English text; good enough to show what usage looks like."""


class OfflineProvider:
    """Implements ``ModelProvider``. Every model id is served alike; the catalogue's name for it is ``demo``.

    The same request always brings the same answer, word by word with ``pause_s`` before each if people watch it come.
    An answer that exceeds ``max_output_tokens`` is cut like any other model's.
    """

    def __init__(self, *, pause_s: float = PAUSE_S, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause_s = pause_s
        self._sleep = sleep

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        answer = _answer(request)
        shown = answer[: request.max_output_tokens * CHARS_PER_TOKEN]
        read = Usage(_tokens(*request.system, *_texts(request)))
        yield Counted(read)
        pause_s = self._pause_s if _is_watched(request) else 0
        for word in re.findall(r"\s*\S+\s*", shown):
            await self._sleep(pause_s)
            yield TextDelta(word)
        stop_reason = StopReason.END if shown == answer else StopReason.LENGTH
        yield Completed(stop_reason, read + Usage(output_tokens=_tokens(shown)))

    async def aclose(self) -> None:
        """Nothing is held open."""


def _is_watched(request: ModelRequest) -> bool:
    return not (is_extraction(request) or is_summary(request))


def _answer(request: ModelRequest) -> str:
    if is_extraction(request):
        return extraction_answer(request)
    return summary_answer(request) if is_summary(request) else demo_answer(request)


def _texts(request: ModelRequest) -> list[str]:
    return [turn.text for turn in request.messages]


def _tokens(*texts: str) -> int:
    return -(-sum(map(len, texts)) // CHARS_PER_TOKEN)

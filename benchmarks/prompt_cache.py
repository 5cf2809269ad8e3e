"""How much of a model call a provider's prompt cache can take over from the call before it, with memory on."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, cast

from aiohttp import web

from app.bootstrap import build
from app.clock import SystemClock
from app.play import playing, with_state
from app.playground.seed import ALICE, BOT_USER
from app.playground.server import open_playground
from benchmarks.figures import percentile
from benchmarks.tables import Table
from config.loading import load
from config.settings import ProviderSettings, Settings
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore

LEAST_SHARE = 0.85
TURNS = 20
TOPICS = ("staging", "deploys", "spending", "reviews")
FACTS = tuple(f"About {topic}: the team agreed on rule number {number}." for number, topic in enumerate(TOPICS))
QUESTIONS = tuple(f"What did we say about {' and '.join(TOPICS)}? Part {number}." for number in range(TURNS))

Body = Mapping[str, Any]


def run() -> Iterator[Table]:
    bodies = asyncio.run(_conversation())
    shares = [_share(earlier, later) for earlier, later in pairwise(bodies)]
    least = min(shares)
    verdict = "met" if least >= LEAST_SHARE else "MISSED"
    yield Table(
        "Bytes of a model call that repeat the call before it",
        ("", "least", "median", ""),
        [
            (
                f"{len(shares) + 1} turns of one conversation",
                f"{least:.1%}",
                f"{percentile(shares, 50):.1%}",
                f"{verdict} (aim >= {LEAST_SHARE:.0%})",
            )
        ],
        (
            "share of the earlier call that the later one begins with, in the order in which providers cache:",
            "system prompt, then messages; Anthropic's wire format; memory on, no new record after the first turn",
        ),
    )


def _share(earlier: Body, later: Body) -> float:
    first, second = _cached_text(earlier), _cached_text(later)
    differs_at = next((at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), None)
    return (min(len(first), len(second)) if differs_at is None else differs_at) / len(first)


def _cached_text(body: Body) -> str:
    """The call without its cache marks, which are no part of what is cached."""
    return json.dumps(_unmarked([*body["system"], *body["messages"]]), ensure_ascii=False)


def _unmarked(node: object) -> object:
    if isinstance(node, list):
        return [_unmarked(item) for item in cast("list[object]", node)]
    if isinstance(node, dict):
        known = cast("dict[str, object]", node)
        return {name: _unmarked(value) for name, value in known.items() if name != "cache_control"}
    return node


async def _conversation() -> list[Body]:
    """The bodies of the calls that one conversation in a thread leads to, over the bot's whole path."""
    bodies: list[Body] = []
    random = Random(1)

    async def answer(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.json())
        return web.Response(body=_events(_text(random)), content_type="text/event-stream")

    application = web.Application()
    application.router.add_post("/v1/messages", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        await _talk(f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()
    return bodies


async def _talk(model_url: str) -> None:
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    await store.write("org:playground", [MemoryCandidate("fact", fact, "slack:C1:1.0") for fact in FACTS])
    settings = await asyncio.to_thread(load, environ={}, playground=True)
    with TemporaryDirectory(prefix="switchboard-bench-") as folder:
        async with open_playground(with_page=False, enforce_rates=False) as playground:
            used = _with_model(with_state(playing(settings, playground), Path(folder)), model_url)
            async with build(used, memory=store) as bot, bot.serving():
                await bot.connected()
                dm = playground.people.open_dm(ALICE, BOT_USER)
                root = playground.people.say(ALICE, dm.id, QUESTIONS[0])
                await playground.answer(dm.id, root.ts)
                for question in QUESTIONS[1:]:
                    said = len(playground.thread(dm.id, root.ts))
                    playground.people.say(ALICE, dm.id, question, thread_ts=root.ts)
                    await playground.wait_for(lambda said=said: len(playground.thread(dm.id, root.ts)) >= said + 2)
                    await playground.answer(dm.id, root.ts)


def _with_model(settings: Settings, model_url: str) -> Settings:
    provider = ProviderSettings.model_validate({"kind": "anthropic", "base_url": model_url, "api_key": "k"})
    defaults = settings.defaults.model_copy(update={"model": "here/model-1"})
    # Calls that look at finished turns would stand between those of the conversation.
    memory = settings.memory.model_copy(update={"mode": "tool"})
    return settings.model_copy(update={"providers": {"here": provider}, "defaults": defaults, "memory": memory})


def _text(random: Random) -> str:
    return " ".join(random.choice(TOPICS) for _ in range(random.randint(20, 120)))


def _events(text: str) -> bytes:
    """A whole answer in the Messages API's stream of events."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": usage,
    }
    events: Sequence[Body] = (
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    )
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()

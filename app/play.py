"""The bot and a Slack workspace for it, in one process: what ``switchboard play`` and ``make run`` start."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import SecretStr

from app.bootstrap import serve
from app.bootstrap_memory import ranker_of
from app.clock import SystemClock
from app.playground.server import Playground, open_playground
from app.slack.manifest import EVENTS_PATH
from app.state.opening import default_url
from config.settings import Settings
from memory.record import MemoryCandidate
from memory.scope import ScopeKind, scope_key
from memory.store import MemoryStore
from memory.stores.inprocess import InProcessStore

TAUGHT = (
    "The staging database listens on port 5433; the old one keeps 5432 until it is retired.",
    "Deploys go out on Tuesdays and Thursdays before noon, never on Fridays.",
    "Ada decides about spending; for anything above 500 euros ask her first.",
)
"""What an earlier thread of the playground's team is said to have taught the bot."""
EARLIER_THREAD = "slack:C0GENERAL1:1700000000.000100"


async def play(settings: Settings, *, host: str, port: int) -> None:
    """Serve the playground's page and run the bot against it until SIGINT or SIGTERM."""
    with TemporaryDirectory(prefix="switchboard-play-") as folder:
        await _play(with_state(settings, Path(folder)), host, port)


async def _play(settings: Settings, host: str, port: int) -> None:
    async with open_playground(host=host, port=port) as playground:

        async def announce(http_port: int) -> None:
            if settings.slack.mode == "http":
                await playground.delivery.use_http(f"http://127.0.0.1:{http_port}{EVENTS_PATH}")
            sys.stdout.write(f"\n  Switchboard is ready. Open {playground.base_url} and say hello.\n\n")
            sys.stdout.flush()

        await serve(playing(settings, playground), memory=await _taught(settings), on_ready=announce)


def with_state(settings: Settings, folder: Path) -> Settings:
    """``settings`` whose conversations are kept in ``folder``: the workspace they are led in ends with the process."""
    state = settings.state.model_copy(update={"url": SecretStr(default_url(folder))})
    return settings.model_copy(update={"state": state})


async def _taught(settings: Settings) -> MemoryStore | None:
    """The playground's own memory, with something in it to be asked about; ``None`` where settings chose another."""
    if not settings.memory.enabled or settings.memory.store != "inprocess" or settings.organization is None:
        return None
    store = InProcessStore(ranker=ranker_of(settings), now=SystemClock().now)
    candidates = [MemoryCandidate("fact", text, EARLIER_THREAD) for text in TAUGHT]
    await store.write(scope_key(ScopeKind.ORG, settings.organization), candidates)
    return store


def playing(settings: Settings, playground: Playground) -> Settings:
    """``settings`` with the playground for its Slack, over whichever of the two transports they ask for.

    The bot's HTTP surface takes a free port, so that the playground's address is the only one to know.
    """
    app = next(iter(playground.workspace.apps.values()))
    slack = settings.slack.model_copy(
        update={
            "api_url": playground.api_url,
            "bot_token": SecretStr(app.bot_token),
            "app_token": SecretStr(app.app_token),
            "signing_secret": SecretStr(app.signing_secret),
        }
    )
    http = settings.http.model_copy(update={"host": "127.0.0.1", "port": 0})
    return settings.model_copy(update={"slack": slack, "http": http})

"""The bot and a Slack workspace for it, in one process: what ``switchboard play`` and ``make run`` start."""

import sys

from pydantic import SecretStr

from app.bootstrap import serve
from app.playground.server import Playground, open_playground
from app.slack.manifest import EVENTS_PATH
from config.settings import Settings


async def play(settings: Settings, *, host: str, port: int) -> None:
    """Serve the playground's page and run the bot against it until SIGINT or SIGTERM."""
    async with open_playground(host=host, port=port) as playground:

        async def announce(http_port: int) -> None:
            if settings.slack.mode == "http":
                await playground.delivery.use_http(f"http://127.0.0.1:{http_port}{EVENTS_PATH}")
            sys.stdout.write(f"\n  Switchboard is ready. Open {playground.base_url} and say hello.\n\n")
            sys.stdout.flush()

        await serve(playing(settings, playground), on_ready=announce)


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

"""`switchboard eval`: how well a model does what the bot needs it for."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TextIO

import typer

if TYPE_CHECKING:
    from app.evaluation.scoring import Score
    from app.sessions.usage import Spent
    from config.settings import Settings

_UNANSWERED = 1

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="PATH", help="The settings file; else switchboard.yaml if there is one."),
]
ModelOption = Annotated[str, typer.Option("--model", metavar="PROVIDER/MODEL", help="Which model extracts.")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON in place of a table.")]


class SettingsOf(Protocol):
    """The settings in a file, or those there are without one."""

    def __call__(self, config: Path | None, *, playground: bool, slack: bool, stream: TextIO) -> "Settings": ...


def eval_commands(settings_of: SettingsOf) -> typer.Typer:
    group = typer.Typer(
        name="eval", help="Measure how well a model does what the bot needs it for.", rich_markup_mode=None
    )

    @group.callback()
    def root() -> None:
        """With this, one command alone is still called by its name."""

    @group.command()
    def reflection(
        context: typer.Context, model: ModelOption, config: ConfigOption = None, *, as_json: JsonOption = False
    ) -> None:
        """Have a model learn from scripted conversations, and judge it.

        What it kept is compared with what it should have. One call for each conversation, which costs what the model
        costs. Nothing is written to the bot's memory. The exit status is 1 if there was no usable answer about a
        conversation.
        """
        # Neither an organisation nor tokens are needed for it.
        settings = settings_of(config or context.obj, playground=True, slack=False, stream=sys.stderr)
        scores, spent = asyncio.run(_reflection(settings, model))
        _tell(model, scores, spent, as_json=as_json)
        from app.evaluation.report import unanswered

        raise typer.Exit(_UNANSWERED if unanswered(scores) else 0)

    return group


async def _reflection(settings: "Settings", model: str) -> "tuple[Sequence[Score], Spent]":
    """Raises ``ConfigurationError`` for a model that the settings do not make known."""
    from app.bootstrap_models import catalogue_of
    from app.bootstrap_talking import prices_of
    from app.clock import SystemClock
    from app.evaluation.models import Spending, model_extractors
    from app.evaluation.running import run
    from app.evaluation.scripts import CONVERSATIONS
    from app.logs import configure
    from app.sessions.usage import Which

    # One line about every conversation would bury the table.
    configure(settings.logs.format, "warning", stream=sys.stderr)
    catalogue, spending = catalogue_of(settings), Spending()
    try:
        catalogue.check(model)
        extractor_of = model_extractors(catalogue, model, spending, SystemClock(), prices_of(settings))
        return await run(CONVERSATIONS, extractor_of), await spending.total(Which())
    finally:
        await catalogue.aclose()


def _tell(model: str, scores: "Sequence[Score]", spent: "Spent", *, as_json: bool) -> None:
    from app.agents.pricing import described
    from app.evaluation.report import content, lines

    cost, tokens = described(spent.cost), spent.tokens.total
    if as_json:
        known = {**content(model, scores), "tokens": tokens, "cost": cost}
        typer.echo(json.dumps(known, indent=2, ensure_ascii=False))
        return
    for line in lines(model, scores):
        typer.echo(line)
    typer.echo(f"{tokens:,} tokens, cost: {cost}")

"""`switchboard state`: what an operator does to the state database while the bot stands still."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TextIO

import typer

from app.clock import SystemClock
from app.errors import StateError

if TYPE_CHECKING:
    from app.state.checking import Report
    from app.state.recovering import Recovered
    from config.settings import Settings

_DAMAGED, _REFUSED = 1, 2

Where = Annotated[
    str | None, typer.Argument(metavar="PATH", help="The database's file or URL; else what the settings name.")
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="PATH", help="The settings file; else switchboard.yaml if there is one."),
]


class SettingsOf(Protocol):
    """The settings in a file, or those there are without one."""

    def __call__(self, config: Path | None, *, slack: bool, stream: TextIO) -> "Settings": ...


def state_commands(settings_of: SettingsOf) -> typer.Typer:
    def url_of(context: typer.Context, path: str | None, config: Path | None) -> str:
        """No settings are needed for a database that is named: they may be what is in the way."""
        if path is not None:
            return path if "://" in path else f"sqlite:///{path}"
        from app.bootstrap_state import state_url

        return state_url(settings_of(config or context.obj, slack=False, stream=sys.stderr))

    group = typer.Typer(
        name="state",
        help="Look after the database of conversations and queues.",
        rich_markup_mode=None,
    )

    @group.command()
    def check(context: typer.Context, path: Where = None, config: ConfigOption = None) -> None:
        """Look whether it is sound. The exit status is 1 if it is not, 2 if nothing could be told."""
        with _refusing(url_of(context, path, config)) as url:
            raise typer.Exit(_check(url))

    @group.command()
    def repair(context: typer.Context, path: Where = None, config: ConfigOption = None) -> None:
        """Back it up and mend it, the least destructive way first.

        The bot must not be running. The exit status is 1 if that did not help, 2 if nothing was tried.
        """
        with _refusing(url_of(context, path, config)) as url:
            raise typer.Exit(_repair(url))

    @group.command()
    def backup(context: typer.Context, path: Where = None, config: ConfigOption = None) -> None:
        """Copy it to a file beside it; the bot may be running. The latest three copies are kept."""
        with _refusing(url_of(context, path, config)) as url:
            typer.echo(_backup(url))

    return group


@contextmanager
def _refusing(url: str) -> Generator[str]:
    """What stands in the way goes to standard error; a setting's fault is told as everywhere else."""
    try:
        yield url
    except StateError as fault:
        typer.echo(f"switchboard: {fault}", err=True)
        raise typer.Exit(_REFUSED) from None


def _check(url: str) -> int:
    from app.state.checking import Condition
    from app.state.repairing import check

    report = check(url)
    typer.echo(f"{report.condition.value}: {_about(report)}")
    if report.condition is Condition.SOUND:
        return 0
    typer.echo(_remedy(url, report))
    return _DAMAGED


def _about(report: "Report") -> str:
    from app.state.migrating import newest

    if report.findings:
        return "; ".join(report.findings)
    if report.version is None:
        return "there are no tables yet, the next start makes them"
    behind = "" if report.version == newest() else f", which the next start brings to {newest()}"
    return f"schema {report.version}{behind}"


def _remedy(url: str, report: "Report") -> str:
    from app.state.checking import Condition, repair_command
    from app.state.opening import file_of

    file = file_of(url)
    if file is None:
        return "the server's administrator has to restore it from a dump (pg_dump makes them)"
    command = f"stop the bot and run: {repair_command(file)}"
    is_mended = report.condition is Condition.INDEX_DAMAGED
    return f"the next start mends that by itself, or {command}" if is_mended else command


def _repair(url: str) -> int:
    from app.state.checking import Condition
    from app.state.repairing import repair

    outcome = repair(url, SystemClock().now())
    if outcome.backup is None:
        typer.echo(f"sound: nothing to repair, {_about(outcome.report)}")
        return 0
    typer.echo(f"as it was: {outcome.backup}")
    if outcome.report.condition is not Condition.SOUND:
        typer.echo(
            f"not repaired: {_about(outcome.report)}; put a backup in its place, or an empty folder to start anew"
        )
        return _DAMAGED
    typer.echo(f"repaired: {outcome.way}")
    for each in outcome.recovered:
        typer.echo(_told(each))
    return 0


def _told(recovered: "Recovered") -> str:
    lost = "unknown" if recovered.lost is None else str(recovered.lost)
    return f"{recovered.table}: {recovered.kept} rows kept, {lost} lost"


def _backup(url: str) -> str:
    from app.state.backups import back_up, database_file

    return str(back_up(database_file(url, instead="pg_dump copies it"), SystemClock().now()))

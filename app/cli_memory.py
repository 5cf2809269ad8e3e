"""`switchboard memory copy` and `memory backup`: what an operator does to memory as a whole."""

import asyncio
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TextIO

import typer

from app.errors import ConfigurationError

if TYPE_CHECKING:
    from config.settings import Settings
    from memory.addresses import Address
    from memory.stores.remote_trust import Credentials

_VERBS = ("copy", "backup")
_HELP = """
For the operator, in a shell only:
- `switchboard memory copy`: everything from one store to another
- `switchboard memory backup`: everything into a new folder, safe while the bot runs
"""
_UNLIKE, _REFUSED = 1, 2

FromOption = Annotated[str, typer.Option("--from", metavar="ADDRESS", help="The store to copy.")]
ToOption = Annotated[str, typer.Option("--to", metavar="ADDRESS", help="The store to copy it to.")]
OwnOption = Annotated[
    str | None, typer.Option("--from", metavar="ADDRESS", help="The store to copy; else the bot's own.")
]
FolderOption = Annotated[
    Path | None, typer.Option("--to", metavar="DIR", help="Where the folder is made; else <data_dir>/backups.")
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="PATH", help="The settings file; else switchboard.yaml if there is one."),
]


class SettingsOf(Protocol):
    """The settings in a file, or those there are without one."""

    def __call__(self, config: Path | None, *, slack: bool, bot: bool, stream: TextIO) -> "Settings": ...


def for_operators(words: Sequence[str]) -> bool:
    """Whether a line that begins with a group of the registry is one of the commands below."""
    return len(words) > 1 and words[0] == "memory" and words[1] in _VERBS


def help_beside(words: Sequence[str]) -> str:
    """What the registry's own help does not know."""
    return _HELP if list(words) in (["memory"], ["memory", "help"], ["memory", "--help"], ["memory", "-h"]) else ""


def memory_commands(settings_of: SettingsOf) -> typer.Typer:
    group = typer.Typer(
        name="memory",
        help="List, forget, copy and back up what the bot remembers.",
        rich_markup_mode=None,
    )

    @group.command()
    def copy(context: typer.Context, source: FromOption, target: ToOption, config: ConfigOption = None) -> None:
        """Copy everything from one memory store to another, and compare every record afterwards.

        An ADDRESS is a folder of scope files (a bot's <data_dir>/memory, or a backup), postgresql://… or https://… of
        a memory service, whose token is MEMORY_TOKEN and whose authority memory.worker.ca_file may name. What the
        target has already is not written again, so a copy that was cut off goes on where it stood, and a second one
        brings what has changed since. What only the target has is counted and stays. Stop whoever writes to the target.

        The exit status is 1 if the target has not all of the source, 2 if the copy could not be made.
        """
        lookup = _Lookup(settings_of, config or context.obj)
        with _refusing():
            raise typer.Exit(_copy(source, target, lookup))

    @group.command()
    def backup(
        context: typer.Context, source: OwnOption = None, target: FolderOption = None, config: ConfigOption = None
    ) -> None:
        """Copy everything into a new folder memory-<time>, while the bot and the service go on working.

        The folder has its name only when all is in it and checked. Uses of the last half second may be missing. To
        restore it, stop the bot and put the folder in the place of <data_dir>/memory, or: switchboard memory copy
        --from FOLDER --to ADDRESS. Old backups are kept until you remove them.

        The exit status is 1 if something could not be copied: the folder's name ends in .incomplete then.
        """
        lookup = _Lookup(settings_of, config or context.obj)
        with _refusing():
            raise typer.Exit(_backup(source, target, lookup))

    return group


class _Lookup:
    """The settings, looked at only where something is taken from them: they may be what is in the way."""

    def __init__(self, settings_of: SettingsOf, config: Path | None) -> None:
        from app.logs import configure

        configure("auto", "warning", stream=sys.stderr)
        self._settings_of = settings_of
        self._config = config
        self._found: Settings | None = None
        if config is not None:
            self.settings()

    def settings(self) -> "Settings":
        if self._found is None:
            self._found = self._settings_of(self._config, slack=False, bot=False, stream=sys.stderr)
        return self._found

    def credentials(self, *addresses: "Address") -> "Credentials | None":
        """What a memory service among ``addresses`` asks for. Raises ``ConfigurationError``."""
        from memory.addresses import Service
        from memory.stores.remote_trust import Credentials

        if not any(isinstance(each, Service) for each in addresses):
            return None
        worker = self.settings().memory.worker
        if worker.token is None:
            raise ConfigurationError(f"{worker.token_env} is not set: it holds the token of the memory service")
        return Credentials(worker.token.get_secret_value(), worker.ca_file)


def _copy(source: str, target: str, lookup: _Lookup) -> int:
    from app.bootstrap_moving import require_apart, require_source, require_target
    from app.cli_progress import shown_on
    from app.moving import move
    from app.moving_report import lines_of
    from memory.addresses import parsed

    ours, theirs = parsed(source), parsed(target)
    require_source(ours)
    require_apart(ours, theirs)
    credentials = lookup.credentials(ours, theirs)
    require_target(theirs)
    typer.echo(f"from {ours} to {theirs}", err=True)
    with shown_on(sys.stderr) as watch:
        copied, verified = asyncio.run(move(ours, theirs, credentials, watch))
    for line in lines_of(copied, verified):
        typer.echo(line)
    return 0 if verified.is_whole else _UNLIKE


def _backup(source: str | None, target: Path | None, lookup: _Lookup) -> int:
    from app.bootstrap_moving import own_address, require_outside, require_source
    from app.cli_progress import shown_on
    from app.clock import SystemClock
    from app.logs import mask
    from app.moving import back_up_all
    from app.moving_report import by_status
    from memory.addresses import parsed

    ours = own_address(lookup.settings()) if source is None else parsed(source)
    parent = lookup.settings().data_dir / "backups" if target is None else target
    require_source(ours)
    require_outside(ours, parent)
    credentials = lookup.credentials(ours)
    with shown_on(sys.stderr) as watch:
        folder, held = back_up_all(ours, parent, credentials, watch, SystemClock().now())
    for line in (folder, f"scopes: {held.scopes}", f"records: {by_status(held.records)}"):
        typer.echo(line)
    for fault in held.faults:
        typer.echo(f"switchboard: not copied: {mask(fault)}", err=True)
    return _UNLIKE if held.faults else 0


@contextmanager
def _refusing() -> Generator[None]:
    """What stands in the way goes to standard error, in one sentence without a secret."""
    from app.logs import mask
    from memory.addresses import AddressError
    from memory.store import StoreUnavailableError

    try:
        yield
    except (AddressError, ConfigurationError, StoreUnavailableError) as fault:
        reason = str(fault)
    except OSError as fault:
        reason = f"{fault.filename or 'the disk'} cannot be used: {fault.strerror}"
    else:
        return
    typer.echo(f"switchboard: {mask(' '.join(reason.split()))}", err=True)
    raise typer.Exit(_REFUSED)

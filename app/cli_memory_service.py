"""`switchboard memory-service`: one memory for several bots, served over HTTP."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from app import __version__
from memory.service import DEFAULT_PORT

if TYPE_CHECKING:
    from config.settings import Settings

_REFUSED = 2

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="PATH", help="The settings file; else switchboard.yaml if there is one."),
]
HostOption = Annotated[str, typer.Option(help="Where it listens.")]
PortOption = Annotated[int, typer.Option(min=0, max=65_535, help="0 takes any free port.")]
FolderOption = Annotated[Path | None, typer.Option(metavar="DIR", help="What it keeps; else data_dir of the settings.")]


class SettingsOf(Protocol):
    """The settings in a file, or those there are without one."""

    def __call__(self, config: Path | None, *, bot: bool) -> "Settings": ...


class StoreName(StrEnum):
    """Where the records are kept."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


StoreOption = Annotated[StoreName, typer.Option(help="Where the records are kept.")]


def memory_service(settings_of: SettingsOf) -> Callable[..., None]:
    """The command's function."""

    def command(
        context: typer.Context,
        host: HostOption = "127.0.0.1",
        port: PortOption = DEFAULT_PORT,
        data_dir: FolderOption = None,
        store: StoreOption = StoreName.SQLITE,
        config: ConfigOption = None,
    ) -> None:
        """Serve one memory to several bots over HTTP.

        The bearer token the bots show is MEMORY_TOKEN of the environment; without one nothing is served.
        """
        settings = settings_of(config or context.obj, bot=False)
        from memory.service.starting import ServiceRefusedError, ServiceWish, run_service

        memory = settings.memory
        wish = ServiceWish(
            host=host,
            port=port,
            data_dir=data_dir or settings.data_dir,
            store=store.value,
            token=memory.worker.token.get_secret_value() if memory.worker.token else None,
            token_env=memory.worker.token_env,
            build=__version__,
            ranker=memory.ranker,
            max_records_per_scope=memory.max_records_per_scope,
            postgres_url=memory.postgres.url.get_secret_value() if memory.postgres.url else None,
        )
        try:
            run_service(wish)
        except ServiceRefusedError as fault:
            typer.echo(f"switchboard: {fault}", err=True)
            raise typer.Exit(_REFUSED) from None

    return command

"""`python -m memory.service`: the memory service without anything of the bot."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from memory.service import DEFAULT_PORT
from memory.service.process import collecting_rarely

if TYPE_CHECKING:
    from memory.service.starting import ServiceWish

_REFUSED = 2


def main(arguments: Sequence[str]) -> int:
    """The exit status; what the operator can mend goes to standard error, a line each."""
    with collecting_rarely():
        return _serve(_parser().parse_args(arguments))


def _serve(given: argparse.Namespace) -> int:
    from config.faults import SettingsError
    from memory.service.starting import ServiceRefusedError, run_service

    try:
        wish = _wish(given)
        run_service(wish)
    except SettingsError as fault:
        return _refuse(*fault.faults)
    except ServiceRefusedError as fault:
        return _refuse(str(fault))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m memory.service",
        description="Serve one memory to several bots over HTTP. The bearer token they show is MEMORY_TOKEN of the "
        "environment; without one nothing is served.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="where it listens")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes any free port")
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="what it keeps; else data_dir of the settings")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite", help="where the records are kept")
    parser.add_argument("--config", type=Path, metavar="PATH", help="the settings file; else switchboard.yaml")
    return parser


def _wish(given: argparse.Namespace) -> "ServiceWish":
    """Raises ``SettingsError`` with every fault."""
    from config.loading import load
    from memory.service.logs import configure
    from memory.service.starting import ServiceWish

    settings = load(given.config, bot=False)
    configure(settings.logs.level, stream=sys.stdout)
    memory = settings.memory
    return ServiceWish(
        host=given.host,
        port=given.port,
        data_dir=given.data_dir or settings.data_dir,
        store=given.store,
        token=memory.worker.token.get_secret_value() if memory.worker.token else None,
        token_env=memory.worker.token_env,
        build=_build(),
        ranker=memory.ranker,
        max_records_per_scope=memory.max_records_per_scope,
        postgres_url=memory.postgres.url.get_secret_value() if memory.postgres.url else None,
    )


def _build() -> str:
    try:
        return version("switchboard")
    except PackageNotFoundError:
        return "unknown"


def _refuse(*faults: str) -> int:
    for fault in faults:
        sys.stderr.write(f"memory.service: {fault}\n")
    return _REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

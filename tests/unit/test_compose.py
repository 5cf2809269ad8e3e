"""compose.yaml starts what there is: its commands parse, and its variables are settings."""

from pathlib import Path
from typing import Any

import typer
import yaml
from typer.core import TyperGroup

from app.cli import application
from config.loading import load

COMPOSE = Path(__file__).parents[2] / "compose.yaml"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]


def test_the_bot_alone_is_what_starts_without_a_profile() -> None:
    assert [name for name, service in SERVICES.items() if "profiles" not in service] == ["switchboard"]


def test_the_memory_service_starts_with_options_it_has() -> None:
    name, *arguments = SERVICES["memory"]["command"]
    group = typer.main.get_command(application)
    assert isinstance(group, TyperGroup)
    options = group.commands[name].make_context(name, arguments).params
    assert (options["host"], options["store"]) == ("0.0.0.0", "postgres")  # noqa: S104 - inside its container
    assert str(options["port"]) in SERVICES["memory"]["expose"]


def test_the_memory_service_finds_its_database_and_its_token(tmp_path: Path) -> None:
    given, postgres = _environment("memory"), _environment("postgres")
    settings = load(environ=given | {"MEMORY_TOKEN": "t"}, directory=tmp_path, bot=False)
    assert settings.memory.postgres.url is not None
    assert settings.memory.postgres.url.get_secret_value() == (
        f"postgresql://{postgres['POSTGRES_USER']}@postgres/{postgres['POSTGRES_DB']}"
    )
    assert set(given) == {"MEMORY_TOKEN", "SWITCHBOARD_MEMORY__POSTGRES__URL", "PGPASSWORD"}


def test_the_databases_password_may_have_any_characters() -> None:
    """It is no part of an address, where some would have to be written differently than the server has them."""
    assert _environment("memory")["PGPASSWORD"] == _environment("postgres")["POSTGRES_PASSWORD"]


def test_the_bot_is_told_of_the_service_as_the_file_says(tmp_path: Path) -> None:
    address = COMPOSE.read_text(encoding="utf-8").partition("BASE_URL=")[2].split()[0]
    environ = {"SWITCHBOARD_MEMORY__WORKER__BASE_URL": address, "MEMORY_TOKEN": "t"}
    settings = load(environ=environ, directory=tmp_path, bot=False)
    assert settings.memory.worker.base_url == f"http://memory:{SERVICES['memory']['expose'][0]}"


def _environment(service: str) -> dict[str, str]:
    return SERVICES[service]["environment"]

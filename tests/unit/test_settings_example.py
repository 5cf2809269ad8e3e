"""The example file: complete, and true to the defaults."""

import re
from pathlib import Path

import yaml

from config.loading import load
from config.names import ANY_NAME, find, root, settings_below
from config.settings import Settings

EXAMPLE = Path(__file__).parents[2] / "config" / "switchboard.example.yaml"
NEVER_IN_A_FILE = {("providers", ANY_NAME, "api_key"), ("memory", "worker", "token"), ("http", "tokens")}
EXAMPLES_ONLY = {
    "organization",
    "defaults.model",
    "defaults.effort",
    "defaults.repo",
    "memory.embedding",
    "memory.model",
    "memory.postgres.url",
    "memory.worker.base_url",
    "memory.worker.ca_file",
    "access.admins",
    "state.url",
    "slack.bot_token",
    "slack.app_token",
}


def uncommented() -> str:
    return re.sub(r"^(\s*)#(?=\S)", r"\1", EXAMPLE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def values_in(tree: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    if not isinstance(tree, dict):
        return {path: tree}
    found: dict[tuple[str, ...], object] = {}
    for name, value in tree.items():  # pyright: ignore[reportUnknownVariableType] - a parsed file
        found |= values_in(value, (*path, str(name)))  # pyright: ignore[reportUnknownArgumentType]
    return found


def with_any_name(path: tuple[str, ...]) -> tuple[str, ...]:
    if path[:2] == ("access", "restrict"):
        return (*path[:3], ANY_NAME)
    return (path[0], ANY_NAME, *path[2:]) if path[0] in {"agents", "models", "providers"} else path


def test_the_example_as_it_stands_changes_nothing(tmp_path: Path) -> None:
    as_it_stands = load(EXAMPLE, environ={}, directory=tmp_path, playground=True)
    assert as_it_stands == load(environ={}, directory=tmp_path, playground=True)


def test_the_uncommented_example_loads(tmp_path: Path) -> None:
    file = tmp_path / "whole.yaml"
    file.write_text(uncommented(), encoding="utf-8")
    settings = load(file, environ={}, directory=tmp_path)
    assert settings.organization == "acme"
    assert settings.agents.keys() == {"reviewer"}
    assert settings.providers["local"].kind == "openai"
    assert settings.models["anthropic/claude-sonnet-5-5"].has_price
    assert settings.models["local/qwen3:8b"].included
    assert settings.access.admins == ("U0123ABCD",)
    assert settings.access.restrict.agents == {"reviewer": ("slack:U0123ABCD", "http:ci")}
    assert settings.access.restrict.commands == {"memory.forget": ("slack:U0123ABCD",)}


def test_every_setting_appears_and_nothing_else() -> None:
    shown = {with_any_name(path) for path in values_in(yaml.safe_load(uncommented()))}
    assert shown == set(settings_below(root())) - NEVER_IN_A_FILE


def test_the_values_shown_are_the_defaults() -> None:
    defaults = values_in(Settings().model_dump(mode="json"))
    shown = values_in(yaml.safe_load(uncommented()))
    for path, value in shown.items():
        name = ".".join(path)
        if ANY_NAME not in with_any_name(path) and name not in EXAMPLES_ONLY | {"slack.signing_secret"}:
            assert value == defaults[path], name


def test_every_setting_is_explained_in_the_lines_above_it() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if re.match(r"\s*#\w", line) and not before.strip().startswith("#"):
            assert before.strip().endswith(":"), line


def test_the_file_names_no_setting_that_is_unknown() -> None:
    names = re.findall(r"(?<![./\w])((?:defaults|limits|slack|http|logs|providers)\.[a-z_]+)\b", uncommented())
    assert names
    assert all(find(tuple(name.split("."))) for name in names)

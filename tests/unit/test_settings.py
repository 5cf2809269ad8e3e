"""The tree of settings: its shape, its defaults, and what it never shows."""

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from config.names import ANY_NAME, find, nearest, root, settings_below, variable
from config.settings import ProviderSettings, Settings, SlackSettings

CANONICAL = {
    "organization",
    "defaults.agent",
    "defaults.model",
    "defaults.effort",
    "defaults.repo",
    "agents.*.prompt",
    "agents.*.model",
    "agents.*.effort",
    "providers.*.kind",
    "providers.*.base_url",
    "providers.*.api_key_env",
    "providers.*.api_key",
    "slack.mode",
    "slack.bot_token",
    "slack.app_token",
    "slack.signing_secret",
    "slack.api_url",
    "slack.timeout_s",
    "http.host",
    "http.port",
    "logs.format",
    "logs.level",
    "limits.concurrent_turns",
    "limits.turn_s",
    "limits.model_connect_s",
    "limits.model_idle_s",
    "limits.message_chars",
    "limits.history_messages",
    "limits.history_chars",
    "limits.output_tokens",
    "limits.drain_s",
    "access.admins",
    "access.workspace_admins",
    "access.restrict.agents.*",
    "access.restrict.commands.*",
    "access.guests",
    "access.external",
}


def sections(model: type[BaseModel]) -> set[type[BaseModel]]:
    found = {model}
    for field in model.model_fields.values():
        for part in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(part, type) and issubclass(part, BaseModel):
                found |= sections(part)
    return found


def test_the_canonical_names_are_all_there() -> None:
    assert {".".join(path) for path in settings_below(root())} >= CANONICAL


def test_defaults_are_the_documented_ones() -> None:
    settings = Settings()
    assert settings.organization is None
    assert settings.defaults.model_dump() == {"agent": "general", "model": None, "effort": None, "repo": None}
    assert (settings.slack.mode, settings.slack.api_url, settings.slack.timeout_s) == (
        "socket",
        "https://slack.com/api/",
        15.0,
    )
    assert (settings.http.host, settings.http.port) == ("127.0.0.1", 8080)
    assert (settings.logs.format, settings.logs.level) == ("auto", "info")
    assert settings.access.model_dump() == {
        "admins": (),
        "workspace_admins": False,
        "restrict": {"agents": {}, "commands": {}},
        "guests": "talk",
        "external": "talk",
    }
    assert settings.limits.model_dump() == {
        "concurrent_turns": 100,
        "turn_s": 600.0,
        "model_connect_s": 10.0,
        "model_idle_s": 90.0,
        "message_chars": 50_000,
        "history_messages": 50,
        "history_chars": 60_000,
        "output_tokens": 8_192,
        "drain_s": 25.0,
    }


def test_three_providers_are_built_in_and_more_come_beside_them() -> None:
    own = ProviderSettings(kind="openai", base_url="http://127.0.0.1:1/v1")
    settings = Settings(providers={"local": own})
    assert settings.providers.keys() == {"anthropic", "openai", "offline", "local"}
    assert settings.providers["anthropic"].api_key_env == "ANTHROPIC_API_KEY"
    assert settings.providers["openai"].api_key_env == "OPENAI_API_KEY"
    assert settings.providers["local"] == own
    assert Settings().providers.keys() == {"anthropic", "openai", "offline"}


def test_every_section_is_frozen_and_closed() -> None:
    found = sections(Settings)
    assert len(found) > 5
    for section in found:
        assert section.model_config.get("frozen") is True, section
        assert section.model_config.get("extra") == "forbid", section


def test_a_setting_cannot_be_changed_afterwards() -> None:
    settings = Settings(organization="acme")
    with pytest.raises(ValidationError):
        settings.organization = "other"  # pyright: ignore[reportAttributeAccessIssue] - what the test is about


def test_slack_address_always_ends_with_one_slash() -> None:
    assert SlackSettings(api_url="http://127.0.0.1:9/api").api_url == "http://127.0.0.1:9/api/"
    assert SlackSettings(api_url="http://127.0.0.1:9/api//").api_url == "http://127.0.0.1:9/api/"


def test_secrets_show_in_no_printed_form() -> None:
    settings = Settings(
        slack=SlackSettings(
            bot_token=SecretStr("xoxb-marker"), app_token=SecretStr("xapp-marker"), signing_secret=SecretStr("marker")
        ),
        providers={"own": ProviderSettings(kind="openai", api_key=SecretStr("sk-marker"))},
    )
    forms = [repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()]
    assert all("marker" not in form for form in forms)
    assert settings.slack.bot_token is not None
    assert settings.slack.bot_token.get_secret_value() == "xoxb-marker"


def test_a_refused_value_is_not_repeated_by_the_tree_itself() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"organization": "xoxb-MARKER", "slack": {"bot_token": ["xoxb-MARKER"]}})
    assert "MARKER" not in str(caught.value)


def test_every_setting_has_a_variable_of_its_own() -> None:
    paths = [path for path in settings_below(root()) if ANY_NAME not in path]
    assert len({variable(path) for path in paths}) == len(paths)
    assert variable(("limits", "turn_s")) == "SWITCHBOARD_LIMITS__TURN_S"


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("limts.turn_s", "limits.turn_s"),
        ("slack_bot_token", "slack.bot_token"),
        ("bot_token", "slack.bot_token"),
        ("slack.bot_tokn", "slack.bot_token"),
        ("agents.helper.promt", "agents.helper.prompt"),
        ("organisation", "organization"),
        ("organization.name", "organization"),
        ("limts.zzz", "limits"),
    ],
)
def test_the_nearest_name_is_found(wrong: str, meant: str) -> None:
    path = tuple(wrong.split("."))
    assert find(path) is None
    assert nearest(path) == tuple(meant.split("."))


def test_nothing_is_suggested_for_a_name_like_no_other() -> None:
    assert nearest(("zebra",)) is None

"""Loading settings: which source wins, where keys come from, and what a playground never sees."""

from collections.abc import Mapping
from math import nan
from pathlib import Path

import pytest
from pydantic import SecretStr

from config.faults import SettingsError
from config.loading import load
from config.settings import Settings

COMPLETE = """
organization: acme
defaults:
  model: anthropic/claude-sonnet-5-5
slack:
  bot_token: xoxb-file
  app_token: xapp-file
"""


def loaded(
    folder: Path, *, yaml: str = COMPLETE, dotenv: str = "", environ: Mapping[str, str] | None = None
) -> Settings:
    (folder / "switchboard.yaml").write_text(yaml, encoding="utf-8")
    (folder / ".env").write_text(dotenv, encoding="utf-8")
    return load(environ=environ or {}, directory=folder)


def shown(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def test_environment_beats_dotenv_beats_file_beats_default(tmp_path: Path) -> None:
    name = "SWITCHBOARD_LIMITS__OUTPUT_TOKENS"
    in_file = COMPLETE + "limits: {output_tokens: 2}\n"
    assert loaded(tmp_path).limits.output_tokens == 8_192
    assert loaded(tmp_path, yaml=in_file).limits.output_tokens == 2
    assert loaded(tmp_path, yaml=in_file, dotenv=f"{name}=3").limits.output_tokens == 3
    settings = loaded(tmp_path, yaml=in_file, dotenv=f"{name}=3", environ={name: "4"})
    assert settings.limits.output_tokens == 4


def test_sources_are_merged_setting_by_setting(tmp_path: Path) -> None:
    settings = loaded(tmp_path, dotenv="SWITCHBOARD_HTTP__PORT=1", environ={"SWITCHBOARD_HTTP__HOST": "::1"})
    assert (settings.http.host, settings.http.port, settings.organization) == ("::1", 1, "acme")


@pytest.mark.parametrize(
    ("written", "kept"),
    [("300", 300), ("0", 0), ("-1", -1), ("1.5", 1.5), (".nan", nan), ("true", True), ("many", "many"), ("{}", {})],
)
def test_a_cap_of_any_kind_is_kept_for_the_store_to_judge(tmp_path: Path, written: str, kept: object) -> None:
    """Specification, section 29: what is out of range warns where the store is opened, and never stops a start."""
    memory = loaded(tmp_path, yaml=f"{COMPLETE}memory: {{max_records_per_scope: {written}}}\n").memory
    assert repr(memory.max_records_per_scope) == repr(kept)


def test_a_cap_is_a_number_in_the_environment_too(tmp_path: Path) -> None:
    environ = {"SWITCHBOARD_MEMORY__MAX_RECORDS_PER_SCOPE": "300"}
    assert loaded(tmp_path, environ=environ).memory.max_records_per_scope == 300


def test_usual_names_work_from_environment_and_dotenv(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        dotenv="export SLACK_BOT_TOKEN='xoxb-dotenv'\nSLACK_SIGNING_SECRET=dotenv # found in Slack\n",
        environ={"SLACK_APP_TOKEN": "xapp-environ", "SLACK_API_URL": "http://127.0.0.1:5/api"},
    )
    assert shown(settings.slack.bot_token) == "xoxb-dotenv"
    assert shown(settings.slack.app_token) == "xapp-environ"
    assert shown(settings.slack.signing_secret) == "dotenv"
    assert settings.slack.api_url == "http://127.0.0.1:5/api/"


def test_a_prefixed_name_beats_the_usual_one_wherever_they_stand(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        dotenv="SWITCHBOARD_SLACK__BOT_TOKEN=xoxb-prefixed",
        environ={"SLACK_BOT_TOKEN": "xoxb-usual"},
    )
    assert shown(settings.slack.bot_token) == "xoxb-prefixed"


def test_vendor_addresses_come_from_their_usual_names(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path, environ={"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "OPENAI_BASE_URL": "http://127.0.0.1:2/v1"}
    )
    assert settings.providers["anthropic"].base_url == "http://127.0.0.1:1"
    assert settings.providers["openai"].base_url == "http://127.0.0.1:2/v1"


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    settings = loaded(tmp_path, environ={"SLACK_BOT_TOKEN": " ", "SWITCHBOARD_ORGANIZATION": ""}, dotenv="X=\nY")
    assert shown(settings.slack.bot_token) == "xoxb-file"
    assert settings.organization == "acme"


def test_blanks_around_a_variable_are_not_part_of_it(tmp_path: Path) -> None:
    settings = loaded(tmp_path, environ={"SLACK_BOT_TOKEN": " xoxb-pasted\n"})
    assert shown(settings.slack.bot_token) == "xoxb-pasted"


def test_keys_are_looked_up_by_the_name_each_provider_gives(tmp_path: Path) -> None:
    file = COMPLETE + "providers: {local: {kind: openai, api_key_env: LOCAL_KEY}, bare: {kind: openai}}\n"
    settings = loaded(
        tmp_path, yaml=file, dotenv="LOCAL_KEY=from-dotenv", environ={"ANTHROPIC_API_KEY": "from-environ"}
    )
    keys = {name: shown(provider.api_key) for name, provider in settings.providers.items()}
    assert keys == {
        "anthropic": "from-environ",
        "openai": None,
        "offline": None,
        "local": "from-dotenv",
        "bare": None,
    }


def test_a_built_in_provider_may_look_its_key_up_elsewhere(tmp_path: Path) -> None:
    file = COMPLETE + "providers: {anthropic: {api_key_env: SWITCHBOARD_CLAUDE_KEY}}\n"
    environ = {"ANTHROPIC_API_KEY": "usual", "SWITCHBOARD_CLAUDE_KEY": "own"}
    anthropic = loaded(tmp_path, yaml=file, environ=environ).providers["anthropic"]
    assert (anthropic.kind, shown(anthropic.api_key)) == ("anthropic", "own")
    by_variable = {"SWITCHBOARD_PROVIDERS__ANTHROPIC__API_KEY_ENV": "SWITCHBOARD_CLAUDE_KEY"} | environ
    assert shown(loaded(tmp_path, environ=by_variable).providers["anthropic"].api_key) == "own"


def test_a_key_may_be_given_directly_in_the_environment(tmp_path: Path) -> None:
    environ = {"SWITCHBOARD_PROVIDERS__OPENAI__API_KEY": "direct", "OPENAI_API_KEY": "usual"}
    assert shown(loaded(tmp_path, environ=environ).providers["openai"].api_key) == "direct"


def test_a_whole_agent_and_provider_can_come_from_the_environment(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        environ={
            "SWITCHBOARD_AGENTS__REVIEWER__PROMPT": "You review.",
            "SWITCHBOARD_DEFAULTS__AGENT": "reviewer",
            "SWITCHBOARD_PROVIDERS__LOCAL__KIND": "openai",
            "SWITCHBOARD_DEFAULTS__MODEL": "local/family/model",
        },
    )
    assert settings.agents["reviewer"].prompt == "You review."
    assert settings.defaults.model == "local/family/model"


def test_sections_and_settings_without_a_value_count_as_not_given(tmp_path: Path) -> None:
    settings = loaded(tmp_path, yaml=COMPLETE + "limits:\nlogs:\n  level:\n")
    assert (settings.limits.output_tokens, settings.logs.level) == (8_192, "info")


def test_yaml_anchors_and_merges_work(tmp_path: Path) -> None:
    file = COMPLETE + (
        "agents:\n  one: &one {prompt: First., effort: low}\n  two:\n    <<: *one\n    prompt: Second.\n"
    )
    two = loaded(tmp_path, yaml=file).agents["two"]
    assert (two.prompt, two.effort) == ("Second.", "low")


def test_an_empty_file_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    (tmp_path / "switchboard.yaml").write_text("", encoding="utf-8")
    assert load(environ={}, directory=tmp_path, playground=True).organization == "playground"
    marked = loaded(tmp_path, yaml="\ufeff" + COMPLETE, dotenv="\ufeffSWITCHBOARD_HTTP__PORT=5")
    assert (marked.organization, marked.http.port) == ("acme", 5)


def test_dollar_signs_in_dotenv_are_taken_literally(tmp_path: Path) -> None:
    assert shown(loaded(tmp_path, dotenv="OPENAI_API_KEY=a${HOME}$b").providers["openai"].api_key) == "a${HOME}$b"


def test_a_named_file_is_read_in_place_of_the_usual_one(tmp_path: Path) -> None:
    (tmp_path / "switchboard.yaml").write_text("organization: usual\n", encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text("organization: named\n", encoding="utf-8")
    assert load(other, environ={}, directory=tmp_path, playground=True).organization == "named"


def test_http_mode_needs_the_signing_secret_and_no_app_token(tmp_path: Path) -> None:
    file = "organization: acme\ndefaults: {model: offline/demo}\nslack: {mode: http, bot_token: xoxb-a}\n"
    assert loaded(tmp_path, yaml=file, environ={"SLACK_SIGNING_SECRET": "s"}).slack.mode == "http"
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, yaml=file)
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["slack.signing_secret"]


def test_a_rotated_bot_token_is_a_bot_token(tmp_path: Path) -> None:
    assert shown(loaded(tmp_path, environ={"SLACK_BOT_TOKEN": "xoxe.xoxb-1"}).slack.bot_token) == "xoxe.xoxb-1"


def test_the_playground_needs_nothing(tmp_path: Path) -> None:
    settings = load(environ={}, directory=tmp_path, playground=True)
    assert (settings.organization, settings.defaults.model) == ("playground", "offline/demo")


def test_the_playground_never_sees_the_real_workspace(tmp_path: Path) -> None:
    (tmp_path / "switchboard.yaml").write_text(COMPLETE, encoding="utf-8")
    (tmp_path / ".env").write_text("SLACK_SIGNING_SECRET=real\n", encoding="utf-8")
    environ = {
        "SLACK_BOT_TOKEN": "xoxb-real",
        "SWITCHBOARD_SLACK__APP_TOKEN": "not even a token",
        "SLACK_API_URL": "https://slack.com/api/",
        "ANTHROPIC_API_KEY": "key",
        "SWITCHBOARD_SLACK__TIMEOUT_S": "3",
    }
    settings = load(environ=environ, directory=tmp_path, playground=True)
    assert settings.slack.bot_token is settings.slack.app_token is settings.slack.signing_secret is None
    assert settings.slack.timeout_s == 3
    assert shown(settings.providers["anthropic"].api_key) == "key"
    assert (settings.organization, settings.defaults.model) == ("acme", "anthropic/claude-sonnet-5-5")


@pytest.mark.parametrize(
    "name",
    [
        "SWITCHBOARD_SERVICE_HOST",
        "SWITCHBOARD_SERVICE_PORT",
        "SWITCHBOARD_SERVICE_PORT_HTTP",
        "SWITCHBOARD_PORT",
        "SWITCHBOARD_PORT_8080_TCP_ADDR",
    ],
)
def test_what_kubernetes_sets_for_a_service_of_that_name_is_no_setting(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path, environ={name: "tcp://10.0.0.1:8080"}).http.port == 8_080

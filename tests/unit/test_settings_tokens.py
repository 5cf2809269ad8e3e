"""Bearer tokens of programs: where they come from, and that settings never show them."""

import json
from pathlib import Path

import pytest

from config.faults import SettingsError
from config.loading import load

TOKENS = json.dumps({"ci-token-0123456789": {"subject": "ci"}})


def tokens_of(folder: Path, environ: dict[str, str]) -> str | None:
    tokens = load(environ=environ, directory=folder, playground=True).http.tokens
    return None if tokens is None else tokens.get_secret_value()


def test_without_a_variable_there_are_none(tmp_path: Path) -> None:
    assert tokens_of(tmp_path, {}) is None


def test_the_usual_variable_is_no_setting_of_its_own_but_holds_them(tmp_path: Path) -> None:
    assert tokens_of(tmp_path, {"SWITCHBOARD_INGRESS_TOKENS": TOKENS}) == TOKENS


def test_another_variable_may_hold_them_named_in_the_file_or_the_environment(tmp_path: Path) -> None:
    named = {"SWITCHBOARD_HTTP__TOKENS_ENV": "SWITCHBOARD_OURS", "SWITCHBOARD_OURS": TOKENS}
    assert tokens_of(tmp_path, named) == TOKENS
    (tmp_path / "switchboard.yaml").write_text("http: {tokens_env: OUR_TOKENS}\n", encoding="utf-8")
    assert tokens_of(tmp_path, {"OUR_TOKENS": TOKENS, "SWITCHBOARD_INGRESS_TOKENS": "{}"}) == TOKENS
    assert tokens_of(tmp_path, {"SWITCHBOARD_INGRESS_TOKENS": TOKENS}) is None


def test_dotenv_may_hold_them(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"SWITCHBOARD_INGRESS_TOKENS='{TOKENS}'\n", encoding="utf-8")
    assert tokens_of(tmp_path, {}) == TOKENS


def test_settings_show_none_of_them(tmp_path: Path) -> None:
    settings = load(environ={"SWITCHBOARD_INGRESS_TOKENS": TOKENS}, directory=tmp_path, playground=True)
    for shown in (repr(settings), settings.model_dump_json(), str(settings.http.tokens)):
        assert "ci-token" not in shown


def test_the_tokens_in_place_of_the_variables_name_are_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load(environ={"SWITCHBOARD_HTTP__TOKENS_ENV": TOKENS}, directory=tmp_path, playground=True)
    (fault,) = refused.value.faults
    assert fault.startswith("http.tokens_env")
    assert "never the tokens themselves" in fault
    assert "ci-token" not in fault


def test_without_slack_its_tokens_are_not_asked_for_and_everything_else_is(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load(environ={}, directory=tmp_path, slack=False)
    assert [fault.partition(":")[0] for fault in refused.value.faults] == ["organization", "defaults.model"]
    environ = {"SWITCHBOARD_ORGANIZATION": "acme", "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo"}
    assert load(environ=environ, directory=tmp_path, slack=False).slack.bot_token is None

"""Faulty settings: every fault at once, each with its name, its origin and what to do, and never a secret."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.logs import mask
from config.faults import SettingsError
from config.loading import load
from config.names import ANY_NAME, root, settings_below, variable

MARKER = "Zq9MARKER"


def faults_of(
    folder: Path,
    yaml: str = "",
    *,
    dotenv: str = "",
    environ: Mapping[str, str] | None = None,
    playground: bool = True,
) -> list[str]:
    (folder / "switchboard.yaml").write_text(yaml, encoding="utf-8")
    (folder / ".env").write_text(dotenv, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(environ=environ or {}, directory=folder, playground=playground)
    assert all("\n" not in fault for fault in caught.value.faults)
    return list(caught.value.faults)


def test_everything_a_real_workspace_needs_is_named_at_once(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, playground=False)
    assert [fault.split(":")[0] for fault in faults] == [
        "organization",
        "defaults.model",
        "slack.bot_token",
        "slack.app_token",
    ]
    assert all("is required" in fault for fault in faults)
    assert "SWITCHBOARD_ORGANIZATION" in faults[0]
    assert "as SLACK_BOT_TOKEN" in faults[2]


def test_faults_of_all_sources_and_kinds_come_together(tmp_path: Path) -> None:
    faults = faults_of(
        tmp_path,
        "limts: {turn_s: 1}\nlogs: {level: loud}\n",
        dotenv="SWITCHBOARD_HTTP__PORT=99999\n",
        environ={"SWITCHBOARD_LIMITS__TURN_S": "-1", "SWITCHBOARD_DEFAULTS__AGENT": "nobody"},
        playground=False,
    )
    assert [fault.split(" ")[0].rstrip(":") for fault in faults] == [
        "limts",
        "http.port",
        "logs.level",
        "limits.turn_s",
        "defaults.agent",
        "organization",
        "defaults.model",
        "slack.bot_token",
        "slack.app_token",
    ]


@pytest.mark.parametrize(
    ("yaml", "fault"),
    [
        ("organization: Acme", "organization (switchboard.yaml line 1): must be lower-case letters"),
        ("organization: 12", "organization (switchboard.yaml line 1): must be text (in YAML, put it in quotes)"),
        ("a: 1", "a (switchboard.yaml line 1): there is no such setting"),
        ("\nhttp:\n  prot: 1", "http.prot (switchboard.yaml line 3): there is no such setting; did you mean http.port"),
        ("http: {port: many}", "http.port (switchboard.yaml line 1): must be a whole number"),
        ("http: {port: 1.5}", "http.port (switchboard.yaml line 1): must be a whole number"),
        ("http: {port: -1}", "http.port (switchboard.yaml line 1): must be at least 0"),
        ("http: {host: ''}", "http.host (switchboard.yaml line 1): must not be empty"),
        ("http: 80", "http (switchboard.yaml line 1): is a group of settings"),
        ("http: [80]", "http (switchboard.yaml line 1): is a group of settings"),
        ("http: {host: a, host: b}", "http.host (switchboard.yaml line 1): is set twice"),
        ("? [a, b]\n: 1", "switchboard.yaml line 1: a name must be plain text"),
        ("limits: {turn_s: .nan}", "limits.turn_s (switchboard.yaml line 1): must be a finite number"),
        ("limits: {turn_s: soon}", "limits.turn_s (switchboard.yaml line 1): must be a number"),
        ("limits: {turn_s: 0}", "limits.turn_s (switchboard.yaml line 1): must be greater than 0"),
        ("limits: {turn_s: 1e9}", "limits.turn_s (switchboard.yaml line 1): must be at most 86400"),
        ("logs: {level: loud}", "logs.level (switchboard.yaml line 1): must be 'debug', 'info', 'warning' or 'error'"),
        ("providers: {openai: {base_url: h}}", "providers.openai.base_url (switchboard.yaml line 1): must be an http"),
        ("agents: {a: {effort: low}}", "agents.a.prompt (switchboard.yaml line 1): is required"),
        ("agents: {A b: {prompt: x}}", "agents.A b (switchboard.yaml line 1): the name must be lower-case"),
        ("agents: {a: {prompt: {b: c}}}", "agents.a.prompt (switchboard.yaml line 1): must be text"),
        ("agents: {a: {prompt: 2026-13-45}}", "agents.a.prompt (switchboard.yaml line 1): the value cannot be read"),
        ("providers: {p: {base_url: 'http://h'}}", "providers.p.kind (switchboard.yaml line 1): is required"),
        ("providers: {p: {kind: magic}}", "providers.p.kind (switchboard.yaml line 1): must be 'anthropic', 'openai'"),
        ("defaults: {agent: nobody}", "defaults.agent (switchboard.yaml line 1): names an unknown agent"),
        ("defaults: {repo: api}", "defaults.repo (switchboard.yaml line 1): must be owner/name, for example acme/api"),
        ("defaults: {model: gpt}", "defaults.model (switchboard.yaml line 1): must be <provider>/<model>"),
        (
            "defaults: {model: antropic/x}",
            "defaults.model (switchboard.yaml line 1): names an unknown provider; known are anthropic, offline, openai",
        ),
        (
            "agents: {a: {prompt: x, model: nobody/x}}",
            "agents.a.model (switchboard.yaml line 1): names an unknown provider",
        ),
        ("just words", "switchboard.yaml: must hold settings"),
        ("- a", "switchboard.yaml: must hold settings"),
    ],
)
def test_a_fault_in_the_file_is_one_line_with_its_place(tmp_path: Path, yaml: str, fault: str) -> None:
    assert [line[: len(fault)] for line in faults_of(tmp_path, yaml)] == [fault]


@pytest.mark.parametrize("value", ["{}", "{a: 1}", "[1]", "loud"])
def test_a_setting_of_several_kinds_is_refused_whatever_it_is_given(tmp_path: Path, value: str) -> None:
    faults = faults_of(tmp_path, f"sessions: {{cache: {{memory_high_mb: {value}}}}}")
    assert all(fault.startswith("sessions.cache.memory_high_mb") for fault in faults)


@pytest.mark.parametrize(
    ("yaml", "place"),
    [
        ("organization: acme\n  http: x", "switchboard.yaml line 2, column 7: is not YAML: "),
        ("http:\n\thost: a", "switchboard.yaml line 2, column 1: is not YAML: "),
        ("http: {host: a", "switchboard.yaml line 1, column 15: is not YAML: "),
        ("a: 1\n---\nb: 2", "switchboard.yaml line 2, column 1: is not YAML: "),
        ("a: \x07", "switchboard.yaml: is not YAML: it holds a character"),
    ],
)
def test_malformed_yaml_is_one_line_with_its_place_and_no_follow_ups(tmp_path: Path, yaml: str, place: str) -> None:
    assert [line[: len(place)] for line in faults_of(tmp_path, yaml, playground=False)] == [place]


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"
    with pytest.raises(SettingsError) as caught:
        load(missing, environ={}, directory=tmp_path)
    assert caught.value.faults == (f"{missing}: cannot be read: No such file or directory",)


def test_a_file_that_is_no_text_is_one_fault(tmp_path: Path) -> None:
    file = tmp_path / "binary.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError) as caught:
        load(file, environ={}, directory=tmp_path)
    assert caught.value.faults == (f"{file}: is not UTF-8 text",)


def test_a_dotenv_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    with pytest.raises(SettingsError) as caught:
        load(environ={}, directory=tmp_path)
    assert caught.value.faults == (".env: cannot be read: Is a directory",)


def test_a_malformed_line_of_dotenv_is_named_without_being_shown(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, dotenv=f"A=1\nSLACK_BOT_TOKEN {MARKER} = x y\n")
    assert faults == [".env line 2: is not of the form NAME=value"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (
            "SWITCHBOARD_SLACK_BOT_TOKEN",
            (
                "slack_bot_token (environment variable SWITCHBOARD_SLACK_BOT_TOKEN): there is no such setting; "
                "did you mean slack.bot_token (SWITCHBOARD_SLACK__BOT_TOKEN)?"
            ),
        ),
        ("SWITCHBOARD_ZEBRA", "zebra (environment variable SWITCHBOARD_ZEBRA): there is no such setting"),
        ("SWITCHBOARD_SLACK", "slack (environment variable SWITCHBOARD_SLACK): is a group of settings, not one"),
    ],
)
def test_an_unknown_variable_is_refused_by_name(tmp_path: Path, name: str, fault: str) -> None:
    assert faults_of(tmp_path, environ={name: MARKER}) == [fault]


def test_an_unknown_variable_in_dotenv_is_refused_too(tmp_path: Path) -> None:
    assert faults_of(tmp_path, dotenv="SWITCHBOARD_ZEBRA=1") == [
        "zebra (SWITCHBOARD_ZEBRA in .env): there is no such setting"
    ]


def test_a_key_in_the_file_is_refused_with_the_way_to_go(tmp_path: Path) -> None:
    (fault,) = faults_of(tmp_path, f"providers:\n  openai:\n    api_key: {MARKER}\n")
    assert fault.startswith(
        "providers.openai.api_key (switchboard.yaml line 3): a secret does not belong into the file"
    )
    assert "api_key_env" in fault


def test_a_key_where_its_variables_name_belongs_is_recognised(tmp_path: Path) -> None:
    (fault,) = faults_of(tmp_path, f"providers: {{openai: {{api_key_env: sk-{MARKER}}}}}")
    assert "must be the name of the environment variable that holds the key, never the key itself" in fault


@pytest.mark.parametrize(
    ("environ", "faults"),
    [
        (
            {"SLACK_BOT_TOKEN": f"xapp-{MARKER}", "SLACK_APP_TOKEN": f"xoxb-{MARKER}"},
            {
                "slack.bot_token": "is an app-level token; it belongs into slack.app_token",
                "slack.app_token": "is a bot token; it belongs into slack.bot_token",
            },
        ),
        (
            {"SLACK_BOT_TOKEN": f"xoxp-{MARKER}", "SLACK_APP_TOKEN": "xapp-1"},
            {"slack.bot_token": "is a user token, which Switchboard does not use"},
        ),
        (
            {"SLACK_BOT_TOKEN": MARKER, "SLACK_APP_TOKEN": f"xoxe-{MARKER}"},
            {"slack.bot_token": "does not start with xoxb-", "slack.app_token": "is a refresh token"},
        ),
        (
            {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_SIGNING_SECRET": f"xapp-{MARKER}"},
            {"slack.signing_secret": "is an app-level token"},
        ),
    ],
)
def test_a_wrong_token_is_told_apart(tmp_path: Path, environ: dict[str, str], faults: dict[str, str]) -> None:
    base = "organization: acme\ndefaults: {model: offline/demo}\n"
    found = faults_of(tmp_path, base, environ=environ, playground=False)
    assert {fault.split(" ")[0]: fault.split("): ")[1][: len(faults[fault.split(" ")[0]])] for fault in found} == faults
    assert MARKER not in " ".join(found)
    assert [mask(fault) for fault in found] == found


def test_one_fault_causes_no_second_one(tmp_path: Path) -> None:
    file = "defaults: {agent: broken, model: own/x}\nagents: {broken: {effort: low}}\nproviders: {own: {}}\n"
    faults = faults_of(tmp_path, file + "organization: Acme\nslack: {mode: carrier-pigeon}\n")
    assert [fault.split(" ")[0] for fault in faults] == [
        "organization",
        "agents.broken.prompt",
        "slack.mode",
        "defaults.model",
    ]


def test_the_memory_services_token_comes_from_the_variable_the_settings_name(tmp_path: Path) -> None:
    (tmp_path / "switchboard.yaml").write_text("memory: {worker: {token_env: OUR_TOKEN}}", encoding="utf-8")
    settings = load(environ={"OUR_TOKEN": MARKER, "MEMORY_TOKEN": "other"}, directory=tmp_path, playground=True)
    assert settings.memory.worker.token is not None
    assert settings.memory.worker.token.get_secret_value() == MARKER
    assert MARKER not in repr(settings)
    (fault,) = faults_of(tmp_path, f"memory:\n  worker:\n    token: {MARKER}\n")
    assert "does not belong into the file" in fault
    assert MARKER not in fault


def test_the_model_of_reflection_needs_a_known_provider(tmp_path: Path) -> None:
    (fault,) = faults_of(tmp_path, "memory: {model: antropic/x}")
    assert fault.startswith("memory.model")
    assert "did you mean anthropic?" in fault


def test_an_embedding_model_needs_a_known_provider_or_the_local_one(tmp_path: Path) -> None:
    assert (
        load(
            environ={"SWITCHBOARD_MEMORY__EMBEDDING": "local/minilm"}, directory=tmp_path, playground=True
        ).memory.embedding
        == "local/minilm"
    )
    (fault,) = faults_of(tmp_path, "memory: {embedding: nobody/x}")
    assert fault.startswith("memory.embedding")
    assert "known are anthropic, local, offline, openai" in fault


def test_no_fault_ever_shows_the_value_it_is_about(tmp_path: Path) -> None:
    """Whatever setting a secret is pasted into by mistake, from whatever source, it is not printed."""
    paths = [tuple("own" if name == ANY_NAME else name for name in path) for path in settings_below(root())]
    for secret in (f"xoxb-{MARKER}", f"a {MARKER}", f"{MARKER}/{MARKER}"):
        for path in paths:
            yaml = f'"{secret}"'
            for name in reversed(path):
                yaml = f"{{{name}: {yaml}}}"
            (tmp_path / "switchboard.yaml").write_text(yaml, encoding="utf-8")
            for environ in ({}, {variable(path): secret}):
                with pytest.raises(SettingsError) as caught:
                    load(environ=environ, directory=tmp_path)
                assert MARKER not in str(caught.value), path


def test_a_mistyped_provider_or_agent_is_guessed(tmp_path: Path) -> None:
    provider, agent = faults_of(
        tmp_path, "defaults: {agent: reviewr, model: antropic/x}\nagents: {reviewer: {prompt: x}}"
    )[::-1]
    assert provider.endswith("did you mean anthropic?")
    assert agent.endswith("known are general, reviewer; did you mean reviewer?")

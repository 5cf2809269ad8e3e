"""Logs hide whatever is a secret in any text, not only what looks like a token of ours."""

import pytest

from app.logs import mask

SECRETS = [
    ("postgres://bot:hunter2-MARKER@db/app", "postgres://bot:«password»@db/app"),
    ("connection failed: password=hunter2-MARKER host=db", "connection failed: password=«password» host=db"),
    (f"pushed ghp_{'MARKER1234' * 3}", "pushed «github-token»"),
    ("Cookie: sid=MARKER; a=b", "Cookie: «cookie»"),
    ("card 4111 1111 1111 1111", "card «card-number»"),
    ("-----BEGIN PRIVATE KEY-----\nMARKERMARKERMARKER\n-----END PRIVATE KEY-----", "«private-key»"),
    ("it was xoxb-1-abc", "it was xoxb-***"),
    ("Authorization: Bearer abcdefgh", "Authorization: Bearer ***"),
]
WORDS = [
    "config.yaml: providers.here.api_key: must be a string",
    "slack.bot_token: required outside the playground; set SWITCHBOARD_SLACK__BOT_TOKEN",
    "cannot be reached (timed out); name the variable that holds the key as providers.here.api_key_env",
    "slack:C0123ABCD:1712345678.123456",
    "KeyError: 'user_id'",
]


@pytest.mark.parametrize(("text", "masked"), SECRETS)
def test_what_is_a_secret_anywhere_is_one_in_a_log(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


@pytest.mark.parametrize("text", WORDS)
def test_sentences_about_settings_stay_readable(text: str) -> None:
    assert mask(text) == text

"""What redaction leaves alone: what engineers write all day, and what only speaks of secrets."""

from base64 import b64encode

import pytest

from memory.redact import redact

PICTURE = b64encode(bytes(range(256)) * 8).decode()

SENTENCES = [
    # digests, identifiers, versions
    "Fixed in 3f2a9c1d7e8b4a5f6c7d8e9f0a1b2c3d4e5f6a7b, please review.",
    "The short SHA is 3f2a9c1 and the tag is v2.14.0-rc.1.",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "Request 550e8400-e29b-41d4-a716-446655440000 failed twice.",
    "Run 12345678-4111-4111-8111-123456789012 is done.",
    "Trace id 4bf92f3577b34da6a3ce929d0e0e4736, span 00f067aa0ba902b7.",
    "Pin Python 3.11.7, Node 20.11.1 and PostgreSQL 16.2.",
    "sha512-abcDEF0123456789+/abcDEF0123456789+/abcDEF0123456789+/abcDEF0123456789+/abcDEF012345== in a lock",
    'ETag: W/"33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "The image is registry.example.com/bot@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.",
    # numbers
    "It listens on port 8080, metrics on 9090 and debug on 5005.",
    "Deploys happen at 2026-11-29T23:35:12Z, or 2026-11-29 23:35:12+01:00.",
    "The timestamp was 1712345678123 in milliseconds and 1712345678 in seconds.",
    "In nanoseconds it is 1712345678123456789.",
    "Order 4111111111111112 was shipped late.",
    "Order 1234567812345678 and invoice 9876543210987654 are open.",
    "Tracking number 1Z999AA10123456784 is lost.",
    "Snowflake 1175928847299117063 is a Discord message.",
    "The float is 0.4111111111111111 and the ratio 3.4111111111111111.",
    "Use #4a154b for the button and #fff for text.",
    "Call +49 30 1234567 or 555-123-4567 after six.",
    "Build 20261129233512 passed with 1234 tests in 59.8 s.",
    "IBAN DE89370400440532013000 is on the invoice.",
    "The bug is in line 4012, column 8888, of 8818 lines.",
    "MAC 00:1B:44:11:3A:B7 got 10.0.0.12 and fe80::1ff:fe23:4567:890a.",
    # Slack
    "Ask <@U0123ABCD> in <#C0123ABCD|deploys> about team T0123ABCD.",
    "The thread is slack:C0123ABCD:1712345678.123456.",
    "https://example.slack.com/archives/C0123ABCD/p1712345678123456?thread_ts=1712345678.123456&cid=C0123ABCD",
    "event_id Ev0123ABCD45, client_msg_id 550e8400-e29b-41d4-a716-446655440000",
    "session_key=slack:C0123ABCD:1712345678.123456",
    "Tokens that start with xoxb- belong to bots, those with xapp- to apps.",
    # pictures and files
    f"![logo](data:image/png;base64,{PICTURE})",
    f'<img src="data:image/gif;base64,{PICTURE[:400]}">',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ada@example.com",
    # addresses
    "Clone git@github.com:example/bot.git or https://github.com/example/bot.git.",
    "See https://example.com:8443/path/@scope/pkg?x=1&y=a@b.c#part for more.",
    "Open http://localhost:3000/@ada and mail ada@example.com.",
    "The database is postgres://db.example.com:5432/app, without a user.",
    "Use postgres://bot:${DB_PASSWORD}@db/app in the compose file.",
    "docker run -u 1000:1000 --user node:node image",
    # speaking of secrets
    "The token expires every hour; rotate it with the admin page.",
    "Your password must have twelve characters.",
    "Password: see the vault.",
    "Token: rotates every hour, nobody has to do it by hand.",
    "api_key: must be a string",
    "slack.bot_token: required outside the playground",
    "The secret is in 1Password, ask Ada.",
    "The password is not stored anywhere.",
    "We use bearer authentication for the API.",
    "Send Authorization: Bearer <token> with each call.",
    "The Authorization: Bearer scheme is used everywhere.",
    "Authorization: required for all endpoints",
    "Basic authentication is switched off.",
    "A bearer of news came with a cookie: it was good.",
    "Set-Cookie headers are not cached.",
    "Key: what matters is the order.",
    "The session: Monday at ten, in the big room.",
    "Session 3 covers auth: who may do what.",
    'primary_key: id, partition_key=user_id, cache_key="abc123def456"',
    "sort_key=created_at2024, public_key=abc123def456",
    "max_tokens: 4096, token_limit=8000, tokens=123456, session_ttl: 86400",
    "token_type: bearer, expires_in: 3600, auth_method: oauth2",
    "password_min_length=12345, key_size: 2048, secret_name=prod/db",
    "auth_error: invalid_grant, token_expired=2026-11-29",
    "KeyError: 'user_id' in session.py",
    "monkey: banana, turkey=roasted, keyboard: qwerty, passenger=anonymous",
    "The tokenizer: bpe, the secretary: Ada, passwordless: enabled",
    "author: Ada Lovelace, authority=central, passive: allowed",
    "the pass: 12 of 14, the auth: 250ms",
    # code
    "sorted(rows, key=lambda row: row.name)",
    "max(items, key=len) and groupby(rows, key=itemgetter(1))",
    "password = os.environ['DB_PASSWORD']",
    "token = process.env.SLACK_TOKEN;",
    "client = Client(token=settings.slack.token, api_key=api_key)",
    "password=${DB_PASSWORD} and token: $SLACK_TOKEN",
    "api_key: ${{ secrets.API_KEY }}",
    "password: {{ vault_password }}",
    'token: "{{ .Values.token }}"',
    "def login(user: str, password: str, token: SecretStr | None = None) -> Session:",
    "session: AsyncSession = Depends(get_session)",
    "const session = await getSession();",
    "token = get_token()",
    "password: '********'",
    "password=xxxxxxxx",
    "token: <your token here>",
    "token: [redacted]",
    "secret: /run/secrets/db_password",
    "PWD=/home/ada/project",
    "password_file: /etc/bot/password.txt",
    "secretKeyRef: {name: db, key: password}",
    'curl -u "$USER:$PASSWORD" https://example.com',
    "headers = {'Authorization': f'Bearer {token}'}",
    "Authorization: Bearer $TOKEN",
    "Cookie: session=<value>",
    "deploy --token to pass it, or --password instead of a file",
    "git commit --author 'Ada' --key-id 12345",
    "token: null, password: None, secret: true",
    "password=\"\" token=''",
    "the skill is sk-learn-pipeline-builder, the branch task-sk-fading-circle",
    "eyJ is how web tokens begin, e.g. eyJhbGciOiJIUzI1NiJ9.",
    "excellent.examples.everywhere and eyeballing.something.else.entirely",
    "AKIA stands for a key's id; AIza for Google's.",
    "pip install pypi-publish-helper npm_package_config_registry",
    "example.com/AZDO1234 and Q~ are no keys; GR1348941 is short",
    "The tests use std::string key::value and token://scheme.",
    'return {"Authorization": authorization, "OpenAI-Organization": omit}',
    "for key in [key for key, live in all.items() if live.session_id == session_id]:",
    "def get(self, key: SessionKey, session_id: SessionId) -> Sequence[Message]: ...",
    "connection.execute(QUERY, {'session_id': session_id}).one_or_none()",
    "Pass `token=` once, and 'token=' in a query; drop `token=` everywhere.",
    '{"token_revoked": "this bot token was revoked; reinstall the app", "session": "there is no such thing as this"}',
    "a«b»c «quoted» «token» «password»",
    "",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_ordinary_sentences_stay_as_they_are(text: str) -> None:
    assert redact(text) == text
    assert redact(f"> {text}\n{text}") == f"> {text}\n{text}"


def test_all_of_them_together_stay_as_they_are() -> None:
    text = "\n".join(SENTENCES)
    assert redact(text) == text

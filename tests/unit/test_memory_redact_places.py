"""Secrets that their place or their name gives away (memory, sections 12 and 13)."""

from base64 import b64encode

import pytest

from memory.redact import redact

PASSWORD = "hunter2-Tr0ub4dor"
RANDOM = "9f8e7d6c5b4a39281706"
BASIC = b64encode(b"ada:hunter2-Tr0ub4dor").decode()

PLACES = [
    # addresses
    ("postgres://bot:§hunter2§@db.example.com:5432/app", "password"),
    ("https://bot:§hunter2§@example.com/path?x=1", "password"),
    ("redis://:§hunter2§@cache:6379/0", "password"),
    ("amqp://bot:§p@ss:w0rd§@mq/vhost", "password"),
    ("mysql+pymysql://bot:§p/4s/s§@db/app", "password"),
    ("mongodb+srv://bot:§12345§@cluster0.example.net/?retryWrites=true", "password"),
    ("<https://bot:§hunter2§@example.com|https://bot:§hunter2§@example.com>", "password"),
    ("postgres://bot:<mailto:§hunter2§@db.example.com|§hunter2§@db.example.com>/app", "password"),
    (r"{\"url\": \"https:\/\/bot:§hunter2§@example.com\/x\"}", "password"),
    ("next=https%3A%2F%2Fbot%3A§hunter2§%40example.com%2Fx", "password"),
    ("root:§hunter2§@tcp(127.0.0.1:3306)/app", "password"),
    ("x-access-token:§abcd1234§@github.com/a/b.git", "token"),
    (f"https://§{RANDOM}§@sentry.example.com/42", "token"),
    (f"https://§{RANDOM}§:@api.example.com/v1", "token"),
    ("see https://example.com/?a=1&sig=§abcDEF%2F123§&b=2", "token"),
    ("see https://example.com/?X-Amz-Signature=§abcdef0123456789§&X-Amz-Expires=60", "token"),
    ("<https://example.com/?a=1&amp;signature=§abc123§&amp;b=2|example.com>", "token"),
    ("wss://wss.example.com/link/?ticket=§abc-123§&app_id=2", "token"),
    (f"https://example.com/callback?code=§{RANDOM}ab§&state=open", "token"),
    ("https://example.com/?access_token=§abcd§&channel=C1", "token"),
    ("https://example.com/?a=1&amp;api_key=§abcd§&amp;b=2", "key"),
    (f"https://maps.example.com/js?key=§{RANDOM}§&v=3", "key"),
    ("https://example.com/#id_token=§abcd§&expires_in=3600", "token"),
    # headers
    ("Authorization: Bearer §abcdefgh§", "authorization"),
    (f'curl -H "Authorization: Bearer §{RANDOM}§" https://example.com', "authorization"),
    (f"Authorization: Basic §{BASIC}§", "authorization"),
    ("authorization: token §abcdefgh§", "authorization"),
    ('{"Authorization": "Bearer §abcdefgh1§", "Accept": "*/*"}', "authorization"),
    (r'"{\"Authorization\": \"Bearer §abcdefgh1§\"}"', "authorization"),
    ("headers['Authorization'] = 'ApiKey §abcdefgh1§'", "authorization"),
    (f"Authorization: GoogleLogin §{RANDOM}§", "authorization"),
    ("headers.append(('Authorization', 'Bearer §abcdefgh1§'))", "authorization"),
    ("Proxy-Authorization: §abcd1234§", "authorization"),
    (
        "Authorization: AWS4-HMAC-SHA256 §Credential=AK/2026/eu/s3/aws4_request, Signature=0123abcd§\nHost: x",
        "authorization",
    ),
    ('Authorization: Digest §username="ada", response="0123"§\nHost: x', "authorization"),
    (f"it answers to Bearer §{RANDOM}§ only", "authorization"),
    ("bearer §abcdefghijkl§", "authorization"),
    ("Bearer%20§abcdefghijkl1§", "authorization"),
    (f"with Basic §{BASIC}§ it works", "authorization"),
    ("Cookie: §sid=abc; theme=dark§\nHost: x", "cookie"),
    ("Set-Cookie: §sid=abc; HttpOnly; Path=/§\r\nHost: x", "cookie"),
    ("curl -H 'Cookie: §sid=abc; a=b§' https://example.com/keep", "cookie"),
    ('curl -H "set-cookie: §sid=abc§" https://example.com/keep', "cookie"),
    ('{"Cookie": "§sid=abc; a=b§", "x": 1}', "cookie"),
    (r"GET /\nCookie: §sid=abc§\nHost: x", "cookie"),
    (f"X-Api-Key: §{RANDOM}§", "key"),
    ("X-Auth-Token: §abcd§", "token"),
    ("PRIVATE-TOKEN: §abcd§", "token"),
    # commands
    ("curl -u ada:§hunter2§ https://example.com", "password"),
    ("curl --user 'ada:§my pass§' https://example.com", "password"),
    ('curl -s --proxy-user="ada:§my pass§" https://example.com', "password"),
    ("curl https://example.com \\\n  -uada:§hunter2§", "password"),
    ("sshpass -p '§hunter2§' ssh ada@host", "password"),
    ("mysql -h db -u bot -p§hunter2§ app", "password"),
    ("redis-cli -h cache -a §hunter2§ ping", "password"),
    ("docker login --username bot --password §hunter2§ registry", "password"),
    ("deploy --api-token §abc1234§ --force", "token"),
    ("deploy --password '§correct horse§' --force", "password"),
    ("machine example.com login ada password §hunter2§", "password"),
    ("CREATE USER ada IDENTIFIED BY '§correct horse§';", "password"),
    ("ALTER ROLE ada WITH PASSWORD '§correct horse§';", "password"),
    # named values
    ("password=§hunter2§", "password"),
    ("password=§abcd§", "password"),
    ("PASSWORD = §hunter2§ # old", "password"),
    ("db_password: §hunter2§", "password"),
    ("DB_PASSWD='§correct horse§'", "password"),
    ("spring.datasource.password=§hunter2§", "password"),
    ("PGPASSWORD=§hunter2§ psql", "password"),
    ("Server=db;User Id=sa;Password=§hunter2§;Encrypt=true", "password"),
    ("host=db password=§a,b;c)d§ user=ada", "password"),
    ("connect(password=§hunter2§, host='db')", "password"),
    ("<db><password>§hunter2§</password></db>", "password"),
    ("&lt;password&gt;§hunter2§&lt;/password&gt;", "password"),
    ("*Password:* `§hunter2§`", "password"),
    ("password: “§correct horse§”", "password"),
    ("password: ‘§correct horse§’", "password"),  # noqa: RUF001
    ("the password is §hunter2§ for now", "password"),
    ("das Passwort lautet §hunter2§", "password"),
    ("passwort: §geheim§", "password"),
    ("pwd=§hunter2§", "password"),
    ("passphrase: '§correct horse§'", "password"),
    ("password: <§http://hunter2.example|hunter2.example§>", "password"),
    ("password: |\n  §hunter2§\nuser: ada", "password"),
    ("password%3D§hunter2§", "password"),
    ("SMTP_PASS=§abcd§", "password"),
    ("token: §abcd1§", "token"),
    ('token: str = "§abcd§"', "token"),
    ('token := "§abcd§"', "token"),
    ("'token' => '§abcd§',", "token"),
    ('if token == "§abcd§":', "token"),
    ("export SLACK_TOKEN=§abcd§", "token"),
    ("TOKEN_PROD=§abcd§", "token"),
    ("//registry.example.com/:_authToken=§abcd§", "token"),
    ('{"refresh_token": "§abc def§", "n": 1}', "token"),
    (r"{\"token\": \"§abc def§\", \"n\": 1}", "token"),
    ('token = SecretStr("§abcd§")', "token"),
    ('"client_secret":"§abcd§"', "secret"),
    ("signing-secret: §abcd§", "secret"),
    ("credential=§abcd§", "secret"),
    ('credentials: "§ada and hunter2§"', "secret"),
    ("API_KEY=§abcd§", "key"),
    ("apikey=§abcd§", "key"),
    ("api key: §abcd§", "key"),
    ("apiKey: '§abcd§'", "key"),
    ("AccountKey=§abc+def/ghi==§;EndpointSuffix=x", "key"),
    (f"aws_secret_access_key = §{RANDOM}/abcDEF+§", "secret"),
    ("DEPLOY_KEY=§abcd§", "key"),
    (f"key={'§'}{RANDOM}§", "key"),
    ("auth=§s3cr3t§", "secret"),
    ("session=§abc123def§", "session"),
    ("session_id: §abcd§", "session"),
    ("sessionid=§abcd§", "session"),
    ("cookie=§abcd§", "cookie"),
    ('"password": "§cut off', "password"),
    ("auth_error: password=§hunter2§", "password"),
]


def told(text: str, kind: str) -> tuple[str, str]:
    """A text with its secret, and what is to be left of it."""
    pieces = f"{text}{'' if text.count('§') % 2 == 0 else '§'}".split("§")
    return "".join(pieces), "".join(f"«{kind}»" if place % 2 else piece for place, piece in enumerate(pieces))


@pytest.mark.parametrize(("text", "kind"), PLACES)
def test_what_its_place_or_name_gives_away_goes_and_nothing_else(text: str, kind: str) -> None:
    before, after = told(text, kind)
    assert redact(before) == after
    assert redact(after) == after


WRAPPINGS = ["{}", "we had:\n{}", "```\n{}\n```", "> {}", "\x1b[31m{}\x1b[0m", "• {}", "2026-11-29 23:35:12 INFO {}"]


@pytest.mark.parametrize(("text", "kind"), PLACES)
def test_wrapping_changes_nothing_about_it(text: str, kind: str) -> None:
    before, after = told(text, kind)
    unfinished = text.count("§") % 2
    for wrapping in WRAPPINGS[1:]:
        wrapped = wrapping.format(before) if not unfinished else before
        plain = wrapping.replace("\x1b[31m", "").replace("\x1b[0m", "")
        assert redact(wrapped) == (plain.format(after) if not unfinished else after), wrapping


FAILURE_WORDS = (
    "failed failure error err refused denied invalid missing expired unset mismatch".split()  # noqa: SIM905
)


@pytest.mark.parametrize("word", FAILURE_WORDS)
def test_a_name_that_tells_of_a_failure_hides_nothing(word: str) -> None:
    for text in (f"token_{word}=abcd1234", f'"{word}_password": "abcd1234"', f"session-{word}: abcd1234"):
        assert redact(text) == text


NAMES = "secret token password passwd pwd credential credentials key apikey auth session sessionid cookie".split()  # noqa: SIM905


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "form",
    ["{}=§", "{}: §", "MY_{}=§", "my-{}: §", '"{}": "§"', '{{"my_{}":"§"}}', "{}_x = '§'", "export {}='§'"],
)
def test_a_value_goes_when_a_part_of_its_name_is_one_of_these_words(name: str, form: str) -> None:
    text = form.format(name)
    after = redact(text.replace("§", "abcd1234"))
    assert "abcd" not in after
    assert after.startswith(text.split("§")[0] + "«")

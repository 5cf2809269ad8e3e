"""Redaction holds for any text: once is enough, nothing grows without bound, and what is counted is what was found."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from memory.redact import LONGEST_GROWTH, redact, redacted
from memory.secret_marks import MARK

PIECES = [
    *(
        "xoxb-",
        "ghp_",
        "sk-",
        "AKIA",
        "ABCDEFGHIJKLMNOP",
        "AIza",
        "SG.",
        "Q~",
        "a8",
        "AZDO",
        "+ASt",
        ":AA",
        "1234567890",
    ),
    *(
        "a" * 20,
        "A1b2C3d4E5f6G7h8J9k0",
        "a" * 76,
        "eyJhbGciOiJIUzI1NiJ9",
        "4111",
        "1111",
        "4111111111111111",
        "hunter2",
    ),
    *("-----BEGIN ", "PRIVATE KEY-----", "-----END PRIVATE KEY-----", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t", "BEGIN"),
    *("Private-Lines: 1\n", '"kty"', '"d": "', "Proc-Type: 4"),
    *("password", "token", "key", "secret", "session", "auth", "cookie", "Cookie: ", "api", "_", "error", "id", "pass"),
    *(
        "=",
        ":",
        ": ",
        "=>",
        " = ",
        "==",
        " is ",
        ">",
        "</",
        "<",
        "%3D",
        "&",
        "&amp;",
        "?",
        ";",
        ",",
        "|",
        ")",
        "(",
        "]",
    ),
    *(
        "Authorization: ",
        "authorization",
        "Bearer ",
        "Basic ",
        "Digest ",
        "OAuth ",
        "YWRhOmh1bnRlcjI=",
        "AWS4-HMAC-SHA256 ",
    ),
    *("://", "https", "postgres", "@", "/", "user", "<mailto:", "%3A%2F%2F", "%3A", "%40", "@tcp(", "x-access-token:"),
    *("curl -u ", "mysql ", " -p", "--", "--password ", "login a password ", "identified by '", "sshpass -p "),
    *('"', "'", "`", '\\"', "\\n", "\\", "\n", " ", "\t", "> ", "“", "”", ".", "-", "*", "…", "str", "SecretStr("),
    *("«", "»", "«token»", "«password»", "«private-key»", "«card-number»", "${", "}", "{", "[", "$A", "***", "xxxx"),
    *(
        " is now ",
        " for db-3 is ",
        " was changed to ",
        "we set the ",
        " to ",
        "blue whale",
        "swordfish",
        " lautet ",
        "«blue whale»",
    ),
    *(
        "swordfish is the ",
        "use swordfish as the ",
        "user admin, ",
        "credentials are ",
        "login admin / ",
        " / ",
        "„",
        "»",
        "PIN ",
    ),
    *("\x1b", "[31m", "\x1b[0m", "\x9b", "é", "密", "/etc/", "self.", "http://", "2026-11-29", "word", "Word", "aB3"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14).map("".join)


@given(TEXTS)
@example("Authorization: AWS4-HMAC-SHA256 Credential=a, Signature=b")
@example("\x1b\x1b[0m[31m")
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(TEXTS | st.text())
def test_a_text_grows_by_no_more_than_its_bound(text: str) -> None:
    assert len(redact(text)) <= LONGEST_GROWTH * len(text)


@given(TEXTS)
def test_the_counts_are_those_of_the_marks_that_were_set(text: str) -> None:
    plain = text.replace("«", "")
    result = redacted(plain)
    assert result.text == redact(plain)
    assert sum(result.counts.values()) >= len(re.findall(MARK, result.text))
    assert bool(result.counts) == ("«" in result.text)


def test_counts_say_what_was_found_without_its_words() -> None:
    text = "password=hunter2 and password='Ada+3' with xoxb-12345678-abc and 4111 1111 1111 1111"
    result = redacted(text)
    assert result.counts == {"password": 2, "slack-token": 1, "card-number": 1}
    assert redacted("nothing here").counts == {}


@given(TEXTS)
def test_no_escape_to_a_terminal_is_left(text: str) -> None:
    assert not {"\x1b", "\x9b"} & set(redact(text))


def test_a_secret_with_colours_in_its_middle_goes() -> None:
    assert redact("pass\x1b[1mword\x1b[0m=hun\x1b[31mter2\x1b]0;title\x07 \x9b1mx\x1bc") == "password=«password» x"


def test_secrets_that_touch_become_one_mark_or_two_and_nothing_between_them_is_left() -> None:
    assert redact("AKIAABCDEFGHIJKLMNOPghp_" + "a" * 20) == "«aws-key»"
    assert redact("password=ghp_" + "a" * 20 + "-tail") == "password=«password»"
    assert redact("ghp_" + "a" * 20 + "-xoxb-12345678") == "«github-token»-«slack-token»"

"""The work of redaction grows with the length of a text, whatever stands in it."""

import re
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import FrameType
from typing import Any, cast

import pytest

from memory import (
    redact as redaction,
)
from memory import (
    secret_asides,
    secret_cards,
    secret_headers,
    secret_keys,
    secret_marks,
    secret_names,
    secret_places,
    secret_remarks,
    secret_sentences,
    secret_shapes,
    secret_values,
)
from memory.redact import redact

MODULES = (
    redaction,
    secret_asides,
    secret_cards,
    secret_headers,
    secret_keys,
    secret_marks,
    secret_names,
    secret_places,
    secret_remarks,
    secret_sentences,
    secret_shapes,
    secret_values,
)
QUARTER_MEGABYTE = 250_000
pytestmark = pytest.mark.unfollowed
"""Work is what is measured here, and following every line of it takes as long again."""
UNITS = [
    *(
        "a",
        "A1",
        "4111",
        "4111 ",
        "-",
        "----",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "----END",
        "LS0tLS1CRUdJTi",
    ),
    *(
        "LS0tLS1CRUdJTi\nAAAAAAAAAAAAAAAAAAAA\n",
        "Private-Lines: 1\nAAAAAAAAAAAAAAAAAAAA\n",
        '"kty"',
        "\\",
        "\\n",
        "%3D",
    ),
    *("%3A%2F%2Fa%3Ab", "%40", "://", "://a:", "://a:b@", "a://b:c/", "@", ":AA", "Q~", "a8Q~", "+ASt", "eyJ", "e-"),
    *("eyJhbGciOi.", "exaaaaaaaa.", "ey.", "sk-", "sk-aa-", "xoxb-", "ghp_", "AKIA", "SG.", "hooks.slack.com/", "EAAA"),
    *("glpat-aaaaaaaaaaaaaaaa.", "key", "key=", "key:", 'key="', 'key=\\\\"', "token=)))))", "token=&a", 'error_key="'),
    *(
        "password=a,",
        "the secret is a ",
        "--",
        "--key ",
        "<token>a</token>",
        "token>a",
        "?sig=",
        "?code=",
        "Authorization: ",
    ),
    *(
        "Authorization: Bearer ",
        "Authorization:Bearer+{a}/",
        "Authorization: Digest a=",
        "bearer ",
        "Bearer aaaaaaaaaaaa",
    ),
    *(
        "Basic aaaaaaaa",
        "Cookie: a=",
        '"Cookie: a=',
        "'Cookie: a='",
        "curl -u ",
        'curl -u "a:',
        "mysql -p",
        "redis-cli -a ",
    ),
    *(
        "login a password ",
        "identified by '",
        "sshpass -p",
        "x-access-token:",
        "://a:<mailto:b@c|",
        "password: <http://a|",
    ),
    *(
        "«",
        "«token»",
        "token=«token»",
        "\x1b",
        "\x1b[1",
        "\x1b]a",
        "\x9b",
        "${",
        "password: “",
        "token : ",
        "token: |\n",
    ),
    *(
        "_",
        "a_b-c.",
        'token=SecretStr("',
        "\n",
        " ",
        "> ",
        "=",
        ":",
        '"',
        "'",
        "é",
        "@tcp(",
        ":a@tcp(",
        "password=xxxx",
    ),
    *(
        "password is ",
        "password is a ",
        "password is hunter2 ",
        'password is "',
        "password is «",
        "password is blue ",
        "password for ",
        "password for a is b for ",
        "password-",
        "we set the password to ",
        "set password to a ",
        "user a password ",
        "user a password b ",
    ),
    *(
        "is the password",
        "a is the password ",
        "use aaaa as the password ",
        '" is the password',
        "login admin/",
        "credentials are a / ",
        "PIN ",
        "PIN for a ",
        "door code ",
        "PIN 1234",
        "İ",
        "correct ",
        "密码是",
        "client secret is a ",
        "code for the door ",
        "a@b, password ",
    ),
]
"""Each of them, over and over, is a text that some pattern begins to match everywhere."""
LINEAR, SLACK_S = 8, 0.02
"""Four times the text takes four times the work, sixteen times where it is read again from each of its places."""
SLOWEST = [
    "password for a is b for ",
    "use aaaa as the password ",
    "password is blue ",
    "key=",
    "key:",
    "4111 ",
    '"Cookie: a=',
    "://a:b@",
    "Authorization: Digest a=",
    "token=)))))",
    "eyJhbGciOi.",
]


def patterns_in(thing: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(thing, re.Pattern):
        yield cast("re.Pattern[Any]", thing)
    elif isinstance(thing, tuple | list):
        yield from (each for value in cast("Sequence[object]", thing) for each in patterns_in(value))
    elif isinstance(thing, dict):
        yield from (each for value in cast("dict[object, object]", thing).values() for each in patterns_in(value))
    elif isinstance(thing, secret_shapes._Shape):  # pyright: ignore[reportPrivateUsage]
        yield thing.body


PATTERNS = sorted(
    {each for module in MODULES for value in vars(module).values() for each in patterns_in(value)},
    key=lambda each: str(each.pattern),
)


def repeats_that_come_back(tree: Any, *, inside: bool = False) -> Iterator[str]:
    """Repeats without a bound that give back what they have taken, within another repeat without a bound."""
    for operation, argument in tree:
        name = str(operation)
        is_endless = "REPEAT" in name and str(argument[1]) == "MAXREPEAT"
        if is_endless and inside and "POSSESSIVE" not in name:
            yield name
        for part in parts_of(name, argument):
            yield from repeats_that_come_back(part, inside=inside or is_endless)


def parts_of(name: str, argument: Any) -> list[Any]:
    if "REPEAT" in name:
        return [argument[2]]
    if name in {"SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
        return [argument[-1]]
    if name == "ATOMIC_GROUP":
        return [argument]
    return list(argument[1]) if name == "BRANCH" else []


def parsed(pattern: re.Pattern[Any]) -> Any:
    return import_module("re._parser").parse(pattern.pattern, pattern.flags)


def test_patterns_are_found_at_all() -> None:
    assert len(PATTERNS) > 60
    assert list(repeats_that_come_back(parsed(re.compile(r"(?:a+b?)+")))) == ["MAX_REPEAT"]
    assert not list(repeats_that_come_back(parsed(re.compile(r"(?:a++b)++(?>c*+)(?=d+)(?!e)"))))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda each: str(each.pattern)[:40])
def test_no_pattern_nests_repeats_that_come_back(pattern: re.Pattern[Any]) -> None:
    assert not list(repeats_that_come_back(parsed(pattern)))


def calls(text: str) -> int:
    """How many functions are called, those of the library of patterns included, while ``text`` is redacted."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        redact(text)
    finally:
        sys.setprofile(before)
    return count


def filled(unit: str, chars: int) -> str:
    return (unit * (chars // len(unit) + 1))[:chars]


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_takes_twice_the_calls(unit: str) -> None:
    fewer, more = calls(filled(unit, 4_000)), calls(filled(unit, 8_000))
    assert more <= 2.2 * fewer


def worked_s(text: str) -> float:
    """What this process itself worked, whatever else the machine does."""
    began_s = time.process_time()
    redact(text)
    return time.process_time() - began_s


@pytest.mark.parametrize("unit", UNITS)
def test_four_times_the_text_takes_no_more_than_linear_work(unit: str) -> None:
    """Calls do not tell how far a pattern reads in one of them; the processor's time does, the least of two."""
    bound_s = LINEAR * min(worked_s(filled(unit, 15_000)) for _ in range(2)) + SLACK_S
    assert any(worked_s(filled(unit, 60_000)) <= bound_s for _ in range(2))


@pytest.mark.parametrize("unit", SLOWEST)
def test_a_quarter_of_a_megabyte_made_to_be_slow_is_done_before_the_suite_loses_patience(unit: str) -> None:
    assert redact(filled(unit, QUARTER_MEGABYTE))

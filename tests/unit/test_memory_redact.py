"""Secrets out of any text, in whatever they are wrapped (memory, sections 12 and 13)."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from functools import partial

import pytest

from memory.redact import redact

LETTERS = "aB3dE5gH7jK9mN2pQ4sT6vW8yZ1cF0xRuL"
HEX = "0123456789abcdef" * 6
HEADER = urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
SPACED_HEADER = urlsafe_b64encode(b'{\n  "typ": "JWT",\n  "alg": "none"}').decode().rstrip("=")
CLAIMS = urlsafe_b64encode(b'{"sub":"1234567890","name":"Ada"}').decode().rstrip("=")
SIGNATURE = "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"


def letters(length: int) -> str:
    return (LETTERS * 5)[:length]


BY_THEMSELVES = {
    "slack bot": ("slack-token", f"xoxb-17653672481-19874698323-{letters(24)}"),
    "slack user": ("slack-token", f"xoxp-1234567890-{letters(12)}"),
    "slack old app": ("slack-token", f"xoxa-2-{letters(20)}"),
    "slack refresh": ("slack-token", f"xoxr-{letters(12)}"),
    "slack session": ("slack-token", f"xoxs-{letters(12)}"),
    "slack config": ("slack-token", f"xoxe.xoxp-1-{letters(40)}"),
    "slack config refresh": ("slack-token", f"xoxe-1-{letters(40)}"),
    "slack client": ("slack-token", f"xoxc-{letters(20)}"),
    "slack cookie": ("slack-token", f"xoxd-{letters(20)}%2B{letters(8)}%3D"),
    "slack app": ("slack-token", f"xapp-1-A0123ABCD-4567890123456-{HEX[:64]}"),
    "slack shortest": ("slack-token", "xoxb-abcdefgh"),
    "github classic": ("github-token", f"ghp_{letters(36)}"),
    "github oauth": ("github-token", f"gho_{letters(20)}"),
    "github user": ("github-token", f"ghu_{letters(36)}"),
    "github server": ("github-token", f"ghs_{letters(36)}"),
    "github refresh": ("github-token", f"ghr_{letters(76)}"),
    "github fine-grained": ("github-token", f"github_pat_{letters(22)}_{letters(59)}"),
    "gitlab": ("gitlab-token", f"glpat-{letters(20)}"),
    "gitlab routable": ("gitlab-token", f"glpat-{letters(27)}.01.{letters(9)}"),
    "gitlab runner": ("gitlab-token", f"glrt-{letters(20)}"),
    "anthropic": ("anthropic-key", f"sk-ant-api03-{letters(93)}-{letters(6)}AA"),
    "openai": ("openai-key", f"sk-{letters(48)}"),
    "openai project": ("openai-key", f"sk-proj-{letters(40)}_{letters(30)}"),
    "openai service": ("openai-key", f"sk-svcacct-{letters(40)}"),
    "openai shortest": ("openai-key", "sk-abcdefghijklmnop"),
    "aws": ("aws-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    "aws temporary": ("aws-key", "ASIA" + "IOSFODNN7EXAMPLE"),
    "aws with its secret": ("aws-key", "AKIA" + "IOSFODNN7EXAMPLE, wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12"),
    "google": ("google-key", f"AIza{letters(35)}"),
    "google oauth": ("google-key", f"ya29.{letters(60)}"),
    "google client": ("google-key", f"GOCSPX-{letters(28)}"),
    "azure client": ("azure-key", f"abc8Q~{letters(34)}"),
    "azure devops": ("azure-key", f"{letters(76)}AZDO1234"),
    "azure storage": ("azure-key", f"{letters(76)}+ASt{letters(6)}=="),
    "stripe live": ("stripe-key", f"sk_live_{letters(24)}"),
    "stripe test": ("stripe-key", f"sk_test_{letters(24)}"),
    "stripe restricted": ("stripe-key", f"rk_live_{letters(24)}"),
    "stripe publishable": ("stripe-key", f"pk_live_{letters(24)}"),
    "stripe webhook": ("stripe-key", f"whsec_{letters(32)}"),
    "npm": ("npm-token", f"npm_{letters(36)}"),
    "pypi": ("pypi-token", f"pypi-AgEIcHlwaS5vcmc{letters(100)}"),
    "sendgrid": ("api-key", f"SG.{letters(22)}.{letters(43)}"),
    "twilio": ("api-key", f"SK{HEX[:32]}"),
    "databricks": ("api-key", f"dapi{HEX[:32]}"),
    "hugging face": ("api-key", f"hf_{letters(34)}"),
    "shopify": ("api-key", f"shpat_{HEX[:32]}"),
    "linear": ("api-key", f"lin_api_{letters(40)}"),
    "grafana": ("api-key", f"glsa_{letters(32)}_1a2b3c4d"),
    "vault": ("api-key", f"hvs.{letters(24)}"),
    "age": ("api-key", f"AGE-SECRET-KEY-1{'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L' * 2}"),
    "telegram": ("api-key", f"1234567890:AA{letters(33)}"),
    "web token": ("web-token", f"{HEADER}.{CLAIMS}.{SIGNATURE}"),
    "web token with spaces": ("web-token", f"{SPACED_HEADER}.{CLAIMS}.{SIGNATURE}"),
    "web token cut off": ("web-token", f"{HEADER}.{CLAIMS}"),
    "encrypted web token": ("web-token", f"{HEADER}.{letters(20)}.{letters(16)}.{letters(40)}.{letters(22)}"),
    "detached web token": ("web-token", f"{HEADER}..{SIGNATURE}"),
    "visa": ("card-number", "4111 1111 1111 1111"),
    "visa in one": ("card-number", "4012888888881881"),
    "visa of 13": ("card-number", "4222222222222"),
    "visa of 19": ("card-number", "4000 0000 0000 0000 006"),
    "mastercard": ("card-number", "5555-5555-5555-4444"),
    "mastercard of the second range": ("card-number", "2223003122003222"),
    "american express": ("card-number", "3782 822463 10005"),
    "american express in one": ("card-number", "371449635398431"),
    "diners": ("card-number", "3056 930902 5904"),
    "discover": ("card-number", "6011.0009.9013.9424"),
    "jcb": ("card-number", "3530\u00a01113\u00a03330\u00a00000"),
    "unionpay": ("card-number", "6200000000000005"),
    "maestro": ("card-number", "6759649826438453"),
}
dumps = partial(json.dumps, ensure_ascii=False)
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "alone": str,
    "in a sentence": "I pasted {} by accident, sorry.".format,
    "ends a sentence": "The one we use is {}.".format,
    "in double quotes": 'use "{}" here'.format,
    "in single quotes": "use '{}' here".format,
    "in a code span": "use `{}` here".format,
    "in a code fence": "look:\n```\n{}\n```\nthat was it".format,
    "in parentheses": "the old one ({}) is gone".format,
    "in JSON": lambda secret: dumps({"text": f"it is {secret}", "n": 1}),
    "in JSON in JSON": lambda secret: dumps({"body": dumps({"text": secret})}),
    "after an escaped line end": lambda secret: dumps(f"it is:\n{secret}\nas I said"),
    "in an address": "https://example.com/cb?next={}&y=2".format,
    "in Slack's link": lambda secret: f"<https://example.com/?q={secret}|https://example.com/?q={secret}>",
    "behind Slack's escape": "https://example.com/?a=1&amp;q={}&amp;b=2".format,
    "percent-encoded": "a%3D{}%26b%3D2".format,
    "quoted mail": "> {}\n> thanks".format,
    "in colours": "\x1b[32m{}\x1b[0m done".format,
    "in a table": "| name | {} | x |".format,
    "in brackets of a log": "[{}] refused".format,
    "between Chinese": "密钥是{}请删除".format,
}


def without_colours(text: str) -> str:
    return text.replace("\x1b[32m", "").replace("\x1b[0m", "")


def is_gone(secret: str, text: str) -> bool:
    """No eight characters of it in a row are left."""
    return all(secret[at : at + 8] not in text for at in range(max(1, len(secret) - 7)))


@pytest.mark.parametrize("name", BY_THEMSELVES)
def test_what_is_a_secret_by_itself_goes_from_any_wrapping(name: str) -> None:
    kind, secret = BY_THEMSELVES[name]
    for wrapping, wrap in WRAPPINGS.items():
        after = redact(wrap(secret))
        assert is_gone(secret, after), (wrapping, after)
        assert after == without_colours(wrap(f"«{kind}»")), wrapping
        assert redact(after) == after, wrapping


@pytest.mark.parametrize(
    "header",
    [
        b'{"typ":"JWT"}',
        b'{"alg" broken',
        b'{"a":' + b"[" * 9_000,
        b'{"alg":"' + b"a" * 20_000 + b'"}',
        b"{\xff\xff\xff\xff\xff\xff}",
    ],
)
def test_three_parts_whose_first_names_no_algorithm_are_no_web_token(header: bytes) -> None:
    text = f"{urlsafe_b64encode(header).decode().rstrip('=')}.{CLAIMS}.{SIGNATURE}"
    assert redact(text) == text


def test_a_web_token_behind_other_names_goes() -> None:
    assert redact(f"excellent1.{HEADER}.{CLAIMS}.{SIGNATURE}") == "excellent1.«web-token»"
    assert redact(f"unsigned {SPACED_HEADER}.{CLAIMS}.") == "unsigned «web-token»."


def test_a_card_number_goes_from_between_other_numbers() -> None:
    assert redact("1001 4111 1111 1111 1111 2024") == "1001 «card-number» 2024"


def test_what_is_far_from_a_mark_is_not_looked_at_twice() -> None:
    text = "password=hunter2 " + "word " * 500 + "password=hunter2"
    assert redact(text) == text.replace("hunter2", "«password»")

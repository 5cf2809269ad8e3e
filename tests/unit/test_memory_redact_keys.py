"""Private keys in every wrapping, whole, cut off, or only begun."""

import json
from base64 import b64encode
from collections.abc import Callable

import pytest

from memory.redact import redact

LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB"
LAST = "wF3x1dAoGBAKq2"
BODY = [LINE, LINE[::-1], LINE.swapcase(), LAST]
NAMES = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]


def pem(name: str = "PRIVATE KEY", body: list[str] = BODY) -> str:
    return "\n".join([f"-----BEGIN {name}-----", *body, f"-----END {name}-----"])


def with_bytes_before(count: int, text: str) -> str:
    return b64encode(b"{\n "[:count] + text.encode()).decode()


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "on lines": str,
    "with carriage returns": lambda key: key.replace("\n", "\r\n"),
    "in JSON": json.dumps,
    "in JSON in JSON": lambda key: json.dumps(json.dumps({"key": key})),
    "in the environment": lambda key: f'KEY="{key}"'.replace("\n", "\\n"),
    "indented": lambda key: "key: |\n" + "\n".join(f"    {line}" for line in key.splitlines()),
    "quoted": lambda key: "\n".join(f"> {line}" for line in key.splitlines()),
    "quoted by Slack": lambda key: "\n".join(f"&gt; {line}" for line in key.splitlines()),
    "in a changed file": lambda key: "\n".join(f"+{line}" for line in key.splitlines()),
    "in code": lambda key: " +\n".join(f'"{line}\\n"' for line in key.splitlines()),
    "in a code fence": "```\n{}\n```".format,
    "on one line": lambda key: key.replace("\n", " "),
    "in an address": lambda key: key.replace("\n", "%0A").replace(" ", "%20").replace("+", "%2B"),
    "in HTML": lambda key: key.replace("\n", "<br>"),
    "in base64": lambda key: b64encode(key.encode()).decode(),
    "in base64 after a byte": lambda key: with_bytes_before(1, key),
    "in base64 after two bytes": lambda key: with_bytes_before(2, key),
    "in base64 after three bytes": lambda key: with_bytes_before(3, key),
    "in base64 on lines": lambda key: "\n".join(chunked(b64encode(key.encode()).decode(), 76)),
    "in base64, quoted": lambda key: "\n".join(f"> {line}" for line in chunked(b64encode(key.encode()).decode(), 64)),
}


def chunked(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def is_gone(secret: str, text: str) -> bool:
    return all(secret[at : at + 12] not in text for at in range(max(1, len(secret) - 11)))


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("name", NAMES)
def test_a_private_key_goes_from_any_wrapping(name: str, wrapping: str) -> None:
    wrapped = WRAPPINGS[wrapping](pem(name))
    after = redact(f"before\n{wrapped}\nafter")
    assert "«private-key»" in after
    for line in [*BODY, *(each for each in wrapped.splitlines() if "base64" in wrapping)]:
        assert is_gone(line, after), after
    assert after.startswith("before\n")
    assert after.endswith("\nafter")
    assert redact(after) == after


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("share", [0.35, 0.5, 0.75, 0.9])
def test_a_key_that_was_cut_goes_as_far_as_it_came(share: float, wrapping: str) -> None:
    whole = WRAPPINGS[wrapping](pem())
    wrapped = whole[: int(len(whole) * share)]
    after = redact(f"before\n{wrapped}")
    assert "«private-key»" in after
    for line in [*BODY, *(each for each in wrapped.splitlines() if "base64" in wrapping)]:
        assert is_gone(line, after), after
    assert after.startswith("before\n")
    assert len(after) < 80
    assert redact(after) == after


def test_a_first_line_alone_goes_and_the_sentence_stays() -> None:
    before = "The file must begin with -----BEGIN RSA PRIVATE KEY----- and nothing above it, please."
    assert redact(before) == "The file must begin with «private-key» and nothing above it, please."


def test_what_follows_a_key_without_its_last_line_stays() -> None:
    cut = "\n".join(pem().splitlines()[:-2])
    assert redact(f"{cut}\n\nThat was all I had.") == "«private-key»\n\nThat was all I had."


def test_each_of_several_keys_goes() -> None:
    cut = "\n".join(pem().splitlines()[:2])
    assert (
        redact(f"{cut}\n{pem()}\nand\n{pem('EC PRIVATE KEY')}\nend")
        == "«private-key»\n«private-key»\nand\n«private-key»\nend"
    )


def test_a_last_line_far_away_ends_no_key() -> None:
    talk = "Nothing secret here. " * 5_000
    assert redact(f"-----BEGIN PRIVATE KEY-----\n{talk}-----END PRIVATE KEY-----").startswith("«private-key»\nNothing")


def test_a_last_line_that_is_broken_ends_a_key_all_the_same() -> None:
    assert redact(f"-----BEGIN PRIVATE KEY-----\n{LINE}\n-----END\nafter") == "«private-key»\nafter"


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n"
        + LINE
        + "\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n" + LINE,
        '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "x"\n'
        + LINE
        + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        "-----BEGIN OpenVPN Static key V1-----\n" + "0123456789abcdef" * 2 + "\n-----END OpenVPN Static key V1-----",
    ],
)
def test_keys_of_other_programs_go(text: str) -> None:
    assert redact(text) == "«private-key»"


def test_the_private_lines_of_putty_go() -> None:
    text = (
        f"PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 2\n{LINE}\n{LINE}\nPrivate-MAC: 1"
    )
    assert redact(text) == ("PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\nAAAA\n«private-key»\nPrivate-MAC: 1")


def test_the_private_members_of_a_json_web_key_go() -> None:
    key = json.dumps({"kty": "EC", "crv": "P-256", "x": LINE, "d": LINE[:43]})
    assert redact(key) == key.replace(f'"d": "{LINE[:43]}"', '"d": "«private-key»"')
    assert LINE[:43] not in redact(json.dumps({"jwk": key})).replace(LINE, "")


@pytest.mark.parametrize(
    "text",
    [
        pem("CERTIFICATE"),
        pem("PUBLIC KEY"),
        pem("CERTIFICATE REQUEST"),
        b64encode(pem("CERTIFICATE").encode()).decode(),
        "BEGIN reading here, then END.",
        "LS0t is how a line of dashes begins in base64.",
        f"ssh-ed25519 {LINE} ada@example.com",
        '{"kty": "RSA", "n": "' + LINE + '", "e": "AQAB"}',
        "Private-Lines: are counted",
    ],
)
def test_what_is_public_stays(text: str) -> None:
    assert redact(text) == text

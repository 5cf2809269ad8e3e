"""What the name of a value says about it: that it is a secret, that it may be one, or nothing."""

import re
from dataclasses import dataclass

from memory.secret_marks import Kind


@dataclass(frozen=True, slots=True)
class Naming:
    """``is_sure``: any value of that name is a secret; otherwise only one that looks random."""

    kind: Kind
    is_sure: bool


_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SURE = re.compile(
    r"\w*(?:password|passwort|kennwort|passwd|passphrase|passcode|secret|token|apikey|accesskey|secretkey|privatekey"
    r"|authkey)|\w{0,8}pwd|pw|credentials?|sessionid|cookie"
)
_MAYBE = frozenset({"key", "auth", "session", "pass", "pat"})
_OWNERS_OF_KEYS_WORDS = """
access account admin aes anthropic api app auth client deploy encryption hmac host jwt license master openai pgp
private root secret service shared sharedaccess signing ssh storage stripe subscription write
"""
_OWNERS_OF_KEYS = frozenset(_OWNERS_OF_KEYS_WORDS.split())
"""Whose key opens something."""
_INDEXES_WORDS = """
arrow cache column composite dedup dedupe dict event foreign group hash hot idempotency index issue join lookup map
message metric natural object order partition primary project public publishable range routing row shard shift short
site sort thread translation unique
"""
_INDEXES = frozenset(_INDEXES_WORDS.split())
"""Keys that only find or order something."""
_ABOUT_WORDS = """
age alg algorithm at bits class column count days duration enabled endpoint expiration expires expiry field file
format hint host in issuer len length level lifetime limit location max method min mode name names path policy port
prefix provider refresh region required rotation scope scopes size source state status store suffix timeout ttl type
uri url usage version
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
"""A name that ends so tells something about a secret and is none."""
_FAILURES_WORDS = """
denied err error errors expired failed failure failures invalid mismatch missing refused unset
"""
_FAILURES = frozenset(_FAILURES_WORDS.split())


def parts_of(name: str) -> list[str]:
    """The lower-case words of a name: API_KEY, apiKey and api-key have the same two."""
    return [part.lower() for part in _PART.findall(name)]


def is_secret_word(word: str) -> bool:
    return word in _MAYBE or _SURE.fullmatch(word) is not None


def tells_of_failure(name: str) -> bool:
    """Whether what ``name`` holds is no secret but what went wrong with one."""
    return not _FAILURES.isdisjoint(parts_of(name))


def named_by(name: str, word_before: str) -> Naming | None:
    """What ``name`` says; ``word_before`` stands before it, with a space between."""
    parts = parts_of(name)
    secrets = [part for part in parts if is_secret_word(part)]
    if not secrets or tells_of_failure(name):
        return None
    sure = [part for part in secrets if _SURE.fullmatch(part)] or _sure_together(parts, word_before.lower(), name)
    if not sure and not _INDEXES.isdisjoint(parts):
        return None
    return Naming(_kind([*sure, *secrets][0]), bool(sure) and parts[-1] not in _ABOUT)


def _sure_together(parts: list[str], word_before: str, name: str) -> list[str]:
    """What says it only in company: the key of an account, the id of a session, a variable of the environment."""
    is_key = "key" in parts and not _OWNERS_OF_KEYS.isdisjoint([*parts, word_before])
    is_id = "session" in parts and "id" in parts
    is_in_environment = name.isupper() and "_" in name and _INDEXES.isdisjoint(parts)
    return [part for part in parts if part in _MAYBE] if is_key or is_id or is_in_environment else []


def _kind(word: str) -> Kind:
    if word.startswith(("pass", "kennwort", "pw")) or word.endswith(("password", "passwort", "passwd", "pwd")):
        return "password"
    for kind in ("token", "cookie", "session"):
        if kind in word:
            return kind
    return "key" if "key" in word else "secret"

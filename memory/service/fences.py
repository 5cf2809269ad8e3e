"""What stands before a body is looked at: who may ask, and how much may be sent (specification, section 16)."""

import hmac
import re
from collections.abc import Mapping

from memory.service.wire import KEY_HEADER, MOST_BODY_BYTES

_DIGITS = re.compile(rb"[0-9]+")
_SCHEME = b"Bearer "
_KEY_NAME = KEY_HEADER.lower().encode()
_KEY = re.compile(rb"[!-~]{1,200}")
_TRACE = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")

Headers = Mapping[bytes, bytes]
"""By lower-case name."""


class RefusedError(Exception):
    """The request is not carried out; ``reason`` is for whoever sent it and holds nothing of what they sent."""

    def __init__(self, status: int, reason: str, *, is_damage: bool = False) -> None:
        """``is_damage``: no other try would do better."""
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.is_damage = is_damage


class Bearer:
    """The one secret. An empty one grants nothing."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    def require(self, headers: Headers) -> None:
        """Raises ``RefusedError`` (401). The comparison takes as long for a wrong secret as for the right one."""
        given = headers.get(b"authorization", b"")
        is_scheme = given.startswith(_SCHEME)
        is_right = hmac.compare_digest(given[len(_SCHEME) :], self._token)
        if not (self._token and is_scheme and is_right):
            raise RefusedError(401, "unauthorized")


def declared_length(headers: Headers) -> int:
    """How long the body is. Raises ``RefusedError``: 411 unless it says so in digits, 413 when that is too long."""
    given = headers.get(b"content-length", b"").strip(b" \t")
    if b"transfer-encoding" in headers or _DIGITS.fullmatch(given) is None:
        raise RefusedError(411, "a numeric Content-Length is required")
    # More digits than that would take long to read, and are too many anyway.
    length = int(given) if len(given) <= len(str(MOST_BODY_BYTES)) else _length_of_many(given)
    if length > MOST_BODY_BYTES:
        raise RefusedError(413, f"the body may have at most {MOST_BODY_BYTES} bytes")
    return length


def _length_of_many(digits: bytes) -> int:
    significant = digits.lstrip(b"0")
    return int(significant or b"0") if len(significant) <= len(str(MOST_BODY_BYTES)) else MOST_BODY_BYTES + 1


def has_body(headers: Headers) -> bool:
    """Whether anything follows the head."""
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0").strip(b" \t0") != b""


def idempotency_key(headers: Headers) -> str | None:
    """Raises ``RefusedError`` (400) for one that is none."""
    given = headers.get(_KEY_NAME)
    if given is None:
        return None
    if _KEY.fullmatch(given) is None:
        raise RefusedError(400, f"{KEY_HEADER} must have 1 to 200 visible ASCII characters")
    return given.decode("ascii")


def trace_id(headers: Headers) -> str | None:
    """The trace a request belongs to (W3C Trace Context); ``None`` for a header that is none."""
    given = headers.get(b"traceparent")
    found = None if given is None else _TRACE.fullmatch(given)
    return None if found is None else found[1].decode("ascii")

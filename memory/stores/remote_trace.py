"""Which trace a request belongs to (W3C Trace Context), so that the service's log can be laid beside the bot's."""

import re
import secrets
from hashlib import blake2b

import structlog

_SHORT_HEX = re.compile(r"[0-9a-f]{8}")


def traceparent() -> str:
    """A new span in the trace of the turn whose reference the log lines of this task carry, else in one of its own."""
    reference = structlog.contextvars.get_contextvars().get("reference")
    trace = trace_id(reference) if isinstance(reference, str) and reference else secrets.token_hex(16)
    return f"00-{trace}-{secrets.token_hex(8)}-01"


def trace_id(reference: str) -> str:
    """32 digits that depend on the reference alone, and end in it where it is the usual eight: it is found by grep."""
    if _SHORT_HEX.fullmatch(reference):
        return blake2b(reference.encode(), digest_size=12).hexdigest() + reference
    return blake2b(reference.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""Slack's request signature, version 0 (Slack's documentation, "Verifying requests from Slack")."""

import hashlib
import hmac


def signature(signing_secret: str, timestamp: str, body: str) -> str:
    """The value of ``X-Slack-Signature`` for a request sent at ``timestamp`` (seconds since the epoch)."""
    signed = f"v0:{timestamp}:{body}".encode()
    return "v0=" + hmac.new(signing_secret.encode(), signed, hashlib.sha256).hexdigest()

"""What an answer of Slack's Web API means for the one who called."""

from enum import StrEnum


class Refusal(StrEnum):
    """A call was definitely not carried out, and this is what can be done."""

    RATE_LIMITED = "rate_limited"
    """The same call later."""
    NOT_STREAMING = "not_streaming"
    """The message is an ordinary one by now: rewrite it."""
    STILL_STREAMING = "still_streaming"
    """Stop the stream first."""
    STOPPED_BY_USER = "stopped_by_user"
    """A person ended the answer: nothing more is wanted."""
    OTHER = "other"
    """Another way must be found."""


_BY_ERROR = {
    "ratelimited": Refusal.RATE_LIMITED,
    "rate_limited": Refusal.RATE_LIMITED,
    "message_not_in_streaming_state": Refusal.NOT_STREAMING,
    "streaming_state_conflict": Refusal.STILL_STREAMING,
    "stopped_by_user": Refusal.STOPPED_BY_USER,
}

_SERVER_FAULTS = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})
"""Errors with which Slack says that it failed half-way: its documentation warns that the call may have worked."""


def refusal_of(error: str) -> Refusal | None:
    """``None`` when the error name leaves open whether the call was carried out."""
    if error in _SERVER_FAULTS:
        return None
    return _BY_ERROR.get(error, Refusal.OTHER)

"""The one way Slack's side says no: an error name out of Slack's documentation."""

from app.playground.model import Json


class SlackRefusal(Exception):  # noqa: N818 - a refusal is an answer of the API, not a fault of the program
    """``{"ok": false, "error": <error>, **details}`` once it reaches the Web API."""

    def __init__(self, error: str, details: Json | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.details: Json = details or {}

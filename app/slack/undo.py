"""The line that says what was remembered, with its buttons, and what a click on them does."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, cast

import structlog
from pydantic import BaseModel, Field, ValidationError
from slack_bolt.async_app import AsyncApp

UNDO, DISMISS = "memory_undo", "memory_dismiss"
CLICK_MALFORMED = "click_malformed"

_log = structlog.stdlib.get_logger(__name__)

Json = Mapping[str, Any]


class TakesBack(Protocol):
    """``app.dispatch.notices.Notices``."""

    async def take_back(self, token: str, user_id: str) -> str: ...


class _Person(BaseModel):
    id: str


class _Action(BaseModel):
    value: str = ""


class _Click(BaseModel):
    user: _Person
    actions: list[_Action] = Field(min_length=1)


def notice_blocks(text: str, token: str) -> Sequence[Json]:
    """``token`` is opaque: nothing in the message says what it stands for."""
    return [
        {"type": "context", "elements": [{"type": "mrkdwn", "text": text}]},
        {
            "type": "actions",
            "elements": [
                {"type": "button", "action_id": UNDO, "value": token, "text": _plain("Undo")},
                {"type": "button", "action_id": DISMISS, "text": _plain("Dismiss")},
            ],
        },
    ]


class Undo:
    """The buttons of one workspace."""

    def __init__(self, notices: TakesBack) -> None:
        self._notices = notices

    def register(self, bolt: AsyncApp) -> None:
        app = cast("Any", bolt)  # Bolt's decorators are only partly typed
        app.action(UNDO)(self.undo)
        app.action(DISMISS)(self.dismiss)

    async def undo(self, ack: Callable[[], Awaitable[Any]], body: Json, respond: Callable[..., Awaitable[Any]]) -> None:
        """Who clicked is taken from Slack's own word, never from the button."""
        await ack()
        try:
            click = _Click.model_validate(body)
        except ValidationError:
            _log.warning(CLICK_MALFORMED)
            return
        said = await self._notices.take_back(click.actions[0].value, f"slack:{click.user.id}")
        await respond(text=said, replace_original=True)

    async def dismiss(self, ack: Callable[[], Awaitable[Any]], respond: Callable[..., Awaitable[Any]]) -> None:
        await ack()
        await respond(delete_original=True)


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}

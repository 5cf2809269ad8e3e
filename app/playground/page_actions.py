"""Everything a person can do on the page, as one union told apart by ``type``."""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field, TypeAdapter

from app.playground.page_actions_apps import (
    Click,
    ClickInView,
    CloseView,
    MessageShortcut,
    OpenHome,
    Shortcut,
    Slash,
    Stop,
    SubmitView,
)
from app.playground.page_actions_talk import (
    CreateChannel,
    Delete,
    Edit,
    Invite,
    MarkRead,
    Membership,
    OpenDm,
    React,
    Say,
    Upload,
)

Action = Annotated[
    Say
    | Edit
    | Delete
    | React
    | Membership
    | Invite
    | CreateChannel
    | Upload
    | OpenDm
    | OpenHome
    | Click
    | ClickInView
    | SubmitView
    | CloseView
    | Slash
    | Shortcut
    | MessageShortcut
    | Stop
    | MarkRead,
    Field(discriminator="type"),
]

parse_action: Callable[[bytes], Action] = TypeAdapter[Action](Action).validate_json
"""Raises ``pydantic.ValidationError``."""

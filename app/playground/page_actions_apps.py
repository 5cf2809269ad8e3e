"""Actions towards apps: clicks, modals, commands, shortcuts, the Home tab, Stop."""

from typing import Literal

from pydantic import Field

from app.playground.model import Json
from app.playground.page_acting import BaseAction, OnMessage, Stage


class OpenHome(BaseAction):
    type: Literal["open_home"]
    app_id: str | None = None
    tab: Literal["home", "messages", "about"] = "home"

    async def run(self, stage: Stage) -> Json:
        stage.people.open_home(self.user, self.app_id, self.tab)
        return {}


class Click(OnMessage):
    type: Literal["click"]
    action_id: str
    block_id: str | None = None
    value: str | None = None
    selected: str | list[str] | None = None

    async def run(self, stage: Stage) -> Json:
        await stage.people.click(
            self.user,
            self.channel,
            self.ts,
            self.action_id,
            value=self.value,
            block_id=self.block_id,
            selected=self.selected,
        )
        return {}


class ClickInView(BaseAction):
    type: Literal["click_in_view"]
    view_id: str
    action_id: str
    block_id: str | None = None
    value: str | None = None
    selected: str | list[str] | None = None

    async def run(self, stage: Stage) -> Json:
        await stage.people.click_in_view(
            self.user,
            self.view_id,
            self.action_id,
            value=self.value,
            block_id=self.block_id,
            selected=self.selected,
        )
        return {}


class SubmitView(BaseAction):
    type: Literal["submit_view"]
    view_id: str
    values: dict[str, dict[str, str | list[str] | None]] = Field(default_factory=dict)
    """block_id → action_id → what was entered."""

    async def run(self, stage: Stage) -> Json:
        entered = {
            block: {action: value for action, value in actions.items() if value is not None}
            for block, actions in self.values.items()
        }
        return {"errors": await stage.people.submit_view(self.user, self.view_id, entered)}


class CloseView(BaseAction):
    type: Literal["close_view"]
    view_id: str

    async def run(self, stage: Stage) -> Json:
        await stage.people.close_view(self.user, self.view_id)
        return {}


class Slash(BaseAction):
    type: Literal["slash"]
    channel: str
    command: str = Field(pattern=r"^/\S+$")
    text: str = ""

    async def run(self, stage: Stage) -> Json:
        await stage.people.slash(self.user, self.channel, self.command, self.text)
        return {}


class Shortcut(BaseAction):
    type: Literal["shortcut"]
    callback_id: str

    async def run(self, stage: Stage) -> Json:
        await stage.people.shortcut(self.user, self.callback_id)
        return {}


class MessageShortcut(OnMessage):
    type: Literal["message_shortcut"]
    callback_id: str

    async def run(self, stage: Stage) -> Json:
        await stage.people.message_shortcut(self.user, self.channel, self.ts, self.callback_id)
        return {}


class Stop(BaseAction):
    type: Literal["stop"]
    channel: str
    thread_ts: str

    async def run(self, stage: Stage) -> Json:
        stage.people.stop(self.user, self.channel, self.thread_ts)
        return {}

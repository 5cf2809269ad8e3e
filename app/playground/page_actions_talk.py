"""Actions among people: messages, reactions, files, channels, reading."""

import base64
import binascii
from typing import Literal

from pydantic import Field, field_validator

from app.playground.model import Json
from app.playground.page_acting import BaseAction, OnMessage, Stage


class Say(BaseAction):
    type: Literal["say"]
    channel: str
    text: str = Field(max_length=40_000)
    thread_ts: str | None = None
    files: tuple[str, ...] = ()
    broadcast: bool = False

    async def run(self, stage: Stage) -> Json:
        message = stage.people.say(
            self.user,
            self.channel,
            self.text,
            thread_ts=self.thread_ts,
            files=self.files,
            broadcast=self.broadcast,
        )
        return {"ts": message.ts}


class Edit(OnMessage):
    type: Literal["edit"]
    text: str = Field(max_length=40_000)

    async def run(self, stage: Stage) -> Json:
        stage.people.edit(self.user, self.channel, self.ts, self.text)
        return {}


class Delete(OnMessage):
    type: Literal["delete"]

    async def run(self, stage: Stage) -> Json:
        stage.people.delete(self.user, self.channel, self.ts)
        return {}


class React(OnMessage):
    type: Literal["react", "unreact"]
    name: str

    async def run(self, stage: Stage) -> Json:
        act = stage.people.react if self.type == "react" else stage.people.unreact
        act(self.user, self.channel, self.ts, self.name)
        return {}


class Membership(BaseAction):
    type: Literal["join", "leave"]
    channel: str

    async def run(self, stage: Stage) -> Json:
        act = stage.people.join if self.type == "join" else stage.people.leave
        act(self.user, self.channel)
        return {}


class Invite(BaseAction):
    type: Literal["invite"]
    channel: str
    invited: str

    async def run(self, stage: Stage) -> Json:
        stage.people.invite(self.user, self.channel, self.invited)
        return {}


class CreateChannel(BaseAction):
    type: Literal["create_channel"]
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$")
    private: bool = False

    async def run(self, stage: Stage) -> Json:
        return {"channel": stage.people.create_channel(self.user, self.name, private=self.private).id}


class Upload(BaseAction):
    type: Literal["upload"]
    name: str = Field(min_length=1, max_length=255)
    content_base64: str = Field(min_length=1)

    @field_validator("content_base64")
    @classmethod
    def _is_base64(cls, text: str) -> str:
        try:
            base64.b64decode(text, validate=True)
        except binascii.Error as exc:
            raise ValueError("is not base64") from exc
        return text

    async def run(self, stage: Stage) -> Json:
        file = stage.people.upload(self.user, self.name, base64.b64decode(self.content_base64))
        return {"file": file.id}


class OpenDm(BaseAction):
    type: Literal["open_dm"]
    others: list[str] = Field(min_length=1, max_length=8)

    async def run(self, stage: Stage) -> Json:
        first, *more = self.others
        return {"channel": stage.people.open_dm(self.user, first, *more).id}


class MarkRead(OnMessage):
    type: Literal["mark_read"]

    async def run(self, stage: Stage) -> Json:
        stage.state.mark_read(self.user, self.channel, self.ts)
        return {}

"""What a person does with an app's buttons, modals, commands and shortcuts, and what the app's answer brings about."""

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from app.playground.delivery.envelope import EnvelopeKind
from app.playground.delivery.ephemerals import Ephemerals
from app.playground.delivery.payloads import Clicked, Payloads
from app.playground.delivery.response_urls import Occasion, ResponseUrls
from app.playground.elements import ElementPick, Entered, find, missing, state_values, used
from app.playground.message_objects import with_block_ids
from app.playground.modals import close_modal, find_view, push_modal, update_modal
from app.playground.model import Json, Message, SlackApp, View
from app.playground.origin import Origin
from app.playground.refusal import SlackRefusal
from app.playground.workspace import Workspace

Ask = Callable[[SlackApp, EnvelopeKind, Json], Awaitable[Json]]
"""Sends one payload and gives the app's answer; refuses ``operation_timeout`` and ``dispatch_failed``."""


class Interactions:
    """Each call returns when the app has acknowledged."""

    def __init__(self, workspace: Workspace, origin: Origin, ask: Ask) -> None:
        self._workspace = workspace
        self._origin = origin
        self._ask = ask
        self._ephemerals = Ephemerals(workspace)
        self.response_urls = ResponseUrls(workspace, origin, self._ephemerals)
        self._entered: dict[tuple[str, str], Json] = {}

    def close(self) -> None:
        self._ephemerals.close()

    async def click(self, user: str, channel: str, ts: str, pick: ElementPick, entered: Entered) -> None:
        clicked = self._clicked(user, channel, ts)
        placed = find(clicked.blocks, pick)
        app = self._app(clicked.app_id)
        action = used(placed, pick, entered, self._workspace.next_ts())
        entered_here = self._entered.setdefault((channel, ts), {})
        _enter(entered_here, placed.block_id, action)
        values = state_values(clicked.blocks, entered_here)
        occasion = Occasion(app, user, channel, clicked.thread_ts, ts)
        response_url = self.response_urls.issue(occasion)
        payload = self._payloads(app, user).message_click(clicked, action, values, response_url)
        await self._ask(app, EnvelopeKind.INTERACTIVE, payload)

    async def click_in_view(self, user: str, view_id: str, pick: ElementPick, entered: Entered) -> None:
        view = self._view(user, view_id)
        blocks: list[Json] = view.payload.get("blocks", [])
        placed = find(blocks, pick)
        action = used(placed, pick, entered, self._workspace.next_ts())
        _enter(view.state, placed.block_id, action)
        view.state = state_values(blocks, view.state)
        app = self._app(view.app_id)
        await self._ask(app, EnvelopeKind.INTERACTIVE, self._payloads(app, user).view_click(view, action))

    async def submit_view(self, user: str, view_id: str, values: Mapping[str, Mapping[str, object]]) -> Json | None:
        """The errors by block_id that keep the modal open, or ``None``; they may be Slack's own or the app's."""
        view = self._view(user, view_id)
        blocks: list[Json] = view.payload.get("blocks", [])
        given = {block_id: {**view.state.get(block_id, {}), **each} for block_id, each in values.items()}
        view.state = state_values(blocks, {**view.state, **given})
        errors = missing(blocks, view.state)
        if errors:
            return errors
        app = self._app(view.app_id)
        answer = await self._ask(app, EnvelopeKind.INTERACTIVE, self._payloads(app, user).view_submission(view))
        return self._follow(view, answer)

    def _follow(self, view: View, answer: Json) -> Json | None:
        """Do what the app's ``response_action`` says; no action closes the modal."""
        match answer.get("response_action"):
            case "errors":
                return cast("Json", answer["errors"])
            case "update":
                update_modal(self._workspace, view, answer["view"])
            case "push":
                push_modal(self._workspace, view.user, view.app_id, answer["view"])
            case action if view.id in self._workspace.views:
                close_modal(self._workspace, view.id, whole_stack=action == "clear")
            case _:
                pass
        return None

    async def close_view(self, user: str, view_id: str) -> None:
        view = self._view(user, view_id)
        close_modal(self._workspace, view_id)
        if view.payload.get("notify_on_close"):
            app = self._app(view.app_id)
            payload = self._payloads(app, user).view_closed(view, is_cleared=False)
            await self._ask(app, EnvelopeKind.INTERACTIVE, payload)

    async def slash(self, user: str, channel: str, command: str, text: str) -> None:
        """Refuses ``command_not_found`` for a command no app has."""
        app = next((app for app in self._workspace.apps.values() if command in app.commands), None)
        if app is None:
            raise SlackRefusal("command_not_found")
        occasion = Occasion(app, user, channel)
        payload = self._payloads(app, user).slash(channel, command, text, self.response_urls.issue(occasion))
        answer = await self._ask(app, EnvelopeKind.SLASH, payload)
        if answer.get("text") or answer.get("blocks") or answer.get("attachments"):
            self.response_urls.answer(occasion, answer)

    async def shortcut(self, user: str, callback_id: str, app_id: str | None = None) -> None:
        app = self._app(app_id or next(iter(self._workspace.apps)))
        payload = self._payloads(app, user).shortcut(callback_id, self._workspace.next_ts())
        await self._ask(app, EnvelopeKind.INTERACTIVE, payload)

    async def message_shortcut(self, user: str, message: Message, callback_id: str, app_id: str | None = None) -> None:
        app = self._app(app_id or next(iter(self._workspace.apps)))
        thread_ts = message.thread_ts
        occasion = Occasion(app, user, message.channel, thread_ts, message.ts)
        response_url = self.response_urls.issue(occasion)
        payload = self._payloads(app, user).message_shortcut(
            message, callback_id, response_url, self._workspace.next_ts()
        )
        await self._ask(app, EnvelopeKind.INTERACTIVE, payload)

    def _payloads(self, app: SlackApp, user: str) -> Payloads:
        return Payloads(self._workspace, self._origin, app, user)

    def _app(self, app_id: str | None) -> SlackApp:
        """Refuses ``action_not_found`` for what belongs to no app."""
        app = self._workspace.apps.get(app_id or "")
        if app is None:
            raise SlackRefusal("action_not_found")
        return app

    def _clicked(self, user: str, channel: str, ts: str) -> Clicked:
        shown = self._ephemerals.seen_by(user, channel, ts)
        if shown is not None:
            blocks = with_block_ids(shown.blocks, ts)
            return Clicked(channel, ts, blocks, shown.app_id, shown.thread_ts)
        message = self._workspace.message(channel, ts)
        blocks = with_block_ids(message.blocks, ts)
        return Clicked(channel, ts, blocks, message.app_id, message.thread_ts, message)

    def _view(self, user: str, view_id: str) -> View:
        view = find_view(self._workspace, view_id=view_id)
        if view is None or view.user != user:
            raise SlackRefusal("not_found")
        return view


def _enter(values: Json, block_id: str, action: Json) -> None:
    """Keep what was chosen as the element's state."""
    chosen = {name: value for name, value in action.items() if name.startswith("selected_") or name == "value"}
    values.setdefault(block_id, {})[action["action_id"]] = {"type": action["type"]} | chosen

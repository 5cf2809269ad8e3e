"""Delivery of what happens to the apps that subscribed to it, with acknowledgements watched and repeats."""

import asyncio
import itertools
import secrets
from typing import Self

from aiohttp import ClientSession, TCPConnector, web

from app.playground.delivery.envelope import (
    Acked,
    AckTimes,
    DeliveredEnvelope,
    DeliveryLog,
    EnvelopeKind,
    NotAcked,
    Outcome,
    Parcel,
    Wire,
)
from app.playground.delivery.gate import Gate
from app.playground.delivery.http_mode import HttpMode
from app.playground.delivery.interactions import Interactions
from app.playground.delivery.socket_mode import SocketMode
from app.playground.event_callback import Ear, event_callback
from app.playground.events import events_for
from app.playground.happenings import Happening
from app.playground.model import Json, SlackApp
from app.playground.origin import Origin
from app.playground.pulse import Pulse
from app.playground.refusal import SlackRefusal
from app.playground.workspace import Workspace


class Delivery:
    """Feeds every subscribed app, by signed HTTP when it has a request URL and by Socket Mode otherwise.

    An async context manager: deliveries still under way when it ends are given up.
    """

    def __init__(
        self, workspace: Workspace, origin: Origin, *, times: AckTimes | None = None, pulse: Pulse | None = None
    ) -> None:
        self._workspace = workspace
        self._origin = origin
        self._times = times or AckTimes()
        self.pulse = pulse or Pulse()
        self._log = DeliveryLog(self.pulse.beat, workspace.clock)
        self.sockets = SocketMode(origin, workspace.clock, self._log, self.pulse.beat)
        self.interactions = Interactions(workspace, origin, self.ask)
        self._gate = Gate(self._start)
        # Slack waits for no connection to become free.
        self._session = ClientSession(connector=TCPConnector(limit=0))
        self._http = HttpMode(self._session, self._log)
        self._under_way: set[asyncio.Task[None]] = set()
        self._failures: list[Exception] = []
        self._event_ids = f"Ev0{secrets.token_hex(4).upper()}"
        self._event_numbers = itertools.count(1)
        self._unsubscribe = workspace.subscribe(self._on_happening)

    @property
    def log(self) -> list[DeliveredEnvelope]:
        """Every attempt in the order it was sent."""
        return self._log.entries

    @property
    def under_way(self) -> int:
        """How many events wait for a connection, an acknowledgement or their next attempt."""
        return len(self._under_way)

    def routes(self) -> list[web.RouteDef]:
        return [*self.sockets.routes(), *self.interactions.response_urls.routes()]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give up what is under way; closing twice is harmless.

        Raises what a delivery itself failed with, if one did: that is a fault of the playground, not of an app.
        """
        self._unsubscribe()
        self.interactions.close()
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self.sockets.close()
        await self._session.close()
        failures, self._failures = self._failures, []
        if failures:
            raise ExceptionGroup("deliveries failed", failures)

    def send_event(self, event: Json, app_id: str | None = None) -> str:
        """Deliver an inner event as it is (``app_context_changed``, ``tokens_revoked``, …); its event_id."""
        apps = self._workspace.apps
        return self._send_event(event, apps[app_id] if app_id else next(iter(apps.values())))

    async def use_http(self, url: str, app_id: str | None = None) -> None:
        """Set an app's request URL; refuses ``url_verification_failed`` when it does not answer the challenge."""
        apps = self._workspace.apps
        app = apps[app_id] if app_id else next(iter(apps.values()))
        if not await self._http.challenge(app, url, secrets.token_urlsafe(24), self._times.timeout_s):
            raise SlackRefusal("url_verification_failed")
        app.request_url = url

    def duplicate_next(self, n: int = 1) -> None:
        """The next ``n`` events come twice, with the same event_id."""
        self._gate.double_next(n)

    def reorder_next(self, n: int) -> None:
        """The next ``n`` events are kept until they are complete and then come in reverse order."""
        self._gate.turn_next(n)

    def hold(self) -> None:
        """Keep every event back until ``release``."""
        self._gate.hold()

    def release(self) -> None:
        self._gate.release()

    def drop_sockets(self) -> None:
        """Cut every connection as a broken network does."""
        self.sockets.drop()

    async def refresh_sockets(self, reason: str = "refresh_requested") -> None:
        """Ask every client to reconnect, as Slack does now and then."""
        await self.sockets.refresh(reason)

    def connections(self, app_id: str | None = None) -> int:
        """How many Socket Mode connections an app has."""
        return len(self.sockets.lines(app_id or next(iter(self._workspace.apps))))

    async def ask(self, app: SlackApp, kind: EnvelopeKind, payload: Json) -> Json:
        """Send what a person did and give the app's answer; refuses ``operation_timeout``, ``dispatch_failed``."""
        outcome = await self._wire(app).send(Parcel(app, kind, payload), self._times.timeout_s)
        match outcome:
            case Acked(payload=answer):
                return answer
            case NotAcked(reason="timeout" | "http_timeout"):
                raise SlackRefusal("operation_timeout")
            case NotAcked():
                raise SlackRefusal("dispatch_failed")

    def _on_happening(self, happening: Happening) -> None:
        for app in self._workspace.apps.values():
            if app.events:
                ear = Ear(self._workspace, self._origin, app)
                for event in events_for(ear, happening, self._workspace.next_ts):
                    self._send_event(event, app)
        self.pulse.beat()

    def _send_event(self, event: Json, app: SlackApp) -> str:
        event_id = f"{self._event_ids}{next(self._event_numbers):05d}"
        ear = Ear(self._workspace, self._origin, app)
        payload = event_callback(ear, event, event_id, self._workspace.epoch_s())
        self._gate.offer(Parcel(app, EnvelopeKind.EVENT, payload, event_id))
        return event_id

    def _start(self, parcel: Parcel) -> None:
        task = asyncio.create_task(self._deliver(parcel))
        self._under_way.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        failure = None if task.cancelled() else task.exception()
        if isinstance(failure, Exception):
            self._failures.append(failure)

    async def _deliver(self, parcel: Parcel) -> None:
        outcome = await self._attempt(parcel)
        for wait_s in self._times.retry_after_s[parcel.attempt :]:
            if isinstance(outcome, Acked) or outcome.is_final:
                break
            await self._workspace.clock.sleep(wait_s)
            parcel = Parcel(
                parcel.app, parcel.kind, parcel.payload, parcel.event_id, parcel.attempt + 1, outcome.reason
            )
            outcome = await self._attempt(parcel)
        self.pulse.beat()

    async def _attempt(self, parcel: Parcel) -> Outcome:
        return await self._wire(parcel.app).send(parcel, self._times.timeout_s)

    def _wire(self, app: SlackApp) -> Wire:
        return self._http if app.request_url else self.sockets

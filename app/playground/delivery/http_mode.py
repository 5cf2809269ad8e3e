"""Signed HTTP: events and interactions posted to the app's request URL."""

import json
from typing import cast
from urllib.parse import urlencode

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from app.clock import SystemClock
from app.playground.delivery.envelope import Acked, DeliveryLog, EnvelopeKind, NotAcked, Outcome, Parcel
from app.playground.delivery.signing import signature
from app.playground.model import Json, SlackApp

_FORM = "application/x-www-form-urlencoded"
_REASONS = {reason: reason for reason in ("http_timeout", "http_error", "connection_failed")}
"""Why Slack posts again; Socket Mode's ``timeout`` is called ``http_timeout`` here."""
_OK_MIN, _OK_MAX = 200, 299


class HttpMode:
    """Posts the way Slack does; the receiving side is only ever the app under test."""

    def __init__(self, session: ClientSession, log: DeliveryLog) -> None:
        self._session = session
        self._log = log
        self._clock = SystemClock()

    async def send(self, parcel: Parcel, timeout_s: float) -> Outcome:
        entry = self._log.sent(parcel)
        body, content_type = _body(parcel)
        headers = self._headers(parcel.app, body, content_type)
        if parcel.attempt:
            headers |= {
                "X-Slack-Retry-Num": str(parcel.attempt),
                "X-Slack-Retry-Reason": _REASONS.get(parcel.reason or "", "http_timeout"),
            }
        try:
            outcome = await self._post(parcel.app, body, headers, timeout_s)
        except TimeoutError:
            return NotAcked("http_timeout")
        except ClientError:
            return NotAcked("connection_failed", is_unreachable=True)
        if isinstance(outcome, Acked):
            self._log.acked(entry, outcome.payload)
        return outcome

    async def challenge(self, app: SlackApp, url: str, challenge: str, timeout_s: float) -> bool:
        """Whether the address answers Slack's ``url_verification``."""
        body = json.dumps({"token": "", "challenge": challenge, "type": "url_verification"})
        headers = self._headers(app, body, "application/json")
        timeout = ClientTimeout(total=timeout_s)
        try:
            async with self._session.post(url, data=body, headers=headers, timeout=timeout) as response:
                return response.ok and challenge in await response.text()
        except (TimeoutError, ClientError):
            return False

    async def _post(self, app: SlackApp, body: str, headers: dict[str, str], timeout_s: float) -> Outcome:
        timeout = ClientTimeout(total=timeout_s)
        url = app.request_url or ""
        async with self._session.post(
            url, data=body, headers=headers, timeout=timeout, allow_redirects=False
        ) as response:
            text = await response.text()
        if not _OK_MIN <= response.status <= _OK_MAX:
            return NotAcked("http_error", is_final=response.headers.get("X-Slack-No-Retry") == "1")
        return Acked(_answer(response, text))

    def _headers(self, app: SlackApp, body: str, content_type: str) -> dict[str, str]:
        timestamp = str(int(self._clock.now().timestamp()))
        return {
            "Content-Type": content_type,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(app.signing_secret, timestamp, body),
        }


def _body(parcel: Parcel) -> tuple[str, str]:
    match parcel.kind:
        case EnvelopeKind.EVENT:
            return json.dumps(parcel.payload), "application/json"
        case EnvelopeKind.INTERACTIVE:
            return urlencode({"payload": json.dumps(parcel.payload)}), _FORM
        case EnvelopeKind.SLASH:
            return urlencode(parcel.payload), _FORM


def _answer(response: ClientResponse, text: str) -> Json:
    """JSON as it is; plain text as Socket Mode would carry it."""
    if not text:
        return {}
    if response.content_type == "application/json":
        try:
            answer = json.loads(text)
        except ValueError:
            return {}
        return cast("Json", answer) if isinstance(answer, dict) else {}
    return {"text": text}

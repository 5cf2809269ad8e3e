"""The HTTP side of the Web API: who calls, may they, how often, what goes wrong, and the answer."""

import asyncio
import secrets
from dataclasses import dataclass

from aiohttp import web

from app.playground.calls import ApiCall, CallLog
from app.playground.faults import Fault, FaultKind, Faults
from app.playground.model import Json, SlackApp
from app.playground.origin import Origin
from app.playground.rates import RateGate
from app.playground.refusal import SlackRefusal
from app.playground.webapi.arguments import Arguments, read_arguments
from app.playground.webapi.call import Call, Method, SocketTickets
from app.playground.webapi.file_routes import file_routes
from app.playground.webapi.methods import METHODS
from app.playground.webapi.uploads import Uploads
from app.playground.workspace import Workspace

_BEFORE = (FaultKind.RATE_LIMITED, FaultKind.SERVER_ERROR, FaultKind.REFUSED, FaultKind.DROP_BEFORE)
_TOO_MANY_REQUESTS = 429
_DELAYED = (FaultKind.SLOW, FaultKind.HANG_AFTER)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What goes back over the wire; status 0: nothing, the connection is closed."""

    status: int
    answer: Json | None
    retry_after_s: int = 0
    scopes: tuple[str, ...] = ()
    app: SlackApp | None = None


def web_api_routes(
    workspace: Workspace,
    *,
    rates: RateGate,
    faults: Faults,
    origin: Origin,
    log: CallLog,
    sockets: SocketTickets,
) -> list[web.RouteDef]:
    """``/api/{method}`` by GET and POST, and the addresses of files.

    A call is logged once it has been processed, so before a delay that a fault puts on its answer. The server's
    ``client_max_size`` limits the bodies of API calls (not those of file uploads).
    """
    uploads = Uploads()
    api = _WebApi(workspace, rates, origin, sockets, uploads)

    async def serve(request: web.Request) -> web.Response:
        arrived_at = workspace.clock.monotonic()
        name = request.match_info["method"]
        fault = faults.take(name)
        try:
            sent = await read_arguments(request)
        except SlackRefusal as refusal:
            sent, outcome = {}, _refused(refusal)
        else:
            outcome = _early_outcome(fault) or api.run(name, sent, _token_of(request, sent))
        outcome = _late_outcome(fault, outcome)
        shown = {key: value for key, value in sent.items() if key != "token"}
        log.add(ApiCall(name, shown, outcome.answer, arrived_at, outcome.status))
        if fault is not None and fault.kind in _DELAYED:
            await asyncio.sleep(fault.delay_s)
        return _response(request, outcome)

    return [
        web.get("/api/{method}", serve),
        web.post("/api/{method}", serve),
        *file_routes(workspace, uploads),
    ]


class _WebApi:
    """Runs one call: authorisation, scopes, rates, the method itself."""

    def __init__(
        self, workspace: Workspace, rates: RateGate, origin: Origin, sockets: SocketTickets, uploads: Uploads
    ) -> None:
        self._workspace = workspace
        self._rates = rates
        self._origin = origin
        self._sockets = sockets
        self._uploads = uploads

    def run(self, name: str, sent: Json, token: str) -> _Outcome:
        method = METHODS.get(name)
        if method is None:
            return _Outcome(200, {"ok": False, "error": "unknown_method", "req_method": name})
        app: SlackApp | None = None
        try:
            app = self._authorised(method, token)
            wait_s = self._rates.admit(name, token, str(sent.get("channel") or ""))
            if wait_s:
                return _limited(wait_s, method, app)
            answer = self._answer(method, app, sent, token)
        except SlackRefusal as refusal:
            answer = {"ok": False, "error": refusal.error, **refusal.details}
        return _Outcome(200, answer, scopes=method.scopes, app=app)

    def _authorised(self, method: Method, token: str) -> SlackApp:
        """Refuses ``not_authed``, ``token_revoked``, ``invalid_auth``, ``not_allowed_token_type``."""
        if not method.needs_token and not token:
            return next(iter(self._workspace.apps.values()))
        if not token:
            raise SlackRefusal("not_authed")
        app = self._workspace.app_by_token(token)
        if token in self._workspace.revoked_tokens:
            raise SlackRefusal("token_revoked")
        if app is None:
            raise SlackRefusal("invalid_auth")
        is_app_token = token == app.app_token
        if is_app_token != method.app_token and method.name != "auth.test":
            raise SlackRefusal("not_allowed_token_type")
        return app

    def _answer(self, method: Method, app: SlackApp, sent: Json, token: str) -> Json:
        self._workspace.lapse()
        call = Call(
            workspace=self._workspace,
            origin=self._origin,
            app=app,
            token=token,
            args=Arguments(sent),
            sockets=self._sockets,
            uploads=self._uploads,
        )
        if method.needs_token and not method.app_token:
            call.need_scope(*method.scopes)
        answer: Json = {"ok": True} | method.handler(call)
        if call.warnings:
            metadata = answer.get("response_metadata", {}) | {"warnings": call.warnings}
            answer |= {"warning": ",".join(call.warnings), "response_metadata": metadata}
        return answer


def _token_of(request: web.Request, sent: Json) -> str:
    header = request.headers.get("Authorization", "")
    return header.removeprefix("Bearer ").strip() if header else str(sent.get("token") or "")


def _refused(refusal: SlackRefusal) -> _Outcome:
    return _Outcome(200, {"ok": False, "error": refusal.error, **refusal.details})


def _limited(wait_s: int, method: Method | None = None, app: SlackApp | None = None) -> _Outcome:
    scopes = method.scopes if method else ()
    return _Outcome(_TOO_MANY_REQUESTS, {"ok": False, "error": "ratelimited"}, wait_s, scopes, app)


def _early_outcome(fault: Fault | None) -> _Outcome | None:
    """What a fault answers in place of the method."""
    if fault is None or fault.kind not in _BEFORE:
        return None
    if fault.kind is FaultKind.RATE_LIMITED:
        return _limited(fault.retry_after_s)
    if fault.kind is FaultKind.REFUSED:
        return _Outcome(200, {"ok": False, "error": fault.error})
    return _Outcome(fault.status if fault.kind is FaultKind.SERVER_ERROR else 0, None)


def _late_outcome(fault: Fault | None, outcome: _Outcome) -> _Outcome:
    """A method that was run, whose answer gets lost."""
    lost = fault is not None and fault.kind in (FaultKind.HANG_AFTER, FaultKind.DROP_AFTER)
    return _Outcome(0, outcome.answer) if lost else outcome


def _response(request: web.Request, outcome: _Outcome) -> web.Response:
    if outcome.status == 0:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()
    if outcome.answer is None:
        page = f"<html><body><h1>{outcome.status} Service Unavailable</h1></body></html>"
        return web.Response(status=outcome.status, text=page, content_type="text/html")
    headers = {
        "x-slack-req-id": secrets.token_hex(16),
        "x-accepted-oauth-scopes": ",".join(outcome.scopes),
    }
    if outcome.app is not None:
        headers["x-oauth-scopes"] = ",".join(sorted(outcome.app.scopes))
    if outcome.status == _TOO_MANY_REQUESTS:
        headers["Retry-After"] = str(outcome.retry_after_s)
    return web.json_response(outcome.answer, status=outcome.status, headers=headers)

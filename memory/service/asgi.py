"""The memory service as an ASGI application: who may ask, what of, and what goes wrong (specification, 15 and 16)."""

import secrets
import time
from collections.abc import AsyncIterator
from functools import cache
from http import HTTPStatus
from typing import Any

import structlog
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from memory.service.fences import Bearer, Headers, RefusedError, declared_length, idempotency_key, trace_id
from memory.service.incoming import GoneError, Incoming
from memory.service.openapi import document
from memory.service.operations import OPERATIONS, Done, Operation, WholeStore
from memory.service.sending import Header, send_last, send_lines, send_object
from memory.store import StoreDamagedError, StoreFullError, StoreUnavailableError
from memory.tracing import traced

REQUEST_ANSWERED = "memory_request_answered"
REQUEST_REFUSED = "memory_request_refused"
REQUEST_FAILED = "memory_request_failed"
STORE_FAILED = "memory_store_failed"
EXPORT_BROKEN = "memory_export_broken"

FEATURES = ("memory", "sweep", "restate", "provenance", "standing", "scores", "archive", "idempotency", "vectors")

_log = structlog.stdlib.get_logger(__name__)


class MemoryService:
    """Over a store, which its opener closes; ``token`` is the one secret, and an empty one lets nobody in."""

    def __init__(self, store: WholeStore, token: str, *, build: str) -> None:
        self._store = store
        self._bearer = Bearer(token)
        self._pages = {
            "/healthz": to_json({"ok": True, "build": build, "features": FEATURES}),
            "/openapi.json": _described(build),
        }
        # Bound once: a request makes no logger of its own.
        self._log = _log.bind()

    @property
    def paths(self) -> tuple[str, ...]:
        """Those that are asked most come first."""
        return (*OPERATIONS, *self._pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method, headers = scope["path"], scope["method"], dict(scope["headers"])
        page = self._pages.get(path) if method == "GET" else None
        if page is not None:
            await send_object(send, 200, page)
            return
        started = time.perf_counter()
        body = Incoming(receive, headers)
        try:
            done = await self._done(path, method, headers, body)
            if done.lines is not None:
                await self._stream(send, body, path, done.lines)
        except GoneError:
            return
        except RefusedError as refused:
            await self._refuse(send, body, path, refused)
            return
        took_ms = round((time.perf_counter() - started) * 1_000, 1)
        note = self._log.info if OPERATIONS[path].is_change else self._log.debug
        # A change is in the log before anybody hears of it.
        note(REQUEST_ANSWERED, route=path, **done.noted, took_ms=took_ms, trace=trace_id(headers))
        if done.lines is None:
            await send_object(send, 200, done.answer)

    async def _done(self, path: str, method: str, headers: Headers, body: Incoming) -> Done:
        """Raises ``RefusedError`` for whatever stands in the way."""
        try:
            operation = self._admitted(path, method, headers)
            content = await body.content()
            return await operation(self._store, content, idempotency_key(headers) if path == "/write" else None)
        except (RefusedError, GoneError):
            raise
        except StoreFullError as fault:
            self._log.warning(STORE_FAILED, route=path, reason=str(fault))
            raise RefusedError(507, "there is no room to write in; reading goes on") from fault
        except StoreDamagedError as fault:
            self._log.warning(STORE_FAILED, route=path, reason=str(fault))
            raise RefusedError(503, "what is kept of the scope does not read; see the log", is_damage=True) from fault
        except StoreUnavailableError as fault:
            self._log.warning(STORE_FAILED, route=path, reason=str(fault))
            raise RefusedError(503, "the store cannot be used at the moment; try again later") from fault
        except Exception as fault:
            reference = self._note_failure(path, fault)
            raise RefusedError(500, f"something unforeseen; the log has it as reference={reference}") from fault

    def _admitted(self, path: str, method: str, headers: Headers) -> Operation[Any]:
        """The checks before a body, in the order of the contract."""
        operation = OPERATIONS.get(path)
        if operation is None and path not in self._pages:
            raise RefusedError(404, "not found")
        if operation is None or method != "POST":
            raise RefusedError(405, "method not allowed")
        self._bearer.require(headers)
        declared_length(headers)
        return operation

    async def _refuse(self, send: Send, body: Incoming, path: str, refused: RefusedError) -> None:
        route = path if path in OPERATIONS or path in self._pages else None
        self._log.info(REQUEST_REFUSED, route=route, status=refused.status, reason=refused.reason)
        told = {"error": refused.reason} | ({"damaged": True} if refused.is_damage else {})
        content, headers = to_json(told), list[Header]()
        if refused.status == HTTPStatus.UNAUTHORIZED:
            headers.append((b"www-authenticate", b"Bearer"))
        if refused.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append((b"allow", b"GET" if path in self._pages else b"POST"))
        if body.is_unread:
            await send_last(send, body.receive, refused.status, content, headers)
        else:
            await send_object(send, refused.status, content, headers)

    async def _stream(self, send: Send, body: Incoming, path: str, lines: AsyncIterator[bytes]) -> None:
        """What fails in the middle ends without the last line; the server cuts the connection then."""
        try:
            await send_lines(send, body.receive, lines)
        except GoneError:
            raise
        except StoreUnavailableError as fault:
            self._log.warning(EXPORT_BROKEN, route=path, reason=str(fault))
        except Exception as fault:  # noqa: BLE001 - as above; the status has gone out
            self._note_failure(path, fault)

    def _note_failure(self, path: str, fault: Exception) -> str:
        """One line with where it happened, but without the faults' own texts: they could hold a record's words."""
        reference = secrets.token_hex(4)
        self._log.error(REQUEST_FAILED, route=path, reference=reference, trace_of_fault=traced(fault))
        return reference


@cache
def _described(build: str) -> bytes:
    """Made once: it takes longer than all the rest of a service's making."""
    return to_json(document(build))

"""One invocation, from who may to what came of it: look up, authorise, parse, handle, map, and one audit line."""

import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import structlog

from commands.errors import CommandError, InvalidInputError, NotFoundError, UnauthorizedError
from commands.helping import command_help
from commands.ports import Authority, Receipt, Receipts
from commands.result import Code, Result, answered, broken, refused, restricted
from commands.spec import Caller, Command, Values

COMMAND_INVOKED = "command_invoked"
COMMAND_FAILED = "command_failed"

_SHAPED_ID = re.compile(r"[a-z][a-z0-9]{0,19}\.[a-z][a-z0-9]{0,19}")

_log = structlog.stdlib.get_logger(__name__)

Parse = Callable[[Command], Values | None]
"""Values for a command; ``None`` when its help is asked for. Raises ``InvalidInputError``."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A result, and why it was refused, for the audit line only."""

    result: Result
    deny_reason: str = ""


class Service:
    """Carries out commands. Holds no state between them."""

    def __init__(self, authority: Authority, now: Callable[[], datetime], receipts: Receipts | None) -> None:
        self._authority = authority
        self._now = now
        self._receipts = receipts

    async def invoke(self, command: Command, caller: Caller, parse: Parse) -> Result:
        """Never raises but for cancellation. Nothing is parsed before the caller is known to be allowed."""
        verdict = await self._verdict(command, caller, parse)
        _audit(command.id, command.effect, caller, verdict)
        return verdict.result

    def missing(self, command_id: str, fault: NotFoundError, caller: Caller) -> Result:
        """The answer to a name that no command has, audited too; ``fault`` says what there is instead."""
        verdict = _Verdict(refused("", Code.NOT_FOUND, f"{fault}", "registry"))
        _audit(command_id if _SHAPED_ID.fullmatch(command_id) else "unknown", "none", caller, verdict)
        return verdict.result

    async def _verdict(self, command: Command, caller: Caller, parse: Parse) -> _Verdict:
        decision = await self._authority.may_run(caller, command)
        if not decision.is_allowed:
            return _Verdict(restricted(command.id, self._authority.admins()), decision.reason)
        try:
            values = parse(command)
        except InvalidInputError as fault:
            return _Verdict(refused(command.id, fault.code, f"{fault}", "registry"))
        if values is None:
            return _Verdict(answered(command.id, command_help(command, caller.surface), "registry"))
        verdict = await self._handled(command, caller, values)
        if command.effect == "write" and self._receipts is not None:
            await self._receipts.keep(_receipt(verdict.result, caller, self._now()))
        return verdict

    async def _handled(self, command: Command, caller: Caller, values: Values) -> _Verdict:
        try:
            return _Verdict(answered(command.id, await command.handler(caller, values)))
        except UnauthorizedError as fault:
            ask = f" Ask {self._authority.admins()}." if fault.asks_admins else ""
            return _Verdict(refused(command.id, fault.code, f"{fault}{ask}", "handler"), fault.audit_reason)
        except CommandError as fault:
            return _Verdict(refused(command.id, fault.code, f"{fault}", "handler"))
        except Exception as fault:  # noqa: BLE001 - whatever a handler does wrong, its caller gets an answer
            # The exception's words may quote a record, so its kind and its place are all that is kept of it.
            place = traceback.extract_tb(fault.__traceback__)[-1]
            _log.error(
                COMMAND_FAILED, command=command.id, error=type(fault).__name__, at=f"{place.name}:{place.lineno}"
            )
            return _Verdict(broken(command.id))


def _receipt(result: Result, caller: Caller, at: datetime) -> Receipt:
    summary = result.reply.receipt if result.reply is not None else ""
    return Receipt(result.command_id, caller.id, result.is_ok, summary or str(result.code), at)


def _audit(command_id: str, effect: str, caller: Caller, verdict: _Verdict) -> None:
    _log.info(
        COMMAND_INVOKED,
        command=command_id,
        caller_kind=caller.id.partition(":")[0],
        caller=caller.id,
        surface=str(caller.surface),
        effect=effect,
        outcome=str(verdict.result.code),
        decided_by=verdict.result.decided_by,
        deny_reason=verdict.deny_reason or None,
    )

"""What commands need from the rest of the house; the app implements it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from commands.spec import Caller, Command


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether something is allowed. ``reason`` is for the audit line, never for the caller."""

    is_allowed: bool
    reason: str = ""


class Authority(Protocol):
    """Who may do what. Deny by default; answers from what is known and never fails."""

    async def may_run(self, caller: Caller, command: Command) -> Decision:
        """Whether the caller may give this command at all."""
        ...

    async def may_touch(self, caller: Caller, action: str, scope_key: str) -> Decision:
        """Whether the caller may do ``action`` (``memory:read``, ``memory:write``) to the memory of a scope.

        Nobody may touch another person's, admins included.
        """
        ...

    def admins(self) -> str:
        """Whom to ask, as people write it (``<@U1>, <@U2>``, or “an admin”)."""
        ...


@dataclass(frozen=True, slots=True)
class Receipt:
    """The record of one command that changed something, or was meant to."""

    command_id: str
    caller_id: str
    is_ok: bool
    summary: str
    """What came of it, without anybody's words."""
    at: datetime


class Receipts(Protocol):
    """Keeps receipts of inline runs. Adapters: in process."""

    async def keep(self, receipt: Receipt) -> None: ...


@dataclass(frozen=True, slots=True)
class Status:
    """How the bot is doing, for ``status show``; each value a short word or figure."""

    lines: tuple[tuple[str, str], ...]


class StatusSource(Protocol):
    def status(self) -> Status: ...

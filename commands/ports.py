"""What commands need from the rest of the house; the app implements it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from commands.conversations import (
    Compressed,
    Compressible,
    Compressing,
    ConversationStatus,
    Restarted,
    SessionSummary,
    Stopped,
    Undone,
    Used,
    Whose,
)
from commands.preferences import InEffect, Setting, Slot, Subjects
from commands.reviews import HeldFact, Verdict
from commands.spec import Caller, Command, Followup


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
        """Whether the caller may do ``action`` to what belongs to a scope.

        That is its memory (``memory:read``, ``memory:write``), its settings (``config:write``), or the conversations
        of others in a channel (``session:write``).
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
    """Keeps receipts of inline runs. Adapters: in process; over the state database."""

    async def keep(self, receipt: Receipt) -> None:
        """Never raises: the command has been carried out already."""
        ...

    async def latest(self, limit: int) -> Sequence[Receipt]:
        """At most ``limit``, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class Status:
    """How the bot is doing, for ``status show``; each value a short word or figure."""

    lines: tuple[tuple[str, str], ...]


class StatusSource(Protocol):
    def status(self) -> Status: ...


class Conversations(Protocol):
    """What the session commands need of conversations. Adapters: over the session store and the lanes.

    A caller's conversation is the one of ``origin.thread_key``, and their own in it where people are kept apart.
    Without a thread only ``stop``, ``list_sessions`` and ``usage`` of oneself or the channel are asked: about what is
    the caller's own in the channel. Whether the caller may is decided before, by the command. Methods raise the tree of
    ``commands.errors``: ``UnavailableError`` when what they need is down, ``BusyError`` when it has no room.
    """

    async def participants(self, caller: Caller) -> frozenset[str]:
        """Ids of all who ever spoke to the bot in the conversation, over all of its sessions; empty when nobody did.

        Raises ``UnavailableError`` rather than to leave somebody out.
        """
        ...

    async def status(self, caller: Caller) -> ConversationStatus | None:
        """``None`` when the conversation has no session yet. Its recap is for those alone who have spoken in it."""
        ...

    async def reset(self, caller: Caller, title: str | None) -> Restarted:
        """End the turn under way, drop what waits, and begin a new session; the earlier one is kept.

        Model, effort and repository that were set for the conversation alone are taken back in the same step.
        Raises ``ConflictError`` when another session of the conversation has the title; then nothing was done.
        """
        ...

    async def stop(self, caller: Caller) -> Stopped:
        """End the turn under way; without a thread, or where none runs in it, the caller's own in the channel.

        What waits in line stays there.
        """
        ...

    async def earlier(
        self, caller: Caller, *, in_channel: bool = False, limit: int | None = None
    ) -> Sequence[SessionSummary]:
        """Sessions of this conversation that are not the current one, latest activity first, all without ``limit``.

        ``in_channel``: of all conversations in the channel that are not somebody's DM; asked for admins alone.
        """
        ...

    async def resume(self, caller: Caller, session_id: str, *, in_channel: bool = False) -> SessionSummary:
        """Go on with a session that ``earlier`` gives, under the same condition, which is checked again.

        Raises ``NotFoundError``, and ``ConflictError`` when the conversation moved on meanwhile.
        """
        ...

    async def list_sessions(self, caller: Caller, query: str, limit: int) -> Sequence[SessionSummary]:
        """Sessions of this conversation whose title or lines have every word of ``query``, latest activity first.

        Without a thread: of the conversations in this channel that the caller has spoken in.
        """
        ...

    async def retry(self, caller: Caller) -> Followup:
        """What a person had said in the last turn, directives before it, to be answered in the place of that turn.

        Raises ``NotFoundError`` when there is none, ``ConflictError`` for one that cannot be answered once more as it
        was: it came with files, or with directives that mean nothing any more; ``BusyError`` while anything but the
        command that asks is to be answered first.
        """
        ...

    async def undo(self, caller: Caller, turns: int) -> Undone: ...

    async def compress(self, caller: Caller, how: Compressing) -> Compressed:
        """Ignores the pause after failures. Raises ``ConflictError`` when more is to stay than leaves room for it."""
        ...

    async def compressible(self, caller: Caller, how: Compressing) -> Compressible:
        """What ``compress`` would do, found out without a model; nothing changes. Raises ``ConflictError`` likewise."""
        ...

    async def queue(self, caller: Caller) -> int:
        """How many messages are before the command that asks, which stands in line; what runs is one of them.

        What is to be answered in its place comes as the reply's ``Followup``. Raises ``BusyError`` when it has no
        place: the line is full or closing.
        """
        ...

    async def usage(self, caller: Caller, whose: Whose, *, days: int | None) -> Used:
        """What turns and compressions took. ``days``: those of the last so many days."""
        ...

    async def title(self, caller: Caller, text: str) -> None:
        """Raises ``ConflictError`` when another session of the conversation has it, ``NotFoundError`` without one."""
        ...


class Preferences(Protocol):
    """Keeps settings. Adapters: over the state database; in process, for tests. Raises ``UnavailableError``."""

    async def get(self, subjects: Subjects) -> Sequence[Setting]:
        """Every setting of these subjects that was ever made, cleared ones too."""
        ...

    async def set(self, slot: Slot, value: str, *, expected_version: int, by: str) -> Setting:
        """Raises ``ConflictError`` when the slot is not at ``expected_version``; then nothing has changed."""
        ...

    async def clear(self, slot: Slot, *, expected_version: int, by: str) -> Setting:
        """Like ``set``, to no value."""
        ...

    def forget(self) -> None:
        """Of what was read: somebody else has changed settings. Never raises."""
        ...


class Choices(Protocol):
    """What can be chosen, and what a choice comes to."""

    def agents(self) -> Sequence[str]: ...

    def providers(self) -> Sequence[str]: ...

    def knows_model(self, reference: str) -> bool:
        """Whether the provider of ``<provider>/<model>`` is set up; which models it has, only the vendor knows."""
        ...

    def in_effect(self, kept: Sequence[Setting]) -> Sequence[InEffect]:
        """Agent, model, effort and repository for a message that says nothing about them."""
        ...


class Lessons(Protocol):
    """What conversations have still to teach. Adapters: over the state database.

    When a call returns, what was just being learned is written, or never will be. Raises ``UnavailableError``.
    """

    async def pass_over(self, thread_key: str) -> None:
        """Learn nothing any more from what was said in the conversation so far."""
        ...

    async def drop_thread(self, thread_key: str, *, by: str) -> None:
        """``pass_over``, and what is held back from the conversation is rejected in the name of ``by``."""
        ...

    async def drop_person(self, person_id: str) -> None:
        """Learn nothing any more from turns that the person has asked for so far, and nothing held back from them."""
        ...


class Reviews(Protocol):
    """What is held back from memory until a person decides. Adapters: over the state database; a list in tests.

    Whether the caller may is decided before, by the command. Raises ``UnavailableError``.
    """

    async def scopes(self) -> Sequence[str]:
        """Keys of the scopes in which anything waits, each once, in no order."""
        ...

    async def waiting(self, scopes: Sequence[str], limit: int) -> Sequence[HeldFact]:
        """At most ``limit`` of these scopes, newest first."""
        ...

    async def take(self, review_id: str, *, by: str, verdict: Verdict) -> HeldFact | None:
        """Mark as decided, and hand out, once. ``None`` for what does not wait."""
        ...

    async def give_back(self, fact: HeldFact) -> None:
        """It waits again as before: what was decided could not be carried out."""
        ...

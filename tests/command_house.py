"""What the tests of commands share: an authority with the product's rules, and callers of every surface."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from commands.errors import InvalidInputError
from commands.ports import Decision, Status
from commands.spec import Argument, Caller, Command, Handler, Option, Origin, Reply, Surface, Value, Values

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ADMINS = "<@UADMIN>"
MEMBER, OTHER, ADMIN = "slack:U1", "slack:U2", "slack:UADMIN"
CHANNEL = "slack:C1"
DENY_REASON = "the table says no"

RIGHT: Mapping[str, Mapping[str, str | int | bool]] = {
    "memory.list": {"words": "deploys on friday", "scope": "org", "limit": 5, "repo": "acme/web"},
    "memory.forget": {"id": "mem:user:slack:U1:0"},
    "memory.erase": {"what": "mem:user:slack:U1:0", "yes": True},
    "memory.review": {"limit": 5},
    "memory.approve": {"id": "held:user:slack:U1:1"},
    "memory.reject": {"id": "held:user:slack:U1:1"},
    "session.new": {"title": "What's next?"},
    "session.reset": {"title": "what's next"},
    "session.stop": {},
    "session.resume": {"session": "What's next?", "all": True},
    "session.list": {"words": "deploys on friday"},
    "session.retry": {},
    "session.undo": {"turns": "2"},
    "session.compress": {"focus": "the port,\nand who's in charge", "preview": True},
    "session.queue": {"text": "what's next?\n\n  and then?"},
    "session.status": {},
    "session.usage": {"of": "me", "days": 30},
    "session.title": {"text": "What's next?"},
    "config.show": {},
    "config.set": {"name": "effort", "value": "high", "layer": "thread", "version": 0},
    "config.clear": {"name": "effort", "layer": "channel", "version": 3},
    "config.instructions": {"text": "Answer in French,\nit's shorter.", "layer": "channel", "version": 1},
    "status.show": {},
    "help.show": {"topic": "memory list"},
}
"""A right value of every argument and option of every command."""


def noon() -> datetime:
    return NOON


@dataclass(slots=True)
class HouseRules:
    """Everybody reads what is shared; a person's own is theirs; shared memory is changed by one admin."""

    closed: frozenset[str] = frozenset()
    unreadable: frozenset[str] = frozenset()
    touched: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    async def may_run(self, caller: Caller, command: Command) -> Decision:
        return Decision(command.id not in self.closed, DENY_REASON)

    async def may_touch(self, caller: Caller, action: str, scope_key: str) -> Decision:
        self.touched.append((action, scope_key))
        is_own = scope_key == f"user:{caller.id}"
        is_shared = not scope_key.startswith("user:")
        is_open = action == "memory:read" or caller.id == ADMIN
        is_allowed = is_own or (is_shared and is_open)
        return Decision(is_allowed and scope_key not in self.unreadable, DENY_REASON)

    def admins(self) -> str:
        return ADMINS


class Calm:
    """A bot that does well."""

    def status(self) -> Status:
        return Status((("build", "1.2.3"), ("memory", "in-process")))


def a_caller(surface: Surface = Surface.CHAT, caller_id: str = MEMBER, origin: Origin | None = None) -> Caller:
    return Caller(caller_id, surface, origin or Origin(channel_id=CHANNEL))


@dataclass(slots=True)
class Recorder:
    """A handler that keeps what it was called with."""

    calls: list[tuple[Caller, Values]] = field(default_factory=list[tuple[Caller, Values]])
    fault: Exception | None = None

    async def __call__(self, caller: Caller, values: Values) -> Reply:
        self.calls.append((caller, values))
        if self.fault is not None:
            raise self.fault
        return Reply({"done": True}, "done")

    @property
    def values(self) -> Mapping[str, object]:
        return self.calls[-1][1]


async def _done(_caller: Caller, _values: Values) -> Reply:
    return Reply({}, "done")


RUNS_LIST = Command(
    id="runs.list",
    summary="what ran",
    action="runs:read",
    effect="read",
    handler=_done,
    arguments=(Argument("name", "whose"), Argument("words", "words", is_required=False, is_rest=True)),
    options=(
        Option("sinceMs", "since when", type="integer", least=-10, most=50, default=20),
        Option("mode", "how", choices=("soft", "hard")),
        Option("quiet", "say less", type="boolean"),
        Option("repo", "which", pattern=r"\w+/\w+", expectation="like owner/name"),
    ),
)


def runs_list(handler: Handler = _done, **changes: Any) -> Command:
    """A command with one of everything, with some fields changed."""
    return replace(RUNS_LIST, handler=handler, **changes)


def outcome(read: Callable[[], Mapping[str, Value]]) -> str:
    """The refusal of ``RUNS_LIST``, or ``bound`` when every name has its value; empty when one is missing."""
    try:
        bound = read()
    except InvalidInputError as fault:
        return str(fault)
    return "bound" if set(bound) == {part.name for part in (*RUNS_LIST.arguments, *RUNS_LIST.options)} else ""

"""Who may change what is remembered: people their own, admins what is shared, nobody another person's."""

from dataclasses import dataclass

from commands.builtin.memory_listing import own_scope
from commands.errors import UnauthorizedError
from commands.ports import Authority
from commands.spec import Caller
from memory.record import ID_CHARS
from memory.scope import ScopeKind, kind_of, parse_record_id, scope_key

READ, WRITE = "memory:read", "memory:write"


@dataclass(frozen=True, slots=True)
class Rights:
    """Of one command, which says in its own words what it refuses."""

    organization: str
    authority: Authority
    only_own: str
    """Said about another person's or organization's."""
    shared: str
    """Said about what needs an admin."""

    async def require(self, caller: Caller, key: str) -> None:
        """Raises ``UnauthorizedError``, in the same words whether there is anything in the scope or not."""
        if not self.is_in_reach(caller, key):
            raise UnauthorizedError(self.only_own, audit_reason="another's scope", asks_admins=False)
        decision = await self.authority.may_touch(caller, WRITE, key)
        if not decision.is_allowed:
            message = "you may not change what is remembered." if key == own_scope(caller) else self.shared
            raise UnauthorizedError(message, audit_reason=decision.reason)

    def is_in_reach(self, caller: Caller, key: str) -> bool:
        """Whether it is the caller's own or shared: of another person or organization, no right is asked about."""
        kind = kind_of(key)
        if kind is ScopeKind.USER:
            return key == own_scope(caller)
        return kind is not ScopeKind.ORG or key == scope_key(ScopeKind.ORG, self.organization)


def scope_of_record(record_id: str) -> str | None:
    """The scope that the id of a record names; ``None`` for anything else."""
    parsed = parse_record_id(record_id) if len(record_id) <= ID_CHARS else None
    return None if parsed is None else parsed[0]

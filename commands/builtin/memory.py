"""``memory list`` and ``memory forget``: what is remembered, and how a person takes some of it back.

The only scopes a request can name are the caller's own, its repository's, its channel's and the organisation's
(specification, sections 24 and 25).
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from commands.builtin.config import Configuring
from commands.builtin.memory_listing import LIMIT, MOST, Asked, Listing, own_scope
from commands.errors import InvalidInputError, NotFoundError, UnauthorizedError, UnavailableError
from commands.ports import Authority
from commands.quoting import quotable
from commands.spec import Argument, Caller, Command, Option, Reply, Values
from memory.record import ID_CHARS
from memory.repository import SHAPE
from memory.scope import ScopeKind, kind_of, parse_record_id, scope_key
from memory.store import MemoryStore, StoreUnavailableError

READ, WRITE = "memory:read", "memory:write"
_OFF = "memory is off in this deployment (`memory.enabled`), so there is nothing to list or forget"
_FORGOTTEN = "It no longer influences any answer; the row is kept for provenance."
_ONLY_OWN = (
    "you can only forget your own records, and an admin those of the organization. Nobody can reach that one from here."
)
_SHARED = "forgetting shared records needs an admin; your own you can always forget (`memory list me` shows them)."


def memory_commands(
    store: MemoryStore | None, organization: str, authority: Authority, config: Configuring | None = None
) -> list[Command]:
    """``store``: ``None`` while memory is off; ``config``: in a process where no repository is set."""
    house = _Memory(store, organization, authority, config)
    return [
        Command(
            id="memory.list",
            summary="what I remember, newest first",
            action=READ,
            effect="read",
            handler=house.list,
            arguments=(Argument("words", "only records with one of these words; may begin with a scope", False, True),),
            options=(
                Option("scope", "whose memory", choices=Asked.words()),
                Option("limit", "how many per scope", type="integer", least=1, most=MOST, default=LIMIT),
                Option(
                    "repo",
                    "the repository, if not the one that counts here",
                    pattern=SHAPE,
                    expectation="like owner/name",
                ),
            ),
        ),
        Command(
            id="memory.forget",
            summary="stop using one record",
            action=WRITE,
            effect="write",
            handler=house.forget,
            arguments=(Argument("id", "the record, as `memory list` shows it"),),
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Memory:
    """The two handlers over one store."""

    store: MemoryStore | None
    organization: str
    authority: Authority
    config: Configuring | None

    async def list(self, caller: Caller, values: Values) -> Reply:
        store = self._open_store()
        listing = Listing(store, self.organization, self.authority, caller, self.config)
        with _reaching_store():
            return await listing.reply(Asked.of(values))

    async def forget(self, caller: Caller, values: Values) -> Reply:
        store = self._open_store()
        record_id = str(values["id"])
        parsed = parse_record_id(record_id) if len(record_id) <= ID_CHARS else None
        if parsed is None:
            raise InvalidInputError("expected a memory id, `mem:<scope>:<number>`; `memory list` shows them")
        key, _ = parsed
        await self._require_right(caller, key)
        with _reaching_store():
            is_forgotten = await store.forget(key, record_id)
        shown = f"`{quotable(record_id)}`"
        if not is_forgotten:
            raise NotFoundError(f"nothing to forget: {shown} is no active record of `{quotable(key)}`")
        text = f"🧹 Forgot {shown} of `{quotable(key)}`. {_FORGOTTEN}"
        return Reply({"id": record_id, "scopeKey": key, "isForgotten": True}, text, receipt=f"forgot {record_id}")

    async def _require_right(self, caller: Caller, key: str) -> None:
        """Raises ``UnauthorizedError``, in the same words whether the record exists or not."""
        is_own = key == own_scope(caller)
        if not is_own and not self._is_shared(key):
            raise UnauthorizedError(_ONLY_OWN, audit_reason="another's scope", asks_admins=False)
        decision = await self.authority.may_touch(caller, WRITE, key)
        if not decision.is_allowed:
            message = "you may not change what is remembered." if is_own else _SHARED
            raise UnauthorizedError(message, audit_reason=decision.reason)

    def _is_shared(self, key: str) -> bool:
        kind = kind_of(key)
        is_foreign = kind is ScopeKind.ORG and key != scope_key(ScopeKind.ORG, self.organization)
        return kind is not ScopeKind.USER and not is_foreign

    def _open_store(self) -> MemoryStore:
        if self.store is None:
            raise UnavailableError(_OFF)
        return self.store


@contextmanager
def _reaching_store() -> Generator[None]:
    """The store's failure as the command's: its text names no record's words."""
    try:
        yield
    except StoreUnavailableError as fault:
        raise UnavailableError(f"memory could not be reached: {fault}") from fault

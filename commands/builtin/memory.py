"""``memory list`` and ``memory forget``: what is remembered, and how a person takes some of it back.

The only scopes a request can name are the caller's own, its repository's, its channel's and the organisation's
(specification, sections 24 and 25).
"""

from dataclasses import dataclass

from commands.builtin.config import Configuring
from commands.builtin.memory_listing import LIMIT, MOST, Asked, Listing
from commands.builtin.memory_reaching import pass_over, reaching_store
from commands.builtin.memory_rights import READ, WRITE, Rights, scope_of_record
from commands.errors import InvalidInputError, NotFoundError, UnavailableError
from commands.ports import Authority, Lessons
from commands.quoting import quotable
from commands.spec import Argument, Caller, Command, Option, Reply, Values
from memory.repository import SHAPE
from memory.store import MemoryStore

_OFF = "memory is off in this deployment (`memory.enabled`), so there is nothing to list or forget"
_FORGOTTEN = "It no longer influences any answer; the row is kept for provenance."
_ONLY_OWN = (
    "you can only forget your own records, and an admin those of the organization. Nobody can reach that one from here."
)
_SHARED = "forgetting shared records needs an admin; your own you can always forget (`memory list me` shows them)."


def memory_commands(
    store: MemoryStore | None,
    organization: str,
    authority: Authority,
    config: Configuring | None = None,
    lessons: Lessons | None = None,
) -> list[Command]:
    """``store``: ``None`` while memory is off; ``config``: in a process where no repository is set.

    ``lessons``: ``None`` in a process without the bot's own records.
    """
    house = _Memory(store, organization, authority, config, lessons)
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
    lessons: Lessons | None

    async def list(self, caller: Caller, values: Values) -> Reply:
        store = self._open_store()
        listing = Listing(store, self.organization, self.authority, caller, self.config)
        with reaching_store():
            return await listing.reply(Asked.of(values))

    async def forget(self, caller: Caller, values: Values) -> Reply:
        store = self._open_store()
        record_id = str(values["id"])
        key = scope_of_record(record_id)
        if key is None:
            raise InvalidInputError("expected a memory id, `mem:<scope>:<number>`; `memory list` shows them")
        await Rights(self.organization, self.authority, _ONLY_OWN, _SHARED).require(caller, key)
        await pass_over(self.lessons, store, key, record_id)
        with reaching_store():
            is_forgotten = await store.forget(key, record_id)
        shown = f"`{quotable(record_id)}`"
        if not is_forgotten:
            raise NotFoundError(f"nothing to forget: {shown} is no active record of `{quotable(key)}`")
        text = f"🧹 Forgot {shown} of `{quotable(key)}`. {_FORGOTTEN}"
        return Reply({"id": record_id, "scopeKey": key, "isForgotten": True}, text, receipt=f"forgot {record_id}")

    def _open_store(self) -> MemoryStore:
        if self.store is None:
            raise UnavailableError(_OFF)
        return self.store

"""``memory erase``: takes records away for good, where ``memory forget`` only takes one out of use.

Scope and right of a single record come out of its id. What a conversation taught lies in other people's scopes, too,
so that is for admins; nobody names those scopes, or is told which they are.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from commands.builtin.memory_listing import own_scope
from commands.builtin.memory_reaching import pass_over, reaching_store
from commands.builtin.memory_rights import WRITE, Rights, scope_of_record
from commands.builtin.session_showing import count
from commands.errors import InvalidInputError, NotFoundError, UnauthorizedError, UnavailableError
from commands.ports import Authority, Lessons
from commands.quoting import quotable
from commands.spec import EVERYWHERE, Argument, Caller, Command, Json, Option, Reply, Surface, Values
from memory.scope import ScopeKind, scope_key
from memory.store import EraseReceipt, MemoryArchive, MemoryStore, StoreDamagedError, StoreUnavailableError

ME, THREAD = "me", "thread"
_OFF = "memory is off in this deployment (`memory.enabled`), so nothing can be erased from here"
_FORM = "expected a memory id, `mem:<scope>:<number>` (`memory list` shows them), or `me`, or `thread`"
_ONLY_OWN = (
    "you can only erase your own records, and an admin those of the organization. Nobody can reach that one from here."
)
_SHARED = "erasing shared records needs an admin; your own you can always erase (`memory list me` shows them)."
_ADMINS_ONLY = (
    "what this conversation taught is in other people's memory, too, so erasing it needs an admin; "
    "your own you can always erase (`memory erase me`)."
)
_NOBODY = "nobody is known to be asking, so there are no records of your own"
_NO_THREAD = "this is about one conversation, and none belongs to this call"
_IN_THREAD = "this is about one thread, where Slack takes no slash commands: write `!memory erase thread` in it"
_STAYS = "The messages it came from stay as they are, and so do backups."

PEOPLES = EVERYWHERE - {Surface.MCP}
"""The caller of a tool is a model as a rule, and what is erased nobody brings back."""


def erase_commands(
    store: MemoryStore | None, organization: str, authority: Authority, lessons: Lessons | None = None
) -> list[Command]:
    """``store``: ``None`` while memory is off; ``lessons``: in a process without the bot's own records."""
    house = _Erasing(store, Rights(organization, authority, _ONLY_OWN, _SHARED), lessons)
    return [
        Command(
            id="memory.erase",
            summary="erase one record, all of your own, or all from this thread, for good",
            action=WRITE,
            effect="write",
            handler=house.erase,
            arguments=(Argument("what", "a record, as `memory list` shows it; me; or thread (admins)"),),
            options=(Option("yes", "really all of me or thread", type="boolean", default=False),),
            surfaces=PEOPLES,
        )
    ]


@dataclass(frozen=True, slots=True)
class _Erasing:
    """The handler over one store. What would teach it the same again is dropped before anything is erased."""

    store: MemoryStore | None
    rights: Rights
    lessons: Lessons | None

    async def erase(self, caller: Caller, values: Values) -> Reply:
        store = self._open_store()
        what, is_sure = str(values["what"]), values["yes"] is True
        match what.lower():
            case "me":
                return await self._own(store, caller, is_sure=is_sure)
            case "thread":
                return await self._thread(store, caller, is_sure=is_sure)
            case _:
                return await self._record(store, caller, what)

    async def _record(self, store: MemoryStore, caller: Caller, record_id: str) -> Reply:
        key = scope_of_record(record_id)
        if key is None:
            raise InvalidInputError(_FORM)
        await self.rights.require(caller, key)
        await pass_over(self.lessons, store, key, record_id)
        with _erasing():
            erased = await store.erase(key, record_id)
        shown = f"`{quotable(record_id)}`"
        if not erased.records:
            raise NotFoundError(f"nothing to erase: {shown} is no record of `{quotable(key)}`")
        text = f"🗑️ Erased 1 record for good: {shown} of `{quotable(key)}`. {_STAYS}"
        return Reply(_data(record_id, erased, key), text, receipt=f"erased {record_id}")

    async def _own(self, store: MemoryStore, caller: Caller, *, is_sure: bool) -> Reply:
        key = own_scope(caller)
        if key is None:
            raise InvalidInputError(_NOBODY)
        await self.rights.require(caller, key)
        shown = f"`{quotable(key)}`"
        if not is_sure:
            there = await _counted(store, key)
            much = "" if there is None else f": {count(there, 'record')}, those out of use included"
            text = f"`memory erase me --yes` erases all of {shown} for good{much}. Nothing has been erased yet."
            return Reply(_data(ME, None, key, there), text, receipt="told what erasing me takes")
        if self.lessons is not None:
            await self.lessons.drop_person(caller.id)
        with _erasing():
            erased = await store.erase(key)
        return Reply(_data(ME, erased, key), _told_of_scope(shown, erased), receipt=f"erased {erased.records} of me")

    async def _thread(self, store: MemoryStore, caller: Caller, *, is_sure: bool) -> Reply:
        await self._require_admin(caller)
        thread_key = caller.origin.thread_key
        if thread_key is None:
            raise InvalidInputError(_IN_THREAD if caller.surface is Surface.SLASH else _NO_THREAD)
        if not is_sure:
            text = (
                "`memory erase thread --yes` erases for good whatever was learned from this conversation, in the "
                "memory of all whom it taught. Nothing has been erased yet."
            )
            return Reply(_data(THREAD, None), text, receipt="told what erasing a thread takes")
        if self.lessons is not None:
            await self.lessons.drop_thread(thread_key, by=caller.id)
        with _erasing():
            erased = await store.erase_thread(thread_key)
        receipt = f"erased {erased.records} of {quotable(thread_key)}"
        return Reply(_data(THREAD, erased), _told_of_thread(erased), receipt=receipt)

    async def _require_admin(self, caller: Caller) -> None:
        """Whoever may change what the organization remembers. Raises ``UnauthorizedError``."""
        key = scope_key(ScopeKind.ORG, self.rights.organization)
        decision = await self.rights.authority.may_touch(caller, WRITE, key)
        if not decision.is_allowed:
            raise UnauthorizedError(_ADMINS_ONLY, audit_reason=decision.reason)

    def _open_store(self) -> MemoryStore:
        if self.store is None:
            raise UnavailableError(_OFF)
        return self.store


def _told_of_scope(shown: str, erased: EraseReceipt) -> str:
    if not erased.scopes:
        return f"There was nothing to erase in {shown}."
    much = count(erased.records, "record") if erased.records else "what nobody could read or count any more"
    return f"🗑️ Erased all of {shown} for good: {much}. {_STAYS}"


def _told_of_thread(erased: EraseReceipt) -> str:
    if not erased.records:
        return "There was nothing to erase: no record comes from this conversation."
    much = f"{count(erased.records, 'record')} of {count(erased.scopes, 'scope')}"
    return f"🗑️ Erased for good what was learned from this conversation: {much}. {_STAYS}"


def _data(what: str, erased: EraseReceipt | None, key: str | None = None, there: int | None = None) -> dict[str, Json]:
    """``erased``: ``None`` where nothing was; ``there``: how many records it would be, where that is known."""
    return {
        "what": what,
        "scopeKey": key,
        "isErased": erased is not None,
        "records": there if erased is None else erased.records,
        "scopes": None if erased is None else erased.scopes,
    }


async def _counted(store: MemoryStore, key: str) -> int | None:
    """Records of every status; ``None`` where the store cannot tell. Raises ``UnavailableError``."""
    if not isinstance(store, MemoryArchive):
        return None
    with reaching_store():
        try:
            return sum((await store.stats(key)).records.values())
        except StoreDamagedError:
            return None


@contextmanager
def _erasing() -> Generator[None]:
    """The store's failure as the command's: part of what was asked may have been done."""
    try:
        yield
    except StoreUnavailableError as fault:
        raise UnavailableError(
            f"not everything could be erased: {fault}. Give the command once more; what is gone stays gone."
        ) from fault

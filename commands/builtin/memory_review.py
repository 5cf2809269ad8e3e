"""``memory review``, ``memory approve`` and ``memory reject``: people decide about what looks like an instruction.

Who may take a record back may decide whether there is to be one. A text is shown only where the records of its scope
may be read as well, since everybody in a thread reads the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from commands.builtin.memory_listing import LIMIT, MOST
from commands.builtin.memory_rights import READ, WRITE, Rights
from commands.errors import InvalidInputError, NotFoundError, UnavailableError
from commands.ports import Authority, Reviews
from commands.quoting import one_line, quotable, visible
from commands.reviews import HeldFact, Verdict, parse_held_id
from commands.spec import EVERYWHERE, MACHINES, Argument, Caller, Command, Json, Option, Reply, Surface, Values
from commands.untrusted import untrusted
from memory.store import MemoryStore, StoreUnavailableError

_OFF = "memory is off in this deployment (`memory.enabled`), so nothing waits for review"
_NO_RECORDS = "what waits for review cannot be looked at in this process"
_NOTHING = "Nothing waits for you to decide about it."
_FORM = "expected the id of what waits, `held:<scope>:<number>`; `memory review` shows them"
_ONLY_OWN = (
    "you can only decide about your own memory, and an admin about the organization's. Nobody can reach that from here."
)
_SHARED = "deciding about shared memory needs an admin; about your own you always can (`memory review` shows it)."


def review_commands(
    store: MemoryStore | None, organization: str, authority: Authority, reviews: Reviews | None
) -> list[Command]:
    """``store``: ``None`` while memory is off; ``reviews``: in a process without the bot's own records."""
    rights = Rights(organization, authority, _ONLY_OWN, _SHARED)
    house = _Reviewing(store, authority, rights, reviews)
    held = (Argument("id", "what waits, as `memory review` shows it"),)
    return [
        Command(
            id="memory.review",
            summary="what looks like an instruction and waits for you",
            action=READ,
            effect="read",
            handler=house.review,
            options=(Option("limit", "how many", type="integer", least=1, most=MOST, default=LIMIT),),
        ),
        Command(
            "memory.approve",
            "remember what waits; you answer for it",
            WRITE,
            "write",
            house.approve,
            held,
            surfaces=PEOPLES,
        ),
        Command("memory.reject", "drop what waits", WRITE, "write", house.reject, held),
    ]


PEOPLES = EVERYWHERE - {Surface.MCP}
"""The caller of a tool is a model as a rule, and what waits here tries to talk models into things."""


@dataclass(frozen=True, slots=True)
class _Reviewing:
    """The handlers over one store of memory and what is held back from it."""

    store: MemoryStore | None
    authority: Authority
    rights: Rights
    reviews: Reviews | None

    async def review(self, caller: Caller, values: Values) -> Reply:
        _, reviews = self._opened()
        limit = values["limit"] if isinstance(values["limit"], int) else LIMIT
        scopes = [key for key in await reviews.scopes() if await self._may_see(caller, key)]
        held = await reviews.waiting(scopes, limit) if scopes else ()
        is_machine = caller.surface in MACHINES
        return Reply(
            {"held": [_data(fact, is_machine=is_machine) for fact in held], "isFull": len(held) >= limit},
            _text(held, limit, is_machine=is_machine),
        )

    async def approve(self, caller: Caller, values: Values) -> Reply:
        store, reviews = self._opened()
        fact = await self._taken(reviews, caller, values, "approved")
        try:
            counts = await store.write(fact.scope_key, [fact.candidate])
        except StoreUnavailableError as fault:
            await reviews.give_back(fact)
            raise UnavailableError(f"memory could not be reached: {fault}. It waits as before.") from fault
        is_new = counts.inserted > 0
        outcome = "It is remembered from now on." if is_new else "It was remembered already."
        text = f"✅ Approved `{quotable(fact.id)}` for `{quotable(fact.scope_key)}`. {outcome}"
        data: dict[str, Json] = {"id": fact.id, "scopeKey": fact.scope_key, "isApproved": True, "isNew": is_new}
        return Reply(data, text, receipt=f"approved {fact.id}")

    async def reject(self, caller: Caller, values: Values) -> Reply:
        _, reviews = self._opened()
        fact = await self._taken(reviews, caller, values, "rejected")
        text = f"🗑️ Rejected `{quotable(fact.id)}` of `{quotable(fact.scope_key)}`. It was never recalled."
        return Reply(
            {"id": fact.id, "scopeKey": fact.scope_key, "isApproved": False}, text, receipt=f"rejected {fact.id}"
        )

    async def _taken(self, reviews: Reviews, caller: Caller, values: Values, verdict: Verdict) -> HeldFact:
        given = str(values["id"])
        parsed = parse_held_id(given)
        if parsed is None:
            raise InvalidInputError(_FORM)
        await self.rights.require(caller, parsed[0])
        fact = await reviews.take(given, by=caller.id, verdict=verdict)
        if fact is None:
            raise NotFoundError(f"`{quotable(given)}` waits for nobody: it was decided about, or never was there")
        return fact

    async def _may_see(self, caller: Caller, key: str) -> bool:
        if not self.rights.is_in_reach(caller, key):
            return False
        may_decide = (await self.authority.may_touch(caller, WRITE, key)).is_allowed
        return may_decide and (await self.authority.may_touch(caller, READ, key)).is_allowed

    def _opened(self) -> tuple[MemoryStore, Reviews]:
        if self.store is None:
            raise UnavailableError(_OFF)
        if self.reviews is None:
            raise UnavailableError(_NO_RECORDS)
        return self.store, self.reviews


def _text(held: Sequence[HeldFact], limit: int, *, is_machine: bool) -> str:
    if not held:
        return _NOTHING
    lines = ["**Held back from memory** (looks like an instruction to me; newest first)"]
    lines += [_line(fact, is_machine=is_machine) for fact in held]
    lines.append("`memory approve <id>` has me remember one, `memory reject <id>` drops it.")
    if len(held) >= limit:
        lines.append(f"_{limit} are shown and there may be more: raise `--limit` ({MOST} at most)._")
    return "\n".join(lines)


def _line(fact: HeldFact, *, is_machine: bool) -> str:
    candidate = fact.candidate
    text = f"\n{untrusted(visible(candidate.text))}\n" if is_machine else f" {one_line(candidate.text)} "
    source = quotable(candidate.source_thread_key)
    return f"- `{quotable(fact.id)}` [{candidate.kind}, {fact.held_at:%Y-%m-%d}]{text}(`{source}`)"


def _data(fact: HeldFact, *, is_machine: bool) -> dict[str, Json]:
    text = fact.candidate.text
    return {
        "id": fact.id,
        "scopeKey": fact.scope_key,
        "kind": fact.candidate.kind,
        "text": untrusted(text) if is_machine else text,
        "heldAt": fact.held_at.isoformat(),
        "sourceUser": fact.candidate.source_user,
        "sourceThreadKey": fact.candidate.source_thread_key,
    }

"""``memory erase``: whose records go for good, what is asked first, and what is said of it."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest
import structlog

from commands.builtin.memory_erasing import erase_commands
from commands.errors import UnavailableError
from commands.ports import Lessons
from commands.receipts import InProcessReceipts
from commands.registry import Registry
from commands.result import Code, Result
from commands.spec import Caller, Origin, Surface
from memory.relevance import RelevanceRanker
from memory.store import EraseReceipt, MemoryStore, Stats, StoreDamagedError, StoreUnavailableError
from memory.stores.inprocess import InProcessStore
from memory.stores.null import NullStore
from tests.command_house import ADMIN, ADMINS, CHANNEL, MEMBER, HouseRules, a_caller, noon
from tests.memory_house import FOREIGN_ORG, ORG, OTHERS, OWN, REPO, ROOM, Heard
from tests.memory_records import THREAD, fact

ELSEWHERE = "slack:C9:9.0"
KEYS = (OWN, OTHERS, ORG, ROOM, REPO, FOREIGN_ORG)
IN_THREAD = Origin(CHANNEL, THREAD)


@dataclass(slots=True)
class House:
    """A registry over a store that has one record of this thread and one of another in each scope."""

    store: MemoryStore
    rules: HouseRules
    receipts: InProcessReceipts
    lessons: Lessons | None = None

    async def say(self, line: str, caller: Caller | None = None) -> Result:
        commands = erase_commands(self.store, "acme", self.rules, self.lessons)
        registry = Registry(commands, self.rules, now=noon, receipts=self.receipts)
        return await registry.run_line(line, caller or a_caller())

    async def left(self) -> dict[str, int]:
        return {key: len(await self.store.list(key, 9)) for key in KEYS}

    async def told(self) -> list[tuple[bool, str]]:
        return [(each.is_ok, each.summary) for each in await self.receipts.latest(9)]


def house_of(store: MemoryStore) -> House:
    return House(store, HouseRules(), InProcessReceipts())


@pytest.fixture
async def house() -> AsyncGenerator[House]:
    store = InProcessStore(ranker=RelevanceRanker(), now=noon)
    for key in KEYS:
        await store.write(key, [fact(f"secret of {key}", thread=THREAD), fact(f"plan of {key}", thread=ELSEWHERE)])
    yield house_of(store)
    await store.aclose()


class Failing(InProcessStore):
    """Can be read, and cannot be erased from; or not even counted."""

    def __init__(self, fault: StoreUnavailableError) -> None:
        super().__init__(ranker=RelevanceRanker(), now=noon)
        self.fault = fault

    async def stats(self, scope_key: str | None = None, **_given: object) -> Stats:
        raise self.fault

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        if isinstance(self.fault, StoreDamagedError):
            return EraseReceipt(0, 1)
        raise self.fault

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        raise self.fault


@pytest.mark.parametrize("is_forgotten", [False, True])
async def test_an_own_record_goes_for_good_whatever_its_status(house: House, *, is_forgotten: bool) -> None:
    if is_forgotten:
        await house.store.forget(OWN, f"mem:{OWN}:0")
    with structlog.testing.capture_logs() as lines:
        result = await house.say(f"memory erase mem:{OWN}:0")
    assert result.text == (
        f"🗑️ Erased 1 record for good: `mem:{OWN}:0` of `{OWN}`. "
        "The messages it came from stay as they are, and so do backups."
    )
    assert await house.left() == dict.fromkeys(KEYS, 2) | {OWN: 1}
    again = await house.say(f"memory erase mem:{OWN}:0")
    assert again.code is Code.NOT_FOUND
    assert again.text == f"⚠️ `memory erase`: nothing to erase: `mem:{OWN}:0` is no record of `{OWN}`"
    assert await house.told() == [(False, "not_found"), (True, f"erased mem:{OWN}:0")]
    assert "secret" not in f"{result} {again} {lines}"


@pytest.mark.parametrize("key", [ORG, ROOM, REPO])
async def test_shared_records_are_for_admins_to_erase(house: House, key: str) -> None:
    refused = await house.say(f"memory erase mem:{key}:0")
    assert refused == await house.say(f"memory erase mem:{key}:77")
    assert refused.text == (
        "🚫 `memory erase`: erasing shared records needs an admin; your own you can always erase "
        f"(`memory list me` shows them). Ask {ADMINS}."
    )
    assert await house.left() == dict.fromkeys(KEYS, 2)
    assert (await house.say(f"memory erase mem:{key}:0 --yes", a_caller(caller_id=ADMIN))).is_ok
    assert await house.left() == dict.fromkeys(KEYS, 2) | {key: 1}


@pytest.mark.parametrize("caller_id", [MEMBER, ADMIN, "cli:local", ""])
@pytest.mark.parametrize("key", [OTHERS, FOREIGN_ORG, "user:http:x"])
async def test_nobody_reaches_another_persons_or_organizations_records(house: House, caller_id: str, key: str) -> None:
    """A record that is there looks like one that is not."""
    result = await house.say(f"memory erase mem:{key}:0", a_caller(caller_id=caller_id))
    assert result == await house.say(f"memory erase mem:{key}:77", a_caller(caller_id=caller_id))
    assert result.code is Code.UNAUTHORIZED
    assert result.text.startswith("🚫 `memory erase`: you can only erase your own records")
    assert ADMINS not in result.text
    assert house.rules.touched == []
    assert await house.left() == dict.fromkeys(KEYS, 2)


@pytest.mark.parametrize(
    "word", ["all", "org", "mine", "mem:org:acme", "MEM:org:acme:0", "mem:org:" + "x" * 300 + ":0", "*"]
)
async def test_what_is_neither_id_nor_word_is_told_the_form_and_never_repeated(house: House, word: str) -> None:
    result = await house.say(f"memory erase '{word}' --yes", a_caller(caller_id=ADMIN, origin=IN_THREAD))
    assert result.code is Code.INVALID_INPUT
    assert result.message == (
        "expected a memory id, `mem:<scope>:<number>` (`memory list` shows them), or `me`, or `thread`"
    )
    assert await house.left() == dict.fromkeys(KEYS, 2)


async def test_all_of_ones_own_goes_once_that_is_confirmed(house: House) -> None:
    await house.store.forget(OWN, f"mem:{OWN}:0")
    asked = await house.say("memory erase me")
    assert asked.text == (
        f"`memory erase me --yes` erases all of `{OWN}` for good: 2 records, those out of use included. "
        "Nothing has been erased yet."
    )
    assert asked.reply is not None
    assert (asked.reply.data["isErased"], asked.reply.data["records"]) == (False, 2)
    assert await house.left() == dict.fromkeys(KEYS, 2) | {OWN: 1}
    done = await house.say("memory erase Me --yes")
    assert done.text == (
        f"🗑️ Erased all of `{OWN}` for good: 2 records. The messages it came from stay as they are, and so do backups."
    )
    assert await house.left() == dict.fromkeys(KEYS, 2) | {OWN: 0}
    again = await house.say("memory erase me --yes")
    assert again.text == f"There was nothing to erase in `{OWN}`."
    assert await house.told() == [
        (True, "erased 0 of me"),
        (True, "erased 2 of me"),
        (True, "told what erasing me takes"),
    ]


async def test_who_has_no_memory_of_their_own_erases_none(house: House) -> None:
    nobody = await house.say("memory erase me --yes", a_caller(caller_id=""))
    assert (nobody.code, nobody.message) == (
        Code.INVALID_INPUT,
        "nobody is known to be asking, so there are no records of your own",
    )
    house.rules.unreadable = frozenset({OWN})
    closed = await house.say("memory erase me --yes")
    assert closed.text == f"🚫 `memory erase`: you may not change what is remembered. Ask {ADMINS}."
    assert await house.left() == dict.fromkeys(KEYS, 2)


async def test_what_a_thread_taught_goes_from_every_scope_for_admins_alone(house: House) -> None:
    refused = await house.say("memory erase thread --yes", a_caller(origin=IN_THREAD))
    assert refused.text == (
        "🚫 `memory erase`: what this conversation taught is in other people's memory, too, so erasing it needs an "
        f"admin; your own you can always erase (`memory erase me`). Ask {ADMINS}."
    )
    admin = a_caller(caller_id=ADMIN, origin=IN_THREAD)
    asked = await house.say("memory erase thread", admin)
    assert asked.text == (
        "`memory erase thread --yes` erases for good whatever was learned from this conversation, in the memory of all "
        "whom it taught. Nothing has been erased yet."
    )
    assert await house.left() == dict.fromkeys(KEYS, 2)
    done = await house.say("memory erase thread --yes", admin)
    assert done.text == (
        "🗑️ Erased for good what was learned from this conversation: 6 records of 6 scopes. "
        "The messages it came from stay as they are, and so do backups."
    )
    assert not any(key in f"{done}" for key in KEYS), "whom it taught is nobody's to know"
    assert await house.left() == dict.fromkeys(KEYS, 1)
    again = await house.say("memory erase thread --yes", admin)
    assert again.text == "There was nothing to erase: no record comes from this conversation."
    assert (await house.told())[:2] == [(True, f"erased 0 of {THREAD}"), (True, f"erased 6 of {THREAD}")]


@pytest.mark.parametrize(
    ("surface", "told"),
    [
        (
            Surface.SLASH,
            "this is about one thread, where Slack takes no slash commands: write `!memory erase thread` in it",
        ),
        (Surface.CHAT, "this is about one conversation, and none belongs to this call"),
    ],
)
async def test_without_a_thread_nothing_of_one_is_erased(house: House, surface: Surface, told: str) -> None:
    result = await house.say("memory erase thread --yes", a_caller(surface, ADMIN))
    assert (result.code, result.message) == (Code.INVALID_INPUT, told)
    assert await house.left() == dict.fromkeys(KEYS, 2)


async def test_a_model_that_calls_tools_erases_nothing(house: House) -> None:
    result = await house.say(f"memory erase mem:{OWN}:0", a_caller(Surface.MCP))
    assert result.code is Code.NOT_FOUND
    assert await house.left() == dict.fromkeys(KEYS, 2)


async def test_memory_that_is_off_says_so_and_asks_nobody() -> None:
    rules = HouseRules()
    registry = Registry(erase_commands(None, "acme", rules), rules)
    for word in ("me", "thread", f"mem:{OWN}:0", "x"):
        result = await registry.run_line(f"memory erase {word} --yes", a_caller())
        assert result.code is Code.UNAVAILABLE
        assert result.message.startswith("memory is off in this deployment (`memory.enabled`)")
    assert rules.touched == []


@pytest.mark.parametrize("what", ["me --yes", "thread --yes", f"mem:{OWN}:0"])
async def test_what_could_not_be_erased_is_told_with_what_could(what: str) -> None:
    told = "3 records of 2 scopes were erased, but 1 files could not be looked at: no room"
    house = house_of(Failing(StoreUnavailableError(told)))
    result = await house.say(
        f"memory erase {what}", a_caller(caller_id=ADMIN if "thread" in what else MEMBER, origin=IN_THREAD)
    )
    assert result.text == (
        f"⚠️ `memory erase`: not everything could be erased: {told}. "
        "Give the command once more; what is gone stays gone."
    )
    assert await house.told() == [(False, "unavailable")]


async def test_how_much_there_is_is_told_only_where_that_is_known() -> None:
    down = await house_of(Failing(StoreUnavailableError("no answer"))).say("memory erase me")
    assert (down.code, down.message) == (Code.UNAVAILABLE, "memory could not be reached: no answer")
    uncounted = f"`memory erase me --yes` erases all of `{OWN}` for good. Nothing has been erased yet."
    damaged = house_of(Failing(StoreDamagedError("no database")))
    for house in (damaged, house_of(NullStore())):
        assert (await house.say("memory erase me")).text == uncounted
    gone = await damaged.say("memory erase me --yes")
    assert gone.text.startswith(f"🗑️ Erased all of `{OWN}` for good: what nobody could read or count any more. ")


async def test_what_would_teach_it_again_is_dropped_before_anything_is_erased(house: House) -> None:
    lessons = Heard(house.store, KEYS)
    house.lessons = lessons
    admin = a_caller(caller_id=ADMIN, origin=IN_THREAD)
    for line, caller in (
        ("memory erase me", a_caller()),
        ("memory erase thread", admin),
        (f"memory erase mem:{OWN}:77", a_caller()),
        (f"memory erase mem:{ORG}:0", a_caller()),
        ("memory erase thread --yes", a_caller(origin=IN_THREAD)),
    ):
        await house.say(line, caller)
        assert lessons.dropped == [], line
    for line, caller in (
        (f"memory erase mem:{OWN}:1", a_caller()),
        ("memory erase me --yes", a_caller()),
        ("memory erase thread --yes", admin),
    ):
        assert (await house.say(line, caller)).is_ok
    assert lessons.dropped == [
        ("thread passed over", ELSEWHERE, 12),
        ("person", MEMBER, 11),
        ("thread", THREAD, ADMIN, 10),
    ]


@pytest.mark.parametrize("what", ["me --yes", "thread --yes", f"mem:{ORG}:0"])
async def test_what_cannot_be_kept_from_coming_back_is_not_erased(house: House, what: str) -> None:
    house.lessons = Heard(house.store, KEYS, UnavailableError("what is still to be learned could not be reached"))
    result = await house.say(f"memory erase {what}", a_caller(caller_id=ADMIN, origin=IN_THREAD))
    assert result.text == "⚠️ `memory erase`: what is still to be learned could not be reached"
    assert await house.left() == dict.fromkeys(KEYS, 2)

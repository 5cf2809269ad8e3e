"""``memory forget``: the gate derived from the id, forged ids, and memory that is off or down (section 25)."""

from collections.abc import AsyncGenerator

import pytest
import structlog

from commands.builtin.memory import memory_commands
from commands.errors import UnavailableError
from commands.registry import Registry
from commands.result import Code
from memory.store import Query
from tests.command_house import ADMIN, ADMINS, MEMBER, HouseRules, a_caller
from tests.memory_house import FOREIGN_ORG, ORG, OTHERS, OWN, REPO, ROOM, Heard, House, opened_house
from tests.memory_records import THREAD


@pytest.fixture
async def house() -> AsyncGenerator[House]:
    async with opened_house() as house:
        yield house


async def test_an_own_record_is_forgotten_for_good(house: House) -> None:
    """Criterion: own scope allowed; a second forget finds nothing; an inline run with a receipt."""
    result = await house.say(f"memory forget mem:{OWN}:0")
    assert result.text == (
        f"🧹 Forgot `mem:{OWN}:0` of `{OWN}`. It no longer influences any answer; the row is kept for provenance."
    )
    assert (await house.store.retrieve(OWN, Query("secret", 5))).hits == ()
    again = await house.say(f"memory forget mem:{OWN}:0")
    assert again.code is Code.NOT_FOUND
    assert again.text == f"⚠️ `memory forget`: nothing to forget: `mem:{OWN}:0` is no active record of `{OWN}`"
    assert [(receipt.is_ok, receipt.summary) for receipt in await house.receipts.latest(5)] == [
        (False, "not_found"),
        (True, f"forgot mem:{OWN}:0"),
    ]


async def test_an_id_may_be_given_back_as_the_list_shows_it(house: House) -> None:
    assert f"`mem:{OWN}:0`" in (await house.say("memory list me")).text
    assert (await house.say(f"memory forget `mem:{OWN}:0`")).is_ok
    assert not await house.store.list(OWN, 5)


@pytest.mark.parametrize("key", [ORG, ROOM, REPO])
async def test_shared_records_are_for_admins_to_forget(house: House, key: str) -> None:
    """Criterion: org, repository and channel are admin-gated: refused with the reason, then allowed."""
    refused = await house.say(f"memory forget mem:{key}:0")
    missing = await house.say(f"memory forget mem:{key}:77")
    assert refused == missing
    assert refused.text == (
        "🚫 `memory forget`: forgetting shared records needs an admin; your own you can always forget "
        f"(`memory list me` shows them). Ask {ADMINS}."
    )
    assert len(await house.store.list(key, 5)) == 1
    assert (await house.say(f"memory forget mem:{key}:0", a_caller(caller_id=ADMIN))).is_ok
    assert await house.store.list(key, 5) == []
    assert [receipt.is_ok for receipt in await house.receipts.latest(3)] == [True, False, False]


@pytest.mark.parametrize("caller_id", [MEMBER, ADMIN, "cli:local", ""])
@pytest.mark.parametrize("key", [OTHERS, FOREIGN_ORG, "user:http:x"])
async def test_nobody_reaches_another_persons_or_organizations_records(house: House, caller_id: str, key: str) -> None:
    """Criterion: another person's scope is refused for everyone, admins included."""
    with structlog.testing.capture_logs() as lines:
        result = await house.say(f"memory forget mem:{key}:0", a_caller(caller_id=caller_id))
    assert result.code is Code.UNAUTHORIZED
    assert result.text.startswith("🚫 `memory forget`: you can only forget your own records")
    assert ADMINS not in result.text
    assert house.rules.touched == []
    assert lines[0]["deny_reason"] == "another's scope"
    assert len(await house.store.list(OTHERS, 5)) == 1


async def test_a_person_whose_own_memory_is_closed_is_refused(house: House) -> None:
    house.rules.unreadable = frozenset({OWN})
    result = await house.say(f"memory forget mem:{OWN}:0")
    assert result.text == f"🚫 `memory forget`: you may not change what is remembered. Ask {ADMINS}."


@pytest.mark.parametrize(
    "record_id",
    [
        "1",
        "mem:org:acme",
        "mem:org:acme:",
        "mem:org:acme:00",
        "mem:org:acme:-1",
        "mem:org:acme:1.0",
        "mem:org:acme:0 ",
        "mem:org:acme:0\n",
        "mem:org:ac\x07me:0",
        "mem:org:ac me:0",
        "mem::0",
        "mem:org::0",
        "mem:team:x:0",
        "MEM:org:acme:0",
        "mem:org:acme:\u0661",
        "mem:org:acme:" + "9" * 300,
        "mem:org:acme:" + "9" * 5_000,
        "mem:org:" + "x" * 300 + ":0",
        "' OR 1=1 --",
        "",
    ],
)
async def test_what_is_no_id_is_told_the_form_and_never_repeated(house: House, record_id: str) -> None:
    """Criterion: what is no id is reported and nothing changes."""
    result = await house.registry().run_values("memory.forget", {"id": record_id}, a_caller(caller_id=ADMIN))
    assert result.code is Code.INVALID_INPUT
    assert not record_id or record_id not in result.text.replace("`mem:<scope>:<number>`", "")
    assert house.rules.touched == []


@pytest.mark.parametrize("record_id", [f"mem:{OTHERS}:0:{OWN}:0", f"mem:{OWN}:0:0", f"mem:org:acme:{OWN}:0"])
async def test_a_forged_id_reaches_no_other_scope(house: House, record_id: str) -> None:
    result = await house.say(f"memory forget {record_id}")
    assert result.code is Code.UNAUTHORIZED
    assert [len(await house.store.list(key, 5)) for key in (OWN, OTHERS, ORG)] == [1, 1, 1]


async def test_memory_that_is_off_says_so_and_asks_nobody() -> None:
    """Criterion: memory off → says so (section 24, trap 42)."""
    rules = HouseRules()
    registry = Registry(memory_commands(None, "acme", rules), rules)
    for line in ("memory list", "memory list channel", f"memory forget mem:{OWN}:0", "memory forget x"):
        result = await registry.run_line(line, a_caller())
        assert result.code is Code.UNAVAILABLE
        assert "memory is off in this deployment (`memory.enabled`)" in result.text
    assert rules.touched == []


async def test_a_store_that_is_down_is_a_line_and_never_an_internal_error(house: House) -> None:
    """Criterion: a store failure is a ⚠️ line."""
    await house.store.aclose()
    for line in ("memory list", f"memory forget mem:{OWN}:0"):
        result = await house.say(line)
        assert result.code is Code.UNAVAILABLE
        assert result.message == "memory could not be reached: the memory store is closed"
    assert [receipt.is_ok for receipt in await house.receipts.latest(5)] == [False]


async def test_what_would_teach_it_again_is_dropped_before_it_is_forgotten(house: House) -> None:
    house.lessons = lessons = Heard(house.store, [OWN, ORG])
    for line in (f"memory forget mem:{OWN}:77", f"memory forget mem:{ORG}:0"):
        assert not (await house.say(line)).is_ok
        assert lessons.dropped == [], line
    lessons.fault = UnavailableError("what is still to be learned could not be reached")
    refused = await house.say(f"memory forget mem:{OWN}:0")
    assert refused.text == "⚠️ `memory forget`: what is still to be learned could not be reached"
    assert len(await house.store.list(OWN, 5)) == 1
    lessons.fault = None
    assert (await house.say(f"memory forget mem:{OWN}:0")).is_ok
    assert lessons.dropped == [("thread passed over", THREAD, 2)]

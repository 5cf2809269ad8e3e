"""What people are shown of what was remembered, and how they take it back."""

from datetime import timedelta

import pytest

from app.dispatch.notices import GONE, KEPT, NOT_YOURS, UNREACHABLE, NoticeMode, Notices, sentence, worth_showing
from app.dispatch.unlearning import Kind
from app.errors import StateError
from memory.outcome import Ending, Outcome, Remembered
from memory.record import WriteCounts
from memory.scope import ScopeKind
from memory.store import StoreUnavailableError
from memory.turn import FinishedTurn
from tests.fakes import EPOCH, FakeChat, ManualClock

MINE = Remembered("user:slack:U1", ScopeKind.USER, WriteCounts(), ("mem:user:slack:U1:1",))
STANDING = Remembered(
    "user:slack:U1", ScopeKind.USER, WriteCounts(), ("mem:user:slack:U1:2",), ("mem:user:slack:U1:2",)
)
OURS = Remembered("org:acme", ScopeKind.ORG, WriteCounts(), ("mem:org:acme:1", "mem:org:acme:2"))
THEIRS = Remembered("repo:acme/api", ScopeKind.REPO, WriteCounts(), ("mem:repo:acme/api:1",))
KNOWN = Remembered("org:acme", ScopeKind.ORG, WriteCounts())
TURN = FinishedTurn("k", "slack:C1:1.0", "abcd1234", EPOCH, EPOCH, (), user_id="slack:U1")


class Noted:
    """Whose words teach nothing any more."""

    def __init__(self) -> None:
        self.noted: list[tuple[Kind, str]] = []
        self.fault: StateError | None = None

    async def note(self, kind: Kind, subject: str) -> None:
        if self.fault is not None:
            raise self.fault
        self.noted.append((kind, subject))

    async def latest(self, turn: FinishedTurn) -> None:
        raise AssertionError(turn)


class Store:
    def __init__(self) -> None:
        self.forgotten: list[tuple[str, str]] = []
        self.is_down = False
        self.has_it = True

    async def forget(self, scope_key: str, record_id: str) -> bool:
        if self.is_down:
            raise StoreUnavailableError("down")
        self.forgotten.append((scope_key, record_id))
        return self.has_it


def outcome(*remembered: Remembered) -> Outcome:
    return Outcome(Ending.WRITTEN, remembered=remembered)


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        (NoticeMode.OFF, []),
        (NoticeMode.QUIET, [STANDING, THEIRS, OURS]),
        (NoticeMode.ON, [MINE, STANDING, THEIRS, OURS]),
    ],
)
def test_what_is_shown_depends_on_the_mode_and_nothing_is_shown_of_what_was_known(
    mode: NoticeMode, shown: list[Remembered]
) -> None:
    assert list(worth_showing([MINE, STANDING, THEIRS, OURS, KNOWN], mode)) == shown


def test_the_sentence_counts_and_says_for_whom_without_any_words_of_a_record() -> None:
    assert sentence([MINE]) == "Remembered 1 thing: 1 about you."
    assert sentence([STANDING, OURS]) == "Remembered 3 things: 1 about you, 2 for everyone here."


async def test_what_was_remembered_is_taken_back_once_and_by_the_one_who_said_it() -> None:
    store, chat = Store(), FakeChat()
    notices = Notices(store, NoticeMode.ON, ManualClock(), Noted())
    await notices.tell(TURN, outcome(OURS), chat)
    ((text, token),) = chat.noticed
    assert text == "Remembered 2 things: 2 for everyone here."
    assert "acme" not in token
    assert await notices.take_back(token, "slack:U2") == NOT_YOURS
    assert store.forgotten == []
    assert await notices.take_back(token, "slack:U1") == "Forgotten: 2 things."
    assert store.forgotten == [("org:acme", "mem:org:acme:1"), ("org:acme", "mem:org:acme:2")]
    assert await notices.take_back(token, "slack:U1") == GONE


async def test_an_offer_outlives_a_store_that_is_down_but_not_a_day() -> None:
    store, chat, clock = Store(), FakeChat(), ManualClock()
    notices = Notices(store, NoticeMode.ON, clock, Noted())
    await notices.tell(TURN, outcome(MINE), chat)
    ((_, token),) = chat.noticed
    store.is_down = True
    assert await notices.take_back(token, "slack:U1") == UNREACHABLE
    store.is_down, store.has_it = False, False
    assert await notices.take_back(token, "slack:U1") == GONE, "somebody was faster, by a command"
    await notices.tell(TURN, outcome(MINE), chat)
    clock.elapsed_s += (KEPT + timedelta(seconds=1)).total_seconds()
    assert await notices.take_back(chat.noticed[1][1], "slack:U1") == GONE


async def test_nobody_is_told_of_nothing() -> None:
    chat = FakeChat()
    await Notices(Store(), NoticeMode.QUIET, ManualClock(), Noted()).tell(TURN, outcome(MINE), chat)
    assert chat.noticed == []


async def test_a_scope_that_begins_anew_loses_no_record_to_a_button_from_before() -> None:
    """Its new records have the numbers of those that were erased."""
    store, chat = Store(), FakeChat()
    notices = Notices(store, NoticeMode.ON, ManualClock(), Noted())
    await notices.tell(TURN, outcome(MINE, OURS), chat)
    await notices.tell(TURN, outcome(MINE), chat)
    notices.retract("user:slack:U1")
    both, mine = (token for _, token in chat.noticed)
    assert await notices.take_back(mine, "slack:U1") == GONE
    assert await notices.take_back(both, "slack:U1") == "Forgotten: 2 things."
    assert store.forgotten == [("org:acme", "mem:org:acme:1"), ("org:acme", "mem:org:acme:2")]


async def test_what_is_taken_back_is_not_taught_again_by_the_same_conversation() -> None:
    store, chat, noted = Store(), FakeChat(), Noted()
    notices = Notices(store, NoticeMode.ON, ManualClock(), noted)
    await notices.tell(TURN, outcome(MINE), chat)
    ((_, token),) = chat.noticed
    noted.fault = StateError("locked")
    assert await notices.take_back(token, "slack:U1") == UNREACHABLE
    assert (noted.noted, store.forgotten) == ([], [])
    noted.fault = None
    assert await notices.take_back(token, "slack:U1") == "Forgotten: 1 thing."
    assert noted.noted == [(Kind.THREAD, TURN.thread_key)]

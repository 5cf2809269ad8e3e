"""No word, option or value of a session or config command reaches another's settings or conversation.

Under the product's own table of rights, from every seat.
"""

import sys
from collections.abc import Iterator
from itertools import product

import pytest

from app.access.actor import ActorKind
from app.access.authority import TableAuthority
from app.access.grants import Grants
from app.logs import configure
from commands.preferences import Layer, Name, Setting, Slot
from commands.registry import Registry
from commands.result import Code
from commands.spec import Caller, Origin, Surface
from tests.conversation_house import FakeConversations, InProcessPreferences, TalkHouse, session
from tests.fakes import Members, Rooms

pytestmark = pytest.mark.unfollowed
"""Each command is given by the hundred; those of its own tests are followed."""


PEOPLE = ["slack:U1", "slack:U2", "http:one", "http:two", "mcp:one"]
CHANNELS = ["slack:C1", "slack:C2"]
THREADS = [f"{channel}:{root}.0" for channel, root in product(CHANNELS, (1, 2))]
PROGRAM_THREADS = [f"{platform}:default:default" for platform in ("http", "mcp")]
SLOTS = [
    *(Slot(Layer.USER, person, Name.INSTRUCTIONS) for person in PEOPLE),
    *(Slot(Layer.CHANNEL, channel, Name.INSTRUCTIONS) for channel in CHANNELS),
    *(Slot(Layer.THREAD, thread, Name.MODEL) for thread in THREADS),
]
MARKERS = {slot: f"test/marker{number}end" for number, slot in enumerate(SLOTS)}
TITLES = {thread: f"title{number}end" for number, thread in enumerate([*THREADS, *PROGRAM_THREADS])}


@pytest.fixture(autouse=True)
def only_faults_are_logged(logs_as_in_production: None) -> None:  # noqa: ARG001 - it comes before
    """What others ask for by the thousand would fill a hundred thousand lines."""
    configure("json", "warning", stream=sys.stdout)


def seats() -> Iterator[Caller]:
    for person, thread in product(PEOPLE[:2], THREADS):
        channel = thread.rpartition(":")[0]
        yield Caller(person, Surface.CHAT, Origin(channel, thread, "public"))
        yield Caller(person, Surface.SLASH, Origin(channel, None, "public"))
    for person in PEOPLE[2:]:
        platform = person.partition(":")[0]
        yield Caller(person, Surface(platform), Origin(f"{platform}:default", f"{platform}:default:default", "machine"))


each_seat = pytest.mark.parametrize(
    "caller", list(seats()), ids=lambda seat: f"{seat.id}-{seat.surface}-{seat.origin.thread_key}"
)


def kept() -> dict[Slot, Setting]:
    return {slot: Setting(slot, marker, 1) for slot, marker in MARKERS.items()}


def opened(admins: tuple[str, ...] = ()) -> tuple[TalkHouse, Registry]:
    """Everybody has instructions, every thread a model and a session of its own; nobody else took part in it."""
    sessions = {
        thread: [session(n, is_current=True), session(50 + n, title=title)]
        for n, (thread, title) in enumerate(TITLES.items())
    }
    people = {thread: frozenset({"slack:U9"}) for thread in TITLES}
    authority = TableAuthority("acme", Grants(admins=admins), people=Members(ActorKind.MEMBER), places=Rooms())
    house = TalkHouse(FakeConversations(sessions, people), InProcessPreferences(kept()), authority)
    return house, house.registry()


def own_slots(caller: Caller) -> set[Slot]:
    origin = caller.origin
    subjects = {(Layer.USER, caller.id), (Layer.CHANNEL, origin.channel_id), (Layer.THREAD, origin.thread_key)}
    return {slot for slot in SLOTS if (slot.layer, slot.subject) in subjects}


def attempts() -> Iterator[str]:
    """Lines that try to name somebody else, by every part that takes a text."""
    strangers = [*PEOPLE, *CHANNELS, *THREADS, *PROGRAM_THREADS]
    layers = [*(f"--layer {layer}" for layer in ("user", "thread", "channel")), ""]
    for layer, stranger in product(layers, strangers):
        yield from (
            f"config set {layer} effort low",
            f"config set --layer={stranger} effort low",
            f"config set {layer} model test/x:{stranger}",
            f"config clear {layer} instructions",
            f"config clear {layer} model --version 1",
            f"config clear --layer user:{stranger} model",
            f"config instructions {layer} -- {stranger}: do it",
            f"config instructions {layer}",
            f"config set {layer} agent {stranger}",
            f"config set {layer} repo acme/api",
            f"config clear {layer} repo --version 1",
        )
    yield "config show"


def reads() -> Iterator[str]:
    yield "session list"
    yield "session status"
    for words in (*TITLES.values(), *TITLES, *(str(n) for n in range(12)), *(session(n).session_id for n in range(60))):
        yield from (f"session list {words}", f"session resume {words}", f"session resume --all {words}")
    yield from ("session resume", "session resume --all")


@each_seat
async def test_nobody_changes_or_sees_anothers_settings(caller: Caller) -> None:
    shown: set[Slot] = set()
    house, registry = opened()
    for line in attempts():
        house.preferences.rows = kept()
        result = await registry.run_line(line, caller)
        changed = {slot for slot, row in house.preferences.rows.items() if MARKERS.get(slot) != row.value}
        assert all(slot.layer is Layer.USER and slot.subject == caller.id for slot in changed), line
        data = f"{result.reply.data}" if result.reply is not None else ""
        shown |= {slot for slot, marker in MARKERS.items() if marker in f"{data}{result.text}"}
    assert shown <= own_slots(caller)
    assert Slot(Layer.USER, caller.id, Name.INSTRUCTIONS) in shown


@each_seat
async def test_an_admin_changes_the_place_they_are_in_and_nobody_elses_own(caller: Caller) -> None:
    if caller.surface not in {Surface.CHAT, Surface.SLASH}:
        return
    changed: set[tuple[Layer, str]] = set()
    house, registry = opened((caller.id.removeprefix("slack:"),))
    for line in attempts():
        house.preferences.rows = kept()
        await registry.run_line(line, caller)
        changed |= {
            (slot.layer, slot.subject) for slot, row in house.preferences.rows.items() if MARKERS.get(slot) != row.value
        }
    here = {(Layer.USER, caller.id), (Layer.CHANNEL, f"{caller.origin.channel_id}")}
    thread = caller.origin.thread_key
    assert changed == here | ({(Layer.THREAD, thread)} if thread else set())


@each_seat
async def test_no_way_of_asking_reaches_a_session_of_another_conversation(caller: Caller) -> None:
    shown: set[str] = set()
    house, registry = opened()
    for line in reads():
        result = await registry.run_line(line, caller)
        data = f"{result.reply.data}" if result.reply is not None else ""
        shown |= {thread for thread, title in TITLES.items() if title in f"{data}{result.text}"}
        assert house.talk.asked == []
    assert shown <= {caller.origin.thread_key}


@each_seat
async def test_who_never_spoke_in_a_conversation_changes_nothing_of_it(caller: Caller) -> None:
    lines = ("new x", "reset", "resume 1", "resume --all 1", "retry", "undo", "compress", "title x")
    house, registry = opened()
    for line in lines:
        result = await registry.run_line(f"session {line}", caller)
        assert result.code in {Code.UNAUTHORIZED, Code.INVALID_INPUT}
        assert house.talk.asked == []

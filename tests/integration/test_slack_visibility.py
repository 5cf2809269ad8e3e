"""What Slack tells about channels and people: read over real sockets, kept, shared, bounded, and failing closed."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import ClientSession, web
from structlog.testing import capture_logs

from app.access.actor import ActorKind, ChannelFacts, PersonFacts
from app.background import Background
from app.channel import Visibility
from app.slack.calls import SlackCalls, web_client
from app.slack.lookups import CAPACITY, LOOKUP_FAILED, Freshness, Lookups, UnusableAnswerError
from app.slack.membership import SlackPeople, person_facts
from app.slack.visibility import SlackPlaces, channel_facts
from tests.fakes import ManualClock, until
from tests.playground_api import Api, open_api

TEAM = "T0SWITCH01"
Json = dict[str, object]


@dataclass
class House:
    """Both lookups over one Web API, with time in the test's hand."""

    calls: SlackCalls
    clock: ManualClock = field(default_factory=ManualClock)
    background: Background = field(default_factory=Background)

    def __post_init__(self) -> None:
        self.places = SlackPlaces(self.calls, self.clock, self.background.spawn)
        self.people = SlackPeople(self.calls, TEAM, self.clock, self.background.spawn)


@dataclass
class Scripted:
    """A Web API that answers each call alike, when it is let."""

    answer: Mapping[str, object] = field(default_factory=dict[str, object])
    asked: list[str] = field(default_factory=list[str])
    is_open: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request.path_qs.removeprefix("/api/"))
        await self.is_open.wait()
        return web.json_response(self.answer)


@asynccontextmanager
async def house_at(address: str, token: str) -> AsyncGenerator[House]:
    async with ClientSession() as session:
        house = House(SlackCalls(web_client(session, api_url=f"{address}/api/", token=token)))
        try:
            yield house
        finally:
            await house.background.drain(0.0, 0.0)


@asynccontextmanager
async def scripted(answer: Mapping[str, object]) -> AsyncGenerator[tuple[House, Scripted]]:
    api = Scripted(answer)
    api.is_open.set()
    runner = web.ServerRunner(web.Server(api.handle), shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with house_at(f"http://127.0.0.1:{runner.addresses[0][1]}", "xoxb-test") as house:
            yield house, api
    finally:
        await runner.cleanup()


def channel(**fields: object) -> Json:
    plain: Json = {"is_im": False, "is_mpim": False, "is_private": False, "is_ext_shared": False}
    return {"ok": True, "channel": plain | fields}


def user(**fields: object) -> Json:
    return {"ok": True, "user": {"team_id": TEAM, "is_restricted": False, "is_ultra_restricted": False} | fields}


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with open_api() as opened:
        yield opened


async def test_the_playgrounds_channels_and_people_are_what_they_are(api: Api) -> None:
    api.workspace.members["U0BOB00001"].is_restricted = True
    async with asyncio.timeout(10), house_at(api.origin.base_url, api.app.bot_token) as house:
        assert await house.places.facts("slack:C0GENERAL1") == ChannelFacts(
            Visibility.PUBLIC, is_ext_shared=False, name="general", topic="Company-wide announcements"
        )
        assert await house.places.facts("slack:G0LEADS001") == ChannelFacts(
            Visibility.PRIVATE, is_ext_shared=False, name="leads", topic="Leads only"
        )
        assert await house.people.facts("slack:U0ALICE001") == PersonFacts(ActorKind.MEMBER)
        assert await house.people.facts("slack:U0BOB00001") == PersonFacts(ActorKind.GUEST)
        assert await house.people.facts("slack:U0ADA00001") == PersonFacts(ActorKind.MEMBER, is_workspace_admin=True)
        assert await house.people.facts("slack:U0NOBODY01") == PersonFacts()
        assert await house.places.facts("slack:G0SECRET01") == ChannelFacts(Visibility.PRIVATE)
        assert await house.places.facts("slack:C0NOWHERE1") == ChannelFacts()


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        (channel(), ChannelFacts(Visibility.PUBLIC, is_ext_shared=False)),
        (channel(is_ext_shared=True), ChannelFacts(Visibility.PUBLIC, is_ext_shared=True)),
        (channel(is_private=True), ChannelFacts(Visibility.PRIVATE, is_ext_shared=False)),
        (channel(is_mpim=True, is_private=True), ChannelFacts(Visibility.DM, is_ext_shared=False)),
        ({"channel": {"is_mpim": True}}, ChannelFacts(Visibility.DM, is_ext_shared=None)),
        ({"channel": {"is_im": True}}, ChannelFacts(Visibility.DM, is_ext_shared=False)),
        ({"channel": {"is_private": False}}, ChannelFacts(Visibility.PUBLIC, is_ext_shared=None)),
    ],
)
def test_a_channel_is_read_off_slacks_flags(answer: Json, facts: ChannelFacts) -> None:
    assert channel_facts(answer) == facts


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        (user(), PersonFacts(ActorKind.MEMBER)),
        (user(is_admin=True), PersonFacts(ActorKind.MEMBER, is_workspace_admin=True)),
        (user(is_owner=True), PersonFacts(ActorKind.MEMBER, is_workspace_admin=True)),
        (user(is_restricted=True), PersonFacts(ActorKind.GUEST)),
        (user(is_restricted=True, is_admin=True), PersonFacts(ActorKind.GUEST)),
        (user(is_ultra_restricted=True), PersonFacts(ActorKind.GUEST)),
        (user(team_id="T0OTHER001"), PersonFacts(ActorKind.EXTERNAL)),
        (user(team_id="T0OTHER001", is_admin=True), PersonFacts(ActorKind.EXTERNAL)),
        ({"user": {"team_id": "T0OTHER001"}}, PersonFacts(ActorKind.EXTERNAL)),
        (user(is_stranger=True), PersonFacts(ActorKind.EXTERNAL)),
        (user(team_id="T0HOME0001", enterprise_user={"teams": [TEAM]}), PersonFacts(ActorKind.MEMBER)),
        (user(team_id="T0HOME0001", enterprise_user={"teams": ["T2"]}), PersonFacts(ActorKind.EXTERNAL)),
        (user(deleted=True), PersonFacts()),
        (user(is_bot=True), PersonFacts()),
    ],
)
def test_a_person_is_read_off_slacks_flags(answer: Json, facts: PersonFacts) -> None:
    assert person_facts(answer, TEAM) == facts


@pytest.mark.parametrize(
    "answer",
    [{}, {"channel": None}, {"channel": {}}, {"channel": {"is_private": "perhaps"}}, {"channel": {"is_im": False}}],
)
def test_a_channel_slack_says_too_little_about_is_not_taken_for_public(answer: Json) -> None:
    with pytest.raises(UnusableAnswerError, match=r"^conversations\.info: channel") as caught:
        channel_facts(answer)
    assert "perhaps" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [{}, {"user": {}}, {"user": {"team_id": TEAM}}, {"user": {"team_id": TEAM, "is_restricted": "perhaps"}}],
)
def test_a_person_slack_says_too_little_about_is_not_taken_for_a_member(answer: Json) -> None:
    with pytest.raises(UnusableAnswerError, match=r"^users\.info: user") as caught:
        person_facts(answer, TEAM)
    assert "perhaps" not in str(caught.value)


async def test_those_who_want_the_same_fact_share_one_call() -> None:
    async with asyncio.timeout(10), scripted(channel()) as (house, api):
        api.is_open.clear()
        waiting = [asyncio.ensure_future(house.places.facts("slack:C1")) for _ in range(20)]
        await until(lambda: bool(api.asked))
        waiting.pop().cancel()
        api.is_open.set()
        found = await asyncio.gather(*waiting)
        assert set(found) == {ChannelFacts(Visibility.PUBLIC, is_ext_shared=False)}
        assert api.asked == ["conversations.info?channel=C1"]


async def test_a_fact_is_asked_again_after_ten_minutes() -> None:
    async with asyncio.timeout(10), scripted(channel()) as (house, api):
        await house.places.facts("slack:C1")
        house.clock.elapsed_s = 599.0
        api.answer = channel(is_private=True)
        assert (await house.places.facts("slack:C1")).visibility is Visibility.PUBLIC
        house.clock.elapsed_s = 601.0
        assert (await house.places.facts("slack:C1")).visibility is Visibility.PRIVATE
        assert len(api.asked) == 2


async def test_a_failure_is_unknown_for_its_window_and_logged_once() -> None:
    async with asyncio.timeout(10), scripted({"ok": False, "error": "channel_not_found"}) as (house, api):
        with capture_logs() as lines:
            for _ in range(3):
                assert await house.places.facts("slack:C1") == ChannelFacts()
                assert await house.people.facts("slack:U1") == PersonFacts()
        assert [(line["event"], line["about"], line["id"]) for line in lines] == [
            (LOOKUP_FAILED, "channel", "C1"),
            (LOOKUP_FAILED, "person", "U1"),
        ]
        house.clock.elapsed_s = 61.0
        api.answer = channel() | user()
        assert await house.places.facts("slack:C1") == ChannelFacts()
        assert await house.people.facts("slack:U1") == PersonFacts(ActorKind.MEMBER)
        house.clock.elapsed_s = 601.0
        assert (await house.places.facts("slack:C1")).visibility is Visibility.PUBLIC


@pytest.mark.parametrize(("answer", "known_s"), [(user(), 600.0), ({"ok": False, "error": "user_not_found"}, 60.0)])
async def test_who_was_asked_about_need_not_be_waited_for_while_that_is_kept(answer: Json, known_s: float) -> None:
    """Also a failure. Whom Slack cannot be asked about need never be."""
    async with asyncio.timeout(10), scripted(answer) as (house, api):
        assert not house.people.has_facts("slack:U1")
        await house.people.facts("slack:U1")
        house.clock.elapsed_s = known_s - 1.0
        assert house.people.has_facts("slack:U1")
        assert not house.people.has_facts("slack:U2")
        house.clock.elapsed_s = known_s + 1.0
        assert not house.people.has_facts("slack:U1")
        assert house.people.has_facts("http:ci")
        assert len(api.asked) == 1


async def test_nobody_waits_beyond_the_deadline_and_a_late_answer_is_kept() -> None:
    answered, background, asked = asyncio.Event(), Background(), list[str]()

    async def ask(key: str) -> str:
        asked.append(key)
        await answered.wait()
        return key.lower()

    lookups = Lookups(ask, Freshness(600.0, 600.0), ManualClock(), background.spawn, about="thing")
    async with asyncio.timeout(10):
        assert await lookups.of("C1", deadline_s=0.02) is None
        assert await lookups.of("C1", deadline_s=0.02) is None
        answered.set()
        assert await lookups.of("C1", deadline_s=5.0) == "c1"
        assert asked == ["C1"]
        await background.drain(1.0)


async def test_a_thousand_facts_are_kept_and_the_oldest_goes_first() -> None:
    clock, background, asked = ManualClock(), Background(), list[str]()

    async def ask(key: str) -> str:
        asked.append(key)
        return key.lower()

    lookups = Lookups(ask, Freshness(600.0, 600.0), clock, background.spawn, about="thing")
    async with asyncio.timeout(10):
        for number in range(CAPACITY + 1):
            await lookups.of(f"C{number}")
        assert await lookups.of(f"C{CAPACITY}") == f"c{CAPACITY}"
        assert await lookups.of("C1") == "c1"
        assert len(asked) == CAPACITY + 1
        assert await lookups.of("C0") == "c0"
        assert asked[-1] == "C0"
        await background.drain(1.0)


@pytest.mark.parametrize(
    "place", ["", "C1", "slack:", "slack:c1", "slack:C1/../x", "slack:U1", "teams:C1", "slack:C1\n"]
)
async def test_what_is_no_channel_of_slack_is_never_asked_about(place: str) -> None:
    async with asyncio.timeout(10), scripted(channel()) as (house, api):
        assert (await house.places.facts(place)).is_ext_shared is None
        assert await house.people.facts(place.replace("C1", "D1").replace("U1", "u1")) == PersonFacts()
        assert api.asked == []


async def test_what_an_id_tells_is_not_asked() -> None:
    async with asyncio.timeout(10), scripted(channel()) as (house, api):
        assert (await house.places.facts("slack:D1")).visibility is Visibility.DM
        assert (await house.places.facts("http:default")).visibility is Visibility.MACHINE
        assert api.asked == []


async def test_a_slack_that_does_not_answer_leaves_a_private_channel_private() -> None:
    async with asyncio.timeout(10), scripted({"ok": False, "error": "missing_scope"}) as (house, _):
        assert await house.places.facts("slack:G1") == ChannelFacts(Visibility.PRIVATE, is_ext_shared=None)

"""Whose memory a learned statement becomes (specification, section 23)."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.channel import Visibility as ChannelVisibility
from memory.routing import Origin, Route, Visibility, audience_of, narrowest, route, summary_audience
from memory.scope import ScopeKeyError, ScopeKind

ORG, REPO, CHANNEL, USER = "org:acme", "repo:acme/site", "channel:slack:C1", "user:slack:U1"
FULL = Origin(Visibility.PUBLIC, org="acme", repo="acme/site", channel_id="slack:C1", user_id="slack:U1")
BARE = Origin(Visibility.PUBLIC)
CLOSED = (Visibility.PRIVATE, Visibility.UNKNOWN)
OPEN = (Visibility.PUBLIC, Visibility.MACHINE)


def said(visibility: Visibility, **missing: None) -> Origin:
    return replace(FULL, visibility=visibility, **missing)


Row = tuple[str, str, Origin, Route | None]


def stays(kind: str, place: Visibility, key: str) -> Row:
    return f"{kind} fact from {place} goes to its scope", kind, said(place), Route(key, False, False)


TO_CHANNEL = Route(CHANNEL, True, False)
TO_USER = Route(USER, True, False)
TO_ALL = Route(ORG, False, False)
SCOPES = list(zip(ScopeKind, (ORG, REPO, CHANNEL, USER), strict=True))
ROWS: list[Row] = [
    # The audience's scope when the run has it: a public or machine origin keeps the routing.
    *(stays(kind, place, key) for place in OPEN for kind, key in SCOPES),
    # An org write from a dm is narrowed to the user, else to the channel.
    ("org fact from a dm becomes the person's", "org", said(Visibility.DM), TO_USER),
    ("org fact from a dm of nobody known stays there", "org", said(Visibility.DM, user_id=None), TO_CHANNEL),
    # From private or unknown to the channel, else to the user.
    *((f"org fact from {place} stays in the channel", "org", said(place), TO_CHANNEL) for place in CLOSED),
    *((f"org fact from {place}, no channel", "org", said(place, channel_id=None), TO_USER) for place in CLOSED),
    # Never to repo, whose readers span every channel it is used from.
    ("repo fact from a dm becomes the person's", "repo", said(Visibility.DM), TO_USER),
    *((f"repo fact from {place} stays in the channel", "repo", said(place), TO_CHANNEL) for place in CLOSED),
    # User and channel facts are never moved up, wherever they were said.
    *(stays("channel", place, CHANNEL) for place in (Visibility.DM, *CLOSED)),
    *(stays("user", place, USER) for place in (Visibility.DM, *CLOSED)),
    # What was said openly falls back to the organisation where the run lacks the audience's scope.
    ("repo fact without a repository", "repo", replace(FULL, repo=None), TO_ALL),
    ("repo fact, neither repository nor channel", "repo", replace(FULL, repo=None, channel_id=None), TO_ALL),
    ("channel fact without a channel", "channel", replace(FULL, channel_id=None), TO_ALL),
    ("user fact without a person", "user", replace(FULL, user_id=None), TO_ALL),
    ("channel fact, neither channel nor person", "channel", replace(BARE, org="acme", repo="acme/site"), TO_ALL),
    # What was not said openly never does, and neither does what the organisation may not be told.
    *((f"user fact without a person, {place}", "user", said(place, user_id=None), TO_CHANNEL)
      for place in (Visibility.DM, *CLOSED)),
    *((f"channel fact without a channel, {place}", "channel", said(place, channel_id=None), TO_USER)
      for place in (Visibility.DM, *CLOSED)),
    ("org fact of one who may not reach it", "org", replace(FULL, org=None), TO_CHANNEL),
    ("repo fact of one who may not reach the org", "repo", replace(FULL, org=None, repo=None), TO_CHANNEL),
    *((f"{kind} fact from {place} with no scope at all", kind, replace(BARE, visibility=place), None)
      for kind, place in product(ScopeKind, Visibility)),
]  # fmt: skip


@pytest.mark.parametrize(("audience", "origin", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_every_row_of_the_specification(audience: str, origin: Origin, expected: Route | None) -> None:
    """Section 23, and criterion: the write gate narrows dm to user, private and unknown to channel, never to repo."""
    assert route(ScopeKind(audience), origin) == expected


CORRECTIONS = [
    ("an org record corrected by a fact tagged user", "user", FULL, ORG, Route(ORG, False, True)),
    ("a personal record corrected by a fact tagged org", "org", FULL, USER, Route(USER, False, True)),
    ("a repo record corrected by a fact tagged org", "org", FULL, REPO, Route(REPO, False, True)),
    ("a channel record corrected by a fact tagged org", "org", FULL, CHANNEL, Route(CHANNEL, False, True)),
    ("an org record corrected in a dm", "org", said(Visibility.DM), ORG, Route(USER, True, False)),
    ("an org record corrected in private", "org", said(Visibility.PRIVATE), ORG, Route(CHANNEL, True, False)),
    ("an org record corrected nobody knows where", "org", said(Visibility.UNKNOWN), ORG, Route(CHANNEL, True, False)),
    ("a repo record corrected in private", "repo", said(Visibility.PRIVATE), REPO, Route(CHANNEL, True, False)),
    ("a channel record corrected in private", "org", said(Visibility.PRIVATE), CHANNEL, Route(CHANNEL, False, True)),
    ("a personal record corrected in a dm", "org", said(Visibility.DM), USER, Route(USER, False, True)),
    ("another person's record", "org", FULL, "user:slack:U2", Route(USER, False, False)),
    ("another channel's record", "org", FULL, "channel:slack:C2", Route(CHANNEL, False, False)),
    ("another channel's record, said of a person", "user", FULL, "channel:slack:C2", Route(USER, False, False)),
    ("another person's record, asked by nobody", "org", replace(FULL, user_id=None), "user:slack:U2", None),
]


@pytest.mark.parametrize(
    ("audience", "origin", "target", "expected"), [row[1:] for row in CORRECTIONS], ids=[row[0] for row in CORRECTIONS]
)
def test_a_correction_follows_its_record_and_loses_its_pointer_when_narrowed(
    audience: str, origin: Origin, target: str, expected: Route | None
) -> None:
    """Section 23: supersedes follows the record's scope regardless of the tag; a narrowed one loses its pointer."""
    assert route(ScopeKind(audience), origin, target) == expected


def test_what_makes_no_scope_is_refused() -> None:
    """Section 21: a scope without its input is refused, so there is never a shared anonymous bucket."""
    with pytest.raises(ScopeKeyError):
        route(ScopeKind.USER, replace(FULL, user_id=""))
    with pytest.raises(ScopeKeyError):
        route(ScopeKind.USER, FULL, "team:x")


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("user", "user"),
        ("repo", "repo"),
        ("channel", "channel"),
        ("org", "org"),
        (None, "org"),
        ("team", "org"),
        (3, "org"),
    ],
)
def test_an_audience_that_is_none_means_the_organisation(tag: object, expected: str) -> None:
    """Section 23: org is the default, for any other or missing value."""
    assert audience_of(tag) == expected


@pytest.mark.parametrize(
    ("audiences", "expected"),
    [("", "org"), ("org", "org"), ("org channel", "channel"), ("org channel repo", "repo"), ("repo org user", "user")],
)
def test_a_summary_goes_to_the_narrowest_audience_of_its_facts(audiences: str, expected: str) -> None:
    """Section 23: user, then repo, then channel, then org."""
    assert summary_audience(map(ScopeKind, audiences.split())) == expected


def test_visibilities_are_those_of_a_channel_and_stand_narrowest_first() -> None:
    assert list(Visibility) == ["dm", "private", "unknown", "machine", "public"]
    assert set(Visibility) == {visibility.value for visibility in ChannelVisibility}


@pytest.mark.parametrize(("own", "quoted"), list(product(Visibility, Visibility)))
def test_the_origin_is_as_narrow_as_the_narrowest_quoted(own: Visibility, quoted: Visibility) -> None:
    order = list(Visibility)
    met = narrowest(said(own), [replace(FULL, visibility=quoted)])
    assert met == said(min(own, quoted, key=order.index))


def test_a_closed_conversation_quoted_in_a_public_channel_is_for_the_one_who_asked() -> None:
    secret = Origin(Visibility.PRIVATE, channel_id="slack:C9", user_id="slack:U1")
    assert route(ScopeKind.ORG, narrowest(FULL, [secret])) == Route(USER, True, False)
    assert route(ScopeKind.CHANNEL, narrowest(FULL, [secret])) == Route(USER, True, False)
    assert route(ScopeKind.ORG, narrowest(FULL, [replace(secret, user_id=None)])) is None
    assert route(ScopeKind.ORG, narrowest(FULL, [secret]), CHANNEL) == Route(USER, True, False)


def test_a_public_conversation_quoted_in_a_dm_leaves_what_the_dm_has() -> None:
    quoted = Origin(Visibility.PUBLIC, channel_id="slack:C9")
    assert narrowest(said(Visibility.DM), [quoted]) == said(Visibility.DM)
    assert narrowest(FULL, []) == FULL


PEOPLE = frozenset({"slack:U1", "slack:U2", "slack:U3", "slack:U4"})
CHANNELS = ("slack:C1", "slack:C2", "slack:C3")
TARGETS = (None, ORG, REPO, *(f"channel:{each}" for each in CHANNELS), "user:slack:U1", "user:slack:U2")
MEMBERS = st.fixed_dictionaries({each: st.frozensets(st.sampled_from(sorted(PEOPLE)), min_size=1) for each in CHANNELS})


@st.composite
def turns(draw: st.DrawFn) -> tuple[dict[str, frozenset[str]], list[Origin]]:
    """Who is in which channel; the turn's own origin, and those it quoted."""
    members = draw(MEMBERS)
    asker = draw(st.sampled_from(sorted(PEOPLE)))

    def origin() -> Origin:
        channel = draw(st.sampled_from(CHANNELS))
        if asker not in members[channel]:
            members[channel] |= {asker}
        return Origin(
            draw(st.sampled_from(Visibility)),
            org=draw(st.sampled_from([None, "acme"])),
            repo=draw(st.sampled_from([None, "acme/site"])),
            channel_id=draw(st.sampled_from([None, channel])),
            user_id=draw(st.sampled_from([None, asker])),
        )

    return members, [origin() for _ in range(draw(st.integers(1, 4)))]


def heard(origin: Origin, members: dict[str, frozenset[str]]) -> frozenset[str]:
    """The least that can be said for certain of who heard the words."""
    if origin.visibility in OPEN:
        return PEOPLE
    asker = {origin.user_id} if origin.user_id else set[str]()
    return members[origin.channel_id] | asker if origin.channel_id else frozenset(asker)


def readers(scope_key: str, members: dict[str, frozenset[str]]) -> frozenset[str]:
    kind, _, identifier = scope_key.partition(":")
    return {"channel": members.get(identifier, PEOPLE), "user": frozenset({identifier})}.get(kind, PEOPLE)


@given(turns(), st.sampled_from(ScopeKind), st.sampled_from(TARGETS))
def test_nobody_reads_what_they_could_not_hear(
    turn: tuple[dict[str, frozenset[str]], list[Origin]], audience: ScopeKind, target: str | None
) -> None:
    """Section 23, as a law: readers of the scope are among those who heard everything that the turn quoted."""
    members, (own, *quoted) = turn
    way = route(audience, narrowest(own, quoted), target)
    if way is None:
        return
    for origin in (own, *quoted):
        assert readers(way.scope_key, members) <= heard(origin, members)
    assert not (way.is_narrowed and way.keeps_pointer)
    assert way.keeps_pointer == (way.scope_key == target)


@given(turns(), st.sampled_from(ScopeKind), st.sampled_from(TARGETS))
def test_a_route_never_leaves_the_scopes_of_the_turn_nor_goes_wider_than_asked(
    turn: tuple[dict[str, frozenset[str]], list[Origin]], audience: ScopeKind, target: str | None
) -> None:
    """Section 23: narrowed, never widened; section 21: never a third channel's scope."""
    _members, (own, *quoted) = turn
    way = route(audience, narrowest(own, quoted), target)
    if way is None:
        return
    reachable = {f"org:{own.org}", f"repo:{own.repo}", f"channel:{own.channel_id}", f"user:{own.user_id}"}
    assert way.scope_key in reachable
    went, asked = place_of(way.scope_key), place_of(audience)
    followed = place_of(target or audience)
    met = narrowest(own, quoted)
    has_own = {"org": met.org, "repo": met.repo, "channel": met.channel_id, "user": met.user_id}[audience] is not None
    if target is None and not has_own:
        assert way.scope_key != f"org:{own.org}" or met.visibility in OPEN
        return
    assert went >= (followed if target in reachable else max(asked, followed))


def place_of(scope_key: str) -> int:
    """Widest first; of a scope's key or its kind."""
    return list(ScopeKind).index(ScopeKind(scope_key.partition(":")[0]))

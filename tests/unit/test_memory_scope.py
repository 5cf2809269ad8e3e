"""Whose memory it is (specification, sections 4 and 21)."""

import pytest

from memory.scope import (
    SCOPE_KEY_CHARS,
    ScopeKeyError,
    ScopeKind,
    Scopes,
    in_order,
    kind_of,
    parse_record_id,
    record_id,
    request_scopes,
    scope_key,
)


def test_each_scope_is_derived_from_what_it_is_for() -> None:
    """Criterion: Scope deriver → org:<organization>, user:slack:U…, repo:owner/name, channel:slack:C… each."""
    scopes = request_scopes("acme", user_id="slack:U1", channel_id="slack:C1", repo="acme/site")
    assert scopes == Scopes("org:acme", "repo:acme/site", "channel:slack:C1", "user:slack:U1")


def test_a_request_without_more_has_the_organization_only() -> None:
    """Criterion: requestScopeKeys = org + own user, org-only without identity."""
    assert request_scopes("acme").keys() == ("org:acme",)
    assert request_scopes("acme", user_id="slack:U1").keys() == ("org:acme", "user:slack:U1")


def test_scopes_are_listed_widest_first() -> None:
    """Criterion: listScopeKeys orders org, repo, channel, user (reference-bot 3.2)."""
    keys = request_scopes("acme", user_id="slack:U1", channel_id="slack:C1", repo="acme/site").keys()
    assert keys == ("org:acme", "repo:acme/site", "channel:slack:C1", "user:slack:U1")
    assert in_order([*reversed(keys), *keys]) == list(keys)


@pytest.mark.parametrize("identifier", [None, "", " ", "a b", "a\n", "a\x00", "a\x85", "\u2003", "x" * 197])
@pytest.mark.parametrize("kind", ScopeKind)
def test_there_is_no_scope_for_the_nameless(kind: ScopeKind, identifier: str | None) -> None:
    """Criterion: no organization → refused, never a shared bucket; refuses a missing/empty id (trap 29)."""
    with pytest.raises(ScopeKeyError, match="scope needs an identifier"):
        scope_key(kind, identifier)


@pytest.mark.parametrize("missing", ["user_id", "channel_id", "repo"])
def test_an_empty_identity_is_refused_rather_than_left_out(missing: str) -> None:
    with pytest.raises(ScopeKeyError):
        request_scopes("acme", **{missing: ""})


def test_a_scope_key_has_at_most_two_hundred_characters() -> None:
    """Trap 29: scopeKey of 200 characters passes, 201 fails."""
    longest = scope_key(ScopeKind.ORG, "x" * (SCOPE_KEY_CHARS - len("org:")))
    assert (len(longest), kind_of(longest)) == (200, ScopeKind.ORG)
    with pytest.raises(ScopeKeyError):
        kind_of(longest + "x")


@pytest.mark.parametrize("text", ["", "org", "org:", "team:x", "ORG:x", ":x", "org: x", "orgs:x"])
def test_what_is_no_scope_key_is_refused(text: str) -> None:
    with pytest.raises(ScopeKeyError):
        kind_of(text)
    with pytest.raises(ScopeKeyError):
        in_order([text])


@pytest.mark.parametrize("key", ["org:acme", "user:slack:U1", "repo:a/b:3", "channel:mem:org:x:1"])
def test_a_record_id_leads_back_to_its_scope(key: str) -> None:
    assert parse_record_id(record_id(key, 12)) == (key, 12)
    assert kind_of(key).value == key.partition(":")[0]


@pytest.mark.parametrize(
    "text",
    ["", "mem:", "mem:org:acme", "mem:org:acme:", "mem:org:acme:x", "mem:org:acme:01", "mem:org:acme:-1", "org:acme:1",
     "mem:team:x:1", "mem:org::1", "mem:org:a b:1", "mem:org:acme:1 ", "mem:org:acme:\u0661", "mem:org:acme:1\n"],
)  # fmt: skip
def test_anything_else_is_no_record_id(text: str) -> None:
    """Section 25: a string that is not a memory id is refused."""
    assert parse_record_id(text) is None


def test_an_id_with_an_endless_number_is_no_id() -> None:
    assert parse_record_id("mem:org:acme:" + "9" * 5_000) is None
    assert parse_record_id("mem:org:acme:" + "9" * 18) is not None

"""Which repositories there can be, and that each has one memory however it is spelt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.repository import NONE, SHAPE, chosen, folded, repository_of
from memory.scope import SCOPE_KEY_CHARS, ScopeKind, kind_of, request_scopes, scope_key

names = st.from_regex(SHAPE, fullmatch=True, alphabet=st.characters(codec="ascii"))


@pytest.mark.parametrize(
    ("text", "repository"),
    [
        ("acme/api", "acme/api"),
        ("Acme/API", "acme/api"),
        ("a/b", "a/b"),
        ("acme-corp/.github", "acme-corp/.github"),
        ("octo_acme/next.js", "octo_acme/next.js"),
        ("o" * 39 + "/" + "n" * 100, "o" * 39 + "/" + "n" * 100),
        ("9to5/...", "9to5/..."),
        ("acme/-_-", "acme/-_-"),
    ],
)
def test_a_repository_has_an_owner_and_a_name(text: str, repository: str) -> None:
    assert repository_of(text) == repository


@pytest.mark.parametrize(
    "text",
    [
        "",
        "acme",
        "/api",
        "acme/",
        "acme/api/x",
        "acme/a b",
        " acme/api",
        "acme/api\n",
        "-acme/api",
        "ac.me/api",
        "acme/.",
        "acme/..",
        "acme/api.git",
        "acme/API.Git",
        "acme/api.wiki",
        "äcme/api",
        "acme/\u212aelvin",
        "o" * 40 + "/n",
        "o/" + "n" * 101,
        "acme/a:b",
        "none",
    ],
)
def test_nothing_else_names_one(text: str) -> None:
    assert repository_of(text) is None


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/Acme/API",
        "http://www.github.com/acme/api/",
        "HTTPS://GitHub.com/acme/api.git",
        "github.com/acme/api",
        "git@github.com:acme/api.git",
        "ssh://git@github.com/acme/api",
    ],
)
def test_a_repository_is_known_by_the_address_of_its_page_and_of_its_clone(address: str) -> None:
    assert repository_of(address) == "acme/api"


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com",
        "https://github.com/acme",
        "https://github.com/acme/api/pull/7",
        "https://github.com/acme/api?tab=readme",
        "https://github.com/acme/..",
        "https://github.com/acme/.git",
        "https://github.com/acme/api.wiki.git",
        "https://user:secret@github.com/acme/api",
        "https://github.com.evil.example/acme/api",
        "https://evil.example/github.com/acme/api",
        "https://gitlab.com/acme/api",
        "git@github.com/acme",
        "git@github.com:acme/api /x",
    ],
)
def test_the_address_of_anything_else_names_no_repository(address: str) -> None:
    assert repository_of(address) is None


@pytest.mark.parametrize(("text", "choice"), [("none", NONE), ("None", NONE), ("Acme/API", "acme/api"), ("acme", None)])
def test_no_repository_is_a_choice_as_well(text: str, choice: str | None) -> None:
    assert chosen(text) == choice


@given(names)
def test_no_repository_is_spelt_like_the_choice_of_none(name: str) -> None:
    assert repository_of(name) != NONE


@given(names)
def test_every_spelling_of_a_repository_leads_to_one_scope(name: str) -> None:
    """Section 21: everybody who works in a repository shares its scope."""
    keys = {scope_key(ScopeKind.REPO, spelt) for spelt in (name, name.upper(), name.swapcase(), folded(name))}
    assert keys == {f"repo:{name.lower()}"}
    assert len(keys.pop()) <= SCOPE_KEY_CHARS


@given(names)
def test_what_is_a_repository_is_kept_in_the_spelling_of_its_scope(name: str) -> None:
    found = repository_of(name)
    if found is not None:
        assert found == repository_of(found)
        assert request_scopes("acme", repo=name).repo == f"repo:{found}"


def test_only_repositories_are_the_same_in_every_case() -> None:
    """Ids of a platform are not."""
    assert scope_key(ScopeKind.USER, "slack:U1") == "user:slack:U1"
    assert scope_key(ScopeKind.CHANNEL, "slack:C1") != scope_key(ScopeKind.CHANNEL, "slack:c1")
    assert kind_of("repo:Acme/API") is ScopeKind.REPO

"""Who may talk to the page's backend."""

import pytest

from app.playground.page_guard import is_own_host, refusal

OWN = "127.0.0.1:8123"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8123", "127.8.8.8:1", "localhost", "LOCALHOST:8123", "app.localhost:80", "[::1]:8123"],
)
def test_names_and_addresses_of_this_machine_are_its_own(host: str) -> None:
    assert is_own_host(host, None)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.5:8123",
        "[::1",
        "evil.example:80",
    ],
)
def test_other_names_and_addresses_are_not(host: str) -> None:
    assert not is_own_host(host, None)


def test_the_address_that_was_reached_is_its_own() -> None:
    assert is_own_host("10.0.0.5:8123", "10.0.0.5")
    assert not is_own_host("10.0.0.6:8123", "10.0.0.5")


def test_reading_needs_the_host_only() -> None:
    headers = {"Host": OWN, "Origin": "https://evil.example"}
    assert refusal(headers, None, changes_something=False) is None


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:9999", "null", ""])
def test_acting_is_refused_to_other_origins(origin: str) -> None:
    assert refusal({"Host": OWN, "Origin": origin}, None, changes_something=True)


def test_acting_is_refused_when_the_browser_says_it_comes_from_elsewhere() -> None:
    headers = {"Host": OWN, "Sec-Fetch-Site": "cross-site"}
    assert refusal(headers, None, changes_something=True)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": OWN},
        {"Host": OWN, "Origin": f"http://{OWN}"},
        {"Host": OWN, "Origin": f"http://{OWN}", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_acting_is_allowed_to_the_own_page_and_to_programs(headers: dict[str, str]) -> None:
    assert refusal(headers, None, changes_something=True) is None


def test_a_foreign_host_is_refused_even_with_a_matching_origin() -> None:
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert refusal(headers, None, changes_something=True)

"""The app manifest: within every documented limit, and asking for no more than the bot uses."""

from collections.abc import Mapping
from typing import cast

import pytest

from app.errors import ConfigurationError
from app.slack.manifest import (
    BOT_EVENTS,
    BOT_SCOPES,
    DEFAULT_DESCRIPTION,
    DEFAULT_NAME,
    Json,
    events_url,
    manifest,
)

SCOPE_OF_EVENT = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}


def made(name: str = DEFAULT_NAME, description: str = DEFAULT_DESCRIPTION, *, request_url: str | None = None) -> Json:
    return manifest(name, description, request_url=request_url)


def part(content: Mapping[str, object], *path: str) -> Json:
    for name in path:
        content = cast("Json", content[name])
    return dict(content)


def test_texts_keep_slacks_limits() -> None:
    shown = part(made(), "display_information")
    assert 1 <= len(str(shown["name"])) <= 35
    assert 1 <= len(str(shown["description"])) <= 140
    assert 175 <= len(str(shown["long_description"])) <= 4000
    assert 1 <= len(str(part(made(), "features", "bot_user")["display_name"])) <= 80


def test_the_agent_view_keeps_slacks_limits() -> None:
    view = part(made(), "features", "agent_view")
    prompts = cast("list[Mapping[str, str]]", view["suggested_prompts"])
    assert 1 <= len(str(view["agent_description"])) <= 300
    assert 1 <= len(prompts) <= 4
    assert all(prompt.keys() == {"title", "message"} and all(prompt.values()) for prompt in prompts)


def test_people_can_write_to_the_bot() -> None:
    home = part(made(), "features", "app_home")
    assert home["messages_tab_enabled"] is True
    assert home["messages_tab_read_only_enabled"] is False


def test_it_asks_for_exactly_the_scopes_the_bot_uses() -> None:
    scopes = cast("list[str]", part(made(), "oauth_config", "scopes")["bot"])
    assert scopes == list(BOT_SCOPES)
    assert part(made(), "oauth_config", "scopes").keys() == {"bot"}
    assert len(scopes) <= 255
    assert all(reason.startswith("to ") for reason in BOT_SCOPES.values())


def test_every_event_is_covered_by_a_scope_that_is_asked_for() -> None:
    events = cast("list[str]", part(made(), "settings", "event_subscriptions")["bot_events"])
    assert events == list(BOT_EVENTS)
    assert len(set(events)) == len(events) <= 100
    assert {SCOPE_OF_EVENT[event] for event in events if event in SCOPE_OF_EVENT} <= BOT_SCOPES.keys()
    assert SCOPE_OF_EVENT.keys() <= set(events)


def test_what_the_bot_does_not_have_is_not_declared() -> None:
    assert "shortcuts" not in part(made(), "features")


def test_clicks_come_the_way_events_come() -> None:
    url = "https://bot.example.com/slack/events"
    assert part(made(), "settings", "interactivity") == {"is_enabled": True}
    assert part(made(request_url=url), "settings", "interactivity") == {"is_enabled": True, "request_url": url}


def test_slash_commands_are_those_the_bot_takes_and_go_where_events_go() -> None:
    """Limits of Slack's manifest reference: 32 characters of a command, 2,000 of its description, 50 commands."""
    for url in (None, "https://bot.example.com/slack/events"):
        commands = cast("list[dict[str, str | bool]]", part(made(request_url=url), "features")["slash_commands"])
        assert [command["command"] for command in commands] == ["/memory", "/session", "/config", "/switchboard"]
        for command in commands:
            assert len(str(command["command"])) <= 32
            assert 0 < len(str(command["description"])) <= 2_000
            assert command["should_escape"] is True
            assert command.get("url") == url
    assert "commands" in BOT_SCOPES


def test_socket_mode_and_http_exclude_each_other() -> None:
    over_socket, over_http = made(), made(request_url="https://bot.example.com/slack/events")
    assert part(over_socket, "settings")["socket_mode_enabled"] is True
    assert "request_url" not in part(over_socket, "settings", "event_subscriptions")
    assert part(over_http, "settings")["socket_mode_enabled"] is False
    address = part(over_http, "settings", "event_subscriptions")["request_url"]
    assert address == "https://bot.example.com/slack/events"


def test_a_name_of_its_own_is_used_everywhere() -> None:
    content = made("Robin")
    assert part(content, "display_information")["name"] == "Robin"
    assert part(content, "features", "bot_user")["display_name"] == "Robin"


@pytest.mark.parametrize(
    ("name", "description"), [("n" * 36, "d"), ("", "d"), ("  ", "d"), ("n", "d" * 141), ("n", "")]
)
def test_texts_slack_would_refuse_are_refused_here(name: str, description: str) -> None:
    with pytest.raises(ConfigurationError, match=r"must have 1 to (35|140) characters"):
        made(name, description)


def test_the_longest_texts_are_accepted() -> None:
    shown = part(made("n" * 35, "d" * 140), "display_information")
    assert (shown["name"], shown["description"]) == ("n" * 35, "d" * 140)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("https://bot.example.com", "https://bot.example.com/slack/events"),
        ("https://bot.example.com/", "https://bot.example.com/slack/events"),
        ("https://bot.example.com:8443", "https://bot.example.com:8443/slack/events"),
        ("https://example.com/bots/one/slack/events", "https://example.com/bots/one/slack/events"),
    ],
)
def test_the_request_url_gets_the_bots_path_unless_it_has_one(address: str, url: str) -> None:
    assert events_url(address) == url


@pytest.mark.parametrize("address", ["http://bot.example.com", "bot.example.com", "https://", "https://a b.com", ""])
def test_slack_calls_nothing_but_https(address: str) -> None:
    with pytest.raises(ConfigurationError, match="https"):
        events_url(address)

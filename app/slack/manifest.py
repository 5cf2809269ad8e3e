"""The app manifest: what Slack is asked for, and why."""

from collections.abc import Mapping

from app.errors import ConfigurationError
from app.slack.home import PROMPTS

Json = dict[str, object]

DEFAULT_NAME = "Switchboard"
DEFAULT_DESCRIPTION = "Answers in threads, with the model and the agents of your choice."

EVENTS_PATH = "/slack/events"
"""Where the bot takes what Slack sends over HTTP."""

BOT_SCOPES: Mapping[str, str] = {
    "app_mentions:read": "to notice when somebody mentions the bot",
    "assistant:write": "to show what the bot is doing and to suggest prompts",
    "channels:history": "to read the threads of public channels it was invited to",
    "channels:read": "to tell public channels from others",
    "chat:write": "to answer",
    "commands": "to take slash commands",
    "files:write": "to give a long answer to a command as a file",
    "groups:history": "to read the threads of private channels it was invited to",
    "groups:read": "to tell private channels from others",
    "im:history": "to read what people write to it directly",
    "im:read": "to recognise direct messages",
    "im:write": "to open a direct conversation",
    "mpim:history": "to read the threads of group messages it was added to",
    "mpim:read": "to recognise group messages",
    "users:read": "to know by name whom it talks with",
}
"""Each bot scope and what the bot needs it for."""

BOT_EVENTS: tuple[str, ...] = (
    "agent_session_stopped",
    "app_context_changed",
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
)

NAME_CHARS = 35
DESCRIPTION_CHARS = 140

_LONG_DESCRIPTION = (
    "Mention the bot in a channel and it answers in a thread, word by word as the model writes. "
    "It follows the threads it takes part in without being mentioned again, and answers in direct messages. "
    "It reads a channel only where it was invited, and reads no more of a conversation than the thread "
    "it is asked in. Stop an answer at any time with the stop button. "
    "Which model answers, and with which instructions, is decided by whoever runs the bot."
)


SLASH_COMMANDS = (
    ("/memory", "See and forget what the bot remembers", "list [words] | forget <id>"),
    ("/session", "The conversations you have with the bot here", "list [words] | stop | usage"),
    ("/config", "What you have set for yourself", "show | set <name> <value> | clear <name> | instructions <text>"),
    ("/switchboard", "Everything the bot takes as a command", "help | status show | memory list"),
)
"""Name, description and usage hint; what they do is the command registry's."""


def manifest(name: str, description: str, *, request_url: str | None) -> Json:
    """What Slack's "create from manifest" takes: over Socket Mode, or over HTTP at ``request_url``.

    Raises ``ConfigurationError`` for a text Slack would refuse; the limits are those of Slack's manifest reference.
    """
    _require_length("name", name, NAME_CHARS)
    _require_length("description", description, DESCRIPTION_CHARS)
    return {
        "display_information": {
            "name": name,
            "description": description,
            "long_description": _LONG_DESCRIPTION,
        },
        "features": {
            "agent_view": {
                "agent_description": description,
                "suggested_prompts": [dict(prompt) for prompt in PROMPTS],
            },
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": name, "always_online": True},
            "slash_commands": [_slash_command(*command, request_url) for command in SLASH_COMMANDS],
        },
        "oauth_config": {"scopes": {"bot": list(BOT_SCOPES)}},
        "settings": {
            "event_subscriptions": _subscriptions(request_url),
            "interactivity": {"is_enabled": True} | ({} if request_url is None else {"request_url": request_url}),
            "org_deploy_enabled": False,
            "socket_mode_enabled": request_url is None,
            "token_rotation_enabled": False,
        },
    }


def events_url(address: str) -> str:
    """The request URL for a bot that is reached at ``address``: its own path, or ``EVENTS_PATH`` if it has none.

    Raises ``ConfigurationError`` unless it is an https address, the only kind Slack calls.
    """
    scheme, _, rest = address.partition("://")
    host, _, path = rest.partition("/")
    if scheme != "https" or not host or any(character.isspace() for character in address):
        raise ConfigurationError("the address Slack calls must be a whole https:// address")
    return address if path else f"https://{host}{EVENTS_PATH}"


def _subscriptions(request_url: str | None) -> Json:
    address: Json = {} if request_url is None else {"request_url": request_url}
    return address | {"bot_events": list(BOT_EVENTS)}


def _slash_command(command: str, description: str, usage_hint: str, request_url: str | None) -> Json:
    address = {} if request_url is None else {"url": request_url}
    return {"command": command, "description": description, "usage_hint": usage_hint, "should_escape": True, **address}


def _require_length(what: str, text: str, most: int) -> None:
    if not 1 <= len(text.strip()) <= most:
        raise ConfigurationError(f"the app's {what} must have 1 to {most} characters, not {len(text.strip())}")

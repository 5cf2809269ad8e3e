"""What must hold between settings, beyond each one's own form; depends on how the bot is started."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from pydantic import SecretStr

from config.names import Path, variable
from config.settings import GENERAL_AGENT, ModelSettings, Settings, SlackSettings
from config.sources import CONVENTIONAL

LOCAL_EMBEDDING = "local"
"""What stands for a provider where an embedding model runs in the process itself."""

Finding = tuple[Path, str]
"""A setting and what is wrong with it."""

_TOKEN_KINDS = {
    "xoxb-": "a bot token; it belongs into slack.bot_token",
    "xoxe.xoxb-": "a bot token; it belongs into slack.bot_token",
    "xapp-": "an app-level token; it belongs into slack.app_token",
    "xoxp-": "a user token, which Switchboard does not use",
    "xoxe.xoxp-": "a user token, which Switchboard does not use",
    "xoxe-": "a refresh token or app configuration token, which Switchboard does not use",
}
_BOT_PREFIXES = ("xoxb-", "xoxe.xoxb-")
_APP_PREFIXES = ("xapp-",)
_WHERE = {
    "bot_token": "a bot token (xoxb-…), found at api.slack.com/apps under OAuth & Permissions",
    "app_token": "an app-level token (xapp-…) with connections:write, made at api.slack.com/apps "
    "under Basic Information",
    "signing_secret": "the signing secret, found at api.slack.com/apps under Basic Information",
}


def requirements(settings: Settings, *, slack: bool) -> Iterator[Finding]:
    """What a bot in a real workspace cannot do without; without ``slack``, what a command of the terminal needs."""
    if settings.organization is None:
        yield _missing(("organization",), "the short name of whose bot this is, for example acme")
    if settings.defaults.model is None:
        yield _missing(
            ("defaults", "model"), "<provider>/<model>, for example one of anthropic's or openai's, or offline/demo"
        )
    if slack:
        yield from _slack_requirements(settings.slack)


def references(settings: Settings, agents: Collection[str], providers: Collection[str]) -> Iterator[Finding]:
    """Names of agents and providers that lead nowhere."""
    if settings.defaults.agent not in {GENERAL_AGENT, *agents}:
        yield ("defaults", "agent"), _unknown("agent", {GENERAL_AGENT, *agents}, settings.defaults.agent)
    for name in settings.access.restrict.agents:
        if name not in {GENERAL_AGENT, *agents}:
            yield ("access", "restrict", "agents", name), _unknown("agent", {GENERAL_AGENT, *agents}, name)
    models = {("defaults", "model"): settings.defaults.model}
    models |= {("agents", name, "model"): agent.model for name, agent in settings.agents.items()}
    models |= {("memory", "embedding"): settings.memory.embedding, ("memory", "model"): settings.memory.model}
    for path, model in models.items():
        provider = model.split("/", 1)[0] if model else None
        known = {*providers, LOCAL_EMBEDDING} if path == ("memory", "embedding") else providers
        if provider is not None and provider not in known:
            yield path, _unknown("provider", known, provider)
    yield from _models(settings, providers)


def _models(settings: Settings, providers: Collection[str]) -> Iterator[Finding]:
    """Entries of ``models`` that no call can ever meet, or that say two things at once."""
    for name, model in settings.models.items():
        provider = name.split("/", 1)[0]
        if provider not in providers:
            given = [field for field in ModelSettings.model_fields if field in model.model_fields_set]
            yield ("models", name, *given[:1]), f"is of a model that {_unknown('provider', providers, provider)}"
        if model.included and model.has_price:
            yield ("models", name, "included"), "says that its tokens cost nothing, and a price is set, too; keep one"


def _slack_requirements(slack: SlackSettings) -> Iterator[Finding]:
    needed = ("bot_token", "app_token") if slack.mode == "socket" else ("bot_token", "signing_secret")
    secrets: dict[str, tuple[SecretStr | None, tuple[str, ...]]] = {
        "bot_token": (slack.bot_token, _BOT_PREFIXES),
        "app_token": (slack.app_token, _APP_PREFIXES),
        "signing_secret": (slack.signing_secret, ()),
    }
    for name, (secret, prefixes) in secrets.items():
        path = ("slack", name)
        if secret is None:
            if name in needed:
                yield _missing(path, f"{_WHERE[name]}; slack.mode {slack.mode} needs it")
        elif wrong := _wrong_kind(secret.get_secret_value(), prefixes):
            yield path, f"{wrong}; here goes {_WHERE[name]}"


def _wrong_kind(secret: str, prefixes: tuple[str, ...]) -> str | None:
    """What ``secret`` is instead of something with one of ``prefixes``; without prefixes, of no known kind."""
    if prefixes and secret.startswith(prefixes):
        return None
    for prefix, kind in _TOKEN_KINDS.items():
        if secret.startswith(prefix):
            return f"is {kind}"
    return f"does not start with {prefixes[0]}" if prefixes else None


def _missing(path: Path, what: str) -> Finding:
    name = next((name for name, usual in CONVENTIONAL.items() if usual == path), variable(path))
    return path, f"is required: {what}. Set it in the settings file or as {name}"


def _unknown(what: str, known: Collection[str], name: str) -> str:
    close = get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"names an unknown {what}; known are {', '.join(sorted(known))}{hint}"

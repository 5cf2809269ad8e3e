"""What `switchboard doctor` looks at, as the settings name it."""

from collections.abc import AsyncIterator

from app.bootstrap_commands import organization_of
from app.bootstrap_memory import wish_of
from app.bootstrap_models import catalogue_of
from app.checks import Check
from app.clock import SystemClock
from app.doctor import MemoryProbe, ModelProbe, examine
from app.http.bearer import WHAT_TOKENS_MUST_BE, usable_bearers
from app.slack.health import SlackAccess
from config.settings import Effort, Settings
from memory.scope import ScopeKind, scope_key
from memory.store import StoreUnavailableError
from memory.stores.opening import Choice, StoreKind, StoreRefusedError, choose, open_store

_PROBE_WAIT_S = 60.0
_MEMORIES = {StoreKind.REMOTE: "memory service", StoreKind.POSTGRES: "memory database", StoreKind.SQLITE: "memory"}


def slack_access(settings: Settings) -> SlackAccess:
    slack = settings.slack
    return SlackAccess(
        mode=slack.mode,
        api_url=slack.api_url,
        bot_token=slack.bot_token.get_secret_value() if slack.bot_token else "",
        app_token=slack.app_token.get_secret_value() if slack.app_token else None,
        signing_secret=slack.signing_secret.get_secret_value() if slack.signing_secret else None,
        timeout_s=slack.timeout_s,
    )


def probes(settings: Settings) -> list[ModelProbe]:
    """Every model an answer may be made with, once."""
    wanted: dict[str | None, Effort | None] = {settings.defaults.model: settings.defaults.effort}
    for agent in settings.agents.values():
        wanted.setdefault(agent.model, agent.effort or settings.defaults.effort)
    wait_s = settings.limits.model_connect_s + min(settings.limits.model_idle_s, _PROBE_WAIT_S)
    return [
        ModelProbe(model, effort, settings.providers[model.split("/", 1)[0]].api_key_env, wait_s)
        for model, effort in wanted.items()
        if model is not None
    ]


async def checks(settings: Settings) -> AsyncIterator[Check]:
    """Every check in turn, each as soon as it is known."""
    catalogue = catalogue_of(settings)
    listen = f"{settings.http.host}:{settings.http.port}"
    try:
        memory = memory_probe(settings)
        async for check in examine(slack_access(settings), listen, catalogue, probes(settings), memory):
            yield check
    finally:
        await catalogue.aclose()
    for check in token_checks(settings):
        yield check


def token_checks(settings: Settings) -> list[Check]:
    """Of the tokens of programs, where there are any: the bot would start without them, and turn all programs away."""
    if settings.http.tokens is None:
        return []
    found = usable_bearers(settings.http.tokens)
    if found is None:
        return [Check("tokens of programs", "fail", f"{settings.http.tokens_env} {WHAT_TOKENS_MUST_BE}")]
    return [Check("tokens of programs", "ok", f"{len(found)} usable")]


def memory_probe(settings: Settings) -> MemoryProbe | None:
    """Where an answer would look for what is remembered; None where nowhere."""
    try:
        choice = choose(wish_of(settings))
    except StoreRefusedError as fault:
        return MemoryProbe("memory", lambda reason=str(fault): _refused(reason))
    if choice.kind not in _MEMORIES:
        return None
    ask = _ask_database if choice.kind is StoreKind.POSTGRES else _ask_store
    return MemoryProbe(_MEMORIES[choice.kind], lambda: ask(choice, settings), choice.warnings)


async def _refused(reason: str) -> None:
    raise StoreUnavailableError(reason)


async def _ask_store(choice: Choice, settings: Settings) -> None:
    """For one record of the organisation: it takes the right address and the right token."""
    folder = settings.data_dir / "memory"
    try:
        store = await open_store(choice, directory=folder, ranker=settings.memory.ranker, now=SystemClock().now)
    except StoreRefusedError as fault:
        raise StoreUnavailableError(str(fault)) from fault
    try:
        await store.list(scope_key(ScopeKind.ORG, organization_of(settings)), 1)
    finally:
        await store.aclose()


async def _ask_database(choice: Choice, _settings: Settings) -> None:
    """For nothing: its tables are made when the bot starts, not by looking at it."""
    from memory.stores.postgres_server import DEFAULT_BOUNDS, Server

    async def nothing(connection: object) -> None:
        """To be connected is enough."""

    await Server(choice.address, DEFAULT_BOUNDS).alone(nothing, deadline_s=DEFAULT_BOUNDS.connect_s)

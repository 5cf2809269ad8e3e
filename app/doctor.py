"""`switchboard doctor`: looks at everything the bot depends on and says what to do about what it finds."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from app.agents.providers.base import Completed, Effort, ModelProvider, ModelRequest, Turn
from app.checks import Check
from app.errors import ConfigurationError, ModelBusyError, ModelError, ModelKeyError, ModelUnreachableError
from app.logs import mask
from app.slack.health import SlackAccess, bot_token_checks, http_check, socket_check
from memory.store import StoreUnavailableError

_PROBE = Turn("user", "Answer with the word ok.")
_PROBE_TOKENS = 16
_REASON_CHARS = 300
MEMORY_WAIT_S = 15.0


class Resolved(Protocol):
    """A model reference turned into a provider and that provider's own name of the model."""

    @property
    def provider(self) -> ModelProvider: ...

    @property
    def model(self) -> str: ...


class Models(Protocol):
    """What the doctor needs of the model catalogue."""

    def resolve(self, reference: str) -> Resolved:
        """Raises ``ConfigurationError``."""
        ...


@dataclass(frozen=True, slots=True)
class ModelProbe:
    """One model to be called once."""

    reference: str
    effort: Effort | None
    key_variable: str | None
    """Where its provider's key is looked up; None for a provider without a key."""
    timeout_s: float


@dataclass(frozen=True, slots=True)
class MemoryProbe:
    """Where memory is kept, to be asked for a single thing."""

    name: str
    ask: Callable[[], Awaitable[object]]
    """Raises ``StoreUnavailableError`` or ``ValueError``; their texts say what to do."""
    warnings: tuple[str, ...] = ()


async def examine(
    slack: SlackAccess,
    listen: str,
    models: Models,
    probes: Sequence[ModelProbe],
    memory: MemoryProbe | None = None,
) -> AsyncIterator[Check]:
    """Every check in turn, each as soon as it is known; ``listen`` is where the bot takes HTTP."""
    for check in await bot_token_checks(slack):
        yield _presentable(check)
    yield _presentable(await socket_check(slack) if slack.mode == "socket" else http_check(slack, listen))
    for probe in probes:
        yield _presentable(await model_check(models, probe))
    if memory is not None:
        for warning in memory.warnings:
            yield _presentable(Check(memory.name, "warn", warning))
        yield _presentable(await memory_check(memory))


async def model_check(models: Models, probe: ModelProbe) -> Check:
    """Whether a model answers, found out by asking it for one word."""
    name = f"model {probe.reference}"
    try:
        async with asyncio.timeout(probe.timeout_s):
            await _ask(models.resolve(probe.reference), probe.effort)
    except TimeoutError:
        return Check(name, "fail", f"no answer within {probe.timeout_s:g} s; check the network and its base_url")
    except ModelBusyError:
        return Check(name, "warn", "is reachable and the key is accepted, but it is busy or rate limited; try later")
    except (ModelError, ConfigurationError) as error:
        return Check(name, "fail", _model_advice(error, probe))
    return Check(name, "ok", "answers")


async def memory_check(probe: MemoryProbe) -> Check:
    """Whether memory answers. The bot would start without it, and forget."""
    try:
        async with asyncio.timeout(MEMORY_WAIT_S):
            await probe.ask()
    except TimeoutError:
        return Check(probe.name, "fail", f"no answer within {MEMORY_WAIT_S:g} s")
    except (StoreUnavailableError, ValueError) as error:
        return Check(probe.name, "fail", str(error))
    return Check(probe.name, "ok", "answers")


async def _ask(resolved: Resolved, effort: Effort | None) -> None:
    request = ModelRequest(resolved.model, (), (_PROBE,), _PROBE_TOKENS, effort)
    async with aclosing(resolved.provider.stream(request)) as events:
        async for event in events:
            if isinstance(event, Completed):
                return


def _model_advice(error: Exception, probe: ModelProbe) -> str:
    reason = str(error) or type(error).__name__
    provider = probe.reference.split("/", 1)[0]
    match error:
        case ModelKeyError() if probe.key_variable:
            return f"{reason}; check the key in {probe.key_variable}"
        case ModelKeyError():
            return f"{reason}; name the variable that holds the key as providers.{provider}.api_key_env"
        case ModelUnreachableError():
            return f"cannot be reached ({reason}); check the network and providers.{provider}.base_url"
        case ConfigurationError():
            return reason
        case _:
            return f"refused the call ({reason}); check the model's name and defaults.effort"


def _presentable(check: Check) -> Check:
    """The same on one line, without anything that looks like a credential."""
    text = " ".join(mask(check.text).split())
    return Check(check.name, check.level, text if len(text) <= _REASON_CHARS else f"{text[:_REASON_CHARS]}…")

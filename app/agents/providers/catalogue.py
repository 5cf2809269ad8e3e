"""Which provider a model's name means: ``<provider>/<model>`` against what the operator configured."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from app.agents.providers.base import ModelEvent, ModelProvider, ModelRequest
from app.agents.providers.offline import PAUSE_S, OfflineProvider
from app.errors import ConfigurationError, ModelKeyError, ModelUnreachableError

Kind = Literal["anthropic", "openai", "offline"]
OFFLINE_MODEL = "demo"


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """One provider as it is configured. Without ``base_url`` the vendor itself is meant, which needs a key."""

    kind: Kind
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model that can be called: ``provider.stream(ModelRequest(model=model, …))``."""

    reference: str
    provider: ModelProvider
    model: str


class VendorProvider:
    """Implements ``ModelProvider`` for a vendor's SDK that is imported, in a thread, when it is first needed.

    The import takes about a second, which neither a start nor the event loop can spare.
    """

    def __init__(self, name: str, spec: ProviderSpec, *, connect_s: float, idle_s: float) -> None:
        self._name = name
        self._spec = spec
        self._connect_s = connect_s
        self._idle_s = idle_s
        self._opening = asyncio.Lock()
        self._adapter: ModelProvider | None = None
        self._closed = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        adapter = await self.opened()
        async with aclosing(adapter.stream(request)) as events:
            async for event in events:
                yield event

    async def opened(self) -> ModelProvider:
        """The adapter, made on the first call.

        Raises ``ModelKeyError`` if it needs a key and has none, ``ModelUnreachableError`` after ``aclose``.
        """
        if not self._spec.api_key and self._spec.base_url is None:
            raise ModelKeyError(f"{self._name} has no API key; the environment names none for it")
        async with self._opening:
            if self._closed:
                raise ModelUnreachableError(f"{self._name} is closed")
            if self._adapter is None:
                self._adapter = await asyncio.to_thread(self._made)
            return self._adapter

    async def aclose(self) -> None:
        async with self._opening:
            self._closed = True
            if self._adapter is not None:
                await self._adapter.aclose()

    def _made(self) -> ModelProvider:
        if self._spec.kind == "anthropic":
            from app.agents.providers.anthropic import AnthropicProvider as Made
        else:
            from app.agents.providers.openai import OpenAIProvider as Made
        return Made(
            self._name,
            base_url=self._spec.base_url,
            api_key=self._spec.api_key,
            connect_s=self._connect_s,
            idle_s=self._idle_s,
        )


class Catalogue:
    """The configured providers by name. Adapters are made once, when they are first asked for.

    ``connect_s`` and ``idle_s`` bound every call: the connection, and the silence before and between events.
    """

    def __init__(
        self,
        providers: Mapping[str, ProviderSpec],
        *,
        connect_s: float,
        idle_s: float,
        offline_pause_s: float = PAUSE_S,
    ) -> None:
        self._specs = dict(providers)
        self._connect_s = connect_s
        self._idle_s = idle_s
        self._offline_pause_s = offline_pause_s
        self._made: dict[str, VendorProvider | OfflineProvider] = {}

    def check(self, reference: str) -> None:
        """Raises ``ConfigurationError``, in a sentence for the operator, if ``reference`` means no model here."""
        self._parsed(reference)

    def resolve(self, reference: str) -> ResolvedModel:
        """Raises ``ConfigurationError`` like ``check``. Never blocks: key and SDK are needed only at the call."""
        name, model = self._parsed(reference)
        if name not in self._made:
            self._made[name] = self._provider(name)
        return ResolvedModel(reference, self._made[name], model)

    async def warm(self, reference: str) -> None:
        """Import and open what ``reference`` needs, so that the first call does not wait for it.

        Raises ``ConfigurationError`` like ``check``, and ``ModelKeyError`` if a key is needed and missing.
        """
        provider = self.resolve(reference).provider
        if isinstance(provider, VendorProvider):
            await provider.opened()

    async def aclose(self) -> None:
        """Close everything that was made. Calling it again does nothing."""
        async with AsyncExitStack() as closing:
            while self._made:
                closing.push_async_callback(self._made.popitem()[1].aclose)

    def _provider(self, name: str) -> VendorProvider | OfflineProvider:
        spec = self._specs[name]
        if spec.kind == "offline":
            return OfflineProvider(pause_s=self._offline_pause_s)
        return VendorProvider(name, spec, connect_s=self._connect_s, idle_s=self._idle_s)

    def _parsed(self, reference: str) -> tuple[str, str]:
        """Provider and model, parted at the first slash: models' own names may contain more."""
        name, slash, model = reference.partition("/")
        if not (name and slash and model):
            raise ConfigurationError(
                f'A model is written as <provider>/<model>, but "{reference}" is not. {self._known()}'
            )
        spec = self._specs.get(name)
        if spec is None:
            raise ConfigurationError(f'The model "{reference}" names an unknown provider, "{name}". {self._known()}')
        if spec.kind == "offline" and model != OFFLINE_MODEL:
            raise ConfigurationError(f'The provider "{name}" has one model only: "{name}/{OFFLINE_MODEL}".')
        if spec.base_url is not None and not _is_web_address(spec.base_url):
            raise ConfigurationError(f'The provider "{name}" needs a base_url that begins with http:// or https://.')
        return name, model

    def _known(self) -> str:
        return f"Known providers: {', '.join(sorted(self._specs)) or 'none'}."


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)

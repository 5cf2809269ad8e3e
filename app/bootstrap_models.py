"""The part of the composition root that makes models known, for the bot, the terminal and the checks."""

from app.agents.providers.catalogue import Catalogue, ProviderSpec
from config.settings import ProviderSettings, Settings


def catalogue_of(settings: Settings) -> Catalogue:
    """The models ``settings`` make known; its maker closes it."""
    limits = settings.limits
    return Catalogue(provider_specs(settings), connect_s=limits.model_connect_s, idle_s=limits.model_idle_s)


def provider_specs(settings: Settings) -> dict[str, ProviderSpec]:
    return {name: _spec(provider) for name, provider in settings.providers.items()}


def _spec(provider: ProviderSettings) -> ProviderSpec:
    key = provider.api_key
    return ProviderSpec(
        kind=provider.kind, base_url=provider.base_url, api_key=key.get_secret_value() if key is not None else None
    )

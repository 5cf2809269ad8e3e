"""Which provider a model's name means, and what is made when."""

import pytest

from app.agents.providers.base import Completed
from app.agents.providers.catalogue import Catalogue, ProviderSpec, VendorProvider
from app.agents.providers.offline import OfflineProvider
from app.errors import ConfigurationError, ModelKeyError
from tests.model_servers import REQUEST, read

SPECS = {
    "claude": ProviderSpec("anthropic", api_key="sk-secret"),
    "openai": ProviderSpec("openai"),
    "empty": ProviderSpec("anthropic", api_key=""),
    "local": ProviderSpec("openai", base_url="http://127.0.0.1:9/v1"),
    "offline": ProviderSpec("offline"),
    "broken": ProviderSpec("openai", base_url="localhost:9"),
    "worse": ProviderSpec("openai", base_url="http://[::1"),
}


def catalogue() -> Catalogue:
    return Catalogue(SPECS, connect_s=1, idle_s=1, offline_pause_s=0)


@pytest.mark.parametrize(
    ("reference", "model"),
    [
        ("claude/claude-opus-5-5", "claude-opus-5-5"),
        ("local/meta-llama/Llama-3/q4", "meta-llama/Llama-3/q4"),
        ("offline/demo", "demo"),
    ],
)
def test_a_reference_is_parted_at_its_first_slash(reference: str, model: str) -> None:
    resolved = catalogue().resolve(reference)
    assert (resolved.reference, resolved.model) == (reference, model)


def test_a_provider_is_made_once_for_all_its_models() -> None:
    known = catalogue()
    assert known.resolve("claude/a").provider is known.resolve("claude/b").provider
    assert known.resolve("claude/a").provider is not known.resolve("local/a").provider


def test_each_kind_has_its_adapter() -> None:
    known = catalogue()
    assert isinstance(known.resolve("offline/demo").provider, OfflineProvider)
    assert isinstance(known.resolve("openai/gpt").provider, VendorProvider)


@pytest.mark.parametrize("reference", ["", "claude", "claude/", "/model", "gpt/", "/"])
def test_a_reference_without_provider_or_model_is_explained(reference: str) -> None:
    with pytest.raises(ConfigurationError, match="<provider>/<model>") as caught:
        catalogue().check(reference)
    assert f'"{reference}"' in str(caught.value)
    assert "Known providers: broken, claude, empty, local, offline, openai, worse." in str(caught.value)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("mistral/large", 'unknown provider, "mistral". Known providers: broken, claude'),
        ("offline/gpt", 'one model only: "offline/demo"'),
        ("broken/m", 'provider "broken" needs a base_url that begins with http:// or https://'),
        ("worse/m", 'provider "worse" needs a base_url'),
    ],
)
def test_what_cannot_be_resolved_is_said_in_a_sentence(reference: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as checked:
        catalogue().check(reference)
    with pytest.raises(ConfigurationError) as resolved:
        catalogue().resolve(reference)
    assert said in str(checked.value)
    assert str(checked.value) == str(resolved.value)


def test_without_any_provider_the_sentence_says_so() -> None:
    with pytest.raises(ConfigurationError, match="Known providers: none"):
        Catalogue({}, connect_s=1, idle_s=1).check("a/b")


@pytest.mark.parametrize("reference", ["openai/gpt", "empty/claude"])
async def test_a_missing_key_is_told_at_the_call_and_not_before(reference: str) -> None:
    known = catalogue()
    known.check(reference)
    provider = known.resolve(reference).provider
    with pytest.raises(ModelKeyError, match=f"{reference.split('/', maxsplit=1)[0]} has no API key"):
        await read(provider)
    with pytest.raises(ModelKeyError):
        await known.warm(reference)
    await known.aclose()


async def test_the_offline_model_answers_from_the_catalogue() -> None:
    known = catalogue()
    await known.warm("offline/demo")
    resolved = known.resolve("offline/demo")
    assert isinstance((await read(resolved.provider, REQUEST))[-1], Completed)
    await known.aclose()


def test_a_specs_text_does_not_show_its_key() -> None:
    assert "sk-secret" not in repr(SPECS["claude"])

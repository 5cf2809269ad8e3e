"""Sentence vectors from an ONNX model on this machine; nothing leaves it and nothing is downloaded."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from threading import Lock
from typing import TypeVar, cast

from memory.embedder import EmbedderUnavailableError, legible, unit_vectors
from memory.embedders.files import Find, ModelFiles, local_files
from memory.embedders.runtime import RunOptions, Session, Tokenizer, open_session, open_tokenizer

CHUNK_TEXTS = 16
CHUNK_TOKENS = 512
"""Texts and padded tokens of one run: longer ones are no faster on a processor and take much more memory."""
WORKERS = 2
"""A query need not wait for the records that are embedded meanwhile."""
POOLED_OUTPUT = "sentence_embedding"
HIDDEN_DIMENSIONS = 3
"""Text, token, value: an output that has yet to be pooled."""

T = TypeVar("T")


class OnnxEmbedder:
    """Implements ``Embedder``: mean of the tokens' vectors, each text's first 256 tokens.

    Making one reads the files once through, so it is done in a thread; the libraries and the model are loaded at the
    first call.
    """

    def __init__(self, name: str, files: ModelFiles) -> None:
        self._files = files
        self._model = f"local/{name}@{files.digest()}"
        self._dimension: int | None = None
        self._loading = Lock()
        self._loaded: _Loaded | None = None
        self._workers = ThreadPoolExecutor(WORKERS, "embedder")
        self._closed = False

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int | None:
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        if self._closed:
            raise EmbedderUnavailableError(f"{self._model} is closed")
        plain = [legible(text) for text in texts]
        return await self._in_thread(lambda: self._embedded(plain))

    async def aclose(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._workers.shutdown, cancel_futures=True)
        self._loaded = None

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """What ``work`` gives. The libraries raise bare ``Exception``, so whatever it raises is an outage."""
        running = asyncio.wrap_future(self._workers.submit(work))
        (outcome,) = await asyncio.gather(running, return_exceptions=True)
        if isinstance(outcome, BaseException):
            raise EmbedderUnavailableError(f"{self._model} failed ({type(outcome).__name__})") from outcome
        return outcome

    def _embedded(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        loaded = self._opened()
        rows = loaded.rows(texts)
        vectors = unit_vectors(rows, count=len(texts), dimension=self._dimension)
        if vectors:
            self._dimension = len(vectors[0])
        return vectors

    def _opened(self) -> "_Loaded":
        with self._loading:
            if self._loaded is None:
                self._loaded = _Loaded(*open_session(self._files.model), open_tokenizer(self._files.tokenizer))
            return self._loaded


class _Loaded:
    """A model in memory; any number of threads may use it."""

    def __init__(self, session: Session, run_options: RunOptions, tokenizer: Tokenizer) -> None:
        self._session = session
        self._run_options = run_options
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        self._outputs = [POOLED_OUTPUT] if POOLED_OUTPUT in {node.name for node in session.get_outputs()} else None

    def rows(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text. Texts of like length share a run, so that little of it is padding."""
        # One by one: a batch would start threads of its own, which a process that forks is then warned about.
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        rows: list[list[float]] = [[] for _ in texts]
        for chunk in _chunks([len(ids) for ids in tokens]):
            for at, row in zip(chunk, self._run([tokens[at] for at in chunk]), strict=True):
                rows[at] = row
        return rows

    def _run(self, tokens: Sequence[Sequence[int]]) -> list[list[float]]:
        import numpy as np

        width = max(len(ids) for ids in tokens)
        ids = np.array([[*row, *[0] * (width - len(row))] for row in tokens], dtype=np.int64)
        mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in tokens], dtype=np.int64)
        offered = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: array for name, array in offered.items() if name in self._inputs}
        output = self._session.run(self._outputs, feed, self._run_options)[0]
        if output.ndim == HIDDEN_DIMENSIONS:
            output = (output * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
        return cast("list[list[float]]", output.tolist())


def local_embedder(name: str, find: Find = find_spec) -> OnnxEmbedder:
    """``minilm``, or a folder with model and tokenizer. Reads the disk. Raises ``EmbedderMissingError``."""
    return OnnxEmbedder(name, local_files(name, find))


def _chunks(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of ``lengths``, shortest first, in runs within ``CHUNK_TEXTS`` and ``CHUNK_TOKENS``."""
    chunk: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        if len(chunk) == CHUNK_TEXTS or (chunk and (len(chunk) + 1) * lengths[at] > CHUNK_TOKENS):
            yield chunk
            chunk = []
        chunk.append(at)
    if chunk:
        yield chunk

"""An OpenAI-compatible embeddings endpoint on this machine, and the smallest ONNX models there are."""

import hashlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web
from pydantic import BaseModel

from app.agents.providers.catalogue import ProviderSpec
from app.agents.providers.embeddings import EndpointEmbedder
from tests.model_servers import KEY

DIMENSION = 8


class _Asked(BaseModel):
    model: str
    input: list[str]
    encoding_format: str


def numbers_of(text: str) -> list[float]:
    """Made-up numbers that depend on nothing but the text."""
    return [float(byte) + 1 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSION]]


Answering = Callable[[Sequence[str]], web.Response | None]


@dataclass(slots=True)
class EmbeddingServer:
    """Answers with ``numbers_of`` each text, its last text first; ``answering`` may say something else instead."""

    base_url: str = ""
    answering: Answering = lambda _: None
    asked: list[list[str]] = field(default_factory=list[list[str]])
    requests: list[web.Request] = field(default_factory=list[web.Request])

    async def handle(self, request: web.Request) -> web.Response:
        asked = _Asked.model_validate_json(await request.read())
        self.asked.append(asked.input)
        self.requests.append(request)
        answer = self.answering(asked.input)
        return answer if answer is not None else rows_answer([numbers_of(text) for text in asked.input])


def rows_answer(rows: Sequence[object], **more: object) -> web.Response:
    items = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return web.json_response({"object": "list", "data": items[::-1], "model": "maker/embed-1", **more})


def error_response(status: int, message: str = "No.", **headers: str) -> web.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.json_response({"error": {"message": message, "type": "error"}}, status=status, headers=named)


@asynccontextmanager
async def embedding_server(answering: Answering = lambda _: None) -> AsyncGenerator[EmbeddingServer]:
    server = EmbeddingServer(answering=answering)
    app = web.Application()
    app.router.add_post("/base/embeddings", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.05, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        server.base_url = f"http://{host}:{port}/base"
        yield server
    finally:
        await runner.cleanup()


@asynccontextmanager
async def endpoint_embedder(
    base_url: str, *, api_key: str | None = KEY, call_s: float = 5
) -> AsyncGenerator[EndpointEmbedder]:
    spec = ProviderSpec("openai", base_url, api_key)
    embedder = EndpointEmbedder("vendor/maker/embed-1", spec, connect_s=2, call_s=call_s)
    try:
        yield embedder
    finally:
        await embedder.aclose()


def write_pooled_model(folder: Path, output: str = "sentence_embedding") -> None:
    """A model whose vector of a text is its token numbers: one input, and nothing left to pool.

    The protocol buffer is written by hand (onnx.proto3 has the field numbers).
    """
    cast_to_float = _bytes(1, b"to") + _number(3, 1) + _number(20, 2)
    node = _bytes(1, b"input_ids") + _bytes(2, output.encode()) + _bytes(4, b"Cast") + _bytes(5, cast_to_float)
    graph = (
        _bytes(1, node)
        + _bytes(2, b"pooled")
        + _bytes(11, _matrix(b"input_ids", element=7))
        + _bytes(12, _matrix(output.encode(), element=1))
    )
    (folder / "model.onnx").write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 17)))


def _matrix(name: bytes, element: int) -> bytes:
    """A value of the graph: two dimensions of any size."""
    shape = b"".join(_bytes(1, _bytes(2, each)) for each in (b"batch", b"width"))
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, element) + _bytes(2, shape)))


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])

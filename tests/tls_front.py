"""What an operator puts in front of a memory service: TLS, with a certificate of an authority that a test makes."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trustme


@dataclass(slots=True)
class Front:
    """Where it is, and all that it was told by whoever trusted it."""

    url: str
    heard: bytearray = field(default_factory=bytearray)


def vouching(certificate: trustme.LeafCert) -> ssl.SSLContext:
    """For a server that shows ``certificate``."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)  # pyright: ignore[reportUnknownMemberType] - pyOpenSSL is not installed
    return context


@asynccontextmanager
async def in_front_of(port: int, context: ssl.SSLContext) -> AsyncGenerator[Front]:
    """TLS on a port of its own before what listens on ``port``."""
    front = Front("")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_carried(reader, inner_writer, front.heard), _carried(inner_reader, writer, bytearray()))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        front.url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield front


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: bytearray) -> None:
    try:
        while part := await reader.read(65_536):
            heard += part
            writer.write(part)
            await writer.drain()
    finally:
        writer.close()

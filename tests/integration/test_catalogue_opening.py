"""How vendors' SDKs come into the process: not at the start, not on the event loop, and once."""

import asyncio
import subprocess
import sys

import pytest

from app.agents.providers.base import TextDelta
from app.agents.providers.catalogue import Catalogue, ProviderSpec, VendorProvider
from app.errors import ModelUnreachableError
from tests.model_servers import (
    REQUEST,
    Answer,
    Ending,
    anthropic_end,
    anthropic_start,
    anthropic_text,
    model_server,
    openai_end,
    openai_text,
    read,
    text_of,
)

HELLO = {
    "anthropic": Answer([anthropic_start(), *anthropic_text("Hello"), *anthropic_end()]),
    "openai": Answer([*openai_text("Hello"), *openai_end()]),
}
START = """
import asyncio, sys
from app.agents.providers.catalogue import Catalogue, ProviderSpec
from app.errors import ModelKeyError

async def main():
    kinds = ("anthropic", "openai", "offline")
    catalogue = Catalogue({kind: ProviderSpec(kind) for kind in kinds}, connect_s=1, idle_s=1)
    for kind in kinds:
        catalogue.check(f"{kind}/demo")
        catalogue.resolve(f"{kind}/demo")
    try:
        await catalogue.warm("anthropic/demo")
    except ModelKeyError:
        print("no key")
    await catalogue.aclose()

asyncio.run(main())
print(sorted({"anthropic", "openai", "httpx2", "pydantic"} & set(sys.modules)))
"""
FIRST_CALL = """
import asyncio, sys
from blockbuster import blockbuster_ctx
from app.agents.providers.base import ModelRequest, Turn
from app.agents.providers.catalogue import Catalogue, ProviderSpec

async def main(kind, base_url):
    catalogue = Catalogue({"it": ProviderSpec(kind, base_url, "key")}, connect_s=5, idle_s=5)
    request = ModelRequest("m", (), (Turn("user", "Hi"),), 9)
    with blockbuster_ctx():
        provider = catalogue.resolve("it/m").provider
        print([type(event).__name__ async for event in provider.stream(request)])
        await catalogue.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


async def run_python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints; everything it says on the error stream fails the test."""
    async with asyncio.timeout(30):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", code, *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await process.communicate()
    assert err.decode() == ""
    return out.decode()


@pytest.mark.unfollowed  # other tests go through all of it where the SDKs are imported already
async def test_a_start_that_calls_nobody_imports_no_sdk() -> None:
    assert await run_python(START) == "no key\n[]\n"


@pytest.mark.unfollowed  # as above; following a whole SDK into the process takes as long again
@pytest.mark.parametrize("kind", HELLO)
async def test_the_very_first_call_does_not_block_the_event_loop(kind: str) -> None:
    async with model_server(HELLO[kind]) as server:
        printed = await run_python(FIRST_CALL, kind, server.base_url)
    assert printed.replace("'Counted', ", "") == "['TextDelta', 'Completed']\n"


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_first_calls_side_by_side_share_one_adapter(kind: str) -> None:
    async with asyncio.timeout(20), model_server(HELLO[kind]) as server:
        spec = ProviderSpec("anthropic" if kind == "anthropic" else "openai", server.base_url)
        catalogue = Catalogue({"it": spec}, connect_s=5, idle_s=5)
        provider = catalogue.resolve("it/m").provider
        answers = await asyncio.gather(*(read(provider) for _ in range(3)))
        await catalogue.warm("it/m")
        await catalogue.aclose()
        await catalogue.aclose()
    assert [text_of(events) for events in answers] == ["Hello"] * 3


async def test_closing_the_catalogue_closes_its_adapters() -> None:
    async with asyncio.timeout(20), model_server(HELLO["openai"]) as server:
        catalogue = Catalogue({"it": ProviderSpec("openai", server.base_url)}, connect_s=5, idle_s=5)
        provider = catalogue.resolve("it/m").provider
        assert text_of(await read(provider)) == "Hello"
        await catalogue.aclose()
        with pytest.raises(ModelUnreachableError):
            await read(provider)
        assert len(server.calls) == 1


async def test_a_provider_closed_before_its_first_call_stays_closed() -> None:
    catalogue = Catalogue({"it": ProviderSpec("openai", "http://127.0.0.1:9")}, connect_s=1, idle_s=1)
    provider = catalogue.resolve("it/m").provider
    await catalogue.aclose()
    with pytest.raises(ModelUnreachableError, match="it is closed"):
        await read(provider)


async def test_closing_the_iterator_early_reaches_the_server() -> None:
    answer = Answer(openai_text("Hello"), ending=Ending.HANG)
    async with asyncio.timeout(20), model_server(answer) as server:
        catalogue = Catalogue({"it": ProviderSpec("openai", server.base_url)}, connect_s=5, idle_s=5)
        await catalogue.warm("it/m")
        provider = catalogue.resolve("it/m").provider
        assert isinstance(provider, VendorProvider)
        events = provider.stream(REQUEST)
        assert await anext(events) == TextDelta("Hello")
        await events.aclose()
        await server.disconnected.wait()
        await catalogue.aclose()

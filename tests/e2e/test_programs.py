"""Programs and people at the same running bot: its commands over every wire, and whose memory each one reaches."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent
from pydantic import SecretStr

from app.bootstrap import build
from app.clock import SystemClock
from app.playground.happenings import EphemeralPosted
from app.playground.server import Playground
from app.slack.manifest import EVENTS_PATH
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.sqlite import SqliteStore
from tests.bolt_bots import ephemerals
from tests.command_runs import switchboard
from tests.e2e.conftest import ADA, ALICE, BOB, GENERAL, settings_of
from tests.fakes import OneModel, ScriptedProvider

CI, DEPLOYS = "ci-token-0123456789", "deploys-token-0123456789"
TOKENS = {CI: {"subject": "ci"}, DEPLOYS: {"subject": "deploys", "channel": "builds"}}
ORG = "org:playground"
SECRETS = {
    f"user:slack:{ALICE}": "Alice's own words",
    f"user:slack:{BOB}": "Bob's own words",
    "user:http:ci": "the words of http ci",
    "user:http:deploys": "the words of http deploys",
    "user:mcp:ci": "the words of mcp ci",
    "channel:http:builds": "the words of the builds channel",
    "channel:slack:G0LEADS001": "the words of the leads channel",
    "org:elsewhere": "the words of another organisation",
}


@dataclass(frozen=True, slots=True)
class House:
    """A running bot over SQLite files, and the ids of what it remembers, by scope."""

    playground: Playground
    store: SqliteStore
    folder: Path
    address: str
    ids: dict[str, str]
    seen: list[EphemeralPosted]

    async def api(self, command: str, token: str = CI, **values: object) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=self.address, headers=headers, trust_env=False) as client:
            return await client.post(f"/api/{command}", json=values)

    async def tool(self, name: str, token: str = CI, **arguments: object) -> str:
        """The tool's answer, or the protocol's error, as text."""
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(streamable_http_client(f"{self.address}/mcp", http_client=http)) as client,
        ):
            try:
                (content,) = (await client.call_tool(name, arguments)).content
            except MCPError as refused:
                return str(refused.error)
        assert isinstance(content, TextContent)
        return content.text

    async def slash(self, user: str, text: str) -> str:
        before = len(self.seen)
        await self.playground.people.slash(user, GENERAL, "/memory", text)
        await self.playground.wait_for(lambda: len(self.seen) > before)
        return self.seen[-1].text


@pytest.fixture
async def house(playground: Playground, mode: str, tmp_path: Path) -> AsyncIterator[House]:
    settings = settings_of(playground, mode)
    memory = settings.memory.model_copy(update={"store": "sqlite"})
    http = settings.http.model_copy(update={"tokens": SecretStr(json.dumps(TOKENS))})
    access = settings.access.model_copy(update={"admins": (ADA,)})
    update = {"memory": memory, "http": http, "access": access, "data_dir": tmp_path / "data"}
    store = SqliteStore(tmp_path / "data" / "memory", ranker=RelevanceRanker(), now=SystemClock().now)
    ids: dict[str, str] = {}
    for key, text in {ORG: "what everybody knows"}.items() | SECRETS.items():
        await store.write(key, [MemoryCandidate("fact", text, "slack:C0EARLIER1:1700000000.000100")])
        ids[key] = (await store.list(key, 1))[0].id
    provider = ScriptedProvider(["Hello ", "there."])
    async with (
        build(settings.model_copy(update=update), models=OneModel(provider)) as application,
        application.serving() as port,
    ):
        await application.connected()
        address = f"http://127.0.0.1:{port}"
        if mode == "http":
            await playground.delivery.use_http(f"{address}{EVENTS_PATH}")
        yield House(playground, store, tmp_path, address, ids, ephemerals(playground))
    await store.aclose()


def found(shown: str) -> set[str]:
    """The scopes whose secrets are in what was shown."""
    return {key for key, text in SECRETS.items() if text in shown}


async def test_each_caller_lists_what_is_theirs_and_nobody_elses(house: House) -> None:
    """Specification, sections 4, 21 and 24, on every surface that lists."""
    assert found((await house.api("memory.list")).text) == {"user:http:ci"}
    assert found((await house.api("memory.list", DEPLOYS)).text) == {"user:http:deploys"}
    assert found(await house.tool("memory_list")) == {"user:mcp:ci"}
    assert found(await house.tool("memory_list", DEPLOYS)) == set()
    assert found(await house.slash(ALICE, "list")) == {f"user:slack:{ALICE}"}
    assert found(await house.slash(ADA, "list")) == set()
    assert found((await house.api("memory.list", scope="channel", repo="acme/web")).text) == set()
    for words in ("words", "own", "builds", "leads", "organisation", "alice's", "mcp"):
        assert found((await house.api("memory.list", words=words)).text) <= {"user:http:ci"}
        assert found(await house.slash(BOB, f'list "{words}" --scope all')) <= {f"user:slack:{BOB}"}


async def test_no_id_reaches_what_is_not_the_callers(house: House) -> None:
    """Specification, section 25: the scope is derived from the id, then enforced."""
    for key in {ORG, *SECRETS} - {"user:http:ci"}:
        assert (await house.api("memory.forget", id=house.ids[key])).status_code == 403, key
    for key in {ORG, *SECRETS} - {"user:mcp:ci"}:
        assert "-32001" in await house.tool("memory_forget", id=house.ids[key]), key
    for key in {ORG, *SECRETS} - {f"user:slack:{BOB}"}:
        assert (await house.slash(BOB, f"forget {house.ids[key]}")).startswith("🚫"), key
    for key, record_id in house.ids.items():
        assert [record.id for record in await house.store.list(key, 5)] == [record_id]


async def test_what_is_the_callers_is_forgotten_on_every_surface(house: House) -> None:
    answer = await house.api("memory.forget", id=house.ids["user:http:ci"])
    assert (answer.status_code, answer.json()["data"]["id"]) == (200, house.ids["user:http:ci"])
    assert (await house.tool("memory_forget", id=house.ids["user:mcp:ci"])).startswith("memory.forget: ok\n")
    assert "🧹" in await house.slash(BOB, f"forget {house.ids[f'user:slack:{BOB}']}")
    assert "🧹" in await house.slash(ADA, f"forget {house.ids[ORG]}")
    for key in ("user:http:ci", "user:mcp:ci", f"user:slack:{BOB}", ORG):
        assert await house.store.list(key, 5) == []
    assert (await house.api("memory.forget", id=house.ids["user:http:ci"])).status_code == 404


async def test_what_is_the_callers_is_erased_but_for_a_model_that_calls_tools(house: House) -> None:
    answer = await house.api("memory.erase", what=house.ids["user:http:ci"])
    assert (answer.status_code, answer.json()["data"]["records"]) == (200, 1)
    assert (await house.api("memory.erase", what=house.ids[ORG])).status_code == 403
    assert "there is no such tool" in await house.tool("memory_erase", what=house.ids["user:mcp:ci"])
    assert "there is no such command" in await house.tool("dispatch", text="memory erase me --yes")
    assert "🗑️" in await house.slash(BOB, "erase me --yes")
    assert "write `!memory erase thread` in it" in await house.slash(ADA, "erase thread --yes")
    left = {key for key in house.ids if await house.store.list(key, 5)}
    assert left == set(house.ids) - {"user:http:ci", f"user:slack:{BOB}"}


async def test_stored_text_leaves_for_programs_wrapped_and_for_people_plain(house: House) -> None:
    """Reference bot, 9.11."""
    for shown in ((await house.api("memory.list", scope="org")).text, await house.tool("memory_list", scope="org")):
        assert "what everybody knows" in shown
        assert "UNTRUSTED" in shown
    plain = await house.slash(ALICE, "list org")
    assert "what everybody knows" in plain
    assert "UNTRUSTED" not in plain


async def test_a_program_talks_with_the_bot_over_ingress_and_mcp(house: House) -> None:
    headers = {"Authorization": f"Bearer {CI}"}
    async with httpx.AsyncClient(base_url=house.address, headers=headers, trust_env=False) as client:
        answer = await client.post("/ingress", json={"text": "hello"})
        command = await client.post("/ingress", json={"text": "memory list me"})
    assert (answer.status_code, answer.json()["reply"]) == (200, "Hello there.")
    assert found(command.json()["reply"]) == {"user:http:ci"}
    assert "UNTRUSTED" in command.json()["reply"]
    assert await house.tool("dispatch", text="hello") == "Hello there."


async def test_the_command_line_reads_the_files_while_the_bot_runs(house: House) -> None:
    environ = {"SWITCHBOARD_ORGANIZATION": "playground", "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo"}
    environ |= {"SWITCHBOARD_MEMORY__ENABLED": "true", "SWITCHBOARD_MEMORY__STORE": "sqlite"}
    done = await switchboard(house.folder, "memory", "list", "--scope", "org", "--json", environ=environ)
    assert done.status == 0
    assert house.ids[ORG] in done.out
    gone = await switchboard(house.folder, "memory", "forget", house.ids[ORG], environ=environ)
    assert gone.status == 0
    assert "what everybody knows" not in (await house.api("memory.list")).text

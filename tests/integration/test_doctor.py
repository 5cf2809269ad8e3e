"""The doctor: what it says about models and about everything together, and how the command ends."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.agents.providers.base import Completed, ModelEvent, ModelProvider, ModelRequest, StopReason, TextDelta, Usage
from app.agents.providers.catalogue import Catalogue, ProviderSpec
from app.checks import Check
from app.cli_doctor import memory_probe
from app.doctor import MemoryProbe, ModelProbe, examine, memory_check, model_check
from app.errors import (
    ConfigurationError,
    ModelBusyError,
    ModelKeyError,
    ModelRejectedError,
    ModelUnreachableError,
)
from config.loading import load
from config.settings import PostgresSettings, WorkerSettings
from memory.store import StoreUnavailableError
from tests.command_runs import switchboard
from tests.memory_servers import TOKEN, refusal, scripted
from tests.small_slack import APP_TOKEN, BOT_TOKEN, SmallSlack, access, open_small_slack

BASE = load(environ={}, playground=True)


@pytest.fixture
async def slack() -> AsyncIterator[SmallSlack]:
    async with open_small_slack() as state:
        yield state


class Model:
    """A provider that answers, or raises, or stays silent; keeps what it was asked."""

    def __init__(self, error: Exception | None = None, *, silent: bool = False) -> None:
        self.error = error
        self.silent = silent
        self.asked: list[ModelRequest] = []
        self.ended = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.asked.append(request)
        try:
            if self.silent:
                await asyncio.Event().wait()
            yield TextDelta("o")
            if self.error is not None:
                raise self.error
            yield Completed(StopReason.LENGTH, Usage(5, 1))
        finally:
            self.ended += 1

    async def aclose(self) -> None:
        return None


@dataclass(frozen=True)
class Resolved:
    provider: ModelProvider
    model: str


class Models:
    def __init__(self, model: Model) -> None:
        self.model = model

    def resolve(self, reference: str) -> Resolved:
        provider, _, name = reference.partition("/")
        if provider != "own":
            raise ConfigurationError(f"there is no provider {provider!r}")
        return Resolved(self.model, name)


def probe(reference: str = "own/model", *, key_variable: str | None = "OWN_KEY", timeout_s: float = 5.0) -> ModelProbe:
    return ModelProbe(reference, "low", key_variable, timeout_s)


def deadline() -> asyncio.Timeout:
    return asyncio.timeout(10)


async def test_a_model_is_asked_once_for_few_tokens() -> None:
    model = Model()
    async with deadline():
        check = await model_check(Models(model), probe("own/family/model"))
    assert check == Check("model own/family/model", "ok", "answers")
    (request,) = model.asked
    assert (request.model, request.effort, request.max_output_tokens) == ("family/model", "low", 16)
    assert model.ended == 1


@pytest.mark.parametrize(
    ("error", "level", "advice"),
    [
        (ModelKeyError("refused (401)"), "fail", "refused (401); check the key in OWN_KEY"),
        (ModelBusyError("429", 3.0), "warn", "busy or rate limited; try later"),
        (ModelUnreachableError("refused"), "fail", "check the network and providers.own.base_url"),
        (ModelRejectedError("no such model"), "fail", "(no such model); check the model's name"),
    ],
)
async def test_what_a_model_refuses_is_told_with_what_to_do(error: Exception, level: str, advice: str) -> None:
    model = Model(error)
    async with deadline():
        check = await model_check(Models(model), probe())
    assert check.level == level
    assert advice in check.text
    assert model.ended == 1


async def test_a_missing_key_without_a_variable_is_told() -> None:
    async with deadline():
        check = await model_check(Models(Model(ModelKeyError("no key"))), probe(key_variable=None))
    assert check.text == "no key; name the variable that holds the key as providers.own.api_key_env"


async def test_a_silent_model_is_waited_for_no_longer_than_said() -> None:
    model = Model(silent=True)
    async with deadline():
        check = await model_check(Models(model), probe(timeout_s=0.02))
    assert (check.level, check.text.split(";")[0]) == ("fail", "no answer within 0.02 s")
    assert model.ended == 1


async def test_an_unknown_provider_is_told() -> None:
    check = await model_check(Models(Model()), probe("nobody/model"))
    assert (check.level, check.text) == ("fail", "there is no provider 'nobody'")


async def test_the_real_catalogue_fits_and_its_demo_model_answers() -> None:
    catalogue = Catalogue({"offline": ProviderSpec("offline")}, connect_s=1, idle_s=1, offline_pause_s=0)
    async with deadline():
        check = await model_check(catalogue, probe("offline/demo", key_variable=None))
        await catalogue.aclose()
    assert check == Check("model offline/demo", "ok", "answers")


async def test_everything_is_looked_at_in_turn_on_short_lines_without_credentials(slack: SmallSlack) -> None:
    slack.identity["team"] = f"Acme\n{BOT_TOKEN}" + "x" * 400
    models = Models(Model(ModelRejectedError("key sk-ant-SECRET\nis not the point")))
    async with deadline():
        checks = [check async for check in examine(access(slack.address), "127.0.0.1:1", models, [probe()])]
    assert [check.name for check in checks] == ["Slack bot token", "Slack scopes", "Socket Mode", "model own/model"]
    shown = " ".join(check.text for check in checks)
    assert "\n" not in shown
    assert not any(secret in shown for secret in (BOT_TOKEN, APP_TOKEN, "SECRET"))
    assert all(len(check.text) <= 301 for check in checks)


async def test_over_http_no_socket_is_opened(slack: SmallSlack) -> None:
    async with deadline():
        over_http = access(slack.address, secret="s3cret")
        checks = [check async for check in examine(over_http, "127.0.0.1:1", Models(Model()), [])]
    assert [check.name for check in checks] == ["Slack bot token", "Slack scopes", "Slack over HTTP"]
    assert [method for method, _ in slack.calls] == ["auth.test"]


async def doctor_command(slack: SmallSlack, folder: Path, **environ: str) -> tuple[int | None, str]:
    given = {
        "SLACK_API_URL": f"{slack.address}/api",
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SWITCHBOARD_ORGANIZATION": "acme",
        "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo",
    }
    done = await switchboard(folder, "doctor", environ=given | environ)
    return done.status, done.out + done.err


def levels(output: str) -> dict[str, str]:
    """The level of each check by its name."""
    found = (line.split(maxsplit=1) for line in output.splitlines())
    return {rest.split(": ")[0]: level for level, rest in found}


async def test_the_command_says_ok_and_leaves_with_0(slack: SmallSlack, tmp_path: Path) -> None:
    status, output = await doctor_command(slack, tmp_path)
    assert levels(output) == {
        "settings": "ok",
        "Slack bot token": "ok",
        "Slack scopes": "ok",
        "Socket Mode": "ok",
        "model offline/demo": "ok",
    }
    assert status == 0


async def test_the_command_leaves_with_1_if_anything_fails(slack: SmallSlack, tmp_path: Path) -> None:
    slack.open_error = "invalid_auth"
    status, output = await doctor_command(
        slack,
        tmp_path,
        SWITCHBOARD_AGENTS__REVIEWER__PROMPT="You review.",
        SWITCHBOARD_AGENTS__REVIEWER__MODEL="anthropic/claude-sonnet-5-5",
    )
    found = levels(output)
    assert (status, found["Socket Mode"], found["model offline/demo"]) == (1, "fail", "ok")
    assert found["model anthropic/claude-sonnet-5-5"] == "fail"
    assert "check the key in ANTHROPIC_API_KEY" in output
    assert not any(secret in output for secret in (BOT_TOKEN, APP_TOKEN, "Traceback"))


@pytest.mark.parametrize(
    ("tokens", "status", "line"),
    [
        ('{"a-long-random-token": {"subject": "ci"}}', 0, "ok    tokens of programs: 1 usable"),
        (
            '{"short": {"subject": "ci"}}',
            1,
            "fail  tokens of programs: SWITCHBOARD_INGRESS_TOKENS must be a JSON object",
        ),
        (
            "SECRETNONSENSE",
            1,
            "fail  tokens of programs: SWITCHBOARD_INGRESS_TOKENS must be a JSON object of tokens (16",
        ),
    ],
)
async def test_the_command_looks_whether_programs_tokens_can_be_used(
    slack: SmallSlack, tmp_path: Path, tokens: str, status: int, line: str
) -> None:
    found, output = await doctor_command(slack, tmp_path, SWITCHBOARD_INGRESS_TOKENS=tokens)
    assert (found, output.splitlines()[-1][: len(line)]) == (status, line)
    assert "SECRETNONSENSE" not in output


async def test_faulty_settings_are_the_commands_first_finding(slack: SmallSlack, tmp_path: Path) -> None:
    status, output = await doctor_command(slack, tmp_path, SWITCHBOARD_ORGANIZATION="")
    assert status == 1
    assert levels(output) == {"settings": "fail", "the rest": "warn"}
    assert slack.calls == []


async def answering() -> None:
    """Memory is there."""


@pytest.mark.parametrize("fault", [StoreUnavailableError("check the token"), ValueError("check the token")])
async def test_a_memory_that_cannot_be_asked_is_told_with_what_to_do(fault: Exception) -> None:
    async def failing() -> None:
        raise fault

    assert await memory_check(MemoryProbe("memory service", answering)) == Check("memory service", "ok", "answers")
    assert await memory_check(MemoryProbe("memory", failing)) == Check("memory", "fail", "check the token")


async def test_what_memory_is_warned_of_is_told_before_it_is_asked(slack: SmallSlack) -> None:
    memory = MemoryProbe("memory", answering, ("a restart forgets everything",))
    over_http = access(slack.address, secret="s3cret")
    async with deadline():
        checks = [check async for check in examine(over_http, "127.0.0.1:1", Models(Model()), [], memory)]
    assert [(check.name, check.level) for check in checks[-2:]] == [("memory", "warn"), ("memory", "ok")]


@pytest.mark.parametrize(
    ("memory", "name", "text"),
    [
        ({"store": "postgres"}, "memory", r"memory\.postgres\.url"),
        ({"store": "remote"}, "memory", None),
        ({"store": "sqlite"}, "memory", None),
        (
            {"worker": WorkerSettings(base_url="http://127.0.0.1:1", token=SecretStr(TOKEN))},
            "memory service",
            "reached",
        ),
        (
            {"worker": WorkerSettings(base_url="https://c", token=SecretStr(TOKEN), ca_file=Path("/no/such.pem"))},
            "memory service",
            r"memory\.worker\.ca_file: /no/such\.pem",
        ),
        (
            {"store": "postgres", "postgres": PostgresSettings(url=SecretStr(f"postgresql://a:{TOKEN}@127.0.0.1:1/m"))},
            "memory database",
            "127.0.0.1",
        ),
    ],
)
async def test_memory_is_looked_for_where_the_settings_say(
    tmp_path: Path, memory: dict[str, object], name: str, text: str | None
) -> None:
    changed = BASE.memory.model_copy(update={"enabled": True, "store": "auto", **memory})
    found = memory_probe(BASE.model_copy(update={"data_dir": tmp_path, "organization": "acme", "memory": changed}))
    assert found is not None
    assert found.name == name
    async with deadline():
        check = await memory_check(found)
    assert check.level == ("ok" if text is None else "fail")
    assert re.search(text or "answers", check.text)
    assert TOKEN not in check.text


@pytest.mark.parametrize("memory", [{}, {"enabled": True, "store": "inprocess"}])
def test_a_memory_that_is_nowhere_is_not_looked_for(memory: dict[str, object]) -> None:
    assert memory_probe(BASE.model_copy(update={"memory": BASE.memory.model_copy(update=memory)})) is None


async def test_the_command_asks_the_memory_service_with_its_token(slack: SmallSlack, tmp_path: Path) -> None:
    async with scripted(refusal(401)) as remote:
        given = {"SWITCHBOARD_MEMORY__WORKER__BASE_URL": remote.service.base_url, "MEMORY_TOKEN": TOKEN}
        status, output = await doctor_command(slack, tmp_path, SWITCHBOARD_MEMORY__ENABLED="true", **given)
        assert (status, levels(output)["memory service"]) == (1, "fail")
        assert remote.last.headers["authorization"] == f"Bearer {TOKEN}"
    assert "memory.worker.token_env" in output
    assert TOKEN not in output

"""OpenAI's Chat Completions, and every server that speaks them."""

from collections.abc import AsyncGenerator, Iterator
from typing import Literal
from urllib.parse import urlsplit

from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    AsyncOpenAI,
    AsyncStream,
    Omit,
    OpenAIError,
    Timeout,
    omit,
)
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
from pydantic import BaseModel, ConfigDict

from app.agents.providers.base import Completed, Counted, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.agents.providers.failures import Failure, failure_error, private_texts, retry_after_s
from app.errors import ModelError, ModelUnreachableError

OFFICIAL_URL = "https://api.openai.com/v1"
UNSENT_KEY = "unsent"
"""Given to the SDK so that it looks for no key of its own in the environment; never sent."""

STOP_REASONS = {"length": StopReason.LENGTH, "content_filter": StopReason.REFUSAL}
"""Everything else ends the answer as meant: ``stop``, ``tool_calls``, and the words of compatible servers."""


LimitName = Literal["max_completion_tokens", "max_tokens"]


class _Part(BaseModel):
    model_config = ConfigDict(from_attributes=True, hide_input_in_errors=True)


class _CachedTokens(_Part):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Tokens(_Part):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None


class _Delta(_Part):
    content: str | None = None
    refusal: str | None = None


class _Choice(_Part):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(_Part):
    """The fields read of a chunk. Compatible servers leave out much, so all of them may be missing."""

    choices: list[_Choice] | None = None
    usage: _Tokens | None = None


class _Reading:
    """What the chunks of one call have said so far."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._refused = False
        self._usage = Usage()

    def events(self, chunk: _Chunk) -> Iterator[ModelEvent]:
        """Take ``chunk`` in; what it says of the answer, and of its tokens, which OpenAI itself counts at the end."""
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
            yield Counted(self._usage)
        if chunk.choices and (text := self._text(chunk.choices[0])):
            yield TextDelta(text)

    def _text(self, choice: _Choice) -> str:
        """The words of a refusal are the answer."""
        self.finish_reason = choice.finish_reason or self.finish_reason
        delta = choice.delta or _Delta()
        self._refused = self._refused or bool(delta.refusal)
        return (delta.content or "") + (delta.refusal or "")

    def completed(self) -> Completed:
        stop_reason = STOP_REASONS.get(self.finish_reason or "", StopReason.END)
        return Completed(StopReason.REFUSAL if self._refused else stop_reason, self._usage)


class OpenAIProvider:
    """Implements ``ModelProvider``. Making one reads files, so the catalogue does it in a thread.

    ``base_url`` None is OpenAI itself. A limit on the answer goes as ``max_completion_tokens`` to OpenAI, whose newer
    models take nothing else, and as ``max_tokens`` to every other address, whose servers often know nothing else.
    ``connect_s`` bounds the connection; ``idle_s`` bounds the silence before and between events, where anything that
    arrives counts, comments included.
    """

    def __init__(
        self, name: str, *, base_url: str | None, api_key: str | None, connect_s: float, idle_s: float
    ) -> None:
        self._name = name
        self._api_key = api_key
        self.limit_name = _limit_name(base_url or OFFICIAL_URL)
        self._asks_usage = True
        self._client = AsyncOpenAI(
            api_key=UNSENT_KEY,
            base_url=base_url or OFFICIAL_URL,
            timeout=Timeout(idle_s, connect=connect_s),
            max_retries=0,
        )
        self._completions = self._client.chat.completions

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self._client.is_closed():
            raise ModelUnreachableError(f"{self._name} is closed")
        reading = _Reading()
        try:
            async with await self._begin(request) as chunks:
                async for chunk in chunks:
                    for said in reading.events(_Chunk.model_validate(chunk)):
                        yield said
        except (OpenAIError, ValueError) as exc:
            raise self._error(exc, request) from exc
        if reading.finish_reason in {None, "error"}:
            raise ModelUnreachableError(f"{self._name} broke off in mid-stream")
        yield reading.completed()

    async def aclose(self) -> None:
        await self._client.close()

    async def _begin(self, request: ModelRequest) -> AsyncStream[ChatCompletionChunk]:
        """The opened stream; a server that refuses to report usage is asked once more without it, and remembered."""
        asks_usage = self._asks_usage
        try:
            return await self._create(request, asks_usage=asks_usage)
        except APIStatusError as exc:
            if not (asks_usage and exc.status_code in {400, 422} and "stream_options" in exc.response.text):
                raise
        self._asks_usage = False
        return await self._create(request, asks_usage=False)

    async def _create(self, request: ModelRequest, *, asks_usage: bool) -> AsyncStream[ChatCompletionChunk]:
        limit = request.max_output_tokens
        return await self._completions.create(
            model=request.model,
            messages=_messages(request),
            max_completion_tokens=limit if self.limit_name == "max_completion_tokens" else omit,
            max_tokens=limit if self.limit_name == "max_tokens" else omit,
            reasoning_effort=request.effort or omit,
            stream=True,
            stream_options={"include_usage": True} if asks_usage else omit,
            extra_headers=self._headers(),
        )

    def _headers(self) -> dict[str, str | Omit]:
        """Only what the settings say: the SDK would add an organisation and a project from the environment."""
        authorization = f"Bearer {self._api_key}" if self._api_key else omit
        return {"Authorization": authorization, "OpenAI-Organization": omit, "OpenAI-Project": omit}

    def _error(self, exc: Exception, request: ModelRequest) -> ModelError:
        if isinstance(exc, APIConnectionError):
            cause = type(exc.__cause__ or exc).__name__
            return ModelUnreachableError(f"{self._name} could not be reached or fell silent ({cause})")
        if not isinstance(exc, APIError):
            return ModelUnreachableError(f"{self._name} sent something unreadable ({type(exc).__name__})")
        return failure_error(_failure(self._name, exc), private_texts(request, self._api_key))


class _Body(_Part):
    """The part of an error's body that says in words what is wrong: OpenAI's way, or FastAPI's."""

    message: str | None = None
    detail: str | None = None


def _failure(provider: str, exc: APIError) -> Failure:
    response = exc.response if isinstance(exc, APIStatusError) else None
    return Failure(
        provider,
        None if response is None else response.status_code,
        str(exc.type or ""),
        exc.code or "",
        _wording(exc.body),
        None if response is None else retry_after_s(response.headers),
    )


def _wording(body: object) -> str:
    try:
        said = _Body.model_validate(body)
    except ValueError:
        return body if isinstance(body, str) else ""
    return said.message or said.detail or ""


def _limit_name(base_url: str) -> LimitName:
    host = urlsplit(base_url).hostname or ""
    return "max_completion_tokens" if f".{host}".endswith(".api.openai.com") else "max_tokens"


def _messages(request: ModelRequest) -> list[ChatCompletionMessageParam]:
    system = "\n\n".join(part for part in request.system if part.strip())
    messages: list[ChatCompletionMessageParam] = [{"role": "system", "content": system}] if system else []
    for turn in request.messages:
        if turn.role == "user":
            messages.append({"role": "user", "content": turn.text})
        else:
            messages.append({"role": "assistant", "content": turn.text})
    return messages


def _usage(tokens: _Tokens) -> Usage:
    """OpenAI counts cached tokens among the prompt's; the port counts them apart."""
    cached = tokens.prompt_tokens_details or _CachedTokens()
    read, written = cached.cached_tokens or 0, cached.cache_write_tokens or 0
    fresh = max(0, (tokens.prompt_tokens or 0) - read - written)
    return Usage(fresh, tokens.completion_tokens or 0, read, written)

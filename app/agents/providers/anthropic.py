"""Claude over Anthropic's Messages API, and over every server that speaks it."""

from collections.abc import AsyncGenerator, Iterator

from anthropic import AnthropicError, APIConnectionError, APIStatusError, AsyncAnthropic, Omit, Timeout, omit
from anthropic.types import MessageParam, OutputConfigParam, TextBlockParam
from httpx2 import HTTPError
from pydantic import BaseModel, ConfigDict

from app.agents.providers.base import Completed, Counted, ModelEvent, ModelRequest, StopReason, TextDelta, Turn, Usage
from app.agents.providers.failures import ERROR_STATUSES, Failure, failure_error, private_texts, retry_after_s
from app.errors import ModelError, ModelUnreachableError

OFFICIAL_URL = "https://api.anthropic.com"
UNSENT_KEY = "unsent"
"""Given to the SDK so that it looks for no key of its own in the environment or on disk; never sent."""

STOP_REASONS = {
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "pause_turn": StopReason.LENGTH,
    "refusal": StopReason.REFUSAL,
}
"""Everything else ends the answer as meant: ``end_turn``, ``stop_sequence``, and ``tool_use``, which needs tools."""


class _Part(BaseModel):
    model_config = ConfigDict(from_attributes=True, hide_input_in_errors=True)


class _Tokens(_Part):
    """Cumulative counts; a field the event leaves out keeps what an earlier event said."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(_Part):
    usage: _Tokens | None = None


class _Delta(_Part):
    type: str | None = None
    text: str | None = None
    stop_reason: str | None = None


class _Event(_Part):
    """The fields read of any event of the stream; unknown kinds of events are passed over, as the API asks."""

    type: str
    message: _Message | None = None
    delta: _Delta | None = None
    usage: _Tokens | None = None


class _Reading:
    """What the events of one call have said so far."""

    def __init__(self) -> None:
        self.stopped = False
        self._stop_reason: str | None = None
        self._tokens: dict[str, int] = {}

    def events(self, event: _Event) -> Iterator[ModelEvent]:
        """Take ``event`` in; what it says of the answer and of its tokens, mostly nothing."""
        tokens = event.usage
        if event.type == "message_start" and event.message is not None:
            tokens = event.message.usage
        if tokens is not None:
            self._tokens.update(tokens.model_dump(exclude_none=True))
            yield Counted(self._usage())
        if text := self._text(event, event.delta or _Delta()):
            yield TextDelta(text)

    def completed(self) -> Completed:
        return Completed(STOP_REASONS.get(self._stop_reason or "", StopReason.END), self._usage())

    def _text(self, event: _Event, delta: _Delta) -> str:
        if event.type == "message_delta":
            self._stop_reason = delta.stop_reason or self._stop_reason
        elif event.type == "message_stop":
            self.stopped = True
        elif event.type == "content_block_delta" and delta.type == "text_delta":
            return delta.text or ""
        return ""

    def _usage(self) -> Usage:
        return Usage(
            input_tokens=self._tokens.get("input_tokens", 0),
            output_tokens=self._tokens.get("output_tokens", 0),
            cache_read_tokens=self._tokens.get("cache_read_input_tokens", 0),
            cache_write_tokens=self._tokens.get("cache_creation_input_tokens", 0),
        )


class AnthropicProvider:
    """Implements ``ModelProvider``. Making one reads files, so the catalogue does it in a thread.

    ``base_url`` None is Anthropic itself. ``connect_s`` bounds the connection; ``idle_s`` bounds the silence before
    and between events, where anything that arrives counts, the API's pings included.
    """

    def __init__(
        self, name: str, *, base_url: str | None, api_key: str | None, connect_s: float, idle_s: float
    ) -> None:
        self._name = name
        self._api_key = api_key
        self._client = AsyncAnthropic(
            api_key=UNSENT_KEY,
            base_url=base_url or OFFICIAL_URL,
            timeout=Timeout(idle_s, connect=connect_s),
            max_retries=0,
            open_telemetry=False,
        )
        self._messages = self._client.messages

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self._client.is_closed():
            raise ModelUnreachableError(f"{self._name} is closed")
        reading = _Reading()
        try:
            async with await self._messages.create(
                model=request.model,
                system=_system(request.system) or omit,
                messages=_messages(request.messages),
                max_tokens=request.max_output_tokens,
                output_config=OutputConfigParam(effort=request.effort) if request.effort else omit,
                stream=True,
                extra_headers=self._headers(),
            ) as events:
                async for event in events:
                    for said in reading.events(_Event.model_validate(event)):
                        yield said
        except (AnthropicError, HTTPError, ValueError) as exc:
            raise self._error(exc, request) from exc
        if not reading.stopped:
            raise ModelUnreachableError(f"{self._name} broke off in mid-stream")
        yield reading.completed()

    async def aclose(self) -> None:
        await self._client.close()

    def _headers(self) -> dict[str, str | Omit]:
        """The API's documented ``x-api-key``, which gateways in front of it know too, in place of a bearer token."""
        return {"Authorization": omit, "X-Api-Key": self._api_key or omit}

    def _error(self, exc: Exception, request: ModelRequest) -> ModelError:
        if isinstance(exc, APIStatusError):
            return failure_error(
                Failure(
                    self._name,
                    exc.status_code if exc.status_code in ERROR_STATUSES else None,
                    exc.type or "",
                    exc.error_code or "",
                    exc.api_message or "",
                    retry_after_s(exc.response.headers),
                ),
                private_texts(request, self._api_key),
            )
        if isinstance(exc, (APIConnectionError, HTTPError)):
            return ModelUnreachableError(f"{self._name} could not be reached or fell silent ({_cause(exc)})")
        return ModelUnreachableError(f"{self._name} sent something unreadable ({type(exc).__name__})")


def _cause(exc: BaseException) -> str:
    return type(exc.__cause__ or exc).__name__


def _system(parts: tuple[str, ...]) -> list[TextBlockParam]:
    """The parts as blocks, cached up to the end of the last one. Blank ones go: the API refuses empty blocks."""
    texts = [part for part in parts if part.strip()]
    return [_block(text, cached=at == len(texts)) for at, text in enumerate(texts, start=1)]


def _messages(turns: tuple[Turn, ...]) -> list[MessageParam]:
    """The conversation, cached up to its end, so that the next call of a growing thread reads it from the cache."""
    return [_message(turn, cached=at == len(turns)) for at, turn in enumerate(turns, start=1)]


def _message(turn: Turn, *, cached: bool) -> MessageParam:
    blocks = [_block(turn.text, cached=cached)]
    return {"role": "user", "content": blocks} if turn.role == "user" else {"role": "assistant", "content": blocks}


def _block(text: str, *, cached: bool) -> TextBlockParam:
    block: TextBlockParam = {"type": "text", "text": text}
    if cached:
        block["cache_control"] = {"type": "ephemeral"}
    return block

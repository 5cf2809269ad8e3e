"""The embeddings endpoint of OpenAI, and of every server that speaks like it."""

from collections.abc import Sequence

from openai import APIConnectionError, APIError, APIStatusError, AsyncOpenAI, Omit, OpenAIError, Timeout, omit
from pydantic import BaseModel, ConfigDict

from app.agents.providers.failures import Failure, failure_error, retry_after_s
from app.agents.providers.openai import OFFICIAL_URL, UNSENT_KEY
from app.errors import ModelBusyError, ModelRejectedError
from memory.embedder import EmbedderUnavailableError, TextsRefusedError

TEXT_FAULT_STATUSES = frozenset({400, 413, 422})
"""With these a server may mean one of the texts; with others it never does."""


class _Part(BaseModel):
    model_config = ConfigDict(from_attributes=True, hide_input_in_errors=True)


class _Item(_Part):
    embedding: list[float]
    index: int | None = None


class _Answer(_Part):
    data: list[_Item]


class _Body(_Part):
    """The part of an error's body that says in words what is wrong: OpenAI's way, or FastAPI's."""

    message: str | None = None
    detail: str | None = None


class OpenAIEmbeddings:
    """One endpoint. Making one reads files, so it is done in a thread. ``base_url`` None is OpenAI itself.

    ``connect_s`` bounds the connection, ``idle_s`` every silence after it.
    """

    def __init__(
        self, name: str, *, base_url: str | None, api_key: str | None, connect_s: float, idle_s: float
    ) -> None:
        self._name = name
        self._api_key = api_key
        self._client = AsyncOpenAI(
            api_key=UNSENT_KEY,
            base_url=base_url or OFFICIAL_URL,
            timeout=Timeout(idle_s, connect=connect_s),
            max_retries=0,
        )
        self._embeddings = self._client.embeddings

    async def rows(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """What the endpoint gives for ``texts``, in their order. Raises ``EmbedderUnavailableError``, see its port."""
        try:
            answer = await self._embeddings.create(
                model=model,
                input=list(texts),
                # Said aloud, because the SDK would ask for base64, which not every server knows.
                encoding_format="float",
                extra_headers=self._headers(),
            )
            return _rows(_Answer.model_validate(answer))
        except (OpenAIError, ValueError) as exc:
            raise self._error(exc, texts) from exc

    async def aclose(self) -> None:
        await self._client.close()

    def _headers(self) -> dict[str, str | Omit]:
        """Only what the settings say: the SDK would add an organisation and a project from the environment."""
        authorization = f"Bearer {self._api_key}" if self._api_key else omit
        return {"Authorization": authorization, "OpenAI-Organization": omit, "OpenAI-Project": omit}

    def _error(self, exc: Exception, texts: Sequence[str]) -> EmbedderUnavailableError:
        if isinstance(exc, APIConnectionError):
            cause = type(exc.__cause__ or exc).__name__
            return EmbedderUnavailableError(f"{self._name} could not be reached or fell silent ({cause})")
        if not isinstance(exc, APIStatusError):
            return EmbedderUnavailableError(f"{self._name} sent something unreadable ({type(exc).__name__})")
        meant = failure_error(_failure(self._name, exc), (*texts, self._api_key or ""))
        if isinstance(meant, ModelRejectedError) and exc.status_code in TEXT_FAULT_STATUSES:
            return TextsRefusedError(str(meant))
        return EmbedderUnavailableError(str(meant), meant.retry_after_s if isinstance(meant, ModelBusyError) else None)


def _rows(answer: _Answer) -> list[list[float]]:
    """The vectors in the texts' order: by index where the server says it, else as they came."""
    at = [item.index for item in answer.data]
    if any(index is not None for index in at):
        by_index = {item.index: item.embedding for item in answer.data}
        if set(by_index) != set(range(len(answer.data))):
            raise ValueError("indexes that do not number the texts")
        return [by_index[index] for index in range(len(answer.data))]
    return [item.embedding for item in answer.data]


def _failure(name: str, exc: APIStatusError) -> Failure:
    headers = exc.response.headers
    return Failure(name, exc.status_code, str(exc.type or ""), exc.code or "", _wording(exc), retry_after_s(headers))


def _wording(exc: APIError) -> str:
    try:
        said = _Body.model_validate(exc.body)
    except ValueError:
        return exc.body if isinstance(exc.body, str) else ""
    return said.message or said.detail or ""

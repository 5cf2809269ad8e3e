"""The kinds of values that settings take."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from memory.repository import repository_of

Effort = Literal["low", "medium", "high"]
ProviderKind = Literal["anthropic", "openai", "offline"]

OrganizationName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
EntryName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
"""A name the operator makes up, of an agent or a provider; lower case, so that a variable can spell it."""
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128)]
WebAddress = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/?#]+[^\s?#]*$")]
MODEL_PATTERN = r"^[^\s/]+/\S+$"
ModelReference = Annotated[str, StringConstraints(pattern=MODEL_PATTERN)]
"""``<provider>/<model>``; everything after the first slash is the provider's own name of the model."""
Text = Annotated[str, StringConstraints(min_length=1)]
Dollars = Annotated[float, Field(ge=0, le=100_000)]
"""US dollars per million tokens."""


def _whole_number_if_spelt(value: object) -> object:
    """Environment variables are text, so a number in one comes spelt."""
    return int(value) if isinstance(value, str) and re.fullmatch("-?[0-9]{1,18}", value) else value


CheckedLater = Annotated[object, BeforeValidator(_whole_number_if_spelt)]
"""A whole number, or whatever else was given: whoever uses it tells what is wrong with it."""


def _model_name(name: str) -> str:
    if re.fullmatch(MODEL_PATTERN, name) is None:
        raise PydanticCustomError("model_name", "the name must be <provider>/<model>, for example offline/demo")
    return name


def _repository(name: str) -> str:
    repository = repository_of(name)
    if repository is None:
        raise PydanticCustomError("repository", "must be owner/name, for example acme/api")
    return repository


RepositoryName = Annotated[str, AfterValidator(_repository)]
"""``owner/name``, however it is spelt."""
ModelName = Annotated[str, AfterValidator(_model_name)]
"""A ``ModelReference`` as the name of an entry."""

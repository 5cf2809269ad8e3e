"""What is to be set, checked against what there is. No refusal repeats a value that was not understood."""

import re

from commands.coercion import there_are
from commands.errors import InvalidInputError
from commands.ports import Choices
from commands.preferences import EFFORTS, Layer, Name
from commands.spec import Values

MODEL_CHARS = 200
_MODEL = re.compile(r"[^\s/]+/\S+")


def name_of(values: Values) -> Name:
    return Name(str(values["name"]).lower())


def layer_of(values: Values) -> Layer:
    return Layer(str(values["layer"]))


def version_of(values: Values) -> int | None:
    version = values["version"]
    return version if isinstance(version, int) else None


def value_of(name: Name, text: str, choices: Choices) -> str:
    """Raises ``InvalidInputError``."""
    if name is Name.AGENT:
        return _agent(text, choices)
    if name is Name.MODEL:
        return _model(text, choices)
    effort = text.lower()
    if effort not in EFFORTS:
        raise InvalidInputError(f"an effort is one of {', '.join(EFFORTS)}")
    return effort


def _agent(text: str, choices: Choices) -> str:
    known = choices.agents()
    if text not in known:
        raise InvalidInputError(f"there is no such agent; {there_are(sorted(known))}")
    return text


def _model(text: str, choices: Choices) -> str:
    if len(text) > MODEL_CHARS or not _MODEL.fullmatch(text):
        raise InvalidInputError(
            f"a model is written `<provider>/<model>`; the providers are {', '.join(choices.providers())}"
        )
    if not choices.knows_model(text):
        raise InvalidInputError(f"no provider of that name is set up; {there_are(choices.providers())}")
    return text

"""What is to be set, checked against what there is. No refusal repeats a value that was not understood."""

import re

from commands.coercion import there_are
from commands.errors import InvalidInputError
from commands.ports import Choices
from commands.preferences import EFFORTS, OF_A_REPO, Layer, Name
from commands.spec import Values
from memory.repository import chosen

MODEL_CHARS = 200
_MODEL = re.compile(r"[^\s/]+/\S+")
_NOBODYS = "a repository is a conversation's or a channel's, not a person's: `--layer thread` or `--layer channel`"


def name_of(values: Values) -> Name:
    return Name(str(values["name"]).lower())


def layer_of(values: Values, name: Name) -> Layer:
    """The layer that was named, else one's own; a conversation's for a repository, which no person has.

    Raises ``InvalidInputError``.
    """
    layer = Layer(str(values["layer"] or (Layer.THREAD if name is Name.REPO else Layer.USER)))
    if name is Name.REPO and layer not in OF_A_REPO:
        raise InvalidInputError(_NOBODYS)
    return layer


def version_of(values: Values) -> int | None:
    version = values["version"]
    return version if isinstance(version, int) else None


def value_of(name: Name, text: str, choices: Choices) -> str:
    """Raises ``InvalidInputError``."""
    if name is Name.AGENT:
        return _agent(text, choices)
    if name is Name.MODEL:
        return _model(text, choices)
    return _repo(text) if name is Name.REPO else _effort(text)


def _effort(text: str) -> str:
    effort = text.lower()
    if effort not in EFFORTS:
        raise InvalidInputError(f"an effort is one of {', '.join(EFFORTS)}")
    return effort


def _repo(text: str) -> str:
    repo = chosen(text)
    if repo is None:
        raise InvalidInputError("a repository is written `owner/name`, such as `acme/api`; `none` is for no repository")
    return repo


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

"""What a message asks for about its own answer, in words before the text.

They are ``agent:`` ``model:`` ``effort:`` ``repo:``.

The rule. A directive is one of these words in any case, a colon, and a value directly behind it, up to the next white
space. Directives count only at the very start of the message, one after the other in any order, on one line or on
several, each at most once; the first word that is none ends them. With each goes the white space before it, and with
the last one also the single character of white space behind it. What follows is the text, untouched.

So ``model: what is it?`` is a question, because nothing stands directly behind the colon, and a directive in the middle
of a text is text. But ``effort:extreme`` at the start is a wish that was not understood, and is refused: a person who
chose is told that the choice did not count, instead of being answered by something else.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from app.dispatch.resolve import NO_WISH, KnownModels, Wish, effort_of
from memory.repository import chosen

_LEADING = re.compile(r"\s*+(?P<key>agent|model|effort|repo):(?P<value>\S++)(?P<gap>\s?)", re.IGNORECASE)
_MODEL = re.compile(r"[^\s/]+/\S+")


@dataclass(frozen=True, slots=True)
class Directed:
    """What was asked for, and the message without it."""

    wish: Wish
    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A directive that cannot be followed; ``reason`` is the sentence for the person, without the value."""

    reason: str


def directives(text: str, agents: Collection[str], knows_model: KnownModels) -> Directed | Refused:
    """The directives that ``text`` begins with; none are the empty wish and the text as it is."""
    asked: dict[str, str] = {}
    rest = text
    while found := _LEADING.match(rest):
        key = found["key"].lower()
        if key in asked:
            return Refused(f"`{key}:` stands there twice; once is enough.")
        asked[key] = found["value"]
        rest = rest[found.end() :]
    if not asked:
        return Directed(NO_WISH, rest)
    return _refused(asked, agents, knows_model) or Directed(_wish(asked), rest)


def written(wish: Wish) -> str:
    """The directives that ``wish`` was read from; put before a text, they are read from it again."""
    asked = (("agent", wish.agent), ("model", wish.model), ("effort", wish.effort), ("repo", wish.repo))
    return " ".join(f"{key}:{value}" for key, value in asked if value is not None)


def directed(text: str, written_before: str | None) -> str:
    """``text`` as a message that asks for what the one before it did."""
    return f"{written_before} {text}" if written_before else text


def _refused(asked: dict[str, str], agents: Collection[str], knows_model: KnownModels) -> Refused | None:
    agent, model, effort, repo = (asked.get(key) for key in ("agent", "model", "effort", "repo"))
    if agent is not None and agent not in agents:
        return Refused(f"I have no such agent. `agent:` takes one of {', '.join(sorted(agents))}.")
    if model is not None and not _MODEL.fullmatch(model):
        return Refused(f"`model:` takes a model as `<provider>/<model>`; {_providers(knows_model)}.")
    if model is not None and not knows_model(model):
        return Refused(f"`model:` names a provider that is not set up here; {_providers(knows_model)}.")
    if effort is not None and effort_of(effort.lower()) is None:
        return Refused("`effort:` takes low, medium or high.")
    if repo is not None and chosen(repo) is None:
        return Refused("`repo:` takes a repository as `owner/name`, such as `repo:acme/api`, or `none`.")
    return None


def _providers(models: KnownModels) -> str:
    return f"the providers are {', '.join(sorted(models.providers))}"


def _wish(asked: dict[str, str]) -> Wish:
    effort, repo = effort_of(asked.get("effort", "").lower()), chosen(asked.get("repo", ""))
    return Wish(asked.get("agent"), asked.get("model"), effort, repo)

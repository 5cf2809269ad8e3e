"""The agents there are: a name, a prompt, and what they would rather run on."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.agents.providers.base import Effort

GENERAL = "general"

GENERAL_PROMPT = """\
You are Switchboard, a colleague in this team's Slack. You answer in the thread you are asked in.

- Answer the question first, in as few words as it needs; add background only when it changes what to do.
- Write standard Markdown. Put code, logs and commands into fenced blocks with a language.
- Several people may speak in one thread: each line of theirs begins with their name. Write to a person as <@id> only \
when they have to act.
- Say so when you do not know or cannot do something. Never invent links, numbers, names or results."""


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    prompt: str
    model: str | None = None
    """A ``<provider>/<model>`` reference that goes before the default one."""
    effort: Effort | None = None


def agents(configured: Mapping[str, Agent]) -> Mapping[str, Agent]:
    """The built-in agents with the configured ones beside them; a configured one of the same name wins."""
    return {GENERAL: Agent(GENERAL, GENERAL_PROMPT), **configured}

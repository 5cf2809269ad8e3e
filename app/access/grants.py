"""What the settings grant, as the decisions need it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from app.errors import ConfigurationError

Lists = Mapping[str, frozenset[str]]
"""Name of an agent or id of a command to the ids of the actors it is kept for."""


def _nothing() -> Lists:
    return {}


@dataclass(frozen=True, slots=True)
class Grants:
    """Everything here comes from settings; what is left out grants nothing and closes nothing."""

    admins: tuple[str, ...] = ()
    """Slack's ids of those who curate shared memory. Nobody listed means that nobody is one."""
    workspace_admins: bool = False
    """Whether the workspace's admins and owners are admins here, too."""
    guests_may_talk: bool = True
    external_may_talk: bool = True
    """Whether people from other organisations in shared channels are answered."""
    agents: Lists = field(default_factory=_nothing)
    commands: Lists = field(default_factory=_nothing)
    """Restricted ones only; admins and the operator are on every list."""
    subjects: Lists = field(default_factory=_nothing)
    """Actor id of a token's subject to the only actions its entry allows; without one, all that subjects get."""


def check_commands(grants: Grants, known: Collection[str]) -> None:
    """Raises ``ConfigurationError`` for a restricted command that does not exist, which would close nothing."""
    for name in grants.commands:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ConfigurationError(
                f"access.restrict.commands names an unknown command; known are {', '.join(sorted(known))}{hint}"
            )

"""The commands every deployment has, as one explicit list."""

from commands.builtin.config import Configuring
from commands.builtin.config_list import config_commands
from commands.builtin.help import help_commands
from commands.builtin.memory import memory_commands
from commands.builtin.session_list import session_commands
from commands.builtin.status import status_commands
from commands.ports import Authority, Conversations, StatusSource
from commands.spec import Command
from memory.store import MemoryStore

__all__ = ["Configuring", "builtin_commands"]


def builtin_commands(
    store: MemoryStore | None,
    organization: str,
    authority: Authority,
    status: StatusSource,
    conversations: Conversations | None = None,
    config: Configuring | None = None,
) -> list[Command]:
    """``store``: ``None`` while memory is off; ``conversations`` and ``config``: in a process that has none."""
    others = [
        *memory_commands(store, organization, authority),
        *session_commands(conversations, authority),
        *config_commands(config, conversations, authority),
        *status_commands(status),
    ]
    return [*others, *help_commands(others, authority)]

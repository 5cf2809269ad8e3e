"""The commands every deployment has, as one explicit list."""

from dataclasses import dataclass

from commands.builtin.config import Configuring
from commands.builtin.config_list import config_commands
from commands.builtin.help import help_commands
from commands.builtin.memory import memory_commands
from commands.builtin.memory_erasing import erase_commands
from commands.builtin.memory_review import review_commands
from commands.builtin.session_list import session_commands
from commands.builtin.status import status_commands
from commands.ports import Authority, Conversations, Lessons, Reviews, StatusSource
from commands.spec import Command
from memory.store import MemoryStore

__all__ = ["Configuring", "Records", "builtin_commands"]


@dataclass(frozen=True, slots=True)
class Records:
    """What commands work with beside memory; ``None`` in a process that has none."""

    conversations: Conversations | None = None
    config: Configuring | None = None
    reviews: Reviews | None = None
    lessons: Lessons | None = None


def builtin_commands(
    store: MemoryStore | None,
    organization: str,
    authority: Authority,
    status: StatusSource,
    records: Records | None = None,
) -> list[Command]:
    """``store``: ``None`` while memory is off; ``records``: in a process that has none."""
    records = records or Records()
    others = [
        *memory_commands(store, organization, authority, records.config, records.lessons),
        *erase_commands(store, organization, authority, records.lessons),
        *review_commands(store, organization, authority, records.reviews),
        *session_commands(records.conversations, authority),
        *config_commands(records.config, records.conversations, authority),
        *status_commands(status),
    ]
    return [*others, *help_commands(others, authority)]

"""The commands every deployment has, as one explicit list."""

from commands.builtin.help import help_commands
from commands.builtin.memory import memory_commands
from commands.builtin.status import status_commands
from commands.ports import Authority, StatusSource
from commands.spec import Command
from memory.store import MemoryStore


def builtin_commands(
    store: MemoryStore | None, organization: str, authority: Authority, status: StatusSource
) -> list[Command]:
    """``store``: ``None`` while memory is off."""
    others = [*memory_commands(store, organization, authority), *status_commands(status)]
    return [*others, *help_commands(others, authority)]

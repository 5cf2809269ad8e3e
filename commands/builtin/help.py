"""``help show``: what there is to ask for by name."""

from collections.abc import Sequence

from commands.helping import help_command
from commands.ports import Authority
from commands.spec import Command


def help_commands(others: Sequence[Command], authority: Authority) -> list[Command]:
    """Help over ``others`` and itself."""
    catalogue = list(others)
    command = help_command(lambda: catalogue, authority)
    catalogue.append(command)
    return [command]

"""The commands people can ask for by name, built once from an explicit list."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command: ``<group> <verb>``, answered without a model."""

    group: str
    verb: str
    answer: Callable[[str], Awaitable[str]]
    """From what stands behind the verb to the reply."""

    @property
    def id(self) -> str:
        return f"{self.group}.{self.verb}"


class DuplicateCommandError(ValueError):
    """Two commands share an id."""


class Registry:
    def __init__(self, commands: Iterable[Command]) -> None:
        self._by_words: dict[tuple[str, str], Command] = {}
        for command in commands:
            if (command.group, command.verb) in self._by_words:
                raise DuplicateCommandError(command.id)
            self._by_words[command.group, command.verb] = command

    def recognise(self, text: str) -> tuple[Command, str] | None:
        """The command ``text`` starts with, in any case and with or without ``!``, and what follows it."""
        words = text.removeprefix("!").split(maxsplit=2)
        if len(words) < 2:  # noqa: PLR2004 - a group and a verb
            return None
        command = self._by_words.get((words[0].lower(), words[1].lower()))
        return None if command is None else (command, words[2] if len(words) > 2 else "")  # noqa: PLR2004

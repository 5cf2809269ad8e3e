"""The commands people can ask for by name, built once from an explicit list; every surface comes in here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from commands.coercion import from_fields, from_query
from commands.errors import InvalidInputError
from commands.grammar import HELP_WORDS, Spoken, bind, spoken, tokens_of, wants_help
from commands.helping import HELP_ID, help_command, nothing_like, usage, visible
from commands.ports import Authority, Decision, Receipts
from commands.result import Code, Result
from commands.schema import schema
from commands.service import Parse, Service
from commands.spec import Caller, Command, Surface, Values

__all__ = ["Code", "DuplicateCommandError", "Recognised", "Registry", "Result", "schema", "usage"]

_HELP_WORDS = HELP_WORDS | {"help"}


class DuplicateCommandError(ValueError):
    """Two commands share an id or a short form, or a short form could be taken for something else."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A text that names a command, or asks for help; its tail has not been looked at."""

    words: tuple[str, ...]
    """Group and verb, in lower case; ``help`` alone, or a group and ``help``. The verb of a ``!`` may not exist."""
    tail: str = ""
    typed: str = field(default="", compare=False)
    """The short form with its ``!``, where that was said."""


class Nobody:
    """The authority of a registry that was given none: deny by default."""

    async def may_run(self, caller: Caller, command: Command) -> Decision:  # noqa: ARG002 - the port's
        return Decision(False, "no authority")

    async def may_touch(self, caller: Caller, action: str, scope_key: str) -> Decision:  # noqa: ARG002 - the port's
        return Decision(False, "no authority")

    def admins(self) -> str:
        return "an admin"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Registry:
    """Looks commands up and has them carried out. ``recognise`` is pure; no ``run_…`` raises but for cancellation."""

    def __init__(
        self,
        commands: Iterable[Command],
        authority: Authority | None = None,
        *,
        now: Callable[[], datetime] = _utc_now,
        receipts: Receipts | None = None,
    ) -> None:
        """Raises ``DuplicateCommandError``. ``receipts`` get one receipt of every write that was allowed to start."""
        self._authority = authority or Nobody()
        self._by_id: dict[str, Command] = {}
        for command in commands:
            if command.id in self._by_id:
                raise DuplicateCommandError(command.id)
            self._by_id[command.id] = command
        self._groups = frozenset(command.group for command in self._by_id.values())
        self._by_short = _shorts(self._by_id.values(), self._groups)
        self._service = Service(self._authority, now, receipts)
        self._help = self._by_id.get(HELP_ID) or help_command(self.commands, self._authority)
        chat = self.commands(Surface.CHAT)
        self._chat_ids = frozenset(command.id for command in chat)
        self._chat_groups = frozenset(command.group for command in chat)

    def commands(self, surface: Surface | None = None) -> Sequence[Command]:
        """In the order of the list; with ``surface`` those that can be given there."""
        return [command for command in self._by_id.values() if surface is None or surface in command.surfaces]

    def get(self, command_id: str) -> Command | None:
        return self._by_id.get(command_id)

    def recognise(self, text: str) -> Recognised | None:
        """The command a chat message starts with; ``None`` for prose. Looks at two words, whatever the length."""
        found = spoken(text)
        if found is None:
            return None
        if found.group == "help" or (not found.verb and found.group.lower() == "help"):
            return self._recognised_help(found)
        command = self._short(found)
        if command is not None:
            return Recognised((command.group, command.verb), found.behind_first, f"!{found.group}")
        if found.group not in self._chat_groups:
            return None
        is_command = self._has(found)
        is_help = found.verb == "help" and not found.tail.strip()
        if not (is_command or is_help or found.is_marked or found.is_of_a_record):
            return None
        return Recognised((found.group, found.verb) if found.verb else (found.group,), found.tail)

    def leads_on(self, recognised: Recognised) -> bool:
        """Whether something to be answered may come of it, for which it takes its place in line."""
        command = self._by_id.get(".".join(recognised.words))
        return command is not None and command.leads_on

    async def run_text(self, recognised: Recognised, caller: Caller) -> Result:
        """A recognised chat message."""
        return await self._run(recognised.words, recognised.tail, caller, recognised.typed)

    async def run_line(self, line: str, caller: Caller) -> Result:
        """A whole line that must be a command: ``memory list --limit 5`` or ``new``, as a slash command brings it."""
        first, *behind = line.split(maxsplit=1) or [""]
        word = first.lower().removeprefix("!")
        command = None if word in self._groups else self._by_short.get(word)
        if command is not None:
            return await self._run((command.group, command.verb), "".join(behind), caller)
        words = line.split(maxsplit=2)
        return await self._run(tuple(words[:2]), "".join(words[2:]), caller)

    async def run_tokens(self, tokens: Sequence[str], caller: Caller) -> Result:
        """Words of a shell, already split: ``["memory", "list", "--limit", "5"]``. None at all ask for help."""
        return await self._run(tuple(tokens[:2]), list(tokens[2:]), caller)

    def asks_for_help(self, tokens: Sequence[str]) -> bool:
        """Whether ``run_tokens`` would only explain: the answer is the same whatever the commands work with."""
        group, verb = _group_and_verb(tokens[:2])
        command = self._by_id.get(f"{group}.{verb}")
        if command is not None:
            return command.id == self._help.id or wants_help(tokens[2:])
        return _topic(group, verb, list(tokens[2:])) is not None

    async def run_values(self, command_id: str, values: Mapping[str, object], caller: Caller) -> Result:
        """A JSON object: names in camelCase, numbers and booleans also as text."""
        return await self._invoke(command_id, caller, lambda command: from_fields(command, values))

    async def run_query(self, command_id: str, pairs: Sequence[tuple[str, str]], caller: Caller) -> Result:
        """A query string: names in kebab-case or camelCase, each at most once."""
        return await self._invoke(command_id, caller, lambda command: from_query(command, pairs))

    def _short(self, found: Spoken) -> Command | None:
        """The command of ``!word``. A word that is a group, too, is one as soon as a verb of it follows."""
        command = self._by_short.get(found.group) if found.is_marked else None
        if command is None or command.id not in self._chat_ids:
            return None
        is_group = found.group in self._groups and (found.verb in _HELP_WORDS or self._has(found))
        return None if found.verb and is_group else command

    def _has(self, found: Spoken) -> bool:
        return f"{found.group}.{found.verb}" in self._chat_ids

    def _recognised_help(self, found: Spoken) -> Recognised | None:
        verb, tail = found.verb, found.tail
        if not verb:
            return None if tail.strip() else Recognised(("help",))
        is_topic = found.is_marked and (verb in self._chat_groups or verb in self._by_short)
        return Recognised(("help", verb), tail) if is_topic or f"help.{verb}" in self._chat_ids else None

    async def _run(self, words: tuple[str, ...], tail: str | list[str], caller: Caller, typed: str = "") -> Result:
        group, verb = _group_and_verb(words)
        topic = None if f"{group}.{verb}" in self._by_id else _topic(group, verb, tail)
        if topic is not None:
            return await self._explain(topic, caller)
        return await self._invoke(f"{group}.{verb}", caller, lambda command: _parsed(command, tail, typed))

    async def _explain(self, topic: Sequence[str], caller: Caller) -> Result:
        values: Values = {"topic": " ".join(topic)}
        return await self._service.invoke(self._help, caller, lambda _: values)

    async def _invoke(self, command_id: str, caller: Caller, parse: Parse) -> Result:
        command = self._by_id.get(command_id)
        if command is not None and caller.surface in command.surfaces:
            return await self._service.invoke(command, caller, parse)
        there = await visible(self.commands(), caller, self._authority)
        return self._service.missing(command_id, nothing_like(there, command_id.split(".")), caller)


def _shorts(commands: Iterable[Command], groups: frozenset[str]) -> dict[str, Command]:
    """Every short form with its command. Raises ``DuplicateCommandError``."""
    shorts: dict[str, Command] = {}
    for command in commands:
        for word in command.shorts:
            # Without arguments, what follows such a word can only be a verb of the group.
            is_ambiguous = word in groups and bool(command.arguments)
            if word in shorts or word in _HELP_WORDS or is_ambiguous:
                raise DuplicateCommandError(f"!{word}")
            shorts[word] = command
    return shorts


def _group_and_verb(words: Sequence[str]) -> tuple[str, str]:
    group, verb = (*(word.lower() for word in words), "", "")[:2]
    return group, verb


def _topic(group: str, verb: str, tail: str | list[str]) -> list[str] | None:
    """What ``help memory list`` and ``memory help`` ask about; ``None`` for what asks for no help."""
    if group in _HELP_WORDS or not group:
        words = [verb, *(tail.split() if isinstance(tail, str) else tail)]
        return [word for word in words if word and word.lower() not in HELP_WORDS]
    return [group] if verb in _HELP_WORDS or not (verb or tail) else None


def _parsed(command: Command, tail: str | list[str], typed: str) -> Values | None:
    """Values of what follows the verb. Raises ``InvalidInputError`` that ends with the usage line."""
    try:
        tokens = tokens_of(command, tail) if isinstance(tail, str) else tail
        return None if wants_help(tokens) else bind(command, tokens)
    except InvalidInputError as fault:
        raise InvalidInputError(f"{fault}. Usage: `{usage(command, typed)}`") from fault

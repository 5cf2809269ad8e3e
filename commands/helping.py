"""What commands say about themselves, at every level: all of them, one group, one command."""

from collections.abc import Callable, Sequence

from commands.coercion import expectation, there_are
from commands.errors import NotFoundError
from commands.ports import Authority
from commands.result import spoken
from commands.schema import schema
from commands.spec import Argument, Caller, Command, Json, Option, Reply, Surface, Values

HELP_ID = "help.show"
_CHAT_HINT = "Say one of these to me, in a thread also as `!<group> <verb>`; `<group> <verb> --help` explains it."
_HINT = "`<group> <verb> --help` explains one."


def usage(command: Command, typed: str = "") -> str:
    """``memory forget <id>``, ``memory list [<words>…] [--limit <n>]``; or as it was ``typed``."""
    begun = typed or f"{command.group} {command.verb}"
    arguments = [_argument_usage(argument) for argument in command.arguments]
    options = [f"[{_option_usage(option)}]" for option in command.options]
    return " ".join([begun, *arguments, *options])


def help_command(catalogue: Callable[[], Sequence[Command]], authority: Authority) -> Command:
    """``help show [<topic>]`` over the commands ``catalogue`` has when it is asked, those the caller may give."""

    async def show(caller: Caller, values: Values) -> Reply:
        topic = str(values["topic"] or "").lower().lstrip("!").replace(".", " ").split()
        return explained(await visible(catalogue(), caller, authority), topic, caller.surface)

    return Command(
        id=HELP_ID,
        summary="what I can be asked for by name",
        action="help:read",
        effect="read",
        handler=show,
        arguments=(Argument("topic", "a group, or a command", is_required=False, is_rest=True),),
    )


async def visible(commands: Sequence[Command], caller: Caller, authority: Authority) -> list[Command]:
    """Those of ``commands`` the caller may give where they are."""
    here = [command for command in commands if caller.surface in command.surfaces]
    return [command for command in here if (await authority.may_run(caller, command)).is_allowed]


def nothing_like(commands: Sequence[Command], topic: Sequence[str]) -> NotFoundError:
    """The fault of a name no command has, with what there is instead: in its group, if there is such a group."""
    siblings = [spoken(command.id) for command in commands if topic and command.group == topic[0]]
    there_is = there_are(siblings) if siblings else "`help` lists what there is"
    return NotFoundError(f"there is no such command; {there_is}")


def explained(commands: Sequence[Command], topic: Sequence[str], surface: Surface) -> Reply:
    """Help for ``()``, ``(group,)`` or ``(group, verb)``. Raises ``NotFoundError``."""
    found = [command for command in commands if [command.group, command.verb][: len(topic)] == list(topic)]
    short = [command for command in commands if list(topic) in ([word] for word in command.shorts)]
    if short and not found:
        return command_help(short[0], surface)
    if not found:
        raise nothing_like(commands, topic)
    if topic[1:]:
        return command_help(found[0], surface)
    title = f"**Commands of `{topic[0]}`**" if topic else "**Commands**"
    lines = [f"- {spoken(command.id)}{_short_note(command, surface)}: {command.summary}" for command in found]
    hint = _CHAT_HINT if surface is Surface.CHAT else _HINT
    return Reply({"commands": [_summary(command) for command in found]}, "\n".join([title, *lines, "", hint]))


def command_help(command: Command, surface: Surface) -> Reply:
    """One command, its usage, and everything it takes."""
    arguments = [f"- `{_argument_usage(argument)}`: {argument.description}" for argument in command.arguments]
    options = [f"- `{option.flag}`: {_option_words(option)}" for option in command.options]
    head = [f"{spoken(command.id)}: {command.summary}", f"Usage: `{usage(command)}`"]
    shorts = [f"In a thread: {_marked(command)}"] if _shows_shorts(command, surface) else []
    return Reply(_summary(command) | {"schema": schema(command)}, "\n".join([*head, *shorts, *arguments, *options]))


def _summary(command: Command) -> dict[str, Json]:
    shorts: dict[str, Json] = {"shorts": list(command.shorts)} if command.shorts else {}
    return {"id": command.id, "summary": command.summary, "effect": command.effect, "usage": usage(command)} | shorts


def _short_note(command: Command, surface: Surface) -> str:
    return f" ({_marked(command)})" if _shows_shorts(command, surface) else ""


def _shows_shorts(command: Command, surface: Surface) -> bool:
    """A shell has no short forms."""
    return bool(command.shorts) and surface is not Surface.CLI


def _marked(command: Command) -> str:
    return " or ".join(f"`!{word}`" for word in command.shorts)


def _argument_usage(argument: Argument) -> str:
    shown = "|".join(argument.choices) or f"<{argument.name}>{'…' if argument.is_rest else ''}"
    return shown if argument.is_required else f"[{shown}]"


def _option_usage(option: Option) -> str:
    if option.type == "boolean":
        return option.flag
    value = "<n>" if option.type == "integer" else f"<{option.flag[2:]}>"
    return f"{option.flag} {'|'.join(option.choices) or value}"


def _option_words(option: Option) -> str:
    said = str(option.default).lower() if option.type == "boolean" else option.default
    default = "" if option.default is None else f"{said} unless said"
    return "; ".join(filter(None, [option.description, expectation(option), default]))

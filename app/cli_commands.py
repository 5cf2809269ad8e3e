"""The registry on the command line: ``switchboard <group> <verb> …``, and ``switchboard ask`` for everything else."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from app.background import Background
from app.cli_wording import in_shell
from app.clock import SystemClock
from app.console import COMPLETED, DEFAULT_PLACE, NAME_PATTERN, Asked, Console, Dispatch, Place
from app.invocation import as_json
from commands.helping import HELP_ID
from commands.registry import Registry
from commands.result import Code, Result
from commands.spec import Caller, Origin, Surface

LOCAL = Place("cli", "local")
EXIT_OK, EXIT_FAILED, EXIT_REJECTED, EXIT_BUSY = 0, 1, 2, 75
"""75 is EX_TEMPFAIL of sysexits.h: the same line may work later."""

_EXITS: Mapping[Code, int] = {Code.OK: EXIT_OK, Code.INVALID_INPUT: EXIT_REJECTED, Code.BUSY: EXIT_BUSY}
_JSON = "--json"

OpenRegistry = Callable[[], AbstractAsyncContextManager[Registry]]
OpenDispatcher = Callable[[Background], AbstractAsyncContextManager[Dispatch]]


@dataclass(frozen=True, slots=True)
class Streams:
    """The answer goes to ``out``; everything else to ``err``."""

    out: TextIO
    err: TextIO


async def run_command(arguments: Sequence[str], open_registry: OpenRegistry, streams: Streams) -> int:
    """Carry out ``<group> <verb> …`` and return the exit status. ``--json`` may stand anywhere before ``--``."""
    tokens, wants_json = without_json(arguments)
    caller = Caller(LOCAL.caller_id, Surface.CLI, Origin(LOCAL.channel_id, LOCAL.thread_key, "machine"))
    async with open_registry() as registry:
        result = await registry.run_tokens(tokens, caller)
    if wants_json:
        _say(streams.out, json.dumps(as_json(result), ensure_ascii=False))
    elif result.is_ok:
        _say(streams.out, in_shell(result.text, registry.commands()))
    if not result.is_ok:
        _say(streams.err, f"error ({result.code}): {in_shell(result.message, registry.commands())}")
    return _exit(result)


async def ask(text: str, thread: str | None, open_dispatcher: OpenDispatcher, streams: Streams) -> int:
    """Say ``text`` to the bot in this process; 1 when it gave no whole answer."""
    thread = DEFAULT_PLACE if thread is None else thread
    if not text.strip() or not re.fullmatch(NAME_PATTERN, thread):
        _say(streams.err, "error (invalid_input): say something, and name a thread with letters, digits and ._@/#+-")
        return EXIT_REJECTED
    background = Background()
    place = Place(LOCAL.platform, LOCAL.subject, thread=thread)
    async with open_dispatcher(background) as dispatcher:
        turn = await Console(dispatcher, background.spawn, SystemClock()).ask(Asked(place, text))
    is_complete = turn.status == COMPLETED
    if turn.text:
        _say(streams.out if is_complete else streams.err, turn.text)
    if not is_complete:
        _say(streams.err, f"error (failed): no complete answer (reference {turn.reference})")
    return EXIT_OK if is_complete else EXIT_FAILED


def after_config(arguments: Sequence[str]) -> tuple[Path | None, Sequence[str]]:
    """What a leading ``--config`` names, and the words behind it."""
    match arguments:
        case ["--config", path, *words]:
            return Path(path), words
        case [option, *words] if option.startswith("--config="):
            return Path(option.removeprefix("--config=")), words
        case _:
            return None, arguments


def without_json(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without ``--json``, and whether it was there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [each for each in arguments[:end] if each != _JSON]
    return [*options, *arguments[end:]], len(options) < end


def _exit(result: Result) -> int:
    """A name that is no command is a rejected line, like a wrong option; so is help about one."""
    if result.code is Code.NOT_FOUND and (result.decided_by == "registry" or result.command_id == HELP_ID):
        return EXIT_REJECTED
    return _EXITS.get(result.code, EXIT_FAILED)


def _say(stream: TextIO, line: str) -> None:
    stream.write(f"{line}\n")

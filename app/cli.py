"""The command line: what each command takes, and how what goes wrong before the bot runs is told."""

import asyncio
import errno
import json
import socket
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from typer.core import TyperGroup

from app import __version__
from app.cli_eval import eval_commands
from app.cli_memory import for_operators, help_beside, memory_commands
from app.cli_memory_service import memory_service
from app.cli_state import state_commands
from app.errors import ConfigurationError, StateError
from app.slack.manifest import DEFAULT_DESCRIPTION, DEFAULT_NAME, events_url
from app.slack.manifest import manifest as manifest_of

if TYPE_CHECKING:
    from app.checks import Check
    from config.settings import Settings

_REFUSED = 2
_LISTENING_ERRORS = {errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES}

application = typer.Typer(
    name="switchboard",
    help="A Slack bot that answers in threads.",
    epilog="Everything the bot can be asked for by name works here, too: `switchboard help` lists it.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="PATH", help="The settings file; else switchboard.yaml if there is one."),
]


def invoke(arguments: Sequence[str]) -> int:
    """Carry out one command line and return the exit status; what the operator can mend goes to stderr."""
    try:
        status = _carry_out(arguments)
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.TyperException as error:
        # A usage error knows the command it is about, whose help says more than the whole program's.
        context: typer.Context | None = getattr(error, "ctx", None)
        command = "switchboard" if context is None else context.command_path
        _complain([f"{error.format_message().rstrip('.')} ({command} --help shows what there is)"])
        return error.exit_code
    except (ConfigurationError, StateError, OSError, BaseExceptionGroup) as error:
        faults = startup_faults(error)
        if faults is None:
            raise
        _complain(faults)
        return _REFUSED
    return status if isinstance(status, int) else 0


def _carry_out(arguments: Sequence[str]) -> object:
    """The exit status of one of the commands below or, for a first word that is none of them, of the registry's."""
    command, first = typer.main.get_command(application), arguments[0] if arguments else "-"
    is_option = first.startswith("-") and not first.startswith("--config")
    is_known = isinstance(command, TyperGroup) and first in command.commands and first != "memory"
    if not is_known and not is_option:
        from app.bootstrap_commands import groups
        from app.cli_commands import after_config

        config, words = after_config(arguments)
        if words and words[0] in groups() and not for_operators(words):
            return _run_registered(config, words)
    return command.main(list(arguments), prog_name="switchboard", standalone_mode=False)


def _run_registered(config: Path | None, words: Sequence[str]) -> int:
    """Help needs neither settings nor what the commands work with."""
    from app.bootstrap_commands import unopened_registry
    from app.cli_commands import Streams, run_command, without_json
    from app.logs import configure

    registry, tokens = unopened_registry(), without_json(words)[0]
    if registry.asks_for_help(tokens):
        configure("auto", "warning", stream=sys.stderr)
        opened = nullcontext(registry)
    else:
        settings = _settings(config, stream=sys.stderr, slack=False)
        from app.bootstrap_console import open_registry

        opened = open_registry(settings)
    status = asyncio.run(run_command(words, lambda: opened, Streams(sys.stdout, sys.stderr)))
    typer.echo(help_beside(words), nl=False)
    return status


def startup_faults(error: BaseException) -> list[str] | None:
    """What the operator can mend, one line each; None if there is more to ``error`` than that."""
    match error:
        case BaseExceptionGroup(exceptions=inner):
            found = [startup_faults(each) for each in inner]
            lines = [line for each in found for line in each or ()]
            return None if None in found else lines
        case ConfigurationError():
            return [" ".join(str(error).split())]
        case StateError():
            return [f"the state database cannot be used: {error} (switchboard state check says more)"]
        case OSError(errno=number) if isinstance(error, socket.gaierror) or number in _LISTENING_ERRORS:
            reason = (error.strerror or str(error)).rstrip(".")
            return [f"cannot listen: {reason}; choose another host or port (http.host, http.port or --port)"]
        case _:
            return None


def _complain(faults: Sequence[str]) -> None:
    from app.logs import mask

    for fault in faults:
        typer.echo(f"switchboard: {mask(fault)}", err=True)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if wanted:
        typer.echo(f"switchboard {__version__}")
        raise typer.Exit


@application.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    config: ConfigOption = None,
    *,
    version: Annotated[  # noqa: ARG001 - its callback has done the work
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and leave.")
    ] = False,
) -> None:
    context.obj = config
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@application.command()
def run(context: typer.Context, config: ConfigOption = None) -> None:
    """Run the bot in your Slack workspace."""
    settings = _settings(config or context.obj)
    from app.bootstrap import serve
    from memory.service.process import run as run_to_end

    run_to_end(serve(settings))


@application.command()
def play(
    context: typer.Context,
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Where the page listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes any free port.")] = 7700,
) -> None:
    """Try the bot on this machine, without Slack.

    Opens a Slack-like workspace of its own on a web page; needs no settings, no tokens and no model key.
    """
    settings = _settings(config or context.obj, playground=True)
    from app.play import play as play_until_stopped
    from memory.service.process import run as run_to_end

    run_to_end(play_until_stopped(settings, host=host, port=port))


@application.command()
def ask(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to say to the bot.")],
    thread: Annotated[str | None, typer.Option(metavar="KEY", help="The conversation it belongs to.")] = None,
    config: ConfigOption = None,
) -> None:
    """Ask the bot here, without Slack.

    The answer goes to standard output, everything else to standard error. The exit status is 1 if there was no
    complete answer.
    """
    settings = _settings(config or context.obj, stream=sys.stderr, slack=False)
    from app.bootstrap_console import open_dispatcher
    from app.cli_commands import Streams
    from app.cli_commands import ask as ask_bot

    streams = Streams(sys.stdout, sys.stderr)
    raise typer.Exit(
        asyncio.run(ask_bot(text, thread, lambda background: open_dispatcher(settings, background), streams))
    )


@application.command()
def doctor(context: typer.Context, config: ConfigOption = None) -> None:
    """Check that everything the bot needs works.

    Looks at the settings, Slack's tokens and scopes, the connection to Slack, every model, memory and the tokens of
    programs, and says what to do about what it finds. The exit status is 1 if anything fails.
    """
    from app.checks import Check
    from config.faults import SettingsError
    from config.loading import load

    try:
        settings = load(config or context.obj)
    except SettingsError as error:
        for fault in error.faults:
            _report(Check("settings", "fail", fault))
        _report(Check("the rest", "warn", "not looked at: it takes settings without a fault"))
        raise typer.Exit(1) from None
    _report(Check("settings", "ok", "complete and free of contradictions"))
    if asyncio.run(_has_failure(settings)):
        raise typer.Exit(1)


@application.command()
def manifest(
    http: Annotated[
        str | None, typer.Option(metavar="URL", help="Where Slack reaches the bot over HTTP; else Socket Mode.")
    ] = None,
    name: Annotated[str, typer.Option(help="The app's name in Slack.")] = DEFAULT_NAME,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="JSON in place of YAML.")] = False,
) -> None:
    """Print the app manifest for Slack.

    Paste it at api.slack.com/apps under "Create New App".
    """
    import yaml

    request_url = events_url(http) if http is not None else None
    content = manifest_of(name, DEFAULT_DESCRIPTION, request_url=request_url)
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)  # pyright: ignore[reportUnknownMemberType] - the stubs leave its width open
        typer.echo(text, nl=False)


def _settings(
    config: Path | None,
    *,
    playground: bool = False,
    slack: bool = True,
    bot: bool = True,
    stream: TextIO | None = None,
) -> "Settings":
    """The settings, with logging set up as they say; ends the command with every fault if there are any.

    Logs go to ``stream``, standard output unless given.
    """
    from app.logs import configure
    from config.faults import SettingsError
    from config.loading import load

    try:
        settings = load(config, playground=playground, slack=slack, bot=bot)
    except SettingsError as error:
        _complain(error.faults)
        raise typer.Exit(_REFUSED) from None
    configure(settings.logs.format, settings.logs.level, stream=stream or sys.stdout)
    return settings


def _report(check: "Check") -> None:
    typer.echo(f"{check.level:<4}  {check.name}: {check.text}")


async def _has_failure(settings: "Settings") -> bool:
    """Report every check as soon as it is known."""
    from app.cli_doctor import checks

    failed = False
    async for check in checks(settings):
        _report(check)
        failed = failed or check.level == "fail"
    return failed


application.command("memory-service")(memory_service(_settings))
application.add_typer(memory_commands(_settings))
application.add_typer(state_commands(_settings))
application.add_typer(eval_commands(_settings))

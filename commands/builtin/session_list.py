"""The session commands, each with what it takes."""

from commands.builtin.session import WRITE, SessionCommands
from commands.conversations import Whose
from commands.ports import Authority, Conversations
from commands.spec import Argument, Command, Effect, Handler, Option

READ = "session:read"
_TITLE = Argument("title", "a name for it", is_required=False, is_rest=True, is_raw=True)


def session_commands(conversations: Conversations | None, authority: Authority) -> list[Command]:
    """``conversations``: ``None`` in a process that has none."""
    house = SessionCommands(conversations, authority)
    return [*_of_sessions(house), *_of_turns(house), *_of_figures(house)]


def _of_sessions(house: SessionCommands) -> list[Command]:
    return [
        _command("new", "begin anew; what was said is kept", house.new, "write", _TITLE),
        _command("reset", "the same as new", house.new, "write", _TITLE),
        _command("stop", "end what I am doing here", house.stop, "write"),
        _command(
            "resume",
            "go back to an earlier session, or list them",
            house.resume,
            "write",
            Argument("session", "its number in the list, id or title", is_required=False, is_rest=True, is_raw=True),
            Option("all", "of every conversation in this channel (admins)", type="boolean", default=False),
        ),
        _command(
            "list",
            "the sessions of this conversation",
            house.list,
            "read",
            Argument("words", "only those with all of these words", is_required=False, is_rest=True),
            shorts=("list", "sessions"),
        ),
        _command(
            "title", "name this session", house.title, "write", Argument("text", "the name", is_rest=True, is_raw=True)
        ),
    ]


def _of_turns(house: SessionCommands) -> list[Command]:
    return [
        _command("retry", "answer the last message once more", house.retry, "write", leads_on=True),
        _command(
            "undo",
            "take back the last turns",
            house.undo,
            "write",
            Argument("turns", "how many, one unless said", is_required=False),
        ),
        _command(
            "compress",
            "put a summary in the place of what was said",
            house.compress,
            "write",
            Argument(
                "focus",
                "what must not get lost, or here and a number: all but so many last turns, two unless said",
                is_required=False,
                is_rest=True,
                is_raw=True,
            ),
            Option("preview", "only tell what would be summarised", type="boolean", default=False),
        ),
        _command(
            "queue",
            "answer this as a turn of its own, after what is under way",
            house.queue,
            "write",
            Argument("text", "what to answer", is_rest=True, is_raw=True),
            shorts=("queue", "q"),
            leads_on=True,
        ),
    ]


def _of_figures(house: SessionCommands) -> list[Command]:
    return [
        _command("status", "how this conversation stands", house.status, "read"),
        _command(
            "usage",
            "tokens and cost",
            house.usage,
            "read",
            Option("of", "whose turns", choices=tuple(Whose)),
            Option("days", "of the last so many days", type="integer", least=1, most=366),
        ),
    ]


def _command(
    verb: str,
    summary: str,
    handler: Handler,
    effect: Effect,
    *parts: Argument | Option,
    shorts: tuple[str, ...] | None = None,
    leads_on: bool = False,
) -> Command:
    return Command(
        id=f"session.{verb}",
        summary=summary,
        action=READ if effect == "read" else WRITE,
        effect=effect,
        handler=handler,
        arguments=tuple(part for part in parts if isinstance(part, Argument)),
        options=tuple(part for part in parts if isinstance(part, Option)),
        shorts=(verb,) if shorts is None else shorts,
        leads_on=leads_on,
    )

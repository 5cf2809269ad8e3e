"""The config commands, each with what it takes."""

from commands.builtin.config import WRITE, ConfigCommands, Configuring
from commands.ports import Authority, Conversations
from commands.preferences import CHOSEN, Layer, Name
from commands.spec import Argument, Command, Option

READ = "config:read"
_NAME = Argument("name", "what is set", choices=CHOSEN)
_ANY_LAYER = Option(
    "layer",
    "for whom; without it for you, and a repo for this thread",
    choices=(Layer.USER, Layer.THREAD, Layer.CHANNEL),
)
_VERSION = Option("version", "only if it is still at this version, as `config show` told it", type="integer", least=0)


def config_commands(
    config: Configuring | None, conversations: Conversations | None, authority: Authority
) -> list[Command]:
    """``config`` and ``conversations``: ``None`` in a process that has none."""
    house = ConfigCommands(config, conversations, authority)
    return [
        Command(
            id="config.show",
            summary="which agent, model, effort and repo count for you here, and why",
            action=READ,
            effect="read",
            handler=house.show,
        ),
        Command(
            id="config.set",
            summary="choose an agent, a model or an effort, or the repo this is about",
            action=WRITE,
            effect="write",
            handler=house.set,
            arguments=(_NAME, Argument("value", "what it is to be")),
            options=(_ANY_LAYER, _VERSION),
        ),
        Command(
            id="config.clear",
            summary="take a setting back",
            action=WRITE,
            effect="write",
            handler=house.clear,
            arguments=(Argument("name", "what is taken back", choices=tuple(Name)),),
            options=(_ANY_LAYER, _VERSION),
        ),
        Command(
            id="config.instructions",
            summary="advice I am given for you, or for everybody in a channel",
            action=WRITE,
            effect="write",
            handler=house.instructions,
            arguments=(Argument("text", 'the advice; `""` clears it', is_required=False, is_rest=True, is_raw=True),),
            options=(Option("layer", "for whom", choices=(Layer.USER, Layer.CHANNEL), default=Layer.USER), _VERSION),
        ),
    ]

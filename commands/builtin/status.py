"""``status show``: how the bot is doing."""

from commands.ports import StatusSource
from commands.spec import Caller, Command, Reply, Values


def status_commands(source: StatusSource) -> list[Command]:
    async def show(caller: Caller, values: Values) -> Reply:  # noqa: ARG001 - it reads the same for everybody
        lines = source.status().lines
        return Reply(dict(lines), "\n".join(f"- {name}: {value}" for name, value in lines))

    return [Command("status.show", "how I am doing", "status:read", "read", show)]

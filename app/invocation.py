"""What programs get from a command, the same on the command line, over HTTP and over MCP."""

from commands.result import Result
from commands.spec import Json


def as_json(result: Result) -> dict[str, Json]:
    """``{ok, command, data}``, or ``{ok, command, error, message, decidedBy}`` with the code as ``error``."""
    if result.reply is not None:
        return {"ok": True, "command": result.command_id, "data": result.reply.data}
    return {
        "ok": False,
        "command": result.command_id,
        "error": result.code.value,
        "message": result.message,
        "decidedBy": result.decided_by,
    }

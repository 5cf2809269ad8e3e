"""What commands answer, as somebody in a shell types it: ``switchboard session resume`` for ``!resume``."""

import re
from collections.abc import Sequence

from commands.spec import Command
from commands.untrusted import CLOSE, OPEN

_STORED = re.compile(rf"({re.escape(OPEN)}.*?{re.escape(CLOSE)})", re.DOTALL)
"""What people wrote: it stays as it is."""
_SPOKEN = re.compile(r"`(?:!(?P<short>[a-z][a-z0-9]*)|(?P<word>[a-z<]\w*>?)(?: (?P<verb>[a-z<]\w*>?))?)(?=[` ])")
_PROGRAM = "switchboard"
_HELP = frozenset({("help", None), ("<group>", "<verb>")})


def in_shell(text: str, commands: Sequence[Command]) -> str:
    """``text`` with each command that begins a code span as the shell takes it."""
    shorts = {short: f"{command.group} {command.verb}" for command in commands for short in command.shorts}
    names = {(command.group, command.verb) for command in commands} | _HELP

    def typed(found: re.Match[str]) -> str:
        if found["short"]:
            return f"`{_PROGRAM} {shorts[found['short']]}" if found["short"] in shorts else found[0]
        return f"`{_PROGRAM} {found[0][1:]}" if (found["word"], found["verb"]) in names else found[0]

    return "".join(part if part.startswith(OPEN) else _SPOKEN.sub(typed, part) for part in _STORED.split(text))

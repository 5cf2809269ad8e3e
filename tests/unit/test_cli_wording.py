"""Commands in what a shell is told: as they are typed there."""

import pytest

from app.cli_wording import in_shell
from commands.untrusted import untrusted
from tests.conversation_house import TalkHouse

COMMANDS = TalkHouse().registry().commands()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("`!resume` goes back", "`switchboard session resume` goes back"),
        ("`!resume <number>` goes on", "`switchboard session resume <number>` goes on"),
        ("write `!q <text>`", "write `switchboard session queue <text>`"),
        ("Usage: `session list [<words>…]`", "Usage: `switchboard session list [<words>…]`"),
        ("`help` lists what there is", "`switchboard help` lists what there is"),
        ("`<group> <verb> --help` explains one.", "`switchboard <group> <verb> --help` explains one."),
        ("there are `status show`, `help show`", "there are `switchboard status show`, `switchboard help show`"),
    ],
)
def test_a_command_in_a_code_span_becomes_what_a_shell_takes(said: str, shown: str) -> None:
    assert in_shell(said, COMMANDS) == shown
    assert in_shell(shown, COMMANDS) == shown


@pytest.mark.parametrize(
    "text",
    [
        "- model: `offline/demo` (the default)",
        "`!nothing` and `session dance` are no commands, `session` is none either, and !new stands in no span",
        "`switchboard ask '!retry'`",
        "--scope must be one of `me`, `all`",
        f"titled {untrusted('`!resume` and `session list`')}.",
    ],
)
def test_everything_else_stays_as_it_was(text: str) -> None:
    assert in_shell(text, COMMANDS) == text

"""How a copy shows how far it is."""

from io import StringIO

from app.cli_progress import shown_on
from tests.fakes import ManualClock


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


async def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    clock, stream = ManualClock(), StringIO()
    with shown_on(stream, clock.monotonic) as watch:
        watch.begin("copy", 1_200)
        watch.advance(500)
        clock.elapsed_s += 11
        watch.advance(50)
        watch.advance(50)
        watch.advance(400)
        watch.begin("verify", 1_200)
    assert stream.getvalue().splitlines() == [
        "copying records: about 1,200",
        "copying records: 600 of about 1,200",
        "comparing records: about 1,200",
    ]


def test_on_a_terminal_there_is_a_bar_that_goes_away() -> None:
    stream = Terminal()
    with shown_on(stream) as watch:
        watch.begin("copy", 250)
        watch.advance(60)
        watch.advance(60)
        watch.begin("verify", 250)
        watch.advance(1)
    shown = stream.getvalue()
    assert "120/250" in shown
    assert "comparing records" in shown
    assert shown.endswith("\x1b[2K")

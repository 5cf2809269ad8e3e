"""Both bots side by side, each with a playground of its own: four processes and this one, which only asks."""

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.bots import Bot, Side, bot
from benchmarks.children import Child, child
from benchmarks.workspaces import Burst, Connected, Desk, OneMention, PostTo, Quiet, workspace

_WARM_UP_MENTIONS = 10


@dataclass(frozen=True, slots=True)
class Pair:
    """A bot and the playground it lives in."""

    bot: Child[Bot]
    workspace: Child[Desk]


@contextmanager
def both_sides(mode: str = "socket", *, is_held: bool = False) -> Generator[Mapping[Side, Pair]]:
    """Connected and warmed up. A model that ``is_held`` answers nothing until it is let go."""
    with ExitStack() as stack:
        pairs = _opened(stack, mode, is_held=is_held)
        for pair in pairs.values():
            for _ in range(_WARM_UP_MENTIONS):
                pair.workspace.ask(Burst(1) if is_held else OneMention())
            pair.workspace.ask(Quiet())
        yield pairs


def _opened(stack: ExitStack, mode: str, *, is_held: bool) -> Mapping[Side, Pair]:
    """The processes start side by side, each bot when the address of its playground is known."""
    playgrounds: dict[Side, Child[Desk]] = {side: stack.enter_context(child(workspace)) for side in Side}
    bots: dict[Side, Child[Bot]] = {
        side: stack.enter_context(child(bot, side, playground.greeting(), mode, is_held=is_held))
        for side, playground in playgrounds.items()
    }
    for side, playground in playgrounds.items():
        port = bots[side].greeting()
        playground.ask(PostTo(port) if mode == "http" else Connected())
    return {side: Pair(bots[side], playgrounds[side]) for side in Side}

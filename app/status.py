"""How the bot is doing, for ``status show``."""

from app import __version__
from app.application import Application
from app.clock import Clock
from commands.ports import Status


class BotStatus:
    """Implements ``commands.ports.StatusSource``. ``watch`` names the application once there is one."""

    def __init__(self, clock: Clock, *, model: str, memory: str) -> None:
        self._clock = clock
        self._started_s = clock.monotonic()
        self._model = model
        self._memory = memory
        self._application: Application | None = None

    def watch(self, application: Application) -> None:
        self._application = application

    def status(self) -> Status:
        application = self._application
        is_ready = application is not None and application.is_ready
        conversations = application.dispatcher.conversations if application is not None else 0
        return Status(
            (
                ("version", __version__),
                ("uptime", span(self._clock.monotonic() - self._started_s)),
                ("model", self._model),
                ("memory", self._memory),
                ("slack", "connected" if is_ready else "not connected"),
                ("conversations", f"{conversations} under way or waiting"),
            )
        )


def span(seconds: float) -> str:
    """``3 d 4 h``, ``4 h 5 min``, ``5 min``: the two largest units that are not zero."""
    minutes, hours, days = int(seconds) // 60, int(seconds) // 3600, int(seconds) // 86_400
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min"

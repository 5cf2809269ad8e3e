"""The ephemeral messages people may still see: Slack keeps none, but a person can click in one."""

from collections import OrderedDict

from app.playground.happenings import EphemeralPosted, Happening
from app.playground.refusal import SlackRefusal
from app.playground.workspace import Workspace

_KEPT = 2000


class Ephemerals:
    """Listens to the workspace and remembers the latest ones by channel and ts.

    An ephemeral message that is posted again under its ts is a replacement; without text and blocks it is gone.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._shown: OrderedDict[tuple[str, str], EphemeralPosted] = OrderedDict()
        self.close = workspace.subscribe(self._on_happening)

    def get(self, channel: str, ts: str) -> EphemeralPosted | None:
        return self._shown.get((channel, ts))

    def seen_by(self, user: str, channel: str, ts: str) -> EphemeralPosted | None:
        """Refuses ``message_not_found`` when it was shown to somebody else."""
        shown = self.get(channel, ts)
        if shown is not None and shown.user != user:
            raise SlackRefusal("message_not_found")
        return shown

    def _on_happening(self, happening: Happening) -> None:
        if not isinstance(happening, EphemeralPosted):
            return
        key = (happening.channel, happening.ts)
        self._shown.pop(key, None)
        if happening.text or happening.blocks or happening.attachments:
            self._shown[key] = happening
        if len(self._shown) > _KEPT:
            self._shown.popitem(last=False)

"""How a conversation begins anew: what runs and waits there ends, and what was set for it alone is taken back."""

from dataclasses import dataclass

from app.dispatch.conversation_lanes import Lane, Lanes
from app.dispatch.conversation_stopping import Stopping, is_read_by
from app.dispatch.conversation_telling import TITLE_TAKEN, begun, cut_short, there
from app.dispatch.dispatcher import STOPPED
from commands.conversations import Restarted
from commands.errors import ConflictError
from commands.ports import Preferences
from commands.preferences import Clearing, Layer, Name, Slot, subjects_of
from commands.spec import Caller

OWN = (Name.EFFORT, Name.MODEL, Name.REPO)
"""What a conversation has chosen for its course; who answers in a thread is the thread's."""


@dataclass(frozen=True, slots=True)
class Beginning:
    lanes: Lanes
    stopping: Stopping
    preferences: Preferences

    async def reset(self, caller: Caller, title: str | None) -> Restarted:
        """As ``commands.ports.Conversations`` has it."""
        lanes, lines = self.lanes, self.lanes.lines
        lane = await lanes.of(caller)
        if title is not None and title in {each.title for each in await lanes.sessions([lane.key])}:
            raise ConflictError(TITLE_TAKEN)
        entry = await lanes.opened(lane)
        await lanes.write_down(entry)
        clearing = Clearing(await self._own(lane, caller), caller.id)
        # Nothing can come between these: whoever is answered next finds the new session.
        ended = lines.turn_of(lane.key)
        dropped, is_told = lines.clear(lane.key), ended is not None and is_read_by(caller, ended)
        is_stopped = lines.stop_line(lane.key, is_told=is_told)
        try:
            with cut_short(is_told=is_stopped and is_told):
                done = there(
                    await lanes.store.reset(lane.key, watermark=caller.origin.position, title=title, clearing=clearing)
                )
        finally:
            self.preferences.forget()
        if ended is not None:
            await self.stopping.left(ended)
            # What was whole by then was not stopped.
            is_stopped = is_stopped and ended.outcome in {None, STOPPED}
        lanes.transcripts.forget(entry.session_id)
        return Restarted(begun(done.entry, title), int(is_stopped), dropped, done.cleared)

    async def _own(self, lane: Lane, caller: Caller) -> tuple[Slot, ...]:
        """Where this conversation is set. Where people are kept apart, a thread's settings are others' as well."""
        thread_key = subjects_of(caller).get(Layer.THREAD)
        if thread_key is None:
            return ()
        if any(each.session_key != lane.key for each in await self.lanes.store.in_thread(lane.thread_key)):
            return ()
        return tuple(Slot(Layer.THREAD, thread_key, name) for name in OWN)

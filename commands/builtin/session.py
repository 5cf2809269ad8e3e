"""``session …``: what people do with the conversation they are in, each also as ``!word`` in its thread."""

from dataclasses import dataclass

from commands.builtin.people import require_channel, require_people
from commands.builtin.session_asking import compressing_of, days_of, title_of, turns_of, which_of, whose_of
from commands.builtin.session_showing import (
    PREVIEW_CHARS,
    compressed_reply,
    compressible_reply,
    count,
    for_data,
    for_text,
    name_of,
    session_data,
    sessions_reply,
    status_reply,
    usage_reply,
)
from commands.conversations import Restarted, Whose
from commands.errors import InvalidInputError, NotFoundError, UnavailableError
from commands.ports import Authority, Conversations
from commands.quoting import cut, one_line
from commands.spec import Caller, Followup, Json, Reply, Surface, Values

WRITE = "session:write"
RESUMABLE, LISTED = 10, 20
_OFF = "conversations are kept by the bot that is running; there are none in this process"
_ADMINS_ONLY = "only admins go on with conversations of other threads; leave out `--all` to see those of this one."
_NOTHING_YET = "Nothing has been said to me in this conversation yet."
_RESUME_HINT = "`!resume <number>` goes on with one, as does its id or title."
_NO_EARLIER = "There is no earlier session to go back to."


@dataclass(frozen=True, slots=True)
class SessionCommands:
    """The handlers. ``conversations``: ``None`` in a process that has none."""

    conversations: Conversations | None
    authority: Authority

    async def new(self, caller: Caller, values: Values) -> Reply:
        conversations = await self._own(caller, "new")
        title = None if values["title"] is None else title_of(str(values["title"]))
        done = await conversations.reset(caller, title)
        titled = f", titled {for_text(title, caller)}" if title else ""
        text = f"🆕 A new session begins here{titled}. What was said before is kept: `!resume` goes back to it."
        data: dict[str, Json] = {
            "session": session_data(done.session, caller),
            "stopped": done.stopped,
            "dropped": done.dropped,
            "cleared": [name.value for name in done.cleared],
        }
        return Reply(data, text + _casualties(done), receipt="began a new session")

    async def stop(self, caller: Caller, values: Values) -> Reply:  # noqa: ARG002 - it takes none
        stopped = await self._open().stop(caller)
        turns = stopped.turns
        text = f"🛑 Stopped {count(turns, 'turn')}." if turns else "Nothing of yours or of this thread is under way."
        return Reply({"stopped": turns}, text, receipt=f"stopped {turns}", is_told=stopped.is_told)

    async def resume(self, caller: Caller, values: Values) -> Reply:
        conversations = await self._own(caller, "resume")
        in_channel = values["all"] is True
        if in_channel:
            await require_channel(self.authority, caller, WRITE, _ADMINS_ONLY)
        if values["session"] is None:
            sessions = await conversations.earlier(caller, in_channel=in_channel, limit=RESUMABLE)
            shown = sessions_reply(sessions, caller, _RESUME_HINT, receipt="listed sessions")
            return shown if sessions else Reply(shown.data, _NO_EARLIER, receipt="listed sessions")
        wanted = which_of(
            str(values["session"]), await conversations.earlier(caller, in_channel=in_channel), most=RESUMABLE
        )
        session = await conversations.resume(caller, wanted.session_id, in_channel=in_channel)
        text = f"↩️ Back in {name_of(session, caller)}. I know again what was said in it."
        return Reply({"session": session_data(session, caller)}, text, receipt=f"resumed {session.session_id}")

    async def list(self, caller: Caller, values: Values) -> Reply:
        query = str(values["words"] or "")
        sessions = await self._open().list_sessions(caller, query, LISTED)
        if not sessions:
            return Reply({"sessions": []}, "No sessions have these words." if query else "There are no sessions yet.")
        full = f" The latest {LISTED} are shown; words narrow it." if len(sessions) >= LISTED else ""
        where = "" if caller.surface is Surface.CLI else " in the thread"
        return sessions_reply(sessions, caller, f"`!resume`{where} goes back to an earlier one.{full}")

    async def retry(self, caller: Caller, values: Values) -> Reply:  # noqa: ARG002 - it takes none
        self._require_turns(caller, "retry")
        then = await (await self._own(caller, "retry")).retry(caller)
        return Reply({"retried": True}, "🔁 Once more.", receipt="retried the last turn", then=then)

    async def undo(self, caller: Caller, values: Values) -> Reply:
        conversations = await self._own(caller, "undo")
        undone = await conversations.undo(caller, turns_of(values["turns"]))
        if not undone.turns:
            raise NotFoundError("there is no turn to take back")
        preview = cut(one_line(undone.opening), PREVIEW_CHARS)
        began = f" It began with: {for_text(preview, caller, PREVIEW_CHARS)}" if preview else ""
        data = {"turns": undone.turns, "messages": undone.messages, "preview": for_data(preview, caller)}
        text = f"↶ Took back {count(undone.turns, 'turn')}; I no longer know of it.{began}"
        return Reply(data, text, receipt=f"took back {undone.turns}")

    async def compress(self, caller: Caller, values: Values) -> Reply:
        conversations = await self._own(caller, "compress")
        how, is_preview = compressing_of(values)
        if is_preview:
            return compressible_reply(await conversations.compressible(caller, how))
        return compressed_reply(await conversations.compress(caller, how))

    async def queue(self, caller: Caller, values: Values) -> Reply:
        self._require_turns(caller, "queue <text>")
        self._require_thread(caller, "queue")
        text = str(values["text"]).strip()
        if not text:
            raise InvalidInputError("say what is to be done: `!queue <text>`")
        ahead = await self._open().queue(caller)
        before = f"{count(ahead, 'message')} before it" if ahead else "nothing before it"
        then = Followup(text)
        return Reply({"ahead": ahead}, f"📥 In line, {before}.", receipt=f"queued behind {ahead}", then=then)

    async def status(self, caller: Caller, values: Values) -> Reply:  # noqa: ARG002 - it takes none
        self._require_thread(caller, "status")
        status = await self._open().status(caller)
        return Reply({"session": None}, _NOTHING_YET) if status is None else status_reply(status, caller)

    async def usage(self, caller: Caller, values: Values) -> Reply:
        whose, days = whose_of(values, caller), days_of(values)
        if whose is Whose.CONVERSATION:
            self._require_thread(caller, "usage")
        if whose is Whose.CHANNEL and caller.origin.channel_id is None:
            raise InvalidInputError("this surface has no channel; `--of me` is about you alone")
        return usage_reply(await self._open().usage(caller, whose, days=days), whose, days)

    async def title(self, caller: Caller, values: Values) -> Reply:
        conversations = await self._own(caller, "title")
        text = title_of(str(values["text"]))
        await conversations.title(caller, text)
        return Reply(
            {"title": for_data(text, caller)}, f"🏷️ This session is {for_text(text, caller)} now.", "set a title"
        )

    async def _own(self, caller: Caller, word: str) -> Conversations:
        """For those whose conversation it is. Raises ``CommandError``."""
        self._require_thread(caller, word)
        conversations = self._open()
        await require_people(conversations, self.authority, caller, WRITE)
        return conversations

    def _open(self) -> Conversations:
        if self.conversations is None:
            raise UnavailableError(_OFF)
        return self.conversations

    def _require_thread(self, caller: Caller, word: str) -> None:
        if caller.origin.thread_key is not None:
            return
        if caller.surface is Surface.SLASH:
            raise InvalidInputError(
                f"this is about one thread, where Slack takes no slash commands: write `!{word}` in it"
            )
        raise InvalidInputError("this is about one conversation, and none belongs to this call")

    def _require_turns(self, caller: Caller, word: str) -> None:
        """The answer to those whose surface shows no answer of mine."""
        if not caller.takes_turns and caller.surface is not Surface.SLASH:
            messages = f"say `!{word}` in a message, by `switchboard ask`, `POST /ingress` or the tool `dispatch`"
            way = f"type `switchboard ask '!{word}'`" if caller.surface is Surface.CLI else messages
            raise InvalidInputError(f"this leads to an answer of mine, which cannot be given here: {way}")


def _casualties(done: Restarted) -> str:
    stopped = f" I stopped {count(done.stopped, 'turn')}." if done.stopped else ""
    dropped = f" {count(done.dropped, 'waiting message')} will not be answered." if done.dropped else ""
    names = " or ".join(filter(None, (", ".join(done.cleared[:-1]), *done.cleared[-1:])))
    return stopped + dropped + (f" No {names} is set for this conversation any more." if names else "")

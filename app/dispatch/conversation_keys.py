"""Which session keys a caller's place has: those that messages of the same person there would get."""

from dataclasses import dataclass, replace

from app.channel import ChannelId, ThreadKey, UserId, WorkspaceId
from app.dispatch.keying import Keying
from app.sessions.entry import SessionKey
from app.sessions.key import KeyRules, source_of
from app.sessions.source import ChatType, SessionSource
from commands.spec import MACHINES, Caller

NO_THREAD = ThreadKey("")


@dataclass(frozen=True, slots=True)
class _Said:
    """What a caller would say, as far as it decides about the key."""

    workspace_id: WorkspaceId
    channel_id: ChannelId
    user_id: UserId
    thread_key: ThreadKey
    position: str
    starts_thread: bool


def sources_of(keying: Keying, caller: Caller) -> tuple[SessionSource, ...]:
    """Of the conversations that a caller's thread may be part of, the likeliest first; none without a thread.

    There are two in a DM that is one long session, below a message at its top: the thread's own, which begins with
    the next message there, and the long one, which the thread's first message belongs to.
    """
    origin = caller.origin
    if origin.channel_id is None or origin.thread_key is None:
        return ()
    is_first = origin.position is not None and origin.thread_key == f"{origin.channel_id}:{origin.position}"
    starts = (True,) if is_first else (False, True)
    found = (_source(keying, caller, ThreadKey(origin.thread_key), starts_thread=start) for start in starts)
    return tuple(dict.fromkeys(found))


def keys_of(keying: Keying, caller: Caller) -> tuple[SessionKey, ...]:
    """As ``sources_of``. The first is the key of the message that brought the caller."""
    return tuple(keying.rules.key(source) for source in sources_of(keying, caller))


def stem_of(keying: Keying, caller: Caller) -> str | None:
    """How the keys of every conversation in the caller's channel begin; ``None`` without a channel."""
    source = _source(keying, caller, NO_THREAD, starts_thread=False)
    if not source.platform or not source.chat_id:
        return None
    anybodys = KeyRules(group_sessions_per_user=False, with_scope=keying.rules.with_scope)
    return anybodys.key(replace(source, thread_id=None, user_id=None)).rstrip(":")


def stem_for_admins(keying: Keying, caller: Caller) -> str | None:
    """As ``stem_of``; ``None`` in a DM, where other threads are somebody's own."""
    is_dm = _source(keying, caller, NO_THREAD, starts_thread=False).chat_type is ChatType.DM
    return None if is_dm or caller.origin.visibility == "dm" else stem_of(keying, caller)


def only_speaker(caller: Caller) -> str | None:
    """Whose conversations alone the caller may hear of in a channel: programs share channels without sharing talk."""
    return caller.id if caller.surface in MACHINES else None


def _source(keying: Keying, caller: Caller, thread_key: ThreadKey, *, starts_thread: bool) -> SessionSource:
    origin = caller.origin
    said = _Said(
        workspace_id=WorkspaceId(origin.workspace_id or ""),
        channel_id=ChannelId(origin.channel_id or ""),
        user_id=UserId(caller.id),
        thread_key=thread_key,
        position=origin.position or "",
        starts_thread=starts_thread,
    )
    return source_of(said, dm_top_level_threads_as_sessions=keying.dm_top_level_threads_as_sessions)

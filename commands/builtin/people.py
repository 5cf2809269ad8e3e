"""Whose a conversation is: those who have spoken with the bot in it, and admins of its channel.

One rule for every command that changes a conversation or what is set for it. Where nobody has spoken yet, there is
nothing to guard. Reading, and stopping what runs, is for everybody who can write in the thread: they read along anyway.
"""

from commands.errors import UnauthorizedError
from commands.ports import Authority, Conversations
from commands.spec import Caller
from memory.scope import ScopeKeyError, ScopeKind, scope_key

_NOT_THEIRS = "only people who have spoken with me in this conversation can do that."


async def require_people(conversations: Conversations, authority: Authority, caller: Caller, action: str) -> None:
    """Raises ``UnauthorizedError``."""
    people = await conversations.participants(caller)
    if people and caller.id not in people:
        await require_channel(authority, caller, action, _NOT_THEIRS)


async def require_channel(authority: Authority, caller: Caller, action: str, refusal: str) -> None:
    """Raises ``UnauthorizedError`` unless the caller may do ``action`` to the channel they are in."""
    try:
        key = scope_key(ScopeKind.CHANNEL, caller.origin.channel_id)
    except ScopeKeyError as fault:
        raise UnauthorizedError(refusal, audit_reason="no channel") from fault
    decision = await authority.may_touch(caller, action, key)
    if not decision.is_allowed:
        raise UnauthorizedError(refusal, audit_reason=decision.reason)

"""PURE. How often each Web API method may be called (Slack's rate limit tiers)."""

from dataclasses import dataclass
from enum import Enum

_POSTS_PER_MINUTE = 60
_POST_BURST = 10


@dataclass(frozen=True, slots=True)
class Allowance:
    """``per_minute`` in the long run, up to ``burst`` at once."""

    per_minute: int
    burst: int


class Tier(Enum):
    """Slack publishes "at least this many a minute"; bursts are tolerated for a short while."""

    T1 = Allowance(1, 5)
    T2 = Allowance(20, 20)
    T3 = Allowance(50, 50)
    T4 = Allowance(100, 100)
    SPECIAL = Allowance(600, 600)


POSTS_IN_A_CHANNEL = Allowance(_POSTS_PER_MINUTE, _POST_BURST)
"""chat.postMessage: about one a second in each channel."""

POSTS_IN_THE_WORKSPACE = Allowance(300, 300)
"""chat.postMessage: several hundred a minute over all channels."""

_BY_TIER: dict[Tier, str] = {
    Tier.T1: "apps.connections.open",
    Tier.T2: """chat.startStream chat.stopStream reactions.remove reactions.list users.list conversations.list
        conversations.create conversations.archive conversations.rename conversations.setTopic
        conversations.setPurpose pins.add pins.list pins.remove emoji.list usergroups.list""",
    Tier.T3: """team.info bots.info chat.update chat.delete chat.meMessage chat.unfurl conversations.info
        conversations.history conversations.replies conversations.open conversations.join conversations.leave
        conversations.invite conversations.mark conversations.kick users.lookupByEmail users.conversations
        users.getPresence reactions.add reactions.get files.list files.delete bookmarks.list auth.revoke
        agents.sessions.setStatus agents.sessions.rename blocks.validate""",
    Tier.T4: """api.test chat.postEphemeral chat.appendStream conversations.members users.info users.profile.get
        views.open views.push views.update views.publish files.info files.getUploadURLExternal
        files.completeUploadExternal assistant.threads.setTitle assistant.threads.setSuggestedPrompts""",
}
TIERS: dict[str, Tier] = {method: tier for tier, methods in _BY_TIER.items() for method in methods.split()}
"""Methods that are not here have a limit of their own kind: several hundred a minute."""


def tier_of(method: str) -> Tier:
    return TIERS.get(method, Tier.SPECIAL)

"""The workspace everybody starts with: a small company, its channels, the bot and one unrelated bot."""

from app.clock import Clock
from app.playground.model import Channel, ChannelKind, Member, SlackApp, Team
from app.playground.workspace import Workspace

TEAM_ID = "T0SWITCH01"
ALICE, BOB, ADA = "U0ALICE001", "U0BOB00001", "U0ADA00001"
APP_ID, BOT_USER, BOT_ID = "A0SWITCH01", "U0SWITCH01", "B0SWITCH01"
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = (
    "xoxb-playground-bot",
    "xapp-playground-app",
    "playground-signing-secret",
)
DEPLOY_APP_ID, DEPLOY_BOT_USER, DEPLOY_BOT_ID = "A0DEPLOY01", "U0DEPLOY01", "B0DEPLOY01"
DEPLOY_BOT_TOKEN, DEPLOY_APP_TOKEN, DEPLOY_SIGNING_SECRET = (
    "xoxb-playground-deploybot",
    "xapp-playground-deploybot",
    "playground-deploybot-secret",
)
GENERAL, RANDOM, DEPLOYS, LEADS, SECRET = "C0GENERAL1", "C0RANDOM01", "C0DEPLOYS1", "G0LEADS001", "G0SECRET01"

RECOMMENDED_SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        "reactions:read",
        "reactions:write",
        "users:read",
    }
)
RECOMMENDED_EVENTS = frozenset(
    {
        "agent_session_stopped",
        "agent_session_title_changed",
        "app_context_changed",
        "app_home_opened",
        "app_mention",
        "app_uninstalled",
        "file_shared",
        "member_joined_channel",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "reaction_added",
        "reaction_removed",
        "tokens_revoked",
    }
)


def default_workspace(clock: Clock | None = None) -> Workspace:
    workspace = Workspace(clock=clock)
    workspace.team = Team(TEAM_ID, "Acme", "acme")
    for app in (_switchboard(), _deploybot()):
        workspace.apps[app.id] = app
    for member in _members():
        workspace.members[member.id] = member
    for channel in _channels(workspace.epoch_s()):
        workspace.channels[channel.id] = channel
    return workspace


def _switchboard() -> SlackApp:
    return SlackApp(
        id=APP_ID,
        name="Switchboard",
        bot_id=BOT_ID,
        bot_user_id=BOT_USER,
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        signing_secret=SIGNING_SECRET,
        scopes=set(RECOMMENDED_SCOPES),
        events=set(RECOMMENDED_EVENTS),
        commands=("/memory", "/switchboard"),
    )


def _deploybot() -> SlackApp:
    """Posts on its own and listens to nothing."""
    return SlackApp(
        id=DEPLOY_APP_ID,
        name="deploybot",
        bot_id=DEPLOY_BOT_ID,
        bot_user_id=DEPLOY_BOT_USER,
        bot_token=DEPLOY_BOT_TOKEN,
        app_token=DEPLOY_APP_TOKEN,
        signing_secret=DEPLOY_SIGNING_SECRET,
        scopes={"chat:write", "channels:read"},
        events=set(),
    )


def _members() -> tuple[Member, ...]:
    return (
        Member(ALICE, "alice", "Alice Martin", color="9f69e7", title="Engineer"),
        Member(BOB, "bob", "Bob Chen", color="4bbe2e", title="Product"),
        Member(ADA, "ada", "Ada Okafor", is_admin=True, is_owner=True, color="e7392d", title="Founder"),
        Member(BOT_USER, "switchboard", "Switchboard", bot_id=BOT_ID, app_id=APP_ID, color="3c989f"),
        Member(
            DEPLOY_BOT_USER,
            "deploybot",
            "deploybot",
            bot_id=DEPLOY_BOT_ID,
            app_id=DEPLOY_APP_ID,
            color="674b1b",
        ),
    )


def _channels(created: int) -> tuple[Channel, ...]:
    people = {ALICE, BOB, ADA}

    def channel(channel_id: str, name: str, members: set[str], topic: str) -> Channel:
        private = channel_id.startswith("G")
        kind = ChannelKind.PRIVATE if private else ChannelKind.PUBLIC
        return Channel(channel_id, name, kind, ADA, created, members=members, topic=topic)

    return (
        channel(GENERAL, "general", people | {BOT_USER}, "Company-wide announcements"),
        channel(RANDOM, "random", set(people), "Everything else"),
        channel(DEPLOYS, "deploys", people | {BOT_USER, DEPLOY_BOT_USER}, "What went out and when"),
        channel(LEADS, "leads", {ADA, BOB, BOT_USER}, "Leads only"),
        channel(SECRET, "hiring", {ADA, ALICE}, "Candidates"),
    )

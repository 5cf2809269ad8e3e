"""How a conversation is found again after a restart: the message that it answers, as text."""

from pydantic import TypeAdapter, ValidationError

from app.channel import Chat, IncomingMessage
from app.slack.chat import Workspace, slack_chat
from app.slack.payloads import SlackMessage

_MESSAGES = TypeAdapter(SlackMessage)
_WORDS = {"text", "mentioned_users", "files"}


def address_of(message: SlackMessage) -> str:
    """What ``reopened`` takes. The message's words are not in it: they are kept with the message itself."""
    return _MESSAGES.dump_json(message, exclude=_WORDS).decode()


def reopened(workspace: Workspace, message: IncomingMessage, address: str) -> Chat | None:
    """The conversation ``message`` is answered in; ``None`` for an address that is not of this workspace."""
    try:
        kept = _MESSAGES.validate_json(address)
    except ValidationError:
        return None
    if kept.team_id and workspace.identity.team_id and kept.team_id != workspace.identity.team_id:
        return None
    # What was decided when the message came in holds, whatever the settings say by now.
    return slack_chat(workspace, kept, message.part, in_channel=message.thread_key == message.channel_id)

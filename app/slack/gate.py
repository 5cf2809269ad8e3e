"""Whether a message is for the bot, decided from the event alone."""

from dataclasses import dataclass
from enum import StrEnum

from app.channel import Address, Visibility
from app.slack.format import mentions
from app.slack.payloads import Identity, Json, SlackMessage
from app.slack.revision_payloads import SlackRevision

PERSONS_SUBTYPES = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""Message subtypes in which a person says something; every other one reports a change or speaks for a machine."""

SLACKBOT = "USLACKBOT"


class Ignored(StrEnum):
    """Why a message starts nothing."""

    IDENTITY_UNKNOWN = "identity_unknown"
    OWN = "own"
    MACHINE = "machine"
    NOT_SPEECH = "not_speech"
    NOT_ADDRESSED = "not_addressed"
    SAME_WORDS = "same_words"


@dataclass(frozen=True, slots=True)
class Considered:
    """The message may be for the bot; ``FOLLOW_UP`` only if the bot takes part in the thread."""

    address: Address


def is_own(event: Json, identity: Identity) -> bool:
    """Whether the bot has said it: most of what the bot hears it has said itself."""
    return event.get("user") == identity.user_id or event.get("bot_id") == identity.bot_id


def decide(message: SlackMessage, identity: Identity | None) -> Ignored | Considered:
    """Fails closed: without an identity, or with a doubtful author, nothing is answered."""
    if identity is None:
        return Ignored.IDENTITY_UNKNOWN
    if refused := _author_or_kind(message, identity):
        return refused
    if message.channel_type == "im":
        return Considered(Address.DIRECT)
    if mentions(message.text, identity.user_id) or identity.user_id in message.mentioned_users:
        return Considered(Address.MENTION)
    if message.is_reply:
        return Considered(Address.FOLLOW_UP)
    return Ignored.NOT_ADDRESSED


def refusal(revision: SlackRevision, identity: Identity | None) -> Ignored | None:
    """Why what became of a message concerns nobody's question; ``None`` when it may."""
    if identity is None:
        return Ignored.IDENTITY_UNKNOWN
    if revision.user == identity.user_id or revision.bot_id == identity.bot_id:
        return Ignored.OWN
    if revision.bot_id is not None or revision.user == SLACKBOT:
        return Ignored.MACHINE
    if revision.text is not None and not revision.has_other_text:
        return Ignored.SAME_WORDS
    return None


def belongs_to_channel(message: SlackMessage, *, reply_in_thread: bool) -> bool:
    """Whether the message is answered at the top of its channel, which is one conversation then.

    Told from the id whether it is a DM: of the two events of one mention, only one says what its channel is.
    """
    return not reply_in_thread and not message.is_reply and not message.channel.startswith("D")


def visibility(message: SlackMessage) -> Visibility:
    """From the channel's kind; group DMs count as DMs. An id's first letter helps where the kind is missing."""
    kinds = {
        "channel": Visibility.PUBLIC,
        "group": Visibility.PRIVATE,
        "mpim": Visibility.DM,
        "im": Visibility.DM,
    }
    if message.channel_type is not None:
        return kinds.get(message.channel_type, Visibility.UNKNOWN)
    return {"D": Visibility.DM, "G": Visibility.PRIVATE}.get(message.channel[0], Visibility.UNKNOWN)


def _author_or_kind(message: SlackMessage, identity: Identity) -> Ignored | None:
    if message.user == identity.user_id or message.bot_id == identity.bot_id:
        return Ignored.OWN
    if message.bot_id is not None or message.user in (None, SLACKBOT) or message.subtype == "bot_message":
        # An edit or a deletion has no author of its own either; what it is called tells them apart.
        return Ignored.MACHINE if message.subtype in PERSONS_SUBTYPES | {"bot_message"} else Ignored.NOT_SPEECH
    if message.is_hidden or message.is_edited or message.subtype not in PERSONS_SUBTYPES:
        return Ignored.NOT_SPEECH
    return None

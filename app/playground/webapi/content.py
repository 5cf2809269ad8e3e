"""What a message is to say: text, blocks, attachments or Markdown out of the arguments, within Slack's limits."""

from dataclasses import dataclass

from app.playground.block_rules import MARKDOWN_MAX
from app.playground.limits import ATTACHMENTS_MAX, POST_TEXT_MAX, check_blocks, check_metadata
from app.playground.model import Json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call
from app.playground.workspace import PostOptions


@dataclass(frozen=True, slots=True)
class MessageContent:
    """``None``: not among the arguments."""

    text: str | None
    blocks: list[Json] | None
    attachments: list[Json] | None
    metadata: Json | None

    @property
    def is_empty(self) -> bool:
        return not ((self.text or "").strip() or self.blocks or self.attachments)


def message_content(call: Call) -> MessageContent:
    """Refuses ``markdown_text_conflict``, ``msg_too_long``, ``invalid_blocks…``, ``too_many_attachments``.

    Of ``markdown_text`` the text is the Markdown itself, shown as one markdown block.
    """
    args = call.args
    blocks = args.objects("blocks", "invalid_blocks_format")
    attachments = args.objects("attachments", "invalid_attachments")
    metadata = args.json_object("metadata", "invalid_metadata_format")
    check_metadata(metadata)
    if len(attachments or ()) > ATTACHMENTS_MAX:
        raise SlackRefusal("too_many_attachments")
    markdown = args.text("markdown_text")
    if markdown:
        if args.text("text") or blocks:
            raise SlackRefusal("markdown_text_conflict")
        if len(markdown) > MARKDOWN_MAX:
            raise SlackRefusal("msg_too_long")
        shown: list[Json] = [{"type": "markdown", "text": markdown}]
        return MessageContent(markdown, shown, attachments, metadata)
    check_blocks(blocks or [])
    return MessageContent(args.text("text") if "text" in args else None, blocks, attachments, metadata)


def postable(call: Call) -> MessageContent:
    """As ``message_content``; also refuses ``no_text``, and cuts text beyond 40,000 characters with a warning."""
    content = message_content(call)
    if content.is_empty:
        raise SlackRefusal("no_text")
    if content.text and len(content.text) > POST_TEXT_MAX:
        call.warn("message_truncated")
        return MessageContent(content.text[:POST_TEXT_MAX], content.blocks, content.attachments, content.metadata)
    return content


def authorship(call: Call) -> PostOptions:
    """Options that say who posts; another name or icon needs ``chat:write.customize``."""
    args = call.args
    username, icon_emoji = args.text("username") or None, args.text("icon_emoji") or None
    if username or icon_emoji or args.text("icon_url"):
        call.need_scope("chat:write.customize")
    subtype = "bot_message" if username else None
    return PostOptions(
        bot_id=call.app.bot_id,
        app_id=call.app.id,
        username=username,
        icon_emoji=icon_emoji,
        subtype=subtype,
    )

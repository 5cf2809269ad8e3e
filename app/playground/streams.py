"""The life of a streamed message: started, appended to, and stopped, expired or stopped by a person."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.playground.limits import MARKDOWN_MAX, STREAM_BLOCKS_MAX, check_chunks
from app.playground.model import Json, Message, Stream
from app.playground.refusal import SlackRefusal
from app.playground.workspace import PostOptions, Workspace

DISPLAY_MODES = ("timeline", "plan", "dense")


@dataclass(frozen=True, slots=True)
class Content:
    """What one call adds. A stream is bound to the kind of its first content: text, or chunks."""

    markdown_text: str = ""
    chunks: list[Json] = field(default_factory=list[Json])

    @property
    def mode(self) -> str | None:
        return "text" if self.markdown_text else "chunks" if self.chunks else None

    def as_chunks(self) -> list[Json]:
        return [{"type": "markdown_text", "text": self.markdown_text}] if self.markdown_text else self.chunks


def content_of(markdown_text: str, chunks: list[Json] | None) -> Content:
    """Refuses ``invalid_chunks``, ``markdown_text_conflict`` for both at once, ``msg_too_long``."""
    if markdown_text and chunks:
        raise SlackRefusal("markdown_text_conflict")
    if len(markdown_text) > MARKDOWN_MAX:
        raise SlackRefusal("msg_too_long")
    check_chunks(chunks or [])
    return Content(markdown_text, chunks or [])


def add(stream: Stream, content: Content) -> None:
    """Adds to the stream, or refuses and leaves it as it was.

    Refuses ``streaming_mode_mismatch``, ``msg_too_long`` for more than 12,000 characters of text over the whole
    stream (what one message's markdown may hold), ``msg_blocks_too_many`` for more than 50 blocks as chunks.
    """
    if stream.mode and content.mode and stream.mode != content.mode:
        raise SlackRefusal("streaming_mode_mismatch")
    added = content.as_chunks()
    text = "".join(chunk["text"] for chunk in added if chunk["type"] == "markdown_text")
    if len(stream.markdown) + len(text) > MARKDOWN_MAX:
        raise SlackRefusal("msg_too_long")
    if _blocks_in(stream.chunks) + _blocks_in(added) > STREAM_BLOCKS_MAX:
        raise SlackRefusal("msg_blocks_too_many")
    stream.mode = stream.mode or content.mode
    stream.markdown += text
    stream.chunks.extend(added)


def start(workspace: Workspace, place: tuple[str, str], user: str, content: Content, options: PostOptions) -> Message:
    """``place`` is channel and thread; ``options.stream`` says how it is shown. The session is ``processing`` now."""
    channel, thread_ts = place
    stream = options.stream or Stream(workspace.clock.monotonic())
    add(stream, content)
    filled = replace(options, stream=stream, blocks=streamed_blocks(stream))
    message = workspace.post(channel, user, stream.markdown, thread_ts=thread_ts, options=filled)
    workspace.live_streams[(channel, message.ts)] = message
    workspace.set_session_status(channel, message.root_ts, "processing")
    return message


def _blocks_in(chunks: Sequence[Json]) -> int:
    return sum(len(chunk["blocks"]) for chunk in chunks if chunk["type"] == "blocks")


def live_stream(workspace: Workspace, message: Message) -> Stream:
    """Refuses ``stopped_by_user`` and ``message_not_in_streaming_state``."""
    workspace.lapse()
    stream = message.stream
    if stream is not None and stream.state == "stopped":
        raise SlackRefusal("stopped_by_user")
    if stream is None or stream.state != "in_progress":
        raise SlackRefusal("message_not_in_streaming_state")
    return stream


def append(workspace: Workspace, message: Message, content: Content) -> None:
    """Refuses as ``live_stream`` and ``add`` do, and ``no_text`` for nothing."""
    stream = live_stream(workspace, message)
    if content.mode is None:
        raise SlackRefusal("no_text")
    add(Stream(0.0, markdown=stream.markdown, chunks=list(stream.chunks), mode=stream.mode), content)

    def apply(target: Message) -> None:
        add(stream, content)
        show(target)

    workspace.change(message, apply)


def stop(
    workspace: Workspace,
    message: Message,
    content: Content,
    blocks: list[Json],
    metadata: Json | None = None,
) -> None:
    """Refuses as ``live_stream`` and ``add`` do."""
    stream = live_stream(workspace, message)
    add(Stream(0.0, markdown=stream.markdown, chunks=list(stream.chunks), mode=stream.mode), content)

    def apply(target: Message) -> None:
        add(stream, content)
        stream.blocks = blocks
        stream.state = "completed"
        target.metadata = metadata or target.metadata
        show(target)

    workspace.live_streams.pop((message.channel, message.ts), None)
    workspace.change(message, apply)


def show(message: Message) -> None:
    """Brings text and blocks up to date with the stream. ``text`` is the markdown itself."""
    if message.stream:
        message.text = message.stream.markdown
        message.blocks = streamed_blocks(message.stream)


def streamed_blocks(stream: Stream) -> list[Json]:
    """Text as markdown blocks; tasks as task cards where they began, or gathered in one plan on top."""
    shown: list[Json] = []
    cards: dict[str, Json] = {}
    title = ""
    for chunk in stream.chunks:
        if chunk["type"] == "markdown_text":
            _continue_text(shown, chunk["text"])
        elif chunk["type"] == "blocks":
            shown.extend(chunk["blocks"])
        elif chunk["type"] == "plan_update":
            title = chunk["title"]
        else:
            _place_task(shown, cards, chunk, apart=stream.task_display_mode == "plan")
    if stream.task_display_mode == "plan" and (cards or title):
        shown.insert(0, {"type": "plan", "title": title or "Plan", "tasks": list(cards.values())})
    return shown + stream.blocks


def _continue_text(shown: list[Json], text: str) -> None:
    if not text:
        return
    if shown and shown[-1]["type"] == "markdown":
        shown[-1] = {"type": "markdown", "text": shown[-1]["text"] + text}
    else:
        shown.append({"type": "markdown", "text": text})


def _place_task(shown: list[Json], cards: dict[str, Json], chunk: Json, *, apart: bool) -> None:
    task_id = chunk["id"]
    known = task_id in cards
    card = cards.setdefault(task_id, {"type": "task_card", "task_id": task_id})
    card |= {key: chunk[key] for key in ("title", "status") if key in chunk}
    card |= {key: _rich_text(chunk[key]) for key in ("details", "output") if chunk.get(key)}
    card |= {"sources": chunk["sources"]} if chunk.get("sources") else {}
    if not known and not apart:
        shown.append(card)


def _rich_text(value: str | Json) -> Json:
    if not isinstance(value, str):
        return value
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": value}]}
    return {"type": "rich_text", "elements": [section]}

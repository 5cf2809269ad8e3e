"""The message composer of Slack's client: text as Slack stores it, and the rich_text block that goes with it."""

import re
import zlib
from collections.abc import Callable, Iterator

from app.playground.model import Json

_CODE = re.compile(r"```.+?```|`[^`\n]+`", re.DOTALL)
_FENCE = re.compile(r"```\n?(.+?)\n?```", re.DOTALL)
_MARKUP = r"<(?:[@#][A-Z0-9]+(?:\|[^<>\n]*)?|![^<>\n]+|(?:https?|mailto|tel):[^<>\n]+)>"
_URL = r"https?://[^\s<>|]+"
_MARKUP_OR_URL = re.compile(f"(?P<markup>{_MARKUP})|(?P<url>{_URL})")
_LOOSE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")
_URL_TAIL = ".,;:!?'\"*_~)`"

_INLINE = re.compile(
    rf"(?P<markup>{_MARKUP})"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?<!\w)\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?!\w)"
    r"|(?<!\w)_(?P<italic>[^\s_](?:[^_\n]*[^\s_])?)_(?!\w)"
    r"|(?<!\w)~(?P<strike>[^\s~](?:[^~\n]*[^\s~])?)~(?!\w)"
    r"|(?<!\w):(?P<emoji>[a-z][a-z0-9_'-]*|[+-]1|100):"
)


def wire_text(text: str) -> str:
    """``text`` as Slack stores it: ``&``, ``<`` and ``>`` escaped outside markup, addresses in angle brackets.

    Text that is already in that form stays as it is.
    """
    parts: list[str] = []
    position = 0
    for code in _CODE.finditer(text):
        parts += [_linked(text[position : code.start()]), _escaped(code.group())]
        position = code.end()
    return "".join([*parts, _linked(text[position:])])


def _linked(text: str) -> str:
    parts: list[str] = []
    position = 0
    for match in _MARKUP_OR_URL.finditer(text):
        parts.append(_escaped(text[position : match.start()]))
        if match["markup"]:
            parts.append(match["markup"])
        else:
            url = match["url"].rstrip(_URL_TAIL)
            parts += [f"<{_escaped(url)}>", _escaped(match["url"][len(url) :])]
        position = match.end()
    return "".join([*parts, _escaped(text[position:])])


def _escaped(text: str) -> str:
    return _LOOSE_AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def rich_text(text: str) -> list[Json]:
    """The blocks of a message whose stored text is ``text``; none when there is no text."""
    elements = list(_sections(text))
    if not elements:
        return []
    block_id = f"rt{zlib.crc32(text.encode()):08x}"
    return [{"type": "rich_text", "block_id": block_id, "elements": elements}]


def _sections(text: str) -> Iterator[Json]:
    position = 0
    for fence in _FENCE.finditer(text):
        yield from _paragraphs(text[position : fence.start()].removesuffix("\n"))
        code: Json = {"type": "text", "text": _unescaped(fence[1])}
        yield {"type": "rich_text_preformatted", "elements": [code], "border": 0}
        position = fence.end()
    yield from _paragraphs(text[position:].removeprefix("\n") if position else text)


def _paragraphs(text: str) -> Iterator[Json]:
    """Runs of quoted and unquoted lines."""
    run: list[str] = []
    quoted = False
    for line in text.split("\n") if text else []:
        if line.startswith("&gt;") != quoted:
            yield from _paragraph(run, quoted=quoted)
            run, quoted = [], not quoted
        run.append(line)
    yield from _paragraph(run, quoted=quoted)


def _paragraph(lines: list[str], *, quoted: bool) -> Iterator[Json]:
    if not lines:
        return
    kind = "rich_text_quote" if quoted else "rich_text_section"
    text = "\n".join(line.removeprefix("&gt;").removeprefix(" ") if quoted else line for line in lines)
    yield {"type": kind, "elements": list(_inline(text, {}))}


def _inline(text: str, style: dict[str, bool]) -> Iterator[Json]:
    position = 0
    for match in _INLINE.finditer(text):
        yield from _text(text[position : match.start()], style)
        yield from _INLINE_KINDS[match.lastgroup or ""](match[match.lastgroup or ""], style)
        position = match.end()
    yield from _text(text[position:], style)


def _text(text: str, style: dict[str, bool]) -> Iterator[Json]:
    if text:
        yield _styled({"type": "text", "text": _unescaped(text)}, style)


def _styled(element: Json, style: dict[str, bool]) -> Json:
    return element | {"style": style} if style else element


def _code(text: str, style: dict[str, bool]) -> Iterator[Json]:
    yield _styled({"type": "text", "text": _unescaped(text)}, style | {"code": True})


def _emoji(name: str, style: dict[str, bool]) -> Iterator[Json]:
    yield _styled({"type": "emoji", "name": name}, style)


def _nested(name: str) -> Callable[[str, dict[str, bool]], Iterator[Json]]:
    return lambda text, style: _inline(text, style | {name: True})


def _markup(markup: str, style: dict[str, bool]) -> Iterator[Json]:
    target, _, label = markup[1:-1].partition("|")
    yield _styled(_reference(target, _unescaped(label)), style)


def _reference(target: str, label: str) -> Json:
    match target[0]:
        case "@":
            return {"type": "user", "user_id": target[1:]}
        case "#":
            return {"type": "channel", "channel_id": target[1:]}
        case "!" if target.startswith("!subteam^"):
            return {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
        case "!":
            return {"type": "broadcast", "range": target[1:]}
        case _:
            link: Json = {"type": "link", "url": _unescaped(target)}
            return link | {"text": label} if label else link


_INLINE_KINDS: dict[str, Callable[[str, dict[str, bool]], Iterator[Json]]] = {
    "markup": _markup,
    "code": _code,
    "emoji": _emoji,
    "bold": _nested("bold"),
    "italic": _nested("italic"),
    "strike": _nested("strike"),
}

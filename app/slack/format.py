"""Between Slack's text and everybody else's: entities out on the way in, nothing that pings a crowd on the way out."""

import re

_ENTITY = re.compile(r"<([^<>\s][^<>]*)>")
_CROWD = re.compile(r"<!(?=(?:channel|here|everyone|subteam\^))")
_CROWD_WORDS = ("<!channel", "<!here", "<!everyone", "<!subteam^")
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
ZERO_WIDTH_SPACE = "\u200b"


def without_mention(text: str, user_id: str) -> str:
    """``text`` with every mention of ``user_id`` taken out and the spaces around it closed."""
    bare = re.sub(rf"[ \t]*<@{re.escape(user_id)}(?:\|[^>]*)?>[ \t]*", " ", text)
    return bare.strip()


def mentions(text: str, user_id: str) -> bool:
    return f"<@{user_id}>" in text or f"<@{user_id}|" in text


def to_plain(text: str) -> str:
    """Slack's message text as a person reads it.

    Links become their address (with the label before it when that says something else), channel and group
    mentions their names; user mentions stay ``<@U…>`` because that is also how one is written. The escapes of
    ``& < >`` are undone once, last (Slack's "formatting text for app surfaces").
    """
    plain = _ENTITY.sub(_entity, text)
    for escaped, character in _ESCAPES:
        plain = plain.replace(escaped, character)
    return plain


def _entity(match: re.Match[str]) -> str:
    target, _, label = match[1].partition("|")
    if target.startswith("@"):
        return f"<{target}>"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return _special(target[1:], label)
    address = target.removeprefix("mailto:")
    if not label or label in (address, target) or target.endswith(f"://{label}"):
        return address
    return f"{label} ({address})"


def _special(target: str, label: str) -> str:
    if label:
        return label
    return f"@{target.partition('^')[0]}"


def without_crowd_mentions(text: str) -> str:
    """``text`` in which ``<!channel>``, ``<!here>``, ``<!everyone>`` and user groups are inert.

    A model's words must never ring a whole channel; Slack interprets these even inside markdown text.
    """
    return _CROWD.sub(f"<{ZERO_WIDTH_SPACE}!", text) if "<!" in text else text


def held_back(text: str) -> int:
    """How many characters at the end of ``text`` might be the start of a crowd mention that is still coming."""
    start = text.rfind("<")
    if start < 0:
        return 0
    tail = text[start:]
    return len(tail) if any(word.startswith(tail) for word in _CROWD_WORDS) else 0

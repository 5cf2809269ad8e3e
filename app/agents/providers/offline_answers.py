"""What the demo model answers: rules over the last message, and the memory it was shown."""

import re
from collections.abc import Callable
from itertools import cycle, islice

from app.agents.providers.base import ModelRequest
from memory.render import FENCE_CLOSE, FENCE_OPEN

INTRODUCTION = (
    "*I am the demo model: I run on this machine without a key and follow simple rules instead of understanding. "
    "For real answers, set a real model.*"
)
ABILITIES = (
    "You can ask me for a **list**, a **table**, some **code** or to **write 500 words** to see how answers look. "
    "I also repeat what I am shown from memory."
)
MAX_WORDS = 8_000
WORDS_IF_JUST_LONG = 600
WORDS_PER_PARAGRAPH = 90
MAX_MEMORIES = 8
MAX_QUOTE_CHARS = 280

SPEAKER = re.compile(r"(?:\A|\n\n)(?P<name>[^\s:<>`|(\[][^\n:<>`|]{0,59}): (?=\S)")
SOURCE = re.compile(r" \(source: [^()]*\)$")
WORD_COUNT = re.compile(r"\b(\d[\d.,]*)[ -]words?\b", re.IGNORECASE)
SENTENCES = (
    "These words are here to fill a page and not to tell a story.",
    "A real model would have something to say at this point.",
    "The paragraphs are numbered so that a missing one is easy to notice.",
    "Every word arrives by itself and the order never changes.",
    "Long answers are where a chat shows whether it can keep up.",
    "If this text is split into several messages, nothing should be lost between them.",
    "Reading on is allowed but brings no reward.",
)


def demo_answer(request: ModelRequest) -> str:
    """The whole answer, in Markdown. The first one of a conversation says what is talking."""
    name, asked = said(request.messages[-1].text)
    is_first = all(turn.role == "user" for turn in request.messages)
    parts = [INTRODUCTION if is_first else "", _recalled(memories(request.system)), *_reactions(name, asked)]
    return "\n\n".join(part for part in parts if part)


def said(turn: str) -> tuple[str, str]:
    """Who spoke last in a user's turn, and what: people's messages there begin with their names."""
    speakers = list(SPEAKER.finditer(turn))
    if not speakers:
        return "", turn.strip()
    return speakers[-1]["name"].strip(), turn[speakers[-1].end() :].strip()


def memories(system: tuple[str, ...]) -> list[str]:
    """The bullets of the memory block, without their sources and as they were before they were escaped."""
    found: list[str] = []
    for part in system:
        inside = False
        for line in part.splitlines():
            if line.strip() in {FENCE_OPEN, FENCE_CLOSE}:
                inside = line.strip() == FENCE_OPEN
            elif inside and line.startswith("- "):
                found.append(_unescaped(SOURCE.sub("", line[2:].strip())))
    return found


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _recalled(found: list[str]) -> str:
    if not found:
        return ""
    lines = [f"> {text}" for text in found[:MAX_MEMORIES]]
    more = len(found) - len(lines)
    rest = [f"> … and {more} more"] if more else []
    return "\n".join(["From memory I know:", "", *lines, *rest])


def _reactions(name: str, asked: str) -> list[str]:
    wish = asked.lower()
    shapes = [shape(asked) for pattern, shape in SHAPES if re.search(pattern, wish)]
    if shapes:
        return shapes
    if re.match(r"(?:hi|hello|hey|good (?:morning|afternoon|evening))\b", wish):
        return [f"Hello{f' {name}' if name else ''}! {ABILITIES}"]
    if re.search(r"\bthank(?:s| you)\b", wish):
        return ["You are welcome."]
    if re.match(r"(?:help|who are you|what can you do)\b", wish):
        return [ABILITIES]
    if asked.endswith("?"):
        return [f"You asked:\n\n{_quote(asked)}", "A real model would answer that now. I only know how to repeat it."]
    return [f"You wrote:\n\n{_quote(asked)}", "A real model would act on that now. I only confirm that it arrived."]


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return f"> {line}" if len(line) <= MAX_QUOTE_CHARS else f"> {line[: MAX_QUOTE_CHARS - 1]}…"


def _prose(asked: str) -> str:
    number = WORD_COUNT.search(asked)
    wanted = int(re.sub(r"\D", "", number[1])) if number else WORDS_IF_JUST_LONG
    return prose(max(1, min(wanted, MAX_WORDS)))


def prose(words: int) -> str:
    """Exactly ``words`` words in numbered paragraphs."""
    supply = (word for sentence in cycle(SENTENCES) for word in sentence.split())
    paragraphs: list[str] = []
    for start in range(0, words, WORDS_PER_PARAGRAPH):
        room = min(words - start, WORDS_PER_PARAGRAPH)
        number = start // WORDS_PER_PARAGRAPH + 1
        paragraphs.append(" ".join([f"**{number}.**", *islice(supply, room - 1)]))
    return "\n\n".join(paragraphs)


def _list(_asked: str) -> str:
    return (
        "A list, as a real model would write it:\n\n"
        "1. **Ask** in a thread.\n2. **Read** the answer while it is written:\n   - it grows word by word\n"
        "   - it can be stopped\n3. **Go on** in the same thread; I see what was said before."
    )


def _table(_asked: str) -> str:
    return (
        "A table, as a real model would write it:\n\n"
        "| Model | Needs a key | Understands |\n| --- | :---: | --- |\n"
        "| `offline/demo` | no | nothing, but politely |\n| a real one | yes | what you mean |"
    )


def _code(_asked: str) -> str:
    return (
        "Some code, as a real model would write it:\n\n"
        '```python\ndef answer(question: str) -> str:\n    """What the demo model does."""\n'
        '    if question.endswith("?"):\n        return f"You asked: {question}"\n    return "It arrived."\n```'
    )


SHAPES: tuple[tuple[str, Callable[[str], str]], ...] = (
    (r"\d[ -]words?\b|\blong (?:answer|text|story|message|reply)", _prose),
    (r"\blists?\b|\bbullets?\b", _list),
    (r"\btables?\b", _table),
    (r"\bcode\b|\bscript\b|\bsnippet\b", _code),
)
"""Patterns of a wish for a shape, and what gives it; a message may wish for several."""

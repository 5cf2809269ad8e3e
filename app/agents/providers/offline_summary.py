"""What the demo model makes of a conversation that it is asked to summarise: who said what, in a few words each."""

import re

from app.agents.providers.base import ModelRequest

SUMMARY_MARKER = "Write the notes that a conversation goes on from"
"""A system prompt that contains this asks for a summary."""
LINES, LINE_CHARS = 12, 120

_MATERIAL = re.compile(r"<conversation>\n(.*?)\n?</conversation>", re.DOTALL)


def is_summary(request: ModelRequest) -> bool:
    return any(SUMMARY_MARKER in part for part in request.system)


def summary_answer(request: ModelRequest) -> str:
    """The first words of the newest entries, one line each."""
    found = _MATERIAL.search(request.messages[-1].text)
    entries = [line.strip() for line in (found[1] if found else "").splitlines() if line.strip()]
    lines = [f"- {entry if len(entry) <= LINE_CHARS else f'{entry[: LINE_CHARS - 1]}…'}" for entry in entries[-LINES:]]
    return "\n".join(["Notes of the demo model:", *lines])

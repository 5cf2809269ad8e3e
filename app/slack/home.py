"""What a person sees who opens the bot itself: its Home tab, and prompts to start a conversation with."""

from collections.abc import Mapping
from typing import Any

View = Mapping[str, Any]

PROMPTS = (
    {"title": "Summarise a text", "message": "Summarise the text I paste next in five bullet points."},
    {"title": "Draft a message", "message": "Help me draft a short update for my team. Ask me what happened first."},
    {"title": "Think a plan through", "message": "Ask me questions about my plan until you see its weak spots."},
)
"""At most four (agent_view.suggested_prompts, assistant.threads.setSuggestedPrompts)."""


def home_view(bot_user: str) -> View:
    """The Home tab for views.publish."""
    return {
        "type": "home",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": "Hello, I am Switchboard"}},
            _section(
                f"*In a channel:* invite me and mention <@{bot_user}>. I answer in a thread and follow it from "
                "then on; nobody has to mention me again there."
            ),
            _section("*Directly:* open the Messages tab and write. Every message starts a conversation of its own."),
            _section("*While I write:* press Stop to end an answer. What I have said so far stays."),
            _section("*By name:* say `help` to me, and I list what I can be asked for without a model."),
            {"type": "divider"},
            {
                "type": "context",
                "elements": [
                    {
                        "type": "mrkdwn",
                        "text": "I read only the threads I am asked in, in channels I was invited to.",
                    }
                ],
            },
        ],
    }


def _section(text: str) -> View:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}

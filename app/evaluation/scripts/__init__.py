"""The scripted conversations, one module for each category."""

from app.evaluation.script import Conversation
from app.evaluation.scripts import (
    conventions,
    corrections,
    decisions,
    languages,
    noise,
    people,
    places,
    preferences,
    safety,
)

CONVERSATIONS: tuple[Conversation, ...] = (
    *preferences.CONVERSATIONS,
    *conventions.CONVERSATIONS,
    *decisions.CONVERSATIONS,
    *corrections.CONVERSATIONS,
    *noise.CONVERSATIONS,
    *people.CONVERSATIONS,
    *languages.CONVERSATIONS,
    *places.CONVERSATIONS,
    *safety.CONVERSATIONS,
)

"""Every method the playground's Web API has, by name."""

from app.playground.webapi import (
    assistant,
    basics,
    chat,
    chat_stream,
    conversations,
    conversations_read,
    files,
    reactions,
    users,
    views,
)
from app.playground.webapi.call import Method

METHODS: dict[str, Method] = {
    method.name: method
    for module in (
        assistant,
        basics,
        chat,
        chat_stream,
        conversations,
        conversations_read,
        files,
        reactions,
        users,
        views,
    )
    for method in module.METHODS
}

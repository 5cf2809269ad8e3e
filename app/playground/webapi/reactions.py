"""reactions.* and pins.*: marks on messages."""

from app.playground.model import Json, Message
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call, Method
from app.playground.webapi.paging import page_of
from app.playground.workspace import Pin


def _item(call: Call) -> Message:
    """Refuses ``no_item_specified``, ``not_in_channel``, ``channel_not_found``, ``message_not_found``."""
    if not call.args.text("channel") or not call.args.text("timestamp"):
        raise SlackRefusal("no_item_specified")
    return call.workspace.message(call.joined_channel().id, call.args.text("timestamp"))


def add(call: Call) -> Json:
    message = _item(call)
    call.workspace.react(message.channel, message.ts, call.bot, call.args.text("name"))
    return {}


def remove(call: Call) -> Json:
    message = _item(call)
    call.workspace.unreact(message.channel, message.ts, call.bot, call.args.text("name"))
    return {}


def _with_permalink(call: Call, message: Message) -> Json:
    link = call.origin.permalink(message.channel, message.ts, message.thread_ts)
    return call.shown(message) | {"permalink": link}


def get(call: Call) -> Json:
    message = _item(call)
    return {"type": "message", "channel": message.channel, "message": _with_permalink(call, message)}


def list_reactions(call: Call) -> Json:
    """What a person (by default the bot) has reacted to, newest first, where the bot can see it."""
    user = call.args.text("user", call.bot)
    call.workspace.member(user)
    items: list[Json] = [
        {"type": "message", "channel": message.channel, "message": _with_permalink(call, message)}
        for channel in call.workspace.visible_channels(call.bot)
        for message in call.workspace.messages.get(channel, {}).values()
        if any(user in users for users in message.reactions.values())
    ]
    items.sort(key=lambda item: item["message"]["ts"], reverse=True)
    page, following = page_of(call, items, 100, 1000)
    return {"items": list(page)} | following


def pin(call: Call) -> Json:
    message = _item(call)
    call.workspace.pin(message.channel, message.ts, call.bot)
    return {}


def unpin(call: Call) -> Json:
    message = _item(call)
    call.workspace.unpin(message.channel, message.ts)
    return {}


def list_pins(call: Call) -> Json:
    channel = call.joined_channel()
    pins = [pin for pin in call.workspace.pins.values() if pin.channel == channel.id]
    return {"items": [_pin_json(call, pin) for pin in pins]}


def _pin_json(call: Call, pin: Pin) -> Json:
    message = _with_permalink(call, call.workspace.message(pin.channel, pin.ts))
    return {
        "type": "message",
        "created": pin.created,
        "created_by": pin.user,
        "channel": pin.channel,
        "message": message | {"pinned_to": [pin.channel]},
    }


METHODS = (
    Method("reactions.add", add, ("reactions:write",)),
    Method("reactions.remove", remove, ("reactions:write",)),
    Method("reactions.get", get, ("reactions:read",)),
    Method("reactions.list", list_reactions, ("reactions:read",)),
    Method("pins.add", pin, ("pins:write",)),
    Method("pins.remove", unpin, ("pins:write",)),
    Method("pins.list", list_pins, ("pins:read",)),
)
